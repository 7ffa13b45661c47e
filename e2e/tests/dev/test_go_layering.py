"""What the check of the arrows between Go's packages finds."""

from dev.checks import go_layering
from dev.checks.go_layering import MODULE

RULES = {
    "common": ["internal/fault"],
    "packages": {"internal/fault": [], "internal/kek": [], "internal/cli": ["internal/kek"]},
    "tests": {},
    "only": {"github.com/spf13": ["internal/cli"]},
}
SOUND = {
    "internal/fault/fault.go": "package fault\n",
    "internal/kek/kek.go": f'package kek\n\nimport (\n\t"fmt"\n\n\tf "{MODULE}internal/fault"\n)\n',
    "internal/cli/cli.go": f'package cli\n\nimport (\n\t"github.com/spf13/cobra"\n\n\t"{MODULE}internal/kek"\n)\n',
}


def found(**changed: dict | str) -> list[str]:
    rules = RULES | {name: value for name, value in changed.items() if name != "sources"}
    return go_layering.find(rules, go_layering.imports(SOUND | changed.get("sources", {})))


def test_sound_packages_have_no_problem() -> None:
    assert found() == []


def test_arrow_upwards_is_found_in_code_and_in_tests() -> None:
    for name in ("kek.go", "kek_test.go"):
        upwards = f'package kek\n\nimport "{MODULE}internal/cli"\n'
        assert found(sources={f"internal/kek/{name}": upwards}) == ["internal/kek: may not use internal/cli"]


def test_what_all_tests_may_use_is_for_no_other_code() -> None:
    rules = {"tests": {"*": ["internal/cli"]}}
    source = f'package kek\n\nimport "{MODULE}internal/cli"\n'
    assert found(**rules, sources={"internal/kek/kek_test.go": source}) == []
    (problem,) = found(**rules, sources={"internal/kek/kek.go": source, "internal/fault/fault_test.go": source})
    assert problem == "internal/kek: may not use internal/cli"


def test_library_outside_of_its_place_is_found() -> None:
    source = 'package kek\n\nimport "github.com/spf13/pflag"\n'
    problems = found(sources={"internal/kek/flags.go": source})
    assert problems == ["internal/kek: may not use github.com/spf13/pflag; only internal/cli may"]


def test_package_without_rules_rules_without_package_and_unused_permission_are_found() -> None:
    (unknown,) = found(sources={"internal/new/new.go": "package new\n"})
    assert unknown.startswith("internal/new: not in layering.json")
    gone, unused = found(packages=RULES["packages"] | {"internal/gone": [], "internal/kek": ["internal/cli"]})
    assert gone == "internal/gone: in layering.json, but no such package"
    assert unused.startswith("internal/kek: may use internal/cli, and does not")
