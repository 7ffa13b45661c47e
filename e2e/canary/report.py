"""What a run found, and how it is told."""

import re
from collections import Counter
from dataclasses import dataclass, field

LABEL = re.compile(r"\bcanary\.\w+")


@dataclass
class Report:
    seed: int
    statements: int = 0
    scripts: int = 0
    executed: Counter = field(default_factory=Counter)
    failed: Counter = field(default_factory=Counter)
    refused: Counter = field(default_factory=Counter)
    refused_kinds: Counter = field(default_factory=Counter)
    tolerated: Counter = field(default_factory=Counter)
    reads_of_others: int = 0
    # Wrong answers, and marks where none may be; each a text that names the statement.
    disagreements: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.disagreements and not self.leaks

    @property
    def first_fault(self) -> str:
        """The first leak, or else the first disagreement, in one line that begins with what was seen."""
        found = [f"{name}: {text.strip()}" for name, texts in self._faults.items() for text in texts]
        lines = found[0].splitlines() if found else ["none"]
        return (
            f"seed {self.seed}, {len(found)} wrong; the first: {' <- '.join(line.strip() for line in reversed(lines))}"
        )

    @property
    def _faults(self) -> dict[str, list[str]]:
        return {"LEAK": self.leaks, "DISAGREEMENT": self.disagreements}

    def refuse(self, kind: str, code: str, message: str) -> None:
        reason = LABEL.sub("…", message.removeprefix("fieldveil: "))
        reason = re.sub(r"(…, )*… and …", "…", reason)
        self.refused[f"{code} {reason.partition(': ')[2] or reason}"] += 1
        self.refused_kinds[kind] += 1

    def __str__(self) -> str:
        lines = [
            f"seed {self.seed}: {self.statements} statements in {self.scripts} scripts",
            f"{self.executed.total():6} executed alike: {_told(self.executed)}",
            f"{self.failed.total():6} failed alike: {_told(self.failed)}",
            f"{self.refused.total():6} refused: {_told(self.refused_kinds)}",
            *(f"       {count:5} {reason}" for reason, count in self.refused.most_common()),
            *(f"{count:6} tolerated: {reason}" for reason, count in self.tolerated.most_common()),
            f"{self.reads_of_others:6} reads by principals who may not see plaintext",
            f"{len(self.disagreements):6} disagreements",
            f"{len(self.leaks):6} leaks",
        ]
        for name, found in self._faults.items():
            lines += [f"\n{name} {number} (seed {self.seed})\n{text}" for number, text in enumerate(found, 1)]
        return "\n".join(lines)


def _told(counts: Counter) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())
