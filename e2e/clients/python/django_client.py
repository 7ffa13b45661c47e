"""Django's ORM over psycopg: `django_client.py client|server`, by where parameters are bound.

`client` is Django's default: psycopg writes the values into the text. `server` is the option server_side_binding.
"""

import os
import sys

import django
from django.conf import settings

BINDING = sys.argv[1]
settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": os.environ["PGDATABASE"],
            "OPTIONS": {"server_side_binding": BINDING == "server"},
        }
    },
    USE_TZ=True,
    TIME_ZONE="UTC",
)
django.setup()

from django.db import Error, connection, models
from django.db import transaction as atomically

from steps import BATCH, NEW_BALANCE, NEW_EMAIL, PREPARED, REFUSED, ROW, USER, Absent, expect, expect_row, run
from steps import row as row_of


class Timestamp(models.Field):
    """Without a zone, which DateTimeField always has while USE_TZ is on."""

    def db_type(self, connection):
        return "timestamp"


class Json(models.JSONField):
    """JSONField is for jsonb, whose values psycopg leaves as text for Django; those of json it reads itself."""

    def db_type(self, connection):
        return "json"

    def from_db_value(self, value, expression, connection):
        return value


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
        expect("current_user", cursor.fetchone(), (USER,))


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
    for email in ("one@example.com", "two@example.com"):
        person = Person(id=3, ssn="ssn-3", email=email)
        people.bulk_create([person], update_conflicts=True, unique_fields=["id"], update_fields=["email"])
    expect("email", people.get(id=3).email, "two@example.com")


def batch(_: object) -> None:
    people.bulk_create(Person(id=number, ssn=f"ssn-{number}") for number in BATCH)
    found = list(people.filter(id__in=list(BATCH)).order_by("id").values_list("id", "ssn"))
    expect("rows", found, [(number, f"ssn-{number}") for number in BATCH])


def prepared(_: object) -> None:
    if BINDING == "client":
        raise Absent("the values are in the text, so there is nothing to prepare")
    for number in PREPARED:
        people.create(id=number, ssn=f"ssn-{number}")
    for number in PREPARED:
        expect("ssn", ssn_of(number), f"ssn-{number}")


def binary(_: object) -> None:
    raise Absent("Django has no switch for psycopg's binary format")


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
        expect("SQLSTATE", sqlstate(error), REFUSED)
    else:
        expect("refused", False, True)
    expect("after it", ssn_of(1), ROW["ssn"])


def copy_in(_: object) -> None:
    raise Absent("Django has no COPY of its own")


copy_out = copy_in


def sqlstate(error: BaseException) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)


if __name__ == "__main__":
    run(f"django-{BINDING}", globals(), lambda: connection, lambda it: it.close(), sqlstate)
