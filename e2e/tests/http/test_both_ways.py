"""One label, two doors: what is sealed at the API is opened at the database, and the other way round."""

import json

import pytest
from psycopg import sql

from harness import shop as example
from tests.http import shop
from tests.http.api import SEALED, Api


def column(name: str, number: int) -> sql.Composed:
    query = sql.SQL("SELECT {} FROM {} WHERE id = {}")
    return query.format(sql.Identifier(name), sql.Identifier(shop.TABLE), sql.Literal(number))


def put(api: Api, number: int, **values: object) -> None:
    """Past the sidecar, as the service itself does that keeps its customers there."""
    names = sql.SQL(", ").join(map(sql.Identifier, values))
    rows = sql.SQL(", ").join(map(sql.Literal, values.values()))
    with api.database.direct() as direct:
        direct.execute(sql.SQL("INSERT INTO {} (id, {}) VALUES ({}, {})").format(
            sql.Identifier(shop.TABLE), names, sql.Literal(number), rows,
        ))  # fmt: skip


@pytest.fixture
def both(api: Api) -> Api:
    with api.database.direct() as direct:
        direct.execute(f"TRUNCATE {shop.TABLE}")
    return api


def test_what_the_api_sealed_the_database_opens_to_whom_policy_lets(both: Api) -> None:
    assert both.post("/customers", {"id": 40, **shop.FIELDS}).status == 201
    stored = both.service.customer(40)
    put(both, 1, **{name: stored[name] for name in shop.FIELDS})
    for name, value in shop.FIELDS.items():
        with both.database.connect("billing") as billing:
            assert billing.execute(column(name, 1)).fetchone() == (value,)
        with both.database.connect("auditor") as auditor:
            assert auditor.execute(column(name, 1)).fetchone() == (stored[name],)
    with both.database.connect("billing") as billing:
        found = billing.execute(f"SELECT id FROM {shop.TABLE} WHERE ssn = %s", [shop.SSN]).fetchall()
    assert found == [(1,)]


def test_what_the_database_sealed_the_api_opens_to_whom_policy_lets(both: Api) -> None:
    with both.database.connect("app") as app:
        app.execute(
            f"INSERT INTO {shop.TABLE} (id, ssn, email, card, notes) VALUES (2, %s, %s, %s, %s)",
            list(shop.FIELDS.values()),
        )
    with both.database.direct() as direct:
        row = direct.execute(f"SELECT ssn, email, card, notes FROM {shop.TABLE} WHERE id = 2").fetchone()
    assert all(value.startswith(SEALED) for value in row)
    both.service.store({"id": 41, **dict(zip(shop.FIELDS, row, strict=True))})
    assert both.get("/customers/41").json == {"id": 41, **shop.FIELDS}
    assert both.get("/customers/41", role="support").json == {"id": 41, **shop.MASKED}
    # And is found by the value: both doors make the same of it.
    assert 41 in [each["id"] for each in both.get(f"/customers?ssn={shop.SSN}").json]


@pytest.mark.parametrize("name", shop.TYPED)
def test_values_of_a_type_are_the_same_at_both_doors(both: Api, name: str) -> None:
    """JSON values go in at the API, are read at the database, are written there anew, and come out at the API."""
    texts = shop.TYPED[name][1]
    answer = both.post("/echo/typed", f'{{"{name}": [{", ".join(texts)}]}}')
    assert answer.status == 200, answer.body
    assert answer.body.decode() == f'{{"{name}": [{", ".join(texts)}]}}'
    (got,) = both.service.got("/echo/typed")
    sealed = got.json[name]
    assert all(value.startswith(SEALED) for value in sealed)
    column_name = f"t_{name}"
    anew = []
    for number, value in enumerate(sealed):
        put(both, number, **{column_name: value})
        with both.database.connect("app") as app, both.database.direct() as direct:
            (opened,) = app.execute(column(column_name, number)).fetchone()
            app.execute(f"UPDATE {shop.TABLE} SET {column_name} = %s WHERE id = %s", [adapted(name, opened), number])
            (again,) = direct.execute(column(column_name, number)).fetchone()
        assert again.startswith(SEALED)
        assert again != value
        anew.append(again)
    both.service.answer(f"/typed/{name}", json.dumps({name: anew}))
    assert json.loads(both.get(f"/typed/{name}").body) == json.loads(f'{{"{name}": [{", ".join(texts)}]}}')


def adapted(name: str, opened: object) -> object:
    """JSON comes as Python's values, and goes as text."""
    return json.dumps(opened) if name in ("json", "documents") else opened


def test_value_that_was_planted_at_one_door_is_refused_at_both(both: Api) -> None:
    put(both, 3, ssn="planted")
    both.service.store({"id": 42, "ssn": "planted"})
    assert both.get("/customers/42").status == 502
    with both.database.connect("billing") as billing, pytest.raises(Exception, match=r"api\.ssn"):
        billing.execute(column("ssn", 3))


def test_users_of_the_database_are_nobody_at_the_api(both: Api) -> None:
    """The database's rules name its users; a client that calls itself so is nobody."""
    both.post("/customers", {"id": 43, **shop.FIELDS})
    answer = both.get("/customers/43", {"x-user": "app", "user": example.ROLES[0]}, role=None)
    assert answer.json["ssn"].startswith(SEALED)
