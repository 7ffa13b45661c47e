"""One text while it grows: its values as literals or parameters, its names, its comments and white space."""

import random
import re
import struct

from canary import parameters
from canary.literals import literal
from canary.marks import Marks
from canary.names import quoted
from canary.schema import Column
from canary.steps import PREPARED, SIMPLE, UNNAMED, Parameter, Step

IDS = 40
WORDS = ("alpha", "beta", "gamma", "delta", "it's", "ÄÖ", "")
REGIONS = ("eu", "us", "asia")
GAPS = (" ", " ", " ", "  ", "\n", "\t", " /* a comment */ ", " /* one /* in */ another */ ", " -- to the end 'x\n")
# Values whose binary form has too few bytes to be told from chance without the length before it.
SHORT = ("int4", "date", "numeric")


class Maker:
    def __init__(self, rng: random.Random, marks: Marks, how: str | None = None, calm: bool = False) -> None:
        self.rng = rng
        self.marks = marks
        self.how = how or rng.choices((SIMPLE, UNNAMED, PREPARED), (5, 4, 2))[0]
        # A wild text holds what is likely to be refused.
        self.wild = not calm and rng.random() < 0.25
        self.ordered = False
        # Names of tables that are a CTE's here.
        self.shadowed: set[str] = set()
        # What stands in the text as a number between two NULs until it is finished.
        self._atoms: list[str | Parameter] = []
        self._secrets: list[bytes] = []
        self._aliases = 0

    def chance(self, of: float) -> bool:
        return self.rng.random() < of

    def pick(self, *among: object) -> object:
        return self.rng.choice(among)

    def wildly(self, of: float = 0.3) -> bool:
        """Whether to do what is likely to be refused."""
        return self.wild and self.chance(of)

    def hold(self, atom: str | Parameter) -> str:
        """Keeps a text from being decorated; a parameter gets its number when all are known."""
        self._atoms.append(atom)
        return f"\0{len(self._atoms) - 1}\0"

    def name(self, name: str) -> str:
        written = quoted(name)
        if written.startswith('"') or self.chance(0.05):
            return self.hold('"' + name.replace('"', '""') + '"')
        return written

    def alias(self) -> str:
        self._aliases += 1
        return f"{self.pick('t', 'x', 'name', 'ssn')}_{self._aliases}"

    def value(self, column: Column, known: float = 0.5, parameter: bool = True) -> str:
        """A value for the column, or NULL, as a literal or a parameter."""
        if self.chance(0.07):
            return self._parameter(column, None) if self._takes_parameter(parameter, 0.5) else "NULL"
        text = self.text_of(column, known)
        if self._takes_parameter(parameter, 0.75):
            return self._parameter(column, text)
        if not column.protected:
            return self.hold(text if column.base == "int4" else "'" + text.replace("'", "''") + "'")
        return self.hold(literal(self.rng, column.type, text, plain=self.chance(0.3 if self.wild else 0.75)))

    def text_of(self, column: Column, known: float = 0.5) -> str:
        """A value in the type's text form."""
        if column.protected:
            value = self.marks.value(column.label, column.type, known=known)
            if column.base in SHORT:
                raw = parameters.binary(column.type, value)
                self._secrets.append(struct.pack("!i", len(raw)) + raw)
            return value
        match column.name:
            case "id" | "Id" | "person_id" | "boss":
                return str(self.rng.randrange(1, IDS))
            case "region":
                return self.rng.choice(REGIONS)
        return str(self.rng.randrange(100)) if column.base == "int4" else self.rng.choice(WORDS)

    def array(self, column: Column) -> str:
        """Several values of the column as one array."""
        values = [self.text_of(column, 0.8) for _ in range(self.rng.randrange(1, 4))]
        base = column.base
        if self._takes_parameter(True, 0.7):
            binary = self.chance(0.5)
            raw = parameters.array(base, values) if binary else parameters.array_text(values).encode()
            oid = parameters.ARRAY_OIDS[base] if binary or self.chance(0.5) else 0
            return self.hold(Parameter(raw, oid, binary, column.protected))
        if self.chance(0.5):
            written = ", ".join(self.hold(literal(self.rng, column.type, value, plain=True)) for value in values)
            # The server takes what stands in quotes for texts.
            return f"ARRAY[{written}]" + ("" if base in ("text", "varchar", "int4") else f"::{base}[]")
        return self.hold("'" + parameters.array_text(values).replace("'", "''") + "'") + f"::{base}[]"

    def finish(self, kind: str, text: str, **more: object) -> Step:
        """The step, with its text's white space, comments and letter case varied."""
        written, used = self.written(text)
        return Step(
            kind,
            written,
            self.how,
            used,
            binary_results=self.how != SIMPLE and self.chance(0.4),
            secrets=self._secrets,
            ordered=self.ordered,
            **more,
        )

    def written(self, text: str) -> tuple[str, list[Parameter]]:
        """The text as it is sent, and its parameters."""
        if self.chance(0.15):
            text = text.lower()
        if self.chance(0.25):
            text = re.sub(" ", lambda _: self.rng.choice(GAPS), text)
        if self.chance(0.15):
            text += self.pick(";", " ; ", " -- end", " /* end */")
        atoms = list(dict.fromkeys(int(number) for number in re.findall("\0(\\d+)\0", text)))
        used = [number for number in atoms if isinstance(self._atoms[number], Parameter)]
        if self.chance(0.2):
            self.rng.shuffle(used)
        numbers = {number: f"${place}" for place, number in enumerate(used, 1)}
        text = re.sub("\0(\\d+)\0", lambda found: numbers.get(int(found[1])) or self._atoms[int(found[1])], text)
        return text, [self._atoms[number] for number in used]

    def _takes_parameter(self, allowed: bool, of: float) -> bool:
        return allowed and self.how != SIMPLE and self.chance(of)

    def _parameter(self, column: Column, text: str | None) -> str:
        base = column.base
        binary = self.chance(0.4)
        # Most drivers name the type; binary without one is the server's inference.
        oid = parameters.OIDS[base] if self.chance(0.7) else 0
        raw = None if text is None else parameters.binary(base, text) if binary else text.encode()
        return self.hold(Parameter(raw, oid, binary, column.protected, column.type, text))
