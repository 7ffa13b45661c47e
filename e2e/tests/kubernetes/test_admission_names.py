"""Where no certificate says who answers, a pod's own words can not lead the sidecar to another server."""

from collections.abc import Iterator

import pytest

from kubernetes import Namespace
from tests.kubernetes import admission
from tests.kubernetes.admission import ASKS, OPTS_OUT, made, pod, refusal

PLAIN = {"name": "plain", "protocol": "postgres", "port": 5432}
UPSTREAMS = [
    {**PLAIN, "name": "short", "host": "Orders", "listener": {"port": 15434}},
    {**PLAIN, "name": "address", "host": "10.0.0.9", "listener": {"port": 15435}},
]
PROVEN = "orders-db.data.svc.cluster.local"


@pytest.fixture(scope="module")
def released(namespace: Namespace) -> Iterator[Namespace]:
    admission.skip_without_injection(namespace)
    host = f"orders-0.orders.{namespace.name}.svc.cluster.local"
    upstreams = [*admission.VALUES["upstreams"], {**PLAIN, "host": host, "listener": {"port": 15433}}, *UPSTREAMS]
    with admission.released(namespace, {**admission.VALUES, "upstreams": upstreams}):
        yield namespace


@pytest.mark.parametrize(
    "spec",
    [
        {"hostAliases": [{"ip": "10.0.0.8", "hostnames": ["other", "orders"]}]},
        {"hostAliases": [{"ip": "10.0.0.8", "hostnames": ["orders.data.svc.cluster.local"]}]},
        {"hostname": "orders"},
        {"hostname": "orders-0", "subdomain": "orders"},
        {"hostnameOverride": "orders"},
    ],
    ids=str,
)
def test_a_pod_that_takes_the_name_of_an_upstream_is_refused(released: Namespace, spec: dict) -> None:
    said = refusal(lambda: made(released, pod(labels=ASKS, **spec)))
    assert "would lead the sidecar elsewhere than to orders" in said
    assert "give the upstream tls" in said
    assert made(released, pod(labels=OPTS_OUT, **spec))


def test_a_pod_that_is_called_like_an_upstream_is_refused(released: Namespace) -> None:
    """A pod's name stands in its /etc/hosts."""
    assert "elsewhere than to orders" in refusal(lambda: made(released, pod("orders", labels=ASKS)))
    assert made(released, pod("orders-1", labels=ASKS))


@pytest.mark.parametrize("config", [{"nameservers": ["10.0.0.8"]}, {"searches": ["example.com"]}])
def test_a_pod_with_other_name_servers_is_refused(released: Namespace, config: dict) -> None:
    policy = "None" if "nameservers" in config else "ClusterFirst"
    said = refusal(lambda: made(released, pod(labels=ASKS, dnsPolicy=policy, dnsConfig=config)))
    assert "dnsConfig with nameservers or searches" in said


def test_what_leads_to_no_upstream_or_to_one_that_proves_itself_is_let_in(released: Namespace) -> None:
    aliases = [{"ip": "10.0.0.8", "hostnames": [PROVEN, "another.example.com"]}]
    options = {"options": [{"name": "ndots", "value": "2"}]}
    assert made(released, pod(labels=ASKS, hostAliases=aliases, hostname="web", dnsConfig=options))
