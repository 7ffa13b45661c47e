"""A table that held values before there was a sidecar, sealed in place by an Indexed Job, and verified."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from harness import shop
from kubernetes import Cluster, Database, Keysets, Namespace, Release
from tests.kubernetes.sidecar import RESTRICTED, SEALED, Bundle, dsn_secret, values

ROWS, RANGES = 3000, 3
ACCOUNT = "sealer"
SEALER = {
    "name": "the Job writes what it seals",
    "who": {"workload": {"service_account": [ACCOUNT]}},
    "labels": ["customer.*"],
    "read": {"treatment": "reveal"},
    "write": "seal",
}
JOB = {
    "name": "customer",
    "table": "public.customer",
    "secret": "dsn",
    "count": RANGES,
    # Of the catalog in the bundle; the others are format-preserving, which are not sealed in place.
    "columns": ["email", "ssn"],
    "serviceAccountName": ACCOUNT,
}
SELECTOR = "fieldveil.io/table-job=customer"


@dataclass
class World:
    namespace: Namespace
    database: Database
    release: Release

    def run(self, **changes: object) -> list[dict]:
        """An upgrade to this job, and the reports of its pods when it is complete."""
        self.release.upgrade({"sealTable": {"jobs": [{**JOB, **changes}]}})
        return self.reports()

    def reports(self) -> list[dict]:
        self.namespace.wait_until(self._is_complete, "the job", 120, selector=SELECTOR)
        names = [pod["metadata"]["name"] for pod in self.namespace.pods(SELECTOR)]
        return [self._report(name) for name in names]

    def _report(self, pod: str) -> dict:
        """What stands on its standard output; the kubelet puts the lines of its progress anywhere between."""
        lines = self.namespace.logs(pod, "table").splitlines()
        return json.loads("\n".join(line for line in lines if line.startswith(("{", " ", "}"))))

    def _is_complete(self) -> bool:
        jobs = self.namespace.get("jobs", f"--selector={SELECTOR}")["items"]
        conditions = {
            each["type"] for job in jobs for each in job["status"].get("conditions", []) if each["status"] == "True"
        }
        assert "Failed" not in conditions, self.namespace.report(SELECTOR)
        return "Complete" in conditions

    def count(self, condition: str) -> int:
        return int(self.database.sql(f"SELECT count(*) FROM customer WHERE {condition}", shop.DATABASE))


@pytest.fixture(scope="module")
def world(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with Namespace(cluster, "fv-seal-table", RESTRICTED) as namespace:
        database, keysets = Database(namespace), Keysets(namespace)
        keysets.create("pii", "payments")
        namespace.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}})
        namespace.apply(dsn_secret("dsn", database.host))
        database.start()
        database.create_shop()
        database.sql(
            "INSERT INTO customer (id, email, ssn) SELECT n, 'c' || n || '@example.org', lpad(n::text, 9, '0') "
            f"FROM generate_series(1, {ROWS}) n",
            shop.DATABASE,
        )
        policies = Bundle(tmp_path_factory.mktemp("policies")).values(SEALER, revision="only")
        described = values(database.host, policies, keysets.values)
        yield World(namespace, database, Release(namespace, {**described, "sealTable": {"jobs": [JOB]}}))


# Three Jobs one after the other, each of whose pods compiles the filter.
def test_jobs_divide_seal_and_verify_a_table(world: World) -> None:
    world.release.install()
    (ranges,) = world.reports()
    assert len(ranges["ranges"]) == RANGES
    sealed = world.run(ranges=json.dumps(ranges))
    assert [report["command"] for report in sealed] == ["seal"] * RANGES
    assert world.count(f"ssn LIKE '{SEALED}%' AND email LIKE '{SEALED}%'") == ROWS
    verified = world.run(ranges=json.dumps(ranges), command="verify")
    assert [report["faulty"] for report in verified] == [0] * RANGES
