"""Ciphers side by side: what each call takes, and how many times as much as the cheapest."""

from itertools import chain

from loadtests.figures import NONE, number, spread
from loadtests.results import Table
from loadtests.sealing.run import NATIVE, V8
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
        tables += [_times(f"{title} {where}", times, where) for where in (V8, NATIVE)]
        tables += [_ratios(f"{title}: ratio to the cheapest", times), _slower(f"{title}: V8 against native", times)]
    return tables


def to_cheapest(times: dict[Cipher, float]) -> dict[Cipher, float]:
    """How many times as much each takes as the one that takes least."""
    least = min(times.values(), default=0.0)
    return {cipher: time / least for cipher, time in times.items()} if least else {}


def _times(title: str, times: Times, where: str) -> Table:
    rows, values = [], {}
    for cipher in times.ciphers:
        figures = {size: times.figure(where, cipher, size) for size in times.sizes}
        rows.append([cipher.name, *map(spread, figures.values())])
        values[cipher.name] = {str(size): figure.median for size, figure in figures.items() if figure}
    note = f"{WHAT} Microseconds a call: the median (the least to the greatest)."
    return Table(title, _columns(times), rows, note, values, "µs a call")


def _ratios(title: str, times: Times) -> Table:
    """V8 and native beside each other for each size."""
    ratios = {(short, size): times.ratios(where, size) for size in times.sizes for short, where in SHORT.items()}
    columns = ["cipher", *(f"{size:,} B, {short}" for short, size in ratios)]
    rows = [
        [cipher.name, *(number(found[cipher]) if cipher in found else NONE for found in ratios.values())]
        for cipher in times.ciphers
    ]
    return Table(title, columns, rows, "Of medians; 1.00 is the cheapest for values of that size.")


def _slower(title: str, times: Times) -> Table:
    rows = [[cipher.name, *(spread(times.slower(cipher, size)) for size in times.sizes)] for cipher in times.ciphers]
    note = (
        "WebAssembly has no instructions for AES or carry-less products; a native program uses the processor's. Where "
        "that has AVX2, the library's Poly1305 takes a microsecond more at first and gains from some 4,096 B on. "
        "So a short value can be slower natively by ChaCha20-Poly1305 (64 B: 1.6 µs, without AVX2 0.5 µs)."
    )
    return Table(title, _columns(times), rows, note)


def _columns(times: Times) -> list[str]:
    return ["cipher", *(f"{size:,} B" for size in times.sizes)]
