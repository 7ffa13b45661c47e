"""Small readers of libpg_query's JSON: a node is a dict of one key, its kind; what is zero or empty is left out."""

from collections.abc import Iterator

Node = dict


def kind(node: Node | None) -> str:
    return next(iter(node)) if node else ""


def inner(node: Node) -> dict:
    return next(iter(node.values()))


def string(node: Node) -> str:
    return node["String"].get("sval", "") if kind(node) == "String" else ""


def names(nodes: list[Node] | None) -> list[str]:
    return [string(node) for node in nodes or []]


def is_null(node: Node | None) -> bool:
    while kind(node) == "TypeCast":
        node = node["TypeCast"]["arg"]
    return kind(node) == "A_Const" and node["A_Const"].get("isnull", False)


def children(value: object) -> Iterator[Node]:
    """The nodes right below, through lists and plain structures."""
    if isinstance(value, list):
        for item in value:
            yield from children(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key[:1].isupper() and isinstance(item, dict) and len(value) == 1:
                yield value
            elif isinstance(item, dict | list):
                yield from children(item)


def every(value: object, wanted: str) -> Iterator[dict]:
    """Every node of a kind, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from every(item, wanted)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == wanted and isinstance(item, dict):
                yield item
            yield from every(item, wanted)


def strings(value: object) -> Iterator[str]:
    """Every string of the tree, names and literals alike."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
