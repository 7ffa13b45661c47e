"""SQLAlchemy's ORM over psycopg or asyncpg: `sqlalchemy_client.py psycopg|asyncpg`.

Over asyncpg it runs through SQLAlchemy's own bridge from its asynchronous engine.
"""

import datetime as dt
import sys
import uuid
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from steps import BATCH, NEW_BALANCE, NEW_EMAIL, PREPARED, REFUSED, ROW, USER, Absent, expect, expect_row, run
from steps import row as row_of


class Base(DeclarativeBase):
    pass


class Person(Base):
    __tablename__ = "person"

    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True)
    name: Mapped[str | None]
    ssn: Mapped[str | None]
    ref: Mapped[uuid.UUID | None]
    email: Mapped[str | None]
    born: Mapped[dt.date | None]
    balance: Mapped[Decimal | None] = mapped_column(sa.Numeric(12, 2))
    visits: Mapped[int | None]
    score: Mapped[float | None]
    active: Mapped[bool | None]
    seen: Mapped[dt.datetime | None] = mapped_column(sa.DateTime(timezone=True))
    made: Mapped[dt.datetime | None]
    extra: Mapped[dict | None] = mapped_column(sa.JSON)
    photo: Mapped[bytes | None]


def connect(session: Session) -> None:
    expect("current_user", session.scalar(sa.text("SELECT current_user")), USER)


def write(session: Session) -> None:
    session.add(Person(**row_of(10)))
    session.commit()


def read(session: Session) -> None:
    expect_row(loaded(session, 1), ROW)


def loaded(session: Session, number: int) -> dict:
    session.expire_all()
    person = session.get_one(Person, number)
    return {name: getattr(person, name) for name in ROW}


def ssn_of(session: Session, number: int) -> str | None:
    return session.scalar(sa.select(Person.ssn).where(Person.id == number))


def search(session: Session) -> None:
    for column in (Person.ssn, Person.ref):
        found = session.scalars(sa.select(Person.id).where(column == ROW[column.key])).all()
        expect(f"found by {column.key}", list(found), [1])
    expect("found by another", session.scalars(sa.select(Person.id).where(Person.ssn == "no")).all(), [])


def update(session: Session) -> None:
    session.add(Person(id=2, ssn="ssn-2"))
    session.flush()
    changed = sa.update(Person).where(Person.ssn == "ssn-2").values(email=NEW_EMAIL, balance=NEW_BALANCE)
    got = session.execute(changed.returning(Person.id, Person.email, Person.balance)).one()
    expect("returned", tuple(got), (2, NEW_EMAIL, NEW_BALANCE))
    session.commit()


def upsert(session: Session) -> None:
    for email in ("one@example.com", "two@example.com"):
        insert = postgresql.insert(Person).values(id=3, ssn="ssn-3", email=email)
        insert = insert.on_conflict_do_update(index_elements=["id"], set_={"email": insert.excluded.email})
        expect("returned", session.scalar(insert.returning(Person.email)), email)
    session.commit()
    expect("email", loaded(session, 3)["email"], "two@example.com")


def batch(session: Session) -> None:
    session.add_all(Person(id=number, ssn=f"ssn-{number}") for number in BATCH)
    session.commit()
    found = session.execute(sa.select(Person.id, Person.ssn).where(Person.id.in_(BATCH)).order_by(Person.id)).all()
    expect("rows", [tuple(row) for row in found], [(number, f"ssn-{number}") for number in BATCH])


def prepared(session: Session) -> None:
    # Both drivers prepare what is run often; the same statements, each more often than psycopg's threshold.
    for number in PREPARED:
        session.execute(sa.insert(Person).values(id=number, ssn=f"ssn-{number}"))
    session.commit()
    for number in PREPARED:
        expect("ssn", ssn_of(session, number), f"ssn-{number}")


def binary(session: Session) -> None:
    if session.get_bind().driver != "asyncpg":
        raise Absent("SQLAlchemy has no switch for psycopg's binary format")
    session.add(Person(**row_of(300)))
    session.commit()
    expect_row(loaded(session, 300), row_of(300))


def transaction(session: Session) -> None:
    session.add(Person(id=400, ssn="ssn-400"))
    session.flush()
    expect("before the rollback", ssn_of(session, 400), "ssn-400")
    session.rollback()
    expect("after the rollback", ssn_of(session, 400), None)
    session.add(Person(id=401, ssn="ssn-401"))
    session.commit()
    expect("after the commit", ssn_of(session, 401), "ssn-401")


def null(session: Session) -> None:
    session.add(Person(id=500, ssn=None, email="", born=None))
    session.commit()
    person = loaded(session, 500)
    expect("NULL, empty, NULL", (person["ssn"], person["email"], person["born"]), (None, "", None))


def refusal(session: Session) -> None:
    try:
        session.scalars(sa.select(Person.id).order_by(Person.ssn)).all()
    except sa.exc.DBAPIError as error:
        expect("SQLSTATE", sqlstate(error), REFUSED)
    else:
        expect("refused", False, True)
    session.rollback()
    expect("after it", ssn_of(session, 1), ROW["ssn"])


def copy_in(_: Session) -> None:
    raise Absent("SQLAlchemy has no COPY of its own")


copy_out = copy_in


def sqlstate(error: BaseException) -> str | None:
    return getattr(getattr(error, "orig", None), "sqlstate", None)


def over_psycopg() -> None:
    engine = sa.create_engine("postgresql+psycopg://")
    run("sqlalchemy-psycopg", globals(), lambda: Session(engine), Session.close, sqlstate)
    engine.dispose()


def over_asyncpg() -> None:
    import asyncio

    from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

    engine = create_async_engine("postgresql+asyncpg://")

    with asyncio.Runner() as loop:

        def bridged(step):
            return lambda session: loop.run(session.run_sync(step))

        steps = {name: bridged(globals()[name]) for name in STEPS}
        run("sqlalchemy-asyncpg", steps, lambda: AsyncSession(engine), lambda it: loop.run(it.close()), sqlstate)
        loop.run(engine.dispose())


STEPS = (
    "connect", "write", "read", "search", "update", "upsert", "batch", "prepared", "binary", "transaction", "null",
    "refusal", "copy_in", "copy_out",
)  # fmt: skip

if __name__ == "__main__":
    {"psycopg": over_psycopg, "asyncpg": over_asyncpg}[sys.argv[1]]()
