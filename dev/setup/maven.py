"""Maven, without the network when everything is there already."""

from pathlib import Path

from dev.setup.runner import ATTEMPTS, Shell, StepFailed

JAVA = frozenset({"javac", "mvn"})


def maven(shell: Shell, folder: Path, *words: str) -> None:
    """Runs Maven in the folder of a `pom.xml`."""
    command = ["mvn", "--quiet", "--batch-mode", *words]
    try:
        shell.run([*command, "--offline"], cwd=folder)
    except StepFailed:
        shell.run(command, cwd=folder, attempts=ATTEMPTS)
