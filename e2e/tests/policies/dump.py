"""A table that is dumped within budgets, and what of it is shown then."""

import json
from pathlib import Path

DATABASE = "dump"
ROWS = 1000
LABEL = "person.{}".format
LAST4 = {"treatment": "mask", "format": "last4"}
# Longer than any test takes.
HOUR = 3600
SHORT = 2
# Each test spends a budget of its own.
BUDGETS = {
    "ssn": {"rows": 500, "per_seconds": HOUR, "then": LAST4},
    "iban": {"rows": 500, "per_seconds": HOUR, "then": {"treatment": "refuse"}},
    "card": {"rows": 100, "per_seconds": HOUR, "then": LAST4},
    "email": {"rows": 100, "per_seconds": HOUR, "then": {"treatment": "null"}},
    "phone": {"rows": 20, "per_seconds": SHORT, "then": LAST4},
}


def write_policies(folder: Path, protocol: str = "postgres") -> Path:
    """One user fills the table; the others read it within budgets."""
    labels = {LABEL(column): {"protection": "deterministic", "keyset": "pii", "type": "text"} for column in BUDGETS}
    schema = "public" if protocol == "postgres" else DATABASE
    table = {f"{schema}.person": {column: LABEL(column) for column in BUDGETS}}
    catalog = {
        "labels": labels,
        "databases": [{"protocol": protocol, "database": DATABASE, "columns": table}],
    }
    fills = {
        "name": "the application works with everything",
        "who": {"session": {"user": ["app"]}},
        "labels": ["person.*"],
        "read": {"treatment": "reveal"},
        "write": "seal",
    }
    reads = [
        {
            "name": f"so many rows of {column}",
            "who": {"session": {"user": ["support", "intern", "auditor"]}},
            "labels": [LABEL(column)],
            "read": {"treatment": "reveal", "budget": budget},
        }
        for column, budget in BUDGETS.items()
    ]
    for name, data in (("catalog", catalog), ("rules", {"rules": [fills, *reads]})):
        path = folder / name / DATABASE / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder


def value(number: int) -> str:
    return f"{number:05d}-{number:04d}"


def masked(number: int) -> str:
    return f"*****-{number:04d}"


def expected(revealed: int, count: int) -> list[str]:
    return [value(number) if number < revealed else masked(number) for number in range(count)]
