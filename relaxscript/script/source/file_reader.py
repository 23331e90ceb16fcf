"""Going through the statements of a file or string in their order, without running them.

`from_source` refuses what it does not know; `check` and `print` keep what is plain and leave the
rest to a run of the file (`cli/scripts_in_file.py`).
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from relaxscript.errors import Diagnostic, Source
from relaxscript.script.parser.reporter import Reporter

from .plain_names import import_bindings
from .source_tree import AnyDefinition

__all__ = ["FileReader", "Scopes"]

Scopes = list[dict[str, Any]]  # innermost first


class FileReader(ABC):
    """Reads statements; what is said of names is kept in the innermost scope."""

    def __init__(self, source: Source, reporter: Reporter) -> None:
        self.source = source
        self.reporter = reporter

    def block(self, statements: Sequence[ast.stmt], scopes: Scopes, prefix: str = "") -> None:
        """Statements in their order; `prefix` is what the names of definitions begin with."""
        for node in statements:
            try:
                self.statement(node, scopes, prefix)
            except RecursionError:
                message = "this is nested too deeply"
                self.reporter.record(Diagnostic("RX0104", message, self.source.span(node)))

    def statement(self, node: ast.stmt, scopes: Scopes, prefix: str) -> None:
        """One statement, by its form."""
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                self.read_definition(node, scopes, prefix)
            case ast.Import() | ast.ImportFrom():
                scopes[0].update(self.read_import(node))
            case ast.Assign(targets=targets, value=value):
                self.read_assignment(node, targets, value, scopes)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.read_assignment(node, [target], value, scopes)
            case _:
                self.read_other(node, scopes, prefix)

    def read_import(self, node: ast.Import | ast.ImportFrom) -> dict[str, Any]:
        """The names that an import binds, and what is known of them."""
        return import_bindings(node)

    @abstractmethod
    def read_definition(self, node: AnyDefinition, scopes: Scopes, prefix: str) -> None:
        """A class or a function, decorated or not."""

    @abstractmethod
    def read_assignment(
        self, node: ast.stmt, targets: Sequence[ast.expr], value: ast.expr, scopes: Scopes
    ) -> None:
        """An assignment of a value to one or several targets."""

    @abstractmethod
    def read_other(self, node: ast.stmt, scopes: Scopes, prefix: str) -> None:
        """Any other statement."""
