"""What the measuring module and program write, a line for each measurement."""

import json
from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass
from typing import ClassVar

from loadtests.failures import Failed

MARK = "bench-sealing: "
SEAL, OPEN = "seal", "open"


class NotMeasured(Failed):
    """Lines that are not those of a whole measurement; the text says which and what to do."""


@dataclass(frozen=True, order=True)
class Cipher:
    """A protection with its key, and the type of the column that holds it."""

    protection: str
    key: str
    column: str

    @property
    def name(self) -> str:
        column = "" if self.column == "text" else f", in {self.column}"
        return f"{self.protection}: {self.key}{column}"


@dataclass(frozen=True)
class Sample:
    """Many calls, one after the other."""

    cipher: Cipher
    # Of the value, in clear.
    bytes: int
    # SEAL or OPEN.
    call: str
    round: int
    # Microseconds of one.
    us: float


@dataclass(frozen=True)
class Amount:
    """How much of sealing and opening is measured, as the module and the program take it."""

    mark: ClassVar[str] = MARK

    # Lengths of the values.
    bytes: tuple[int, ...]
    rounds: int
    # What one measurement takes at least.
    batch_ms: int
    # For how long each call is made before it is measured: V8's optimising compiler is done by then.
    warm_up_ms: int

    def read(self, lines: Iterable[str]) -> list[Sample]:
        """The samples of one whole run."""
        samples: list[Sample] = []

        def take(line: dict) -> None:
            cipher = Cipher(line["protection"], line["key"], line["column"])
            samples.append(Sample(cipher, line["bytes"], line["call"], line["round"], microseconds(line)))

        cases = taken(lines, self.mark, take)
        # Every case has a sample of each call in each round.
        check(samples, cases, len({sample.round for sample in samples}), 2)
        return samples


def microseconds(line: dict) -> float:
    """Of one call."""
    return line["nanoseconds"] / line["calls"] / 1000


def taken(lines: Iterable[str], mark: str, take: Callable[[dict], None]) -> int:
    """Hands over each line that has the mark; others' are passed over. Gives how many cases the last one tells."""
    cases = 0
    for line in lines:
        _, marked, text = line.partition(mark)
        if not marked or not text.startswith("{"):
            continue
        try:
            found = json.loads(text)
            if "done" in found:
                cases = found["done"]
            else:
                take(found)
        except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
            raise NotMeasured(
                f"not a line of bench-sealing: {text.strip()}; build it anew with its setup part"
            ) from error
    return cases


def check(samples: Sized, cases: int, rounds: int, each: int) -> None:
    """That every case has so many samples in each round."""
    if not cases or len(samples) != cases * rounds * each:
        raise NotMeasured(
            f"{len(samples)} samples of {cases} cases in {rounds} rounds: the measurement did not end well"
        )
