"""A port of this machine that leads into a pod."""

import contextlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.process import Process
from kubernetes import kubectl

FORWARDING = re.compile(r"^Forwarding from 127\.0\.0\.1:(\d+) ->", re.MULTILINE)


@contextlib.contextmanager
def forwarded(namespace: str, target: str, port: int) -> Iterator[int]:
    """The local port. A sidecar's listener on the pod's own loopback is reached too."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        process = Process("port-forward", log)
        command = [kubectl.program("kubectl"), f"--namespace={namespace}", "port-forward", target, f":{port}"]
        process.start(command)
        try:
            process.wait_until(lambda: FORWARDING.search(log.read_text()) is not None, 20)
            yield int(FORWARDING.search(log.read_text())[1])
        finally:
            process.stop()
