"""Sessions of every worker of a pod's Envoy, from here: each has plans and keys of its own."""

import contextlib
import re
from collections.abc import Iterator

import psycopg

from harness import shop
from harness.ports import LOOPBACK
from harness.stack import CONNECT_SECONDS
from harness.waiting import until_done
from harness.workers import of_each
from kubernetes import Namespace
from tests.kubernetes.sidecar import PORT, reach

METRICS_PORT = 15020
# Of the database's listener alone: that of the metrics is asked meanwhile.
ACCEPTED = re.compile(
    rf'^envoy_listener_worker_downstream_cx_total{{envoy_worker_id="(\d+)",[^}}]*_{PORT}"}} (\d+)$', re.MULTILINE
)


@contextlib.contextmanager
def sessions_of_every_worker(namespace: Namespace, pod: str) -> Iterator[list[psycopg.Connection]]:
    """With the database, as the pod's application has them. Nobody else may connect while these are made."""
    with namespace.forward(f"pod/{pod}", PORT) as local:

        def connect() -> psycopg.Connection:
            return psycopg.connect(
                host=LOOPBACK, port=local, user="app", dbname=shop.DATABASE, password=shop.PASSWORD, autocommit=True,
                sslmode="disable", connect_timeout=CONNECT_SECONDS,
            )  # fmt: skip

        with of_each(lambda: accepted(namespace, pod), connect) as sessions:
            yield sessions


def wait_served(namespace: Namespace, pod: str) -> None:
    """Until every worker has a plan: a session that needs the first is refused while OPA is busy for over a second."""

    def has_sessions() -> None:
        with sessions_of_every_worker(namespace, pod):
            pass

    until_done(has_sessions, psycopg.OperationalError, f"every worker of {pod} to serve a session")


def accepted(namespace: Namespace, pod: str) -> dict[int, int]:
    """By worker, the connections that the database's listener has accepted."""
    text = reach(namespace, pod, METRICS_PORT, "/stats/prometheus")
    assert text is not None, f"no metrics of {pod}"
    return {int(worker): int(count) for worker, count in ACCEPTED.findall(text)}
