"""Ciphers side by side: what each call takes, and how many times as much as the cheapest."""

from collections import defaultdict
from collections.abc import Callable
from itertools import chain

from loadtests.figures import NONE, number, spread
from loadtests.results import Table
from loadtests.sealing.measure import NATIVE, V8
from loadtests.sealing.samples import OPEN, SEAL, Cipher, Sample
from loadtests.summary import Figure

TITLES = {SEAL: "Seal", OPEN: "Open"}
SHORT = {"V8": V8, "native": NATIVE}
WHAT = (
    "What the filter calls for each value: from the text that the client sent to what the server stores (canonical "
    "form, cipher, associated data, envelope, base64url in a text column), and back."
)


class Times:
    """One call's, microseconds by where it ran, cipher and the value's length."""

    def __init__(self, found: dict[str, list[list[Sample]]], call: str) -> None:
        self._turns: dict[tuple[str, Cipher, int], list[list[float]]] = {}
        for where, turns in found.items():
            for index, turn in enumerate(turns):
                for sample in (sample for sample in turn if sample.call == call):
                    key = where, sample.cipher, sample.bytes
                    self._turns.setdefault(key, [[] for _ in turns])[index].append(sample.us)
        # In the order in which they were measured.
        self.ciphers = list(dict.fromkeys(cipher for _, cipher, _ in self._turns))
        self.sizes = sorted({size for *_, size in self._turns})

    def figure(self, where: str, cipher: Cipher, size: int) -> Figure | None:
        """Over all rounds of all turns; None for a length that the cipher does not take."""
        return Figure.of(list(chain.from_iterable(self._turns.get((where, cipher, size), []))))

    def slower(self, cipher: Cipher, size: int) -> Figure | None:
        """How many times as long it takes in V8 as natively, turn by turn."""
        ours, theirs = (
            [Figure.of(turn) for turn in self._turns.get((where, cipher, size), [])] for where in (V8, NATIVE)
        )
        pairs = zip(ours, theirs, strict=True)
        return Figure.of([one.median / other.median for one, other in pairs if one and other and other.median])

    def ratios(self, where: str, size: int) -> dict[Cipher, float]:
        figures = {cipher: self.figure(where, cipher, size) for cipher in self.ciphers}
        return to_cheapest({cipher: figure.median for cipher, figure in figures.items() if figure})


def tables(found: dict[str, list[list[Sample]]]) -> list[Table]:
    """For each call: times in V8, times natively, ratios to the cheapest, and V8 against native."""
    tables = []
    for call, title in TITLES.items():
        times = Times(found, call)
        for where in (V8, NATIVE):
            figures = {(cipher, size): times.figure(where, cipher, size) for cipher, size in _all(times)}
            note = f"{WHAT} Microseconds a call: the median (the least to the greatest)."
            tables.append(_table(f"{title} {where}", times, figures.get, "µs a call", note))
        tables.append(_ratios(title, times))
        note = "WebAssembly has no instructions for AES or carry-less products; a native program uses the processor's."
        slower = {(cipher, size): times.slower(cipher, size) for cipher, size in _all(times)}
        tables.append(_table(f"{title}: V8 against native", times, slower.get, "times native", note))
    return tables


def to_cheapest(times: dict[Cipher, float]) -> dict[Cipher, float]:
    """How many times as much each takes as the one that takes least."""
    least = min(times.values(), default=0.0)
    return {cipher: time / least for cipher, time in times.items()} if least else {}


def _all(times: Times) -> list[tuple[Cipher, int]]:
    return [(cipher, size) for cipher in times.ciphers for size in times.sizes]


def _table(
    title: str, times: Times, figure: Callable[[tuple[Cipher, int]], Figure | None], unit: str, note: str
) -> Table:
    rows, values = [], {}
    for cipher in times.ciphers:
        figures = {size: figure((cipher, size)) for size in times.sizes}
        rows.append([cipher.name, *(spread(found) for found in figures.values())])
        values[cipher.name] = {str(size): found.median for size, found in figures.items() if found}
    return Table(title, ["cipher", *(f"{size:,} B" for size in times.sizes)], rows, note, values, unit)


def _ratios(title: str, times: Times) -> Table:
    """V8 and native beside each other for each size."""
    ratios = {(short, size): times.ratios(where, size) for size in times.sizes for short, where in SHORT.items()}
    columns = ["cipher", *(f"{size:,} B, {short}" for short, size in ratios)]
    rows = []
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for cipher in times.ciphers:
        row = [cipher.name]
        for (short, size), found in ratios.items():
            row.append(number(found[cipher]) if cipher in found else NONE)
            if cipher in found:
                values[f"{cipher.name} ({short})"][str(size)] = found[cipher]
        rows.append(row)
    note = "Of medians; 1.00 is the cheapest for values of that size."
    return Table(f"{title}: ratio to the cheapest", columns, rows, note, dict(values), "times the cheapest")
