"""The injected sidecar of a database: sealed values, who sees what, changes of policies and keys, killed processes."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg
import pytest

from harness import shop
from harness.bundles import SigningKey
from harness.waiting import patience
from kubernetes import Application, Cluster, CommandFailed, Database, Keysets, Namespace, Release
from kubernetes.pods import SECURITY_CONTEXT
from kubernetes.problems import is_ready, statuses
from tests.kubernetes.conftest import SECONDS
from tests.kubernetes.node import Node, node
from tests.kubernetes.sidecar import (
    AUDITORS,
    BILLING,
    EMAIL,
    INJECT,
    PHONE,
    RESTRICTED,
    SEALED,
    SSN,
    SUPPORT,
    Bundle,
    reach,
    values,
    wait_injecting,
)
from tests.kubernetes.workers import sessions_of_every_worker, wait_served

SIDECARS = ["fieldveil-agent", "fieldveil-opa", "fieldveil-envoy"]
# A policy, polled each second; a plan of one second, renewed two seconds later at most; and a busy machine.
IN_FORCE_SECONDS = 30.0
# What `last4` makes of SSN.
MASKED = "***-**-6789"
SUPPORT_PODS = "app=support"
# More than anybody can try to insert while a sidecar starts on the slowest machine.
ROWS = 100_000
SEES_ALL = {**SUPPORT, "read": {"treatment": "reveal"}}


@dataclass
class World:
    namespace: Namespace
    database: Database
    keysets: Keysets
    bundle: Bundle
    release: Release
    billing: Application
    support: Application
    auditor: Application

    def stored(self, id: int, column: str = "ssn") -> str:
        """What the server has."""
        return self.database.sql(f"SELECT {column} FROM customer WHERE id = {id}", shop.DATABASE)

    def insert(self, id: int) -> None:
        self.billing.psql(f"INSERT INTO customer (id, email, ssn, phone) VALUES ({id}, '{EMAIL}', '{SSN}', '{PHONE}')")

    def restarts(self) -> int:
        pods = self.namespace.get("pods", "--selector=fieldveil.io/sidecar=true")["items"]
        return sum(status["restartCount"] for pod in pods for status in statuses(pod))


@pytest.fixture(scope="module")
def world(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        namespace = stack.enter_context(Namespace(cluster, "fv-sidecar", RESTRICTED))
        database, keysets = Database(namespace), Keysets(namespace)
        keysets.create("pii", "payments")
        bundle = Bundle(tmp_path_factory.mktemp("policies"))
        policies = bundle.values(BILLING, SUPPORT, AUDITORS, revision="first")
        described = values(database.host, policies, keysets.values, identity={"podLabels": ["team"]})
        release = Release(namespace, described)
        release.install()
        wait_injecting(namespace)
        applications = {
            "billing": Application(namespace, "billing", labels=INJECT),
            "support": Application(namespace, "support", labels=INJECT),
            # Nobody by the service account, somebody by the label.
            "auditor": Application(namespace, "auditor", labels={**INJECT, "team": "auditors"}),
        }
        for application in applications.values():
            application.create()
        database.start()
        database.create_shop()
        for application in applications.values():
            (pod,) = application.wait_ready()
            wait_served(namespace, pod)
        yield World(namespace, database, keysets, bundle, release, **applications)


@pytest.fixture(scope="module")
def the_node(cluster: Cluster) -> Iterator[Node]:
    with node(cluster) as made:
        yield made


def test_application_starts_after_the_sidecar_and_has_no_more_rights(world: World) -> None:
    pod = world.billing.pod()
    status = {one["name"]: one for one in statuses(pod)}
    started = [status[name]["state"]["running"]["startedAt"] for name in (*SIDECARS, "app")]
    assert started == sorted(started)
    names = [one["name"] for one in pod["spec"]["initContainers"]]
    assert [name for name in names if name in SIDECARS] == SIDECARS
    # The namespace's Pod Security has refused whatever is not restricted; what it does not ask for:
    for container in pod["spec"]["initContainers"]:
        assert container["securityContext"]["readOnlyRootFilesystem"] is True, container["name"]
        assert container["resources"]["limits"]["memory"], container["name"]


def test_values_are_sealed_at_the_server_and_opened_for_the_application(world: World) -> None:
    world.insert(1)
    assert world.stored(1).startswith(SEALED)
    assert world.stored(1, "email").startswith(SEALED)
    assert world.billing.psql("SELECT ssn, email FROM customer WHERE id = 1") == f"{SSN}|{EMAIL}"
    assert world.billing.psql(f"SELECT id FROM customer WHERE email = '{EMAIL}' AND id = 1") == "1"


def test_treatment_goes_by_the_service_account_and_by_a_label_of_the_pod(world: World) -> None:
    world.insert(2)
    ask = "SELECT ssn, email FROM customer WHERE id = 2"
    ssn, email = world.stored(2), world.stored(2, "email")
    assert world.support.psql(ask) == f"{MASKED}|{email}"
    assert world.auditor.psql(ask) == f"{ssn}|{EMAIL}"
    with pytest.raises(CommandFailed, match=r"ERROR: +fieldveil: "):
        world.auditor.psql("UPDATE customer SET ssn = 'known' WHERE id = 2")
    assert world.stored(2) == ssn


def test_policy_of_an_upgrade_reaches_running_pods(world: World) -> None:
    world.insert(3)
    with sessions_of_every_worker(world.namespace, name_of(world.support)) as sessions:

        def every_worker_shows(value: str) -> bool:
            ask = "SELECT ssn FROM customer WHERE id = 3"
            return all(session.execute(ask).fetchone() == (value,) for session in sessions)

        assert every_worker_shows(MASKED)
        for rule, shown, revision in ((SEES_ALL, SSN, "second"), (SUPPORT, MASKED, "third")):
            upgrade(world, world.bundle.values(BILLING, rule, AUDITORS, revision=revision))
            in_force = partial(every_worker_shows, shown)
            world.namespace.wait_until(in_force, f"the {revision} policy", IN_FORCE_SECONDS, touching=SUPPORT_PODS)
    assert world.restarts() == 0


def test_bundle_that_somebody_else_signed_leaves_the_old_policy_in_force(world: World, tmp_path: Path) -> None:
    world.insert(4)
    forged = world.bundle.build_with(SigningKey(tmp_path), BILLING, SEES_ALL, AUDITORS, revision="forged")
    before = bundle_failures(world)
    upgrade(world, {"bundle": base64.b64encode(forged).decode()})
    world.namespace.wait_until(
        lambda: bundle_failures(world) > before, "a refused bundle", IN_FORCE_SECONDS, touching=SUPPORT_PODS
    )
    assert world.support.psql("SELECT ssn FROM customer WHERE id = 4") == MASKED
    assert world.billing.psql("SELECT ssn FROM customer WHERE id = 4") == SSN
    upgrade(world, world.bundle.values(BILLING, SUPPORT, AUDITORS, revision="fourth"))


def test_rotated_key_seals_in_running_pods_and_the_old_one_still_opens(world: World) -> None:
    world.insert(5)
    old = world.stored(5, "phone")
    world.keysets.keys("rotate", "pii")
    world.keysets.publish()

    with sessions_of_every_worker(world.namespace, name_of(world.billing)) as sessions:

        def seals_anew(session: psycopg.Connection) -> bool:
            session.execute("DELETE FROM customer WHERE id = 6")
            session.execute("INSERT INTO customer (id, phone) VALUES (6, %s)", [PHONE])
            return key_of(world.stored(6, "phone")) != key_of(old)

        world.namespace.wait_until(
            lambda: all(map(seals_anew, sessions)),
            "every worker to seal under the new key",
            IN_FORCE_SECONDS,
            touching=world.billing.selector,
        )
        assert world.stored(5, "phone") == old
        for session in sessions:
            assert session.execute("SELECT phone FROM customer WHERE id IN (5, 6)").fetchall() == [(PHONE,)] * 2
    assert world.restarts() == 0


@pytest.mark.parametrize("container", SIDECARS)
def test_sidecar_that_is_killed_comes_back_and_lets_nothing_through_meanwhile(
    world: World, the_node: Node, container: str
) -> None:
    name = world.billing.pod()["metadata"]["name"]
    first = ROWS * (1 + SIDECARS.index(container))
    with Inserts(world, first) as inserts:
        world.namespace.wait_until(lambda: inserts.acknowledged(), "an insert", IN_FORCE_SECONDS)
        the_node.kill(world.namespace, name, container)

        def is_back() -> bool:
            pod = world.namespace.get("pod", name)
            status = next(one for one in statuses(pod) if one["name"] == container)
            return status["restartCount"] == 1 and is_ready(pod)

        world.namespace.wait_until(is_back, f"{container} again", 90)
        inserted = len(inserts.acknowledged())
        world.namespace.wait_until(lambda: len(inserts.acknowledged()) > inserted, "another insert", IN_FORCE_SECONDS)
    status = {one["name"]: one["restartCount"] for one in statuses(world.billing.pod())}
    assert status["app"] == 0
    ids = world.database.sql(f"SELECT id FROM customer WHERE id BETWEEN {first} AND {first + ROWS - 1}", shop.DATABASE)
    assert inserts.acknowledged() <= set(map(int, ids.split()))
    in_clear = f"SELECT count(*) FROM customer WHERE ssn NOT LIKE '{SEALED}%' OR email NOT LIKE '{SEALED}%'"
    assert world.database.sql(in_clear, shop.DATABASE) == "0"


def test_metrics_are_at_the_pods_address_and_nothing_else_is(world: World) -> None:
    name = world.billing.pod()["metadata"]["name"]
    assert "\nfieldveil_" in (reach(world.namespace, name, 15020, "/stats/prometheus") or "")
    assert "fieldveil_agent_keysets" in (reach(world.namespace, name, 15021, "/metrics") or "")
    assert "bundle" in (reach(world.namespace, name, 15022, "/metrics") or "")
    for port, path in (
        (15020, "/"),
        (15020, "/config_dump"),
        (15020, "/stats"),
        (15020, "/stats/prometheus/../../config_dump"),
        (15021, "/v1/keysets"),
        (15022, "/v1/data"),
        (15022, "/v1/policies"),
        # The listener of the database and the bundle are for the pod's own loopback.
        (15023, "/fieldveil.tar.gz"),
        (15432, "/"),
    ):
        assert reach(world.namespace, name, port, path) is None, f"{port}{path}"


def test_pod_that_says_it_has_the_sidecar_and_has_not_is_refused(world: World) -> None:
    bare = "fieldveil.io/sidecar=true,fieldveil.io/release=fieldveil"
    with pytest.raises(CommandFailed, match="no init container fieldveil-agent"):
        world.namespace.kubectl("run", "bare", "--image=none", f"--labels={bare}", f"--overrides={RESTRICTED_POD}")
    assert not world.namespace.exists("pod", "bare")


def test_pod_that_does_not_ask_for_the_sidecar_gets_none(world: World) -> None:
    plain = Application(world.namespace, "plain")
    plain.start()
    pod = plain.pod()
    assert "initContainers" not in pod["spec"]
    # So what a NetworkPolicy lets to the database does not let this one.
    assert "fieldveil.io/sidecar" not in pod["metadata"]["labels"]


def name_of(application: Application) -> str:
    return application.pod()["metadata"]["name"]


def upgrade(world: World, policies: dict) -> None:
    world.release.upgrade({"sidecar": {"policies": policies}})


def bundle_failures(world: World) -> float:
    """Bundles that OPA beside support's application would not take."""
    text = reach(world.namespace, world.support.pod()["metadata"]["name"], 15022, "/metrics") or ""
    series = [line for line in text.splitlines() if line.startswith("bundle_failed_load_counter")]
    return sum(float(line.rpartition(" ")[2]) for line in series)


