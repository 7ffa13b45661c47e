"""JSON bodies over HTTP: responses whose fields are opened, requests whose fields are sealed.

Bodies of four sizes, each with 1, 10 and 100 fields among other members; 100 fields do not go into 1 KB, in clear as
little as sealed. A size is that of the body in clear: each field sealed is some seventy bytes more. Fields are found by
ten paths, each with a label of its own.

- Responses: the service gives from memory what came to it through the filter, and so is sealed; the client knows the
  body in clear, and compares a digest of every answer with it.
- Requests: the client sends a body in clear; the service says of each what it got, and the client compares that: as
  many envelopes as fields, no value in clear, all other bytes as they were sent. Afterwards the service must have been
  written as often as it answered, and what it holds is read back through the target.
- Bodies of a path that no route names pass, both ways.
"""

import functools
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from loadtests import bodies, body_costs
from loadtests.results import Table
from loadtests.rig import LiveHttp, Rig, WrongBody
from loadtests.rig.service import CLEAR, GUARDED
from loadtests.scenario import Arrival, Closed, Fixed, Scenario, Suite, Workload

KB, MB = 1000, 1000 * 1000
SIZES = {"1KB": KB, "10KB": 10 * KB, "1MB": MB, "10MB": 10 * MB}
FIELDS = (1, 10, 100)
LEFT_OUT = ("1KB", 100)
# As many bodies of each kind, in turn.
BODIES = {"1KB": 16, "10KB": 8, "1MB": 2, "10MB": 1}
LARGE = ("1MB", "10MB")
# Straight to the service too, for orientation.
EVERYWHERE = 10
# A second: what every target answers in time on two cores.
RATE = 400
OURS = ("envoy-http", "fieldveil-json", "fieldveil-json-native")
SCRIPTS = {"open": "body-open", "seal": "body-seal"}
PATHS = {f"$.records[*].{name}": f"body.{name}" for name in bodies.NAMES}
# Below this scale answers are looked at, and nothing is timed.
TIMED = 0.01


@dataclass(frozen=True)
class Kind:
    """Bodies of one size with so many fields."""

    size: str
    fields: int

    @property
    def name(self) -> str:
        return f"{self.size}-{self.fields}"

    def __str__(self) -> str:
        number, unit = self.size[:-2], self.size[-2:]
        return f"{number} {unit} with {self.fields} field{'s' if self.fields > 1 else ''}"

    def names(self, operation: str) -> list[str]:
        """In the service. What is sent does not take the place of what is asked for."""
        return [f"{operation}-{self.name}-{number}" for number in range(BODIES[self.size])]

    def body(self, number: int) -> bytes:
        return bodies.body(SIZES[self.size], self.fields, number)


KINDS = tuple(Kind(size, fields) for size in SIZES for fields in FIELDS if (size, fields) != LEFT_OUT)


def prepare(rig: Rig, scale: float) -> None:
    """Files that are sent, and bodies that are asked for: straight to the service in clear, by the filter sealed."""
    fill(rig, KINDS)


def fill(rig: Rig, kinds: Iterable[Kind]) -> None:
    """The same of these kinds alone."""
    rig.service.forget_counts()
    folder = rig.work.path / "bodies"
    folder.mkdir(exist_ok=True)
    for kind in kinds:
        for number, name in enumerate(kind.names("open")):
            body = kind.body(number)
            (folder / f"{kind.name}-{number}").write_bytes(body)
            for live in (rig.live["direct-http"], rig.live["fieldveil-json"]):
                live.send(live.space, name, body)
                expect_stored(rig, live, name, bodies.look(body))


def expect_stored(rig: Rig, live: LiveHttp, name: str, wanted: bodies.Look) -> None:
    """Straight at the service: where fields are protected each is an envelope, and all else is as it was sent."""
    seen = rig.service.look(live.space, name)
    if live.sealed:
        right = (seen.envelopes, seen.clear, seen.outside) == (wanted.clear, 0, wanted.outside)
    else:
        right = seen == wanted
    if not right:
        raise WrongBody(
            f"{live.space}/{name} in the service: {seen.envelopes} envelopes and {seen.clear} values in clear of "
            f"{wanted.clear} fields, other bytes {'as sent' if seen.outside == wanted.outside else 'CHANGED'}"
        )


@functools.cache
def known(kind: Kind) -> list[dict]:
    """What a script is told of each body."""
    texts = map(kind.body, range(BODIES[kind.size]))
    return [{"digest": hashlib.sha256(text).hexdigest(), "look": asdict(bodies.look(text))} for text in texts]


