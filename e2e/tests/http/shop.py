"""The shop's API as policy knows it: labels, routes that have them, who sees what; and a table of the same labels."""

import json
from pathlib import Path

SERVICE = "market-api"
# Another one, whose every route is named.
STRICT = "strict-api"
# Of the PostgreSQL server, in the example's database.
TABLE = "client"

SSN, EMAIL, CARD, NOTES, PHONE = (
    "078-05-1120",
    "ada@example.com",
    "4111 1111 1111 1111",
    "prefers letters",
    "0301234567",
)
FIELDS = {"ssn": SSN, "email": EMAIL, "card": CARD, "notes": NOTES}
MASKED = {"ssn": "***-**-1120", "email": "a***@e***.com", "card": "**** **** **** 1111", "notes": None}
# As a text, so that white space, order and digits are the test's.
ADA = (
    f'{{"id" : 1,"name": "Ada",\n\t"ssn":"{SSN}", "email":"{EMAIL}",  "card":"{CARD}","notes": "{NOTES}",'
    ' "balance":1.00000000000000000001, "tags":[ ]}'
)

PII = {"keyset": "pii"}
LABELS = {
    "api.ssn": {"protection": "deterministic", "type": "text", **PII},
    "api.email": {"protection": "randomized", "type": "text", **PII},
    "api.card": {"protection": "randomized", "type": "text", "keyset": "payments"},
    "api.notes": {"protection": "randomized", "type": "text", **PII},
    "api.phone": {"protection": "format_preserving", "alphabet": "digits", "type": "varchar(11)", **PII},
    "api.id": {"protection": "deterministic", "type": "int8", **PII},
}
# A label each, `typed.<name>`: the declared type, and values of it in JSON, each as its canonical text.
TYPED = {
    "text": ("text", ['"plain"', '""', '"quote \\" and \\\\ and \\u0001"', '"中文 😀"']),
    "int8": ("int8", ["9007199254740993", "-9223372036854775808", "0"]),
    "numeric": ("numeric(38,20)", ["123456789012345678.12345678901234567890", "-0.00000000000000000001"]),
    "digits": ("numeric", ["1.50", "100000000000000000000", "0.000000000000000000001"]),
    "float8": ("float8", ["0.1", "-1.5"]),
    "bool": ("bool", ["true", "false"]),
    "date": ("date", ['"1815-12-10"']),
    "uuid": ("uuid", ['"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"']),
    "timestamptz": ("timestamptz", ['"2026-01-09 12:00:00+00"']),
    "json": ("json", ['{"b" : [1.0, 2.50], "a":null,"a": {}}', "[]", '"text"', "1.00", "false"]),
    "documents": ("jsonb", ['{"a": [1, 2.50], "bb": null}', "[]", "1.00"]),
    "texts": ("text[]", ['["a","b,c","quote \\"",null]', "[]"]),
    "numbers": ("int4[]", ["[1,2,-3]"]),
}


def _below(prefix: str, *names: str) -> dict[str, str]:
    return {f"{prefix}{name}": f"api.{name}" for name in names}


# By the name of the type: `$.values[*]` of that member.
TYPES = {f"$.{name}[*]": f"typed.{name}" for name in TYPED}
ONE = _below("$.", *FIELDS)
MANY = _below("$[*].", *FIELDS)
ANYWHERE = _below("$..", "ssn", "card", "phone")
VARIABLES = {**_below("$.variables.input.", "ssn", "card"), "$.variables.ssn": "api.ssn"}
DATA = {**_below("$.data.createCustomer.", "ssn", "card"), **_below("$.data.customers[*].", "ssn", "card")}
ROUTES = [
    {"path": "/customers", "methods": ["POST"], "request": ONE, "response": ONE},
    {
        "path": "/customers",
        "methods": ["GET"],
        "query": {"ssn": "api.ssn", "id": "api.id"},
        "headers": {"x-ssn": "api.ssn"},
        "response": MANY,
    },
    {"path": "/customers/{id}", "request": ONE, "response": ONE},
    {"path": "/people/{ssn}", "segments": {"ssn": "api.ssn"}, "response": ONE},
    # What is named here comes back as it came there: sealed, then opened.
    {"path": "/echo/sealed/**", "request": ANYWHERE, "response": ANYWHERE},
    {"path": "/echo/requests/**", "request": ANYWHERE},
    {"path": "/echo/responses/**", "response": ANYWHERE},
    {"path": "/echo/typed", "request": TYPES, "response": TYPES},
    {"path": "/typed/{name}", "response": TYPES},
    {"path": "/documents/{name}", "request": ANYWHERE, "response": ANYWHERE},
    {"path": "/told/**", "response": ANYWHERE},
    {"path": "/count", "request": ANYWHERE},
    {"path": "/graphql", "graphql": True, "request": VARIABLES, "response": DATA},
    {"path": "/socket/sealed", "request": ANYWHERE},
]

