"""TLS of MySQL's protocol begins within it, so the sidecar offers none: what works in its place, and what is told."""

from collections.abc import Iterator
from pathlib import Path

import mysql.connector
import pymysql
import pytest

from harness.certificates import SERVER_NAME
from harness.envoy import LOOPBACK, Upstream, UpstreamTls
from harness.mysql_stack import MySqlOptions, MySqlStack
from harness.tls_end import TlsEnd
from tests.mysql.asking import ask, change
from tests.mysql.test_connecting import connector
from tests.rows import ADA, INSERT

# MariaDB's word for it; MySQL has 3159.
ACCESS_DENIED = 1045


@pytest.fixture(scope="module")
def offering() -> Iterator[MySqlStack]:
    """The server takes TLS within the protocol, and on loopback nothing else."""
    options = MySqlOptions(tls=True, tcp=True, relay=False, settings={"require-secure-transport": "OFF"})
    with MySqlStack(options).start() as stack:
        yield stack


def test_a_client_that_may_do_without_tls_is_not_offered_any(offering: MySqlStack) -> None:
    assert offering.stored("SELECT @@have_ssl") == [("YES",)]
    with offering.connect("app", tcp=True) as app:
        assert ask(app, "SHOW STATUS LIKE 'Ssl_cipher'") == [("Ssl_cipher", "")]
        change(app, INSERT, ADA)
        assert ask(app, "SELECT ssn FROM customer") == [(ADA[3],)]


def test_a_client_that_insists_on_tls_is_told_by_its_driver(offering: MySqlStack) -> None:
    with pytest.raises(mysql.connector.Error, match="SSL"):
        connector(offering, ssl_disabled=False, ssl_ca=str(offering.certificates.ca), ssl_verify_cert=True)


def test_a_server_that_insists_on_tls_says_so_through_the_sidecar(offering: MySqlStack) -> None:
    offering.stored("SET GLOBAL require_secure_transport = ON")
    try:
        with pytest.raises(pymysql.OperationalError) as refused:
            offering.connect("app", tcp=True)
    finally:
        offering.stored("SET GLOBAL require_secure_transport = OFF")
    assert refused.value.args[0] == ACCESS_DENIED


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "unknown authority"])
def test_tls_that_ends_before_the_server_carries_the_session(trusted: bool) -> None:
    ends: list[TlsEnd] = []

    def upstream(stack: MySqlStack) -> Upstream:
        ends.append(TlsEnd(stack.certificates, Path(stack.server.socket)))
        authority = stack.certificates.ca if trusted else stack.certificates.unknown_ca
        return Upstream(address=LOOPBACK, port=ends[0].port, tls=UpstreamTls(authority, SERVER_NAME))

    with MySqlStack(MySqlOptions(upstream=upstream)).start() as stack:
        if not trusted:
            with pytest.raises(pymysql.OperationalError):
                stack.connect("app")
            assert ends[0].accepted == 0
        else:
            with stack.connect("app") as app:
                change(app, INSERT, ADA)
                assert ask(app, "SELECT ssn FROM customer") == [(ADA[3],)]
            assert stack.stored("SELECT LEFT(ssn, 4) FROM customer") == [("fv1.",)]
            assert ends[0].accepted == 1
        ends[0].stop()
