"""Writes `docs/reference/drivers.md` from the results of a run. The same results give the same text."""

from matrix.clients import STEPS, Client
from matrix.known import Known
from matrix.result import Result

HEADINGS = {name: name.replace("_", " ").replace("copy", "COPY") for name in STEPS}
OPENING = """\
# Drivers

Written by `make e2e` from a real run, and checked by it; don't edit. Each client is a small program in `e2e/clients`
that goes through Envoy with the filter to a real PostgreSQL, with plans from OPA and keysets from the key agent.

Its table has a sealed column of each of text, uuid, date, numeric(12,2), int4, float8, bool, timestamptz, timestamp,
json and bytea. What each step does is in [the clients' README](../../e2e/clients/README.md). After each client the
server is looked into directly: **sealed** means that every protected value it stored is an envelope, that none of the
values was seen in clear text on the way to the server, and that another driver reads the rows as they were meant.

**Within TLS** means that the same program, told to verify the server's certificate and its name in its driver's
strictest way, did the same by [both bridges](../guides/connections.md#tls-with-applications) with a server that takes
TLS alone, and nothing with a bridge of an unknown authority, or by a name that its certificate is not for.

Each client runs without Fieldveil, too, on the same server and columns of the declared types, where every step but the
refusal has to work. So what says **no** below is Fieldveil's doing, and not the program's.
"""
ABSENT = "-"
NOT_TRIED = "not tried"
LEGEND = (
    "**yes**: works; each value came back as it was written, in the driver's own type. **no**: does not, for the "
    f"reason in the note. {ABSENT}: the driver has no such thing.\n"
)


MYSQL_OPENING = """\
# Drivers of MySQL and MariaDB

Written by `make e2e` from a real run, and checked by it; don't edit. Each client is a small program in `e2e/clients`
that goes through Envoy with the filter to a real MariaDB 10.11, with plans from OPA and keysets from the key agent.
[The matrix of PostgreSQL's drivers](drivers.md) says what is looked at, and
[the clients' README](../../e2e/clients/README.md) what each step does.

Its table has a sealed column of each of text, uuid, date, numeric(12,2), int4, float8, bool, timestamp(3), json and
bytea. Within TLS they speak with MariaDB 11.4 and with MySQL 9.7.
"""


def render(
    clients: list[Client],
    results: dict[str, Result],
    known: Known,
    by_tls: dict[str, list[str]],
    opening: str = OPENING,
) -> str:
    """`by_tls` has of each client that was run within TLS how it differed from what it did without."""
    used = _notes_used(clients, results, known)
    head = ["client", "version", *HEADINGS.values(), "sealed", "within TLS"]
    lines = [opening, _totals(clients, results), "", _row(head), _row(["---"] * len(head))]
    for client in clients:
        differs = by_tls.get(client.name)
        within_tls = NOT_TRIED if differs is None else "no" if differs else "yes"
        lines.append(_row([*_cells(client, results[client.name], known, used), within_tls]))
    lines += ["", LEGEND]
    if used:
        lines += ["## What does not work, and why", ""]
        lines += [f"{number}. {known.notes[name]}" for name, number in used.items()] + [""]
    lines += ["## What to know of each", "", _row(["client", ""]), _row(["---"] * 2)]
    lines += [_row([client.title, client.remark]) for client in clients]
    return "\n".join(lines) + "\n"


def totals(results: list[Result]) -> tuple[int, int, int]:
    """Steps that work, that do not, and that the driver does not have."""
    seen = [step.ok for result in results for step in result.steps.values()]
    return seen.count(True), seen.count(False), seen.count(None)


def _totals(clients: list[Client], results: dict[str, Result]) -> str:
    works, fails, absent = totals([results[client.name] for client in clients])
    return (
        f"{len(clients)} clients, {works + fails} steps that their drivers have: "
        f"**{works} work, {fails} do not** ({absent} more do not exist in the driver)."
    )


def _notes_used(clients: list[Client], results: dict[str, Result], known: Known) -> dict[str, int]:
    used = {
        known.of(client.name)[step]["note"]
        for client in clients
        for step in known.of(client.name)
        if results[client.name].steps[step].ok is False
    }
    return {name: number for number, name in enumerate((name for name in known.notes if name in used), start=1)}


def _cells(client: Client, result: Result, known: Known, used: dict[str, int]) -> list[str]:
    cells = [client.title, client.version]
    for name in STEPS:
        ok = result.steps[name].ok
        if ok is False:
            what = known.of(client.name).get(name)
            cells.append(f"no ({used[what['note']]})" if what else "no (?)")
        else:
            cells.append("yes" if ok else ABSENT)
    return [*cells, "no" if result.faults else "yes"]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
