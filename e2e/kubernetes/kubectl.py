"""The command lines: kubectl and helm, whose errors carry what they said."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import yaml

from dev.layout import BIN, CLUSTER_BIN
from harness.waiting import patience

# The folder of one run of the tests, shared by its workers.
RUN = "FIELDVEIL_KUBERNETES_RUN"
# Longer than any wait that is given to a command: it is what ends one that hangs, on a machine that does nothing else.
COMMAND_SECONDS = 150.0


class CommandFailed(Exception):
    """A command line ended badly. The text has all it said, then the line."""


def program(name: str) -> str:
    """The project's own, else the machine's."""
    for folder in (BIN, CLUSTER_BIN):
        if (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    if found is None:
        raise CommandFailed(f"{name} is missing: `make setup` builds it where a cluster can run")
    return found


def run(name: str, *words: str | Path, stdin: str | bytes | None = None, seconds: float = COMMAND_SECONDS) -> str:
    """Its standard output."""
    command = [program(name), *map(str, words)]
    limit = patience(seconds)
    given = stdin.encode() if isinstance(stdin, str) else stdin
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False, timeout=limit, env=_environment())
    except subprocess.TimeoutExpired as expired:
        raise CommandFailed(f"{_shown(command)}\nnot within {limit:.0f} s") from expired
    out, error = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    if done.returncode != 0:
        said = f"{error}{out}".strip()
        # A summary of tests shows the first line alone: what was said, not what was asked.
        raise CommandFailed(f"{said}\nexit status {done.returncode} of\n{_shown(command)}")
    return out


def manifest(*objects: dict | str) -> str:
    """Objects, or texts of YAML, as one text that kubectl applies."""
    return "\n---\n".join(item if isinstance(item, str) else yaml.safe_dump(item) for item in objects)


def parsed(text: str) -> dict:
    return json.loads(text)


def _shown(command: list[str]) -> str:
    # Policies in base64 and the like would hide what matters.
    return "$ " + " ".join(word if len(word) < 200 else f"{word[:200]}…" for word in command)


def _environment() -> dict[str, str]:
    # Helm and kubectl leave their caches with the run, not in the home of who runs it.
    home = os.environ[RUN]
    return {**os.environ, "HELM_CACHE_HOME": f"{home}/helm", "KUBECACHEDIR": f"{home}/kube"}
