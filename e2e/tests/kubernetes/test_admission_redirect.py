"""Where connections are redirected to the sidecar: what would go round that is refused."""

from collections.abc import Iterator

import pytest

from kubernetes import Namespace
from tests.kubernetes import admission
from tests.kubernetes.admission import ASKS, container, made, names, pod, refusal

SIDECARS = ["fieldveil-modules", "fieldveil-redirect", "fieldveil-agent", "fieldveil-opa", "fieldveil-envoy"]
USER = 10101


@pytest.fixture(scope="module")
def released(namespace: Namespace) -> Iterator[Namespace]:
    admission.skip_without_injection(namespace)
    sidecar = {**admission.VALUES, "redirect": {"enabled": True}, "modules": {"delivery": "copy"}}
    with admission.released(namespace, sidecar):
        yield namespace


def test_the_redirecting_container_and_the_copied_modules_are_injected_and_let_in(released: Namespace) -> None:
    assert names(made(released, pod(labels=ASKS))["spec"]["initContainers"]) == SIDECARS
    assert made(released, admission.genuine(released))


def test_another_redirection_is_refused(released: Namespace) -> None:
    described = admission.genuine(released)
    admission.sidecar(described, "redirect")["args"] = ["redirect", "--to=1:15432", "--except-uid=0"]
    assert "init container fieldveil-redirect differs in args" in refusal(lambda: made(released, described))


@pytest.mark.parametrize("of", ["container", "init container", "pod"])
def test_the_sidecars_user_is_refused_to_the_application(released: Namespace, of: str) -> None:
    own = container("own", securityContext={"runAsUser": USER})
    described = {
        "container": pod(labels=ASKS, containers=[container("main"), own]),
        "init container": pod(labels=ASKS, initContainers=[own]),
        "pod": pod(
            labels=ASKS, containers=[container("main", securityContext={})], securityContext={"runAsUser": USER}
        ),
    }[of]
    assert f"a container runs as user {USER}" in refusal(lambda: made(released, described))


RIGHTS = {
    "NET_ADMIN": {"capabilities": {"add": ["NET_ADMIN"]}},
    "all": {"capabilities": {"add": ["ALL"]}},
    "privileged": {"privileged": True},
}


@pytest.mark.parametrize("right", RIGHTS)
def test_rights_that_undo_the_redirection_are_refused_to_the_application(released: Namespace, right: str) -> None:
    described = pod(labels=ASKS, containers=[container("main", securityContext=RIGHTS[right])])
    assert "could undo the redirection" in refusal(lambda: made(released, described))


def test_an_init_container_before_the_redirection_is_refused(released: Namespace) -> None:
    described = admission.genuine(released)
    described["spec"]["initContainers"].append(container("after"))
    assert made(released, described)
    described["spec"]["initContainers"].insert(0, container("before"))
    assert "an init container runs before the sidecar" in refusal(lambda: made(released, described))
