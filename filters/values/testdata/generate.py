"""Asks a real PostgreSQL what it makes of many inputs of each type, and of parameters of another type than the column's.

    generate.py CONNECTION_STRING values > postgres-18.json
    generate.py CONNECTION_STRING casts > postgres-18-casts.json

Needs psycopg 3 and a server whose `TimeZone`, `DateStyle` and the like may be set by the session.
"""

import itertools
import json
import random
import sys

import psycopg
import psycopg.sql

INTEGERS = [
    "0", "-0", "+7", "42", " 42 ", "\t42\n", "-1", "32767", "32768", "-32768", "-32769", "2147483647", "2147483648",
    "-2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "", " ", "1.0", "1e3", "0x1F",
    "1_000", "--1", "+ 1", "1 2", "٣", "007", "-007",
]
NUMERICS = [
    "0", "-0", "0.0", "-0.00", "1", "1.0", "1.50", ".5", "5.", "-.5", "1e3", "1E3", "1.5e-3", "1e-5", "-12.345", "12.345", "12.355",
    "99999999.994", "99999999.995", "-99999999.995", "99999999.99", "123456789012345678901234567890.123456789", "000123.4500",
    "NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", " 1.5 ", "1,5", "", ".", "1e", "1e1000", "1e-1000", "0.5", "1.5", "2.5", "-2.5",
    "0.005", "0.015", "-0.005", "9999.9999", "10000", "10000.0001", "0.0001", "0.00001", "1e20", "1_000", "0x10", "e5", "+1.1", "1.1.1",
]
FLOATS = [
    "0", "-0", "1", "1.0", "0.1", "0.30000000000000004", "1e15", "1e14", "123456789012345", "1234567890123456", "999999999999999.9",
    "1e-4", "1e-5", "0.0001234", "0.00001234", "1e308", "1.7976931348623157e308", "1e309", "1e-308", "5e-324", "1e-400", "NaN", "nan", "inf",
    "-Infinity", "Infinity", "+inf", " 1.5 ", ".5", "5.", "1e", "abc", "", "0x10", "1e+5", "1E5", "-1.5e-7", "100000", "1e22", "1.0e23",
    "4.35", "2.2250738585072014e-308", "1_0",
    "12620863340778.062", "878253445759114.2826", "-917962055396649.3", "9007199254740993", "8.41e21", "9.5e-323",
]
DATES = [
    "2020-01-31", "2020-02-29", "2021-02-29", "1999-12-31", "2000-01-01", "1970-01-01", "0001-01-01", "9999-12-31", "10000-01-01",
    "2020-1-5", " 2020-01-31 ", "2020-13-01", "2020-00-10", "2020-01-32", "01/02/2020", "20200131", "January 5, 2020", "2020.01.31", "infinity",
    "-infinity", "Infinity", "epoch", "today", "2020-01-31 BC", "", "20-01-31", "2020-01", "1582-10-10", "1900-02-29", "2000-02-29", "0000-01-01",
    "99999-01-01", "2020-01-31 10:00", "200000-05-06", "2020-01-31T", "2020-01-31T-12", "2020-01-31T+00", "2020-01-31TZ", "2020-01-31T 10:20Z", "2020-01-31T UTC",
]
CLOCKS = [
    "", " 00:00", " 10:20", " 10:20:30", "T10:20:30", " 10:20:30.5", " 10:20:30.123456", " 10:20:30.1234567", " 10:20:30.999999", " 23:59:59.9999999",
    " 24:00:00", " 10:20:60", " 10:60:00", " 25:00:00", " 1:2:3", " 10:20:30.", " 10:20 PM", " 10", "t10:20:30", " 10:20:30.000500", " 10:20.5",
    "  10:20:30",
]
ZONES = ["", "Z", "z", "+00", "-00", "+02", "-05:30", "+0530", "+14:59", "-15:59", "+16", " UTC", " +01", "+01:02:03", " Europe/Vienna", " EST", "+1"]
TEXTS = ["", "a", "abc", "abcde", "abcdef", "abc  ", "abcde   ", "  abc", "äöüßé", "äöüßéx", "日本語日本語", "\\x00", "'", "a\nb", "   ", "a     b"]
BOOLEANS = [
    "t", "f", "true", "false", "TRUE", "tru", "yes", "y", "no", "n", "on", "off", "o", "of", "1", "0", "2", " t ", "", "10", "enabled", "tr ue", "T",
]
UUIDS = [
    "123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000", "{123e4567-e89b-12d3-a456-426614174000}",
    "123e4567e89b12d3a456426614174000", "123e-4567-e89b-12d3-a456-4266-1417-4000", "123e4567-e89b-12d3-a456-42661417400", "", "g23e4567-e89b-12d3-a456-426614174000",
    "123e4567-e89b-12d3-a456-4266141740000", " 123e4567-e89b-12d3-a456-426614174000", "{123e4567-e89b-12d3-a456-426614174000", "12-3e4567e89b12d3a456426614174000",
]
JSONS = [
    "{}", "[]", "1", "\"a\"", "null", "true", " { \"a\" : 1 } ", "{\"a\":1,\"a\":2}", "1.50", "-0", "01", "1e5", "1e400", "{'a':1}", "", "{", "[1,]", "\"\\u00e4\"",
    "\"\\ud800\"", "\"\\u0000\"", "\"a\nb\"", "nul", "[1] x", "\"\t\"", "-", "[" * 50 + "]" * 50,
]
BYTEAS = ["", "\\x", "\\x00ff", "\\xAB cd", "\\xa", "\\xgg", "abc", "a\\\\b", "\\001\\377", "\\400", "a\\", "ä", "\\x 00", "\\x0 0"]

