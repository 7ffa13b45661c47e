"""Small bodies by the thousand, many at once over connections that stay: none is lost, cut or mixed up with another."""

import json
import os
import subprocess

import pytest

from dev.layout import HTTP_CLIENTS
from tests.http.api import SEALED, Api

# Stands in every value that is to be sealed.
MARK = "canary"


@pytest.mark.parametrize("http2", [False, True], ids=["HTTP/1.1", "HTTP/2"])
@pytest.mark.timeout(1800)
def test_hash_of_every_small_body_is_that_of_its_answer(api: Api, http2: bool) -> None:
    """A million by hand: HTTP_BODIES=1000000. Half of them have values that are sealed and opened again on the way."""
    count = int(os.environ.get("HTTP_BODIES", "6000")) // 2
    api.service.watch(SEALED, MARK, under="/echo/sealed")
    role = api.role("app")["authorization"]
    done = subprocess.run(
        [HTTP_CLIENTS["bodies"], "-url", api.base, "-count", str(count), "-header", f"Authorization: {role}",
         "-workers", "16", "-paths", "/echo/sealed,/echo/plain/hashes", *(["-http2"] if http2 else [])],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    print(told)
    assert (told["sent"], told["wrong"]) == (count, 0), told["first"]
    watched = api.service.watched()
    assert watched[SEALED] > count // 4
    assert watched[MARK] == 0
