"""FunctionCall: large objects, as drivers use them, and what the filter knows of the server's own functions."""

import re
import struct

import pytest

from dev.layout import ROOT
from harness import Stack
from tests import wire

SOURCE = ROOT / "filters" / "engine" / "src" / "postgres" / "function_call.rs"
LARGE_OBJECT = 424_242
LO_CREATE, LO_OPEN, LOWRITE, LO_LSEEK, LOREAD, LO_CLOSE, LO_UNLINK = 715, 952, 955, 956, 954, 953, 964
INV_READ_AND_WRITE = 0x60000
QUERY_TO_XML, SET_CONFIG = 2924, 2078


def call(function: int, *arguments: bytes) -> bytes:
    """A FunctionCall with arguments in binary, whose result is to come in binary."""
    values = b"".join(struct.pack("!i", len(argument)) + argument for argument in arguments)
    return wire.message(b"F", struct.pack("!ihhh", function, 1, 1, len(arguments)) + values + struct.pack("!h", 1))


def number(value: int) -> bytes:
    return struct.pack("!i", value)


# The first descriptor of a transaction is 0.
WRITTEN_AND_READ = [
    wire.message(b"Q", b"BEGIN\0"),
    call(LO_CREATE, number(LARGE_OBJECT)),
    call(LO_OPEN, number(LARGE_OBJECT), number(INV_READ_AND_WRITE)),
    call(LOWRITE, number(0), b"a picture"),
    call(LO_LSEEK, number(0), number(2), number(0)),
    call(LOREAD, number(0), number(100)),
    call(LO_CLOSE, number(0)),
    call(LO_UNLINK, number(LARGE_OBJECT)),
    wire.message(b"Q", b"COMMIT\0"),
]


def answers(connect, calls: list[bytes]) -> list[bytes]:
    """All that the server says to them, but for what it says when they are over."""
    with connect("app") as driver:
        raw = wire.of_session(driver)
        raw.sendall(b"".join(calls) + wire.message(b"X"))
        said = list(wire.messages(wire.read_to_end(raw)))
        raw.close()
    return said


def test_large_objects_are_as_without_the_sidecar(shop: Stack) -> None:
    through, direct = (answers(connect, WRITTEN_AND_READ) for connect in (shop.connect, shop.direct))
    assert through == direct
    assert wire.message(b"V", number(len(b"picture")) + b"picture") in through


MAY_READ = {QUERY_TO_XML: "query_to_xml(text,boolean,boolean,text)", SET_CONFIG: "set_config(text,text,boolean)"}


@pytest.mark.parametrize("encoding", ["UTF8", "LATIN1"])
@pytest.mark.parametrize("function", MAY_READ)
def test_function_that_may_read_a_table_is_refused_by_its_name(shop: Stack, function: int, encoding: str) -> None:
    calls = [f"SET client_encoding = {encoding}", "BEGIN", "SELECT 1", "ROLLBACK", "SELECT 2"]
    set_encoding, begin, *others = (wire.message(b"Q", text.encode() + b"\0") for text in calls)
    refused = call(function, b"SELECT ssn FROM customer")
    said = answers(shop.connect, [set_encoding, refused, begin, refused, *others])
    first, second, failed = (wire.errors(message)[0] for message in said if message[:1] == b"E")
    assert (first["C"], second["C"], failed["C"]) == ("0A000", "0A000", "25P02")
    assert f" calls {MAY_READ[function]}, which may read a protected table" in first["M"]
    assert first["M"] == second["M"]
    assert b"".join(message[:1] for message in said if message[:1] != b"S") == b"CZEZCZEZEZCZTDCZ"


@pytest.mark.parametrize("function", MAY_READ)
def test_function_is_refused_again_where_an_error_took_the_question_for_its_name(shop: Stack, function: int) -> None:
    refused = call(function, b"SELECT ssn FROM customer")
    no_sql = wire.message(b"P", b"\0nothing\0\0\0")
    said = answers(shop.connect, [no_sql, refused, wire.message(b"S"), refused, refused])
    codes = [wire.errors(message)[0]["C"] for message in said if message[:1] == b"E"]
    assert codes == ["42601", "0A000", "0A000"]
    assert b"".join(message[:1] for message in said) == b"EZEZEZ"


@pytest.mark.parametrize("before", [(), ("BEGIN",), ("BEGIN", "SELECT 1/0")])
def test_function_that_does_not_exist_is_the_servers_to_refuse(shop: Stack, before: tuple[str, ...]) -> None:
    calls = [*(wire.message(b"Q", text.encode() + b"\0") for text in before), call(999_999)]
    through, direct = (answers(connect, calls) for connect in (shop.connect, shop.direct))
    assert through == direct
    assert b"E" in b"".join(message[:1] for message in through)


@pytest.mark.parametrize("function", MAY_READ)
def test_function_call_in_a_failed_transaction_is_answered_as_by_the_server(shop: Stack, function: int) -> None:
    calls = [wire.message(b"Q", b"BEGIN; SELECT 1/0\0"), call(function, b"SELECT ssn FROM customer")]
    through, direct = (answers(connect, calls) for connect in (shop.connect, shop.direct))
    assert through == direct


def rows(name: str) -> set[int]:
    """The functions in a list of rows, each with its first and its last number."""
    listed = re.search(rf"{name}: &\[u32\] = &\[([^\]]*)\]", SOURCE.read_text()).group(1)
    bounds = [int(word) for word in re.findall(r"\d+", listed)]
    return {number for first, last in zip(bounds[::2], bounds[1::2], strict=True) for number in range(first, last + 1)}


def test_functions_that_read_no_table_are_those_that_the_server_calls_immutable(shop: Stack) -> None:
    with shop.direct() as direct:
        functions = direct.execute(
            "SELECT oid, provolatile = 'i' FROM pg_proc WHERE oid < 16384 AND prokind = 'f' AND pronamespace = 11"
        ).fetchall()
    own = {function for function, _ in functions}
    immutable = {function for function, is_immutable in functions if is_immutable}
    assert rows("IMMUTABLE") & own <= immutable
    assert len(rows("IMMUTABLE") & own) > 2000


def test_functions_of_the_session_take_no_name_and_no_text_that_could_be_a_query(shop: Stack) -> None:
    numbers = ["int4", "int8", "float8", "numeric", "interval"]
    with shop.direct() as direct:
        named = direct.execute(
            """SELECT oid, proname FROM pg_proc WHERE oid = ANY (%s) AND oid < 16384 AND NOT proretset AND NOT EXISTS
            (SELECT FROM unnest(proargtypes) type WHERE type <> ALL (%s::regtype[]::oid[]))""",
            [list(rows("OF_THE_SESSION")), numbers],
        ).fetchall()
    assert {function for function, _ in named} == rows("OF_THE_SESSION")
    assert {"now", "random", "pg_advisory_lock", "gen_random_uuid", "current_user"} <= {name for _, name in named}


@pytest.mark.parametrize("function", ["current_user", "pg_sleep"])
def test_function_of_the_session_is_called(shop: Stack, function: str) -> None:
    with shop.direct() as direct:
        number_of = direct.execute("SELECT oid FROM pg_proc WHERE proname = %s", [function]).fetchone()[0]
    calls = [call(number_of, *([struct.pack("!d", 0.0)] if function == "pg_sleep" else []))]
    through, direct = (answers(connect, calls) for connect in (shop.connect, shop.direct))
    assert through == direct
    assert through[0][:1] == b"V"