CASES = {
    "int2": INTEGERS, "int4": INTEGERS, "int8": INTEGERS,
    "numeric": NUMERICS, "numeric(10,2)": NUMERICS, "numeric(4)": NUMERICS, "numeric(5,5)": NUMERICS,
    "float8": FLOATS, "bool": BOOLEANS, "date": DATES, "uuid": UUIDS, "json": JSONS, "bytea": BYTEAS,
    "text": TEXTS, "varchar(5)": TEXTS, "varchar": TEXTS, "char(5)": TEXTS,
}  # fmt: skip
ALPHABETS = {
    "int": "0123456789-+_ x", "numeric": "0123456789.eE-+_ ", "float8": "0123456789.eE-+ x", "bool": "tfruealsyno01 TRUE", "date": "0123456789-/ ",
    "uuid": "0123456789abcdefABCDEF-{} ", "json": "{}[]\",:0123456789eE.+-\\utnr \n\té", "bytea": "\\x0123456789abcdefAB \n\té",
    "text": "aé日 \t'", "varchar": "aé日 \t'", "char": "aé日 \t'",
}  # fmt: skip
# A literal of each type that a client may name for a parameter.
PARAMETERS = {
    "int2": ["0", "7", "-5", "32767"], "int4": ["0", "1", "70000", "-2147483648"], "int8": ["0", "1", "12345678901"], "bool": ["t", "f"],
    "float4": ["0.1", "1", "1.5", "2.5", "1e10", "1234567.8", "16777216", "1e-7", "NaN", "-0", "Infinity"],
    "float8": ["0.1", "0.30000000000000004", "1.5", "2.5", "123456789.123456789", "1e20", "1e-7", "NaN", "Infinity", "-0", "2.675", "1234567890123456"],
    "numeric": ["0", "1.50", "1.5", "2.5", "1e20", "NaN", "12345.678", "7"], "date": ["2020-01-31", "infinity", "0044-03-15 BC"],
    "timestamp": ["2020-01-31 10:20:30.5", "2020-01-31", "infinity"], "timestamptz": ["2020-01-31 10:20:30.5+00", "infinity", "2020-01-31 00:00+00"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"], "json": ["{\"a\": 1}", "1", " 1"], "jsonb": ["{\"a\": 1}", "1"],
    "text": ["abc  ", "1", "t", "2020-01-31", "\\x00"], "varchar": ["abc  ", "1"], "bpchar": ["abc  ", "1", "  "], "bytea": ["\\x00ff", "\\x31"],
    "name": ["abc", "1", "x" * 63],
}  # fmt: skip
COLUMNS = [
    "text", "varchar(5)", "char(5)", "int2", "int4", "int8", "bool", "float8", "numeric", "numeric(10,2)", "date", "timestamp", "timestamp(0)",
    "timestamptz", "uuid", "json", "bytea",
]  # fmt: skip
STAMP_DATES = ["2020-02-29", "1969-12-31", "2000-01-01", "1999-12-31", "0001-01-01", "9999-12-31"]
TYPED_STAMPS = ["timestamp", "timestamp(3)", "timestamp(0)", "timestamptz", "timestamptz(2)"]


def stamps() -> list[str]:
    every = [d + c + z for d, c, z in itertools.product(STAMP_DATES[:2], CLOCKS, ZONES)]
    few = [d + c for d, c in itertools.product(STAMP_DATES, CLOCKS)] + DATES
    return few + random.Random(1).sample(every, 150)


def variants(inputs: list[str], alphabet: str) -> list[str]:
    """The inputs, and as many with a character put in, left out or changed as make a few hundred."""
    chance = random.Random(3)
    found = list(dict.fromkeys(inputs))
    known = set(found)
    while len(found) < 260:
        text = list(chance.choice(inputs))
        at = chance.randint(0, len(text))
        text[at : at + chance.randint(0, 1)] = [chance.choice(alphabet)] * chance.randint(0, 1)
        if (changed := "".join(text)) not in known:
            known.add(changed)
            found.append(changed)
    return found


def numbers() -> list[str]:
    chance = random.Random(2)
    return [repr(chance.uniform(-1, 1) * 10 ** chance.randint(-20, 20)) for _ in range(60)]


def ask(connection: psycopg.Connection, name: str, text: str) -> list:
    """`[type, input, output text, output binary in hex]`; null twice where the server refuses."""
    try:
        connection.execute("TRUNCATE given")
        literal = psycopg.sql.Literal(text).as_string(connection)
        connection.execute(f"INSERT INTO given VALUES ({literal})".encode())
    except psycopg.DataError:
        return [name, text, None, None]
    shown = [connection.execute("SELECT v FROM given", binary=binary).pgresult.get_value(0, 0) for binary in (False, True)]
    return [name, text, shown[0].decode(), shown[1].hex()]


def values(connection: psycopg.Connection) -> list[list]:
    cases = {name: variants(inputs, ALPHABETS[name.split("(")[0].rstrip("248") if name[:3] == "int" else name.split("(")[0]]) for name, inputs in CASES.items()}
    cases.update({name: stamps() for name in TYPED_STAMPS})
    for name in ("float8", "numeric", "numeric(10,2)"):
        cases[name] = cases[name] + numbers()
    rows = []
    for name, inputs in cases.items():
        connection.execute(f"DROP TABLE IF EXISTS given; CREATE TEMP TABLE given (v {name})")
        rows += [ask(connection, name, text) for text in inputs]
    return rows


def casts(connection: psycopg.Connection) -> list[list]:
    """`[client's type, column's type, text, binary in hex, stored text]`; no stored text where the server refuses."""
    rows = []
    for column in COLUMNS:
        connection.execute(f"DROP TABLE IF EXISTS given; CREATE TEMP TABLE given (v {column})")
        for name, literals in PARAMETERS.items():
            oid = connection.execute("SELECT %s::regtype::oid::int", [name]).fetchone()[0]
            for literal in literals:
                query = psycopg.sql.SQL("SELECT {}::" + name).format(literal)
                text, binary = (connection.execute(query, binary=binary).pgresult.get_value(0, 0) for binary in (False, True))
                answer = connection.pgconn.exec_params(b"INSERT INTO given VALUES ($1) RETURNING v", [binary], [oid], [1])
                stored = answer.get_value(0, 0).decode() if answer.ntuples else None
                rows.append([oid, column, text.decode(), binary.hex(), stored])
    return rows


def main() -> None:
    with psycopg.connect(sys.argv[1], autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET bytea_output = hex; SET extra_float_digits = 1")
        rows = {"values": values, "casts": casts}[sys.argv[2]](connection)
    print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")


if __name__ == "__main__":
    main()
