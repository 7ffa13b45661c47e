"""What the measuring module and program write, a line for each measurement."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from loadtests.failures import Failed

# What stands before the JSON, after whatever a log has before it.
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


def read(lines: Iterable[str]) -> list[Sample]:
    """The samples of one whole run. Lines of others' are passed over."""
    samples: list[Sample] = []
    cases = 0
    for line in lines:
        _, mark, text = line.partition(MARK)
        if not mark or not text.startswith("{"):
            continue
        try:
            found = json.loads(text)
            if "done" in found:
                cases = found["done"]
                continue
            cipher = Cipher(found["protection"], found["key"], found["column"])
            us = found["nanoseconds"] / found["calls"] / 1000
            samples.append(Sample(cipher, found["bytes"], found["call"], found["round"], us))
        except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
            raise NotMeasured(
                f"not a line of bench-sealing: {text.strip()}; build it anew with its setup part"
            ) from error
    # Every case has a sample of each call in each round.
    rounds = len({sample.round for sample in samples})
    if not cases or len(samples) != cases * rounds * 2:
        raise NotMeasured(
            f"{len(samples)} samples of {cases} cases in {rounds} rounds: the measurement did not end well"
        )
    return samples
