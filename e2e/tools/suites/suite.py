"""A suite is some commands; a step is one command and how its output is counted."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


def as_one(output: str, code: int) -> Counts:
    """A check that holds or does not."""
    return Counts(passed=1) if code == 0 else Counts(failed=1)


def checks(output: str, _: int) -> Counts:
    """`name: ok` and `name: FAILED`, one line a check."""
    results = re.findall(r"^[\w-]+: (ok|FAILED)\b", output, re.M)
    return Counts(results.count("ok"), results.count("FAILED"))


def cargo(output: str, _: int) -> Counts:
    """`test result: ok. 3 passed; 0 failed; 1 ignored; …`, one line a test binary."""
    found = re.findall(r"^test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored", output, re.M)
    return sum((Counts(*map(int, numbers)) for numbers in found), Counts())


def go(output: str, _: int) -> Counts:
    """`go test -json`: one event a line; those without a test speak of a package."""
    actions = []
    for line in output.splitlines():
        if line.startswith("{") and "Test" in (event := json.loads(line)):
            actions.append(event["Action"])
    return Counts(actions.count("pass"), actions.count("fail"), actions.count("skip"))


def opa(output: str, _: int) -> Counts:
    """`opa test --verbose`: `data.x.test_y: PASS (1ms)`."""
    results = re.findall(r": (PASS|FAIL|ERROR|SKIPPED)\b", output)
    return Counts(results.count("PASS"), results.count("FAIL") + results.count("ERROR"), results.count("SKIPPED"))


# What failed may say that something took place in so many seconds too.
CLOSE = r"\d (?:passed|failed|errors?|skipped)\b.* in \d[\d.]*s"


def pytest(output: str, _: int) -> Counts:
    """The last line: `3 passed, 1 failed, 2 errors in 4.5s`."""
    lines = [line for line in output.splitlines() if re.search(CLOSE, line)]
    last = lines[-1] if lines else ""

    def number(word: str) -> int:
        found = re.search(rf"(\d+) {word}", last)
        return int(found[1]) if found else 0

    return Counts(number("passed"), number("failed") + number("error"), number("skipped"))


def unittest(output: str, _: int) -> Counts:
    """helm-unittest: `Tests:       1 failed, 2 errored, 3 skipped, 12 passed, 18 total`."""
    line = (re.findall(r"^Tests:.*", output, re.M) or [""])[-1]
    numbers = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", line)}
    failed = numbers.get("failed", 0) + numbers.get("errored", 0)
    return Counts(numbers.get("passed", 0), failed, numbers.get("skipped", 0))


@dataclass(frozen=True)
class Step:
    command: list[str | Path]
    count: Callable[[str, int], Counts] = as_one
    cwd: Path | None = None
    # Which lines are worth showing as they come; none: the output shows only when the step fails.
    show: str | None = None

    def shows(self, line: str) -> bool:
        return self.show is not None and re.search(self.show, line) is not None


@dataclass(frozen=True)
class Suite:
    name: str
    what: str
    # Called when the suite runs: some commands depend on what is in the tree by then.
    steps: Callable[[], list[Step]]
