"""What policies/README.md says that one types: the starter set copied, and tests as they stand there beside its own."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.layout import OPA, POLICIES, ROOT

README = (POLICIES / "README.md").read_text()


@pytest.fixture
def my_policies(tmp_path: Path) -> Path:
    """A copy of the starter set, with the tests of the document."""
    folder = tmp_path / "my-policies"
    shutil.copytree(POLICIES / "starter", folder)
    (tests,) = re.findall(r"```rego\n(.*?)```", README, flags=re.DOTALL)
    (folder / "my_test.rego").write_text(tests)
    return folder


def test_tests_of_the_document_and_of_the_starter_set_pass(my_policies: Path) -> None:
    commands = re.findall(r"^opa (test --run .*) my-policies$", README, flags=re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        done = opa(*command.replace("'", "").split(), my_policies)
        assert done.returncode == 0, done.stdout
        assert "PASS: " in done.stdout


def test_a_test_that_fails_says_who_got_what_and_by_which_rule(my_policies: Path) -> None:
    tests = my_policies / "my_test.rego"
    tests.write_text(tests.read_text().replace('"mask last4"', '"reveal"'))
    done = opa("test", "--run", r"^data\.my_test", "policies/fieldveil", "schemas:policies/schemas", my_policies)
    assert done.returncode != 0
    assert "customer.ssn reads mask last4, not reveal, by support recognises a customer" in done.stdout


def opa(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([OPA, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
