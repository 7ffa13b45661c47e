"""What the check of layers finds between the modules of a crate."""

from pathlib import Path

import pytest

from dev.checks.layers import modules
from dev.checks.layers.reader import Crate, leaves

RULES = {"layers": [["low"], ["high"]]}


def crate(**files: str) -> Crate:
    """A crate of the modules `low` and `high`, with these texts; `__` stands for a folder."""
    texts = {"lib": "mod low;\nmod high;\npub use low::Value;\npub use high::Maker;\n", "low": "", "high": "", **files}
    return Crate({Path(f"{name.replace('__', '/')}.rs"): text for name, text in texts.items()})


def test_module_may_use_what_is_below_it() -> None:
    assert modules.find("x", RULES, crate(low="pub struct Value;", high="use crate::low::Value;")) == []


@pytest.mark.parametrize(
    "text",
    [
        "use crate::high::Maker;",
        "use crate::{high::Maker};",
        "use crate::{\n    low,\n    high::{self, Maker},\n};",
        "use crate::high as other;",
        "use super::high::*;",
        "pub(crate) use crate::high::Maker;",
        "fn f() { crate::high::make() }",
        "mod tests { use super::super::high::Maker; }",
        "macro_rules! m { () => { $crate::high::make() } }",
        "use crate::Maker;",
    ],
)
def test_every_way_to_name_a_module_above_is_found(text: str) -> None:
    (problem,) = modules.find("x", RULES, crate(low=text, high="pub struct Maker;"))
    assert problem.startswith("x: low uses high, which is not below it (low.rs:")


def test_module_in_a_folder_counts_for_its_top_level_module() -> None:
    (problem,) = modules.find("x", RULES, crate(low="mod part;", low__part="use crate::{low, high};"))
    assert "low/part.rs:1" in problem


@pytest.mark.parametrize(
    "text",
    [
        "// use crate::high;",
        "/// See [`crate::high`].",
        "/* crate::high */",
        'const A: &str = "crate::high";',
        'const A: &str = r#"say "crate::high""#;',
        "fn f<'a>(quote: char) -> bool { quote == '\"' } // crate::high",
        "use self::high::Own;",
        "use other::high;",
    ],
)
def test_what_names_no_module_above_is_left_alone(text: str) -> None:
    assert modules.find("x", RULES, crate(low=text)) == []


def test_use_of_what_the_root_defines_points_up() -> None:
    (problem,) = modules.find("x", RULES, crate(low="use crate::run;"))
    assert "low uses what lib.rs defines" in problem


def test_methods_of_a_lower_modules_type_are_written_there() -> None:
    low, high = "pub struct Value<'a>(&'a str);", "use crate::low::Value;\nimpl<'a> Value<'a> {\n    fn f() {}\n}\n"
    (problem,) = modules.find("x", RULES, crate(low=low, high=high))
    assert problem == "x: low gets methods from high, which is not below it (high.rs:2)"


def test_trait_of_a_module_may_be_implemented_for_a_lower_modules_type() -> None:
    high = "use crate::low::Value;\ntrait Show {}\nimpl Show for Value {\n}\n"
    assert modules.find("x", RULES, crate(low="pub struct Value;", high=high)) == []


def test_module_without_a_layer_and_layer_without_a_module_are_found() -> None:
    problems = modules.find("x", {"layers": [["low"], ["gone"]]}, crate())
    assert sorted(problems) == ["x: gone is in a layer, but no such module", "x: high is in no layer"]


def test_tree_of_a_use_names_each_of_its_paths() -> None:
    assert list(leaves("a::{b, c::{self, d as e}, f::*}")) == [["a", "b"], ["a", "c"], ["a", "c", "d"], ["a", "f"]]
