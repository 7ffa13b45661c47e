"""Keys are rotated while requests flow: none fails, old values open, and no search misses a value unsaid."""

import json
import threading
from collections.abc import Iterator

import pytest

from harness.waiting import until
from tests.http import shop
from tests.http.api import SEALED, Api
from tests.http.clients import Client
from tests.keys.rotating import key_of


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("rotation"), concurrency=2) as made:
        yield made


def keys(api: Api, purpose: str) -> tuple[int, set[int]]:
    """The primary key of the keyset, and the enabled ones."""
    info = json.loads((api.stack.agent.keysets / f"pii.{purpose}.json").read_text())["keysetInfo"]
    enabled = {key["keyId"] for key in info["keyInfo"] if key["status"] == "ENABLED"}
    return info["primaryKeyId"], enabled


class Clients:
    """Some that write and read as fast as they can, and remember what went wrong."""

    def __init__(self, api: Api) -> None:
        self.wrong: list[str] = []
        self.done = 0
        self._api = api
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(number,)) for number in range(4)]

    def __enter__(self) -> "Clients":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self, number: int) -> None:
        one = {"ssn": shop.SSN, "card": shop.CARD, "n": number}
        while not self._stop.is_set():
            answer = self._api.post("/echo/sealed", one)
            self.done += 1
            if (answer.status, answer.error) != (200, "") or answer.json != one:
                self.wrong.append(f"{answer.status} {answer.error} {answer.body[:300]}")


def test_rotation_under_load_fails_no_request_and_old_values_open(api: Api) -> None:
    api.post("/customers", {"id": 1, **shop.FIELDS})
    old = api.service.customer(1)
    with api.clients_of_every_worker() as workers, Clients(api) as clients:
        before = key_of(old["card"])
        for words in (("pii",), ("payments",)):
            api.stack.agent.keys("rotate", *words)

        def seals_anew(worker: Client) -> bool:
            answer = worker.post("/echo/requests/sealing", {"card": shop.CARD}, api.role("app"))
            assert answer.status == 200, answer.body
            return key_of(answer.json["card"]) != before

        until(lambda: all(map(seals_anew, workers)), "every worker to seal under the new key")
        assert api.get("/customers/1").json == {"id": 1, **shop.FIELDS}
    assert clients.wrong == []
    assert clients.done > 20


def every_worker_answers(api: Api, target: str, status: int) -> None:
    """Waits until it is so."""
    with api.clients_of_every_worker() as workers:
        until(
            lambda: all(worker.get(target, api.role("app")).status == status for worker in workers),
            f"every worker to answer {target} with {status}",
        )


def test_search_is_refused_while_a_value_may_stand_under_either_key(api: Api) -> None:
    api.post("/customers", {"id": 2, "ssn": shop.SSN})
    old, _ = keys(api, "deterministic")
    api.stack.agent.keys("rotate", "pii", "--purpose", "deterministic")
    target = f"/customers?ssn={shop.SSN}"
    every_worker_answers(api, target, 503)
    refused = api.get(target)
    assert refused.problem
    assert refused.json["label"] == "api.ssn"
    assert refused.json["remedy"]
    # What is no search goes on, old value or new.
    assert api.get("/customers/2").json["ssn"] == shop.SSN
    assert api.post("/customers", {"id": 3, "ssn": shop.SSN}).status == 201
    assert SEALED in json.dumps(api.service.customer(3))
    for key in keys(api, "deterministic")[1] - {keys(api, "deterministic")[0]}:
        api.stack.agent.keys("disable", "pii", "--purpose", "deterministic", "--key-id", str(key))
    every_worker_answers(api, target, 200)
    assert old not in keys(api, "deterministic")[1]
    # The value under the key that is gone is an error, not a guess.
    assert api.get("/customers/2").status in (502, 503)
