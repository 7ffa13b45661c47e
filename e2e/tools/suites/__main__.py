"""Entry point. Records counts into $FIELDVEIL_RESULTS when that names a folder."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.suites import report
from tools.suites.definitions import GROUPS, SUITES


def main(words: list[str]) -> int:
    if words[:1] == ["--sum"]:
        return report.add_up(Path(words[1]))
    names = [name for word in words for name in GROUPS.get(word, (word,))]
    unknown = [name for name in names if name not in SUITES]
    if unknown or not names:
        print(f"give some of: {', '.join([*GROUPS, *SUITES])}", file=sys.stderr)
        return 2
    folder = os.environ.get("FIELDVEIL_RESULTS")
    outcomes = [report.run(SUITES[name]) for name in dict.fromkeys(names)]
    if folder:
        report.record(Path(folder), outcomes)
    return report.close(outcomes)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
