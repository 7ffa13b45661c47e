"""A service behind its sidecar, in a pod with a database's: nothing is lost when its pods are replaced under load."""

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest

from harness.waiting import patience
from kubernetes import Cluster, Database, Keysets, Namespace, Release, pods
from kubernetes.application import psql
from tests.kubernetes.sidecar import INJECT, RESTRICTED, SEALED, SSN, Bundle, reach, values, wait_injecting

SERVICE, SERVICE_PORT, CONTROL_PORT = "shop-api", 8080, 9001
CARD = "4111 1111 1111 1111"
# More would be the machine's limit, not the sidecar's: it starts another Envoy meanwhile.
RATE = 40
# As long as kube-proxy and clients need to turn elsewhere.
PRE_STOP_SECONDS = 5
ALL = {
    "name": "the service works with everything",
    "who": {"workload": {"service_account": [SERVICE]}},
    "labels": ["customer.*"],
    "read": {"treatment": "reveal"},
    "write": "seal",
}
# Each answer must be what was asked for, in clear again. No request is sent twice.
LOAD = f"""\
import http from "k6/http";
import {{ check }} from "k6";

export const options = {{
  scenarios: {{
    // So few that each connection has an answer while Envoy drains, and in it the word to connect anew. One that idles
    // all that time is closed at the end, as a request may come on it: HTTP/1.1 leaves that to clients to try again.
    steady: {{ executor: "constant-arrival-rate", rate: {RATE}, duration: "10m", preAllocatedVUs: 8, maxVUs: 8 }},
  }},
}};

export default function () {{
  const body = JSON.stringify({{ id: __ITER, card: "{CARD}" }});
  const answer = http.post("http://{SERVICE}:{SERVICE_PORT}/echo", body, {{
    headers: {{ "content-type": "application/json" }},
  }});
  const good = check(answer, {{ "is what was sent": (got) => got.status === 200 && got.body === body }});
  if (!good) console.error(`status ${{answer.status}}, error ${{answer.error}}, body ${{answer.body}}`);
}}

// Of answers alone: a request that was under way when k6 was stopped has none.
export function handleSummary({{ metrics }}) {{
  const told = {{ good: metrics.checks.values.passes, bad: metrics.checks.values.fails }};
  return {{ stdout: `SUMMARY ${{JSON.stringify(told)}}\\n` }};
}}
"""


@dataclass
class World:
    namespace: Namespace
    database: Database

    @property
    def pod(self) -> str:
        return self.namespace.pods(f"app={SERVICE}")[0]["metadata"]["name"]

    def got(self) -> list[str]:
        """The bodies that the service got, the newest last."""
        requests = json.loads(reach(self.namespace, self.pod, CONTROL_PORT, "/requests"))
        return [base64.b64decode(each["body"] or "").decode() for each in requests if each["method"] == "POST"]


