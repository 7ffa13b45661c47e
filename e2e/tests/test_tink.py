"""Stock Tink, in Python and in Go, opens what the filter stored, and the filter opens what they sealed."""

import base64
import hashlib
import json
import subprocess

import pytest
import tink
from tink import aead, daead, secret_key_access

from harness import Stack, unixhttp
from tests.rows import ADA, COLUMNS, INSERT
from tools.layout import ENVELOPE_TOOL

# Column, keyset, protection.
FIELDS = [
    ("email", "pii", "deterministic"),
    ("ssn", "pii", "deterministic"),
    ("phone", "pii", "randomized"),
    ("card", "payments", "randomized"),
    ("notes", "pii", "randomized"),
]

aead.register()
daead.register()


class PythonTink:
    """The envelope of `docs/envelope.md`, written down a second time."""

    def __init__(self, stack: Stack) -> None:
        body = unixhttp.request(stack.agent.socket, "GET", "/v1/keysets")[2]
        self._keysets = json.loads(body)["keysets"]

    def open(self, column: str, keyset: str, protection: str, stored: str) -> bytes:
        raw = base64.urlsafe_b64decode(stored.removeprefix("fv1.") + "==")
        label = f"customer.{column}"
        assert raw[:6] == b"\xf7\x01" + self._tag(label)
        return self._primitive(keyset, protection)[1](raw[6:], self._associated(label))

    def seal(self, column: str, keyset: str, protection: str, plaintext: bytes) -> str:
        label = f"customer.{column}"
        sealed = self._primitive(keyset, protection)[0](plaintext, self._associated(label))
        raw = b"\xf7\x01" + self._tag(label) + sealed
        return "fv1." + base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def _primitive(self, keyset: str, protection: str) -> tuple:
        purpose = {"randomized": "aead", "deterministic": "deterministic"}[protection]
        text = json.dumps(self._keysets[keyset][purpose])
        handle = tink.json_proto_keyset_format.parse(text, secret_key_access.TOKEN)
        if protection == "randomized":
            primitive = handle.primitive(aead.Aead)
            return primitive.encrypt, primitive.decrypt
        primitive = handle.primitive(daead.DeterministicAead)
        return primitive.encrypt_deterministically, primitive.decrypt_deterministically

    @staticmethod
    def _tag(label: str) -> bytes:
        return hashlib.sha256(b"fieldveil label\0" + label.encode()).digest()[:4]

    @staticmethod
    def _associated(label: str) -> bytes:
        return b"fieldveil/v1\0" + label.encode() + b"\0"


class GoTink:
    """The project's Go tool, which knows Tink's Go library and no line of the filter."""

    def __init__(self, stack: Stack) -> None:
        self._agent = stack.agent

    def open(self, column: str, keyset: str, protection: str, stored: str) -> bytes:
        return self._run("open", column, keyset, stored.encode())

    def seal(self, column: str, keyset: str, protection: str, plaintext: bytes) -> str:
        return self._run("seal", column, keyset, plaintext, "--protection", protection).decode().strip()

    def _run(self, verb: str, column: str, keyset: str, given: bytes, *more: str) -> bytes:
        command = [
            ENVELOPE_TOOL, verb, "--keysets", self._agent.keysets, "--kek-uri", self._agent.kek_uri,
            "--keyset", keyset, "--label", f"customer.{column}", *more,
        ]  # fmt: skip
        return subprocess.run(command, input=given, check=True, capture_output=True).stdout


@pytest.fixture(params=[PythonTink, GoTink], ids=["python", "go"])
def other(request: pytest.FixtureRequest, shop: Stack):
    return request.param(shop)


@pytest.mark.parametrize(("column", "keyset", "protection"), FIELDS)
def test_stock_tink_opens_what_the_filter_stored(shop: Stack, other, column: str, keyset: str, protection: str) -> None:
    with shop.connect("app") as app:
        app.execute(INSERT, ADA)
    with shop.direct() as direct:
        stored = direct.execute(f"SELECT {column} FROM customer").fetchone()[0]
    assert other.open(column, keyset, protection, stored) == ADA[COLUMNS.index(column)].encode()


@pytest.mark.parametrize(("column", "keyset", "protection"), FIELDS)
def test_filter_opens_what_stock_tink_sealed(shop: Stack, other, column: str, keyset: str, protection: str) -> None:
    plaintext = "sealed élsewhere"
    with shop.direct() as direct:
        sealed = other.seal(column, keyset, protection, plaintext.encode())
        direct.execute(f"INSERT INTO customer (id, {column}) VALUES (1, %s)", [sealed])
    with shop.connect("app") as app:
        assert app.execute(f"SELECT {column} FROM customer").fetchone() == (plaintext,)
        if protection == "deterministic":
            found = app.execute(f"SELECT id FROM customer WHERE {column} = %s", [plaintext]).fetchone()
            assert found == (1,)