def key_of(stored: str) -> bytes:
    """The id of the key that sealed it: docs/reference/envelope.md."""
    text = stored.removeprefix(SEALED)
    envelope = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return envelope[7:11]


RESTRICTED_CONTAINER = {"name": "bare", "image": "none", "securityContext": SECURITY_CONTEXT}
RESTRICTED_POD = json.dumps({"spec": {"securityContext": {"runAsUser": 1000}, "containers": [RESTRICTED_CONTAINER]}})


class Inserts(threading.Thread):
    """An application that inserts row after row, a connection each, and goes on after errors."""

    LOOP = """\
rm -f /tmp/stop; i={first}
until [ -e /tmp/stop ] || [ $i -ge {last} ]; do
  statement="INSERT INTO customer (id, email, ssn) VALUES ($i, '{email}', '{ssn}')"
  psql -X -q "host=127.0.0.1 port=15432 user=app dbname=shop" -c "$statement" && echo $i >>/tmp/inserted-{first}
  i=$((i + 1)); sleep 0.05
done
"""

    def __init__(self, world: World, first: int) -> None:
        super().__init__(daemon=True)
        self._world, self._first = world, first
        self.failure: BaseException | None = None

    def run(self) -> None:
        script = self.LOOP.format(first=self._first, last=self._first + ROWS - 1, email=EMAIL, ssn=SSN)
        settings = [f"PGPASSWORD={shop.PASSWORD}", "PGCLIENTENCODING=UTF8", "PGCONNECT_TIMEOUT=5"]
        try:
            self._world.billing.exec("env", *settings, "sh", "-c", script, seconds=SECONDS)
        except BaseException as failure:
            self.failure = failure

    def acknowledged(self) -> set[int]:
        """Rows of which the application was told that they are there."""
        script = f"cat /tmp/inserted-{self._first} 2>/dev/null || :"
        return set(map(int, self._world.billing.exec("sh", "-c", script).split()))

    def __enter__(self) -> "Inserts":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._world.billing.exec("sh", "-c", ": >/tmp/stop")
        self.join(patience())
        assert self.failure is None, self.failure