@pytest.fixture(scope="module")
def world(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        namespace = stack.enter_context(Namespace(cluster, "fv-http", RESTRICTED))
        database, keysets = Database(namespace), Keysets(namespace)
        keysets.create("pii", "payments")
        policies = Bundle(tmp_path_factory.mktemp("policies")).values(ALL, revision="only")
        described = values(database.host, policies, keysets.values)
        described["sidecar"]["upstreams"].append(
            {
                "name": SERVICE,
                "protocol": "http",
                "host": "127.0.0.1",
                "port": 9000,
                "listener": {"address": "0.0.0.0", "port": SERVICE_PORT},
                "http": {"service": SERVICE},
            }
        )
        Release(namespace, described).install()
        wait_injecting(namespace)
        deploy(namespace)
        database.start()
        database.create_shop()
        namespace.wait_ready(f"app={SERVICE}")
        yield World(namespace, database)


def deploy(namespace: Namespace) -> None:
    image = namespace.cluster.image
    service = pods.container(
        SERVICE,
        image("shop-api").reference,
        1000,
        args=["--listen=127.0.0.1:9000", f"--control=0.0.0.0:{CONTROL_PORT}"],
        # Of both: the service answers, and the sidecar in front of it.
        readinessProbe={"httpGet": {"path": "/echo", "port": SERVICE_PORT}, "periodSeconds": 1},
        lifecycle={"preStop": {"sleep": {"seconds": PRE_STOP_SECONDS}}},
    )
    shell = pods.container("app", image("postgres").reference, 1000, command=pods.SLEEP)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": SERVICE}}
    spec = {"serviceAccountName": SERVICE, "containers": [service, shell]}
    namespace.apply(
        account,
        pods.service(SERVICE, SERVICE_PORT),
        pods.workload("Deployment", SERVICE, spec, labels=INJECT),
    )


def test_service_and_database_of_one_pod_are_both_behind_the_sidecar(world: World) -> None:
    with load(world) as end:
        world.namespace.wait_until(lambda: len(world.got()) > 2, "requests", 30)
    assert end()["good"] > 0
    for body in world.got():
        assert json.loads(body)["card"].startswith(SEALED)
    pod = f"pod/{world.pod}"
    psql(world.namespace, pod, f"INSERT INTO customer (id, ssn) VALUES (1, '{SSN}')")
    assert psql(world.namespace, pod, "SELECT ssn FROM customer WHERE id = 1") == SSN
    assert world.database.sql("SELECT ssn FROM customer WHERE id = 1", "shop").startswith(SEALED)


def test_rolling_restart_under_load_loses_no_request(world: World) -> None:
    before = world.pod
    with load(world) as end:
        world.namespace.wait_until(lambda: len(world.got()) > RATE, "requests", 30)
        world.namespace.kubectl("rollout", "restart", f"deployment/{SERVICE}")
        world.namespace.kubectl(
            "rollout", "status", f"deployment/{SERVICE}", f"--timeout={patience(120):.0f}s", seconds=130
        )
        world.namespace.kubectl("wait", f"pod/{before}", "--for=delete", f"--timeout={patience(60):.0f}s", seconds=70)
        # The new one has had its share.
        world.namespace.wait_until(lambda: len(world.got()) > RATE, "requests", 30)
    assert world.pod != before
    told = end()
    assert told["bad"] == 0, told
    assert told["good"] > 2 * RATE


@contextmanager
def load(world: World) -> Iterator["Result"]:
    """Steady requests from another pod; after it, what became of all of them."""
    namespace = world.namespace
    script = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "load"}, "data": {"load.js": LOAD}}
    k6 = pods.container(
        "k6",
        namespace.cluster.image("k6").reference,
        1000,
        args=["run", "--quiet", "--no-usage-report", "/etc/k6/load.js"],
        volumeMounts=[{"name": "script", "mountPath": "/etc/k6"}],
    )
    volumes = [{"name": "script", "configMap": {"name": "load"}}]
    spec = {"restartPolicy": "Never", "containers": [k6], "volumes": volumes}
    namespace.apply(script, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "load"}, "spec": spec})
    namespace.kubectl("wait", "pod/load", "--for=condition=Ready", f"--timeout={patience(60):.0f}s", seconds=70)
    result = Result(namespace)
    try:
        yield result
        namespace.exec("pod/load", "sh", "-c", "kill -INT 1")
        namespace.wait_until(lambda: namespace.get("pod", "load")["status"]["phase"] != "Running", "its end", 60)
        result.text = namespace.logs("load", "k6")
    finally:
        namespace.kubectl("delete", "pod", "load", "--grace-period=0", "--force")


class Result:
    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self.text = ""

    def __call__(self) -> dict:
        summary = [line for line in self.text.splitlines() if line.startswith("SUMMARY ")]
        assert summary, self.text
        errors = [line for line in self.text.splitlines() if "level=error" in line]
        return {**json.loads(summary[0].removeprefix("SUMMARY ")), "errors": errors[:5]}
