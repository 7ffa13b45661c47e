"""What dashboard and alerts ask for is what real sidecars say: metrics, their labels, and something for each panel."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from dev.layout import ROOT
from tests.charts import queries
from tests.charts.queries import Query
from tests.charts.watched import Series, Watched

# By what each metric counts.
TAGGED = {
    "sealed": {"label"},
    "revealed": {"label"},
    "masked": {"label"},
    "concealed": {"label"},
    "nulled": {"label"},
    "plaintext": {"label"},
    "budget_spent": {"label"},
    "refused": {"sqlstate"},
    "unreadable": {"sqlstate"},
    "http_refused": {"problem"},
    "key_uses": {"keyset", "purpose", "key"},
    "key_used_up": {"keyset", "purpose", "key"},
    "plans_held": {"bundle"},
    "bridge_failures_total": {"reason"},
}
# What takes thousands of principals or tenants, an issuer of tokens, or a fault in the native module: by metric the
# filter's name for it.
RARE = {
    "fieldveil_plans_denied": "plans.denied",
    "fieldveil_faults": "faults",
    "fieldveil_budgets_over_limit": "budgets.over_limit",
    "fieldveil_tenant_keysets_over_limit": "tenant_keysets.over_limit",
}
# Of Prometheus itself and of the kubelet (cAdvisor).
OTHERS = {
    "up": {"container"},
    "container_memory_working_set_bytes": {"container"},
    "container_cpu_usage_seconds_total": {"container"},
}
# Of every series, by how its target was found.
OF_TARGETS = {"namespace", "pod", "container"}
PROMQL = {"sum", "max", "count", "rate", "increase", "histogram_quantile", "time", "vector", "or", "unless"}


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Series]]:
    with Watched(tmp_path_factory.mktemp("watched")) as running:
        yield running.scrape()


@pytest.fixture(scope="module")
def known(scraped: list[Series]) -> dict[str, set[str]]:
    """By metric its labels."""
    found: dict[str, set[str]] = defaultdict(set)
    for series in scraped:
        found[series.metric] |= series.names
    return found | OTHERS | {metric: set() for metric in RARE}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[Query]:
    alerts = queries.alerts(queries.alerts_file(tmp_path_factory.mktemp("rules")))
    return [*(Query(alert["alert"], alert["expr"]) for alert in alerts), *queries.of_dashboard()]


@pytest.mark.parametrize("metric", TAGGED)
def test_what_a_metric_counts_by_is_a_label_of_it(known: dict[str, set[str]], metric: str) -> None:
    assert known.get(f"fieldveil_{metric}") == TAGGED[metric]


def test_no_label_is_left_in_the_name_of_a_metric(known: dict[str, set[str]]) -> None:
    """So that no data class, reason or key makes a metric of its own."""
    kinds = tuple(f"fieldveil_{metric}_" for metric in TAGGED)
    assert [name for name in known if name.startswith(kinds)] == []


def test_every_metric_asked_for_is_one_that_a_sidecar_has(known: dict[str, set[str]], asked: list[Query]) -> None:
    missing = {f"{query.of}: {metric}" for query in asked for metric in query.asked if metric not in known}
    assert missing == set()


def test_every_label_asked_for_is_one_of_its_metric(known: dict[str, set[str]], asked: list[Query]) -> None:
    wrong = set()
    for query in asked:
        for metric, labels in query.asked.items():
            wrong |= {f"{query.of}: {metric}{{{label}}}" for label in labels - known[metric] - OF_TARGETS}
        all_labels = set().union(*(known[metric] for metric in query.asked))
        wrong |= {f"{query.of}: by {label}" for label in query.shown - all_labels - OF_TARGETS}
    assert wrong == set()


def test_every_metric_is_asked_for_with_braces(asked: list[Query]) -> None:
    """Else the two above would not see it."""
    assert {f"{query.of}: {word}" for query in asked for word in query.words - PROMQL} == set()


@pytest.mark.parametrize("metric", RARE)
def test_what_is_too_rare_to_bring_about_is_counted_by_the_filter(metric: str) -> None:
    folders = (ROOT / "filters" / "engine" / "src", ROOT / "filters" / "shells" / "native" / "src")
    sources = (source for folder in folders for source in folder.rglob("*.rs"))
    assert any(f'"{RARE[metric]}"' in source.read_text() for source in sources)


def test_every_query_of_the_dashboard_finds_something(tmp_path: Path, scraped: list[Series]) -> None:
    """Of series as a sidecar has them, each of which grows."""
    rare = [Series(metric, "") for metric in RARE]
    others = [Series(metric, 'container="fieldveil-agent"') for metric in OTHERS]
    names = {f"{series.metric}{{{_of_target(series)}}}" for series in [*scraped, *rare, *others]}
    at = "20m"
    finds = [
        {"expr": f"clamp(count({query.expr}), 1, 1)", "eval_time": at, "exp_samples": [{"labels": "{}", "value": 1}]}
        for query in queries.of_dashboard()
    ]
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": "1+1x30"} for name in sorted(names)],
        "promql_expr_test": finds,
    }
    (tmp_path / "dashboard.yaml").write_text(yaml.safe_dump({"evaluation_interval": "1m", "tests": [test]}))
    queries.promtool("test", "rules", "dashboard.yaml", folder=tmp_path)


def _of_target(series: Series) -> str:
    target = f'namespace="{queries.NAMESPACE}",pod="a"'
    return f"{target},{series.labels}".rstrip(",")
