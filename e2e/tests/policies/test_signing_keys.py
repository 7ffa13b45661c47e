"""Keys that sign bundles, one taking the other's place, and what a bundle adds to the library; against OPA alone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.layout import OPA_CONFIG, POLICIES
from harness import bundles as shipped
from harness import unixhttp
from harness.bundles import Bundles, SigningKey
from harness.opa import Opa
from harness.waiting import until, until_equal
from harness.workdir import WorkDir
from tests.policies.shipping import ASKED


class Running:
    """One OPA with its bundles, and a second key that it does not know at first."""

    def __init__(self, folder: Path) -> None:
        self.bundles = Bundles(folder)
        self.next = SigningKey(folder, "policy-2")
        self.work = WorkDir()
        self.opa = Opa(self.work, bundles=self.bundles)

    def both_keys(self) -> list[str]:
        return ["--set", "keys.policy-2.algorithm=ES256", "--set-file", f"keys.policy-2.key={self.next.public}"]

    def revision(self) -> str | None:
        plan = self.opa.data("fieldveil/plan", ASKED)
        return plan and plan["bundle"]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path)
    made.bundles.server.start()
    yield made
    # OPA waits for it, to send its last decisions.
    made.bundles.server.start()
    made.opa.stop()
    made.bundles.server.stop()
    made.work.remove()


def test_one_key_takes_the_place_of_another_without_a_moment_without_policy(running: Running, tmp_path: Path) -> None:
    running.bundles.publish(running.bundles.build(POLICIES, revision="old"))
    running.opa.start(*running.both_keys())
    assert running.revision() == "old"
    running.bundles.publish(running.bundles.build(POLICIES, revision="new", key=running.next))
    until_equal(running.revision, "new")
    # The old key is taken out.
    running.opa.stop()
    running.bundles.server.stop()
    running.bundles.key = running.next
    running.bundles.config = tmp_path / "opa.yaml"
    known = OPA_CONFIG.read_text()
    running.bundles.config.write_text(known.replace("\n  policy:\n    algorithm", "\n  policy-2:\n    algorithm"))
    running.opa.start()
    assert running.revision() == "new"


def test_opa_that_has_no_bundle_yet_is_not_ready(running: Running) -> None:
    running.opa.start(until="/health")
    assert unixhttp.request(running.opa.socket, "GET", "/health?bundles")[0] == 500
    running.bundles.publish(running.bundles.build(POLICIES, revision="first"))
    until(lambda: unixhttp.is_ok(running.opa.socket, "/health?bundles"))
    assert running.opa.metrics("last_success_bundle_activation").keys() == {
        f'active_revision="first",name="{shipped.NAME}"'
    }


def test_a_file_beside_the_mask_of_decision_logs_adds_to_it(running: Running, tmp_path: Path) -> None:
    mine = tmp_path / "mine" / "system" / "log" / "mine.rego"
    mine.parent.mkdir(parents=True)
    mine.write_text('package system.log\n\nmask contains "/input/claims/email"\n')
    running.bundles.publish(running.bundles.build(POLICIES, tmp_path / "mine", revision="mine"))
    running.opa.start()
    running.opa.data("fieldveil/plan", {**ASKED, "claims": {"email": "ada@example.com"}, "token": "a.b.c"})
    until(lambda: len(running.opa.decisions()) > 0)
    (decision,) = running.opa.decisions()
    assert "ada@example.com" not in json.dumps(decision)
    assert set(decision["erased"]) == {"/input/claims/email", "/input/token"}
