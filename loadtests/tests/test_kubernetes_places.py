"""The file that says where a cluster's targets are."""

import json
from pathlib import Path

import msgspec
import psycopg
import pytest

from dev.layout import ROOT
from loadtests.kubernetes import places
from loadtests.kubernetes.places import BadPlaces, Place
from loadtests.kubernetes.remote import NotReady, Remote, RemoteLive
from loadtests.rig import TARGETS
from loadtests.suites import json_bodies

EXAMPLE = ROOT / "loadtests" / "kubernetes" / "places.example.json"


def written(folder: Path, **changes: object) -> Path:
    path = folder / "places.json"
    path.write_text(json.dumps({**json.loads(EXAMPLE.read_text()), **changes}))
    return path


def test_the_example_is_read():
    found = places.read(EXAMPLE)
    assert found.targets.keys() == TARGETS.keys() - {"pgbouncer", "fieldveil-native"}
    assert all("server" in place.containers for place in found.targets.values())


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"servers": {}}, "servers"),
        ({"targets": {"direct": {"address": "host=a"}}}, "fieldveil is missing"),
        ({"targets": {"sidecar": {"address": "host=a"}}}, "no target is called sidecar"),
        ({"targets": {"direct": {"address": "host=a password=b"}, "fieldveil": {"address": "host=a"}}}, "a password"),
    ],
)
def test_what_is_no_such_file_is_refused_with_its_reason(tmp_path, changes, says):
    with pytest.raises(BadPlaces, match=says):
        places.read(written(tmp_path, **changes))


def test_no_client_is_read_from_a_container(tmp_path):
    targets = msgspec.json.decode(EXAMPLE.read_bytes())["targets"]
    targets["direct"]["containers"]["client"] = targets["direct"]["containers"]["server"]
    with pytest.raises(BadPlaces, match="no container is a client"):
        places.read(written(tmp_path, targets=targets))


def test_runners_are_given_an_address_without_a_password():
    live = RemoteLive(TARGETS["fieldveil"], Place("host=orders.shop.svc port=6000 sslmode=require"))
    said = psycopg.conninfo.conninfo_to_dict(live.dsn("app", sslmode="disable"))
    assert said.pop("connect_timeout")
    # What the operator says of the address goes before what a run on one machine says.
    assert said == {
        "host": "orders.shop.svc", "port": "6000", "user": "app", "dbname": "sealed", "sslmode": "require"
    }  # fmt: skip


def test_a_suite_that_needs_the_machines_own_parts_is_told_so():
    remote = Remote(places.read(EXAMPLE), drop=False)
    try:
        with pytest.raises(NotReady, match="make loadtest"):
            remote.postgres  # noqa: B018
        with pytest.raises(NotReady, match="the rig's mysql"):
            remote.mysql  # noqa: B018
        with pytest.raises(NotReady, match="the rig's service"):
            json_bodies.prepare(remote, 1.0)
        assert not hasattr(remote, "no_such_part")
    finally:
        remote.work.remove()
