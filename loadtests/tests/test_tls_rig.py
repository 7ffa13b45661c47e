"""The targets with TLS, and the bridges beside them, running."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import install
from loadtests import idle
from loadtests.rig import Live, Rig
from loadtests.runner import Runner
from loadtests.suites import tls

SCALE = 0.001
BRIDGES = {"client_bridge", "server_bridge"}
pytestmark = pytest.mark.skipif(
    not install.is_there(install.WITH_TLS),
    reason=f"no PostgreSQL with TLS here: {install.WITH_TLS.package} has no wheel for this system",
)


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with Rig([tls.SUITE]) as rig:
        tls.prepare(rig, SCALE)
        yield rig


def is_encrypted_at_both_ends(live: Live) -> tuple[bool, bool]:
    with live.connect() as connection:
        query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        return bool(connection.pgconn.ssl_in_use), connection.execute(query).fetchone()[0]


@pytest.mark.parametrize(
    ("target", "is_encrypted"),
    [("direct", False), ("direct-tcp", False), ("direct-tls", True), ("envoy-tcp-tls", True), ("fieldveil-tls", True)],
)
def test_targets_with_tls_have_it_at_both_ends(rig: Rig, target: str, is_encrypted: bool) -> None:
    assert is_encrypted_at_both_ends(rig.live[target]) == (is_encrypted, is_encrypted)


@pytest.mark.parametrize("target", ["direct-tls", "envoy-tcp-tls", "fieldveil-tls"])
@pytest.mark.parametrize("scenario", [tls.POINT_READ, tls.BULK_SCENARIO, tls.SESSION])
def test_answers_are_right_and_the_bridges_are_read(rig: Rig, tmp_path: Path, scenario: str, target: str) -> None:
    (found,) = [one for one in tls.SUITE.scenarios(SCALE) if one.name == scenario]
    measured = Runner([], SCALE, 1, tmp_path, calls=8).measure(rig, tls.SUITE, found, rig.live[target], 1)
    assert (measured.answers, measured.wrong_answers, measured.errors) == (8, 0, 0)
    assert measured.usage.keys() & BRIDGES == (set() if target == "direct-tls" else BRIDGES)


def test_idle_sessions_take_memory_of_either_bridge(rig: Rig) -> None:
    found = idle.table(rig.work, 50)
    assert [row[:2] for row in found.rows] == [["to the server", "50"], ["from clients", "50"]]
    assert all(leg["KiB"] > 0 for leg in found.values.values())
