"""What OPA is told for a run: the suites' columns, and who may do what with them."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from loadtests.rig.databases import SEALED
from loadtests.scenario import Suite

KEYSET = "pii"
# What the example catalog names besides. MySQL's plans have the columns of every database, the example's too.
EXAMPLES = ("payments",)

# Its name in the catalog, and in the filter's configuration.
SERVICE = "bodystore"

# What stands before a table's name in the catalog: PostgreSQL's schema, MySQL's database.
SCHEMAS = {"postgres": "public", "mysql": SEALED}
APP_RULE = {
    "name": "the application works with everything",
    "who": {"session": {"user": ["app"]}},
    "read": {"treatment": "reveal"},
    "write": "seal",
}
# The package whose plan has no field.
NOTHING = "loadtests.nothing"


def write(suites: list[Suite], folder: Path) -> Path:
    """One catalog of all suites' columns and routes; the folder that `fieldveil table --catalog` takes.

    Suites may share routes, labels and rules: each stands there once.
    """
    databases: dict[str, dict[str, dict[str, dict]]] = {}
    for suite in suites:
        for table, fields in suite.fields.items():
            columns = databases.setdefault(suite.protocol, {})
            if table in columns:
                raise ValueError(f"two suites have a table {table}: give one of them another name")
            columns[table] = {name: {"keyset": KEYSET, **label} for name, label in fields.items()}
    rules = _unique(rule for suite in suites for rule in suite.rules)
    catalog: dict = {}
    if databases:
        rules.insert(0, {**APP_RULE, "labels": [f"{SCHEMAS[protocol]}.*.*" for protocol in databases]})
        catalog["databases"] = [
            {"protocol": protocol, "database": SEALED, "columns": columns} for protocol, columns in databases.items()
        ]
    if labels := {name: {"keyset": KEYSET, **label} for suite in suites for name, label in suite.labels.items()}:
        catalog["labels"] = labels
    if routes := _unique(route for suite in suites for route in suite.routes):
        catalog["services"] = [{"protocol": "http", "service": SERVICE, "routes": routes}]
    for name, data in (("catalog", catalog), ("rules", {"rules": rules})):
        path = folder / name / "loadtests" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    shutil.copy(Path(__file__).with_name("nothing.rego"), folder)
    return folder / "catalog"


def _unique(given: Iterable[dict]) -> list[dict]:
    found: list[dict] = []
    for one in given:
        if one not in found:
            found.append(one)
    return found
