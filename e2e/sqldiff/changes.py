"""INSERT, UPDATE, DELETE, MERGE."""

from sqldiff.facts import Facts, Rejected
from sqldiff.literal import NoValue, casts, is_plain, peel, type_family
from sqldiff.nodes import Node, every, inner, is_null, kind, names
from sqldiff.schema import Column, Relation, Sealed
from sqldiff.scope import Output, Range, Scope

OTHER_TYPE = "the server would read a literal or a parameter as of another type"


def values_with_names(select: dict) -> tuple[str, dict[str, list[Node]]] | None:
    """The alias of a query's only source, which is VALUES whose columns have names, and each column's cells."""
    if set(select) - {"targetList", "fromClause", "sortClause", "limitOption", "op"}:
        return None
    match select.get("fromClause"):
        case [{"RangeSubselect": {"subquery": {"SelectStmt": {"valuesLists": rows, **more}}, "alias": alias, **other}}]:
            names_of = names(alias.get("colnames"))
            items = [row["List"].get("items", []) for row in rows]
            whole = all(len(row) == len(names_of) for row in items) and len(set(names_of)) == len(names_of)
            if set(more) - {"limitOption", "op"} or other.get("lateral") or not whole:
                return None
            return alias["aliasname"], dict(zip(names_of, map(list, zip(*items, strict=True)), strict=True))
    return None


def unnested(select: dict) -> list[Node] | None:
    """The arrays of `SELECT * FROM unnest(…)`."""
    match {key: value for key, value in select.items() if key not in ("limitOption", "op")}:
        case {
            "targetList": [{"ResTarget": {"val": {"ColumnRef": {"fields": [{"A_Star": _}]}}}}],
            "fromClause": [{"RangeFunction": {"functions": [{"List": {"items": [{"FuncCall": call}, *_]}}], **more}}],
            **other,
        } if not other and not set(more) - {"is_rowsfrom"} and names(call["funcname"]) == ["unnest"]:
            return call.get("args")
    return None


def column_named(node: Node) -> str | None:
    """The name of a column, through casts."""
    while kind(node) == "TypeCast":
        node = node["TypeCast"]["arg"]
    return names(node["ColumnRef"]["fields"])[-1] if kind(node) == "ColumnRef" else None


def mentioned(select: dict) -> list[str]:
    """The last part of every column's name outside of the source; a wildcard's is empty."""
    parts = {key: value for key, value in select.items() if key != "fromClause"}
    return [(names(ref["fields"]) or [""])[-1] for ref in every(parts, "ColumnRef")]


