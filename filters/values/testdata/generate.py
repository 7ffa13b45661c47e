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
JSONBS = [
    *JSONS, '{"b":1,"a":2}', '{"bb":1,"a":2,"c":3,"aa":4}', '{"a":{"b":1,"b":{"c":[1,{"d":null,"":0}]}}}', '{"a":1,"b":2,"a":3}', '{"é":1,"z":2,"日":3,"aaa":4}',
    "[1,2 , 3]", "[ ]", "{ }", "[[],{}]", '[{"a":[]}]', "-0.0", "-0.00e5", "0.10", "1E5", "1e-5", "1.50e1", "1.5e+3", "-1.5E-3", "123456789012345678901234567890.10",
    "1e", "1.", ".5", "+1", "00", "-01", "0x10", "1_000", "1 2", "NaN", "Infinity", "True", "nulll", "truefalse", '"a" "b"', '{"a" 1}', '{"a":}', '{"a":1,}', "{,}",
    "[,]", "[1 2]", "{1:2}", "{null:1}", '{"a":1 "b":2}', "}", "]", "[}", '{"a":1]', '"\\ud83d\\ude00"', '"\\ude00"', '"\\ud83d"', '"\\ud83d\\ud83d"', '"\\ud83dx"',
    '"\\ud83d\\n"', '"\\uD83D\\uDE00é"', '"\\u0001\\u001f\\u007f\\u0080"', '"\\b\\f\\n\\r\\t\\/\\\\\\""', '"/"', '"\\x"', '"\\u00g0"', '"\\u00"', '"\\u+123"', '"', '"\\',
    '"a', '"\x7f"', '"\u2028"', '"\xa0"', "\xa01", "\x0c1", '{"\\u0061":1,"a":2}', '{"a\\"b":1,"a\\\\":2}', '{"\\n":[true,false,null]}', '{"":{"":{"":""}}}',
    '{"a":"\\u0000"}', '{"\\u0000":1}', "9" * 100,
    "0." + "0" * 60 + "1", "1e100",
    "[" * 120 + "]" * 120,
    '{"a":' * 100 + "1" + "}" * 100,
    '  {"a":\t[1,\n2]\r}  ',
]
TIMES = [
    "00:00", "24:00", "24:00:00", "24:00:00.0", "24:00:00.000001", "24:00:01", "24:01", "23:59:59", "23:59:59.999999", "23:59:59.9999999", "23:59:59.6", "23:59:59.4",
    "23:59:59.5", "23:59:59.9995", "23:59:60", "10:20", "10:20:30", "10:20:30.5", "10:20:30.123456", "10:20:30.1234567", "10:20:30.000500", "10:20:30.0000005",
    "10:20:30.", "10:20.5", "1:2:3", "1:2", "01:02:03", "001:02:03", "10:20 PM", "10:20:30 AM", "12:00 AM", "12:00PM", "13:00 PM", "10:20:30+02", "10:20:30-05:30",
    "10:20:30Z", "10:20:30 UTC", "10:20:30 Europe/Vienna", "10:20:60", "10:20:61", "25:00", "10:60", "-01:00", "allballs", "T10:20:30", "t10:20", "102030", "1020", "10",
    "10:", ":10", "10::20", "10:20:30:40", "2020-01-31 10:20", "2020-01-31", "", " ", " 10:20 ", "\t10:20:30\n", "infinity", "10:20:30 BC", "10.20", "10:20:30,5",
    "0:0:0", "00:00:00.000001", "00:00:00.0000001", "10 :20", "10h20m", "ten", "10:20:30.12345600", "１０:２０", "12:34:56.789", "12:34:56.785", "12:34:56.7849",
    "00:00:00.005", "00:00:00.015",
]
ERAS = [
    "2020-01-31 BC", "0001-01-01 BC", "0001-12-31 bc", "0002-02-29 BC", "0005-02-29 BC", "0004-02-29 BC", "0044-03-15 BC", "4714-11-24 BC", "4714-11-23 BC",
    "4713-01-01 BC", "0000-01-01 BC", "10000-01-01 BC", "0044-03-15BC", "0044-03-15  BC", "BC 0044-03-15", "0044-03-15 AD", "0044-03-15 BC BC", "infinity BC",
    "99999-12-31", "100000-01-01", "262142-12-31", "262143-01-01", "294276-12-31", "294277-01-01", "294277-12-31", "1000000-02-29", "5874897-12-31", "5874898-01-01",
    "9999999-01-01", "0002020-01-31", "00020-01-31",
]
ERA_CLOCKS = ["", " 00:00:00", " 23:59:59.999999", " 10:20:30.5", "T10:20:30"]
# Shapes of arrays, in which A, B and C stand for elements.
ARRAYS = [
    "{}", "{A}", "{A,B}", "{A,B,C}", "{ A , B }", " {A} ", "{A,NULL,B}", "{NULL}", "{null,Null}", "{nul}", "{NULLx}", '{"NULL"}', "{\\NULL}", '{"A",B}', '{ "A" , "B" }',
    '{""}', "{A,}", "{,A}", "{A,,B}", "{A", "A}", "A", "", "{", "}", "{A}}", "{A}x", "{A}{B}", "{A B}", "{ A  B }", '{"A"B}', '{A"B"}', '{"A" x}', '{"A', "{A\\", '{"A\\',
    "{\\A}", "{A\\ }", "{\\ A}", "{{A,B},{C,A}}", "{{A},{B},{C}}", "{{A,NULL},{NULL,B}}", "{{A},{B,C}}", "{{A,B},C}", "{A,{B}}", "{A{B}}", "{{A}B}", "{{A} {B}}", "{{}}",
    "{{},{}}", "{{},{A}}", "{{A},{}}", "{{},A}", "{{{A},{B}},{{C},{A}}}", "{{{{{{A}}}}}}", "{{{{{{{A}}}}}}}", "{{{{{{}}}}}}", "{{{{{{{}}}}}}}", "{{{A}},{B}}",
    "[2:3]={A,B}", "[0:0]={A}", "[-1:1]={A,B,C}", "[1:2]={A,B}", "[1:1]={A,B}", "[1:3]={A,B}", "[2]={A,B}", "[3]={A,B}", "[0]={}", "[1:0]={}", "[2:1]={}", "[1:1]={}",
    "[1:2][0:0]={{A},{B}}", "[1:1][-2:-1]={{A,B}}", "[1:2][1:1]={A,B}", "[1:2]={{A},{B}}", "[1:2] = {A,B}", "[1:2]= {A,B}", "[1:2] ={A,B}", " [1:2]={A,B}",
    "[ 1:2]={A,B}", "[1 :2]={A,B}", "[1:2] [0:0]={{A},{B}}", "[2147483647:2147483647]={A}", "[2147483646:2147483646]={A}", "[-2147483648:-2147483648]={A}",
    "[-2147483649:0]={A}", "[+0:1]={A,B}", "[-0:1]={A,B}", "[1:2147483647]={A}", "[-2147483648:2147483646]={A}", "[:1]={A}", "[1:]={A}", "[]={A}", "[a]={A}",
    "[1:2]{A,B}", "[1:2]=A", "[1:1][1:1][1:1][1:1][1:1][1:1]={{{{{{A}}}}}}", "[1:1][1:1][1:1][1:1][1:1][1:1][1:1]={{{{{{{A}}}}}}}", "[2:2]={NULL}", "{A;B}",
    "{\tA\n,\x0bB\x0c}", "[--1:1]={A}", "[1-:1]={A}",
]
# Elements in each array type, quoted where they must be.
ELEMENTS = {
    "text[]": ["a", '"b c"', '"{,}"'], "varchar(3)[]": ["abc", '"a  "', '"ab   "'], "char(3)[]": ["a", '"b c"', "éé"], "int2[]": ["1", "-32768", "+7"],
    "int4[]": ["1", "-2", "70000"], "int8[]": ["1", "-9223372036854775808", "007"], "numeric(10,2)[]": ["1", "2.675", "-0.001"], "float8[]": ["1", "-0", "1e300"],
    "bool[]": ["t", "off", "1"], "date[]": ["2020-01-31", "infinity", '"0044-03-15 BC"'], "time(3)[]": ["10:20", "24:00:00", "10:20:30.12345"],
    "timestamp[]": ["2020-01-31", '"2020-01-31 10:20:30.5"', "-infinity"], "timestamptz(0)[]": ["2020-01-31T10:20:30.5Z", '"2020-01-31 10:20:30+02"', "infinity"],
    "uuid[]": ["123e4567-e89b-12d3-a456-426614174000", "00000000000000000000000000000000", "x"], "json[]": ["1", '"{\\"a\\": [1]}"', '"\\"x\\""'],
    "jsonb[]": ["1.50", '"{\\"b\\":[1],\\"a\\":2}"', '"\\"x\\""'], "bytea[]": ['"\\\\x00ff"', "\\\\xAB", '""'],
}  # fmt: skip
BYTEAS = ["", "\\x", "\\x00ff", "\\xAB cd", "\\xa", "\\xgg", "abc", "a\\\\b", "\\001\\377", "\\400", "a\\", "ä", "\\x 00", "\\x0 0"]

