"""The whole path with keysets that a KMS wraps: the command makes them, the agent opens them, the sidecar seals."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import hvac
import psycopg
import pytest
import tink
from tink import aead, daead, prf
from tink.integration import awskms, hcvault

from dev.layout import FIELDVEIL
from harness import Options, Stack, unixhttp
from harness.agent import Agent
from harness.moto import Moto
from harness.vault import KEY, ROOT_TOKEN, Vault
from harness.waiting import patience
from harness.workdir import WorkDir
from tests.rows import ADA, INSERT

BAD_INPUT = 2
FAILURE = 1
OK, UNAVAILABLE = 200, 503

for primitives in (aead, daead, prf):
    primitives.register()


@pytest.fixture(scope="module", params=[Vault, Moto], ids=["vault", "moto"])
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    with Stack(Options(kms=request.param)).start() as running:
        yield running


@pytest.fixture(scope="module")
def vault() -> Iterator[Vault]:
    work = WorkDir()
    server = Vault(work)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        work.remove()


def fieldveil(agent: Agent, *words: str | Path, kek_uri: str = "", **environment: str) -> subprocess.CompletedProcess:
    command = [FIELDVEIL, *words, "--keysets", agent.keysets, "--kek-uri", kek_uri or agent.kek_uri]
    settings = {**os.environ, **agent.environment, **environment}
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False)


def stock_tink(stack: Stack) -> aead.Aead:
    """The key-encryption key, through Tink's own Python clients."""
    if isinstance(stack.kms, Moto):
        return awskms.new_client(boto3_client=stack.kms.client()).get_aead(stack.kms.kek_uri)
    token = stack.kms.environment["VAULT_TOKEN"]
    return hcvault.new_aead(f"/transit/keys/{KEY}", stack.kms.client(token))


def test_sidecar_seals_and_opens_with_keysets_from_the_kms(stack: Stack) -> None:
    with stack.connect("app") as app:
        app.execute(INSERT, ADA)
        assert app.execute("SELECT ssn, phone FROM customer").fetchone() == (ADA[3], ADA[4])
    with stack.direct() as direct:
        stored = direct.execute("SELECT ssn, phone FROM customer").fetchone()
    assert all(value.startswith("fv1.") for value in stored)


def test_keyset_files_are_stock_tinks_own(stack: Stack) -> None:
    files = sorted(stack.agent.keysets.glob("pii.*.json"))
    kinds = {"aead": aead.Aead, "deterministic": daead.DeterministicAead, "prf": prf.PrfSet}
    opened = []
    for file in files:
        kind = file.name.split(".")[1]
        if kind in kinds:
            text = file.read_text()
            assert set(json.loads(text)) == {"encryptedKeyset", "keysetInfo"}
            handle = tink.json_proto_keyset_format.parse_encrypted(text, stock_tink(stack), b"")
            handle.primitive(kinds[kind])
            opened.append(kind)
    assert opened == sorted(kinds)


def test_another_key_is_refused_and_changes_nothing(stack: Stack) -> None:
    if isinstance(stack.kms, Vault):
        stack.kms.client().secrets.transit.create_key("other")
        policy = {"path": {"transit/decrypt/other": {"capabilities": ["update"]}}}
        stack.kms.client().sys.create_or_update_policy("other", policy)
        token = stack.kms.client().auth.token.create(policies=["other"])["auth"]["client_token"]
        other, environment = stack.kms.uri("other"), {"VAULT_TOKEN": token}
    else:
        other, environment = f"aws-kms://{stack.kms.create_key()}", {}
    before = {file: file.read_bytes() for file in stack.agent.keysets.glob("*.json")}
    done = fieldveil(stack.agent, "keys", "list", kek_uri=other, **environment)
    assert done.returncode == BAD_INPUT
    assert done.stderr.count("\n") == 1
    assert "the KMS refuses" in done.stderr
    assert ".json: key URI" in done.stderr
    assert {file: file.read_bytes() for file in stack.agent.keysets.glob("*.json")} == before


