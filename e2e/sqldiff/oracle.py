"""What must hold of a text, told from the server's own syntax tree of it."""

from sqldiff.changes import Changes
from sqldiff.expressions import Expressions
from sqldiff.facts import Facts
from sqldiff.nodes import Node, inner, kind
from sqldiff.queries import Queries
from sqldiff.scope import Output, Scope
from sqldiff.utility import Utility

DML = {"SelectStmt": "Select", "InsertStmt": "Insert", "UpdateStmt": "Update", "DeleteStmt": "Delete"}
# A COPY to the client and a FETCH bring rows as a SELECT does.
OTHERS = {
    "FetchStmt": "Select",
    "TransactionStmt": "Transaction",
    "VariableSetStmt": "Set",
    "ConstraintsSetStmt": "Set",
}


class Oracle(Expressions, Queries, Changes, Utility):
    """Judges the statements of one text in turn."""

    def __init__(self) -> None:
        self.facts = Facts()
        self.prepared: dict[str, dict] = {}
        self.kinds: dict[str, str] = {}
        self.effects: dict[str, tuple[set[int], ...]] = {}
        # A statement before may have changed what names mean.
        self.renames = False
        self.renamed = False

    def judge(self, tree: dict) -> Facts:
        """Raises Rejected where the server would not run the text at all."""
        for statement in tree.get("stmts", []):
            self.reads: set[int] = set()
            self.searches: set[int] = set()
            self.writes: set[int] = set()
            self.copies: set[int] = set()
            self.yielded: list[Output] | None = None
            self.given: dict | None = None
            self.is_touched = False
            self.renames = False
            node = statement["stmt"]
            self.run(node, Scope())
            is_dml = kind(node) in (*DML, "MergeStmt", "CopyStmt", "ExplainStmt", "PrepareStmt", "DeclareCursorStmt")
            if is_dml and self.is_touched and self.renamed:
                self.facts.forbid("names may mean something else by then")
            self.renamed |= self.renames
            facts = self.facts
            facts.kinds.append(self.kind(node))
            facts.touched.append(self.is_touched)
            facts.reads.append(self.reads)
            facts.searches.append(self.searches)
            facts.writes.append(self.writes)
            facts.copies.append(self.copies)
            facts.prepared.append(self.given)
            # Of a cursor or a prepared statement they come back later.
            facts.columns.append(self.yielded and [fields_of(output) for output in self.yielded])
        self.check_parameters()
        return self.facts

    def kind(self, node: Node) -> str:
        if kind(node) == "PrepareStmt":
            self.kinds[node["PrepareStmt"]["name"]] = kind_of(node)
        if kind(node) == "ExecuteStmt":
            return self.kinds.get(node["ExecuteStmt"]["name"], "Other")
        return kind_of(node)

    def run(self, node: Node, scope: Scope) -> None:
        """One statement; what it yields is what comes back."""
        if kind(node) in (*DML, "MergeStmt"):
            outputs: list[Output] = self.query(node, scope)
            self.yielded = outputs
            if "intoClause" in inner(node):
                self.renames = True
                return
            self.reads |= {f for output in outputs if output.sealed for f in output.sealed.fields}
        else:
            self.utility(node, scope)

    def check_parameters(self) -> None:
        """One parameter has one value: sealed for one label, or not at all."""
        for roles in self.facts.parameters.values():
            sealed = [role[0] for role in roles if role]
            arrays = {role[2] for role in roles if role}
            if sealed and (None in roles or len(arrays) > 1 or not all(one.is_like(sealed[0]) for one in sealed)):
                self.facts.forbid("a parameter is used in two ways")


def fields_of(output: Output) -> tuple[frozenset[int], bool]:
    return (output.sealed.fields if output.sealed else frozenset(), output.lost)


def kind_of(node: Node) -> str:
    """What it is prepared or declared as counts as it, and so does what brings rows as a SELECT does."""
    if kind(node) in ("PrepareStmt", "DeclareCursorStmt"):
        return kind_of(inner(node)["query"])
    if kind(node) == "CopyStmt" and not inner(node).get("is_from") and "filename" not in inner(node):
        return "Select"
    return {**DML, **OTHERS}.get(kind(node), "Other")
