"""What OPA is told for a run: the suites' columns, and who may do what with them."""

import json
from pathlib import Path

from loadtests.rig.databases import SEALED
from loadtests.scenario import Suite

KEYSET = "pii"

# Its name in the catalog, and in the filter's configuration.
SERVICE = "bodystore"

APP_RULE = {
    "name": "the application works with everything",
    "who": {"session": {"user": ["app"]}},
    "labels": ["public.*.*"],
    "read": {"treatment": "reveal"},
    "write": "seal",
}


def write(suites: list[Suite], folder: Path) -> Path:
    """One catalog of all suites' columns and routes; the folder that `fieldveil table --catalog` takes."""
    columns: dict[str, dict[str, dict]] = {}
    for suite in suites:
        for table, fields in suite.fields.items():
            if table in columns:
                raise ValueError(f"two suites have a table {table}: give one of them another name")
            columns[table] = {name: {"keyset": KEYSET, **label} for name, label in fields.items()}
    rules = [rule for suite in suites for rule in suite.rules]
    catalog: dict = {}
    if columns:
        rules.insert(0, APP_RULE)
        catalog["databases"] = [{"protocol": "postgres", "database": SEALED, "columns": columns}]
    if labels := {name: {"keyset": KEYSET, **label} for suite in suites for name, label in suite.labels.items()}:
        catalog["labels"] = labels
    if routes := [route for suite in suites for route in suite.routes]:
        catalog["services"] = [{"protocol": "http", "service": SERVICE, "routes": routes}]
    for name, data in (("catalog", catalog), ("rules", {"rules": rules})):
        path = folder / name / "loadtests" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder / "catalog"
