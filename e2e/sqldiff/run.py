"""Every text of the corpus through the analysis and the server's parser: `python -m sqldiff.run` in `e2e/` reports."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dev.layout import ANALYZE, PG_PARSE
from sqldiff.compare import Verdict, judge
from sqldiff.corpus import texts
from sqldiff.rewrite import rewritten

FEWEST_TEXTS = 3000


@dataclass(frozen=True)
class Case:
    text: str
    said: dict
    verdict: Verdict


def through(program: Path, lines: list[str], *words: str) -> list[dict]:
    """The program's answers, one to each text."""
    given = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([program, *words], input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{program.name} failed: {done.stderr[-2000:]}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(lines):
        raise RuntimeError(f"{program.name} gave {len(answers)} answers to {len(lines)} texts")
    return answers


def judged(corpus: list[str]) -> list[Case]:
    before = through(PG_PARSE, corpus)
    said = through(ANALYZE, corpus)
    after = through(PG_PARSE, [rewritten(text, one.get("splices", [])) for text, one in zip(corpus, said, strict=True)])
    return [
        Case(text, one, judge(was, one, becomes))
        for text, was, one, becomes in zip(corpus, before, said, after, strict=True)
    ]


@cache
def all_cases() -> tuple[Case, ...]:
    return tuple(judged(texts()))


def report(cases: tuple[Case, ...]) -> str:
    """The counts, then the disagreements with their texts, then why texts were refused."""
    counts = Counter(case.verdict.outcome for case in cases)
    head = f"{len(cases)} texts: " + ", ".join(
        f"{counts[outcome]} {outcome}" for outcome in ("agreed", "untouched", "refused", "moot", "disagreed")
    )
    wrong = [case for case in cases if case.verdict.outcome == "disagreed"]
    shown = [f"DISAGREED: {case.text}\n" + "\n".join(f"    {why}" for why in case.verdict.reasons) for case in wrong]
    refusals = Counter(case.verdict.reasons[0] for case in cases if case.verdict.outcome == "refused")
    return "\n".join([head, *shown, *(f"  refused {count:5}  {why}" for why, count in refusals.most_common())])


if __name__ == "__main__":
    print(report(all_cases()))
    sys.exit(any(case.verdict.outcome == "disagreed" for case in all_cases()))
