"""Wrong values are refused before anything is installed, in words that say where, why, and what to do."""

import re

import pytest
import yaml

from dev.layout import ROOT
from harness.parts import overlaid
from tests.charts.rendering import CHART, LIBRARY, OLDEST, Refused, template, values_of

# Which Envoy the native module serves connections in.
NATIVE_BUILD = ROOT / "filters" / "shells" / "native" / "src" / "envoy_build.rs"

DATABASE = {"name": "db", "protocol": "postgres", "host": "db", "port": 5432, "listener": {"port": 15432}}
SERVICE = {
    "name": "api",
    "protocol": "http",
    "host": "api",
    "port": 80,
    "listener": {"port": 15080},
    "http": {"service": "api"},
}
ISSUER = {"name": "login", "issuer": "https://login.example.org", "jwks": {"configMap": "issuers"}}


def upstreams(*some: dict) -> dict:
    return {"sidecar": {"upstreams": list(some)}}


def database(**changes: object) -> dict:
    return overlaid(DATABASE, changes)


def service(**http: object) -> dict:
    return overlaid(SERVICE, {"http": http})


def sidecar(**changes: object) -> dict:
    return {"sidecar": changes}


# What is wrong, and words that must stand in the refusal.
REFUSED = {
    "no upstream": (upstreams(), "upstreams: there is none"),
    "an upstream without a name": (upstreams({**DATABASE, "name": ""}), "/upstreams/0/name"),
    "a name that is no DNS label": (upstreams(database(name="Orders_DB")), "/upstreams/0/name"),
    "a name that is too long": (upstreams(database(name="a" * 41)), "/upstreams/0/name"),
    "two upstreams of one name": (
        upstreams(DATABASE, database(listener={"port": 15433})),
        "upstreams db: another one, or a part of the sidecar, has this name",
    ),
    "a name of a part of the sidecar": (upstreams(database(name="opa")), "upstreams opa: another one, or a part"),
    "another protocol": (upstreams(database(protocol="oracle")), "/upstreams/0/protocol"),
    "no host": (upstreams(database(host="")), "/upstreams/0/host"),
    "a host that is a URL": (upstreams(database(host="https://db/")), "/upstreams/0/host"),
    "a port that is none": (upstreams(database(port=65536)), "/upstreams/0/port"),
    "a port in words": (upstreams(database(port="postgresql")), "/upstreams/0/port"),
    "a listener that is nowhere": (upstreams(database(listener={"port": 0})), "listener: it listens nowhere"),
    "two listeners on one port": (
        upstreams(DATABASE, database(name="other")),
        "upstreams other listener.port: the upstream db has 15432 already",
    ),
    "a listener on a port of the sidecar": (upstreams(database(listener={"port": 15021})), "15021 already"),
    "a database for others than the pod": (
        upstreams(database(listener={"address": "0.0.0.0"})),
        "listener.address: others than this pod would come in",
    ),
    "HTTP without saying of what": (
        upstreams({name: told for name, told in SERVICE.items() if name != "http"}),
        "upstreams api http: it is missing",
    ),
    "a database with HTTP": (upstreams({**DATABASE, "http": {"service": "db"}}), "the protocol is not http"),
    "an unknown member of an upstream": (upstreams(database(socket=True)), "'socket' not allowed"),
    "an unknown limit": (upstreams(database(limits={"bytes": 1})), "'bytes' not allowed"),
    "TLS that trusts nobody": (upstreams(database(tls={"serverName": "db"})), "/upstreams/0/tls"),
    "TLS that trusts twice": (
        upstreams(database(tls={"ca": {"configMap": "one", "secret": "two"}})),
        "tls.ca: both configMap and secret are named",
    ),
    "TLS of an empty word": (upstreams(database(tls={})), "/upstreams/0/tls"),
    "TLS by another part": (upstreams(database(tls={"by": "stunnel"})), "/upstreams/0/tls/by"),
    "TLS by Envoy that trusts nobody": (
        upstreams(database(tls={"by": "envoy"})),
        "upstreams db tls.ca: neither configMap nor secret is named; name one of the two",
    ),
    "TLS by Envoy without comparing the name": (
        upstreams(database(tls={"ca": {"secret": "ca"}, "verify": "verify-ca"})),
        "upstreams db tls.verify: only the bridge knows it; leave it out, or say tls.by: bridge",
    ),
    "TLS by a filter that can not": (
        upstreams(database(tls={"by": "filter", "ca": {"secret": "ca"}})),
        "upstreams db tls.by: only the native filter can begin TLS within the protocol; say shell: native, or",
    ),
    "TLS by the filter with a service": (
        sidecar(shell="native", upstreams=[overlaid(SERVICE, {"tls": {"by": "filter", "ca": {"secret": "ca"}}})]),
        "upstreams api tls.by: the filter begins TLS within the databases' protocols alone; leave it out",
    ),
    "TLS that verifies less": (upstreams(database(tls={"by": "bridge", "verify": "require"})), "/tls/verify"),
    "a bridge that trusts twice": (
        upstreams(database(tls={"by": "bridge", "ca": {"configMap": "one", "secret": "two"}})),
        "upstreams db tls.ca: both configMap and secret are named",
    ),
    "a bridge to any server of a public authority": (
        upstreams(database(tls={"by": "bridge", "verify": "verify-ca"})),
        "upstreams db tls.verify: whoever has a certificate of a public authority would be the server; name",
    ),
    "a bridge to a service": (
        upstreams(overlaid(SERVICE, {"tls": {"by": "bridge"}})),
        "upstreams api tls.by: the bridge speaks the databases' protocols alone; leave it out",
    ),
    "TLS from the first byte on with MySQL": (
        upstreams(database(protocol="mysql", tls={"by": "bridge", "direct": True})),
        "upstreams db tls.direct: no server of MySQL's protocol takes TLS from the first byte on",
    ),
    "a listener on the port of a bridge": (
        upstreams(database(listener={"port": 15024}, tls={"by": "bridge"})),
        "listener.port: the bridge of the upstream db has 15024 already",
    ),
    "TLS with clients of a service": (
        upstreams(overlaid(SERVICE, {"listener": {"tls": {"secret": "tls"}}})),
        "upstreams api listener.tls: the bridge speaks the databases' protocols alone; say http.tls in its place",
    ),
    "TLS with clients by a socket": (
        upstreams(database(listener={"port": 15432, "socket": True, "tls": {"secret": "tls"}})),
        "upstreams db listener.socket: whoever says tls comes by the port alone; leave one of the two out",
    ),
    "TLS with clients nowhere": (
        upstreams(database(listener={"port": 0, "tls": {"secret": "tls"}})),
        "upstreams db listener.port: clients begin TLS at a port; give it one",
    ),
    "TLS with clients without a certificate": (
        upstreams(database(listener={"tls": {"allowPlain": True}})),
        "upstreams db listener.tls: neither secret nor spiffe is given; give one of the two",
    ),
    "TLS with clients with two certificates": (
        upstreams(database(listener={"tls": {"secret": "tls", "spiffe": True}})),
        "upstreams db listener.tls: both secret and spiffe are given; give one of the two",
    ),
    "TLS with clients by SPIRE that is not there": (
        upstreams(database(listener={"tls": {"spiffe": True}})),
        "upstreams db listener.tls.spiffe: identity.spiffe is not enabled; enable it, or give a secret",
    ),
    "certificates of clients that nobody verifies": (
        upstreams(database(listener={"port": 15432, "tls": {"secret": "tls", "clientCertificates": "optional"}})),
        "upstreams db listener.tls.clientCertificates: no authority is named whose certificates count; name it",
    ),
    "certificates of clients that are verified twice": (
        upstreams(database(listener={"tls": {"secret": "tls", "clientCa": {"configMap": "one", "secret": "two"}}})),
        "upstreams db listener.tls.clientCa: both configMap and secret are named",
    ),
    "SCRAM that passes in MySQL": (
        upstreams(database(protocol="mysql", listener={"port": 13306, "tls": {"secret": "tls", "passScram": True}})),
        "upstreams db listener.tls.passScram: only PostgreSQL knows SCRAM; leave it out",
    ),
    "an issuer without keys": (
        upstreams(service(identity={"jwt": [{**ISSUER, "jwks": {}}]})),
        "jwks: neither configMap nor secret is named",
    ),
    "two issuers of one name": (upstreams(service(identity={"jwt": [ISSUER, ISSUER]})), "two are named login"),
    "a token that nobody may issue": (upstreams(service(tokenRequired=True)), "no issuer is named"),
    "a header in capitals": (upstreams(service(identity={"headers": ["X-Team"]})), "/identity/headers/0"),
    "no policies": (sidecar(policies={"configMap": ""}), "policies: 0 of configMap, bundle and server.url are given"),
    "policies from two places": (
        sidecar(policies={"server": {"url": "https://policy.example.org"}}),
        "policies: 2 of configMap, bundle and server.url are given; give exactly one",
    ),
    "policies that nobody signed": (
        sidecar(
            policies={
                "configMap": "",
                "server": {"url": "https://policy.example.org"},
                "verification": {"configMap": ""},
            }
        ),
        "policies.verification",
    ),
    "a token in clear text": (
        sidecar(
            policies={"configMap": "", "server": {"url": "http://policy.example.org", "tokenSecret": {"name": "token"}}}
        ),
        "policies.server.url: the token would go there in clear text",
    ),
    "an algorithm of shared keys": (sidecar(policies={"verification": {"algorithm": "HS256"}}), "/algorithm"),
    "a poll that is never": (sidecar(policies={"polling": {"minSeconds": 0}}), "/policies/polling/minSeconds"),
    "polls upside down": (sidecar(policies={"polling": {"minSeconds": 60}}), "policies.polling: minSeconds is more"),
    "no keysets": (sidecar(keys={"keysets": {"secret": ""}}), "keys.keysets: neither configMap nor secret"),
    "keysets from two places": (sidecar(keys={"keysets": {"configMap": "other"}}), "keys.keysets: both configMap"),
    "no key-encryption key": (sidecar(keys={"kekUri": ""}), "keys.kekUri"),
    "two key-encryption keys": (sidecar(keys={"insecureDevKek": {"secret": "kek"}}), "keys.kekUri"),
    "Vault without a role": (sidecar(keys={"vault": {"address": "https://vault"}}), "keys.vault.role: it is missing"),
    "a time without a unit": (sidecar(keys={"refresh": "5"}), "/keys/refresh"),
    "another shell": (sidecar(shell="v8"), "/shell"),
    "the native module in another Envoy": (
        sidecar(shell="native", images={"envoy": {"tag": "distroless-v1.40.1"}}),
        "shell: the native module serves no connection in another Envoy than 1.40.0, and images.envoy.tag says 1.40.1",
    ),
    "delivery by another way": (sidecar(modules={"delivery": "http"}), "/modules/delivery"),
    "a digest that is none": (sidecar(images={"envoy": {"digest": "sha256:1234"}}), "/images/envoy/digest"),
    "the user root": (sidecar(runAsUser=0), "/runAsUser"),
    "no workers": (sidecar(concurrency=0), "/concurrency"),
    "an unknown value of the sidecar": (sidecar(replicas=2), "'replicas' not allowed"),
    "an unknown value of the chart": ({"replicas": 2}, "'replicas' not allowed"),
    "redirection from one port to two upstreams": (
        sidecar(upstreams=[DATABASE, database(name="other", listener={"port": 15433})], redirect={"enabled": True}),
        "redirect: db and other have the same port 5432",
    ),
    "redirection to a socket": (
        sidecar(upstreams=[database(listener={"port": 0, "socket": True})], redirect={"enabled": True}),
        "listener.port: connections are redirected to a port",
    ),
    "an action that is none": ({"admission": {"actions": ["Refuse"]}}, "/admission/actions/0"),
    "a network policy about nothing": ({"networkPolicy": {"enabled": True}}, "nothing is named to protect"),
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_it_is_refused(wrong: str) -> None:
    change, words = REFUSED[wrong]
    assert words in refusal(change)


def refusal(change: dict, **options: str) -> str:
    with pytest.raises(Refused) as refused:
        template(CHART, overlaid(values_of("fieldveil/postgres"), change), **options)
    return str(refused.value)


def test_injection_where_there_is_none_names_the_other_way() -> None:
    words = refusal({"injection": {"enabled": True}}, kubernetes=OLDEST)
    assert "Kubernetes v1.30.14 does not serve MutatingAdmissionPolicy" in words
    assert "injection.enabled=false" in words
    assert "library chart fieldveil-sidecar" in words


def test_image_volumes_where_there_are_none_name_the_other_way() -> None:
    change = {"injection": {"enabled": False}, "sidecar": {"modules": {"delivery": "image"}}}
    assert "modules.delivery: Kubernetes v1.30.14 has no image volumes; say copy" in refusal(change, kubernetes=OLDEST)


def test_the_native_module_goes_into_an_envoy_whose_tag_tells_no_version() -> None:
    change = sidecar(shell="native", images={"envoy": {"tag": "approved"}})
    assert "libfieldveil.so" in template(CHART, overlaid(values_of("fieldveil/postgres"), change))


def test_the_native_module_is_of_the_envoy_that_the_chart_brings() -> None:
    tested = re.search(r'const TESTED: .*"([0-9.]+)"\);', NATIVE_BUILD.read_text()).group(1)
    validate = (LIBRARY / "templates" / "_validate.tpl").read_text()
    assert f'$envoy := "{tested}"' in validate
    tag = yaml.safe_load((LIBRARY / "values.yaml").read_text())["images"]["envoy"]["tag"]
    assert tag == f"distroless-v{tested}"


def test_all_that_is_wrong_is_told_at_once() -> None:
    words = refusal(sidecar(upstreams=[], keys={"kekUri": "", "keysets": {"secret": ""}}))
    assert all(place in words for place in ("upstreams:", "keys.kekUri:", "keys.keysets:"))


def test_a_secret_among_the_variables_is_refused_and_not_repeated() -> None:
    words = refusal(sidecar(keys={"environment": {"VAULT_TOKEN": "hvs.CAESIJ"}}))
    assert "keys.environment VAULT_TOKEN: a secret would stand in the pod for all to read" in words
    assert "hvs.CAESIJ" not in words


@pytest.mark.parametrize("wrong", ["secret", "bearer", "password"])
def test_a_secret_in_a_wrong_place_is_not_repeated(wrong: str) -> None:
    """What is not expected is named, and what it says is not."""
    words = refusal(sidecar(policies={"server": {wrong: "s3cr3t-value"}}))
    assert f"'{wrong}' not allowed" in words
    assert "s3cr3t-value" not in words
