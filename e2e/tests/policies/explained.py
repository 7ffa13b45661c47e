"""Policies that have every treatment, and texts that would do harm as markup; explained by the command."""

import subprocess
from pathlib import Path

from dev.layout import FIELDVEIL

EVIL = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title='taken'\">"

CATALOG = """
labels:
  customer.born: {protection: randomized, keyset: pii, type: date, mask: year}
  customer.card: {protection: randomized, keyset: payments, type: text}
  customer.email: {protection: indexed, keyset: pii, type: text}
  customer.notes: {protection: randomized, keyset: pii, type: text}
  customer.ssn: {protection: deterministic, keyset: pii, type: text}
databases:
  - protocol: postgres
    database: shop
    columns:
      public.customer: {born: customer.born, card: customer.card, email: customer.email, notes: customer.notes,
        ssn: customer.ssn}
services:
  - {protocol: http, service: orders-api, paths: {"$.customer.ssn": customer.ssn}}
"""

RULES = """
rules:
  - name: the application works with everything
    who: {session: {user: [app]}}
    labels: [customer.*]
    read: {treatment: reveal}
    write: seal
  - name: 'support checks the last four EVIL'
    who: {session: {user: [support]}}
    labels: [customer.ssn]
    read: {treatment: mask, format: last4}
  - name: support looks at few cards
    who: {session: {user: [support]}}
    labels: [customer.card]
    read: {treatment: reveal, budget: {rows: 500, per_seconds: 60, then: {treatment: mask, format: last4}}}
  - name: support does not see notes
    who: {session: {user: [support]}}
    labels: [customer.notes]
    read: {treatment: "null"}
  - name: analysts count by year and domain
    who: {session: {user: [analyst]}}
    labels: [customer.born]
    read: {treatment: mask}
  - name: analysts stay away from numbers
    who: {session: {user: [analyst]}}
    labels: [customer.ssn, customer.card]
    read: {treatment: refuse}
    write: refuse
""".replace("EVIL", EVIL.replace("'", "''"))


def write(folder: Path, **changes: str) -> Path:
    """The policies, with texts of the rules replaced."""
    rules = RULES
    for old, new in changes.items():
        assert old in rules
        rules = rules.replace(old, new)
    for name, text in (("catalog", CATALOG), ("rules", rules)):
        place = folder / name / "shop"
        place.mkdir(parents=True)
        (place / "data.yaml").write_text(text)
    return folder


def explain(page: Path, *words: str | Path, status: int = 0) -> Path:
    """The page that the command writes."""
    command = [FIELDVEIL, "policy", "explain", *words, "--output", "html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    page.write_text(done.stdout)
    return page
