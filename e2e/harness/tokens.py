"""An issuer of tokens: a key of its own, JWTs signed with it, and what policies must know to verify them."""

import base64
import json
import time
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

ISSUER = "https://login.example.com"
AUDIENCE = "orders"
# Bytes of a coordinate, and of each half of a signature.
SIZE = 32


class Issuer:
    def __init__(self, kid: str = "test") -> None:
        self._kid = kid
        self._key = ec.generate_private_key(ec.SECP256R1())

    def token(self, subject: str, *, lasts: float = 3600, **claims: object) -> str:
        """A JWT (ES256) of this subject; `lasts` seconds from now, a negative number for one that has expired."""
        payload = {"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "exp": int(time.time() + lasts), **claims}
        header = {"alg": "ES256", "typ": "JWT", "kid": self._kid}
        signed = ".".join(_base64(json.dumps(part).encode()) for part in (header, payload))
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{_base64(r.to_bytes(SIZE, 'big') + s.to_bytes(SIZE, 'big'))}"

    def jwk(self) -> dict[str, str]:
        """The public key."""
        numbers = self._key.public_key().public_numbers()
        coordinates = {"x": numbers.x, "y": numbers.y}
        point = {name: _base64(value.to_bytes(SIZE, "big")) for name, value in coordinates.items()}
        return {"kty": "EC", "crv": "P-256", "kid": self._kid, "alg": "ES256", "use": "sig", **point}

    def write_policies(self, folder: Path, name: str = "company", **keys: object) -> None:
        """The data `tokens.<name>`: whose tokens are believed. The keys are this one's unless told."""
        keys = keys or {"jwks": {"keys": [self.jwk()]}}
        data = {"issuer": ISSUER, "audience": AUDIENCE, "algorithms": ["ES256"], **keys}
        path = folder / "tokens" / name / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
