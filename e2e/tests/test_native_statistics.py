"""To Prometheus the native module's statistics are those of the WebAssembly modules, so that alerts find them."""

import re

import pytest

from harness import Options, Stack, unixhttp
from harness.envoy import SHELL
from harness.waiting import until

pytestmark = pytest.mark.skipif(SHELL != "native", reason="it is of the native shell alone")

SERIES = re.compile(r"^(\w+)\{(.*)\} (\d+)$", re.MULTILINE)


def scraped(stack: Stack) -> dict[str, tuple[str, int]]:
    """By metric the labels and the value of its last series."""
    text = unixhttp.request(stack.envoy.admin, "GET", "/stats/prometheus")[2].decode()
    return {metric: (labels, int(value)) for metric, labels, value in SERIES.findall(text) if "fieldveil" in metric}


def test_names_and_labels_are_those_of_the_other_shell() -> None:
    with Stack(Options()) as stack:
        assert scraped(stack)["fieldveil_faults"] == ("", 0), "a counter without labels is there from the start"
        with stack.connect("app") as app:
            app.execute("SELECT ssn FROM customer WHERE ssn = '078-05-1120'")
        until(lambda: "fieldveil_sealed" in scraped(stack))
        found = scraped(stack)
    assert found["fieldveil_sealed"] == ('label="customer.ssn"', 1)
    assert re.fullmatch(r'keyset="\w+",purpose="\w+",key="\d+"', found["fieldveil_key_uses"][0])
    assert not [metric for metric in found if not metric.startswith("fieldveil_")]
