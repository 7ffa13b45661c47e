"""A CancelRequest goes by itself, on another connection, and must find the session that it means."""

import psycopg
import pytest

from harness import Stack
from tests import wire
from tests.cancelling import SLEEPS, cancelling

# Bytes of a BackendKeyData without its key: tag, length, process id.
BEFORE_KEY = 9


@pytest.mark.parametrize(("version", "number", "key"), [("3.0", 30000, 4), ("3.2", 30002, 32)])
def test_cancel_works_by_the_key_of_each_protocol(shop: Stack, version: str, number: int, key: int) -> None:
    with shop.connect("app", min_protocol_version=version, max_protocol_version=version) as app:
        assert app.pgconn.full_protocol_version == number
        (recording,) = shop.relay.recordings
        (key_data,) = (one for one in wire.messages(bytes(recording.to_client)) if one[:1] == b"K")
        assert len(key_data) == BEFORE_KEY + key
        with (
            shop.direct() as direct,
            cancelling(direct, app.cancel_safe),
            pytest.raises(psycopg.errors.QueryCanceled, match="user request"),
        ):
            app.execute(SLEEPS)
        # The request as the server got it: the same process and key.
        cancel = bytes(shop.relay.recordings[-1].to_server)
        assert cancel[8:] == key_data[5:]
        assert app.execute("SELECT 42").fetchone() == (42,)
