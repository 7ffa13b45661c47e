"""Draws from a fixed seed."""

import random
from collections.abc import Callable


class Choices:
    """Draws that are the same with every version of Python: `random()` alone is promised to be."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, count: int) -> int:
        return int(self._random.random() * count)

    def one(self, *options: str | Callable[["Choices"], str]) -> str:
        option = options[self.below(len(options))]
        return option if isinstance(option, str) else option(self)

    def maybe(self, text: str | Callable[["Choices"], str], percent: int = 50) -> str:
        return self.one(text) if self.below(100) < percent else ""

    def some(self, least: int, most: int, make: Callable[["Choices"], str], between: str = ", ") -> str:
        return between.join(make(self) for _ in range(least + self.below(most - least + 1)))
