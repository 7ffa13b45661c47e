"""Pods that say that they carry the sidecar and don't, or reach for what is private to it, are refused and told why."""

import copy
from collections.abc import Callable, Iterator

import pytest

from kubernetes import Namespace
from tests.kubernetes import admission
from tests.kubernetes.admission import ASKS, OPTS_OUT, SAYS_SO, container, made, named, pod, refusal, sidecar

SLEEP = ["sleep", "1000"]
Change = Callable[[dict], object]


@pytest.fixture(scope="module")
def released(namespace: Namespace) -> Iterator[Namespace]:
    admission.skip_without_injection(namespace)
    with admission.released(namespace):
        yield namespace


@pytest.fixture(scope="module")
def genuine(released: Namespace) -> dict:
    """A pod with the sidecar as rendered, which is taken: the tests change one thing of it."""
    described = admission.genuine(released)
    assert made(released, described)
    return described


LABELS = [
    {"fieldveil.io/sidecar": "true"},
    {"fieldveil.io/sidecar": "false"},
    {"fieldveil.io/release": "fieldveil"},
    SAYS_SO,
]


@pytest.mark.parametrize("labels", LABELS)
def test_a_label_without_the_sidecar_is_refused(released: Namespace, labels: dict) -> None:
    said = refusal(lambda: made(released, pod(labels={**labels, **OPTS_OUT})))
    assert "pod app: no init container fieldveil-agent, fieldveil-opa, fieldveil-envoy" in said
    assert "or the labels away" in said


def test_a_pod_that_says_it_carries_another_releases_sidecar_is_left_to_that_release(released: Namespace) -> None:
    assert made(released, pod(labels={"fieldveil.io/sidecar": "true", "fieldveil.io/release": "another"}))


def test_containers_of_the_sidecars_names_do_not_stand_for_it(released: Namespace) -> None:
    """They keep the injection away, too."""
    impostors = [container(f"fieldveil-{name}") for name in ("agent", "opa", "envoy")]
    said = refusal(lambda: made(released, pod(labels=ASKS, containers=[container("main"), *impostors])))
    assert "no init container fieldveil-agent, fieldveil-opa, fieldveil-envoy though it asks for injection" in said
    said = refusal(lambda: made(released, pod(labels=ASKS, initContainers=impostors)))
    assert "init container fieldveil-agent differs in image, restartPolicy" in said


@pytest.mark.parametrize("value", ["true", "Enabled", "enable"])
def test_a_value_of_the_label_that_no_release_goes_by_is_refused(released: Namespace, value: str) -> None:
    """Nothing would be injected, and nobody would say so."""
    said = refusal(lambda: made(released, pod(labels={"fieldveil.io/inject": value})))
    assert f"is {value}: say enabled, or another release's injection.label, or disabled" in said


def _set(name: str, field: str, value: object) -> Change:
    return lambda described: sidecar(described, name).__setitem__(field, value)


def _drop(name: str, *fields: str) -> Change:
    return lambda described: [sidecar(described, name).pop(field) for field in fields]


def _secure(name: str, **values: object) -> Change:
    return lambda described: sidecar(described, name)["securityContext"].update(values)


def _add(name: str, field: str, value: object) -> Change:
    return lambda described: sidecar(described, name).setdefault(field, []).append(value)


def _replace(name: str, field: str, /, **value: object) -> Change:
    """The member of this name (or path) becomes the value."""
    key = "mountPath" if field == "volumeMounts" else "name"

    def change(described: dict) -> None:
        kept = [item for item in sidecar(described, name)[field] if item[key] != value[key]]
        assert len(kept) < len(sidecar(described, name)[field])
        sidecar(described, name)[field] = [*kept, value]

    return change


