"""Entry point: `python3 e2e/tools/setup [PART ...]`, from any folder."""

import sys

# Checked before anything newer than this line's syntax is imported.
if sys.version_info < (3, 11):
    sys.exit(
        "missing: Python 3.11 or newer (this is %d.%d). Get it from your system's packages or "
        "https://www.python.org/downloads/, then run `make PYTHON=python3.11 ...`" % sys.version_info[:2]
    )

import signal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.setup import prerequisites, runner
from tools.setup.parts import PARTS


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"no such part: {', '.join(unknown)}; there are: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    wanted = set(names or (part.name for part in PARTS.values() if not part.on_demand))
    wanted |= {other for name in wanted for other in PARTS[name].after}
    parts = [part for part in PARTS.values() if part.name in wanted]
    missing = prerequisites.missing({tool for part in parts for tool in part.needs})
    for line in missing:
        print(line, file=sys.stderr)
    if missing:
        return 1
    return 0 if runner.run_all(parts) else 1


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    # As Ctrl-C: what it started ends with it.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("\nset-up interrupted; run it again to go on", file=sys.stderr)
        sys.exit(130)
