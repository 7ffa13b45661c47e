"""Which pods get the sidecar by injection, and that everything else of them stays as it was."""

from collections.abc import Iterator

import pytest

from kubernetes import Cluster, Namespace
from tests.kubernetes import admission
from tests.kubernetes.admission import ASKS, OPTS_OUT, container, made, names, pod

SIDECARS = ["fieldveil-agent", "fieldveil-opa", "fieldveil-envoy"]
SOCKET = {"name": "fieldveil-sockets", "mountPath": "/run/fieldveil"}
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


@pytest.fixture(scope="module")
def released(namespace: Namespace) -> Iterator[Namespace]:
    admission.skip_without_injection(namespace)
    with admission.released(namespace):
        yield namespace


@pytest.fixture(scope="module")
def labelled(cluster: Cluster) -> Iterator[Namespace]:
    """A namespace all of whose pods ask, and that Pod Security holds to `restricted`."""
    with Namespace(cluster, "fv-injection-all", labels={**ASKS, **RESTRICTED}) as made_one:
        admission.skip_without_injection(made_one)
        with admission.released(made_one):
            yield made_one


def test_a_pod_with_nothing_but_a_container_gets_the_sidecar_under_pod_security_restricted(labelled: Namespace) -> None:
    injected = made(labelled, pod(automountServiceAccountToken=False))
    assert names(injected["spec"]["initContainers"]) == SIDECARS
    assert injected["metadata"]["labels"] == {"fieldveil.io/sidecar": "true", "fieldveil.io/release": "fieldveil"}
    assert all(each["restartPolicy"] == "Always" for each in injected["spec"]["initContainers"])
    mounted = {mount["name"] for each in injected["spec"]["initContainers"] for mount in each["volumeMounts"]}
    assert mounted == set(names(injected["spec"]["volumes"]))


def test_a_pod_keeps_all_it_has_and_runs_its_own_init_containers_after_the_sidecar(released: Namespace) -> None:
    own = {"name": "scratch", "emptyDir": {}}
    mount = {"name": "scratch", "mountPath": "/scratch"}
    described = pod(
        labels={**ASKS, "app": "orders"},
        volumes=[own],
        initContainers=[container("migrate", volumeMounts=[mount]), container("wait")],
        containers=[container("main", volumeMounts=[mount]), container("second")],
    )
    described["metadata"]["annotations"] = {"example.com/kept": "yes"}
    injected = made(released, described)
    assert names(injected["spec"]["initContainers"]) == [*SIDECARS, "migrate", "wait"]
    assert names(injected["spec"]["containers"]) == ["main", "second"]
    assert injected["spec"]["volumes"][0] == own
    assert injected["metadata"]["labels"]["app"] == "orders"
    assert injected["metadata"]["annotations"]["example.com/kept"] == "yes"
    assert mount in admission.named(injected["spec"]["initContainers"], "migrate")["volumeMounts"]
    assert mount in admission.named(injected["spec"]["containers"], "main")["volumeMounts"]


def test_the_sockets_are_mounted_in_every_container_of_the_application(released: Namespace) -> None:
    taken = {"name": "own", "mountPath": SOCKET["mountPath"]}
    described = pod(
        labels=ASKS,
        volumes=[{"name": "own", "emptyDir": {}}],
        initContainers=[container("migrate")],
        containers=[container("main"), container("second", volumeMounts=[{"name": "own", "mountPath": "/o"}])],
    )
    described["spec"]["containers"].append(container("has-its-own-there", volumeMounts=[taken]))
    spec = made(released, described)["spec"]
    of_application = [each for each in spec["initContainers"] + spec["containers"] if each["name"] not in SIDECARS]
    with_socket = [each["name"] for each in of_application if SOCKET in each["volumeMounts"]]
    assert with_socket == ["migrate", "main", "second"]
    assert taken in admission.named(spec["containers"], "has-its-own-there")["volumeMounts"]


def test_what_values_say_reaches_the_container_letter_by_letter(released: Namespace) -> None:
    agent = admission.sidecar(made(released, pod(labels=ASKS)), "agent")
    given = admission.VALUES["keys"]["environment"]["ODD"]
    assert admission.named(agent["env"], "ODD")["value"] == given


@pytest.mark.parametrize("labels", [None, OPTS_OUT, {"fieldveil.io/inject": ""}])
def test_a_pod_that_does_not_ask_stays_as_it_was(released: Namespace, labels: dict | None) -> None:
    injected = made(released, pod(labels=labels))
    assert "initContainers" not in injected["spec"]
    assert injected["metadata"].get("labels") == labels
    assert "annotations" not in injected["metadata"]


def test_a_pod_opts_out_of_what_its_namespace_asks_for(labelled: Namespace) -> None:
    assert "initContainers" not in made(labelled, pod(labels=OPTS_OUT))["spec"]