class Changes:
    """Mixed into the oracle."""

    facts: Facts
    writes: set[int]
    copies: set[int]

    def change(self, node: Node, outer: Scope) -> list[Output]:
        statement = inner(node)
        outer = self.with_clause(statement.get("withClause"), outer)
        relation = self.named(statement["relation"])
        if relation.view and relation.known:
            self.facts.forbid("a view of a protected table is written")
        var = {key: value for key, value in statement["relation"].items() if key != "alias"}
        target = self.relation(var, Scope())
        alias = statement["relation"].get("alias", {}).get("aliasname")
        if alias:
            target.name, target.schema = alias, None
        scope = outer.within()
        scope.add(Scope([target], list(target.columns)))
        write = {
            "InsertStmt": self.insert,
            "UpdateStmt": self.update,
            "DeleteStmt": self.delete,
            "MergeStmt": self.merge_,
        }
        write[kind(node)](statement, relation, scope, outer)
        if "returningList" not in statement:
            return []
        scope.hidden = [
            Range(name, None, target.columns) for name in ("old", "new") if all(r.name != name for r in scope.ranges)
        ]
        return self.targets(statement["returningList"], scope)

    def refuse_generated(self, relation: Relation) -> None:
        if any(column.generated and column.sealed for column in relation.columns):
            self.facts.forbid("the server computes a sealed column")

    def refuse_default(self, column: Column) -> None:
        if column.sealed and column.default:
            self.facts.forbid("a sealed column gets its default")

    def columns(self, relation: Relation, targets: list[Node]) -> list[Column]:
        found = []
        for target in targets:
            target = target["ResTarget"]
            column = relation.column(target["name"])
            if not column or column in found:
                raise Rejected("no such column, or twice")
            if target.get("indirection") and column.sealed:
                self.facts.forbid("a part of a sealed column is written")
            found.append(column)
        return found

    def insert(self, insert: dict, relation: Relation, scope: Scope, outer: Scope) -> None:
        self.refuse_generated(relation)
        listed = self.columns(relation, insert.get("cols", []))
        written = self.source(insert, relation, listed, outer) if "selectStmt" in insert else []
        for column in relation.columns:
            if column not in written:
                self.refuse_default(column)
        conflict = insert.get("onConflictClause")
        if conflict:
            self.on_conflict(conflict, relation, scope)

    def source(self, insert: dict, relation: Relation, listed: list[Column], outer: Scope) -> list[Column]:
        select = insert["selectStmt"]["SelectStmt"]
        rows = [row["List"].get("items", []) for row in select.get("valuesLists", [])]
        if rows and len({len(row) for row in rows}) != 1:
            raise Rejected("VALUES of unequal length")
        if rows:
            inside = self.with_clause(select.get("withClause"), outer).within()
            columns = self.goals(insert, relation, listed, len(rows[0]))
            sorts = "sortClause" in select or "limitCount" in select
            if sorts and any(column.sealed for column in columns):
                self.facts.forbid("VALUES are sorted or cut before they are stored")
            for column, node in ((c, n) for row in rows for c, n in zip(columns, row, strict=True)):
                self.store(column, node, inside)
            return columns
        arrays = unnested(select)
        if arrays:
            columns = self.goals(insert, relation, listed, len(arrays))
            for column, array in zip(columns, arrays, strict=True):
                if column.sealed:
                    self.facts.recast.add(id(array))
                    self.value(column.sealed, "Store", array, outer.within(), array=True)
                else:
                    self.opaque(array, outer.within(), "an array")
            return columns
        rows_of_values = self.bulk(select, relation, listed, outer)
        if rows_of_values is not None:
            return self.goals(insert, relation, listed, rows_of_values)
        # Parameters and literals of the select list were judged as plain outputs: they are judged here as stored.
        outputs = self.selected(select, relation, listed, outer)
        return self.goals(insert, relation, listed, len(outputs))

    def bulk(self, select: dict, relation: Relation, listed: list[Column], outer: Scope) -> int | None:
        """`SELECT a, b::int FROM (VALUES …) v (a, b)`: what stands in a sealed column's place, and there alone, is
        judged cell by cell. Gives how many columns there are, or None for anything else."""
        targets = [target["ResTarget"]["val"] for target in select.get("targetList", [])]
        goals = listed or list(relation.columns)[: len(targets)]
        source = values_with_names(select)
        if source is None or len(goals) != len(targets):
            return None
        alias, cells = source
        places: dict[str, tuple[Column, Node]] = {}
        for column, target in zip(goals, targets, strict=True):
            name = column_named(target)
            if not column.sealed:
                continue
            if name not in cells or len([n for n in mentioned(select) if n == name]) != 1:
                return None
            places[name] = (column, target)
        scope = outer.within()
        scope.add(Scope([Range(alias, None, [Output(name) for name in cells])], [Output(name) for name in cells]))
        for target in targets:
            self.opaque(target, scope, "a select list")
        self.sort(select.get("sortClause"), [], scope)
        for name, column_of_cells in cells.items():
            if name not in places:
                for cell in column_of_cells:
                    self.opaque(cell, outer.within(), "VALUES")
                continue
            column, target = places[name]
            self.facts.recast.add(id(target))
            if any(family not in ("characters", column.sealed.declared) for family, _ in casts(target)):
                self.facts.forbid(OTHER_TYPE)
            self.of_one_type(column.sealed, column_of_cells)
            for cell in column_of_cells:
                self.value(column.sealed, "Store", cell, outer.within())
        return len(targets)

    def goals(self, insert: dict, relation: Relation, listed: list[Column], count: int) -> list[Column]:
        columns = listed or list(relation.columns)[:count]
        if count != len(columns):
            raise Rejected("as many values as columns are needed")
        if not listed:
            self.facts.implied[id(insert)] = [column.name for column in columns]
        return columns

    def selected(self, select: dict, relation: Relation, listed: list[Column], outer: Scope) -> list[Output]:
        before = {number: list(roles) for number, roles in self.facts.parameters.items()}
        outputs = self.select(select, outer)
        columns = listed or list(relation.columns)[: len(outputs)]
        if len(columns) != len(outputs):
            raise Rejected("as many values as columns are needed")
        for column, output in zip(columns, outputs, strict=True):
            if output.sealed and not column.sealed:
                self.copies |= output.sealed.fields
            elif column.sealed and output.sealed:
                self.writes |= column.sealed.fields
                if not output.sealed.is_like(column.sealed):
                    self.facts.forbid("a sealed column is copied to one of another label")
            elif column.sealed:
                self.stored_output(column, output, before)
        return outputs

    def stored_output(self, column: Column, output: Output, before: dict) -> None:
        """A column of a SELECT whose every arm is a literal or a parameter."""
        self.of_one_type(column.sealed, output.nodes)
        if not output.nodes and not output.null:
            self.facts.forbid("something computed in the place of a sealed value")
        for node in output.nodes:
            try:
                bare = peel(node)
            except NoValue:
                bare = None
            if kind(bare) == "ParamRef":
                # It stands in the select list once, and that was noted as plain.
                number = bare["ParamRef"].get("number", 0)
                roles = self.facts.parameters[number]
                if None in roles[len(before.get(number, [])) :]:
                    roles.remove(None)
            self.value(column.sealed, "Store", node, Scope()) if bare or is_null(node) else self.facts.forbid(
                "something computed in the place of a sealed value"
            )

    def store(self, column: Column, node: Node, scope: Scope) -> None:
        if kind(node) == "SetToDefault":
            # An INSERT writes it no more than if it were not named.
            self.refuse_default(column)
        elif column.sealed:
            declared = {(column.sealed.declared, False)}
            if (
                kind(node) == "TypeCast"
                and kind(node["TypeCast"]["arg"]) == "CaseExpr"
                and set(casts(node)) == declared
            ):
                self.facts.recast.add(id(node))
                node = node["TypeCast"]["arg"]
            if kind(node) == "CaseExpr":
                return self.store_case(column, node["CaseExpr"], scope)
            if kind(node) == "CoalesceExpr":
                self.of_one_type(column.sealed, node["CoalesceExpr"]["args"])
                return [self.store(column, arg, scope) for arg in node["CoalesceExpr"]["args"]] and None
            if kind(node) == "SubLink":
                self.writes |= column.sealed.fields
                source = self.expr(node, scope)
                if not (source and source.is_like(column.sealed)):
                    self.facts.forbid("something computed in the place of a sealed value")
                return
            self.value(column.sealed, "Store", node, scope)
        else:
            source = self.expr(node, scope)
            self.copies |= source.fields if source else set()

    def of_one_type(self, sealed: Sealed, nodes: list[Node]) -> None:
        """Values that the server brings to one type first: beside a number `'007'` is 7."""
        typed = {family for node in nodes if not is_null(node) for family in [type_family(node)]}
        others = typed - {"", "unknown", "characters", sealed.declared}
        if others and any(type_family(node) == "unknown" and not is_plain(node) for node in nodes):
            self.facts.forbid(OTHER_TYPE)

    def store_case(self, column: Column, case: dict, scope: Scope) -> None:
        """A CASE whose results are values: each is stored as if it stood alone."""
        results = [when["CaseWhen"]["result"] for when in case["args"]]
        self.of_one_type(column.sealed, results + [case[key] for key in ("defresult",) if key in case])
        for when in case["args"]:
            when = when["CaseWhen"]
            if "arg" in case:
                self.compare(case["arg"], when["expr"], scope)
            else:
                self.opaque(when["expr"], scope, "a condition")
            self.store(column, when["result"], scope)
        if "defresult" in case:
            self.store(column, case["defresult"], scope)

    def on_conflict(self, conflict: dict, relation: Relation, scope: Scope) -> None:
        infer = conflict.get("infer", {})
        for element in infer.get("indexElems", []):
            element = element["IndexElem"]
            column = relation.column(element.get("name", ""))
            if column and column.sealed:
                self.compared(column.sealed)
            self.opaque(element.get("expr"), scope, "ON CONFLICT")
        self.opaque(infer.get("whereClause"), scope, "ON CONFLICT")
        excluded = Range("excluded", None, [Output(c.name, c.sealed) for c in relation.columns])
        both = Scope([*scope.ranges, excluded], scope.columns, scope.outer, scope.ctes)
        # An unqualified name means either, which the server calls ambiguous.
        both.columns = scope.columns + excluded.columns
        self.assignments(relation, conflict.get("targetList", []), both)
        self.opaque(conflict.get("whereClause"), both, "a condition")

    def assignments(self, relation: Relation, targets: list[Node], scope: Scope) -> None:
        columns = self.columns(relation, targets)
        for column, target in zip(columns, targets, strict=True):
            node = target["ResTarget"]["val"]
            if kind(node) == "SetToDefault" and column.sealed:
                # It takes away what was there.
                self.writes |= column.sealed.fields
            if kind(node) != "MultiAssignRef":
                self.store(column, node, scope)
                continue
            multi = node["MultiAssignRef"]
            source, place = multi["source"], multi["colno"] - 1
            if kind(source) == "RowExpr":
                self.store(column, source["RowExpr"]["args"][place], scope)
            elif kind(source) == "SubLink":
                # The same sub-select is given once a column; judged each time, it says the same.
                output = self.query(source["SubLink"]["subselect"], scope)[place]
                self.writes |= column.sealed.fields if column.sealed else set()
                if column.sealed and not (output.sealed and output.sealed.is_like(column.sealed)):
                    self.facts.forbid("something computed in the place of a sealed value")
                if output.sealed and not column.sealed:
                    self.copies |= output.sealed.fields
            else:
                self.opaque(source, scope, "an assignment")
                if column.sealed:
                    self.facts.forbid("something computed in the place of a sealed value")

    def update(self, update: dict, relation: Relation, scope: Scope, outer: Scope) -> None:
        self.refuse_generated(relation)
        for item in update.get("fromClause", []):
            scope.add(self.from_item(item, scope, outer))
        self.assignments(relation, update["targetList"], scope)
        self.opaque(update.get("whereClause"), scope, "a condition")

    def delete(self, delete: dict, relation: Relation, scope: Scope, outer: Scope) -> None:
        for item in delete.get("usingClause", []):
            scope.add(self.from_item(item, scope, outer))
        self.opaque(delete.get("whereClause"), scope, "a condition")

    def merge_(self, merge: dict, relation: Relation, scope: Scope, outer: Scope) -> None:
        self.refuse_generated(relation)
        source = self.from_item(merge["sourceRelation"], outer.within(), outer)
        scope.add(source)
        self.opaque(merge.get("joinCondition"), scope, "a join's condition")
        for when in merge.get("mergeWhenClauses", []):
            when = when["MergeWhenClause"]
            self.opaque(when.get("condition"), scope, "a condition")
            match when.get("commandType"):
                case "CMD_UPDATE":
                    self.assignments(relation, when["targetList"], scope)
                case "CMD_INSERT":
                    self.merge_insert(when, relation, scope)

    def merge_insert(self, when: dict, relation: Relation, scope: Scope) -> None:
        values = when.get("values", [])
        columns = self.columns(relation, when.get("targetList", [])) or list(relation.columns)[: len(values)]
        if values and len(columns) != len(values):
            raise Rejected("as many values as columns are needed")
        if not when.get("targetList"):
            self.facts.implied[id(when)] = [column.name for column in columns]
        for column, node in zip(columns, values, strict=False):
            self.store(column, node, scope)
        for column in relation.columns:
            if not values or column not in columns:
                self.refuse_default(column)
