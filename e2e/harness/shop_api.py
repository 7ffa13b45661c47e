"""The ordinary JSON service of `e2e/services/shop-api`: what it got, and what it is to answer."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dev.layout import SHOP_API
from harness import unixhttp
from harness.process import Process
from harness.workdir import WorkDir


@dataclass(frozen=True)
class Got:
    """A request as the service got it."""

    method: str
    target: str
    # `HTTP/1.1` or `HTTP/2.0`.
    protocol: str
    headers: dict[str, list[str]]
    trailers: dict[str, list[str]]
    # The first MiB of it; length and hash are of all.
    body: bytes
    length: int
    sha256: str
    # As announced; -1 where nothing was.
    content_length: int
    # Whether the body came to its end, or broke off.
    complete: bool
    failed: bool

    @property
    def json(self) -> object:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        values = self.headers.get(name.lower())
        return ", ".join(values) if values is not None else None


class ShopApi:
    def __init__(self, work: WorkDir, name: str = "shop-api") -> None:
        self.socket = work.socket(f"{name}.sock")
        self._control = work.socket(f"{name}-control.sock")
        self.process = Process(name, work.log(name))

    def start(self) -> None:
        self.process.start([SHOP_API, "--listen", f"unix:{self.socket}", "--control", f"unix:{self._control}"])
        self.process.wait_until(lambda: unixhttp.is_ok(self._control, "/requests") and self.socket.exists())

    def stop(self) -> None:
        self.process.stop()

    def got(self, path: str | None = None) -> list[Got]:
        """The latest requests, the newest last; of one path, if told."""
        requests = [_got(each) for each in self._ask("GET", "/requests")]
        return [each for each in requests if path is None or each.target.partition("?")[0] == path]

    def forget(self) -> None:
        self._ask("DELETE", "/requests")

    def stored(self) -> list[dict]:
        """The customers, as they are stored."""
        return self._ask("GET", "/customers")

    def customer(self, number: int) -> dict:
        """One of them."""
        return next(each for each in self.stored() if each["id"] == number)

    def store(self, customer: dict) -> None:
        """Past the sidecar."""
        self._ask("PUT", f"/customers/{customer['id']}", customer)

    def answer(
        self,
        path: str,
        *steps: dict | str | bytes,
        status: int = 200,
        headers: dict[str, str] | None = None,
        trailers: dict[str, str] | None = None,
        unread: bool = False,
    ) -> None:
        """What it says from now on to whatever is asked at this path. Texts and bytes are steps that write them."""
        answer = {
            "path": path,
            "status": status,
            "headers": list(({"content-type": "application/json"} if headers is None else headers).items()),
            "steps": [_step(step) for step in steps],
            "trailers": list((trailers or {}).items()),
            "unread": unread,
        }
        self._ask("PUT", "/answers", answer)

    def open(self, gate: str) -> None:
        """Lets a step go on that waits for it."""
        self._ask("PUT", f"/gates/{gate}")

    def watch(self, *texts: str, under: str) -> None:
        """Counts, from now on, the bodies echoed at this path and below in which these stand."""
        self._ask("PUT", "/watched", {"under": under, "texts": list(texts)})

    def watched(self) -> dict[str, int]:
        return self._ask("GET", "/watched")

    def _ask(self, method: str, target: str, what: object = None) -> object:
        body = None if what is None else json.dumps(what).encode()
        status, _, answer = unixhttp.request(self._control, method, target, body)
        assert status == 200, answer
        return json.loads(answer) if answer else None


def _step(step: dict | str | bytes) -> dict:
    if isinstance(step, dict):
        return step
    raw = step.encode() if isinstance(step, str) else step
    return {"bytes": base64.b64encode(raw).decode()}


def _got(each: dict) -> Got:
    def lower(headers: dict[str, list[str]] | None) -> dict[str, list[str]]:
        return {name.lower(): values for name, values in (headers or {}).items()}

    body = base64.b64decode(each["body"] or "")
    known = {name: each[name] for name in Got.__dataclass_fields__ if name not in ("headers", "trailers", "body")}
    return Got(**known, headers=lower(each["headers"]), trailers=lower(each["trailers"]), body=body)


@contextmanager
def running() -> Iterator[ShopApi]:
    """One in a folder of its own."""
    work = WorkDir()
    service = ShopApi(work)
    try:
        service.start()
        yield service
    finally:
        service.stop()
        work.remove()
