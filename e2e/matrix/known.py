"""What is known not to work, and why: `clients/known.json`. Everything that is not in it has to work."""

import json
from dataclasses import dataclass

from matrix.clients import CLIENTS, FOLDER, MYSQL_CLIENTS, STEPS

FILE = FOLDER / "known.json"


@dataclass(frozen=True)
class Known:
    # A note's name to its text, in the order of the footnotes.
    notes: dict[str, str]
    # Client to step to `code`, the SQLSTATE that the client sees, and `note`.
    clients: dict[str, dict[str, dict[str, str]]]

    def of(self, client: str) -> dict[str, dict[str, str]]:
        return self.clients.get(client, {})


def load() -> Known:
    read = json.loads(FILE.read_text())
    known = Known(read["notes"], read["clients"])
    names = {client.name for client in (*CLIENTS, *MYSQL_CLIENTS)}
    for client, steps in known.clients.items():
        if client not in names:
            raise ValueError(f"{FILE.name}: no client is called {client}")
        for step, what in steps.items():
            if step not in STEPS or what["note"] not in known.notes:
                raise ValueError(f"{FILE.name}: {client}, {step}: no such step or note")
    return known
