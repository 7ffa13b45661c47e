"""The demo's web shop: an ordinary JSON API that keeps its customers in PostgreSQL, and knows nothing of sealing.

Run it as a program: it serves HTTP/1.1 on a Unix socket until it is terminated.
"""

import argparse
import json
import signal
import socketserver
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
from psycopg.rows import dict_row

COLUMNS = ("id", "name", "email", "ssn", "phone", "card", "notes")
SELECT = f"SELECT {', '.join(COLUMNS)} FROM customer"
INSERT = f"INSERT INTO customer ({', '.join(COLUMNS)}) VALUES ({', '.join(f'%({name})s' for name in COLUMNS)})"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # What the program was started with.
    dsn: str

    def do_POST(self) -> None:
        customer = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with psycopg.connect(self.dsn) as database:
            database.execute(INSERT, {name: customer.get(name) for name in COLUMNS})
        self._answer(201, {"id": customer["id"]})

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        with psycopg.connect(self.dsn, row_factory=dict_row) as database:
            if url.path == "/customers":
                wanted = parse_qs(url.query)["ssn"]
                return self._answer(200, database.execute(f"{SELECT} WHERE ssn = ANY(%s)", [wanted]).fetchall())
            found = database.execute(f"{SELECT} WHERE id = %s", [url.path.rpartition("/")[2]]).fetchone()
        return self._answer(200, found) if found else self._answer(404, {"error": "no such customer"})

    def _answer(self, status: int, body: object) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def address_string(self) -> str:
        # A Unix socket has no address of its peer.
        return "sidecar"


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--socket", type=Path, required=True, help="where to listen")
    parser.add_argument("--database", required=True, help="a libpq connection string")
    arguments = parser.parse_args()
    Handler.dsn = arguments.database
    # SystemExit leaves serve_forever, which a shutdown from this very thread could not.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Server(str(arguments.socket), Handler) as server:
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
