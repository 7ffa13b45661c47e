"""What the pods of tests have in common: the strictest security context that Pod Security asks for."""

SECURITY_CONTEXT = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
# Until it is ended; at once, where a shell as the first process would wait for a SIGKILL.
SLEEP = ["sh", "-c", "trap 'exit 0' TERM; sleep infinity & wait"]
READY_PROBE_SECONDS = 1


def container(name: str, image: str, user: int, **more: object) -> dict:
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {**SECURITY_CONTEXT, "runAsUser": user},
        **more,
    }


def ready_when(*command: str) -> dict:
    return _ready({"exec": {"command": list(command)}})


def ready_at(path: str, port: int) -> dict:
    """When it answers there over TLS, whoever issued its certificate."""
    return _ready({"httpGet": {"path": path, "port": port, "scheme": "HTTPS"}})


def _ready(probe: dict) -> dict:
    # A busy machine takes longer than the second that a probe has by itself.
    return {**probe, "periodSeconds": READY_PROBE_SECONDS, "timeoutSeconds": 10, "failureThreshold": 60}


def service(name: str, port: int) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": [{"name": "main", "port": port}]},
    }


def workload(kind: str, name: str, spec: dict, *, labels: dict[str, str] | None = None) -> dict:
    """A Deployment or StatefulSet of pods that carry `app: NAME`."""
    of_pods = {"app": name, **(labels or {})}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": of_pods}, "spec": spec},
            **({"serviceName": name} if kind == "StatefulSet" else {}),
        },
    }
