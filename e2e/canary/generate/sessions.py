"""What takes several steps: transactions, cursors, SQL's own PREPARE, texts of several statements, pipelines, and
names that mean another table for a while."""

from random import Random

from canary import schema
from canary.generate import expressions, sources, writes
from canary.generate.maker import Maker
from canary.generate.sources import Scope
from canary.literals import literal
from canary.marks import Marks
from canary.steps import SIMPLE, UNNAMED, Script, Step

FORWARD = ("FETCH cur", "FETCH 2 FROM cur", "FETCH ALL cur", "MOVE 1 IN cur", "FETCH FORWARD 3 cur")
# Without SCROLL or NO SCROLL, the plan that the server chose says whether they may; it need not be the same in both.
BACKWARD = ("FETCH PRIOR FROM cur", "FETCH 0 cur")


def plain(text: str, kind: str = "control", **more: object) -> Step:
    return Step(kind, text, **more)


def statement(rng: Random, marks: Marks, how: str | None = None, reads: float = 0.5, calm: bool = False) -> Step:
    """One SELECT, or one statement that writes."""
    maker = Maker(rng, marks, how, calm)
    kind, text = writes.read(maker) if maker.chance(reads) else writes.write(maker)
    return maker.finish(kind, text)


def transaction(rng: Random, marks: Marks) -> Script:
    steps = [plain(rng.choice(("BEGIN", "START TRANSACTION", "BEGIN ISOLATION LEVEL SERIALIZABLE", "begin")))]
    for _ in range(rng.randrange(2, 6)):
        roll = rng.random()
        if roll < 0.2:
            steps += [plain("SAVEPOINT one"), statement(rng, marks, reads=0.3, calm=rng.random() < 0.8)]
            steps.append(plain(rng.choice(("ROLLBACK TO one", "RELEASE one", "ROLLBACK TO SAVEPOINT one"))))
        else:
            steps.append(statement(rng, marks, calm=rng.random() < 0.8))
    steps.append(plain(rng.choice(("COMMIT", "COMMIT", "END", "ROLLBACK", "COMMIT AND CHAIN"))))
    return Script(steps)


def cursor(rng: Random, marks: Marks) -> Script:
    maker = Maker(rng, marks, rng.choice((SIMPLE, SIMPLE, UNNAMED)))
    text = _ordered(maker)
    options = maker.pick("", "BINARY ", "SCROLL ", "NO SCROLL ", "BINARY SCROLL ", "INSENSITIVE NO SCROLL ")
    fetches = FORWARD + BACKWARD if "SCROLL" in options else FORWARD
    hold = maker.pick("", "", "WITH HOLD ")
    steps = [plain("BEGIN"), maker.finish("declare", f"DECLARE cur {options}CURSOR {hold}FOR {text}")]
    for _ in range(rng.randrange(1, 5)):
        steps.append(plain(rng.choice(fetches), "fetch", how=rng.choice((SIMPLE, UNNAMED)), ordered=True))
    steps.append(plain("COMMIT"))
    if hold and rng.random() < 0.5:
        steps.append(plain("FETCH ALL cur", "fetch", ordered=True))
    return Script(steps, discard=True)


def _ordered(maker: Maker) -> str:
    """A query whose order is told, over one table."""
    sql, source = sources.base(maker, sources.table(maker), maker.alias())
    scope = Scope([source])
    items = ", ".join(expressions.item(maker, scope)[0] for _ in range(maker.rng.randrange(1, 4)))
    where = f" WHERE {expressions.condition(maker, scope, 1)}" if maker.chance(0.4) else ""
    return f"SELECT {items} FROM {sql}{where} ORDER BY {', '.join(scope.keys(maker))}"


def sql_prepare(rng: Random, marks: Marks) -> Script:
    inner = statement(rng, marks, UNNAMED)
    while any(not parameter.type for parameter in inner.parameters):
        inner = statement(rng, marks, UNNAMED)
    types = [parameter.type.partition("(")[0] for parameter in inner.parameters]
    declared = f" ({', '.join(types)})" if types and rng.random() < 0.6 else ""
    steps = [plain(f"PREPARE pre{declared} AS {inner.text}", "prepare", secrets=inner.secrets)]
    for _ in range(2):
        values = [
            "NULL" if p.text is None else literal(rng, p.type, p.text, plain=True) if p.protected or p.type == "int4"
            else "'" + p.text.replace("'", "''") + "'"
            for p in inner.parameters
        ]  # fmt: skip
        given = f" ({', '.join(values)})" if values else ""
        steps.append(plain(f"EXECUTE pre{given}", "execute", ordered=inner.ordered))
    steps.append(plain("DEALLOCATE pre"))
    return Script(steps, discard=True)


def several(rng: Random, marks: Marks) -> Script:
    """One text with several statements."""
    inner = [statement(rng, marks, SIMPLE, calm=rng.random() < 0.8) for _ in range(rng.randrange(2, 5))]
    texts = [step.text if not step.text.rstrip().endswith("-- end") else step.text + "\n" for step in inner]
    if rng.random() < 0.2:
        texts = ["BEGIN", *texts, rng.choice(("COMMIT", "ROLLBACK"))]
    return Script([plain(rng.choice(("; ", ";", " ;\n")).join(texts), "several")])


def pipeline(rng: Random, marks: Marks) -> Script:
    calm = rng.random() < 0.8
    return Script([statement(rng, marks, UNNAMED, calm=calm) for _ in range(rng.randrange(2, 6))], pipelined=True)


def another_schema(rng: Random, marks: Marks) -> Script:
    """`person` is the one in which nothing is protected, and then again the other."""
    number, calm = rng.randrange(1, 40), Maker(rng, marks, calm=True)
    value = calm.value(schema.PERSON.column("ssn"), known=0.9)
    steps = [
        plain("SET search_path = archive, public"),
        plain(
            f"INSERT INTO person VALUES ({number}, 'a', 'b', 'c{number}') ON CONFLICT (id) DO UPDATE SET ssn = 'again'"
        ),
        plain("SELECT name, ssn FROM person"),
        calm.finish("select", f"SELECT id, name, ssn FROM public.person WHERE ssn = {value}"),
        plain("RESET search_path"),
        statement(rng, marks),
    ]
    return Script(steps, discard=True)


def temporary(rng: Random, marks: Marks) -> Script:
    """A temporary table hides the protected one."""
    steps = [
        plain("CREATE TEMP TABLE person (id int, name text, ssn text)"),
        plain("INSERT INTO person VALUES (1, 'x', 'not protected')"),
        plain("SELECT ssn FROM person WHERE ssn LIKE 'not%'"),
        plain("SELECT p.name, p.ssn, a.ssn FROM public.person p LEFT JOIN account a ON a.ssn = p.ssn"),
        plain("DROP TABLE pg_temp.person"),
        statement(rng, marks),
    ]
    return Script(steps, discard=True)
