"""Everything but SELECT, INSERT, UPDATE, DELETE and MERGE."""

from sqldiff import schema
from sqldiff.facts import Facts, Rejected
from sqldiff.literal import casts
from sqldiff.nodes import Node, every, inner, kind, names, strings
from sqldiff.scope import Output, Scope

# They bring no value to a table or from it.
HARMLESS = [
    "TruncateStmt",
    "LockStmt",
    "VacuumStmt",
    "GrantStmt",
    "CommentStmt",
    "DropStmt",
    "ReindexStmt",
    "ClusterStmt",
    "CreateSeqStmt",
    "AlterSeqStmt",
    "CreateRoleStmt",
    "AlterOwnerStmt",
    "CreatePublicationStmt",
    "AlterPublicationStmt",
    "RefreshMatViewStmt",
]
# Their names are of channels, savepoints, cursors and settings, not of relations.
NAMELESS = [
    "TransactionStmt",
    "VariableSetStmt",
    "VariableShowStmt",
    "NotifyStmt",
    "ListenStmt",
    "UnlistenStmt",
    "FetchStmt",
    "ClosePortalStmt",
    "DeallocateStmt",
    "DiscardStmt",
    "CheckPointStmt",
    "ConstraintsSetStmt",
    "ExecuteStmt",
    "LoadStmt",
    "CreatedbStmt",
    "CallStmt",
]
# Settings that change which relation a name means.
NAMING = ("search_path", "role", "session_authorization")
CODE = ("DoStmt", "CreateFunctionStmt")


