"""Names that users know as `relax.testing`: programs as nodes, and questions that passes ask."""

from __future__ import annotations

from relaxscript.testing import ast_printer
from relaxscript.testing.ast_printer import ASTPrinter, dump_ast

from . import transform

__all__ = ["ASTPrinter", "ast_printer", "dump_ast", "transform"]
