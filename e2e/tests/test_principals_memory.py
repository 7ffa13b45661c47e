"""Memory of the native shell, as it counts it: many principals, of which only the last plans are kept, leave nothing.

Not among the tests of `make test`, for it takes many connections; `make test-native` runs it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import Options, Stack
from harness.envoy import SHELL
from harness.waiting import until

MIB = 1 << 20
GAUGE = "wasmcustom.fieldveil.memory.in_use_bytes"
# More than there are plans that are kept of ended sessions (docs/reference/limits.md), and as many again as would show.
FILLING, MORE = 1100, 500
# What a principal is asked for with; a token of an end user is as long.
NAME_BYTES = 6000


def connect(stack: Stack, number: int) -> None:
    """A session of a principal that nobody else is."""
    with stack.connect("app", application_name=f"{number}-" + "x" * NAME_BYTES) as app:
        app.execute("SELECT ssn FROM customer")


def in_use_after(stack: Stack, numbers: range) -> int:
    """Bytes that the worker counts as soon as these sessions have been there. It tells them each second."""
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: connect(stack, number), numbers))
    ended = "wasmcustom.fieldveil.connections.authenticated"
    until(lambda: stack.envoy.stats(ended).get(ended, 0) >= numbers.stop, seconds=120)
    return stack.envoy.stats(GAUGE)[GAUGE]


@pytest.mark.skipif(SHELL != "native", reason="threads that free each other's memory are of the native shell alone")
def test_plans_that_are_no_longer_kept_are_no_longer_counted() -> None:
    with Stack(Options(envoy_log_level="warn")) as stack:
        filled = in_use_after(stack, range(FILLING))
        assert in_use_after(stack, range(FILLING, FILLING + MORE)) <= filled + MIB
