"""The shop's API behind the sidecar, an issuer of tokens and, where a test wants it, the database's sidecar."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from harness import HttpOptions, HttpStack, HttpWay, JwtProvider, Options, Stack, Upstream
from harness.http_stack import JSON
from harness.parts import overlaid
from harness.shop_api import ShopApi
from harness.tokens import AUDIENCE, ISSUER, Issuer
from harness.workdir import WorkDir
from harness.workers import of_every_worker
from tests.http import shop, wire
from tests.http.clients import Answer, Client, client

SEALED = "fv1."
IDENTITY = {"jwt_payload": "claims", "headers": ["x-team"]}
QUICK_KEYS = {"refresh_seconds": 1}


class Api:
    """Everything that stands between a client and the shop, and the shop."""

    def __init__(self, folder: Path, *, database: bool = False, **options: object) -> None:
        self.issuer = Issuer()
        shop.write_policies(folder)
        self.folder = folder
        self.work = WorkDir()
        self.service = ShopApi(self.work)
        config = {
            "keys": QUICK_KEYS,
            "http": {"service": shop.SERVICE, "identity": IDENTITY},
        }
        laid_over, ways = options.pop("filter_config", {}), options.pop("ways", None)
        jwks = self.work.path / "jwks.json"
        jwks.write_text(json.dumps({"keys": [self.issuer.jwk()]}))
        provider = JwtProvider("company", ISSUER, jwks, (AUDIENCE,))
        self._http = HttpOptions(
            upstream=Upstream(self.service.socket),
            policies=() if database else (folder,),
            filter_config=overlaid(config, laid_over),
            jwt=(provider,),
            # They need to know where the service is, and who issues tokens.
            ways=ways(self.service.socket, (provider,)) if ways else {},
            **options,
        )
        self.database: Stack | None = None
        if database:
            self.database = Stack(Options(policies=(folder,), http=self._http))
            self.stack: HttpStack = self.database.http
        else:
            self.stack = HttpStack(self._http)

    def start(self, **how: object) -> "Api":
        try:
            self.service.start()
            (self.database or self.stack).start(**how)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        (self.database or self.stack).stop()
        self.service.stop()
        self.work.remove()

    def __enter__(self) -> "Api":
        return self if self.service.process.running else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def port(self) -> int:
        return self.stack.port(JSON)

    @property
    def base(self) -> str:
        return self.stack.url("", listener=JSON)

    def role(self, *roles: str, **claims: object) -> dict[str, str]:
        """The header of somebody who has these roles."""
        return {"authorization": f"Bearer {self.issuer.token('ada', roles=list(roles), **claims)}"}

    def ask(
        self,
        method: str,
        target: str,
        body: object = None,
        headers: dict[str, str] | None = None,
        *,
        role: str | None = "app",
    ) -> Answer:
        """As this role; None: nobody in particular."""
        whose = {} if role is None else self.role(role)
        return wire.ask(self.port, method, target, body, {**whose, **(headers or {})})

    def get(self, target: str, headers: dict[str, str] | None = None, *, role: str | None = "app") -> Answer:
        return self.ask("GET", target, None, headers, role=role)

    def post(
        self, target: str, body: object, headers: dict[str, str] | None = None, *, role: str | None = "app"
    ) -> Answer:
        return self.ask("POST", target, body, headers, role=role)

    def warm(self) -> None:
        """Gives every worker a plan for the application: one without may refuse who sends it much at once."""
        with self.clients_of_every_worker():
            self.service.forget()

    @contextlib.contextmanager
    def clients_of_every_worker(self) -> Iterator[list[Client]]:
        """One of each worker, which keeps its connection. Nobody else may connect while these are made."""

        @contextlib.contextmanager
        def connected() -> Iterator[Client]:
            with client("httpx", self.base) as made:
                assert made.post("/echo/sealed", {}, self.role("app")).status == 200
                yield made

        with of_every_worker(self.stack.envoy, connected) as clients:
            yield clients

    def sealed(self, name: str, value: object) -> object:
        """A value as the shop stores it, of the member `name`: what sealing it in a request makes of it."""
        answer = self.post("/echo/requests/sealing", {name: value})
        assert answer.status == 200, answer.body
        return answer.json[name]

    def nothing_arrived(self, path: str | None = None) -> bool:
        """Whether the shop has got nothing of it since the last `forget`, not even a beginning."""
        return self.service.got(path) == []


__all__ = ["SEALED", "Api", "HttpWay"]
