"""Every place in relaxscript that reports a mistake, found in its syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from relaxscript_tests.architecture import PACKAGE, python_files
from relaxscript_tests.syntax import nodes_of

__all__ = ["Site", "all_sites", "sites_of", "unreached"]

# Constructors of what is reported, and the methods that record a diagnostic.
CONSTRUCTORS = {
    "Diagnostic", "OperandError", "ArgumentError", "AnnotationError", "TIRError", "VMError",
}  # fmt: skip
METHODS = {"error"}


class Site(NamedTuple):
    """A call that makes a mistake known; lines count from 1, both are inside."""

    path: str
    first: int
    last: int
    text: str

    def __str__(self) -> str:
        return f"{PACKAGE}/{self.path}:{self.first}: {self.text}"


def sites_of(path: str, text: str) -> list[Site]:
    """The sites in one file."""
    lines = text.splitlines()
    found = [
        Site(path, node.lineno, node.end_lineno or node.lineno, lines[node.lineno - 1].strip())
        for node in nodes_of(text)
        if isinstance(node, ast.Call) and _reports(node.func)
    ]
    return sorted(found)


def _reports(called: ast.expr) -> bool:
    match called:
        case ast.Name(id=name):
            return name in CONSTRUCTORS
        case ast.Attribute(value=ast.Name(id="self" | "cx"), attr=name):
            return name in METHODS or name in CONSTRUCTORS
        case ast.Attribute(value=ast.Name(id="types")):
            return False  # `lsprotocol.types.Diagnostic`: the form of a mistake that is known
        case ast.Attribute(attr=name):
            return name in CONSTRUCTORS
    return False


def all_sites() -> list[Site]:
    """The sites of the whole package."""
    files: Mapping[str, str] = python_files(PACKAGE)
    return [
        site
        for path, text in files.items()
        for site in sites_of(path.removeprefix(f"{PACKAGE}/"), text)
    ]


def unreached(sites: Iterable[Site], reached: Iterable[tuple[str, int]]) -> list[Site]:
    """The sites of which no line was executed while a mistake was made known."""
    lines: dict[str, set[int]] = {}
    for path, line in reached:
        lines.setdefault(path, set()).add(line)
    return [
        site
        for site in sites
        if not any(site.first <= line <= site.last for line in lines.get(site.path, ()))
    ]
