"""The analysis agrees with PostgreSQL's own parser or refuses; and the comparison would notice if it did not."""

import copy

import pytest

from dev.layout import ANALYZE, PG_PARSE
from sqldiff import compare, run
from sqldiff.rewrite import rewritten
from sqldiff.schema import RELATIONS

DETERMINISTIC = {
    field
    for relation in RELATIONS
    for column in relation.columns
    if column.sealed and column.sealed.equality
    for field in column.sealed.fields
}


def agreed() -> list[run.Case]:
    return [case for case in run.all_cases() if case.verdict.outcome == "agreed"]


def some_agreed() -> list[run.Case]:
    """Enough to tell whether a mistake of one kind is noticed."""
    return agreed()[::3]


def outcomes(texts: list[str]) -> list[str]:
    return [case.verdict.outcome for case in run.judged(texts)]


def noticed(cases: list[run.Case], mend) -> list[bool]:
    """Whether each answer, made wrong, is found out. `mend` changes it, or says None where it can't."""
    pairs = [(case, wrong) for case in cases if (wrong := mend(copy.deepcopy(case.said))) is not None]
    assert len(pairs) > 50, "too few to tell"
    before = run.through(PG_PARSE, [case.text for case, _ in pairs])
    after = run.through(PG_PARSE, [rewritten(case.text, wrong["splices"]) for case, wrong in pairs])
    return [
        compare.judge(one, wrong, other).outcome == "disagreed"
        for one, (_, wrong), other in zip(before, pairs, after, strict=True)
    ]


def test_the_corpus_is_large_and_each_outcome_is_met():
    cases = run.all_cases()
    counts = [case.verdict.outcome for case in cases]
    assert len(cases) >= run.FEWEST_TEXTS
    assert counts.count("agreed") >= 1000
    assert all(counts.count(outcome) >= 100 for outcome in ("untouched", "refused", "moot"))


def test_the_analysis_never_disagrees_and_passes():
    disagreed = [case for case in run.all_cases() if case.verdict.outcome == "disagreed"]
    print("\n" + run.report(run.all_cases()))
    assert [(case.text, case.verdict.reasons) for case in disagreed] == []


def test_what_is_written_for_several_keys_is_sql_that_compares_nothing_with_one_envelope_alone():
    """Its answers are held to a plaintext database by the canary."""
    cases = agreed()
    said = run.through(ANALYZE, [case.text for case in cases], "--several-keys")
    accepted = [(case, one) for case, one in zip(cases, said, strict=True) if "refused" not in one]
    after = run.through(PG_PARSE, [rewritten(case.text, one["splices"]) for case, one in accepted])
    assert [case.text for (case, _), becomes in zip(accepted, after, strict=True) if "error" in becomes] == []
    searched = 0
    for case, one in accepted:
        for splice in one["splices"] + one["parameters"]:
            if splice.get("use") == "Search" and splice["field"] in DETERMINISTIC:
                assert splice["array"] or splice["envelopes"], case.text
                searched += 1
    assert searched > 200
    refused = [(case.text, one["refused"]) for case, one in zip(cases, said, strict=True) if "refused" in one]
    print("\n".join(f"refused under several keys: {text}: {why}" for text, why in refused))
    assert len(refused) < len(accepted) // 20


def _sealed(said: dict) -> list[dict]:
    return [splice for splice in said["splices"] if "field" in splice]


def test_a_value_that_is_left_in_clear_is_noticed():
    def leave_out(said: dict) -> dict | None:
        for splice in _sealed(said)[-1:]:
            said["splices"].remove(splice)
            return said
        return None

    assert all(noticed(some_agreed(), leave_out))


def test_a_value_sealed_for_another_field_or_use_or_otherwise_read_is_noticed():
    def otherwise(name: str, value):
        def change(said: dict) -> dict | None:
            for splice in _sealed(said)[:1]:
                splice[name] = value(splice[name])
                return said
            return None

        return change

    assert all(noticed(some_agreed(), otherwise("field", lambda field: field + 1)))
    assert all(noticed(some_agreed(), otherwise("use", lambda use: {"Store": "Search", "Search": "Store"}[use])))
    assert all(noticed(some_agreed(), otherwise("value", lambda value: value + "x")))