REVEAL = {"treatment": "reveal"}
LAST4 = {"treatment": "mask", "format": "last4"}
NULL = {"treatment": "null"}
REFUSE = {"treatment": "refuse"}
SPENT_AFTER = 3


def _role(*roles: str) -> dict:
    return {"claims": {"roles": list(roles)}}


def _rule(name: str, who: dict, labels: list[str], **what: object) -> dict:
    return {"name": name, "who": who, "labels": labels, **what}


RULES = [
    _rule("the application", _role("app"), ["api.*", "typed.*"], read=REVEAL, write="seal"),
    _rule("billing, as the gateway says", {"headers": {"x-team": ["billing"]}}, ["api.*"], read=REVEAL),
    _rule("support recognises a customer", _role("support"), ["api.ssn", "api.card", "api.phone"], read=LAST4),
    _rule("by the mail address", _role("support"), ["api.email"], read={"treatment": "mask", "format": "email"}),
    _rule("and sees no notes", _role("support"), ["api.notes"], read=NULL),
    _rule("interns do not touch numbers", _role("intern"), ["api.ssn"], read=REFUSE, write="refuse"),
    # One who writes and can not read.
    _rule("the form", _role("form"), ["api.*"], write="seal"),
    _rule("the desk looks up", {**_role("desk"), "request": {"route": ["/people/{ssn}"]}}, ["api.*"], read=REVEAL),
    _rule("readers only read", {**_role("reader"), "request": {"method": ["GET"]}}, ["api.*"], read=REVEAL),
    _rule(
        "clerks refund",
        {"session": {"user": ["clerk"], "purpose": ["refund"], "database": [STRICT]}},
        ["api.card"],
        read=REVEAL,
        write="seal",
    ),
    _rule(
        "a few at a time",
        _role("limited"),
        ["api.*"],
        read={"treatment": "reveal", "budget": {"rows": SPENT_AFTER, "per_seconds": 3600, "then": REFUSE}},
    ),
]  # fmt: skip


def write_policies(folder: Path) -> None:
    """Catalog and rules of the service, and of a table with the same labels."""
    typed = {
        f"typed.{name}": {"protection": "randomized", "type": declared, **PII} for name, (declared, _) in TYPED.items()
    }
    catalog = {
        "labels": {**LABELS, **typed},
        "services": [
            {"protocol": "http", "service": SERVICE, "routes": ROUTES},
            {
                "protocol": "http",
                "service": STRICT,
                "unmatched": "refuse",
                "paths": {"$..card": "api.card"},
                "routes": [{"path": "/echo/health"}],
            },
        ],
        "databases": [
            {
                "protocol": "postgres",
                "database": "shop",
                "columns": {
                    f"public.{TABLE}": {
                        **{name: f"api.{name}" for name in (*FIELDS, "phone")},
                        **{f"t_{name}": f"typed.{name}" for name in TYPED},
                    }
                },
            }
        ],
    }
    users = _rule(
        "the database's users", {"session": {"user": ["app", "billing"]}}, ["api.*", "typed.*"],
        read=REVEAL, write="seal",
    )  # fmt: skip
    for kind, data in (("catalog", catalog), ("rules", {"rules": [*RULES, users]})):
        path = folder / kind / "api" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))


CREATE_TABLE = (
    f"CREATE TABLE {TABLE} (id bigint PRIMARY KEY, name text, "
    + ", ".join(f"{name} text" for name in (*FIELDS, *(f"t_{name}" for name in TYPED)))
    + ", phone varchar(11))"
)
