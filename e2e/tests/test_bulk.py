"""Many rows in one statement, as object mappers write them."""

import psycopg
import pytest
import sqlalchemy
from sqlalchemy import orm

from harness import Stack
from harness import shop as example


class Base(orm.DeclarativeBase):
    pass


class Member(Base):
    __tablename__ = example.TABLE

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    ssn: orm.Mapped[str | None]
    name: orm.Mapped[str | None]


@pytest.fixture(scope="module")
def numbered(stack: Stack):
    """Keys that the server gives, for which object mappers ask in the same statement."""
    with stack.direct() as direct:
        direct.execute("CREATE SEQUENCE numbers OWNED BY customer.id START 1000")
        direct.execute("ALTER TABLE customer ALTER id SET DEFAULT nextval('numbers')")
        direct.execute("GRANT ALL ON SEQUENCE numbers TO app")
        yield
        direct.execute("ALTER TABLE customer ALTER id DROP DEFAULT")
        direct.execute("DROP SEQUENCE numbers")


def test_objects_that_are_added_together_are_sealed(shop: Stack, numbered: None) -> None:
    url = f"postgresql+psycopg://app@/{example.DATABASE}?host={shop.socket_dir}"
    engine = sqlalchemy.create_engine(url, connect_args={"password": example.PASSWORD})
    with orm.Session(engine) as session:
        session.add_all([Member(ssn=f"bulk-{number}", name="n") for number in range(5)])
        session.commit()
        found = session.scalars(sqlalchemy.select(Member).where(Member.ssn == "bulk-3")).one()
        assert found.name == "n"
    engine.dispose()
    assert b"bulk-" not in shop.relay.to_server()
    with shop.direct() as direct:
        assert direct.execute("SELECT count(*) FROM customer WHERE ssn LIKE 'fv1.%'").fetchone() == (5,)


@pytest.mark.parametrize("binding", ["client", "server"])
def test_columns_from_arrays_are_sealed(shop: Stack, binding: str) -> None:
    text = "INSERT INTO customer (id, ssn, card) SELECT * FROM UNNEST((%s)::bigint[], (%s)::varchar[], (%s)::text[])"
    values = [[1, 2, 3], ["array-a", None, "array-c"], ["array-d", "array-e", "array-f"]]
    factory = psycopg.ClientCursor if binding == "client" else psycopg.Cursor
    with shop.connect("app", cursor_factory=factory) as app:
        app.execute(text, values)
        rows = app.execute("SELECT id, ssn, card FROM customer ORDER BY id").fetchall()
    assert rows == list(zip(*values, strict=True))
    assert b"array-" not in shop.relay.to_server()
