"""Asks a real MariaDB or MySQL how it shows columns and values, what it makes of literals and parameters, and what it finds.

    generate_mysql.py SOCKET USER > mariadb-10.11.json
    generate_mysql.py SOCKET USER > mysql-9.7.json

Needs PyMySQL, whose packets are read here as they come, and psycopg, for the inputs are PostgreSQL's. Makes and drops a database. Of MySQL,
`SET GLOBAL innodb_flush_log_at_trx_commit = 0` saves minutes.
"""

import json
import struct
import sys
from collections.abc import Callable

import pymysql
from generate import BOOLEANS, CLOCKS, DATES, FLOATS, INTEGERS, JSONS, NUMERICS, TEXTS, TIMES, UUIDS, variants
from pymysql.constants import COMMAND

DATABASE = "fieldveil_values"
STRICT = "STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE"
# What is declared, and what a column of it is in the server.
COLUMNS = {
    "text": "text", "tinytext": "tinytext", "mediumtext": "mediumtext", "longtext": "longtext", "varchar(5)": "varchar(5)", "varchar(20)": "varchar(20)",
    "char(5)": "char(5)", "int2": "smallint", "int4": "int", "int8": "bigint", "bool": "tinyint(1)", "float8": "double", "double": "double",
    "numeric(10,2)": "decimal(10,2)", "numeric(5,5)": "decimal(5,5)", "numeric(4)": "decimal(4)", "numeric(65,30)": "decimal(65,30)", "date": "date",
    "time": "time(6)", "time(0)": "time", "time(2)": "time(2)", "timestamp": "datetime(6)", "timestamp(0)": "datetime", "datetime": "datetime",
    "datetime(3)": "datetime(3)", "uuid": "char(36)", "json": "json", "jsonb": "json", "bytea": "blob", "tinyblob": "tinyblob",
    "mediumblob": "mediumblob", "longblob": "longblob", "varbinary(4)": "varbinary(4)",
}  # fmt: skip
COMPACT = [
    "20240102", "20240102101112", "20240102101112.5", "20240102T101112", "2024-1-2", "2024/1/2", "2024.01.02", "2024-01/02", "240102", "24-1-2", "0000-00-00",
    "2024-00-10", "2024-01-00", "2024-01-02 10:11:12.5", "2024-01-02T10:11:12", "2024-01-02 10", "2024-01-02 10:11", "2024-01-02 10:11:12 ", "2024-01-02  10:11:12",
    "2024-01-02 10:11:12.999999", "1999-12-31 10:11:12.5", "9999-12-31 23:59:59.999999", "2024-01-02 23:59:59.5", "2024-01-02 23:59:59.499999",
    "2024-01-02 24:00:00", "2024-01-02 10:11:12.0000000", "2024-01-02 10:11:12.0000004", "2024-01-02 10:11:12.9999996", "2024-01-02 10:11:12+01:00",
    "2024-01-02 10:11:12Z", "2024-01-02 10:11:60", "2024-01-02 1:2:3", "2024-01-02 10:11:", "2024-01-02 10:11:12.", "2024-01-02 -1:00:00", "2024-1-2 3:4",
]  # fmt: skip
CLOCK_FORMS = [
    "101112", "1112", "12", "101112.5", "-10:11:12", "838:59:59", "100:00:00", "1 10:11:12", "10:11", "1:2", "24:00:00", "24:00:01", "2024-01-02 10:11:12",
    "10:11:12.499999", "23:59:59.995", "23:59:59.5", "0", "-00:00:00", "10:11:12 ", " 10:11:12", "010:11:12", "10:11:12.", "606060",
]  # fmt: skip
STAMPS = [f"{date}{clock}" for date in ("2020-02-29", "1999-12-31", "9999-12-31", "0001-01-01") for clock in CLOCKS]
LITERALS = {
    "text": TEXTS, "varchar(5)": TEXTS, "char(5)": TEXTS, "int2": INTEGERS + NUMERICS, "int4": INTEGERS + NUMERICS, "int8": INTEGERS + NUMERICS,
    "bool": BOOLEANS + NUMERICS, "float8": FLOATS + NUMERICS, "numeric(10,2)": NUMERICS, "numeric(5,5)": NUMERICS, "numeric(4)": NUMERICS,
    "date": DATES + COMPACT + STAMPS, "time": TIMES + CLOCK_FORMS, "time(0)": TIMES + CLOCK_FORMS, "time(2)": TIMES + CLOCK_FORMS,
    "timestamp": DATES + COMPACT + STAMPS, "timestamp(0)": DATES + COMPACT + STAMPS, "datetime(3)": DATES + COMPACT + STAMPS,
    "uuid": UUIDS, "json": JSONS,
}  # fmt: skip
ALPHABETS = {
    "int": "0123456789-+.e x", "numeric": "0123456789.eE-+ ", "float8": "0123456789.eE-+ x", "bool": "01.e+- t", "date": "0123456789-/ T", "uuid": "0123456789abcdef-",
    "time": "0123456789:. -", "timestamp": "0123456789-:. T", "datetime": "0123456789-:. T", "json": "{}[]\",:0123456789", "text": "aé日 \t", "varchar": "aé日 \t",
    "char": "aé日 \t",
}  # fmt: skip


