"""Tensors of tensor expressions as HTML: the expressions that give them, from what is given on.

Each is a row: an element, the shape, the dtype, and `A[i, j] * 2.0` or `sum of B[i, k] over k < n`.
"""

from __future__ import annotations

from relaxscript.arith import format_expr
from relaxscript.errors.markup import box, fold, page, table, title
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.tir import IterVar
from relaxscript.ir.tir_compute import Reduce

from .tensor import ComputeOp, ExternOp, Tensor

__all__ = ["tensor_html"]

_OPEN_ROWS = 40
_HEADER = ("tensor", "shape", "dtype", "elements")
# What a combiner of two values is called over many.
_COMBINED: dict[type[PrimExpr], str] = {
    prim.Add: "sum", prim.Mul: "product", prim.Max: "maximum", prim.Min: "minimum",
    prim.And: "all", prim.Or: "any",
}  # fmt: skip


def tensor_html(tensor: Tensor) -> str:
    """The whole output: the tensor, and all that it is computed from, each before its users."""
    rows = [
        (_element(each), _shape(each), str(each.dtype), _in_a_line(_elements(each)))
        for each in _in_order(tensor)
    ]
    head = title(tensor.name, [_shape(tensor), str(tensor.dtype)])
    shown = table("tensor expressions", _HEADER, rows, ())
    many = len(rows) > _OPEN_ROWS
    if many:
        shown = fold("tensor expressions", shown, f"{len(rows):,} tensors", is_open=False)
    return page(box(head, shown, folds=many))


def _in_order(tensor: Tensor) -> list[Tensor]:
    """A tensor and all that it reads, however deep, each once and behind what it reads."""
    found: dict[Tensor, None] = {}
    stack = [(tensor, False)]
    while stack:
        each, is_left = stack.pop()
        if is_left:
            found[each] = None
        elif each not in found:
            stack.append((each, True))
            stack += [(read, False) for read in reversed(each.op.input_tensors)]
    return list(found)


def _shape(tensor: Tensor) -> str:
    dims = ", ".join(map(format_expr, tensor.shape))
    return f"({dims},)" if tensor.ndim == 1 else f"({dims})"


def _element(tensor: Tensor) -> str:
    """An element as its definition has it on the left: `C[i, j]`."""
    op = tensor.op
    axes = [axis.var.name for axis in op.axis] if isinstance(op, ComputeOp) else []
    return f"{tensor.name}[{', '.join(axes)}]" if axes else tensor.name


def _elements(tensor: Tensor) -> str:
    """The elements in an expression, or in words."""
    op = tensor.op
    if isinstance(op, ComputeOp):
        value = op.body[tensor.value_index]
        return _reduction(value) if isinstance(value, Reduce) else str(value)
    if isinstance(op, ExternOp):
        names = ", ".join(each.name for each in op.input_tensors)
        return f"written by statements that read {names}" if names else "written by statements"
    return "given"


def _reduction(value: Reduce) -> str:
    """A reduction in words: the sum of what, over which axes, and where."""
    combiner, at = value.combiner, value.value_index
    result = combiner.result[at]
    plain = len(combiner.result) == 1 and _is_plain(result, combiner.lhs[0], combiner.rhs[0])
    if plain and type(result) in _COMBINED:
        said = f"{_COMBINED[type(result)]} of {value.source[at]}"
    else:
        sources = ", ".join(map(str, value.source))
        said = f"{sources} combined by {result}"
    said += f" over {', '.join(map(_range, value.axis))}"
    always = isinstance(value.condition, prim.IntImm) and value.condition.value
    return said if always else f"{said} where {value.condition}"


def _is_plain(result: PrimExpr, *operands: PrimExpr) -> bool:
    """True if an operator is applied to the two values and to nothing else."""
    pairs = zip((getattr(result, "a", None), getattr(result, "b", None)), operands)
    return all(given is operand for given, operand in pairs)


def _range(axis: IterVar) -> str:
    name, dom = axis.var.name, axis.dom
    if dom is None:
        return name
    start = dom.min
    if isinstance(start, prim.IntImm) and start.value == 0:
        return f"{name} < {format_expr(dom.extent)}"
    return f"{name} from {format_expr(start)}, {format_expr(dom.extent)} values"


def _in_a_line(text: str) -> str:
    return " ".join(text.split())
