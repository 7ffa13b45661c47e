"""Who runs here decides: the environment of Envoy's process says it, as Kubernetes fills it for each pod."""

import json
from collections.abc import Iterator

import psycopg
import pytest

from harness import Options, Stack
from harness.process import PartFailed
from tests.rows import ADA, INSERT

SSN, MASKED, SEALED = ADA[3], "***-**-1120", "fv1."
RULES = [
    {
        "name": "the service account of the orders",
        "who": {"workload": {"namespace": ["shop"], "service_account": ["orders"]}},
        "labels": ["customer.ssn"],
        "read": {"treatment": "reveal"},
    },
    {
        "name": "pods of the team",
        "who": {"workload": {"labels": {"team": ["billing"]}}},
        "labels": ["customer.ssn"],
        "read": {"treatment": "mask", "format": "last4"},
    },
]
NAMESPACE, ACCOUNT = "FIELDVEIL_WORKLOAD_NAMESPACE", "FIELDVEIL_WORKLOAD_SERVICE_ACCOUNT"
LABELS = "FIELDVEIL_WORKLOAD_LABELS"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("policies")
    rules = folder / "rules" / "workload" / "data.json"
    rules.parent.mkdir(parents=True)
    rules.write_text(json.dumps({"rules": RULES}))
    environment = {NAMESPACE: "shop", ACCOUNT: "orders"}
    options = Options(
        policies=(folder,), filter_config={"workload": {"from": "environment"}}, envoy_environment=environment
    )
    with Stack(options).start() as running:
        with running.connect("app") as app:
            app.execute(INSERT, ADA)
        yield running


def as_pod(stack: Stack, **environment: str) -> None:
    """Envoy anew, as another pod's."""
    stack.envoy.stop()
    stack.envoy.environment = {name: value for name, value in environment.items() if value}
    stack.envoy.start()


def pod(namespace: str = "shop", account: str = "jobs", labels: str = "") -> dict[str, str]:
    return {NAMESPACE: namespace, ACCOUNT: account, LABELS: labels}


def ssn(stack: Stack) -> str:
    """As a user reads it of whom no rule speaks."""
    with stack.connect("auditor") as connection:
        return connection.execute("SELECT ssn FROM customer").fetchone()[0]


def test_service_account_decides_who_reads(stack: Stack) -> None:
    as_pod(stack, **pod(account="orders"))
    assert ssn(stack) == SSN
    for other in (pod(), pod("other", "orders")):
        as_pod(stack, **other)
        assert ssn(stack).startswith(SEALED)


def test_label_of_the_pod_decides_who_reads(stack: Stack) -> None:
    as_pod(stack, **pod(labels="tier=front,team=billing"))
    assert ssn(stack) == MASKED
    for labels in ("", "team=", "team=shipping", "tier=billing"):
        as_pod(stack, **pod(labels=labels))
        assert ssn(stack).startswith(SEALED)


def test_audit_says_whose_sidecar_it_was(stack: Stack) -> None:
    as_pod(stack, **pod("shop", "jobs", "team=billing"))
    before = len(stack.envoy.audit())
    ssn(stack)
    stack.envoy.stop()
    workload = stack.envoy.audit()[before:][-1]["workload"]
    assert workload == {"namespace": "shop", "service_account": "jobs", "spiffe_id": "", "labels": {"team": "billing"}}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({ACCOUNT: "orders"}, f"{NAMESPACE} is missing or empty; set it"),
        ({NAMESPACE: "shop"}, f"{ACCOUNT} is missing or empty; set it"),
        (pod(labels="team"), f"{LABELS}: label 1 has no `=`"),
    ],
)
def test_environment_that_does_not_say_it_lets_nobody_in(stack: Stack, environment: dict, expected: str) -> None:
    said = f"the filter's configuration is not usable: workload.from: {expected}"
    before = stack.envoy.process.log.read_text().count(said)
    try:
        as_pod(stack, **environment)
    except PartFailed:
        pass
    else:
        with pytest.raises(psycopg.OperationalError):
            ssn(stack)
    assert stack.envoy.process.log.read_text().count(said) > before
