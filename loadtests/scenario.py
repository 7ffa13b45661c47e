"""What a suite is: scenarios (what a user does), each with a workload (how much of it)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from loadtests.results import Published, Table

if TYPE_CHECKING:
    from loadtests.rig import Databases, LiveDatabase, LiveHttp, Rig
    from loadtests.summary import SuiteSummary

# What a suite's scenarios speak, and so which targets they have.
Protocol = Literal["postgres", "mysql", "http"]
# How a driver speaks to the server: named statements, the extended protocol without names, or simple queries, which are
# MySQL's text; or how a client does to the service.
Mode = Literal["prepared", "extended", "simple", "text", "http/1.1"]


@dataclass(frozen=True)
class Closed:
    """So many clients, each asking again as soon as it is answered: for capacity and for CPU an operation."""

    clients: int
    seconds: float
    kind: str = "closed"


@dataclass(frozen=True)
class Arrival:
    """So many operations begun each second, whatever the answers take: for latency, which a slow server can't hide."""

    rate: float
    seconds: float
    # Connections. An operation that finds none free waits in line, and its latency counts from when it was due. After
    # ten seconds it is dropped, and counted.
    clients: int
    kind: str = "arrival"


@dataclass(frozen=True)
class Fixed:
    """So much work, divided among clients: for whole tables. Timed from the first operation to the end of the last."""

    clients: int
    # Calls of the script, of all clients together.
    operations: int
    kind: str = "fixed"


Workload = Closed | Arrival | Fixed


@dataclass(frozen=True)
class Scenario:
    """What is measured: one script under one workload, on each target, in each round."""

    # Unique within its suite: words divided by hyphens, "point-read-prepared-8".
    name: str
    # A line for the report.
    what: str
    # The module of this name in `loadtests/k6/scenarios`.
    script: str
    workload: Workload
    # What an operation is: "transaction", "row", "message", "call", "session", "body". A call of the script is one, or
    # says how many it was.
    unit: str = "transaction"
    mode: Mode = "prepared"
    # Database user, or that of the header by which the filter knows one; and so the treatment.
    user: str = "app"
    # Given to the script as it is; JSON.
    data: dict = field(default_factory=dict)
    # Names of targets; None: all.
    targets: tuple[str, ...] | None = None
    # Called before and after each measurement, outside what is timed: fresh tables, a look at what is stored. What
    # `before` returns is laid over `data`.
    before: "Callable[[Rig | Databases, LiveDatabase | LiveHttp], dict | None] | None" = None
    after: "Callable[[Rig | Databases, LiveDatabase | LiveHttp], None] | None" = None
    # Called after it with the number of answers, each of which acknowledged a write: those are there and no others.
    stored: "Callable[[Rig | Databases, LiveDatabase | LiveHttp, int], None] | None" = None


@dataclass(frozen=True)
class Suite:
    """Scenarios that share tables and a story."""

    name: str
    # A line for `make help`-like lists and the head of its chapter.
    what: str
    # At SCALE=1, meant to take two minutes or so; sizes and seconds grow with the scale.
    scenarios: Callable[[float], list[Scenario]]
    # Scenarios whose workload depends on what those above found, in rounds of their own after all of theirs.
    paced: "Callable[[SuiteSummary, float], list[Scenario]]" = lambda summary, scale: []
    # While it runs, the load generator has a core of its own, where the machine has two or more.
    own_core: bool = False
    # Tables and rows, in the plain and in the sealed database, or bodies in the service. Called once a run.
    prepare: "Callable[[Rig | Databases, float], None]" = lambda rig, scale: None
    # Protected columns: {"public.customer": {"ssn": {"protection": "deterministic", …}}}, as in a catalog.
    fields: dict[str, dict[str, dict]] = field(default_factory=dict)
    protocol: Protocol = "postgres"
    # It has the targets with TLS too, before a server that takes it. Run when it is named.
    tls: bool = False
    # Of a service: labels by name, and its routes, as in a catalog.
    labels: dict[str, dict] = field(default_factory=dict)
    routes: tuple[dict, ...] = ()
    # Rules beside the one that lets `app` read and write everything.
    rules: tuple[dict, ...] = ()
    # The experiment that it re-runs, with its figures.
    published: Published | None = None
    # Theirs beside ours.
    beside: "Callable[[SuiteSummary], list[Table]]" = lambda summary: []
    # Tables measured by other means than k6: the cost of one seal or open.
    extra: "Callable[[Rig, float], list[Table]] | None" = None
