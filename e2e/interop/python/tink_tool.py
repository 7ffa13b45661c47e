"""Does with Tink for Python what each line of standard input asks for: see `e2e/interop/program.py`."""

import json
import sys

import tink
from tink import aead, daead, prf, secret_key_access
from tink.proto import common_pb2, hkdf_prf_pb2, hmac_prf_pb2, tink_pb2

TYPE_URL = "type.googleapis.com/google.crypto.tink."
NO_ASSOCIATED_DATA = b""


def _template(name: str, parameters: bytes, prefix: int) -> tink_pb2.KeyTemplate:
    return tink_pb2.KeyTemplate(type_url=TYPE_URL + name, value=parameters, output_prefix_type=prefix)


def _hmac(hash_type: int, key_size: int) -> tink_pb2.KeyTemplate:
    parameters = hmac_prf_pb2.HmacPrfKeyFormat(params=hmac_prf_pb2.HmacPrfParams(hash=hash_type), key_size=key_size)
    return _template("HmacPrfKey", parameters.SerializeToString(), tink_pb2.RAW)


def _hkdf(hash_type: int, salt: bytes) -> tink_pb2.KeyTemplate:
    params = hkdf_prf_pb2.HkdfPrfParams(hash=hash_type, salt=salt)
    parameters = hkdf_prf_pb2.HkdfPrfKeyFormat(params=params, key_size=32)
    return _template("HkdfPrfKey", parameters.SerializeToString(), tink_pb2.RAW)


TEMPLATES = {
    "aes128-gcm": aead.aead_key_templates.AES128_GCM,
    "aes256-gcm": aead.aead_key_templates.AES256_GCM,
    "aes128-gcm-siv": aead.aead_key_templates.AES128_GCM_SIV,
    "aes256-gcm-siv": aead.aead_key_templates.AES256_GCM_SIV,
    "chacha20-poly1305": _template("ChaCha20Poly1305Key", b"", tink_pb2.TINK),
    "xchacha20-poly1305": aead.aead_key_templates.XCHACHA20_POLY1305,
    "aes-siv": daead.deterministic_aead_key_templates.AES256_SIV,
    "hmac-sha256": prf.prf_key_templates.HMAC_SHA256,
    "hmac-sha384": _hmac(common_pb2.SHA384, 48),
    "hmac-sha512": prf.prf_key_templates.HMAC_SHA512,
    "hkdf-sha256": _hkdf(common_pb2.SHA256, b""),
    "hkdf-sha512-salt": _hkdf(common_pb2.SHA512, b"fieldveil"),
    "aes-cmac": prf.prf_key_templates.AES_CMAC,
}


def run(request: dict) -> dict:
    kek = tink.json_proto_keyset_format.parse(json.dumps(request["kek"]), secret_key_access.TOKEN).primitive(aead.Aead)
    if "keyset" not in request:
        handle = tink.new_keyset_handle(TEMPLATES[request["type"]])
        text = tink.json_proto_keyset_format.serialize_encrypted(handle, kek, NO_ASSOCIATED_DATA)
        return {"keyset": json.loads(text)}
    text = json.dumps(request["keyset"])
    handle = tink.json_proto_keyset_format.parse_encrypted(text, kek, NO_ASSOCIATED_DATA)
    return {"output": _compute(handle, request).hex()}


def _compute(handle: tink.KeysetHandle, request: dict) -> bytes:
    given, associated_data = bytes.fromhex(request["input"]), bytes.fromhex(request["associated_data"])
    match request["do"]:
        case "aead seal":
            return handle.primitive(aead.Aead).encrypt(given, associated_data)
        case "aead open":
            return handle.primitive(aead.Aead).decrypt(given, associated_data)
        case "deterministic seal":
            return handle.primitive(daead.DeterministicAead).encrypt_deterministically(given, associated_data)
        case "deterministic open":
            return handle.primitive(daead.DeterministicAead).decrypt_deterministically(given, associated_data)
        case "prf":
            return handle.primitive(prf.PrfSet).primary().compute(given, request["length"])
    # The library has nothing to change a keyset with.
    raise ValueError(f"there is no operation {request['do']}")


def main() -> None:
    aead.register()
    daead.register()
    prf.register()
    for line in sys.stdin:
        try:
            answer = run(json.loads(line))
        except tink.TinkError as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