ANOTHER = "fieldveil.io/other:1"
PROGRAM = {"exec": {"command": ["/usr/local/bin/envoy", "--config-yaml", "{}"]}}
CREDENTIALS = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
MORE_MOUNT = {"name": "fieldveil-admin", "mountPath": "/more"}
# What is changed, of which container, and what the message calls it.
DIFFERENCES = {
    "image": ("envoy", "image", _set("envoy", "image", ANOTHER)),
    "image-of-agent": ("agent", "image", _set("agent", "image", ANOTHER)),
    "not-a-sidecar": (
        "opa",
        "restartPolicy, startupProbe, livenessProbe",
        _drop("opa", "restartPolicy", "startupProbe", "livenessProbe"),
    ),
    "command": ("envoy", "command", _set("envoy", "command", ["sleep"])),
    "arguments": ("envoy", "args", _set("envoy", "args", ["--config-yaml", "{}"])),
    "no-arguments": ("opa", "args", _drop("opa", "args")),
    "one-more-argument": ("agent", "args", _add("agent", "args", "--max-offline=1000h")),
    "another-identity": (
        "envoy",
        "env",
        _replace("envoy", "env", name="FIELDVEIL_WORKLOAD_SERVICE_ACCOUNT", value="billing"),
    ),
    "identity-said-twice": (
        "envoy",
        "env",
        _add("envoy", "env", {"name": "FIELDVEIL_WORKLOAD_LABELS", "value": "team=billing"}),
    ),
    "one-more-variable": ("envoy", "env", _add("envoy", "env", {"name": "LD_PRELOAD", "value": "/x.so"})),
    "variables-of-a-secret": ("agent", "envFrom", _set("agent", "envFrom", [{"secretRef": {"name": "x"}}])),
    "user": ("agent", "securityContext", _secure("agent", runAsUser=1000)),
    "root-file-system": ("opa", "securityContext", _secure("opa", readOnlyRootFilesystem=False)),
    "escalation": ("envoy", "securityContext", _secure("envoy", allowPrivilegeEscalation=True)),
    "capabilities": (
        "envoy",
        "securityContext",
        _secure("envoy", capabilities={"drop": ["ALL"], "add": ["SYS_PTRACE"]}),
    ),
    "seccomp": ("envoy", "securityContext", _secure("envoy", seccompProfile={"type": "Unconfined"})),
    "one-more-mount": ("agent", "volumeMounts", _add("agent", "volumeMounts", MORE_MOUNT)),
    "another-mount": (
        "agent",
        "volumeMounts",
        _replace("agent", "volumeMounts", name="fieldveil-config", mountPath="/etc/fieldveil/keysets"),
    ),
    "part-of-a-volume": (
        "opa",
        "volumeMounts",
        _replace("opa", "volumeMounts", name="fieldveil-config", mountPath="/etc/fieldveil/config", subPath="x"),
    ),
    "lifecycle": ("agent", "lifecycle", _set("agent", "lifecycle", {"preStop": {"exec": {"command": ["x"]}}})),
    "folder": ("envoy", "workingDir", _set("envoy", "workingDir", "/run/fieldveil")),
    "program-as-startup-probe": ("envoy", "startupProbe", _set("envoy", "startupProbe", PROGRAM)),
    "program-as-readiness-probe": ("envoy", "readinessProbe", _set("envoy", "readinessProbe", PROGRAM)),
    "program-as-liveness-probe": ("envoy", "livenessProbe", _set("envoy", "livenessProbe", PROGRAM)),
    "not-waited-for": ("opa", "startupProbe", _drop("opa", "startupProbe")),
    "file-over-its-own": (
        "opa",
        "terminationMessagePath",
        _set("opa", "terminationMessagePath", "/etc/fieldveil/config/log.rego"),
    ),
    "app-armor": ("envoy", "securityContext", _secure("envoy", appArmorProfile={"type": "Unconfined"})),
    "asks-another-for-credentials": (
        "agent",
        "env",
        _add("agent", "env", {"name": CREDENTIALS, "value": "http://127.0.0.1:9/"}),
    ),
}


@pytest.mark.parametrize("of", DIFFERENCES)
def test_a_sidecar_that_differs_is_refused_with_what_differs(released: Namespace, genuine: dict, of: str) -> None:
    name, aspect, change = DIFFERENCES[of]
    changed = copy.deepcopy(genuine)
    change(changed)
    said = refusal(lambda: made(released, changed))
    assert f"pod app: init container fieldveil-{name} differs in {aspect} from the sidecar of release fieldveil" in said


