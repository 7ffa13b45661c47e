"""Values that can be found again: every plaintext for a protected column carries a mark, by its type.

A text has TAG in it, a uuid begins with UUID_PREFIX; integers, numerics and dates are of ranges in which nothing
else is, and are kept in a list. A bool has no room for one.
"""

import datetime
import random
from decimal import Decimal

TAG = "Mq7ZxKw9"
UUID_PREFIX = "fa11c0de-5ea1"
FIRST_YEAR = 5000
INTEGERS = (1_100_000_000, 2_147_000_000)

# Between and around the marks: what quoting, escaping and encoding may get wrong.
DECORATIONS = (
    "", "", "", "", " ", "'", "''", '"', "\\", "\\\\", "\n", "\t", "%", "_", "$$", "$1", "?", ":x", ";", "--", "/*",
    "é", "☃", "\u202e", "\U0001f600", "{", "}", ",", "\\.", "\\N", "NULL", "a,b\r\nc", "fv1.", "E'",
)  # fmt: skip


class Marks:
    """Makes values, and remembers them by label so that searches may hit."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._serial = 0
        self._by_label: dict[str, list[str]] = {}
        # Of types without a constant part.
        self.numbers: set[str] = set()
        self.dates: set[str] = set()

    def value(self, label: str, type_: str, *, known: float) -> str:
        """A value in the type's text form; with the chance `known` one that was given out before."""
        pool = self._by_label.setdefault(label, [])
        if pool and self._rng.random() < known:
            return self._rng.choice(pool[-40:])
        pool.append(self._new(type_))
        return pool[-1]

    def _new(self, type_: str) -> str:
        rng = self._rng
        base, _, modifier = type_.partition("(")
        self._serial += 1
        match base:
            case "text" | "varchar":
                return self._text(int(modifier.rstrip(")")) if modifier else 0)
            case "bytea":
                raw = f"{TAG}{self._serial:x}".encode() + rng.randbytes(rng.choice((0, 1, 5)))
                return "\\x" + raw.hex()
            case "uuid":
                return (
                    f"{UUID_PREFIX}-4{rng.randrange(4096):03x}-8{rng.randrange(4096):03x}-{rng.randrange(2**48):012x}"
                )
            case "int4":
                number = str(rng.randrange(*INTEGERS))
                self.numbers.add(number)
                return number
            case "numeric":
                number = rng.randrange(*INTEGERS)
                self.numbers.add(str(number))
                places = rng.randrange(3 if modifier else 5)
                fraction = Decimal(rng.randrange(10**places)).scaleb(-places)
                return str(rng.choice((1, -1)) * (number + fraction))
            case "date":
                # The first of January is what the mask `year` shows.
                day = datetime.date(FIRST_YEAR, 1, 2) + datetime.timedelta(rng.randrange(365 * 4900))
                self.dates.add(day.isoformat())
                return day.isoformat()
            case "bool":
                return rng.choice(("true", "false"))
        raise ValueError(f"no mark for {type_}")

    def _text(self, limit: int) -> str:
        mark = f"{TAG}{self._serial:05x}"
        value = self._rng.choice(DECORATIONS) + mark + self._rng.choice(DECORATIONS)
        if not limit and self._rng.random() < 0.02:
            value += "long " * self._rng.randrange(400)
        return value if not limit or len(value) <= limit else mark
