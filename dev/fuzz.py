"""Runs every fuzz target for a while under libFuzzer, on stable Rust. Standard library only.

FUZZ_SECONDS (60) for each; FUZZ_TARGETS picks some. What libFuzzer finds new stays under the target folder, what
crashes is named; the corpus that is kept is only read. One more target, `growth`, looks for inputs that cost more than
their length.
"""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dev import growth
from dev.layout import CARGO_TARGET, FUZZ, GROWTH, ROOT

# What `cargo fuzz --sanitizer none` passes: the coverage that libFuzzer goes by, which stable Rust has too.
FLAGS = (
    "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 "
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table "
    "-Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing"
)
TARGET_DIR = CARGO_TARGET / "fuzzing"
CORPUS = FUZZ / "corpus"
SEARCH = "growth"
# One more than there are cores: the small parsers have nothing more to find after seconds, and a minute is a minute.
AT_ONCE = (os.cpu_count() or 1) + 1
# Larger inputs find nothing that smaller ones don't; the engine's own limits have tests of their own.
LONGEST = 4096
# One input may take this long, and this much memory in MB.
TIMEOUT, MEMORY = 20, 2048


def main() -> int:
    names = os.environ.get("FUZZ_TARGETS", "").split() or [*sorted(path.name for path in CORPUS.iterdir()), SEARCH]
    program = build() if set(names) != {SEARCH} else GROWTH
    if program is None:
        print("build: FAILED")
        return 1
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda name: fuzz(program, name), names))
    return 0 if all(results) else 1


def build() -> Path | None:
    shown = subprocess.run(["rustc", "-vV"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    # With a named target the flags don't reach build scripts and macros.
    target = re.search(r"^host: (\S+)$", shown, re.M)[1]
    manifest = ["--manifest-path", FUZZ / "Cargo.toml", "--target-dir", TARGET_DIR, "--target", target]
    options = ["--quiet", "--release", "--locked", "--features", "libfuzzer", "--bin", "fuzz"]
    done = subprocess.run(
        ["cargo", "build", *options, *manifest], cwd=ROOT, env={**os.environ, "RUSTFLAGS": FLAGS}, check=False
    )
    return TARGET_DIR / target / "release" / "fuzz" if done.returncode == 0 else None


def run(program: Path, name: str, arguments: list[str | Path]) -> subprocess.CompletedProcess:
    environment = {**os.environ, "FUZZ_TARGET": name}
    return subprocess.run(
        [program, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
        check=False,
    )


def fuzz(program: Path, name: str) -> bool:
    seconds = int(os.environ.get("FUZZ_SECONDS", "60"))
    if name == SEARCH:
        return growth.main(["--search", str(seconds)]) == 0
    found, crashes = TARGET_DIR / "found" / name, TARGET_DIR / "crashes"
    for folder in (found, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    limits = [f"-max_len={LONGEST}", f"-timeout={TIMEOUT}", f"-rss_limit_mb={MEMORY}"]
    words = [f"-dict={FUZZ / f'{name}.dict'}"] if name in {"sql", "mysql_sql"} else []
    started = time.monotonic()
    done = run(
        program,
        name,
        [f"-max_total_time={seconds}", f"-artifact_prefix={crashes}/{name}-", *limits, *words, found, CORPUS / name],
    )
    if done.returncode == 0:
        runs = re.search(r"Done (\d+) runs", done.stdout)
        covered = re.findall(r"cov: (\d+)", done.stdout)
        took = time.monotonic() - started
        say(f"{name}: ok, {runs[1] if runs else '?'} runs in {took:.0f} s, {covered[-1] if covered else '?'} edges")
        return True
    say(f"{name}: FAILED\n" + "\n".join(done.stdout.splitlines()[-30:]))
    return False


def say(lines: str) -> None:
    """Prints with one write: the lines of two targets that end at once stay two."""
    print(lines + "\n", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
