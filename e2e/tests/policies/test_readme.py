"""What the documents say that one types to check and test policies, beside the starter set copied and tests as they
stand there."""

import re
import shutil
from pathlib import Path

import pytest

from dev.layout import POLICIES, ROOT
from tests.policies.typed import blocks, typed

README = (POLICIES / "README.md").read_text()
CHECK = (ROOT / "docs" / "guides" / "policy-check.md").read_text()


@pytest.fixture
def my_policies(tmp_path: Path) -> Path:
    """A copy of the starter set with the tests of the document, and the library beside it."""
    (tmp_path / "policies").symlink_to(POLICIES)
    folder = tmp_path / "my-policies"
    shutil.copytree(POLICIES / "starter", folder)
    (tests,) = re.findall(r"```rego\n(.*?)```", README, flags=re.DOTALL)
    (folder / "my_test.rego").write_text(tests)
    return folder


def test_quick_start_of_the_readme(my_policies: Path) -> None:
    (block,) = blocks(README, "Quick start")
    shutil.rmtree(my_policies)
    done = typed(block, my_policies.parent)
    assert done.returncode == 0, done.stdout
    assert "my-policies: 19 tests passed" in done.stdout


def test_tests_of_the_readme_pass_beside_those_of_the_starter_set(my_policies: Path) -> None:
    (block,) = blocks(README, "Test your rules")
    done = typed(block, my_policies.parent)
    assert done.returncode == 0, done.stdout
    assert "my-policies: 23 tests passed" in done.stdout


def test_a_test_that_fails_says_who_got_what_and_by_which_rule(my_policies: Path) -> None:
    tests = my_policies / "my_test.rego"
    tests.write_text(tests.read_text().replace('"mask last4"', '"reveal"'))
    for block in (*blocks(README, "Test your rules"), blocks(CHECK, "Tests")[1].replace("starter_test", "my_test")):
        done = typed(block, my_policies.parent)
        assert done.returncode != 0
        assert "customer.ssn reads mask last4, not reveal, by support recognises a customer" in done.stdout


def test_commands_for_ci(my_policies: Path) -> None:
    both, warnings, unexpected_warnings = blocks(CHECK, "In CI")
    done = typed(both, my_policies.parent)
    assert done.returncode == 0, done.stdout
    assert "my-policies: sound: " in done.stdout
    assert "my-policies: 23 tests passed" in done.stdout
    if shutil.which("jq"):
        # The grant of the starter set is over.
        assert typed(warnings, my_policies.parent).returncode == 1
        assert typed(unexpected_warnings, my_policies.parent).returncode == 1
    (my_policies / "my_test.rego").write_text("package my_test\n\ntest_nothing if false\n")
    assert typed(both, my_policies.parent).returncode == 2


def test_a_pattern_picks_tests_and_one_like_none_is_an_error(my_policies: Path) -> None:
    own, opa = blocks(CHECK, "Tests")
    whole, picked = own.splitlines()
    assert typed(whole, my_policies.parent).returncode == 0
    done = typed(picked.replace("names_test", "my_test"), my_policies.parent)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("PASS: my-policies/my_test.rego:") == 4
    done = typed(picked, my_policies.parent)
    assert done.returncode == 2
    assert r"^data\.names_test" in done.stdout
    done = typed(opa, my_policies.parent)
    assert done.returncode == 0, done.stdout
    assert "PASS: " in done.stdout
