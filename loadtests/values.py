"""Values made of a row's number, so that every answer can be checked.

The same in Python, in SQL and in `k6/lib/values.js`. Numbers stay below 2^53 for rows below 10^12.
"""

import hashlib
from collections.abc import Iterable

FACTOR = 7919
OFFSET = 104729
# What a row holds is made of one number: its own, and this for each time it was replaced.
VERSION = 1_234_567


def digits(number: int, width: int) -> str:
    """`width` decimal digits, at most 9, that differ from one row to the next."""
    return str((number * FACTOR + OFFSET) % 10**width).zfill(width)


def ssn(number: int) -> str:
    all_ = digits(number, 9)
    return f"{all_[:3]}-{all_[3:5]}-{all_[5:]}"


def email(number: int) -> str:
    return f"u{number}@example.com"


def phone(number: int) -> str:
    return f"+1 555 {digits(number, 7)}"


def contact(number: int, version: int) -> tuple[str, str, str]:
    """E-mail address, social security number and phone of a row that was replaced so many times."""
    state = number + version * VERSION
    return email(state), ssn(state), phone(state)


def text(number: int, length: int) -> str:
    """So many characters: the row's digits again and again."""
    word = f"{digits(number, 9)} "
    return (word * (length // len(word) + 1))[:length]


def digest(rows: Iterable[tuple[object, ...]]) -> str:
    """Of an answer, as `db.digest` in k6 makes it: SHA-256 over its cells in order, in hexadecimal."""
    whole = hashlib.sha256()
    for cells in rows:
        whole.update(("".join(f"{cell}\x1f" for cell in cells) + "\n").encode())
    return whole.hexdigest()


# The same as functions in the database: to fill tables straight at the server.
SQL = f"""
CREATE FUNCTION digits(number bigint, width int) RETURNS text IMMUTABLE LANGUAGE sql AS
$$ SELECT lpad(((number * {FACTOR} + {OFFSET}) % (10 ^ width)::bigint)::text, width, '0') $$;
CREATE FUNCTION ssn(number bigint) RETURNS text IMMUTABLE LANGUAGE sql AS
$$ SELECT concat_ws('-', left(digits(number, 9), 3), substr(digits(number, 9), 4, 2), right(digits(number, 9), 4)) $$;
CREATE FUNCTION email(number bigint) RETURNS text IMMUTABLE LANGUAGE sql AS
$$ SELECT 'u' || number || '@example.com' $$;
CREATE FUNCTION phone(number bigint) RETURNS text IMMUTABLE LANGUAGE sql AS
$$ SELECT '+1 555 ' || digits(number, 7) $$;
CREATE FUNCTION text_of(number bigint, length int) RETURNS text IMMUTABLE LANGUAGE sql AS
$$ SELECT left(repeat(digits(number, 9) || ' ', length / 10 + 1), length) $$;
"""
