"""Runs the tests in a cluster: `python -m kubernetes [PYTEST ARGUMENT…]`.

In the cluster of `KUBECONFIG`, or, without it, in one of `e2e/kubernetes/node`, which is started before them and
removed after them, also when this process is killed. Where neither is possible, or no pod starts in the one of our own,
a loud line says so, counted as a skipped test.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dev.layout import CLUSTER, E2E, VENV
from harness.waiting import patience
from kubernetes import problems
from kubernetes.cluster import LOADER, OWN, REGISTRY
from kubernetes.images.build import build
from kubernetes.images.definitions import IMAGES
from kubernetes.kubectl import RUN

KEEP = "FIELDVEIL_KEEP_CLUSTER"
# Ends the cluster when its standard input does, however this process ended.
WATCH = 'while read -r _; do :; done; exec "$0" down'
# The exit status of `cluster probe` where the machine is at fault.
NO_POD_RUNS = 3
# Of all tests, which take five minutes on two cores that nobody else uses; then of removing what they made.
SECONDS, MORE_SECONDS = 1200, 60
# One for each fault is enough to read. In a cluster of somebody's own all that tests make is removed instead.
OWN_ARGUMENTS = ("--maxfail=5",)


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="fieldveil-kubernetes-") as run:
        environment = {**os.environ, RUN: run}
        if os.environ.get("KUBECONFIG"):
            return _in_given(arguments, environment)
        return _in_own(arguments, environment)


def _in_given(arguments: list[str], environment: dict[str, str]) -> int:
    if not (os.environ.get(LOADER) or os.environ.get(REGISTRY)):
        return _skipped(f"KUBECONFIG names a cluster, but neither {LOADER} nor {REGISTRY} how images get there")
    if not os.environ.get(REGISTRY):
        if sys.platform != "linux":
            return _skipped(f"images made of this machine's programs take Linux: give {REGISTRY}")
        _build_images()
    return _run([], arguments, environment)


def _in_own(arguments: list[str], environment: dict[str, str]) -> int:
    possible = subprocess.run([CLUSTER, "possible"], capture_output=True, text=True, check=False)
    if possible.returncode != 0:
        return _skipped(f"no KUBECONFIG, and no cluster of our own: {possible.stderr.strip()}")
    _build_images()
    was_up = subprocess.run([CLUSTER, "status"], capture_output=True, check=False).returncode == 0
    if was_up or os.environ.get(KEEP):
        watcher = None
    else:
        watcher = subprocess.Popen(
            ["bash", "-c", WATCH, CLUSTER],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C goes to the tests, which clean up first; the watcher outlives them.
            start_new_session=True,
        )
    try:
        subprocess.run([CLUSTER, "up"], check=True, stdout=subprocess.DEVNULL)
        probe = subprocess.run([CLUSTER, "probe"], stderr=subprocess.PIPE, text=True, check=False)
        print(probe.stderr, end="", flush=True)
        if probe.returncode == NO_POD_RUNS:
            return _skipped(probe.stderr.strip().rpartition("\n")[2])
        probe.check_returncode()
        return _run([CLUSTER, "run"], [*OWN_ARGUMENTS, *arguments], {**environment, OWN: "1"})
    finally:
        if watcher is not None:
            watcher.stdin.close()
            watcher.wait()


def _build_images() -> None:
    for name in IMAGES:
        build(name)


def _run(before: list[Path | str], arguments: list[str], environment: dict[str, str]) -> int:
    # Two files at a time: each has a namespace of its own, and waits more than it works.
    workers = ("-n", os.environ.get("E2E_WORKERS", "2"), "--dist", "loadfile")
    command = [*before, VENV / "bin" / "pytest", *workers, "-q", "-rfEs", "tests/kubernetes", *arguments]
    # With CI the closing lines that say what failed are whole ones.
    process = subprocess.Popen(command, cwd=E2E, env={"CI": "true", **environment})
    limit = patience(SECONDS)
    end, is_late = time.monotonic() + limit, False

    def interrupt(*_: object) -> None:
        # A SIGTERM would end pytest at once, and leave all that its tests made.
        process.send_signal(signal.SIGINT)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    while True:
        try:
            return process.wait(max(0.0, end - time.monotonic()))
        except KeyboardInterrupt:
            # The terminal told pytest as well, which removes what it made.
            continue
        except subprocess.TimeoutExpired:
            if is_late:
                process.kill()
                return process.wait()
            print(f"\n{problems.of_cluster(before)}\nERROR not all within {limit:.0f} s: ending the tests", flush=True)
            interrupt()
            end, is_late = end + MORE_SECONDS, True


def _skipped(why: str) -> int:
    print(f"SKIPPED: the tests in a Kubernetes cluster: {why}", flush=True)
    # As pytest closes, for who counts.
    print("1 skipped in 0.00s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
