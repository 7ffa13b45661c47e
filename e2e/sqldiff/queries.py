"""SELECT, set operations, WITH and FROM."""

from dataclasses import replace

from sqldiff import schema
from sqldiff.facts import Facts, Rejected
from sqldiff.nodes import Node, children, inner, is_null, kind, names
from sqldiff.schema import Relation, Sealed
from sqldiff.scope import Output, Range, Scope


class Queries:
    """Mixed into the oracle."""

    facts: Facts
    is_touched: bool
    searches: set[int]
    copies: set[int]

    def query(self, node: Node, outer: Scope) -> list[Output]:
        """A query within `outer`, and the columns that it yields."""
        match kind(node):
            case "SelectStmt":
                return self.select(node["SelectStmt"], outer)
            case "InsertStmt" | "UpdateStmt" | "DeleteStmt" | "MergeStmt":
                return self.change(node, outer)
        raise NotImplementedError(kind(node))

    def select(self, select: dict, outer: Scope) -> list[Output]:
        outer = self.with_clause(select.get("withClause"), outer)
        if select.get("op", "SETOP_NONE") != "SETOP_NONE":
            return self.set_operation(select, outer)
        scope = outer.within()
        if "valuesLists" in select:
            outputs = self.values_lists(select["valuesLists"], scope)
        else:
            for item in select.get("fromClause", []):
                scope.add(self.from_item(item, scope, outer))
            outputs = self.targets(select.get("targetList", []), scope)
        if "intoClause" in select:
            self.copied(outputs)
        self.opaque(select.get("whereClause"), scope, "a condition")
        for key in select.get("groupClause", []):
            self.group_key(key, outputs, scope)
        self.opaque(select.get("havingClause"), scope, "a condition")
        for window in select.get("windowClause", []):
            self.window(window["WindowDef"], scope)
        self.distinct(select.get("distinctClause"), outputs, scope)
        self.sort(select.get("sortClause"), outputs, scope)
        self.limits(select, scope)
        return outputs

    def limits(self, select: dict, scope: Scope) -> None:
        for key in ("limitCount", "limitOffset"):
            self.opaque(select.get(key), scope, key)

    def values_lists(self, rows: list[Node], scope: Scope) -> list[Output]:
        items = [row["List"].get("items", []) for row in rows]
        if len({len(row) for row in items}) != 1:
            raise Rejected("VALUES of unequal length")
        for expr in (expr for row in items for expr in row):
            self.opaque(expr, scope, "VALUES")
        return [
            Output(f"column{index + 1}", nodes=list(column)) for index, column in enumerate(zip(*items, strict=True))
        ]

    def targets(self, items: list[Node], scope: Scope) -> list[Output]:
        outputs: list[Output] = []
        for item in items:
            target = item["ResTarget"]
            node = target["val"]
            stars = kind(node) == "ColumnRef" and kind(node["ColumnRef"]["fields"][-1]) == "A_Star"
            if stars:
                outputs += self.star(node["ColumnRef"], scope)
                continue
            sealed = self.expr(node, scope)
            lost = self.is_lost(node, scope)
            outputs.append(Output(target.get("name") or own_name(node), sealed, [node], is_null(node), lost))
        return outputs

    def is_lost(self, node: Node, scope: Scope) -> bool:
        if kind(node) != "ColumnRef":
            return True
        column = self.resolve(node["ColumnRef"], scope)
        return isinstance(column, Range) or column.lost

    def copied(self, outputs: list[Output]) -> None:
        self.copies |= {f for output in outputs if output.sealed for f in output.sealed.fields}

    def star(self, ref: dict, scope: Scope) -> list[Output]:
        qualifier = names(ref["fields"][:-1])
        columns = scope.range(qualifier).columns if qualifier else scope.columns
        return [Output(column.name, column.sealed, null=column.null, lost=column.lost) for column in columns]

    def group_key(self, key: Node, outputs: list[Output], scope: Scope) -> None:
        if kind(key) == "GroupingSet":
            for part in key["GroupingSet"].get("content", []):
                self.group_key(part, outputs, scope)
            return
        sealed = self.key(key, outputs, scope, inputs_first=True)
        if sealed:
            self.compared(sealed)

    def key(self, key: Node, outputs: list[Output], scope: Scope, inputs_first: bool) -> Sealed | None:
        """What a key of GROUP BY, ORDER BY or DISTINCT ON means: a position, an output's name, or an expression."""
        if kind(key) == "A_Const" and "ival" in key["A_Const"]:
            position = key["A_Const"]["ival"].get("ival", 0)
            if not 1 <= position <= len(outputs):
                raise Rejected("no such position")
            return outputs[position - 1].sealed
        if kind(key) == "ColumnRef" and len(key["ColumnRef"]["fields"]) == 1:
            name = names(key["ColumnRef"]["fields"])[0]
            inputs = [column for column in scope.columns if column.name == name]
            named = [output for output in outputs if output.name == name]
            if named and not (inputs_first and inputs):
                return next((output.sealed for output in named if output.sealed), None)
        return self.expr(key, scope)

    def distinct(self, clause: list[Node] | None, outputs: list[Output], scope: Scope) -> None:
        keys = [key for key in clause or [] if key]
        if clause and not keys:
            for output in outputs:
                if output.sealed:
                    self.compared(output.sealed)
        for key in keys:
            sealed = self.key(key, outputs, scope, inputs_first=False)
            if sealed:
                self.compared(sealed)

    def sort(self, clause: list[Node] | None, outputs: list[Output], scope: Scope) -> None:
        for item in clause or []:
            if self.key(item["SortBy"]["node"], outputs, scope, inputs_first=False):
                self.facts.forbid("ORDER BY of a sealed column")

    def set_operation(self, select: dict, outer: Scope) -> list[Output]:
        left, right = self.select(select["larg"], outer), self.select(select["rarg"], outer)
        outputs = self.united(left, right)
        keeps_all = select["op"] == "SETOP_UNION" and select.get("all", False)
        for output in outputs:
            if output.sealed and not keeps_all:
                self.compared(output.sealed)
        scope = outer.within()
        scope.columns = outputs
        self.sort(select.get("sortClause"), outputs, scope)
        self.limits(select, outer.within())
        return outputs

    def united(self, left: list[Output], right: list[Output]) -> list[Output]:
        if len(left) != len(right):
            raise Rejected("arms of unequal length")
        outputs = []
        for one, other in zip(left, right, strict=True):
            sealed = one.sealed or other.sealed
            if one.sealed and other.sealed and one.sealed.is_like(other.sealed):
                fields = one.sealed.fields | other.sealed.fields
                equality = one.sealed.equality and other.sealed.equality
                sealed = replace(one.sealed, fields=fields, equality=equality)
            elif sealed and not (one.null or other.null):
                self.facts.forbid("a set operation mixes sealed values with others")
            # Values of two labels, or of one and of none, stand in one column: none is protected any more.
            outputs.append(Output(one.name, sealed, one.nodes + other.nodes, one.null and other.null, lost=True))
        return outputs

    def with_clause(self, clause: dict | None, outer: Scope) -> Scope:
        if not clause:
            return outer
        scope = outer.within()
        scope.ctes = dict(outer.ctes)
        if clause.get("recursive"):
            scope.ctes |= {node["CommonTableExpr"]["ctename"]: None for node in clause["ctes"]}
        for node in clause["ctes"]:
            cte = node["CommonTableExpr"]
            if clause.get("recursive"):
                self.recursive(cte, scope)
            else:
                scope.ctes[cte["ctename"]] = renamed(
                    self.query(cte["ctequery"], scope), names(cte.get("aliascolnames"))
                )
        return scope

    def recursive(self, cte: dict, scope: Scope) -> None:
        name, columns, query = cte["ctename"], names(cte.get("aliascolnames")), cte["ctequery"]
        select = query.get("SelectStmt", {})
        if select.get("op") != "SETOP_UNION":
            scope.ctes[name] = renamed(self.query(query, scope), columns)
            return
        if {"search_clause", "cycle_clause"} & cte.keys() and self.is_touched:
            self.facts.forbid("SEARCH or CYCLE beside a sealed column")
        first = self.select(select["larg"], scope)
        scope.ctes[name] = renamed([replace(column, lost=True) for column in first], columns)
        second = self.select(select["rarg"], scope)
        outputs = self.united(first, second)
        for output in outputs:
            if output.sealed and not select.get("all"):
                self.compared(output.sealed)
        scope.ctes[name] = renamed(outputs, columns)

    def from_item(self, node: Node, before: Scope, outer: Scope) -> Scope:
        """One item of FROM; `before` are those to its left, which LATERAL and functions see."""
        item = inner(node)
        match kind(node):
            case "RangeVar":
                return single(self.relation(item, outer))
            case "RangeSubselect":
                lateral = item.get("lateral", False)
                columns = self.query(item["subquery"], before if lateral else outer)
                alias = item.get("alias", {})
                return single(Range(alias.get("aliasname"), None, renamed(columns, names(alias.get("colnames")))))
            case "JoinExpr":
                return self.join(item, before, outer)
            case "RangeTableSample":
                for arg in item.get("args", []):
                    self.opaque(arg, before, "TABLESAMPLE")
                return self.from_item(item["relation"], before, outer)
        # Functions, XMLTABLE, JSON_TABLE.
        for child in children([value for key, value in item.items() if key not in ("alias", "coldeflist")]):
            self.opaque(child, before, "FROM")
        alias = item.get("alias", {})
        name = alias.get("aliasname") or function_name(item)
        known = names(alias.get("colnames")) or [name]
        return single(Range(name, None, [Output(column) for column in known], open=True))

    def join(self, item: dict, before: Scope, outer: Scope) -> Scope:
        left = self.from_item(item["larg"], before, outer)
        seen = Scope(before.ranges + left.ranges, before.columns + left.columns, outer, outer.ctes)
        right = self.from_item(item["rarg"], seen, outer)
        using = names(item.get("usingClause"))
        if item.get("isNatural"):
            theirs = {column.name for column in right.columns}
            using = [column.name for column in left.columns if column.name in theirs]
        full = item["jointype"] == "JOIN_FULL"
        merged = [self.merge(name, left, right, full) for name in using]
        joined = Scope(outer=outer, ctes=outer.ctes)
        joined.add(Scope(left.ranges, []))
        joined.add(Scope(right.ranges, []))
        rest = [column for column in left.columns + right.columns if column.name not in using]
        joined.columns = merged + rest
        self.opaque(item.get("quals"), joined, "a join's condition")
        using_alias = item.get("join_using_alias", {}).get("aliasname")
        if using_alias:
            joined.ranges = [*joined.ranges, Range(using_alias, None, merged)]
        alias = item.get("alias")
        if alias:
            return single(Range(alias["aliasname"], None, renamed(joined.columns, names(alias.get("colnames")))))
        return joined

    def merge(self, name: str, left: Scope, right: Scope, full: bool) -> Output:
        sides = []
        for scope in (left, right):
            found = [column for column in scope.columns if column.name == name]
            if len(found) > 1 or (not found and not any(r.open for r in scope.ranges)):
                raise Rejected(f"USING ({name}) is not one column")
            sides.append(found[0] if found else Output(name))
        one, other = sides
        self.equate(one.sealed, other.sealed)
        return Output(name, one.sealed or other.sealed, lost=full)

    def relation(self, var: dict, scope: Scope) -> Range:
        """A table, view or common table expression by its name."""
        alias = var.get("alias", {})
        name, columns = alias.get("aliasname"), names(alias.get("colnames"))
        if "schemaname" not in var and var["relname"] in scope.ctes:
            if scope.ctes[var["relname"]] is None:
                raise Rejected("recursion without UNION, or a look ahead")
            return Range(name or var["relname"], None, renamed(scope.ctes[var["relname"]], columns))
        relation = self.named(var)
        outputs = [Output(column.name, column.sealed) for column in relation.columns]
        shown = None if name else relation.schema
        return Range(name or relation.name, shown, renamed(outputs, columns), catalog=True)

    def named(self, var: dict) -> Relation:
        if var.get("catalogname", schema.DATABASE) != schema.DATABASE:
            raise Rejected("another database")
        relation = schema.find(var.get("schemaname"), var["relname"])
        if relation is None:
            raise Rejected("no such relation")
        if relation.known:
            self.is_touched = True
        self.searches |= relation.searches
        if relation.opaque:
            self.facts.forbid("a view or a partition of a protected table is named")
        return relation


def single(range_: Range) -> Scope:
    return Scope([range_], list(range_.columns))


def renamed(columns: list[Output], by: list[str]) -> list[Output]:
    if len(by) > len(columns):
        raise Rejected("more names than columns")
    kept = [column.name for column in columns]
    return [
        Output(name, column.sealed, null=column.null, lost=column.lost)
        for name, column in zip(by + kept[len(by) :], columns, strict=True)
    ]


def own_name(node: Node) -> str | None:
    match kind(node):
        case "ColumnRef":
            return names(node["ColumnRef"]["fields"])[-1]
        case "FuncCall":
            return names(node["FuncCall"]["funcname"])[-1]
        case "A_Indirection":
            return names(node["A_Indirection"].get("indirection"))[-1] or own_name(node["A_Indirection"]["arg"])
        case "TypeCast":
            return own_name(node["TypeCast"]["arg"]) or names(node["TypeCast"]["typeName"]["names"])[-1]
    return None


def function_name(item: dict) -> str:
    for key in ("FuncCall",):
        for function in item.get("functions", []):
            items = function.get("List", {}).get("items", [])
            if items and kind(items[0]) == key:
                return names(items[0][key]["funcname"])[-1]
    return "?"
