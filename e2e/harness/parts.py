"""What every stack says to its parts in the same way."""

# A question that has timed out is not taken back by OPA: what waits for a connection is.
OPA_CONNECTIONS = 16
# A busy machine keeps OPA and the agent waiting for longer than the second after which an application is told.
ANSWER_MILLISECONDS = 10_000


def shared_config(listener: str) -> dict:
    """What the filters' configurations have in common."""
    return {
        "listener": listener,
        "policy": {"cluster": "opa", "path": "/v1/data/fieldveil/plan", "timeout_ms": ANSWER_MILLISECONDS},
        "keys": {
            "cluster": "key_agent",
            "path": "/v1/keysets",
            "timeout_ms": ANSWER_MILLISECONDS,
            "refresh_seconds": 5,
            "max_stale_seconds": 600,
        },
    }


def overlaid(config: dict, changes: dict) -> dict:
    """The configuration with changes laid over it, objects member by member."""
    laid = dict(config)
    for name, value in changes.items():
        below = laid.get(name)
        laid[name] = overlaid(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
    return laid