def test_a_pod_of_another_namespace_stays_as_it_was(released: Namespace, cluster: Cluster) -> None:
    assert names(made(released, pod(labels=ASKS))["spec"]["initContainers"]) == SIDECARS
    with Namespace(cluster, "fv-injection-other") as other:
        assert "initContainers" not in made(other, pod(labels=ASKS))["spec"]


def test_a_pod_that_includes_the_sidecar_and_asks_gets_no_second_one(released: Namespace) -> None:
    described = admission.genuine(released)
    described["metadata"]["labels"].update(ASKS)
    again = made(released, described)
    assert again["spec"]["initContainers"] == described["spec"]["initContainers"]
    assert names(again["spec"]["volumes"]) == names(described["spec"]["volumes"])


def test_another_policy_that_changes_the_pod_afterwards_brings_no_second_sidecar(released: Namespace) -> None:
    """The API server then asks the policies before it again, if they wish."""
    with _adds_a_label(released):
        seen = "example.com/added"
        released.wait_until(lambda: seen in made(released, pod(labels=ASKS))["metadata"]["labels"], "the other", 30)
        assert names(made(released, pod(labels=ASKS))["spec"]["initContainers"]) == SIDECARS


def test_pods_of_deployments_and_jobs_get_the_sidecar_and_jobs_keep_their_init_containers(released: Namespace) -> None:
    template = {
        "metadata": {"labels": {**ASKS, "app": "made-by-controllers"}},
        "spec": {"schedulerName": admission.NO_SCHEDULER, "containers": [container("main")]},
    }
    of_job = {**template, "spec": {**template["spec"], "restartPolicy": "Never", "initContainers": [container("own")]}}
    selector = {"matchLabels": {"app": "made-by-controllers"}}
    released.apply(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"selector": selector, "template": template},
        },
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"}, "spec": {"template": of_job}},
    )
    found = released.wait_until(lambda: _two(released.pods("app=made-by-controllers")), "two pods", 30)
    shapes = sorted(names(each["spec"]["initContainers"]) for each in found)
    assert shapes == [SIDECARS, [*SIDECARS, "own"]]
    assert all(each["metadata"]["labels"]["fieldveil.io/sidecar"] == "true" for each in found)


def test_a_pod_in_the_network_of_the_node_is_refused_when_it_asks(released: Namespace) -> None:
    said = admission.refusal(lambda: made(released, pod(labels=ASKS, hostNetwork=True)))
    assert "pod app: hostNetwork" in said
    assert "fieldveil.io/inject: disabled" in said
    assert made(released, pod(labels=OPTS_OUT, hostNetwork=True))


def test_two_releases_in_a_namespace_each_serve_those_that_ask_for_them(released: Namespace) -> None:
    values = {"sidecar": {**admission.VALUES, "fullnameOverride": "second"}, "injection": {"label": "second"}}
    admission.helm(released, "install", "second", values)
    try:
        admission.wait_in_force(released, "second", "second")
        for label, release in (("enabled", "fieldveil"), ("second", "second")):
            injected = made(released, pod(labels={"fieldveil.io/inject": label}))
            assert names(injected["spec"]["initContainers"]) == SIDECARS
            assert injected["metadata"]["labels"]["fieldveil.io/release"] == release
            config = admission.named(injected["spec"]["volumes"], "fieldveil-config")
            assert config["configMap"]["name"] == f"{release}-config"
    finally:
        admission.helm(released, "uninstall", "second")


def _two(found: list[dict]) -> list[dict] | None:
    return found if len(found) == 2 else None


class _adds_a_label:
    """A mutating policy of another's, whose name comes after ours."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._name = f"zz-{namespace.name}"

    def __enter__(self) -> None:
        patch = 'JSONPatch{op: "add", path: "/metadata/labels/example.com~1added", value: "yes"}'
        match = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        of_namespace = {"matchLabels": {"kubernetes.io/metadata.name": self._namespace.name}}
        policy = {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "IfNeeded",
            "matchConstraints": {"namespaceSelector": of_namespace, "resourceRules": [match]},
            "matchConditions": [{"name": "labelled", "expression": "has(object.metadata.labels)"}],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": f"[{patch}]"}}],
        }
        self._namespace.apply(
            self._object("MutatingAdmissionPolicy", policy),
            self._object("MutatingAdmissionPolicyBinding", {"policyName": self._name}),
        )

    def __exit__(self, *_: object) -> None:
        for kind in ("mutatingadmissionpolicybinding", "mutatingadmissionpolicy"):
            self._namespace.kubectl("delete", kind, self._name)

    def _object(self, kind: str, spec: dict) -> dict:
        version = "admissionregistration.k8s.io/v1"
        return {"apiVersion": version, "kind": kind, "metadata": {"name": self._name}, "spec": spec}
