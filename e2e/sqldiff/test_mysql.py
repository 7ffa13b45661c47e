"""MySQL and MariaDB store what the analysis would have sealed, in every mode that has a say in quotes and escapes."""

import pytest

from harness import mysql_builds
from harness.mysqld import MySqld
from harness.workdir import WorkDir
from sqldiff import mysql, mysql_bytes

TEXTS = 6000
# So many are accepted by both that the comparison says something.
FEWEST = 300


@pytest.fixture(scope="module", params=mysql_builds.EVERY, ids=lambda build: build.name)
def server(request):
    if not request.param.is_there:
        pytest.skip("not set up here")
    work = WorkDir()
    server = MySqld(work, {"general-log": "OFF"}, build=request.param)
    try:
        server.start()
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE shop")
            cursor.execute("USE shop")
            cursor.execute(mysql.TABLE)
        yield server
    finally:
        server.stop()
        work.remove()


@pytest.mark.parametrize("mode", mysql.MODES, ids=lambda mode: mode.sql_mode or "plain")
def test_what_would_be_sealed_is_what_the_server_stores(server, mode):
    agreed, wrong = mysql.disagreements(server, mode, mysql.texts(TEXTS))
    assert wrong == []
    assert agreed >= FEWEST


def test_a_text_that_is_read_in_another_mode_is_noticed(server):
    # With ANSI_QUOTES in place of it, what is misread is refused.
    for other in [mode for mode in mysql.MODES if mode.no_backslash_escapes]:
        _, wrong = mysql.disagreements(server, mysql.MODES[0], mysql.texts(TEXTS), other)
        assert wrong != []


@pytest.mark.parametrize("mode", mysql.MODES, ids=lambda mode: mode.sql_mode or "plain")
def test_bytes_mean_the_same_to_the_server_as_hexadecimal_digits(server, mode):
    agreed, wrong = mysql_bytes.disagreements(server, mode, mysql_bytes.texts(TEXTS // 2, mode))
    assert wrong == []
    assert agreed >= FEWEST
