"""Django's ORM: `django_client.py client|server|mysql`.

`client` is over psycopg as Django has it: psycopg writes the values into the text. `server` is with the option
server_side_binding. `mysql` is over mysqlclient, which writes the values into the text too.
"""

import os
import sys

import django
from django.conf import settings

WAY = sys.argv[1]
MYSQL = WAY == "mysql"


def database() -> dict:
    if not MYSQL:
        name, binding = os.environ["PGDATABASE"], WAY == "server"
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": name,
            "OPTIONS": {"server_side_binding": binding},
        }
    where = {word: os.environ[f"MYSQL_{word}"] for word in ("HOST", "PORT", "USER", "PASSWORD")}
    return {"ENGINE": "django.db.backends.mysql", "NAME": os.environ["MYSQL_DATABASE"], **where}


settings.configure(
    DATABASES={"default": database()},
    USE_TZ=True,
    TIME_ZONE="UTC",
)
django.setup()

from django.db import Error, connection, models
from django.db import transaction as atomically

import steps
from steps import BATCH, NEW_BALANCE, NEW_EMAIL, PREPARED, USER, Absent, expect, expect_row, run

# The table of MySQL's clients has no column for an instant.
ROW = {name: value for name, value in steps.ROW.items() if not (MYSQL and name == "seen")}


def row_of(number: int) -> dict:
    return {name: value for name, value in steps.row(number).items() if name in ROW}


class Timestamp(models.Field):
    """Without a zone, which DateTimeField always has while USE_TZ is on."""

    def db_type(self, connection):
        return "timestamp"


class Json(models.JSONField):
    """JSONField is for jsonb, whose values psycopg leaves as text for Django; those of json it reads itself."""

    def db_type(self, connection):
        return "json"

    def from_db_value(self, value, expression, connection):
        return super().from_db_value(value, expression, connection) if MYSQL else value


class Person(models.Model):
    id = models.BigIntegerField(primary_key=True)
    name = models.TextField(null=True)
    ssn = models.TextField(null=True)
    ref = models.UUIDField(null=True)
    email = models.TextField(null=True)
    born = models.DateField(null=True)
    balance = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    visits = models.IntegerField(null=True)
    score = models.FloatField(null=True)
    active = models.BooleanField(null=True)
    if not MYSQL:
        seen = models.DateTimeField(null=True)
    made = Timestamp(null=True)
    extra = Json(null=True)
    photo = models.BinaryField(null=True)

    class Meta:
        app_label = "drivers"
        db_table = "person"
        managed = False


people = Person.objects


def connect(_: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        expect("current_user", cursor.fetchone()[0].partition("@")[0], USER)


def write(_: object) -> None:
    people.create(**row_of(10))


def read(_: object) -> None:
    expect_row(people.filter(id=1).values().get(), ROW)


def ssn_of(number: int) -> str | None:
    return people.filter(id=number).values_list("ssn", flat=True).first()


def search(_: object) -> None:
    for name in ("ssn", "ref"):
        found = list(people.filter(**{name: ROW[name]}).values_list("id", flat=True))
        expect(f"found by {name}", found, [1])
    expect("found by another", list(people.filter(ssn="no")), [])


def update(_: object) -> None:
    people.create(id=2, ssn="ssn-2")
    changed = people.filter(ssn="ssn-2").update(email=NEW_EMAIL, balance=NEW_BALANCE)
    expect("rows changed", changed, 1)
    got = people.values_list("id", "email", "balance").get(id=2)
    expect("read again", got, (2, NEW_EMAIL, NEW_BALANCE))

    second = people.create(id=3, ssn="ssn-3")
    first = people.get(id=2)
    first.email, first.balance = "first@example.com", NEW_BALANCE + 1
    second.email, second.balance = "second@example.com", None
    people.bulk_update([first, second], ["email", "balance"])
    got = list(people.filter(id__in=[2, 3]).order_by("id").values_list("email", "balance"))
    expect("read after bulk_update", got, [(first.email, first.balance), (second.email, None)])


def upsert(_: object) -> None:
    # MySQL takes whichever key there is.
    unique = {} if MYSQL else {"unique_fields": ["id"]}
    for email in ("one@example.com", "two@example.com"):
        person = Person(id=3, ssn="ssn-3", email=email)
        people.bulk_create([person], update_conflicts=True, update_fields=["email"], **unique)
    expect("email", people.get(id=3).email, "two@example.com")


def batch(_: object) -> None:
    people.bulk_create(Person(id=number, ssn=f"ssn-{number}") for number in BATCH)
    found = list(people.filter(id__in=list(BATCH)).order_by("id").values_list("id", "ssn"))
    expect("rows", found, [(number, f"ssn-{number}") for number in BATCH])


def prepared(_: object) -> None:
    if WAY != "server":
        raise Absent("the values are in the text, so there is nothing to prepare")
    for number in PREPARED:
        people.create(id=number, ssn=f"ssn-{number}")
    for number in PREPARED:
        expect("ssn", ssn_of(number), f"ssn-{number}")


def binary(_: object) -> None:
    raise Absent("Django has no switch for the binary format")


def transaction(_: object) -> None:
    with atomically.atomic():
        people.create(id=400, ssn="ssn-400")
        expect("before the rollback", ssn_of(400), "ssn-400")
        atomically.set_rollback(True)
    expect("after the rollback", ssn_of(400), None)
    with atomically.atomic():
        people.create(id=401, ssn="ssn-401")
    expect("after the commit", ssn_of(401), "ssn-401")


def null(_: object) -> None:
    people.create(id=500, ssn=None, email="", born=None)
    got = people.values_list("ssn", "email", "born").get(id=500)
    expect("NULL, empty, NULL", got, (None, "", None))


def refusal(_: object) -> None:
    try:
        list(people.order_by("ssn").values_list("id"))
    except Error as error:
        # mysqlclient gives the number of the error alone.
        expect("error", error.args[0] if MYSQL else sqlstate(error), 1235 if MYSQL else steps.REFUSED)
    else:
        expect("refused", False, True)
    expect("after it", ssn_of(1), ROW["ssn"])


def copy_in(_: object) -> None:
    raise Absent("Django has no COPY of its own")


copy_out = copy_in


def sqlstate(error: BaseException) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)


if __name__ == "__main__":
    run(f"django-{WAY}", globals(), lambda: connection, lambda it: it.close(), sqlstate)