VOLUMES = {
    "fieldveil-config": {"configMap": {"name": "mine"}},
    "fieldveil-modules": {"emptyDir": {}},
    "fieldveil-policies": {"configMap": {"name": "policies", "items": [{"key": "mine", "path": "fieldveil.tar.gz"}]}},
    "fieldveil-policy-key": {"configMap": {"name": "mine"}},
    "fieldveil-keysets": {"configMap": {"name": "keysets"}},
    "fieldveil-agent": {"emptyDir": {}},
    "fieldveil-opa": {"hostPath": {"path": "/tmp"}},
    "fieldveil-token": {
        "projected": {"sources": [{"serviceAccountToken": {"path": "vault", "audience": "mine"}}]},
    },
    "fieldveil-upstream-orders-db": {"secret": {"secretName": "mine"}},
}


@pytest.mark.parametrize("name", VOLUMES)
def test_a_volume_from_elsewhere_is_refused(released: Namespace, genuine: dict, name: str) -> None:
    changed = copy.deepcopy(genuine)
    volume = named(changed["spec"]["volumes"], name)
    volume.clear()
    volume.update({"name": name, **VOLUMES[name]})
    said = refusal(lambda: made(released, changed))
    assert f"pod app: volumes {name} are missing or differ from those of release fieldveil" in said


LEADING_ASTRAY = [
    "/var/run/secrets/../../../etc/fieldveil/config",
    "/var/run/secrets/./fieldveil.io/token",
    "/var/run/secrets//fieldveil.io/token",
    "/var/run/secrets/fieldveil.io",
]


@pytest.mark.parametrize("path", LEADING_ASTRAY)
def test_a_mount_among_the_tokens_does_not_lead_to_what_is_the_sidecars_own(
    released: Namespace, genuine: dict, path: str
) -> None:
    changed = copy.deepcopy(genuine)
    changed["spec"]["volumes"].append({"name": "mine", "configMap": {"name": "mine"}})
    sidecar(changed, "envoy")["volumeMounts"].append({"name": "mine", "mountPath": path})
    assert "fieldveil-envoy differs in volumeMounts" in refusal(lambda: made(released, changed))


@pytest.mark.parametrize(("name", "kind"), [("fieldveil-keysets", "secret"), ("fieldveil-config", "configMap")])
def test_a_volume_with_other_names_for_its_keys_is_refused(
    released: Namespace, genuine: dict, name: str, kind: str
) -> None:
    """A keyset of another's name would seal and open in its place."""
    changed = copy.deepcopy(genuine)
    named(changed["spec"]["volumes"], name)[kind]["items"] = [{"key": "one", "path": "another"}]
    assert f"volumes {name} are missing or differ" in refusal(lambda: made(released, changed))


def test_one_more_source_in_a_projected_volume_is_refused(released: Namespace, genuine: dict) -> None:
    changed = copy.deepcopy(genuine)
    sources = named(changed["spec"]["volumes"], "fieldveil-upstream-orders-db")["projected"]["sources"]
    sources.append({"configMap": {"name": "mine"}})
    assert "volumes fieldveil-upstream-orders-db" in refusal(lambda: made(released, changed))


def test_what_clusters_add_to_containers_is_let_in(released: Namespace, genuine: dict) -> None:
    """Tokens by the API server and clouds' webhooks, with the variables that name them; other pull policies."""
    added = copy.deepcopy(genuine)
    for each in added["spec"]["initContainers"]:
        each.setdefault("env", []).insert(0, {"name": "AWS_REGION", "value": "eu-central-1"})
        each["env"].insert(0, {"name": CREDENTIALS, "value": "http://169.254.170.23/v1/credentials"})
        each["imagePullPolicy"] = "Always"
        token = "/var/run/secrets/eks.amazonaws.com/serviceaccount"
        each["volumeMounts"].append({"name": "aws-iam-token", "mountPath": token, "readOnly": True})
    source = {"serviceAccountToken": {"path": "token", "audience": "sts.amazonaws.com"}}
    added["spec"]["volumes"].append({"name": "aws-iam-token", "projected": {"sources": [source]}})
    assert made(released, added)


PRIVATE = [name for name in [*VOLUMES, "fieldveil-admin"] if name != "fieldveil-sockets"]


