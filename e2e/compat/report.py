"""What a comparison says on standard output."""

from compat.compare import Comparison
from compat.known import Known


def show(suite: str, comparison: Comparison, known: Known) -> None:
    differing = len(comparison.differences)
    print(f"\n{suite}: {comparison.compared} files compared, {differing} differ in {comparison.lines} lines")
    for name, reason in known.causes.items():
        files = [file for file, hunks in known.hunks.items() if any(name == of for of, _ in hunks)]
        print(f"  known, {name}: {reason}\n    in {', '.join(files)}")
    for problem in comparison.problems:
        print(f"  {problem}")
    # As the suites read it.
    print(f"{suite}: {'FAILED: ' + _sum(comparison) if comparison.problems else 'ok'}")


def _sum(comparison: Comparison) -> str:
    return f"{len(comparison.problems)} problems, the first in {comparison.problems[0].partition(chr(10))[0]}"
