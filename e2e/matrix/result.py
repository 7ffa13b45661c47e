"""What came of one client: its own lines, and what the database and the wire say of it."""

from dataclasses import dataclass, field

from matrix.clients import STEPS


@dataclass(frozen=True)
class Step:
    # None: the driver has no such thing.
    ok: bool | None
    code: str = ""
    detail: str = ""


@dataclass
class Result:
    client: str
    steps: dict[str, Step] = field(default_factory=dict)
    # What must never be, whatever was expected: a value in clear, a row that is not there, a program that died.
    faults: list[str] = field(default_factory=list)

    def differences(self, expected: dict[str, dict]) -> list[str]:
        """How this differs from what is known of the client: step to `code` and `why`; all other steps work."""
        found = [f"{self.client}: {fault}" for fault in self.faults]
        for name in STEPS:
            step, known = self.steps.get(name), expected.get(name)
            if step is None:
                found.append(f"{self.client}, {name}: the program did not say")
            elif step.ok is False and (known is None or not step.code or known["code"] != step.code):
                found.append(f"{self.client}, {name}: {step.code or 'no SQLSTATE'}: {step.detail}")
            elif step.ok and known is not None:
                found.append(f"{self.client}, {name}: works, and was known not to")
        return found
