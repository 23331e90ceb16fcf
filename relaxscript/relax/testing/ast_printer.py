"""Names that users know as `tvm.relax.testing.ast_printer`: the nodes of programs."""

from __future__ import annotations

from relaxscript.testing import ASTPrinter, dump_ast

__all__ = ["ASTPrinter", "dump_ast"]
