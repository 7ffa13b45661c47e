"""What tests of all protocols ask of an Envoy whose filter has trapped."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from harness import unixhttp, waiting
from harness.envoy import SHELL, Envoy

# Two traps must come within the time in which Envoy starts the filter once; a busy machine takes some tries for that.
TRIES = 20
# A statement beyond the filter's memory traps a WebAssembly module; the native one has the process's memory.
of_wasm_alone = pytest.mark.skipif(SHELL == "native", reason="a trap is of the WebAssembly shell alone")
Session = TypeVar("Session")


def reloads(envoy: Envoy, outcome: str = "success") -> int:
    """How often a listener has the filter anew in a worker, or had it refused because it had just been started; of the
    native filter, how often a hook has panicked."""
    if SHELL == "native":
        return envoy.stats("wasmcustom.fieldveil.faults")["wasmcustom.fieldveil.faults"]
    (count,) = envoy.stats(f"wasm.fieldveil.vm_reload_{outcome}").values()
    return count


def served(connect: Callable[[], Session], refusal: type[Exception]) -> Session:
    """The first connection that is not refused."""
    return waiting.until_done(connect, refusal, "a connection to be served")


def is_refused_meanwhile(envoy: Envoy, trap: Callable[[], None], refused: Callable[[], bool]) -> int:
    """Traps until Envoy refuses connections rather than starting the filter anew at once, and goes on until one is
    served: how many were refused. `refused` makes a connection, and says whether it was refused."""
    for _ in range(TRIES):
        trap()
        before = reloads(envoy, "backoff")
        count = 0

        def is_served() -> bool:
            nonlocal count
            if not refused():
                return True
            assert unixhttp.is_ok(envoy.admin, "/ready"), "the sidecar is ready, for it comes back by itself"
            count += 1
            return False

        waiting.until(is_served, poll=0)
        assert reloads(envoy, "backoff") - before == count
        if count:
            return count
    raise AssertionError(f"Envoy started the filter anew at once after each of {TRIES} traps")
