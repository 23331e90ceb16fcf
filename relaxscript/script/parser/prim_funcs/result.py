"""The result of a PrimFunc, and the end of a macro."""

from __future__ import annotations

import ast

from relaxscript.ir.prim import PrimType
from relaxscript.ir.tir import Buffer, BufferRegion
from relaxscript.script.parser.expression import parse_expr
from relaxscript.script.parser.macro import Returned

from .assign import convert_value
from .context import TirContext
from .scalar import to_scalar

__all__ = ["parse_return"]


# statement = "return" [scalar]
def parse_return(cx: TirContext, node: ast.Return) -> None:
    """Read the end of a function, or of the macro that is being expanded."""
    if cx.expanding:
        if cx.depth != cx.macro_depth:
            raise cx.error(
                node, "RX0105", "a macro cannot stop in the middle of a loop or a branch",
                help="put the rest under `if`: it runs only where the condition holds",
            )  # fmt: skip
        raise Returned(None)
    if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
        if cx.depth == 0:
            return
        raise cx.error(
            node, "RX0105", "a PrimFunc cannot stop in the middle",
            help="put the rest under `if`: it runs only where the condition holds",
        )  # fmt: skip
    value = parse_expr(cx, node.value)
    if isinstance(value, (tuple, list)):
        raise cx.error(
            node.value, "RX0105", "a PrimFunc returns one scalar",
            help="write the others into the elements of a buffer parameter",
        )  # fmt: skip
    if isinstance(value, (Buffer, BufferRegion)):
        raise cx.error(
            node.value, "RX0105",
            "a PrimFunc writes into its parameters, it does not return buffers",
            help="add a parameter for the result, and leave `return` out",
        )  # fmt: skip
    declared = cx.builder.ret_type
    if isinstance(declared, PrimType):
        what = "the function returns"
        e = convert_value(cx, value, node.value, declared.dtype, node.value, what)
    else:
        e = to_scalar(cx, value, node.value)
    with cx.builder_at(node) as builder:
        builder.ret(e)
