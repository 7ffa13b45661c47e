"""Counts the instructions of the filter's code and holds them to `filters/bench/instructions.json`.

Standard library only. A count may fall, and may rise by TOLERANCE; `--write` writes the file anew. `--shares NAME
[PROGRAM]` keeps under that name, in `filters/bench/shares.json`, of what part of the filter the instructions of each
transaction are.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dev.layout import COUNT_INSTRUCTIONS, ROOT, VALGRIND_LIBRARIES, VALGRIND_PROGRAM

KEPT = ROOT / "filters" / "bench" / "instructions.json"
# The seeds of hash tables are random, and with them how many of their places are looked at.
TOLERANCE = 0.02
# The function of `count-instructions` whose instructions count.
COUNTED = "*::counted"
SHARES = ROOT / "filters" / "bench" / "shares.json"
REST = "sessions and what else there is"
# By the names of functions, the first that fits. Without link-time optimisation most are told apart.
PARTS = {
    "looked up by texts": r"memcmp|btree|core::hash|hashbrown|lru::|named_keys",
    "texts written": r"fmt::",
    "memory: taken, given back, copied": r"malloc|free|calloc|realloc|memcpy|memmove|memset|__rust_|alloc_slot|raw_vec|"
    r"drop_in_place|enframe|get_meta|zeroize|alloc::slice|alloc::vec|fn=0x0",
    "ciphers": r"aes|ghash|polyval|universal_hash|cmac|dbl|chacha|poly1305|cipher|sha2|hmac|hkdf|fieldveil_tink|ff1",
    "envelope, base64": r"fieldveil_envelope|base64",
    "values' types": r"fieldveil_values|CompiledField",
    "messages read and written": r"fieldveil_postgres_wire|fieldveil_mysql_wire",
    "statements' texts": r"fieldveil_sql|sqlparser",
    "JSON": r"fieldveil_json_stream|serde",
    "counted and audited": r"audit|budget|spending|key_uses|held_|Worker::count",
    REST: r"",
}


def main(words: list[str]) -> int:
    if not all(built.exists() for built in (COUNT_INSTRUCTIONS, valgrind())):
        print("instructions: skipped: this machine has no Valgrind of Debian's or no processor with AVX2")
        return 0
    if words[:1] == ["--shares"]:
        return keep_shares(words[1], Path(words[2]) if words[2:] else COUNT_INSTRUCTIONS)
    counts = {name: total(profile) for name, profile in profiles(COUNT_INSTRUCTIONS)}
    if words == ["--write"]:
        KEPT.write_text(json.dumps(counts, indent=2) + "\n")
        print(f"{len(counts)} counts written to {KEPT.relative_to(ROOT)}")
        return 0
    return compare(json.loads(KEPT.read_text()), counts)


@dataclass(frozen=True)
class Profile:
    """What Callgrind wrote of so many calls."""

    text: str
    calls: int


def profiles(program: Path) -> Iterator[tuple[str, Profile]]:
    """What is counted, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        options = [f"--toggle-collect={COUNTED}", f"--dump-after={COUNTED}", f"--callgrind-out-file={out}"]
        command = [valgrind(), "--tool=callgrind", "--quiet", "--compress-strings=no", *options, program]
        done = subprocess.run(command, env=valgrind_environment(), capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"instructions: FAILED: {done.stderr.strip()}")
        calls, *names = done.stdout.splitlines()
        for number, name in enumerate(names, 1):
            yield name, Profile(out.with_name(f"out.{number}").read_text(), int(calls))


def total(profile: Profile) -> int:
    """Instructions of one call."""
    return int(re.findall(r"^(?:totals|summary): (\d+)", profile.text, re.M)[-1]) // profile.calls


def shares(profile: Profile) -> dict[str, int]:
    """Instructions of one call by the part of the filter whose function they stand in."""
    found = dict.fromkeys(PARTS, 0)
    part, is_callees = REST, False
    for line in profile.text.splitlines():
        if line.startswith("fn="):
            part = next((part for part, names in PARTS.items() if re.search(names, line)), REST)
        elif line.startswith("calls="):
            # The line behind it is what was called, which has lines of its own.
            is_callees = True
        elif re.match(r"[+\-*\d]", line):
            if not is_callees:
                found[part] += int(line.split()[-1])
            is_callees = False
    return {part: count // profile.calls for part, count in found.items()}


def keep_shares(name: str, program: Path) -> int:
    kept = json.loads(SHARES.read_text()) if SHARES.exists() else {}
    kept[name] = {
        counted: shares(profile)
        for counted, profile in profiles(program)
        if counted.startswith(("postgres:", "mysql:", "json:"))
    }
    SHARES.write_text(json.dumps(kept, indent=2) + "\n")
    print(f"the shares of {len(kept[name])} transactions written to {SHARES.relative_to(ROOT)}")
    return 0


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
        print("what is meant to be so is written down by: python3 dev/instructions.py --write")
    return 1 if failed else 0


def valgrind() -> Path:
    # Not the script beside it, which looks for other programs.
    return VALGRIND_PROGRAM


def valgrind_environment() -> dict[str, str]:
    return {**os.environ, "VALGRIND_LIB": str(VALGRIND_LIBRARIES)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
