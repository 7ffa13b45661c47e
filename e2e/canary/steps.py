"""What the generator gives and the client runs."""

from dataclasses import dataclass, field

# How a step is sent.
SIMPLE, UNNAMED, PREPARED = "simple", "extended", "prepared"


@dataclass(frozen=True)
class Parameter:
    value: bytes | None
    oid: int = 0
    binary: bool = False
    # It carries a value of a protected column.
    protected: bool = False
    # The value as text and its type, for those who write it in another way; none of an array.
    type: str = ""
    text: str | None = None


@dataclass
class Step:
    """One text, sent in one way."""

    kind: str
    text: str
    how: str = SIMPLE
    parameters: list[Parameter] = field(default_factory=list)
    binary_results: bool = False
    # Rows to send if the server asks for COPY data.
    copy: bytes = b""
    # Forms of the text's values that must not be at the server, too short to be told by a pattern.
    secrets: list[bytes] = field(default_factory=list)
    # ORDER BY decides about the rows' order.
    ordered: bool = False
    # How rows of COPY OUT are told apart.
    copy_format: str = "text"

    def __str__(self) -> str:
        shown = f"[{self.kind}, {self.how}{', binary results' if self.binary_results else ''}] {self.text}"
        for number, parameter in enumerate(self.parameters, 1):
            form = f"{'binary' if parameter.binary else 'text'}, type {parameter.oid}"
            shown += f"\n      ${number} ({form}) = {parameter.value!r}"
        return shown + (f"\n      COPY data: {self.copy!r}" if self.copy else "")


@dataclass
class Script:
    """Steps that belong together, run on one connection and cleaned up behind; `pipelined`: sent before one Sync."""

    steps: list[Step]
    pipelined: bool = False
    # It leaves something in the session that the next must not meet.
    discard: bool = False

    def __str__(self) -> str:
        head = "  (in one pipeline)\n" if self.pipelined else ""
        return head + "\n".join(f"  {step}" for step in self.steps)
