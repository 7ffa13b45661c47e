"""The pods of a rendering: those of its workloads."""

from tests.charts.rendering import manifests

TEMPLATE = {
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "DaemonSet": ("spec", "template"),
    "Deployment": ("spec", "template"),
    "Job": ("spec", "template"),
    "Pod": (),
    "StatefulSet": ("spec", "template"),
}


def pods(rendering: str) -> dict[str, dict]:
    """By kind and name: metadata and spec of each pod that a manifest makes."""
    found = {}
    for document in manifests(rendering):
        if document["kind"] in TEMPLATE:
            pod = document
            for step in TEMPLATE[document["kind"]]:
                pod = pod[step]
            name = f"{document['kind']}/{document['metadata']['name']}"
            found[name] = {"metadata": pod.get("metadata", {}), "spec": pod["spec"]}
    return found


def container(rendering: str, name: str) -> dict:
    """A container of the one pod of a rendering that has it."""
    (pod,) = pods(rendering).values()
    return next(one for one in pod["spec"]["initContainers"] if one["name"] == name)
