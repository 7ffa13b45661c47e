"""Catalog and rules for a table of one's own, beside the example's."""

import json
from pathlib import Path


def write_for_table(
    folder: Path, database: str, table: str, columns: dict[str, dict], user: str, protocol: str = "postgres"
) -> Path:
    """All protected columns of the table, which the user reads and writes."""
    schema = "public" if protocol == "postgres" else database
    catalog = {"protocol": protocol, "database": database, "columns": {f"{schema}.{table}": columns}}
    rule = {
        "name": "the application works with everything",
        "who": {"session": {"user": [user]}},
        "labels": [f"{schema}.{table}.*"],
        "read": {"treatment": "reveal"},
        "write": "seal",
    }
    for name, data in (("catalog", {"databases": [catalog]}), ("rules", {"rules": [rule]})):
        path = folder / name / database / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder
