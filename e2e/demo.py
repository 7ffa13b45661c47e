"""The main job, end to end, readable at a glance: `make demo`, or `make demo KEEP=1` to go on by hand."""

import argparse
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path

from demo_view import RED, paint
from dev.layout import LOGS

# Of the last demo, all parts' logs.
KEPT_LOGS = LOGS / "demo"
# Set to anything, it has a failure show where in the code it came from.
TRACEBACK = "FIELDVEIL_TRACEBACK"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="leave everything running until Ctrl-C")
    parser.add_argument("--policies", type=Path, help="a folder of catalogs and rules, in place of the example's")
    arguments = parser.parse_args()
    # `kill PID` ends it like Ctrl-C, so that whatever it started ends with it.
    # Also where the shell that started it has it ignore SIGINT, and when its terminal is closed.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        shutil.rmtree(KEPT_LOGS, ignore_errors=True)
        # Here, so that a package that is missing is told as every other failure is.
        import demo_run

        demo_run.run(arguments.policies, KEPT_LOGS, keep=arguments.keep)
    except KeyboardInterrupt:
        print("\nStopped; nothing is left running.")
        return 0 if arguments.keep else 130
    except Exception as error:
        tell(error)
        return 1
    print("\nEverything that the demo started is stopped.")
    return 0


def tell(error: Exception) -> None:
    """What failed and why in one line, behind it the end of a part's log, and where to look further."""
    sys.stdout.flush()
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    text = str(error).strip()
    # Those of the parts are whole sentences. Others' may be a name alone.
    is_told = type(error).__module__.partition(".")[0] in ("harness", "psycopg", "pymysql")
    said = text if is_told and text else f"{type(error).__name__}: {text}"
    print(paint(f"\nThe demo failed: {said}", RED), file=sys.stderr)
    logs = f"The logs are in {KEPT_LOGS}. " if KEPT_LOGS.exists() else ""
    print(f"{logs}{TRACEBACK}=1 shows where in the code it failed.", file=sys.stderr)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
