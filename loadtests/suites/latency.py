"""Latency that a client notices: calls begin at a rate that leaves the server time, whatever the answers take.

First each way to the server is asked as fast as it answers, for its capacity. Then calls arrive at parts of what the
direct path can do (`loadtests.rates.SHARES`), at every way: an application has its rate, whatever stands between. k6
has a core of its own, so that a latency does not hold its wait for one; the server, the proxy and OPA share the others.

A suite for each protocol, of scenarios that other suites have too, with tables of their own.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from loadtests import rates
from loadtests.rig import SEALED, Databases, Rig
from loadtests.scenario import Arrival, Closed, Scenario, Suite
from loadtests.suites import json_bodies, mysql, oltp
from loadtests.summary import SuiteSummary

READ, NEW = "steady", "steady_new"
SQL_TARGETS = ("direct", "envoy-tcp", "fieldveil", "fieldveil-native")
HTTP_TARGETS = ("direct-http", "envoy-http", "fieldveil-json", "fieldveil-json-native")
KIND = json_bodies.Kind("1KB", 10)
# Clients that ask as fast as they are answered: enough to keep every core busy.
CLIENTS = 8
# Connections of a pool, of which an operation that is due takes one.
CONNECTIONS = 16
# Below this scale answers are looked at, and nothing is timed: then one rate is enough, and any.
TIMED, ANY_RATE = 0.01, 500.0


def prepare_postgres(rig: Databases, scale: float) -> None:
    rig.tables("".join(oltp.TABLE.format(table=table, text=rig.TEXT) for table in (READ, NEW)))
    oltp.fill(rig, READ, oltp.ROWS)


def prepare_mysql(rig: Databases, scale: float) -> None:
    rig.tables(oltp.TABLE.format(table=READ, text=rig.TEXT))
    oltp.fill(rig, READ, oltp.ROWS)


def prepare_http(rig: Rig, scale: float) -> None:
    json_bodies.fill(rig, (KIND,))


def _reading() -> Scenario:
    read = _named("point-read-prepared-8", oltp.asked(1))
    return replace(read, name="point-read", data={**read.data, "table": READ}, targets=SQL_TARGETS)


def _inserting() -> Scenario:
    insert = _named("insert-prepared-8", oltp.asked(1))
    return replace(
        insert,
        name="insert",
        data={**insert.data, "table": NEW},
        targets=SQL_TARGETS,
        before=partial(oltp.empty, table=NEW),
        stored=partial(oltp.inserted, table=NEW),
    )


def _opening() -> Scenario:
    opened = _named(f"open-{KIND.name}", json_bodies.scenarios(1))
    return replace(opened, targets=HTTP_TARGETS)


def _named(name: str, scenarios: list[Scenario]) -> Scenario:
    return next(one for one in scenarios if one.name == name)


def capacities(operations: list[Scenario]) -> Callable[[float], list[Scenario]]:
    def scenarios(scale: float) -> list[Scenario]:
        workload = Closed(CLIENTS, max(0.3, scale))
        return [replace(one, name=rates.capacity_name(one.name), workload=workload) for one in operations]

    return scenarios


def paced(operations: list[Scenario], direct: str) -> Callable[[SuiteSummary, float], list[Scenario]]:
    """At each share of what the direct path was found to do. An operation whose capacity is not known has none."""

    def scenarios(summary: SuiteSummary, scale: float) -> list[Scenario]:
        found = summary.scenarios()
        known = {
            one.name: found[rates.capacity_name(one.name)].figure("operations_per_second", direct) for one in operations
        }
        timed = scale >= TIMED
        return [
            _at(one, share, known[one.name].median * share / 100 if timed else ANY_RATE, scale)
            for one in operations
            if known[one.name] or not timed
            for share in (rates.SHARES if timed else rates.SHARES[:1])
        ]

    return scenarios


def _at(operation: Scenario, share: int, rate: float, scale: float) -> Scenario:
    workload = Arrival(float(round(rate)), max(0.3, 2 * scale), CONNECTIONS)
    return replace(operation, name=rates.paced_name(operation.name, share), workload=workload)


POSTGRES = Suite(
    name="latency",
    what="PostgreSQL: latency at 10, 30, 60 and 80 % of what the direct path can do, k6 on a core of its own",
    scenarios=capacities([_reading(), _inserting()]),
    paced=paced([_reading(), _inserting()], "direct"),
    own_core=True,
    prepare=prepare_postgres,
    fields={f"public.{table}": oltp.FIELDS for table in (READ, NEW)},
)
MYSQL = Suite(
    name="latency-mysql",
    what="MariaDB: latency at 10, 30, 60 and 80 % of what the direct path can do, k6 on a core of its own",
    scenarios=capacities([_reading()]),
    paced=paced([_reading()], "direct"),
    own_core=True,
    prepare=prepare_mysql,
    protocol="mysql",
    fields={f"{SEALED}.{READ}": {name: {**label, "type": mysql.DECLARED} for name, label in oltp.FIELDS.items()}},
)
HTTP = Suite(
    name="latency-http",
    what="HTTP: latency at 10, 30, 60 and 80 % of what the direct path can do, k6 on a core of its own",
    scenarios=capacities([_opening()]),
    paced=paced([_opening()], "direct-http"),
    own_core=True,
    prepare=prepare_http,
    protocol="http",
    labels=json_bodies.SUITE.labels,
    routes=json_bodies.SUITE.routes,
    rules=json_bodies.SUITE.rules,
)
