"""The cluster that all of these tests share, and a namespace for each of their modules."""

import os
from collections.abc import Iterator

import pytest

from kubernetes import Cluster, Namespace
from kubernetes.kubectl import RUN

# Pods start and filters are compiled within one test, on a busy machine slowly.
SECONDS = 900
# What these wait for, they wait for in Python. The other method ends the worker, and where no file of tests is left for
# the one that takes its place the run never ends.
METHOD = "signal"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/kubernetes" in item.nodeid:
            own = item.get_closest_marker("timeout")
            item.add_marker(pytest.mark.timeout(own.args[0] if own else SECONDS, method=METHOD), append=False)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if RUN not in os.environ:
        pytest.skip("SKIPPED: `make e2e-kubernetes` starts a cluster, or takes that of KUBECONFIG, for these tests")
    reached = Cluster()
    yield reached
    reached.close()


@pytest.fixture(scope="module")
def namespace(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Namespace]:
    """Named after the module."""
    name = request.module.__name__.rpartition(".test_")[2].replace("_", "-")
    with Namespace(cluster, f"fv-{name}") as made:
        yield made
