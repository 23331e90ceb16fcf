"""Names that users know as `relax.testing`: programs as the nodes that they consist of."""

from __future__ import annotations

from relaxscript.testing import ast_printer
from relaxscript.testing.ast_printer import ASTPrinter, dump_ast

__all__ = ["ASTPrinter", "ast_printer", "dump_ast"]
