"""Rules about what a bridge from clients tells: of auditors, of whom no other rule speaks."""

import json
from pathlib import Path

from harness.envoy import LOOPBACK

# A name of the client's certificate: `harness.certificates`.
CLIENT_NAME = "sidecar.shop.test"
RULES = [
    {
        "name": "who shows this certificate",
        "who": {"session": {"user": ["auditor"]}, "client_certificate": {"dns": [CLIENT_NAME]}},
        "labels": ["customer.ssn"],
        "read": {"treatment": "reveal"},
    },
    {
        "name": "who comes from this host",
        "who": {"session": {"user": ["auditor"], "source": [f"{LOOPBACK}/32"]}},
        "labels": ["customer.phone"],
        "read": {"treatment": "reveal"},
    },
]


def write_rules(policies: Path) -> Path:
    """Gives the folder back."""
    rules = policies / "rules" / "bridge" / "data.json"
    rules.parent.mkdir(parents=True)
    rules.write_text(json.dumps({"rules": RULES}))
    return policies
