"""Policies for one who writes guesses beside stored values: the auditor, who sees nothing of what is written."""

import json
from pathlib import Path

GUESS = "078-05-1120"
REFUSED = "search by customer.ssn, which it may write"

# Of either database; `guess` has the label of `customer.ssn`.
SEARCHES = (
    "SELECT t.id FROM customer t JOIN guess USING (ssn)",
    "SELECT t.id FROM customer t JOIN guess u ON u.ssn = t.ssn",
    "SELECT id FROM customer WHERE ssn IN (SELECT ssn FROM guess)",
    "SELECT count(*) FROM (SELECT ssn FROM customer INTERSECT SELECT ssn FROM guess) x",
    "SELECT count(*) FROM customer GROUP BY ssn HAVING count(*) > 1",
    "EXPLAIN SELECT t.id FROM customer t JOIN guess u ON u.ssn = t.ssn",
)
ORDINARY = (
    "SELECT t.id FROM customer t JOIN guess u ON u.id = t.id",
    "SELECT name, count(*) FROM customer GROUP BY name",
    "SELECT id FROM customer WHERE ssn IS NOT NULL",
    "UPDATE customer SET ssn = '219-09-9999' WHERE id = 3",
    "INSERT INTO guess (id, ssn) VALUES (7, '219-09-9999')",
    "DELETE FROM guess WHERE id = 7",
)


def write(folder: Path, protocol: str, relation: str) -> Path:
    """A catalog and a rule, to load beside the example's."""
    columns = {relation: {"ssn": "customer.ssn"}}
    catalog = {"databases": [{"protocol": protocol, "database": "shop", "columns": columns}]}
    rule = {
        "name": "auditors write what they do not see",
        "who": {"session": {"user": ["auditor"]}},
        "labels": ["customer.ssn"],
        "read": {"treatment": "null"},
        "write": "seal",
    }
    for kind, content in (("catalog", catalog), ("rules", {"rules": [rule]})):
        path = folder / kind / "guessing" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content))
    return folder