def before(operation: str, kind: Kind, *, guarded: bool) -> Callable[[Rig, LiveHttp], dict]:
    def given(rig: Rig, live: LiveHttp) -> dict:
        rig.service.forget_counts()
        files = [str(rig.work.path / "bodies" / f"{kind.name}-{number}") for number in range(BODIES[kind.size])]
        told = zip(kind.names(operation), files, known(kind), strict=True)
        return {
            "space": live.space if guarded else CLEAR,
            "sealed": guarded and live.sealed,
            "bodies": [{"name": name, "file": file, **one} for name, file, one in told],
        }

    return given


def stored(kind: Kind, *, guarded: bool) -> Callable[[Rig, LiveHttp, int], None]:
    """The service was written as often as it answered, and what it holds is what was sent: as it lies there, and as it
    comes back through the target."""

    def look(rig: Rig, live: LiveHttp, answers: int) -> None:
        space = live.space if guarded else CLEAR
        counts = rig.service.counts()
        writes = sum(counts.values())
        if writes != answers or any(not name.startswith(f"{space}/seal-{kind.name}-") for name in counts):
            raise WrongBody(f"{kind.name} through {live.name}: {writes} writes are there, {answers} were acknowledged")
        for number, name in enumerate(kind.names("seal")):
            if f"{space}/{name}" not in counts:
                continue
            body = kind.body(number)
            if guarded:
                expect_stored(rig, live, name, bodies.look(body))
            if live.get(space, name) != body:
                raise WrongBody(f"{space}/{name} through {live.name}: what comes back is not what was sent")

    return look


def scenarios(scale: float) -> list[Scenario]:
    seconds = max(0.3, 0.5 * scale)
    found = [_scenario(operation, kind, _closed(kind, seconds, scale)) for operation in SCRIPTS for kind in KINDS]
    steady = Arrival(rate=RATE, seconds=2 * seconds, clients=8)
    found += [_scenario(operation, Kind("1KB", 10), steady, f"-{RATE}-a-second") for operation in SCRIPTS]
    passed = (Kind("10KB", 10), Kind("1MB", 10))
    return found + [_passed(operation, kind, _closed(kind, seconds, scale)) for operation in SCRIPTS for kind in passed]


def _closed(kind: Kind, seconds: float, scale: float) -> Workload:
    """Few clients: of large bodies one, so that none waits for another's."""
    if scale < TIMED:
        return Fixed(2, 2 * BODIES[kind.size])
    return Closed(1 if kind.size in LARGE else 2, 2 * seconds if kind.size in LARGE else seconds)


def _scenario(operation: str, kind: Kind, workload: Workload, suffix: str = "") -> Scenario:
    what = {"open": f"a response of {kind}, opened", "seal": f"a request of {kind}, sealed"}
    return Scenario(
        name=f"{operation}-{kind.name}{suffix}",
        what=what[operation],
        script=SCRIPTS[operation],
        workload=workload,
        unit="body",
        mode="http/1.1",
        targets=None if kind.fields == EVERYWHERE else OURS,
        before=before(operation, kind, guarded=True),
        stored=stored(kind, guarded=True) if operation == "seal" else None,
    )


def _passed(operation: str, kind: Kind, workload: Workload) -> Scenario:
    """What the filter costs whom it has nothing to do for: a path that no route names."""
    direction = {"open": "response", "seal": "request"}[operation]
    return Scenario(
        name=f"pass-{direction}-{kind.size}",
        what=f"a {direction} of {kind}, of a path where nothing is protected",
        script=SCRIPTS[operation],
        workload=workload,
        unit="body",
        mode="http/1.1",
        targets=OURS,
        before=before(operation, kind, guarded=False),
        stored=stored(kind, guarded=False) if operation == "seal" else None,
    )


def extra(rig: Rig, scale: float) -> list[Table]:
    return body_costs.memory(rig, SUITE, scale, timed=scale >= TIMED)


SUITE = Suite(
    name="json",
    what="JSON bodies of 1 KB to 10 MB with 1 to 100 fields: responses opened, requests sealed, and bodies passed",
    scenarios=scenarios,
    prepare=prepare,
    protocol="http",
    labels={label: {"protection": "randomized", "type": "text"} for label in PATHS.values()},
    routes=(
        {"path": f"/{GUARDED}/{{name}}", "methods": ["GET"], "response": PATHS},
        {"path": f"/{GUARDED}/{{name}}", "methods": ["POST"], "request": PATHS},
    ),
    rules=(
        {
            "name": "the application works with every field of a body",
            "who": {"session": {"user": ["app"]}},
            "labels": ["body.*"],
            "read": {"treatment": "reveal"},
            "write": "seal",
        },
    ),
    beside=body_costs.tables,
    extra=extra,
)