CASES = {
    "int2": INTEGERS, "int4": INTEGERS, "int8": INTEGERS,
    "numeric": NUMERICS, "numeric(10,2)": NUMERICS, "numeric(4)": NUMERICS, "numeric(5,5)": NUMERICS,
    "float8": FLOATS, "bool": BOOLEANS, "date": DATES, "uuid": UUIDS, "json": JSONS, "jsonb": JSONBS, "bytea": BYTEAS,
    "text": TEXTS, "varchar(5)": TEXTS, "varchar": TEXTS, "char(5)": TEXTS, "bpchar": TEXTS, "time": TIMES, "time(0)": TIMES, "time(2)": TIMES,
}  # fmt: skip
ALPHABETS = {
    "int": "0123456789-+_ x", "numeric": "0123456789.eE-+_ ", "float8": "0123456789.eE-+ x", "bool": "tfruealsyno01 TRUE", "date": "0123456789-/ ",
    "uuid": "0123456789abcdefABCDEF-{} ", "json": "{}[]\",:0123456789eE.+-\\utnr \n\té", "bytea": "\\x0123456789abcdefAB \n\té",
    "text": "aé日 \t'", "varchar": "aé日 \t'", "char": "aé日 \t'", "bpchar": "aé日 \t'", "time": "0123456789:. +Z",
    "jsonb": "{}[]\",:0123456789eE.+-\\utnr \n\té", "array": "{}{},,\"\\[]:= \tNUL019abté",
}  # fmt: skip
# A literal of each type that a client may name for a parameter.
PARAMETERS = {
    "int2": ["0", "7", "-5", "32767"], "int4": ["0", "1", "70000", "-2147483648"], "int8": ["0", "1", "12345678901"], "bool": ["t", "f"],
    "float4": ["0.1", "1", "1.5", "2.5", "1e10", "1234567.8", "16777216", "1e-7", "NaN", "-0", "Infinity"],
    "float8": ["0.1", "0.30000000000000004", "1.5", "2.5", "123456789.123456789", "1e20", "1e-7", "NaN", "Infinity", "-0", "2.675", "1234567890123456"],
    "numeric": ["0", "1.50", "1.5", "2.5", "1e20", "NaN", "12345.678", "7"], "date": ["2020-01-31", "infinity", "0044-03-15 BC"],
    "timestamp": ["2020-01-31 10:20:30.5", "2020-01-31", "infinity"], "timestamptz": ["2020-01-31 10:20:30.5+00", "infinity", "2020-01-31 00:00+00"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"], "json": ["{\"a\": 1}", "1", " 1"], "jsonb": ["{\"a\": 1}", "1", "{\"bb\":1.50,\"a\":[]}"],
    "text": ["abc  ", "1", "t", "2020-01-31", "\\x00"], "varchar": ["abc  ", "1"], "bpchar": ["abc  ", "1", "  "], "bytea": ["\\x00ff", "\\x31"],
    "name": ["abc", "1", "x" * 63], "time": ["10:20:30.5", "24:00:00", "10:20:30.123456"],
    "text[]": ["{}", "{abc,NULL,2020-01-31}", '{"a ",""}', "{1,2}", "{{1,2},{3,4}}", "[0:1]={1,2}"], "varchar[]": ["{abc}", '{"a b",1}'], "bpchar[]": ['{"a  "}'],
    "name[]": ["{abc,NULL}"], "int2[]": ["{1,NULL,-5}", "{}", "[2:2]={7}"], "int4[]": ["{1,70000}", "{{1},{2}}"], "int8[]": ["{1,12345678901}"], "bool[]": ["{t,f,NULL}"],
    "float4[]": ["{0.1,1.5}", "{NaN}"], "float8[]": ["{0.1,2.675,1e20}", "{NULL}"], "numeric[]": ["{1.50,2.5,NaN}"], "date[]": ["{2020-01-31,infinity}"],
    "timestamp[]": ['{"2020-01-31 10:20:30.5"}'], "timestamptz[]": ['{"2020-01-31 10:20:30.5+00"}'], "time[]": ["{10:20:30.5,24:00:00}"],
    "uuid[]": ["{123e4567-e89b-12d3-a456-426614174000}"], "json[]": ['{"{\\"b\\": 1, \\"a\\":1.0}"}'], "jsonb[]": ['{"{\\"b\\": 1, \\"a\\": 1.0}",NULL}'],
    "bytea[]": ['{"\\\\x00ff",""}'],
}  # fmt: skip
COLUMNS = [
    "text", "varchar(5)", "char(5)", "int2", "int4", "int8", "bool", "float8", "numeric", "numeric(10,2)", "date", "timestamp", "timestamp(0)",
    "timestamptz", "uuid", "json", "bytea", "bpchar", "time", "time(0)", "jsonb", "text[]", "varchar(5)[]", "char(5)[]", "int4[]", "float8[]", "numeric(10,2)[]",
    "bool[]", "date[]", "timestamp(0)[]", "timestamptz[]", "time[]", "uuid[]", "json[]", "jsonb[]", "bytea[]",
]  # fmt: skip
STAMP_DATES = ["2020-02-29", "1969-12-31", "2000-01-01", "1999-12-31", "0001-01-01", "9999-12-31"]
TYPED_STAMPS = ["timestamp", "timestamp(3)", "timestamp(0)", "timestamptz", "timestamptz(2)"]


def stamps() -> list[str]:
    every = [d + c + z for d, c, z in itertools.product(STAMP_DATES[:2], CLOCKS, ZONES)]
    few = [d + c for d, c in itertools.product(STAMP_DATES, CLOCKS)] + DATES
    return few + random.Random(1).sample(every, 150)


def eras() -> list[str]:
    return ERAS + [d + c + z + " BC" for d, c, z in itertools.product(("0044-03-15", "4714-11-24", "0001-12-31"), ERA_CLOCKS, ("", "Z", "+02", "-15:59"))] + [
        d + c + z for d, c, z in itertools.product(("294276-12-31", "0001-01-01", "262143-06-01"), ERA_CLOCKS, ("", "Z", "+02", "-15:59"))
    ]  # fmt: skip


def arrays(elements: list[str]) -> list[str]:
    """Every shape, its letters replaced in one go."""
    return ["".join(elements["ABC".index(c)] if c in "ABC" else c for c in shape) for shape in ARRAYS]


def quoted_arrays() -> list[str]:
    """Arrays of texts in which all that needs quotes occurs, of one and of two dimensions."""
    chance = random.Random(4)
    quote = lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'  # noqa: E731
    row = lambda: [quote("".join(chance.choices('ab"\\{}, \t\né[]=NUL', k=chance.randint(0, 4)))) for _ in range(3)]  # noqa: E731
    flat = ["{" + ",".join(row()) + "}" for _ in range(100)]
    return flat + ["{{" + ",".join(row()) + "},{" + ",".join(row()) + "}}" for _ in range(20)]


def nanoseconds() -> list[str]:
    """Times of seven to nine digits behind the point, many of them halfway between two microseconds."""
    chance = random.Random(5)
    halves = [f"10:20:30.{chance.randint(0, 999999):06}5{'0' * chance.randint(0, 2)}" for _ in range(60)]
    return halves + [f"23:59:{chance.randint(0, 59):02}.{chance.randint(0, 999999999):09}" for _ in range(40)] + ["23:59:59.9999995", "23:59:59.999999499"]


def variants(inputs: list[str], alphabet: str, count: int = 260) -> list[str]:
    """The inputs, and as many with a character put in, left out or changed as make a few hundred."""
    chance = random.Random(3)
    found = list(dict.fromkeys(inputs))
    known = set(found)
    while len(found) < count:
        text = list(chance.choice(inputs))
        at = chance.randint(0, len(text))
        text[at : at + chance.randint(0, 1)] = [chance.choice(alphabet)] * chance.randint(0, 1)
        if (changed := "".join(text)) not in known:
            known.add(changed)
            found.append(changed)
    return found


def alphabet(name: str) -> str:
    base = name.split("(")[0]
    return ALPHABETS["int" if base[:3] == "int" else base]


def numbers() -> list[str]:
    chance = random.Random(2)
    return [repr(chance.uniform(-1, 1) * 10 ** chance.randint(-20, 20)) for _ in range(60)]


def ask(connection: psycopg.Connection, name: str, text: str) -> list:
    """`[type, input, output text, output binary in hex]`; null twice where the server refuses."""
    try:
        connection.execute("TRUNCATE given")
        literal = psycopg.sql.Literal(text).as_string(connection)
        connection.execute(f"INSERT INTO given VALUES ({literal})".encode())
    except (psycopg.DataError, psycopg.errors.ProgramLimitExceeded):
        return [name, text, None, None]
    shown = [connection.execute("SELECT v FROM given", binary=binary).pgresult.get_value(0, 0) for binary in (False, True)]
    return [name, text, shown[0].decode(), shown[1].hex()]


def values(connection: psycopg.Connection) -> list[list]:
    cases = {name: variants(inputs, alphabet(name), 600 if name == "jsonb" else 260) for name, inputs in CASES.items()}
    cases.update({name: stamps() for name in TYPED_STAMPS})
    for name in ("date", "timestamp", "timestamp(0)", "timestamptz"):
        cases[name] = list(dict.fromkeys(cases[name] + eras()))
    for name in ("time", "time(2)"):
        cases[name] = cases[name] + nanoseconds()
    for name, zone in (("timestamp", ""), ("timestamptz", "Z")):
        cases[name] = cases[name] + [f"2020-02-29 {clock}{zone}" for clock in nanoseconds()]
    cases.update({name: variants(arrays(elements), ALPHABETS["array"], 300) for name, elements in ELEMENTS.items()})
    cases["text[]"] += quoted_arrays()
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
                # An infinite timestamp is stored as no time.
                stored = answer.get_value(0, 0) if answer.ntuples else None
                rows.append([oid, column, text.decode(), binary.hex(), None if stored is None else stored.decode()])
    return rows


def main() -> None:
    with psycopg.connect(sys.argv[1], autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET bytea_output = hex; SET extra_float_digits = 1")
        rows = {"values": values, "casts": casts}[sys.argv[2]](connection)
    print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")


if __name__ == "__main__":
    main()