def string(code: int, value: bytes) -> tuple[int, bool, bytes]:
    return code, False, value


def moment(day: tuple[int, int, int], clock: tuple[int, ...] = (), micros: int | None = None) -> bytes:
    return struct.pack("<HBB", *day) + bytes(clock) + (b"" if micros is None else struct.pack("<I", micros))


def duration(sign: int, days: int, clock: tuple[int, int, int], micros: int | None = None) -> bytes:
    return struct.pack("<BI", sign, days) + bytes(clock) + (b"" if micros is None else struct.pack("<I", micros))


NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.1, 0.30000000000000004, 0.3, 2.5, 1.5, -2.5, 2.675, 1e15, 1e14, 123456789012345.0, 1e20, 1e-7, 42.0, 9007199254740993.0, 12.34, 1e300]
# The type's code, whether it is unsigned, and the value without its length.
PARAMETERS = [
    *((1, False, struct.pack("<b", n)) for n in (0, 1, -1, 42)),
    *((1, True, struct.pack("<B", n)) for n in (1, 200)),
    *((2, False, struct.pack("<h", n)) for n in (0, -5, 32767)),
    *((2, True, struct.pack("<H", n)) for n in (65535, 7)),
    *((3, False, struct.pack("<i", n)) for n in (0, 1, 42, -(2**31), 20240102, 101112)),
    *((3, True, struct.pack("<I", n)) for n in (2**32 - 1,)),
    *((8, False, struct.pack("<q", n)) for n in (0, 1, 42, 12345678901, -(2**63), 20240102101112, 2**53 + 1)),
    *((8, True, struct.pack("<Q", n)) for n in (2**64 - 1,)),
    *((4, False, struct.pack("<f", n)) for n in (0.0, 0.1, 1.5, 2.5, 16777216.0, 1e10)),
    *((5, False, struct.pack("<d", n)) for n in NUMBERS),
    *((246, False, n) for n in (b"0", b"1", b"1.50", b"2.5", b"-2.5", b"12.34", b"0.3", b"42.00", b"1e2", b"12345678901234567890.5", b"+7", b"007")),
    *((10, False, moment(day)) for day in ((2024, 1, 2), (1999, 12, 31), (9999, 12, 31), (1, 1, 1))),
    *(
        (code, False, value)
        for code in (12, 7)
        for value in (
            moment((2024, 1, 2)), moment((2024, 1, 2), (10, 11, 12)), moment((2024, 1, 2), (10, 11, 12), 500000), moment((1999, 12, 31), (23, 59, 59), 999999),
            moment((2024, 1, 2), (0, 0, 0), 0), moment((2024, 1, 2), (10, 11, 12), 123456), moment((2024, 1, 2), (23, 59, 59), 500000), b"",
        )
    ),
    *(
        (11, False, value)
        for value in (
            b"", duration(0, 0, (10, 11, 12)), duration(0, 0, (10, 11, 12), 500000), duration(0, 0, (23, 59, 59), 999999), duration(1, 0, (10, 11, 12)),
            duration(0, 1, (0, 0, 0)), duration(0, 2, (1, 2, 3)), duration(0, 0, (10, 11, 12), 123456),
        )
    ),
    *(
        (code, False, value)
        for code in (253, 254, 252)
        for value in (
            b"", b"abc", b"abc  ", b"1", b"0", b"42", b"42.0", b"1.50", b" 7 ", b"7x", b"2.5", b"t", b"true", b"2024-01-02", b"2024-01-02 10:11:12.5", b"20240102",
            b"10:11:12", b"10:11:12.5", b"\x00\xff", b"0.30", b"0.3", b"12.34", b"{}", b'{"a": 1}', "äö".encode(), b"123e4567-e89b-12d3-a456-426614174000",
        )
    ),
]  # fmt: skip
# What stands in a table that is searched.
STORED = {
    "text": ["", "abc", "abc  ", "1", "42", "0.3", "t"], "varchar(5)": ["", "abc", "abc  ", "1", "42", "0.3"], "char(5)": ["", "abc", "1", "42"],
    "int4": ["0", "1", "42", "7", "-5", "2", "3", "20240102", "101112"], "int8": ["0", "1", "42", "9007199254740992", "9007199254740993", "20240102101112"],
    "int2": ["0", "1", "42", "7", "2", "3"], "bool": ["0", "1"],
    "numeric(10,2)": ["0.00", "0.10", "0.30", "1.00", "1.50", "2.50", "2.68", "2.67", "12.34", "42.00", "7.00"],
    "date": ["2024-01-02", "1999-12-31"], "time": ["10:11:12", "10:11:12.5", "00:00:00", "24:00:00"], "time(0)": ["10:11:12", "10:11:13", "00:00:00"],
    "timestamp": ["2024-01-02", "2024-01-02 10:11:12", "2024-01-02 10:11:12.5", "1999-12-31 23:59:59.999999"],
    "timestamp(0)": ["2024-01-02", "2024-01-02 10:11:12", "2024-01-02 10:11:13", "2000-01-01"], "bytea": ["", "abc", "abc  ", "1"],
}  # fmt: skip
SOUGHT = [
    "", "abc", "ABC", "abc  ", "1", "0", "42", "42.0", "42.5", "0.3", "0.30", "0.301", "2.675", "1e1", " 7 ", "2024-01-02", "20240102", "2024-1-2", "2024-01-02 00:00:00",
    "2024-01-02 10:11:12", "2024-01-02 10:11:12.5", "2024-01-02 10:11:12.50", "20240102101112", "10:11:12", "10:11:12.5", "101112", "24:00:00", "9007199254740993",
]  # fmt: skip
STORES_AS_IT_IS = " character set utf8mb4 collate "


