"""The reference's table of one attribute in three spellings: each row is a rule, a sample and a test that agree."""

import json
import re
from pathlib import Path

import yaml

from dev.layout import ROOT
from tests.policies.typed import typed

ROW = re.compile(r"^\| `((?:session|workload|listener|claims|time): ?.*?)` \| `(.*?)` \| `(\".*?)` \|$", re.MULTILINE)
# What the client chooses gives nothing alone.
USER = "app"


def test_each_row_says_the_same_three_times(tmp_path: Path) -> None:
    rows = ROW.findall((ROOT / "docs" / "reference" / "policy-reference.md").read_text())
    assert len(rows) == 13
    columns, rules, samples = {}, [], []
    tests = "package rows_test\n\nimport data.fieldveil.testing\n\n"
    for number, (rule, sample, attribute) in enumerate(rows):
        label = f"row{number}"
        columns[f"c{number}"] = label
        who = yaml.safe_load(rule)
        who.setdefault("session", {}).setdefault("user", [USER])
        rules.append({"name": label, "who": who, "labels": [label], "read": {"treatment": "reveal"}})
        # As it stands there: YAML has times of its own.
        spelled = yaml.load(sample, yaml.BaseLoader)
        samples.append({"name": label, "database": "shop", "user": USER, "application_name": label, **spelled})
        principal = json.dumps({"user": USER, **json.loads(f"{{{attribute}}}")})
        tests += f'test_{label} if testing.reads(testing.principal({principal}), "{label}", "reveal")\n\n'
    storage = {"protection": "randomized", "keyset": "pii", "type": "text"}
    database = {"protocol": "postgres", "database": "shop", "columns": {"public.t": columns}}
    for name, data in (
        ("catalog", {"labels": dict.fromkeys(columns.values(), storage), "databases": [database]}),
        ("rules", {"rules": rules}),
    ):
        (tmp_path / "rows" / name / "shop").mkdir(parents=True)
        (tmp_path / "rows" / name / "shop" / "data.json").write_text(json.dumps(data))
    (tmp_path / "rows" / "rows_test.rego").write_text(tests)
    (tmp_path / "samples.yaml").write_text(json.dumps(samples))

    tested = typed("fieldveil policy test rows", tmp_path)
    assert tested.returncode == 0, tested.stdout
    told = typed("fieldveil policy explain rows --principals samples.yaml --output json", tmp_path)
    assert told.returncode == 0, told.stdout
    revealed = {(cell["principal"], cell["label"]) for cell in json.loads(told.stdout)["cells"] if opens(cell)}
    assert {(f"row{number}",) * 2 for number in range(len(rows))} <= revealed


def opens(cell: dict) -> bool:
    return cell["read"]["treatment"] == "reveal"