@pytest.mark.parametrize("name", PRIVATE)
def test_a_container_of_the_application_that_mounts_what_is_private_is_refused(released: Namespace, name: str) -> None:
    mount = {"name": name, "mountPath": "/mine"}
    for described in (
        pod(labels=ASKS, containers=[container("main"), container("peeks", volumeMounts=[mount])]),
        pod(labels=ASKS, initContainers=[container("peeks", volumeMounts=[mount])]),
    ):
        said = refusal(lambda described=described: made(released, described))
        assert "pod app: container peeks mounts a volume that is private to the sidecar" in said


READS = {
    "volume": {"secret": {"secretName": "client"}},
    "projected": {"projected": {"sources": [{"secret": {"name": "keysets"}}]}},
    "token": {"projected": {"sources": [{"serviceAccountToken": {"path": "t", "audience": "vault"}}]}},
}


@pytest.mark.parametrize("of", READS)
def test_a_container_that_reads_the_sidecars_secrets_by_a_volume_is_refused(released: Namespace, of: str) -> None:
    peeks = container("peeks", volumeMounts=[{"name": "mine", "mountPath": "/mine"}])
    described = pod(labels=ASKS, containers=[peeks], volumes=[{"name": "mine", **READS[of]}])
    assert "pod app: container peeks reads a Secret of the sidecar" in refusal(lambda: made(released, described))


def test_a_container_that_reads_the_sidecars_secrets_as_variables_is_refused(released: Namespace) -> None:
    one = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "client", "key": "tls.key"}}}
    for peeks in (container("peeks", env=[one]), container("peeks", envFrom=[{"secretRef": {"name": "client"}}])):
        described = pod(labels=ASKS, containers=[peeks])
        said = refusal(lambda described=described: made(released, described))
        assert "pod app: container peeks reads a Secret of the sidecar" in said


def test_the_command_for_tables_may_read_encrypted_keysets_and_no_other_secret(released: Namespace) -> None:
    agent = admission.sidecar(made(released, pod(labels=ASKS)), "agent")

    def table(secret: str, **more: object) -> dict:
        mounted = {"volumeMounts": [{"name": "own", "mountPath": "/keysets"}]}
        ours = {**container("table", **mounted), "image": agent["image"], "args": ["table", "verify"], **more}
        volume = {"name": "own", "secret": {"secretName": secret}}
        return pod(labels=ASKS, containers=[{key: ours[key] for key in ours if ours[key] != SLEEP}], volumes=[volume])

    assert made(released, table("keysets"))
    for described in (
        table("client"),
        table("keysets", args=["keys", "list"]),
        table("keysets", command=["sh"]),
        table("keysets", image="another:1"),
        table("keysets", livenessProbe=PROGRAM),
    ):
        said = refusal(lambda described=described: made(released, described))
        assert "pod app: container table reads a Secret of the sidecar" in said


def test_an_application_may_have_secrets_tokens_and_volumes_of_its_own(released: Namespace) -> None:
    token = {"serviceAccountToken": {"path": "t", "audience": "sts.amazonaws.com"}}
    volumes = [
        {"name": "own", "secret": {"secretName": "own"}},
        {"name": "token", "projected": {"sources": [token]}},
    ]
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in ("own", "token", "fieldveil-sockets")]
    main = container("main", volumeMounts=mounts, envFrom=[{"secretRef": {"name": "own"}}])
    assert made(released, pod(labels=ASKS, containers=[main], volumes=volumes))


@pytest.mark.parametrize("field", ["shareProcessNamespace", "hostPID"])
def test_a_pod_whose_containers_see_each_others_processes_is_refused(released: Namespace, field: str) -> None:
    said = refusal(lambda: made(released, pod(labels=ASKS, **{field: True})))
    assert "pod app: shareProcessNamespace or hostPID" in said
    assert "/proc" in said


def test_a_pod_that_has_nothing_to_do_with_the_sidecar_may_do_all_of_that(released: Namespace) -> None:
    peeks = container("peeks", volumeMounts=[{"name": "mine", "mountPath": "/mine"}])
    volumes = [{"name": "mine", "secret": {"secretName": "client"}}]
    assert made(released, pod(containers=[peeks], volumes=volumes, shareProcessNamespace=True, hostNetwork=True))
