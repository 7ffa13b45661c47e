"""Runs a database's own test suite straight and through the sidecar, and compares what both runs printed.

python -m compat postgres          compares with the known differences
python -m compat postgres --write  writes the known differences anew; each new hunk then wants a cause
"""

import argparse
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from compat import compare, known, mariadb, postgres, report
from dev.layout import E2E, TOOLS

SUITES = {"postgres": postgres, "mariadb": mariadb}
KNOWN = E2E / "compat" / "known"
# What the last runs printed.
KEPT = TOOLS / "compat"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="compat")
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--write", action="store_true", help="write the known differences anew")
    parser.add_argument("--again", action="store_true", help="compare what the last runs printed, and run nothing")
    told = parser.parse_args(words)
    suite = SUITES[told.suite]
    if not suite.is_there():
        print(f"compat-{told.suite}: skipped: set-up could not fetch the suite on this machine")
        return 0
    kept = KEPT / told.suite
    if not told.again:
        _run(suite, kept)
    listed = known.read(KNOWN / f"{told.suite}.toml")
    comparison = compare.folders(kept / "straight", kept / "through", listed, suite.SUFFIX)
    if told.write:
        known.write(KNOWN / f"{told.suite}.toml", comparison.differences, listed)
        listed = known.read(KNOWN / f"{told.suite}.toml")
        comparison = compare.folders(kept / "straight", kept / "through", listed, suite.SUFFIX)
    report.show(f"compat-{told.suite}", comparison, listed)
    return 1 if comparison.problems else 0


def _run(suite: object, kept: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = [Path(folder) / name for name in ("straight", "through")]
        suite.run(*results, lambda what: print(f"  {what} …", flush=True))
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for result in results:
            shutil.move(result, kept / result.name)


if __name__ == "__main__":
    # What was started is stopped then, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
