"""What dashboard and alerts ask for is what real sidecars say: every name of a metric, and every label of it."""

from collections.abc import Iterator

import pytest

from tests.charts.watched import Names, Watched


@pytest.fixture(scope="module")
def envoy(watched: Watched) -> Names:
    return watched.envoy()


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with Watched(tmp_path_factory.mktemp("watched")) as running:
        yield running


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
}


@pytest.mark.parametrize("metric", TAGGED)
def test_what_a_metric_counts_by_is_a_label_of_it(envoy: Names, metric: str) -> None:
    assert envoy.get(f"fieldveil_{metric}") == TAGGED[metric]


def test_no_label_is_left_in_the_name_of_a_metric(envoy: Names) -> None:
    """So that no data class, reason or key makes a metric of its own."""
    kinds = tuple(f"fieldveil_{metric}_" for metric in TAGGED)
    of_their_own = {"fieldveil_plans_held", "fieldveil_key_uses_of_others"}
    assert [name for name in envoy if name.startswith(kinds) and name not in of_their_own] == []
