"""What the server makes of a literal with casts around it, as far as it is told without a server."""

import re
from datetime import date
from decimal import Decimal, InvalidOperation

from sqldiff.nodes import Node, is_null, kind, names


class NoValue(Exception):
    """It is no literal, nor a parameter."""


class Unjudged(Exception):
    """A literal whose value only the server knows."""


def peel(node: Node) -> Node:
    """The literal or parameter within casts."""
    while kind(node) == "TypeCast":
        node = node["TypeCast"]["arg"]
    if kind(node) in ("A_Const", "ParamRef"):
        return node
    if is_signed(node):
        return peel(node["A_Expr"]["rexpr"])
    raise NoValue


FAMILIES = {
    "text": "characters",
    "varchar": "characters",
    "int2": "integer",
    "int4": "integer",
    "int8": "integer",
    "date": "date",
}


def casts(node: Node) -> list[tuple[str, bool]]:
    """The types that a value is cast to, by family, and whether as an array; `""` for what may change any value."""
    found = []
    while kind(node) == "TypeCast":
        type_name = node["TypeCast"]["typeName"]
        words = names(type_name["names"])
        family = FAMILIES.get(words[-1], "") if words[:-1] in ([], ["pg_catalog"]) else ""
        bounds = type_name.get("arrayBounds", [])
        found.append(("" if type_name.get("typmods") or len(bounds) > 1 else family, bool(bounds)))
        node = node["TypeCast"]["arg"]
    return found


def type_family(node: Node) -> str:
    """What type the server takes a value for before it knows of a column; `""` for what is no value."""
    if kind(node) == "TypeCast":
        return casts(node)[0][0] or "other"
    if kind(node) == "ParamRef":
        return "unknown"
    if is_signed(node):
        return "integer"
    const = node["A_Const"] if kind(node) == "A_Const" else {}
    kinds = {"sval": "unknown", "ival": "integer", "fval": "numeric", "boolval": "boolean", "bsval": "other"}
    return next((family for key, family in kinds.items() if key in const), "")


def is_plain(node: Node) -> bool:
    """Whether it is the same text whatever number the server takes it for."""
    text = node.get("A_Const", {}).get("sval", {}).get("sval", "")
    return re.fullmatch(r"0|-?[1-9]\d{0,8}", text) is not None


def is_signed(node: Node) -> bool:
    """`-(5)`, and `- -5`: the grammar folds a sign right before a number only."""
    if kind(node) != "A_Expr":
        return False
    expr = node["A_Expr"]
    signs = expr.get("kind") == "AEXPR_OP" and names(expr["name"]) in (["-"], ["+"]) and "lexpr" not in expr
    return signs and kind(expr["rexpr"]) in ("A_Const", "TypeCast", "A_Expr")


def value(node: Node) -> str | None:
    """The text that the server would store in a text column; None for NULL."""
    if is_null(node):
        return None
    if kind(node) == "TypeCast":
        cast = node["TypeCast"]
        return _cast(value(cast["arg"]), cast["typeName"])
    if is_signed(node):
        inside = value(node["A_Expr"]["rexpr"])
        negative = names(node["A_Expr"]["name"]) == ["-"]
        try:
            number = Decimal(inside)
        except InvalidOperation as error:
            raise Unjudged from error
        return _number(-number if negative else number, inside)
    if kind(node) != "A_Const":
        raise NoValue
    const = node["A_Const"]
    if "sval" in const:
        return const["sval"].get("sval", "")
    if "ival" in const:
        return str(const["ival"].get("ival", 0))
    if "fval" in const:
        text = const["fval"]["fval"]
        try:
            return _number(Decimal(text), text)
        except InvalidOperation as error:
            raise Unjudged from error
    if "boolval" in const:
        return "true" if const["boolval"].get("boolval") else "false"
    raise Unjudged


def _number(number: Decimal, text: str) -> str:
    shown = f"{number:f}"
    return shown.lstrip("-") if number == 0 else shown


INTEGERS = {"int2": 16, "int4": 32, "int8": 64}
# Texts that these types give back as they came.
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{0,5}[1-9])?"
AS_WRITTEN = {
    "json": r"[\s\S]*",
    "bytea": r"\\x([0-9a-f]{2})*",
    "timestamp": TIME,
    "timestamptz": TIME + r"(Z|[-+]\d\d(:\d\d)?)",
    "float8": r"-?([1-9]\d{0,12}|0)(\.\d{0,3}[1-9])?",
}
CHARACTERS = ("text", "varchar")


def _cast(text: str | None, type_name: dict) -> str | None:
    words = names(type_name["names"])
    name = words[-1]
    modifiers = type_name.get("typmods")
    if text is None:
        return None
    if (len(words) > 1 and words[0] != "pg_catalog") or type_name.get("arrayBounds") or modifiers:
        raise Unjudged
    if name in CHARACTERS:
        return text
    if name in INTEGERS:
        if not re.fullmatch(r"\s*[-+]?\d+\s*", text):
            raise Unjudged
        return str(int(text))
    if name == "numeric":
        try:
            return _number(Decimal(text.strip()), text)
        except InvalidOperation as error:
            raise Unjudged from error
    if name == "bool" and text.strip().lower() in ("t", "true", "f", "false", "yes", "no", "on", "off", "1", "0"):
        return "true" if text.strip().lower() in ("t", "true", "yes", "on", "1") else "false"
    if name == "date" and re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", text):
        year, month, day = map(int, text.split("-"))
        try:
            return date(year, month, day).isoformat()
        except ValueError as error:
            raise Unjudged from error
    if name == "uuid" and re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text):
        return text.lower()
    if re.fullmatch(AS_WRITTEN.get(name, r"(?!)"), text):
        return text
    raise Unjudged
