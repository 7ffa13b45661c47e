"""Holds what the analysis said of a text to what the oracle says of it."""

from dataclasses import dataclass, field

from sqldiff.facts import Facts, Rejected
from sqldiff.oracle import Oracle
from sqldiff.rewrite import difference
from sqldiff.schema import RELATIONS

LABELS = {
    field: column.sealed.label
    for relation in RELATIONS
    for column in relation.columns
    if column.sealed
    for field in column.sealed.fields
}


@dataclass
class Verdict:
    """`agreed`, `untouched`, `refused`, `moot` (the server would not run it), or `disagreed`."""

    outcome: str
    reasons: list[str] = field(default_factory=list)


def judge(before: dict, said: dict, after: dict) -> Verdict:
    """`before` and `after` are the parser's answers to the text and to what it was made into."""
    if "refused" in said:
        return Verdict("refused", [said["refused"]])
    if "error" in before:
        return Verdict("moot", ["syntax"])
    if "error" in after:
        return Verdict("disagreed", ["the rewritten text is no SQL"])
    try:
        facts = Oracle().judge(before["tree"])
    except Rejected as why:
        return Verdict("moot", [str(why)])
    wrong = _wrong(before["tree"], said, after["tree"], facts)
    if wrong:
        return Verdict("disagreed", wrong)
    return Verdict("agreed" if any(facts.touched) else "untouched")


def _wrong(before: dict, said: dict, after: dict, facts: Facts) -> list[str]:
    wrong = [f"must be refused: {why}" for why in facts.forbidden]
    wrong += _statements(said["statements"], facts)
    wrong += _seals(said["splices"], before, after, facts)
    wrong += _parameters(said["parameters"], facts.parameters)
    return wrong


def _statements(said: list[dict], facts: Facts) -> list[str]:
    if len(said) != len(facts.kinds):
        return [f"{len(said)} statements instead of {len(facts.kinds)}"]
    wrong = []
    for index, ours in enumerate(said):
        kind = facts.kinds[index]
        # Where nothing is protected, what a statement wraps is not looked at.
        loose = "Other" in (kind, ours["kind"]) and "Select" in (kind, ours["kind"])
        if ours["kind"] != kind and not loose and ours["touched"]:
            wrong.append(f"kind {ours['kind']} instead of {kind}")
        if facts.touched[index] and not ours["touched"]:
            wrong.append("a protected table is named, and not seen")
        for what in ("reads", "searches", "copies"):
            missing = getattr(facts, what)[index] - alike(ours[what])
            if missing:
                wrong.append(f"{what} {sorted(missing)} not seen")
        wrong += _yields(ours, facts, index)
        if facts.writes[index] != set(ours["writes"]):
            wrong.append(f"writes {ours['writes']} instead of {sorted(facts.writes[index])}")
    return wrong


def alike(fields: list[int]) -> set[int]:
    """The fields with their labels' other fields: a union of two columns of one label is said to be the first."""
    labels = {LABELS[field] for field in fields}
    return {field for field, label in LABELS.items() if label in labels}


def _yields(ours: dict, facts: Facts, index: int) -> list[str]:
    """What comes back is known for what it is; where the server tells the table, it need not be."""
    expected = facts.columns[index]
    if facts.prepared[index] is not None:
        return _parameters(ours["prepared"] or [], facts.prepared[index])
    if expected is None or not any(fields for fields, _ in expected):
        return []
    columns = ours["copied"] if ours["copied"] is not None else ours["columns"]
    if columns is None:
        return (
            ["a result column that the server tells nothing of isn't known"]
            if any(fields and lost for fields, lost in expected)
            else []
        )
    if len(columns) != len(expected):
        return [f"{len(columns)} result columns instead of {len(expected)}"]
    right = all(one in fields if fields else one is None for one, (fields, _) in zip(columns, expected, strict=True))
    return [] if right else [f"result columns {columns} instead of {[sorted(fields) for fields, _ in expected]}"]


def _seals(splices: list[dict], before: dict, after: dict, facts: Facts) -> list[str]:
    found = difference(before, after, facts.recast)
    wrong = [f"the rewritten text means something else at {place}" for place in found.wrong]
    expected = {id(seal.node): seal for seal in facts.seals}
    for node, seal in expected.items():
        if node not in found.sealed:
            wrong.append(f"a value for field {sorted(seal.sealed.fields)} stays in clear")
            continue
        splice = splices[found.sealed[node]]
        if splice["field"] not in seal.sealed.fields or splice["use"] != seal.use:
            wrong.append(f"sealed as {splice['field']}/{splice['use']}, not {sorted(seal.sealed.fields)}/{seal.use}")
        if splice["array"] != seal.array:
            wrong.append("an array is sealed as one value, or one value as an array")
        if seal.value is None and seal.bare is None:
            wrong.append("a literal whose value only the server knows is sealed")
        elif splice["value"] not in (seal.value, seal.bare):
            wrong.append("another value is sealed than the server would read")
    wrong += ["a value is sealed where nothing is protected" for node in found.sealed if node not in expected]
    if len(set(found.sealed.values())) != sum("field" in splice for splice in splices):
        wrong.append("a sealed value is lost in the rewritten text")
    prepared = {number for given in facts.prepared for number, roles in (given or {}).items() if any(roles)}
    if not prepared.issuperset(found.untyped):
        wrong.append("a parameter that nothing protects loses its type")
    parts = {"text": ("pg_catalog", "left", 33), "bytes": ("pg_catalog", "substr", 1, 22)}
    if found.parts != {node: parts.get(sealed.stored) for node, sealed in facts.indexed.items()}:
        wrong.append("a blind index is not compared where it should be, or where it should not")
    for node, columns in found.implied.items():
        if facts.implied.get(node, columns) != columns:
            wrong.append("the columns written into the INSERT are not those it meant")
    return wrong


def _parameters(said: list[dict], places: dict) -> list[str]:
    expected = {number: [r for r in roles if r] for number, roles in places.items() if any(roles)}
    ours = {parameter["number"]: parameter for parameter in said}
    wrong = [f"${number} stays in clear" for number in expected.keys() - ours.keys()]
    wrong += [f"${number} is sealed where nothing is protected" for number in ours.keys() - expected.keys()]
    for number in expected.keys() & ours.keys():
        stored = [sealed for sealed, use, _ in expected[number] if use == "Store"]
        fields = {f for sealed in stored or [sealed for sealed, _, _ in expected[number]] for f in sealed.fields}
        use = "Store" if stored else "Search"
        if ours[number]["array"] != expected[number][0][2]:
            wrong.append(f"${number} is an array, or is none")
        if ours[number]["field"] not in fields or not ours[number]["use"].startswith(use):
            wrong.append(
                f"${number} sealed as {ours[number]['field']}/{ours[number]['use']}, not {sorted(fields)}/{use}"
            )
    return wrong
