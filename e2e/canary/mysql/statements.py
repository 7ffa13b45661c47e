"""Random statements over the tables, for both servers alike."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from canary.marks import Marks
from canary.mysql import schema
from canary.mysql.literals import literal, quote
from canary.mysql.schema import name
from canary.schema import Column, Table
from canary.steps import PREPARED, SIMPLE, Parameter, Script, Step

IDS = range(1, 30)
WORDS = ("a", "b", "word", "it's", "back\\slash", "é")


@dataclass
class Maker:
    """Writes one statement: in a text that is prepared, values are parameters."""

    rng: random.Random
    marks: Marks
    mariadb: bool
    how: str = SIMPLE
    parameters: list[Parameter] = field(default_factory=list)

    def step(self, kind: str, text: str, *, ordered: bool = False) -> Step:
        return Step(kind, text, self.how, self.parameters, ordered=ordered)

    def chance(self, of: float) -> bool:
        return self.rng.random() < of

    def value(self, column: Column, known: float = 0.3) -> str:
        if not column.protected:
            if column.base == "int4":
                return str(self.rng.choice(IDS))
            return quote(self.rng.choice(WORDS))
        if self.chance(0.06):
            return "NULL"
        text = self.marks.value(column.label, column.type, known=known)
        if self.how != PREPARED or column.base in ("bool", "bytea", "date") or self.chance(0.2):
            return literal(self.rng, column.type, text)
        value = int(text) if column.base == "int4" else text
        self.parameters.append(Parameter(value, protected=True, type=column.type, text=text))
        return "?"

    def table(self) -> Table:
        return self.rng.choice((schema.PERSON, schema.PERSON, *schema.TABLES))

    def some(self, table: Table, at_least: int = 1) -> list[Column]:
        columns = [column for column in table.columns if column.name not in table.key]
        return self.rng.sample(columns, self.rng.randint(at_least, len(columns)))

    def written(self, column: Column) -> str:
        return column.name if column.name.islower() and self.chance(0.5) else name(column.name)

    def searched(self, table: Table) -> Column:
        return self.rng.choice([column for column in table.columns if column.equality or not column.protected])

    def condition(self, table: Table, alias: str = "") -> str:
        column = self.searched(table)
        left = f"{alias}{self.written(column)}"
        match self.rng.randrange(8):
            case 0 | 1 | 2:
                return f"{left} = {self.value(column, 0.9)}"
            case 3:
                return f"{left} IN ({', '.join(self.value(column, 0.9) for _ in range(self.rng.randint(1, 3)))})"
            case 4:
                return f"{left} IS {self.rng.choice(('', 'NOT '))}NULL"
            case 5:
                return f"{left} {self.rng.choice(('<>', '!=', '<=>'))} {self.value(column, 0.9)}"
            case 6:
                both = [self.condition(table, alias), self.condition(table, alias)]
                return f"({self.rng.choice((' AND ', ' OR ')).join(both)})"
            case _:
                return f"{alias}{name(table.key[0])} < {self.rng.choice(IDS)}"

    def where(self, table: Table, alias: str = "") -> str:
        return f" WHERE {self.condition(table, alias)}" if self.chance(0.8) else ""

    def assignments(self, table: Table, alias: str = "", at_most: int = 3) -> str:
        columns = self.some(table)[:at_most]
        return ", ".join(f"{alias}{self.written(column)} = {self.value(column)}" for column in columns)


def insert(make: Maker) -> Step:
    table = make.table()
    verb = make.rng.choice(("INSERT INTO", "INSERT INTO", "INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"))
    key = table.column(table.key[0])
    if make.chance(0.2):
        text = (
            f"{verb} {name(table.name)} SET {name(key.name)} = {make.value(key)}, {make.assignments(table, at_most=20)}"
        )
    else:
        columns = [key, *make.some(table)]
        rows = make.rng.choice((1, 1, 1, 2, 3))
        values = ", ".join(f"({', '.join(make.value(column) for column in columns)})" for _ in range(rows))
        text = f"{verb} {name(table.name)} ({', '.join(map(make.written, columns))}) VALUES {values}"
    if verb == "INSERT INTO" and make.chance(0.4):
        column = make.some(table)[0]
        new = f"VALUES({name(column.name)})" if make.chance(0.5) else make.value(column)
        text += f" ON DUPLICATE KEY UPDATE {name(column.name)} = {new}"
    elif make.mariadb and make.how != PREPARED and make.chance(0.2):
        # Prepared, Connector/Python waits for ever where a row is followed by an error.
        text += f" RETURNING {', '.join(make.written(column) for column in make.some(table))}"
    return make.step(verb.split(" INTO")[0].lower(), text)


def update(make: Maker) -> Step:
    table = make.table()
    if make.chance(0.25):
        text = (
            f"UPDATE person p JOIN account a ON p.{make.rng.choice(('ssn = a.ssn', 'id = a.person_id'))} "
            f"SET {make.assignments(schema.PERSON, 'p.', 2)}, {make.assignments(schema.ACCOUNT, 'a.', 1)}"
            f"{make.where(schema.PERSON, 'p.')}"
        )
        return make.step("update of several", text)
    return make.step("update", f"UPDATE {name(table.name)} SET {make.assignments(table)}{make.where(table)}")


def delete(make: Maker) -> Step:
    table = make.table()
    if make.chance(0.3):
        of = make.rng.choice(("p", "a", "p, a"))
        text = f"DELETE {of} FROM person p JOIN account a ON p.ssn = a.ssn WHERE {make.condition(schema.PERSON, 'p.')}"
        return make.step("delete of several", text)
    text = f"DELETE FROM {name(table.name)} WHERE {make.condition(table)}"
    if make.mariadb and make.chance(0.3):
        text += f" RETURNING {make.written(make.rng.choice(table.columns))}"
    return make.step("delete", text)


def select(make: Maker) -> Step:
    table = make.table()
    columns = ["*"] if make.chance(0.2) else [make.written(column) for column in make.some(table)]
    match make.rng.randrange(9):
        case 0:
            text = (
                f"SELECT p.id, a.id, {', '.join('p.' + make.written(column) for column in make.some(schema.PERSON))} "
                f"FROM person p {make.rng.choice(('JOIN', 'LEFT JOIN'))} account a "
                f"ON p.{make.rng.choice(('ssn = a.ssn', 'joined = a.opened', 'level = a.number', 'id = a.person_id'))}"
                f"{make.where(schema.PERSON, 'p.')}"
            )
        case 1:
            column = make.searched(table)
            text = f"SELECT {name(column.name)}, count(*) FROM {name(table.name)} GROUP BY {name(column.name)}"
        case 2:
            column = make.searched(table)
            text = f"SELECT DISTINCT {name(column.name)} AS it FROM {name(table.name)}{make.where(table)}"
        case 3:
            text = f"SELECT ssn FROM person{make.where(schema.PERSON)} UNION ALL SELECT ssn FROM account"
        case 4:
            text = f"SELECT id FROM person WHERE ssn IN (SELECT ssn FROM account{make.where(schema.ACCOUNT)})"
        case 5:
            text = f"SELECT it.* FROM (SELECT {', '.join(columns)} FROM {name(table.name)}{make.where(table)}) it"
        case 6:
            key = name(table.key[0])
            text = f"SELECT {', '.join(columns)} FROM {name(table.name)} ORDER BY {key} DESC LIMIT 5"
            return make.step("select", text, ordered=True)
        case _:
            text = f"SELECT {', '.join(columns)} FROM {name(table.name)}{make.where(table)}"
    return make.step("select", text)


WRITES: tuple[Callable[[Maker], Step], ...] = (insert, insert, insert, update, update, delete)


def statement(make: Maker) -> Step:
    return select(make) if make.chance(0.5) else make.rng.choice(WRITES)(make)


def script(rng: random.Random, marks: Marks, mariadb: bool) -> Script:
    """One statement or some that belong together."""

    def make(how: str = SIMPLE) -> Maker:
        return Maker(rng, marks, mariadb, how)

    match rng.randrange(12):
        case 0:
            first, second = statement(make()), statement(make())
            return Script([Step("several", f"{first.text}; {second.text}")])
        case 1:
            return Script(list(_in_transaction(rng, [statement(make()) for _ in range(rng.randint(1, 4))])))
        case 2:
            return Script(list(_by_name(statement(make()))))
        case 3 | 4 | 5:
            return Script([statement(make(PREPARED))])
        case 6:
            number = rng.choice(IDS)
            looked = Step("variable", "SELECT id, ssn FROM person WHERE id = @number")
            return Script([Step("control", f"SET @number = {number}"), looked])
    return Script([statement(make())])


def _in_transaction(rng: random.Random, steps: list[Step]) -> Iterator[Step]:
    yield Step("control", rng.choice(("BEGIN", "START TRANSACTION")))
    for step in steps:
        yield step
        if rng.random() < 0.2:
            yield Step("control", "SAVEPOINT here")
            yield Step("control", "ROLLBACK TO SAVEPOINT here")
    yield Step("control", rng.choice(("COMMIT", "ROLLBACK")))


def _by_name(step: Step) -> Iterator[Step]:
    """The statement prepared in SQL, its text in a literal."""
    yield Step("prepare", f"PREPARE it FROM {quote(step.text)}")
    yield Step(f"execute {step.kind}", "EXECUTE it", ordered=step.ordered)
    yield Step("control", "DEALLOCATE PREPARE it")
