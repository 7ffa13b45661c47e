"""The demo's second act: a web shop's API behind a sidecar of its own, over the same table, under the same policies."""

import json
from collections.abc import Mapping
from pathlib import Path

import httpx
import psycopg

from demo_view import CYAN, DIM, GREEN, RED, heading, paint, side_by_side
from dev.layout import E2E, VENV
from harness import HttpOptions, Stack, Upstream, shop
from harness.process import PartFailed, Process

# Set by whatever stands in front of the sidecar; here the demo stands there.
USER_HEADER = "x-user"
CUSTOMER = {
    "id": 3,
    "name": "Grace Hopper",
    "email": "grace@example.net",
    "ssn": "123-45-6789",
    "phone": "+1 202 555 0143",
    "card": "3782 822463 10005",
    "notes": "calls at noon",
}
COLUMNS = ["id", "name", "email", "ssn", "phone", "card", "notes"]
SELECT = "SELECT id, name, card FROM customer WHERE id = 3"


class WebShop:
    """The API, an ordinary program beside its database."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "web-shop.sock"
        self._process: Process | None = None

    @property
    def http(self) -> HttpOptions:
        """The sidecar before it."""
        identity = {"user_header": USER_HEADER}
        return HttpOptions(Upstream(self._socket), filter_config={"http": {"identity": identity}})

    def start(self, stack: Stack) -> None:
        self._process = Process("web-shop", stack.work.log("web-shop"))
        command = [VENV / "bin" / "python", E2E / "services" / "web_shop.py", "--socket", self._socket]
        database = psycopg.conninfo.make_conninfo(
            host=str(stack.postgres.socket_dir), user="app", dbname=shop.DATABASE, password=shop.PASSWORD
        )
        self._process.start([*command, "--database", database])
        self._process.wait_until(self._socket.exists)

    def close(self) -> None:
        if self._process is not None:
            self._process.stop()


def is_protected(stack: Stack) -> bool:
    """Whether the policies speak of the API."""
    catalogs = stack.opa.data("catalog").values()
    services = (service for catalog in catalogs for service in catalog.get("services", []))
    return any(service["service"] == stack.http.options.service for service in services)


def tell(stack: Stack) -> None:
    heading("5  A web shop's API, behind a sidecar for JSON: a new customer")
    with httpx.Client(base_url=stack.http.url("")) as client:
        print(
            f"  app> POST /customers {json.dumps({name: CUSTOMER[name] for name in ('id', 'name', 'card')})[:-1]}, …}}"
        )
        answer = _ask(client, "app", "POST", "/customers", json=CUSTOMER)
        if answer.status_code != httpx.codes.CREATED:
            raise PartFailed(
                f"the shop should have taken the customer, and answered {answer.status_code} {answer.text}"
            )
        print(f"  {paint(str(answer.status_code), GREEN)} {answer.text}")
        _stored(stack)

        heading("6  A customer that came in SQL, four ways out of the API")
        views = {"as stored": _row(_direct(stack, 1))}
        for user, why in (("support", "masked"), ("billing", "revealed"), ("auditor", "no rule")):
            views[f"{user}: {why}"] = _row(_ask(client, user, "GET", "/customers/1").json())
        side_by_side(COLUMNS, views)

        heading("7  A search by a sealed value, in the URL")
        print("  billing> GET /customers?ssn=219-09-9999")
        for found in _ask(client, "billing", "GET", "/customers", params={"ssn": "219-09-9999"}).json():
            print(f"  {paint(json.dumps({name: found[name] for name in ('id', 'name', 'ssn')}), GREEN)}")

        heading("8  A request that policy does not allow never reaches the shop")
        print('  support> POST /customers {"id": 4, "card": …}')
        _refused(_ask(client, "support", "POST", "/customers", json={"id": 4, "card": CUSTOMER["card"]}), 403)
        print('  app> POST /customers {"id": 4, "card": "4111')
        broken = {"content": '{"id": 4, "card": "4111', "headers": {"content-type": "application/json"}}
        _refused(_ask(client, "app", "POST", "/customers", **broken), 400)


def _stored(stack: Stack) -> None:
    stored = _direct(stack, CUSTOMER["id"])["card"]
    if not stored.startswith("fv1."):
        raise PartFailed("the shop should have stored an envelope")
    print(f"  what the shop stored:      {paint(stored[:40] + '…', DIM)}")
    with stack.connect("billing") as billing:
        print(f"  billing> {SELECT}")
        print(f"  {paint('  |  '.join(map(str, billing.execute(SELECT).fetchone())), GREEN)}")


def _direct(stack: Stack, number: object) -> Mapping[str, object]:
    with stack.direct() as direct:
        row = direct.execute(f"SELECT {', '.join(COLUMNS)} FROM customer WHERE id = %s", [number]).fetchone()
    return dict(zip(COLUMNS, row, strict=True))


def _row(customer: Mapping[str, object]) -> tuple:
    return tuple(customer[name] for name in COLUMNS)


def _ask(client: httpx.Client, user: str, method: str, path: str, **more: object) -> httpx.Response:
    headers = {USER_HEADER: user, **more.pop("headers", {})}
    return client.request(method, path, headers=headers, **more)


def _refused(answer: httpx.Response, status: int) -> None:
    if answer.status_code != status:
        raise PartFailed(f"the request should have been refused with {status}, and was answered {answer.status_code}")
    problem = answer.json()
    print(paint(f"  {status} {problem['title']}: {problem['detail']}", RED))
    print(paint(f"  {problem['remedy']}", CYAN))
