"""Indices of tensors, `x[i]`, `x[a:b, ...]`, `x[:, None]`, `x[rows]`, as numpy reads them.

What an index means is said in `builder/tensor_index.py`; here are the places of its mistakes.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from relaxscript.builder.tensor_index import IndexMistake, index_steps
from relaxscript.ir.relax import Constant, Expr
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.script.parser.diagnostics import Failed

from .context import RelaxContext
from .expression import as_leaf, build

__all__ = ["tensor_index"]


def tensor_index(
    cx: RelaxContext, owner: Expr, info: TensorStructInfo, index: Any, node: ast.Subscript
) -> Expr:
    """`x[index]` of a tensor of known rank."""
    if info.ndim < 0:
        written = ast.unparse(node.value)
        raise cx.error(
            node, "RX0208", f"the rank of `{written}` is not known, so it cannot be indexed",
            help=f"check it first: `R.match_cast({written}, R.Tensor((n, m)))`",
        )  # fmt: skip
    items = list(index) if isinstance(index, tuple) else [index]
    nodes = [node.slice] * len(items)
    if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == len(items):
        nodes = list(node.slice.elts)
    operands = [_operand(cx, item, at) for item, at in zip(items, nodes)]
    try:
        steps = index_steps(
            info, operands, cx.builder.struct_info, lambda k: f"`{ast.unparse(nodes[k])}`"
        )
    except IndexMistake as mistake:
        raise _placed(cx, mistake, nodes, node) from None
    result = owner
    for operator, given in steps:  # each on what came before, which is bound first
        result = build(cx, operator, [as_leaf(cx, result, node), *given], node)
    return result


def _operand(cx: RelaxContext, item: Any, at: ast.expr) -> Any:
    """An item of an index, with tensors as leaves and lists of whole numbers as constants."""
    match item:
        case Expr():
            return as_leaf(cx, item, at)
        case list() | np.ndarray():
            with cx.at(at):
                array = np.asarray(item)
            whole = array.dtype.kind in "iu"
            return Constant.make(array.astype("int64"), span=cx.span(at)) if whole else array
    return item


def _placed(
    cx: RelaxContext, mistake: IndexMistake, nodes: list[ast.expr], node: ast.Subscript
) -> Failed:
    """The mistake at the item of the index that it is in."""
    at: ast.expr = node.slice if mistake.item is None else nodes[mistake.item]
    if mistake.part is not None and isinstance(at, ast.Slice):
        bounds = {"start": at.lower, "stop": at.upper, "step": at.step}
        at = bounds[mistake.part] or at
    labels = [
        (node.value, f"`{ast.unparse(node.value)}` {fact}") if item is None else (nodes[item], fact)
        for item, fact in mistake.facts
    ]
    return cx.error(at, "RX0208", mistake.message, labels=labels, help=mistake.help)
