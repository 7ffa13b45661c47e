"""Which suites run here, and what OPA is told for them."""

import json
from pathlib import Path

import pytest

from harness import mysql_builds
from harness.mysql_builds import Build
from loadtests.rig import SEALED, policies
from loadtests.suites import SUITES, present
from loadtests.suites import mysql as suite


def test_suite_of_mariadb_is_left_out_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mysql_builds, "OLDER", Build("none", tmp_path))
    assert {one.name for one in SUITES.values()} - {one.name for one in present()} == {"mysql", "latency-mysql", "tls"}


def test_each_server_has_its_columns_and_the_application_works_with_all(tmp_path: Path) -> None:
    catalog = policies.write([SUITES["oltp"], SUITES["rows"], suite.SUITE], tmp_path)
    databases = json.loads((catalog / "loadtests" / "data.json").read_text())["databases"]
    tables = {one["protocol"]: {name.partition(".")[2] for name in one["columns"]} for one in databases}
    assert tables["postgres"] == tables["mysql"]
    assert {name.partition(".")[0] for name in databases[1]["columns"]} == {SEALED}
    rules = json.loads((tmp_path / "rules" / "loadtests" / "data.json").read_text())["rules"]
    assert rules[0]["labels"] == ["public.*.*", f"{SEALED}.*.*"]