def test_keysets_are_rotated_and_rewrapped_through_the_kms(vault: Vault) -> None:
    work = WorkDir()
    try:
        agent = Agent(work, vault)
        former, following = vault.uri("former"), vault.uri("following")
        for key in ("former", "following"):
            vault.client().secrets.transit.create_key(key)

        def keys(command: str, *words: str, kek_uri: str = following) -> subprocess.CompletedProcess:
            return fieldveil(agent, "keys", command, "pii", *words, kek_uri=kek_uri, VAULT_TOKEN=ROOT_TOKEN)

        for done in (
            keys("create", kek_uri=former),
            keys("rotate", kek_uri=former),
            keys("rewrap", "--new-kek-uri", following, kek_uri=former),
            keys("verify"),
        ):
            assert done.returncode == 0, done.stderr
        done = keys("verify", kek_uri=former)
        assert (done.returncode, "the KMS refuses" in done.stdout + done.stderr) == (BAD_INPUT, True), done.stderr
    finally:
        work.remove()


def test_nothing_is_made_without_the_kms(vault: Vault) -> None:
    work = WorkDir()
    try:
        agent = Agent(work, vault)
        denied = vault.client().auth.token.create(policies=["default"])["auth"]["client_token"]
        done = fieldveil(agent, "keys", "create", "pii", VAULT_TOKEN=denied)
        assert (done.returncode, "policy allows to update" in done.stderr) == (BAD_INPUT, True), done.stderr
        assert denied not in done.stderr
        done = fieldveil(agent, "keys", "create", "pii", kek_uri=vault.uri("mistyped"))
        assert done.returncode == BAD_INPUT, done.stderr
        with pytest.raises(hvac.exceptions.InvalidPath):
            vault.client().secrets.transit.read_key("mistyped")
        vault.seal()
        try:
            done = fieldveil(agent, "keys", "create", "pii", VAULT_MAX_RETRIES="0")
        finally:
            vault.unseal()
        assert (done.returncode, "the KMS is away" in done.stderr) == (FAILURE, True), done.stderr
        assert not list(agent.keysets.glob("*.json"))
        assert fieldveil(agent, "keys", "create", "pii").returncode == 0
    finally:
        work.remove()


def test_agent_waits_for_the_kms_at_its_start_and_serves_on_without_it(vault: Vault) -> None:
    work = WorkDir()
    agent = Agent(work, vault)
    try:
        agent.create_kek()
        agent.create_keyset("pii")
        vault.seal()
        agent.launch()
        agent.process.wait_until(lambda: "the KMS is away" in agent.process.log_tail())
        assert agent.readiness()[0] == UNAVAILABLE
        assert not unixhttp.is_ok(agent.socket, "/v1/keysets")
        vault.unseal()
        agent.process.wait_until(lambda: unixhttp.is_ok(agent.socket, "/readyz"))
        agent.stop()

        agent.start("--kms-check", "1s")
        vault.seal()
        agent.process.wait_until(lambda: agent.metric("kms_offline_seconds") > 0)
        assert unixhttp.is_ok(agent.socket, "/v1/keysets")
        assert agent.readiness()[0] == OK
    finally:
        agent.stop()
        vault.unseal()
        work.remove()


def test_statements_go_on_without_the_kms_for_the_stated_time_and_are_refused_after_it() -> None:
    options = Options(kms=Vault, filter_config={"keys": {"refresh_seconds": 1}})
    with Stack(options).start(without=("agent",)) as stack:
        agent = stack.agent
        agent.start("--refresh", "200ms", "--kms-check", "500ms", "--max-offline", f"{patience(6)}s")

        def answer() -> list[tuple] | str:
            """What a session of its own reads, or how it is refused."""
            try:
                with stack.connect("app") as app:
                    return app.execute("SELECT ssn FROM customer").fetchall()
            except psycopg.OperationalError as error:
                return str(error)

        agent.process.wait_until(lambda: answer() == [])
        with stack.connect("app") as app:
            app.execute(INSERT, ADA)
        stack.kms.seal()
        agent.process.wait_until(lambda: agent.metric("kms_offline_seconds") > 1)
        assert answer() == [(ADA[3],)]
        agent.process.wait_until(lambda: "is not served by the key agent" in answer())
        stack.kms.unseal()
        agent.process.wait_until(lambda: answer() == [(ADA[3],)])


def test_kms_is_told_nothing_in_clear_over_a_network(vault: Vault) -> None:
    work = WorkDir()
    try:
        agent = Agent(work, vault)
        done = fieldveil(
            agent, "keys", "create", "pii", VAULT_ADDR="http://192.0.2.1:8200", kek_uri="hcvault:///transit/keys/x"
        )
        assert (done.returncode, "in clear text" in done.stderr) == (BAD_INPUT, True), done.stderr
    finally:
        work.remove()
