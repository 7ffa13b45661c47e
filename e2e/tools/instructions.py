"""Counts the instructions of the filter's code and holds them to `filters/bench/instructions.json`.

Standard library only. A count may fall, and may rise by TOLERANCE; `--write` writes the file anew.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.layout import COUNT_INSTRUCTIONS, ROOT, VALGRIND

KEPT = ROOT / "filters" / "bench" / "instructions.json"
# The seeds of hash tables are random, and with them how many of their places are looked at.
TOLERANCE = 0.02
# The function of `count-instructions` whose instructions count.
COUNTED = "*::counted"


def main(words: list[str]) -> int:
    if not all(built.exists() for built in (COUNT_INSTRUCTIONS, _valgrind())):
        print("instructions: skipped: this machine has no Valgrind of Debian's or no processor with AVX2")
        return 0
    counts = count()
    if words == ["--write"]:
        KEPT.write_text(json.dumps(counts, indent=2) + "\n")
        print(f"{len(counts)} counts written to {KEPT.relative_to(ROOT)}")
        return 0
    return compare(json.loads(KEPT.read_text()), counts)


def count() -> dict[str, int]:
    """Instructions of one call each."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        options = [f"--toggle-collect={COUNTED}", f"--dump-after={COUNTED}", f"--callgrind-out-file={out}"]
        command = [_valgrind(), "--tool=callgrind", "--quiet", *options, COUNT_INSTRUCTIONS]
        library = VALGRIND / "usr" / "libexec" / "valgrind"
        done = subprocess.run(
            command, env={**os.environ, "VALGRIND_LIB": str(library)}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"instructions: FAILED: {done.stderr.strip()}")
        calls, *names = done.stdout.splitlines()
        return {name: _total(out, number) // int(calls) for number, name in enumerate(names, 1)}


def _total(out: Path, number: int) -> int:
    return int(re.findall(r"^(?:totals|summary): (\d+)", out.with_name(f"out.{number}").read_text(), re.M)[-1])


def compare(kept: dict[str, int], counts: dict[str, int]) -> int:
    failed = 0
    for name in {**kept, **counts}:
        before, now = kept.get(name), counts.get(name)
        if before is None or now is None:
            verdict = f"FAILED: {'new' if before is None else 'gone'}"
        else:
            change = f"{now:,} instructions, {(now / before - 1) * 100:+.1f} %"
            verdict = f"ok {change}" if now <= before * (1 + TOLERANCE) else f"FAILED: {change}"
        failed += verdict.startswith("FAILED")
        # As those who count checks read them.
        slug = re.sub(r"\W+", "-", name)
        print(f"{slug}: {verdict}")
    print(f"{len(counts)} counts compared with {KEPT.relative_to(ROOT)}")
    if failed:
        print("what is meant to be so is written down by: python3 e2e/tools/instructions.py --write")
    return 1 if failed else 0


def _valgrind() -> Path:
    # Not the script beside it, which looks for other programs.
    return VALGRIND / "usr" / "bin" / "valgrind.bin"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
