"""Counts the instructions of inputs that repeat one construct, at three sizes, and fails where they grow faster.

Standard library only. `--search SECONDS [FIRST]` times inputs that are put together by chance instead, and counts those
that look suspicious; `--number NUMBER…` counts these alone, and shows them.
"""

import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dev.instructions import COUNTED, valgrind, valgrind_environment
from dev.layout import GROWTH

SHARES = os.cpu_count() or 1
# What the second half of 4n takes against the second half of 2n: 2 when it is linear, 4 when it is quadratic.
STEEPEST = 2.6
STEEP_AT_LEAST = 2.05
# Less than this part of the whole is not a slope, whatever it grew by: hash tables are seeded by chance.
NOISE = 0.03
# Sizes by which a slope is told from a step, as a limit makes one.
BESIDE = (0.5, 2.0)
# As many instructions for a byte are too many though they do not grow: 64 KiB would take a quarter of a second.
MOST_PER_BYTE = 20_000
# What a search looks at is larger than what is counted each time.
SEARCHED = 8.0


@dataclass(frozen=True)
class Measured:
    number: int
    reader: str
    sizes: tuple[int, int, int]
    counts: tuple[int, int, int]
    begins: str

    @property
    def steepness(self) -> float:
        one, two, four = self.counts
        # With a smaller one the constant part is most, or the smallest size went another way.
        return (four - two) / max(two - one, NOISE * two) if four > STEEP_AT_LEAST * two else 0.0

    @property
    def per_byte(self) -> float:
        return (self.counts[2] - self.counts[0]) / max(self.sizes[2] - self.sizes[0], 1)

    @property
    def shown(self) -> str:
        points = ", ".join(f"{size:,} bytes {count:,}" for size, count in zip(self.sizes, self.counts, strict=True))
        return f"case {self.number}: {points} instructions: {self.begins}"


class Died(Exception):
    """The program did not come to its end; which case it had begun."""


def main(words: list[str]) -> int:
    if not all(built.exists() for built in (GROWTH, valgrind())):
        print("growth: skipped: this machine has no Valgrind of Debian's or no processor with AVX2")
        return 0
    started = time.monotonic()
    if words[:1] == ["--search"]:
        # The same inputs each time where nobody could look into another one.
        first = 1795469048 if os.environ.get("CI") else int(time.time())
        return 0 if search(int(words[1]), int(words[2]) if words[2:] else first) else 1
    try:
        measured = count(1.0, [int(word) for word in words[1:]])
        if words:
            for each in measured:
                print(f"{each.steepness:.2f} {each.per_byte:,.0f}/byte {each.shown}")
        failed = report(measured)
    except Died as died:
        print(f"growth: FAILED: {died}")
        return 1
    print(f"{len(measured)} cases counted at three sizes each in {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


def report(measured: list[Measured]) -> int:
    steep = too_steep(measured, BESIDE)
    by_reader = itertools.groupby(sorted(measured, key=lambda each: each.reader), lambda each: each.reader)
    failed = 0
    for reader, cases in by_reader:
        cases = list(cases)
        wrong = [case for case in cases if case.number in steep or case.per_byte > MOST_PER_BYTE]
        most = max(case.per_byte for case in cases)
        print(f"{reader}: {'FAILED' if wrong else 'ok'}, {len(cases)} cases, {most:,.0f} instructions a byte at most")
        for case in wrong:
            kind = "grows faster than the input" if case.number in steep else f"{case.per_byte:,.0f} a byte"
            print(f"  {kind}, {case.shown}")
        failed += len(wrong)
    return failed


def too_steep(measured: list[Measured], beside: tuple[float, ...], scale: float = 1.0) -> set[int]:
    """Those that are steep here, and at a size beside this too."""
    suspects = [case.number for case in measured if case.steepness > STEEPEST]
    found = set()
    for factor in beside if suspects else ():
        again = count(scale * factor, suspects)
        found |= {case.number for case in again if case.steepness > STEEPEST}
    return found


def count(scale: float, numbers: list[int]) -> list[Measured]:
    """Instructions of the cases of these numbers, or of all."""
    with ThreadPoolExecutor(SHARES) as pool:
        shares = list(pool.map(lambda share: _share(scale, share, numbers), range(SHARES)))
    return sorted(itertools.chain(*shares), key=lambda case: case.number)


def _share(scale: float, share: int, numbers: list[int]) -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        options = [f"--toggle-collect={COUNTED}", f"--dump-after={COUNTED}", f"--callgrind-out-file={out}"]
        words = [GROWTH, "count", str(scale), str(share), str(SHARES), *map(str, numbers)]
        done = subprocess.run(
            [valgrind(), "--tool=callgrind", "--quiet", *options, *words],
            env=valgrind_environment(),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            last = "; ".join(done.stderr.strip().splitlines()[-3:])
            raise Died(f"it ended with {done.returncode} behind: {last}")
        dumps = iter(range(1, 1_000_000))
        measured = []
        for line in done.stdout.splitlines():
            number, reader, one, two, four, begins = line.split(" ", 5)
            counts = tuple(_total(out.with_name(f"out.{next(dumps)}")) for _ in range(3))
            measured.append(Measured(int(number), reader, (int(one), int(two), int(four)), counts, begins))
        return measured


def _total(dump: Path) -> int:
    """The sum, which is among the last lines."""
    with dump.open("rb") as file:
        file.seek(max(0, dump.stat().st_size - 4096))
        return int(re.findall(rb"^(?:totals|summary): (\d+)", file.read(), re.M)[-1])


def search(seconds: int, first: int) -> bool:
    """Times cases that are put together by chance, and counts the suspicious ones."""
    done = subprocess.run(
        [GROWTH, "search", str(seconds), str(first)], capture_output=True, text=True, errors="replace", check=False
    )
    suspects = [int(number) for number in re.findall(r"^suspect (\d+)$", done.stdout, re.M)]
    searched = (re.findall(r"^searched (\d+)$", done.stdout, re.M) or ["?"])[0]
    try:
        measured = count(SEARCHED, suspects) if suspects else []
        steep = too_steep(measured, (0.5,), SEARCHED)
        for case in measured:
            if case.number in steep:
                print(f"  grows faster than the input, {case.shown}")
    except Died as died:
        print(f"growth: FAILED: {died}")
        return False
    if done.returncode:
        print(f"growth: FAILED: {done.stderr.strip()[-600:]}")
        return False
    verdict = "FAILED" if steep else "ok"
    print(f"growth: {verdict}, {searched} cases from {first} in {seconds} s, {len(suspects)} suspected", flush=True)
    return not steep


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
