"""Reads which top-level module of a Rust crate uses which other. Standard library only.

It reads text, not Rust as the compiler does: `use`, paths that begin with `crate`, `super` or `self`, and inherent
`impl` blocks. It does not see which method a call means. Therefore a type's methods count too: a module that adds
methods to a type of another module would be called through that type, and no path would show it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# The crate's root as a module: what `lib.rs` itself defines.
ROOT_MODULE = "lib"

Module = tuple[str, ...]

# What is no code: comments, strings and characters. A lifetime (`'a`) is not a character.
_NO_CODE = re.compile(
    r"""
      //[^\n]* | /\*.*?\*/            # comments
    | \bb?r(\#*)".*?"\1              # raw strings
    | "(?:[^"\\]|\\.)*"              # strings
    | '(?:[^'\\\n]|\\[^\n]{1,8}?)'   # characters
    """,
    re.S | re.X,
)
_MODULE_AT_PATH = re.compile(r'#\[path = "(\w+)\.rs"\]\s*(?:pub(?:\([^)]*\))? )?mod (\w+);')
_INLINE_MODULE = re.compile(r"\bmod\s+(\w+)\s*\{")
_USE = re.compile(r"\buse\s+([^;]+);")
_PATH = re.compile(r"(?<![\w:])(?:crate|super|self)(?:\s*::\s*\w+)+")
_TYPE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|union|type)\s+(\w+)", re.M)
_METHODS = re.compile(r"^\s*(?:unsafe\s+)?impl\b([^{;]*)\{", re.M)


@dataclass(frozen=True, order=True)
class Arrow:
    """A top-level module that uses another, and the first place where it does."""

    user: str
    used: str
    place: str


class Source:
    """One file of a crate, without its comments and strings."""

    def __init__(self, path: Path, module: Module, text: str) -> None:
        self.path = path
        self.module = module
        self.code = _NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        self._inline = list(self._inline_modules())

    @property
    def room(self) -> str:
        """The top-level module that the file belongs to."""
        return self.module[0] if self.module else ROOT_MODULE

    def place(self, at: int) -> str:
        return f"{self.path}:{self.code.count(chr(10), 0, at) + 1}"

    def names(self) -> Iterator[tuple[int, Module]]:
        """Each path that the file names, from the crate's root on, with its position."""
        for use in _USE.finditer(self.code):
            for path in leaves(use[1]):
                yield use.start(), self._absolute(path, use.start())
        for path in _PATH.finditer(_USE.sub(lambda use: " " * len(use[0]), self.code)):
            yield path.start(), self._absolute([part.strip() for part in path[0].split("::")], path.start())

    def methods(self) -> Iterator[tuple[int, str]]:
        """The name of each type that the file adds methods to, with the position."""
        for found in _METHODS.finditer(self.code):
            head = _without_generics(found[1])
            if not re.search(r"\bfor\b", head) and (name := re.search(r"(\w+)\s*(?:where\b.*)?$", head, re.S)):
                yield found.start(), name[1]

    def types(self) -> set[str]:
        return set(_TYPE.findall(self.code))

    def _absolute(self, path: list[str], at: int) -> Module:
        here = self.module + tuple(name for name, begin, end in self._inline if begin < at < end)
        if path[0] == "crate":
            return tuple(path[1:])
        rest = list(path)
        while rest and rest[0] in ("self", "super"):
            if rest.pop(0) == "super":
                here = here[:-1]
        return (*here, *rest)

    def _inline_modules(self) -> Iterator[tuple[str, int, int]]:
        for found in _INLINE_MODULE.finditer(self.code):
            depth = 0
            for brace in re.finditer(r"[{}]", self.code[found.end() - 1 :]):
                depth += 1 if brace[0] == "{" else -1
                if depth == 0:
                    yield found[1], found.end(), found.end() + brace.start()
                    break


class Crate:
    """The sources of one crate."""

    def __init__(self, files: dict[Path, str]) -> None:
        """`files` are the texts by their paths below `src`."""
        moved = {
            path.with_name(f"{found[1]}.rs"): (*_module_of(path), found[2])
            for path, text in files.items()
            for found in _MODULE_AT_PATH.finditer(text)
        }
        self.sources = [Source(path, moved.get(path) or _module_of(path), text) for path, text in sorted(files.items())]
        self.rooms = {source.room for source in self.sources} - {ROOT_MODULE}
        self._exported = self._exports()

    def arrows(self) -> list[Arrow]:
        """Each pair of top-level modules of which the first uses the second. The root may use all, and is left out."""
        found: dict[tuple[str, str], str] = {}
        for source in self.sources:
            for at, path in source.names():
                found.setdefault((source.room, self._room_of(path)), source.place(at))
        return sorted(
            Arrow(user, used, place) for (user, used), place in found.items() if user not in (used, ROOT_MODULE)
        )

    def methods_elsewhere(self) -> list[Arrow]:
        """Each top-level module that adds methods to a type of another."""
        homes = defaultdict(set)
        for source in self.sources:
            for name in source.types():
                homes[name].add(source.room)
        return sorted(
            {
                Arrow(home, source.room, source.place(at))
                for source in self.sources
                for at, name in source.methods()
                if homes[name] and source.room not in homes[name]
                for home in homes[name]
            }
        )

    def _room_of(self, path: Module) -> str:
        if not path:
            return ROOT_MODULE
        return path[0] if path[0] in self.rooms else self._exported.get(path[0], ROOT_MODULE)

    def _exports(self) -> dict[str, str]:
        """The names that the root takes from its modules, each with its module."""
        roots = [source for source in self.sources if not source.module]
        paths = [path for source in roots for _, path in source.names() if path and path[0] in self.rooms]
        return {path[-1]: path[0] for path in paths}


def read(folder: Path) -> Crate:
    """The library in a folder of a crate."""
    source = folder / "src"
    paths = {path.relative_to(source): path for path in source.rglob("*.rs")}
    return Crate({path: file.read_text() for path, file in paths.items() if path.parts[0] not in ("bin", "main.rs")})


def leaves(tree: str) -> Iterator[list[str]]:
    """The paths that a `use` names: `a::{b, c::{d as e}}` names `a::b` and `a::c::d`."""
    tree = tree.strip()
    before, brace, inside = tree.partition("{")
    prefix = [part.strip() for part in before.split("::") if part.strip()]
    if not brace:
        last = re.sub(r"\s+as\s+\w+$", "", prefix[-1])
        yield prefix[:-1] if last in ("*", "self") and len(prefix) > 1 else [*prefix[:-1], last]
        return
    for part in _parts(inside.rstrip().removesuffix("}")):
        for path in leaves(part):
            yield prefix if path in (["self"], ["*"]) else [*prefix, *path]


def _parts(inside: str) -> Iterator[str]:
    depth, part = 0, ""
    for sign in inside:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            yield part
            part = ""
        else:
            part += sign
    if part.strip():
        yield part


def _module_of(path: Path) -> Module:
    parts = path.with_suffix("").parts
    return parts[:-1] if parts[-1] in ("lib", "mod") else parts


def _without_generics(head: str) -> str:
    depth, kept = 0, ""
    for before, sign in zip(" " + head, head, strict=False):
        if sign == "<":
            depth += 1
        elif sign == ">" and before != "-":
            depth -= 1
        elif depth == 0:
            kept += sign
    return kept
