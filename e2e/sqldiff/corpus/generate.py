"""Texts of many shapes from a fixed seed. Some mean nothing to the server: those are dropped there, not here."""

from collections.abc import Iterator

from sqldiff.corpus import shapes
from sqldiff.corpus.choices import Choices

SEED = 20250101
# For each shape; repeated texts are dropped.
EACH = 110


def generated() -> Iterator[str]:
    choices = Choices(SEED)
    for shape in shapes.SHAPES:
        for _ in range(EACH):
            yield shape(choices)
