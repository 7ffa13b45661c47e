"""What the check of names finds."""

from dev.checks import names
from dev.checks.names import CRATES


def test_type_whose_name_stands_twice_in_a_crate_is_named_with_both_places() -> None:
    sources = {
        CRATES / "engine/src/fetch.rs": "pub enum Answer {\n",
        CRATES / "engine/src/keyring.rs": "struct Answer<'a> {\n",
    }
    (problem,) = names.repeated(sources)
    assert "filters/engine: the type Answer is in filters/engine/src/fetch.rs, filters/engine/src/keyring.rs" in problem


def test_types_of_two_crates_and_of_the_two_databases_may_have_one_name() -> None:
    sources = {
        CRATES / "engine/src/postgres.rs": "pub struct Session {\n",
        CRATES / "engine/src/mysql.rs": "pub(crate) struct Session {\n",
        CRATES / "bench/src/sessions.rs": "enum Session {\n",
    }
    assert names.repeated(sources) == []


def test_third_type_of_the_name_of_a_pair_is_found() -> None:
    places = ("postgres.rs", "mysql.rs", "http.rs")
    sources = {CRATES / "engine/src" / place: "struct Session;\n" for place in places}
    assert len(names.repeated(sources)) == 1


def test_avoided_name_is_found_with_its_line_and_a_better_one() -> None:
    sources = {CRATES / "host/src/stream.rs": "\nfn is_all() {}\nfn is_allowed() {}\n"}
    (problem,) = names.avoided(sources)
    assert problem.startswith("filters/host/src/stream.rs:2: is_all ")
    assert problem.endswith("is_unchanged")