class Utility:
    """Mixed into the oracle."""

    facts: Facts
    reads: set[int]
    writes: set[int]
    prepared: dict[str, dict]
    given: dict | None
    # What each prepared statement reads, compares and writes.
    effects: dict[str, tuple[set[int], ...]]
    yielded: list[Output] | None
    renames: bool
    is_touched: bool

    def utility(self, node: Node, scope: Scope) -> None:
        reader = getattr(self, f"utility_{kind(node)}", None)
        if reader:
            reader(inner(node), scope)
        elif kind(node) in CODE:
            if self.mentions(node):
                self.facts.forbid("code that names a protected table")
            self.renames = True
        elif kind(node) not in NAMELESS:
            self.other(node)

    def mentions(self, node: Node) -> bool:
        return any(name.lower() in text.lower() for text in strings(node) for name in schema.KNOWN_NAMES)

    def other(self, node: Node) -> None:
        """DDL and the like."""
        touches = False
        for var in every(node, "RangeVar"):
            relation = schema.find(var.get("schemaname"), var["relname"])
            touches |= bool(relation and relation.known)
        for item in every(node, "List"):
            path = names([part for part in item.get("items", []) if kind(part) == "String"])
            found = path and schema.find(path[-2] if len(path) > 1 else None, path[-1])
            touches |= bool(found and found.known)
        self.is_touched |= touches
        makes = kind(node) not in HARMLESS and {v["relname"] for v in every(node, "RangeVar")} & schema.KNOWN_NAMES
        self.renames |= (
            (touches and kind(node) not in HARMLESS) or bool(makes) or kind(node) in ("CreateSchemaStmt", "DropStmt")
        )
        if touches and kind(node) not in (*HARMLESS, "CreateStmt", "ViewStmt", "RuleStmt"):
            self.facts.forbid(f"{kind(node)} of a protected table")

    def utility_ExplainStmt(self, explain: dict, scope: Scope) -> None:
        self.run(explain["query"], scope)
        # What comes back is the plan.
        self.reads.clear()
        self.yielded = None

    def utility_DeclareCursorStmt(self, declare: dict, scope: Scope) -> None:
        self.run(declare["query"], scope)

    def utility_PrepareStmt(self, prepare: dict, scope: Scope) -> None:
        self.run(prepare["query"], scope)
        self.prepared[prepare["name"]] = dict(self.facts.parameters)
        # They are EXECUTE's to give, not a client's.
        self.check_parameters()
        self.effects[prepare["name"]] = (self.reads, self.searches, self.writes)
        self.given = self.facts.parameters
        for number, type_name in enumerate(prepare.get("argtypes", []), start=1):
            # PREPARE drops what stands in brackets behind a type.
            bare = {key: value for key, value in type_name["TypeName"].items() if key != "typmods"}
            family, _ = casts({"TypeCast": {"typeName": bare, "arg": None}})[0]
            for role in filter(None, self.given.get(number, [])):
                if family not in ("characters", role[0].declared) and names(type_name["TypeName"]["names"]) != [
                    "unknown"
                ]:
                    self.facts.forbid("the server would change a parameter before it is stored")
        self.facts.parameters = {}

    def utility_ExecuteStmt(self, execute: dict, scope: Scope) -> None:
        roles = self.prepared.get(execute["name"], {})
        for number, param in enumerate(execute.get("params", []), start=1):
            sealed = [role for role in roles.get(number, []) if role]
            if sealed:
                field, use, array = max(sealed, key=lambda role: role[1] == "Store")
                self.value(field, use, param, scope, array)
        for own, its in zip(
            (self.reads, self.searches, self.writes), self.effects.get(execute["name"], ()), strict=False
        ):
            own |= its
        self.renames = True

    def utility_CallStmt(self, call: dict, scope: Scope) -> None:
        self.opaque(call["funccall"] if kind(call["funccall"]) == "FuncCall" else {"FuncCall": call["funccall"]}, scope)
        self.renames = True

    def utility_CopyStmt(self, copy: dict, scope: Scope) -> None:
        if "query" in copy:
            self.yielded = self.query(copy["query"], scope)
            self.reads |= {f for output in self.yielded if output.sealed for f in output.sealed.fields}
            if "filename" in copy and self.reads:
                self.facts.forbid("COPY to a file of the server")
            return
        relation = self.named(copy["relation"])
        columns = [relation.column(name) for name in names(copy.get("attlist"))]
        if None in columns:
            raise Rejected("no such column")
        if relation.known and "filename" in copy:
            self.facts.forbid("COPY of a file of the server")
        fields = {f for c in columns or relation.columns if c.sealed for f in c.sealed.fields}
        self.yielded = [Output(c.name, c.sealed, lost=True) for c in columns or relation.columns]
        if relation.view and relation.known:
            raise Rejected("COPY of a view")
        if not copy.get("is_from"):
            self.reads |= fields
            return
        self.writes |= fields
        self.refuse_generated(relation)
        for column in relation.columns:
            if columns and column not in columns:
                self.refuse_default(column)
        if "whereClause" in copy:
            # It sees what is sealed; equality with a literal would do.
            self.opaque(copy["whereClause"], Scope([self.relation(copy["relation"], Scope())]), "COPY … WHERE")

    def utility_CreateTableAsStmt(self, create: dict, scope: Scope) -> None:
        if kind(create["query"]) == "ExecuteStmt":
            return
        outputs = self.query(create["query"], scope)
        # A materialized view's columns are known from the catalog, as a view's are.
        if create.get("objtype") != "OBJECT_MATVIEW":
            self.copied(outputs)
        self.renames |= create["into"]["rel"]["relname"] in schema.KNOWN_NAMES

    def utility_ViewStmt(self, view: dict, scope: Scope) -> None:
        # The catalog tells afterwards what its columns are.
        self.query(view["query"], scope)
        self.renames = True

    def utility_CreateStmt(self, create: dict, scope: Scope) -> None:
        self.other({"CreateStmt": create})
        if schema.find(create["relation"].get("schemaname"), create["relation"]["relname"]):
            raise Rejected("it is there already")

    def utility_IndexStmt(self, index: dict, scope: Scope) -> None:
        relation = self.named(index["relation"])
        range_ = self.relation(index["relation"], Scope())
        inside = Scope([range_], range_.columns)
        for element in index.get("indexParams", []):
            element = element["IndexElem"]
            column = relation.column(element.get("name", ""))
            if column and column.sealed and not column.sealed.equality:
                self.facts.forbid("an index of a randomized column")
            self.opaque(element.get("expr"), inside, "an index")
        self.opaque(index.get("whereClause"), inside, "an index")
        self.renames |= relation.known

    def utility_RenameStmt(self, rename: dict, scope: Scope) -> None:
        var = rename.get("relation")
        relation = var and schema.find(var.get("schemaname"), var["relname"])
        if relation and relation.known:
            self.is_touched = True
            self.facts.forbid("another name for a protected table or a part of it")
        self.renames = True

    def utility_AlterObjectSchemaStmt(self, alter: dict, scope: Scope) -> None:
        self.utility_RenameStmt(alter, scope)

    def utility_AlterTableStmt(self, alter: dict, scope: Scope) -> None:
        var = alter["relation"]
        relation = schema.find(var.get("schemaname"), var["relname"])
        self.renames = True
        if not relation or not relation.known:
            return self.other({"AlterTableStmt": alter}) if any(every(alter, "ColumnRef")) else None
        self.is_touched = True
        keeps = ("AT_SetNotNull", "AT_DropNotNull", "AT_DropColumn")
        for command in alter["cmds"]:
            command = command["AlterTableCmd"]
            column = relation.column(command.get("name", ""))
            if column and column.sealed and command["subtype"] not in keeps:
                self.facts.forbid(f"{command['subtype']} of a sealed column")
            sealed = {column.name for column in relation.columns if column.sealed}
            used = {name for ref in every(command, "ColumnRef") for name in names(ref["fields"])}
            if sealed & used:
                self.facts.forbid("a change of a table computes with a sealed column")
        return None

    def utility_VariableSetStmt(self, set_: dict, scope: Scope) -> None:
        name = set_.get("name", "").lower()
        self.renames |= name in NAMING or set_.get("kind") == "VAR_RESET_ALL"

    def utility_DiscardStmt(self, discard: dict, scope: Scope) -> None:
        self.renames = True

    def utility_AlterRoleSetStmt(self, alter: dict, scope: Scope) -> None:
        if "setstmt" in alter:
            self.utility_VariableSetStmt(alter["setstmt"], scope)

    utility_AlterDatabaseSetStmt = utility_AlterRoleSetStmt
    utility_AlterSystemStmt = utility_AlterRoleSetStmt

    def set_config(self, args: list[Node]) -> None:
        self.renames = True
