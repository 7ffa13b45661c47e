"""Where the targets of a cluster are: a file that its operator writes."""

from pathlib import Path

import msgspec

from loadtests.results import PROCESSES
from loadtests.rig.targets import TARGETS

CLIENT = "client"
# The plain tables are filled through the first, the sealed ones through the second.
NEEDED = ("direct", "fieldveil")


class BadPlaces(Exception):
    """The file does not say where the targets are; the text says what is wrong with it."""


class Container(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A container whose cgroup is read."""

    namespace: str
    # A label selector that one running pod has.
    selector: str
    container: str


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A target, as libpq says where a server is; without password and database."""

    # As the runners reach it.
    address: str
    # As this command does, where that differs: a forwarded port.
    reached_by: str = ""
    # By the names of `loadtests.results.PROCESSES`, without the client.
    containers: dict[str, Container] = {}


class Server(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    # Straight to the server, as the tables' owner: libpq's words, without password and database.
    address: str


class Places(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    server: Server
    targets: dict[str, Place]
    # What runs there, for the report: envoy, opa and whatever else.
    versions: dict[str, str] = {}


def read(path: Path) -> Places:
    try:
        places = msgspec.json.decode(path.read_bytes(), type=Places)
    except OSError as error:
        raise BadPlaces(f"{path}: {error.strerror}: give the file that says where the targets are") from error
    except msgspec.DecodeError as error:
        raise BadPlaces(f"{path}: {error}: see loadtests/kubernetes/README.md") from error
    for name in places.targets.keys() - TARGETS.keys():
        raise BadPlaces(f"{path}: no target is called {name}: there are {', '.join(TARGETS)}")
    for name in NEEDED:
        if name not in places.targets:
            raise BadPlaces(f"{path}: {name} is missing: tables are filled through it")
    words = [name for name in PROCESSES if name != CLIENT]
    for name, place in places.targets.items():
        for process in place.containers.keys() - set(words):
            raise BadPlaces(f"{path}: {name}: no container is a {process}: give some of {', '.join(words)}")
        if "password" in place.address + place.reached_by:
            raise BadPlaces(f"{path}: {name}: a password stands in its address: PGPASSWORD and the Secret hold it")
    return places
