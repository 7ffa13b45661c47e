"""Entry point: `python3 dev/setup [PART ...]`, from any folder."""

import sys

# Checked before anything newer than this line's syntax is imported.
if sys.version_info < (3, 11):
    sys.exit(
        "missing: Python 3.11 or newer (this is %d.%d). Get it from your system's packages or "
        "https://www.python.org/downloads/, then run `make PYTHON=python3.11 ...`" % sys.version_info[:2]
    )

import os
import signal
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dev.layout import LOGS
from dev.schedule import scheduler, timeline
from dev.setup import needed, runner
from dev.setup.parts import PARTS

# In seconds.
WORTH_A_TIMELINE = 20
# Set to anything, it has a failure that nobody expected show where in the code it came from.
TRACEBACK = "FIELDVEIL_TRACEBACK"


def main(names: list[str]) -> int:
    default = (part.name for part in PARTS.values() if not part.on_demand)
    parts = needed.parts(names or default, everything=not names)
    if parts is None:
        return 1
    runs = scheduler.run_all(runner.tasks(parts), runner.say)
    took = max((run.ended for run in runs), default=0.0)
    if took > WORTH_A_TIMELINE:
        print("== what took the time", *timeline.lines(runs), sep="\n")
    for run in runs:
        if run.fault is not None:
            raise run.fault
    return 0 if all(run.ok for run in runs) else 1


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
    except Exception as error:
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        print(f"set-up failed: {type(error).__name__}: {error}", file=sys.stderr)
        print(f"The logs of its parts are in {LOGS}; {TRACEBACK}=1 shows where in the code it failed.", file=sys.stderr)
        sys.exit(1)
