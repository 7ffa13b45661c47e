"""A process of a container is ended from the node's side: the sidecar's images have no shell to do it from within."""

import contextlib
from collections.abc import Iterator

from kubernetes import Cluster, Namespace, pods, problems

# Every process whose control group is the container's.
KILL = """\
for process in /proc/[0-9]*; do
  case "$(cat "$process/cgroup" 2>/dev/null)" in
    *{id}*) kill -9 "${{process#/proc/}}"; echo "${{process#/proc/}}" ;;
  esac
done
"""


class Node:
    """A pod that sees the processes of its node; for a cluster of one."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    def kill(self, namespace: Namespace, pod: str, container: str) -> None:
        """Ends it without a word, as the kernel does when memory runs out; returns before the kubelet knows."""
        status = next(one for one in problems.statuses(namespace.get("pod", pod)) if one["name"] == container)
        name = status["containerID"].rpartition("/")[2]
        ended = self._namespace.exec("pod/node", "sh", "-c", KILL.format(id=name))
        assert ended.strip(), f"no process of {container}"


@contextlib.contextmanager
def node(cluster: Cluster) -> Iterator[Node]:
    with Namespace(cluster, "fv-node", {"pod-security.kubernetes.io/enforce": "privileged"}) as namespace:
        shell = pods.container("node", cluster.image("postgres").reference, 0, command=pods.SLEEP)
        shell["securityContext"] = {"privileged": True, "runAsUser": 0}
        spec = {"hostPID": True, "containers": [shell], "terminationGracePeriodSeconds": 1}
        described = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "node", "labels": {"app": "node"}},
            "spec": spec,
        }
        namespace.apply(described)
        namespace.wait_ready("app=node")
        yield Node(namespace)
