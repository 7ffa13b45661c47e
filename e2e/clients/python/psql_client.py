"""psql, as people and scripts use it: one run a step, the statements on its standard input.

The argument is the version that it has to be; `PSQL` names the program.
"""

import os
import re
import subprocess
import sys
import uuid

from steps import BATCH, COPIED, NEW_BALANCE, NEW_EMAIL, PREPARED, REFUSED, ROW, USER, Absent, expect, run

LIMIT_SECONDS = 60
# Columns in an order of our own: name, what is sent, what is shown.
SHOWN = {
    "id": "1",
    "name": ROW["name"],
    "ssn": ROW["ssn"],
    "ref": str(ROW["ref"]),
    "email": ROW["email"],
    "born": "1980-05-17",
    "balance": "1234.50",
    "visits": "42",
    "score": "0.1",
    "active": "t",
    "seen": "2024-02-29 10:00:00.5+00",
    "made": "1999-12-31 23:59:59.123",
    "extra": '{"a": [1, 2.5], "b": "x"}',
    "photo": "\\x00ff10",
}


class Failed(Exception):
    """psql ended with an error."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        found = re.search(r"(?:ERROR|FATAL):\s+([0-9A-Z]{5}):", text)
        self.sqlstate = found and found[1]


def psql(script: str, *words: str) -> str:
    """What psql shows for these statements, without headings."""
    command = [os.environ["PSQL"], "-XqAt", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", *words, "-f", "-"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    return done.stdout


def quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def connect(_: object) -> None:
    expect("psql", psql("\\echo :VERSION_NAME\n").split()[0], sys.argv[1])
    expect("current_user", psql("SELECT current_user;\n"), f"{USER}\n")


def write(_: object) -> None:
    columns = ", ".join(SHOWN)
    other = {"id": "10", "ssn": "ssn-10", "ref": str(uuid.UUID(int=10))}
    numbers = ", ".join(f"${number}" for number in range(1, len(SHOWN) + 1))
    values = " ".join(quoted(value) for value in {**SHOWN, **other}.values())
    psql(f"INSERT INTO person ({columns}) VALUES ({numbers}) \\bind {values} \\g\n")


def read(_: object) -> None:
    expect("row", psql(f"SELECT {', '.join(SHOWN)} FROM person WHERE id = 1;\n"), "|".join(SHOWN.values()) + "\n")


def search(_: object) -> None:
    for name in ("ssn", "ref"):
        expect(f"found by {name}", psql(f"SELECT id FROM person WHERE {name} = '{ROW[name]}';\n"), "1\n")
    expect("found by another", psql("SELECT id FROM person WHERE ssn = 'no';\n"), "")


def update(_: object) -> None:
    text = f"UPDATE person SET email = '{NEW_EMAIL}', balance = {NEW_BALANCE} WHERE ssn = 'ssn-2'"
    shown = psql(f"INSERT INTO person (id, ssn) VALUES (2, 'ssn-2');\n{text} RETURNING id, email, balance;\n")
    expect("returned", shown, f"2|{NEW_EMAIL}|{NEW_BALANCE}\n")


def upsert(_: object) -> None:
    for email in ("one@example.com", "two@example.com"):
        text = f"INSERT INTO person (id, ssn, email) VALUES (3, 'ssn-3', '{email}')"
        shown = psql(f"{text} ON CONFLICT (id) DO UPDATE SET email = EXCLUDED.email RETURNING email;\n")
        expect("returned", shown, f"{email}\n")
    expect("email", psql("SELECT email FROM person WHERE id = 3;\n"), "two@example.com\n")


def batch(_: object) -> None:
    inserts = "".join(
        f"INSERT INTO person (id, ssn) VALUES ($1, $2) \\bind {number} ssn-{number} \\sendpipeline\n"
        for number in BATCH
    )
    psql(f"\\startpipeline\n{inserts}\\endpipeline\n")
    shown = psql("SELECT id, ssn FROM person WHERE id BETWEEN 100 AND 119 ORDER BY id;\n")
    expect("rows", shown, "".join(f"{number}|ssn-{number}\n" for number in BATCH))


def prepared(_: object) -> None:
    script = (
        "INSERT INTO person (id, ssn) VALUES ($1, $2) \\parse put\nSELECT ssn FROM person WHERE id = $1 \\parse get\n"
    )
    script += "".join(f"\\bind_named put {number} ssn-{number} \\g\n" for number in PREPARED)
    script += "".join(f"\\bind_named get {number} \\g\n" for number in PREPARED)
    expect("rows", psql(script), "".join(f"ssn-{number}\n" for number in PREPARED))


def binary(_: object) -> None:
    raise Absent("psql sends and shows text")


def transaction(_: object) -> None:
    script = "BEGIN;\nINSERT INTO person (id, ssn) VALUES ({0}, 'ssn-{0}');\nSELECT ssn FROM person WHERE id = {0};\n"
    last = "SELECT ssn FROM person WHERE id = {0};\n"
    shown = psql(script.format(400) + "ROLLBACK;\n" + last.format(400))
    expect("before the rollback, and after", shown, "ssn-400\n")
    shown = psql(script.format(401) + "COMMIT;\n" + last.format(401))
    expect("before the commit, and after", shown, "ssn-401\nssn-401\n")


def null(_: object) -> None:
    psql("INSERT INTO person (id, ssn, email, born) VALUES (500, NULL, '', NULL);\n")
    shown = psql("SELECT ssn, email, born FROM person WHERE id = 500;\n", "-P", "null=(null)")
    expect("NULL, empty, NULL", shown, "(null)||(null)\n")


def refusal(_: object) -> None:
    script = "SELECT id FROM person ORDER BY ssn;\n\\echo :SQLSTATE\nSELECT ssn FROM person WHERE id = 1;\n"
    expect("SQLSTATE, and what follows", psql(script, "-v", "ON_ERROR_STOP=0"), f"{REFUSED}\n{ROW['ssn']}\n")


def copy_in(_: object) -> None:
    script = "COPY person (id, name, email, ssn, born) FROM STDIN;\n"
    for number, name, email, ssn, born in COPIED:
        escaped = [text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n") for text in (name, email)]
        script += "\t".join([str(number), *escaped, ssn, born.isoformat() if born else "\\N"]) + "\n"
    psql(script + "\\.\n")
    text = "SELECT id, name, email, ssn, born FROM person WHERE id BETWEEN 600 AND 602 ORDER BY id;\n"
    wanted = [[str(value) if value is not None else "(null)" for value in row] for row in COPIED]
    shown = psql(text, "-P", "null=(null)", "-F", "\x1f", "-R", "\x1e")
    expect("copied", [row.split("\x1f") for row in shown.removesuffix("\n").split("\x1e")], wanted)


def copy_out(_: object) -> None:
    shown = psql("COPY person (id, ssn, born) TO STDOUT;\n").splitlines()
    expect("copied", [line for line in shown if line.startswith("1\t")], [f"1\t{ROW['ssn']}\t1980-05-17"])


if __name__ == "__main__":
    run("psql", globals(), object, lambda _: None, lambda error: getattr(error, "sqlstate", None))
