"""Expressions: where a protected column stands, and what a value beside it must become."""

from sqldiff import literal
from sqldiff.facts import Facts, Rejected, Seal
from sqldiff.nodes import Node, children, inner, is_null, kind, names, string
from sqldiff.schema import Sealed
from sqldiff.scope import Output, Range, Scope

EQUALITIES = ("=", "<>")
# Functions that run a text as a query.
RUNNERS = ("query_to_xml", "query_to_xmlschema", "query_to_xml_and_xmlschema", "table_to_xml", "dblink", "crosstab")


class Expressions:
    """Mixed into the oracle, which has `facts`, `searches` and `writes` of the statement, and `query`."""

    facts: Facts
    searches: set[int]
    writes: set[int]
    prepared: dict[str, dict]

    def opaque(self, node: Node | None, scope: Scope, where: str = "an expression") -> None:
        """A place for which nothing protected is meant."""
        if node and self.expr(node, scope):
            self.facts.forbid(f"a sealed column in {where}")

    def expr(self, node: Node, scope: Scope) -> Sealed | None:
        """Judges all below, and tells whether the whole is a protected column as it is."""
        reader = getattr(self, f"expr_{kind(node)}", None)
        if reader:
            return reader(inner(node), scope)
        for child in children(list(inner(node).values())):
            self.opaque(child, scope, kind(node))
        return None

    def expr_A_Const(self, const: dict, scope: Scope) -> None:
        return None

    def expr_TypeCast(self, cast: dict, scope: Scope) -> Sealed | None:
        sealed = self.expr(cast["arg"], scope)
        if sealed and (
            literal.casts({"TypeCast": cast})[0] != ("characters", False)
            or (sealed.stored, sealed.declared) != ("text", "characters")
        ):
            self.facts.forbid("a cast of a sealed column")
            return None
        return sealed

    def expr_TypeName(self, name: dict, scope: Scope) -> None:
        return None

    def expr_String(self, name: dict, scope: Scope) -> None:
        return None

    def expr_SetToDefault(self, node: dict, scope: Scope) -> None:
        return None

    def expr_ParamRef(self, param: dict, scope: Scope) -> None:
        self.facts.parameters.setdefault(param.get("number", 0), []).append(None)

    def expr_ColumnRef(self, ref: dict, scope: Scope) -> Sealed | None:
        found = self.resolve(ref, scope)
        if isinstance(found, Range):
            if found.bears:
                self.facts.forbid("a whole row that holds sealed values")
            return None
        return found.sealed

    def resolve(self, ref: dict, scope: Scope) -> Output | Range:
        fields = ref["fields"]
        if kind(fields[-1]) == "A_Star":
            return scope.range(names(fields[:-1]))
        *qualifier, name = names(fields)
        return scope.qualified(qualifier, name) if qualifier else scope.unqualified(name)

    def expr_A_Indirection(self, node: dict, scope: Scope) -> Sealed | None:
        steps = node.get("indirection", [])
        if kind(node["arg"]) == "ColumnRef" and len(steps) == 1 and string(steps[0]):
            found = self.resolve(node["arg"]["ColumnRef"], scope)
            if isinstance(found, Range):
                column = found.column(string(steps[0]))
                if not column:
                    raise Rejected("no such column of the row")
                return column.sealed
        self.opaque(node["arg"], scope, "a subscript")
        for step in steps:
            self.opaque(step, scope, "a subscript")
        return None

    def expr_BoolExpr(self, node: dict, scope: Scope) -> None:
        for arg in node["args"]:
            self.opaque(arg, scope, "a condition")

    def expr_NullTest(self, node: dict, scope: Scope) -> None:
        sealed = self.expr(node["arg"], scope)
        if sealed:
            self.searches |= sealed.fields

    def expr_A_Expr(self, node: dict, scope: Scope) -> None:
        operator = names(node["name"])
        equality = operator[-1] in EQUALITIES and operator[:-1] in ([], ["pg_catalog"])
        left, right = node.get("lexpr"), node.get("rexpr")
        match node["kind"]:
            case "AEXPR_OP" | "AEXPR_DISTINCT" | "AEXPR_NOT_DISTINCT" if equality and left:
                self.compare(left, right, scope)
            case "AEXPR_IN":
                for item in right["List"]["items"]:
                    self.compare(left, item, scope)
            case "AEXPR_OP_ANY" | "AEXPR_OP_ALL" if equality:
                self.compare_array(left, right, scope)
            case _:
                for side in (left, right):
                    for part in (
                        [side] if side and kind(side) != "List" else (side or {}).get("List", {}).get("items", [])
                    ):
                        self.opaque(part, scope, f"{operator[-1]}")

    def expr_CaseExpr(self, node: dict, scope: Scope) -> None:
        arg = node.get("arg")
        for when in node["args"]:
            when = when["CaseWhen"]
            if arg:
                self.compare(arg, when["expr"], scope)
            else:
                self.opaque(when["expr"], scope, "a condition")
            self.opaque(when["result"], scope, "a result of CASE")
        self.opaque(node.get("defresult"), scope, "a result of CASE")

    def expr_FuncCall(self, node: dict, scope: Scope) -> None:
        name = names(node["funcname"])
        args = node.get("args", [])
        windowed = "over" in node or "agg_order" in node
        if name[-1] == "count" and name[:-1] in ([], ["pg_catalog"]) and len(args) == 1 and not windowed:
            sealed = self.expr(args[0], scope)
            if sealed:
                self.compared(sealed) if node.get("agg_distinct") else self.searches.update(sealed.fields)
        else:
            for arg in args:
                self.opaque(arg, scope, f"{name[-1]}()")
        if name[-1] in RUNNERS and self.mentions(node):
            self.facts.forbid("a query in a string")
        if name[-1] == "set_config":
            self.set_config(args)
        for key in ("agg_order", "agg_filter"):
            for part in children(node.get(key)):
                self.opaque(part, scope, key)
        if "over" in node:
            self.window(node["over"], scope)

    def expr_NamedArgExpr(self, node: dict, scope: Scope) -> None:
        self.opaque(node["arg"], scope, "an argument")

    def window(self, window: dict, scope: Scope) -> None:
        for key in window.get("partitionClause", []):
            sealed = self.expr(key, scope)
            if sealed:
                self.compared(sealed)
        for key in window.get("orderClause", []):
            self.opaque(key["SortBy"]["node"], scope, "ORDER BY of a window")
        for key in ("startOffset", "endOffset"):
            self.opaque(window.get(key), scope, key)

    def expr_SubLink(self, node: dict, scope: Scope) -> Sealed | None:
        outputs = self.query(node["subselect"], scope)
        test, operator = node.get("testexpr"), names(node.get("operName"))
        match node["subLinkType"]:
            case "EXISTS_SUBLINK":
                return None
            case "EXPR_SUBLINK" if len(outputs) == 1:
                return outputs[0].sealed
            case "ANY_SUBLINK" | "ALL_SUBLINK" if not operator or operator[-1] in EQUALITIES:
                left = test["RowExpr"]["args"] if kind(test) == "RowExpr" else [test]
                if len(left) != len(outputs):
                    raise Rejected("rows of unequal length")
                for item, output in zip(left, outputs, strict=True):
                    sealed = self.expr(item, scope)
                    if output.null and sealed:
                        self.searched(sealed)
                    else:
                        self.equate(sealed, output.sealed)
                return None
        if test:
            self.opaque(test, scope, "a sub-select's operator")
        if any(output.sealed for output in outputs):
            self.facts.forbid("a sealed column out of a sub-select")
        return None

    def compare(self, left: Node, right: Node, scope: Scope) -> None:
        """`left = right`"""
        if kind(left) == "RowExpr" and kind(right) == "RowExpr":
            pairs = zip(left["RowExpr"].get("args", []), right["RowExpr"].get("args", []), strict=False)
            for one, other in pairs:
                self.compare(one, other, scope)
            return
        if not is_value(left) and not is_value(right):
            one, other = self.side(left, scope), self.side(right, scope)
            if one and other and one.indexed and other.indexed and one.is_like(other):
                self.searches |= one.fields | other.fields
            else:
                self.equate(one, other)
            return
        if is_value(left):
            left, right = right, left
        sealed = self.side(left, scope)
        if sealed:
            self.searched(sealed)
            self.value(sealed, "Search", right, scope)
        else:
            self.expr(right, scope)

    def compare_array(self, left: Node, right: Node, scope: Scope) -> None:
        sealed = self.side(left, scope)
        if not sealed:
            self.opaque(right, scope, "an array")
            return
        self.searched(sealed)
        array, types = right, literal.casts(right)
        while kind(array) == "TypeCast":
            array = array["TypeCast"]["arg"]
        if kind(array) == "A_ArrayExpr":
            if any(family != ("characters" if sealed.stored == "text" else "bytes") for family, _ in types):
                self.facts.forbid("sealed values are cast")
            for element in array["A_ArrayExpr"].get("elements", []):
                self.value(sealed, "Search", element, scope)
        else:
            self.value(sealed, "Search", right, scope, array=True)

    def side(self, node: Node, scope: Scope) -> Sealed | None:
        """One side of a comparison: of a column with a blind index, that is compared."""
        sealed = self.expr(node, scope)
        if sealed and sealed.indexed:
            if kind(node) == "ColumnRef":
                self.facts.indexed[id(node)] = sealed
            else:
                self.facts.forbid("a blind index that is out of reach")
        return sealed

    def searched(self, sealed: Sealed) -> None:
        """A column that values are compared with."""
        if sealed.indexed:
            self.searches |= sealed.fields
        else:
            self.compared(sealed)

    def equate(self, left: Sealed | None, right: Sealed | None) -> None:
        for side in (left, right):
            if side:
                self.compared(side)
        if (left or right) and not (left and right and left.is_like(right)):
            self.facts.forbid("a sealed column compared with what isn't sealed like it")

    def compared(self, sealed: Sealed) -> None:
        self.searches |= sealed.fields
        if not sealed.equality:
            self.facts.forbid("equality of a randomized column")

    def value(self, sealed: Sealed, use: str, node: Node, scope: Scope, array: bool = False) -> None:
        """A value that goes into a protected column, or is looked for in one; perhaps an array of such."""
        if use == "Store":
            self.writes |= sealed.fields
        if is_null(node):
            return
        try:
            bare = literal.peel(node)
        except literal.NoValue:
            source = self.expr(node, scope)
            if array or not (source and source.is_like(sealed)):
                self.facts.forbid("something computed in the place of a sealed value")
            return
        if sealed.stored == "other":
            self.facts.forbid("a column whose type holds no envelope")
        types = literal.casts(node)
        harmless = all(
            family in ("characters", sealed.declared) and family and bounds == array for family, bounds in types
        )
        declared = all((family, bounds) == (sealed.declared, array) for family, bounds in types)
        if kind(bare) == "ParamRef":
            if not harmless:
                self.facts.forbid("a parameter is cast to another type")
            self.facts.parameters.setdefault(bare["ParamRef"].get("number", 0), []).append((sealed, use, array))
            return
        text = literal.value(bare) if kind(bare) == "A_Const" and "bsval" not in bare["A_Const"] else None
        try:
            value = (text if harmless else None) if array else literal.value(node)
        except literal.Unjudged:
            value = None
        self.facts.seals.append(Seal(node, sealed, use, value, array, text if declared else None))


def is_value(node: Node) -> bool:
    try:
        literal.peel(node)
    except literal.NoValue:
        return False
    return True
