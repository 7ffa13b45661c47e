"""The text that the analysis asks for, and what it means to the server, beside what the text meant before."""

from dataclasses import dataclass, field

from sqldiff.literal import casts
from sqldiff.nodes import is_null, kind, names

MARK = "fv#"


def rewritten(text: str, splices: list[dict]) -> str:
    """Each sealed value becomes a literal that says which splice it is."""
    source = text.encode()
    parts, at = [], 0
    for index, splice in enumerate(splices):
        start, end = splice["range"]
        parts.append(source[at:start])
        if "text" in splice:
            parts.append(splice["text"].encode())
        elif splice.get("nulls"):
            parts.append(b"'{NULL,NULL}'::text[]")
        elif splice["envelopes"]:
            parts.append(f"'{{{MARK}{index},{MARK}{index}}}'::text[]".encode())
        else:
            parts.append(f"'{MARK}{index}'".encode())
        at = end
    return b"".join([*parts, source[at:]]).decode()


@dataclass
class Difference:
    """How two trees differ."""

    # Nodes of the tree before whose casts may differ.
    recast: set[int] = field(default_factory=set)
    # By the place's node in the tree before: the number of the splice that took its place.
    sealed: dict[int, int] = field(default_factory=dict)
    implied: dict[int, list[str]] = field(default_factory=dict)
    # Columns in whose place a part of them stands: the function and how much.
    parts: dict[int, tuple] = field(default_factory=dict)
    # Parameters of a PREPARE whose type is left to the server.
    untyped: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


# Where a node stands in its text is no part of its meaning.
PLACES = frozenset(
    {
        "location",
        "stmt_location",
        "stmt_len",
        "name_location",
        "list_start",
        "list_end",
        "rexpr_list_start",
        "rexpr_list_end",
    }
)


def difference(before: dict, after: dict, recast: set[int]) -> Difference:
    found = Difference(recast)
    _differ(before, after, found, "")
    return found


def _differ(before: object, after: object, found: Difference, place: str) -> None:
    whole = id(before)
    if whole in found.recast and set(casts(after)) <= {("characters", True)}:
        before, after = _uncast(before), _uncast(after)
    if isinstance(before, dict) and isinstance(after, dict):
        mark = after.get("A_Const", {}).get("sval", {}).get("sval", "") if kind(after) == "A_Const" else ""
        if mark.startswith(MARK):
            found.sealed[whole] = int(mark.removeprefix(MARK))
            return
        if _is_same_without_cast(before, after):
            return
        part = _part(before, after)
        if part:
            found.parts[id(before)] = part
            return
        if kind(before) == kind(after) == "MultiAssignRef":
            before, after = _own_part(before), _own_part(after)
        for key in (before.keys() | after.keys()) - PLACES:
            if key == "cols" and key not in before:
                found.implied[id(before)] = [column["ResTarget"]["name"] for column in after["cols"]]
            elif key == "attlist" and key not in before:
                found.implied[id(before)] = names(after["attlist"])
            elif key == "argtypes" and len(before[key]) == len(after[key]):
                for number, (one, other) in enumerate(zip(before[key], after[key], strict=True), start=1):
                    types = [names(node["TypeName"]["names"]) for node in (one, other)]
                    if types[0] != types[1] == ["unknown"]:
                        found.untyped.append(number)
                    else:
                        _differ(one, other, found, f"{place}.{key}")
            else:
                _differ(before.get(key), after.get(key), found, f"{place}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            _differ(one, other, found, f"{place}[{index}]")
    elif before != after:
        found.wrong.append(place)


def _part(before: dict, after: dict) -> tuple | None:
    """`left(column, 33)` or `substr(column, 1, 22)` in the place of the column: what is done, with what."""
    if kind(before) != "ColumnRef" or kind(after) != "FuncCall":
        return None
    column, *numbers = after["FuncCall"]["args"]
    same = difference(before, column, set())
    if same != Difference():
        return None
    constants = [number.get("A_Const", {}).get("ival", {}).get("ival", 0) for number in numbers]
    return (*names(after["FuncCall"]["funcname"]), *constants)


def _own_part(node: dict) -> dict:
    """`(a, b) = (1, 2)` gives every column the whole row: only its own part counts."""
    multi = node["MultiAssignRef"]
    args = multi["source"].get("RowExpr", {}).get("args", [])
    return {"own": args[multi["colno"] - 1], "of": len(args)} if args else node


def _is_same_without_cast(before: dict, after: dict) -> bool:
    """`NULL::text` may become NULL, and `$1::text` may become `$1`."""
    if kind(before) != "TypeCast" or kind(after) == "TypeCast":
        return False
    bare = _uncast(before)
    same_parameter = kind(bare) == kind(after) == "ParamRef" and bare["ParamRef"].get("number") == after[
        "ParamRef"
    ].get("number")
    return same_parameter or (is_null(bare) and is_null(after))


def _uncast(node: dict) -> dict:
    while kind(node) == "TypeCast":
        node = node["TypeCast"]["arg"]
    return node
