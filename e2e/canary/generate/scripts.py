"""Picks what comes next."""

import random

from canary.generate import sessions
from canary.generate.copying import copy
from canary.generate.maker import Maker
from canary.marks import Marks
from canary.steps import Script


def _single(rng: random.Random, marks: Marks) -> Script:
    return Script([sessions.statement(rng, marks)])


def _copy(rng: random.Random, marks: Marks) -> Script:
    return Script([copy(Maker(rng, marks))])


KINDS = (
    (_single, 70),
    (_copy, 6),
    (sessions.transaction, 6),
    (sessions.cursor, 4),
    (sessions.sql_prepare, 4),
    (sessions.several, 5),
    (sessions.pipeline, 4),
    (sessions.another_schema, 0.7),
    (sessions.temporary, 0.5),
)


def script(rng: random.Random, marks: Marks) -> Script:
    makers, weights = zip(*KINDS, strict=True)
    return rng.choices(makers, weights)[0](rng, marks)