def test_a_range_that_is_too_long_or_too_short_is_noticed():
    def moved(by: int):
        def change(said: dict) -> dict | None:
            for splice in _sealed(said)[-1:]:
                splice["range"][1] += by
                return said if splice["range"][1] > splice["range"][0] else None
            return None

        return change

    # A blank more or less is none of the value.
    cases = [case for case in some_agreed() if _sealed(case.said)]
    for by in (-1, 1):
        found = noticed([case for case in cases if not _blank(case, by)], moved(by))
        assert sum(found) >= 0.97 * len(found)


def _blank(case: run.Case, by: int) -> bool:
    end = _sealed(case.said)[-1]["range"][1]
    source = case.text.encode()
    return source[end + min(by, 0) : end + max(by, 0)].strip() in (b"", b";")


def test_a_parameter_that_is_left_in_clear_or_sealed_for_another_field_is_noticed():
    def leave_out(said: dict) -> dict | None:
        return said if said["parameters"] and said["parameters"].pop() else None

    def another_field(said: dict) -> dict | None:
        for parameter in said["parameters"][:1]:
            parameter["field"] += 1
            return said
        return None

    assert all(noticed(some_agreed(), leave_out))
    assert all(noticed(some_agreed(), another_field))


def test_what_is_written_or_read_unseen_is_noticed():
    def unseen(what: str):
        def change(said: dict) -> dict | None:
            for statement in said["statements"]:
                if statement[what]:
                    statement[what] = []
                    return said
            return None

        return change

    # These say more than comes back or is compared, to be on the safe side.
    wide = (" INTO t", "CONFLICT", "EXECUTE")
    cases = [case for case in some_agreed() if not any(word in case.text for word in wide)]
    for what in ("reads", "writes", "searches"):
        assert all(noticed(cases, unseen(what))), what


def test_what_must_be_refused_would_be_noticed_if_it_passed():
    texts = [
        "SELECT upper(ssn) FROM customer",
        "SELECT id FROM customer WHERE ssn > 'x'",
        "SELECT id FROM customer WHERE phone = 'x'",
        "SELECT id FROM customer ORDER BY ssn",
        "SELECT c.id FROM customer c JOIN item i ON c.ssn = i.ssn",
        "INSERT INTO customer (ssn) VALUES (upper('x'))",
        "INSERT INTO hr.staff (ssn) VALUES ('x')",
        "UPDATE customer SET ssn = name",
        "UPDATE customer SET ssn = $1, name = $1",
        "SELECT ssn FROM customer UNION ALL SELECT name FROM customer",
        "SELECT row_to_json(c) FROM customer c",
        "SELECT * FROM customer_2024",
        "ALTER TABLE customer RENAME TO kunde",
        "DO 'BEGIN DELETE FROM customer; END'",
    ]
    assert outcomes(texts) == ["refused"] * len(texts)
    nothing = {
        "reads": [],
        "searches": [],
        "writes": [],
        "copies": [],
        "columns": None,
        "copied": None,
        "prepared": None,
    }
    for text, tree in zip(texts, run.through(PG_PARSE, texts), strict=True):
        passed = {"statements": [{"kind": "Other", "touched": True, **nothing}], "splices": [], "parameters": []}
        reasons = compare.judge(tree, passed, tree).reasons
        assert any(reason.startswith("must be refused") for reason in reasons), text


def test_a_column_set_to_its_default_is_written():
    (case,) = run.judged(["UPDATE customer SET ssn = DEFAULT"])
    assert case.said["statements"][0]["writes"] == [1]


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE customer SET ssn = CASE WHEN id = 1 THEN 7 ELSE '007' END",
        "INSERT INTO customer (ssn) VALUES (coalesce('007', 7))",
        "INSERT INTO customer (ssn) SELECT '007' UNION ALL SELECT 7",
    ],
)
def test_values_that_the_server_brings_to_one_type_are_refused_or_read_so(text: str):
    assert outcomes([text]) != ["disagreed"]
