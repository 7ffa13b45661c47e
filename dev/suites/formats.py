"""How the tools say what passed and what failed: of each, the counts, and for what failed its name and why."""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

# Of a reason, as much as a few lines of a terminal show.
LONGEST_REASON = 1000


@dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


@dataclass(frozen=True)
class Failed:
    """One test that failed, and the first line of why."""

    name: str
    why: str


@dataclass(frozen=True)
class Format:
    """How one tool's output is read."""

    # Of the output and the exit status.
    counts: Callable[[str, int], Counts]
    failed: Callable[[str], Iterator[Failed]] = lambda _: iter(())


def _one_check(_: str, code: int) -> Counts:
    return Counts(passed=1) if code == 0 else Counts(failed=1)


def _checks(output: str, _: int) -> Counts:
    """`name: ok` and `name: FAILED`, one line a check."""
    results = re.findall(r"^[\w-]+: (ok|FAILED)\b", output, re.M)
    return Counts(results.count("ok"), results.count("FAILED"))


def _failed_checks(output: str) -> Iterator[Failed]:
    for name, why in re.findall(r"^([\w-]+): FAILED\b[:, ]*(.*)", output, re.M):
        yield _failed(name, why)


def _cargo(output: str, _: int) -> Counts:
    """`test result: ok. 3 passed; 0 failed; 1 ignored; …`, one line a test binary."""
    found = re.findall(r"^test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored", output, re.M)
    return sum((Counts(*map(int, numbers)) for numbers in found), Counts())


def _failed_cargo(output: str) -> Iterator[Failed]:
    """`test name ... FAILED`, and below it `---- name stdout ----`, where the line after the panic's place says why."""
    for name in re.findall(r"^test (\S+).* \.\.\. FAILED", output, re.M):
        block = output.partition(f"---- {name} stdout ----")[2]
        why = re.search(r"panicked at [^\n]*\n([^\n]*)|^(error: [^\n]*)", block, re.M)
        yield _failed(name, (why[1] or why[2]) if why else "")


def _go(output: str, _: int) -> Counts:
    """`go test -json`: one event a line; those without a test speak of a package."""
    actions = [event["Action"] for event in _go_events(output) if "Test" in event]
    return Counts(actions.count("pass"), actions.count("fail"), actions.count("skip"))


def _failed_go(output: str) -> Iterator[Failed]:
    said: dict[tuple[str, str], str] = {}
    for event in _go_events(output):
        test = (event.get("Package", ""), event.get("Test", ""))
        if event["Action"] == "output" and re.match(r"\s+\S+\.go:\d+: ", event["Output"]):
            said.setdefault(test, event["Output"])
        if event["Action"] == "fail" and test[1]:
            yield _failed(f"{test[0]} -run '^{test[1].replace('/', '$/^')}$'", said.get(test, ""))


def _go_events(output: str) -> Iterator[dict]:
    return (json.loads(line) for line in output.splitlines() if line.startswith("{"))


def _opa(output: str, _: int) -> Counts:
    """`opa test --format json`: a list of all tests and of their cases, where what failed or was skipped says so."""
    tests = _opa_tests(output)
    results = [*tests, *(case for test in tests for case in _opa_cases(test))]
    skipped = sum(result.get("skip", False) for result in results)
    failed = sum(_opa_failed(result) for result in results)
    return Counts(len(results) - failed - skipped, failed, skipped)


def _failed_opa(output: str) -> Iterator[Failed]:
    """The error or what the test printed says why, else which of its cases failed; in any case its place does."""
    for test in filter(_opa_failed, _opa_tests(output)):
        place = "{file}:{row}".format(**test["location"])
        printed = base64.b64decode(test.get("output", "")).decode(errors="replace").strip()
        cases = ", ".join(case["name"] for case in _opa_cases(test) if _opa_failed(case))
        why = (test.get("error", {}).get("message", "") or printed or cases).partition("\n")[0]
        yield _failed(f"{test['package']}.{test['name']}", f"{place}: {why}" if why else place)


def _opa_failed(result: dict) -> bool:
    return bool(result.get("fail") or result.get("error"))


def _opa_tests(output: str) -> list[dict]:
    """None where OPA could not load the policies: then it says so in words."""
    listed = re.search(r"^\[\n.*^\]$", output, re.M | re.S)
    return json.loads(listed[0]) if listed else []


def _opa_cases(test: dict) -> Iterable[dict]:
    return test.get("sub_results", {}).values()


# What failed may say that something took place in so many seconds too.
CLOSE = r"\d (?:passed|failed|errors?|skipped)\b.* in \d[\d.]*s"


def _pytest(output: str, _: int) -> Counts:
    """The last line: `3 passed, 1 failed, 2 errors in 4.5s`."""
    lines = [line for line in output.splitlines() if re.search(CLOSE, line)]
    last = lines[-1] if lines else ""

    def number(word: str) -> int:
        found = re.search(rf"(\d+) {word}", last)
        return int(found[1]) if found else 0

    return Counts(number("passed"), number("failed") + number("error"), number("skipped"))


def _failed_pytest(output: str) -> Iterator[Failed]:
    """`FAILED path::test[case] - reason`, and the same with ERROR, in the summary at the end."""
    for line in re.findall(r"^(?:FAILED|ERROR) (\S.*)", output, re.M):
        name, _, why = line.partition(" - ")
        yield _failed(name, why)


def _unittest(output: str, _: int) -> Counts:
    """helm-unittest: `Tests:       1 failed, 2 errored, 3 skipped, 12 passed, 18 total`."""
    line = (re.findall(r"^Tests:.*", output, re.M) or [""])[-1]
    numbers = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", line)}
    failed = numbers.get("failed", 0) + numbers.get("errored", 0)
    return Counts(numbers.get("passed", 0), failed, numbers.get("skipped", 0))


def _failed(name: str, why: str) -> Failed:
    return Failed(name, why.strip()[:LONGEST_REASON])


ONE_CHECK = Format(_one_check)
CHECKS = Format(_checks, _failed_checks)
CARGO = Format(_cargo, _failed_cargo)
GO = Format(_go, _failed_go)
OPA = Format(_opa, _failed_opa)
PYTEST = Format(_pytest, _failed_pytest)
HELM_UNITTEST = Format(_unittest)
