"""Commands as the documents and the demo have them, typed into a shell that has the tools on its path."""

import os
import re
import subprocess
from pathlib import Path

from dev.layout import BIN
from harness.waiting import patience

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document: str, title: str) -> list[str]:
    """The commands of a document's section, block by block."""
    (text,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", document, flags=re.MULTILINE | re.DOTALL)
    return SHELL.findall(text)


def typed(commands: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # `opa test` gives up on a test after five seconds unless told, which a busy machine may need for one.
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "OPA_TEST_TIMEOUT": f"{patience():.0f}s"}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
