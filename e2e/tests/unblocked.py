"""libpq without its blocking calls: those hold the interpreter's lock, which the relay's threads need to go on."""

import select
from collections.abc import Iterator

from psycopg import pq

from harness.polling import ready
from tests import wire


def wait(server: pq.PGconn) -> None:
    """Until there are more bytes from the server."""
    assert ready(server.socket, select.POLLIN, wire.timeout()), "the server is silent"
    server.consume_input()


def copied(server: pq.PGconn) -> Iterator[bytes]:
    """What the server streams, to its end."""
    while True:
        size, data = server.get_copy_data(1)
        if size < 0:
            return
        if size > 0:
            yield bytes(data)
        else:
            wait(server)


def results(server: pq.PGconn) -> Iterator[pq.PGresult]:
    """What the server answers to what was sent, to the end."""
    while True:
        while server.is_busy():
            wait(server)
        result = server.get_result()
        if result is None:
            return
        yield result
