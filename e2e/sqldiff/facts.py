"""What the oracle says of one text."""

from dataclasses import dataclass, field

from sqldiff.schema import Sealed


class Rejected(Exception):
    """The server would not run the text (no such column, say): whatever the analysis says of it does no harm."""


@dataclass
class Seal:
    """A value of the text that must be sealed: the node it is, and what the server would read there."""

    node: dict
    sealed: Sealed
    use: str
    value: str | None
    array: bool = False
    # The literal itself, where every cast around it is to the declared type: sealing reads it as the server would.
    bare: str | None = None


@dataclass
class Facts:
    kinds: list[str] = field(default_factory=list)
    touched: list[bool] = field(default_factory=list)
    reads: list[set[int]] = field(default_factory=list)
    searches: list[set[int]] = field(default_factory=list)
    writes: list[set[int]] = field(default_factory=list)
    # Fields whose envelopes go, as they are, to where nothing is protected.
    copies: list[set[int]] = field(default_factory=list)
    # What comes back or, of a COPY, what goes either way: the fields of each column, and whether the server
    # tells its table.
    columns: list[list["tuple[frozenset[int], bool]"] | None] = field(default_factory=list)
    prepared: list[dict | None] = field(default_factory=list)
    # Nodes of columns in whose place their blind index is compared.
    indexed: dict[int, Sealed] = field(default_factory=dict)
    seals: list[Seal] = field(default_factory=list)
    # By number: None for a place that nothing protects, else what it is sealed as and its use.
    parameters: dict[int, list[tuple[Sealed, str, bool] | None]] = field(default_factory=dict)
    # Nodes whose casts may go or change: what is sealed in their place has another type.
    recast: set[int] = field(default_factory=set)
    # Why the text must not pass.
    forbidden: list[str] = field(default_factory=list)
    # Columns that an INSERT without a list gives its values to, by the statement's node.
    implied: dict[int, list[str]] = field(default_factory=dict)

    def forbid(self, why: str) -> None:
        self.forbidden.append(why)
