"""A value as SQL source, in one of the many ways that PostgreSQL reads."""

import random

from canary.marks import TAG


def literal(rng: random.Random, type_: str, value: str, plain: bool = False) -> str:
    """`plain`: in the way that most applications write."""
    base = type_.partition("(")[0]
    if plain or rng.random() < 0.6:
        return value if base in ("int4", "numeric", "bool") else quote(value)
    match base:
        case "text" | "varchar":
            return _text(rng, type_, value)
        case "bytea":
            return _bytea(rng, value)
        case "bool":
            return _bool(rng, value)
        case "int4" | "numeric":
            return _number(rng, base, value)
    return _cast(
        rng, base, rng.choice((value, value.upper(), f" {value} ") if base == "date" else (value, value.upper()))
    )


def quote(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def escape(rng: random.Random, value: str) -> str:
    """E'…'; the mark is escaped whole or not at all, so that it can be told in what is sent."""
    written = value.replace("\\", "\\\\").replace("'", rng.choice(("''", "\\'"))).replace("\n", "\\n")
    form = rng.choice(("\\x{:02x}", "\\{:03o}", "\\u{:04x}", ""))
    if form:
        written = written.replace(TAG, "".join(form.format(ord(letter)) for letter in TAG))
    return "E'" + written + "'"


def _text(rng: random.Random, type_: str, value: str) -> str:
    match rng.randrange(9):
        case 0 | 1:
            return escape(rng, value)
        case 2:
            return f"$${value}$$" if "$" not in value else quote(value)
        case 3:
            return f"$m_1${value}$m_1$"
        case 4:
            # Not within the mark.
            half = max(0, value.find(TAG))
            return quote(value[:half]) + "\n  " + quote(value[half:])
        case 5:
            plain = value.replace("\\", "\\\\").replace("'", "''")
            return "U&'" + plain.replace(TAG, "".join(f"\\{ord(letter):04X}" for letter in TAG)) + "'"
        case 6:
            return f"(({quote(value)}))"
        case _:
            return _cast(rng, type_, value)


def _cast(rng: random.Random, type_: str, value: str) -> str:
    inside = quote(value)
    return rng.choice(
        (f"{inside}::{type_}", f"CAST({inside} AS {type_})", inside, f"{type_.partition('(')[0]} {inside}")
    )


def _bytea(rng: random.Random, value: str) -> str:
    raw = bytes.fromhex(value[2:])
    octal = "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\{byte:03o}" for byte in raw)
    doubled = value.replace("\\", "\\\\")
    hexed = raw.hex()
    return rng.choice(
        (quote(octal), f"E'{doubled}'", f"'{value}'::bytea", quote("\\x" + hexed.upper()), f"decode('{hexed}', 'hex')")
    )


def _bool(rng: random.Random, value: str) -> str:
    words = {
        "true": ("TRUE", "'t'", "'yes'", "'on'", "'1'", "true::bool"),
        "false": ("FALSE", "'f'", "'no'", "'off'", "'0'"),
    }
    return rng.choice(words[value])


def _number(rng: random.Random, base: str, value: str) -> str:
    forms = [f"({value})", quote(value), f"'{value}'::{base}", f"CAST({value} AS {base})", f"({value})::{base}"]
    if base == "numeric":
        forms += [f"{value}e0", quote(f" {value}0") if "." in value else quote(value)]
    else:
        forms += [f"+{value}", f"'{value}'::integer", quote(f" {value} "), f"0{value}", f"{int(value):#x}"]
    return rng.choice(forms)
