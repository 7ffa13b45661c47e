"""The alerts: sound to Prometheus, each fires when it should and is silent when it should be, each has its section."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from dev.layout import CHARTS, ROOT
from tests.charts import queries

TESTS = CHARTS / "testdata" / "alerts"
FIRING = 'ALERTS{alertstate="firing"}'


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return queries.alerts_file(tmp_path_factory.mktemp("rules"))


@pytest.fixture(scope="module")
def alerts(rules: Path) -> list[dict]:
    return queries.alerts(rules)


def test_rules_are_sound_to_prometheus(rules: Path, alerts: list[dict]) -> None:
    said = queries.promtool("check", "rules", "--lint=all", "--lint-fatal", rules, folder=rules.parent)
    assert f"{len(alerts)} rules found" in said


@pytest.mark.parametrize("name", queries.RULES)
def test_alerts_fire_when_they_should_and_only_then(name: str, rules: Path) -> None:
    shutil.copy2(TESTS / f"{name}.yaml", rules.parent)
    queries.promtool("test", "rules", f"{name}.yaml", folder=rules.parent)


def test_every_alert_is_seen_to_be_silent_and_then_to_fire(alerts: list[dict]) -> None:
    """In one and the same test, so that it is what changes that makes it fire."""
    seen = set()
    for name in queries.RULES:
        for test in yaml.safe_load((TESTS / f"{name}.yaml").read_text())["tests"]:
            fired = [set(re.findall(r'alertname="(\w+)"', str(step))) for step in test["promql_expr_test"]]
            assert all(FIRING in step["expr"] for step in test["promql_expr_test"])
            seen |= set().union(*fired) - set.intersection(*fired)
    assert seen == {alert["alert"] for alert in alerts}


def test_every_file_of_rules_has_its_tests() -> None:
    assert sorted(path.stem for path in (queries.CHART / "rules").iterdir()) == sorted(queries.RULES)
    assert sorted(path.stem for path in TESTS.iterdir()) == sorted(queries.RULES)


def test_every_alert_says_what_is_wrong_and_where_its_remedy_stands(alerts: list[dict]) -> None:
    sections = re.findall(r"^### (\w+)$", (ROOT / "docs" / "guides" / "alerts.md").read_text(), flags=re.MULTILINE)
    assert sorted(sections) == sorted(alert["alert"] for alert in alerts)
    for alert in alerts:
        assert alert["labels"]["severity"] in ("critical", "warning")
        said = alert["annotations"]
        assert said["summary"]
        assert said["description"]
        assert said["runbook_url"].endswith(f"docs/guides/alerts.md#{alert['alert'].lower()}")


def test_no_value_of_the_chart_is_left_out(rules: Path) -> None:
    assert "${" not in rules.read_text()


def test_every_threshold_is_in_a_rule() -> None:
    thresholds = yaml.safe_load((queries.CHART / "values.yaml").read_text())["monitoring"]["rules"]["thresholds"]
    text = "".join(path.read_text() for path in (queries.CHART / "rules").iterdir())
    assert set(re.findall(r"\$\{(\w+)\}", text)) == {*thresholds, "selector"}