class Session:
    """A connection whose packets are read as they come."""

    def __init__(self, socket: str, user: str) -> None:
        self.connection = pymysql.connect(unix_socket=socket, user=user, charset="utf8mb4", autocommit=True)
        self.mariadb = "MariaDB" in self.connection.server_version

    def packet(self) -> bytes:
        return self.connection._read_packet().get_all_data()

    def rows(self, statement: str) -> tuple[list[list[int]], list[bytes]]:
        """The column definitions, and the rows in the text protocol."""
        self.connection._execute_command(COMMAND.COM_QUERY, statement)
        return self.result(self.packet())

    def result(self, first: bytes) -> tuple[list[list[int]], list[bytes]]:
        if first[0] == 0:
            return [], []
        definitions = [definition(self.packet()) for _ in range(first[0])]
        self.packet()
        rows = []
        while not ((row := self.packet())[0] == 0xFE and len(row) < 9):
            rows.append(row)
        return definitions, rows

    def execute(self, statement: str, parameter: tuple[int, bool, bytes] | None = None) -> tuple[list[list[int]], list[bytes]]:
        """The same by a prepared statement, whose rows are in the binary protocol."""
        self.connection._execute_command(COMMAND.COM_STMT_PREPARE, statement)
        number, columns, parameters = struct.unpack_from("<IHH", self.packet(), 1)
        for count in (parameters, columns):
            for _ in range(count + 1 if count else 0):
                self.packet()
        bound = b""
        if parameter:
            code, unsigned, value = parameter
            length = b"" if code in (1, 2, 3, 4, 5, 8) else bytes([len(value)])
            bound = b"\x00\x01" + bytes([code, 0x80 if unsigned else 0]) + length + value
        try:
            self.connection._execute_command(COMMAND.COM_STMT_EXECUTE, struct.pack("<IBI", number, 0, 1) + bound)
            return self.result(self.packet())
        finally:
            self.connection._execute_command(COMMAND.COM_STMT_CLOSE, struct.pack("<I", number))

    def do(self, statement: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(statement)

    def texts(self, statement: str) -> list[bytes]:
        return [read_string(row) for row in self.rows(statement)[1]]

    def table(self, declared: str) -> None:
        type_ = COLUMNS[declared]
        if self.mariadb and type_.startswith(("text", "varchar")):
            type_ += STORES_AS_IT_IS + "utf8mb4_nopad_bin"
        elif type_.startswith(("text", "varchar")):
            type_ += STORES_AS_IT_IS + "utf8mb4_0900_bin"
        elif declared == "uuid" and self.mariadb:
            type_ = "uuid"
        elif type_.startswith("char"):
            type_ += STORES_AS_IT_IS + "utf8mb4_bin"
        self.do("DROP TABLE IF EXISTS given")
        self.do(f"CREATE TABLE given (v {type_})")

    def literal(self, text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def read_string(row: bytes) -> bytes:
    widths = {0xFC: 2, 0xFD: 3, 0xFE: 8}
    width = widths.get(row[0], 0)
    return row[1 + width :]


def definition(packet: bytes) -> list[int]:
    """Type, character set, length, flags, digits behind the point."""
    at = 0
    for _ in range(6):
        at += 1 + packet[at]
    charset, length, code, flags, decimals = struct.unpack_from("<HIBHB", packet, at + 1)
    return [code, charset, length, flags, decimals]


def columns(session: Session) -> list[list]:
    rows = []
    for declared, type_ in COLUMNS.items():
        session.do("DROP TABLE IF EXISTS given")
        session.do(f"CREATE TABLE given (v {type_})")
        rows.append([declared, session.rows("SELECT v FROM given")[0][0]])
    return rows


def stored(session: Session) -> list[str | None]:
    """What stands there, in text and as a binary row's value."""
    text = session.texts("SELECT v FROM given")[0]
    binary = session.execute("SELECT v FROM given")[1][0][2:]
    return [text.hex(), binary.hex()]


def asked(session: Session, write: Callable[[], object]) -> list[str | None]:
    try:
        session.do("DELETE FROM given")
        write()
    except pymysql.MySQLError:
        return [None, None]
    return stored(session)


def not_of_mode(declared: str, temporal: bool) -> bool:
    """What a mode that is of fractions of seconds alone does nothing to."""
    return temporal and not declared.startswith(("date", "time"))


def literals(session: Session, temporal: bool) -> list[list]:
    """`[declared, literal, text, binary]`; null twice where the server refuses."""
    rows = []
    for declared, inputs in LITERALS.items():
        if not_of_mode(declared, temporal) or (declared == "uuid" and not session.mariadb):
            continue
        session.table(declared)
        alphabet = next(letters for name, letters in ALPHABETS.items() if declared.startswith(name))
        for text in variants(inputs, alphabet, 60):
            rows.append([declared, text, *asked(session, lambda text=text: session.do(f"INSERT INTO given VALUES ({session.literal(text)})"))])
    return rows


def parameters(session: Session, temporal: bool) -> list[list]:
    """`[declared, type, unsigned, value, text, binary]`; null twice where the server refuses."""
    rows = []
    for declared in COLUMNS:
        if declared in {"tinytext", "mediumtext", "longtext", "double", "jsonb", "datetime", "tinyblob", "mediumblob", "longblob"}:
            continue
        if not_of_mode(declared, temporal) or (declared == "uuid" and not session.mariadb):
            continue
        session.table(declared)
        for code, unsigned, value in PARAMETERS:
            answer = asked(session, lambda given=(code, unsigned, value): session.execute("INSERT INTO given VALUES (?)", given))
            rows.append([declared, code, unsigned, value.hex(), *answer])
    return rows


def searches(session: Session) -> list[list]:
    """`[declared, stored, type or null for a literal, unsigned, value, found]`: of what is stored, what equals."""
    rows = []
    for declared, values in STORED.items():
        session.table(declared)
        session.do("INSERT INTO given VALUES " + ",".join(f"({session.literal(value)})" for value in values))
        order = "SELECT HEX(CAST(v AS BINARY)) FROM given"
        everything = unhexed(session.texts(order))
        for sought in [*SOUGHT, *PARAMETERS]:
            try:
                found = looked_for(session, order, sought)
            except pymysql.MySQLError:
                continue
            code, unsigned, value = (None, False, sought.encode()) if isinstance(sought, str) else sought
            rows.append([declared, everything, code, unsigned, value.hex(), found])
    return rows


def looked_for(session: Session, order: str, sought: str | tuple[int, bool, bytes]) -> list[str]:
    if isinstance(sought, str):
        return unhexed(session.texts(f"{order} WHERE v = {session.literal(sought)}"))
    return unhexed([read_string(row[2:]) for row in session.execute(f"{order} WHERE v = ?", sought)[1]])


def unhexed(texts: list[bytes]) -> list[str]:
    return [bytes.fromhex(text.decode()).decode() for text in texts]


def doubles(session: Session) -> list[list[str]]:
    """Numbers as the server prints them, by their bits."""
    session.table("float8")
    rows = []
    for text in dict.fromkeys(variants(FLOATS, "0123456789.e-", 300)):
        answer = asked(session, lambda text=text: session.do(f"INSERT INTO given VALUES ({session.literal(text)})"))
        if answer[0] is not None:
            rows.append([bytes.fromhex(answer[1]).hex(), bytes.fromhex(answer[0]).decode()])
    return rows


def main() -> None:
    session = Session(sys.argv[1], sys.argv[2])
    session.do(f"DROP DATABASE IF EXISTS {DATABASE}")
    session.do(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
    session.connection.select_db(DATABASE)
    told = {"version": session.connection.server_version, "columns": columns(session)}
    other = "TIME_ROUND_FRACTIONAL" if session.mariadb else "TIME_TRUNCATE_FRACTIONAL"
    for name, mode in (("plain", STRICT), ("fractions", f"{STRICT},{other}")):
        session.do(f"SET sql_mode = '{mode}'")
        told[name] = {"sql_mode": mode, "literals": literals(session, name == "fractions"), "parameters": parameters(session, name == "fractions")}
    told["searches"] = searches(session)
    told["doubles"] = doubles(session)
    session.do(f"DROP DATABASE {DATABASE}")
    lines = ",\n".join(f"{json.dumps(key)}: {lined(value)}" for key, value in told.items())
    print("{\n" + lines + "\n}")


def lined(value: object) -> str:
    """A case a line."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(row) for row in value) + "\n]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {lined(part)}" for key, part in value.items()) + "}"
    return json.dumps(value)


if __name__ == "__main__":
    main()
