"""Sums of products by named axes. Source: TVM `topi.einsum`, numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.arith import NO, YES, format_expr, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.sinfo.subscripts import ELLIPSIS, Label, labels_of, letters_of, parse_subscripts
from relaxscript.te import reduction
from relaxscript.te.compute import compute, reduce_axis
from relaxscript.te.tensor import Tensor

from .broadcast import is_one, repeated
from .operands import topi_function

__all__ = ["einsum"]


@topi_function
def einsum(subscripts: str, *operand: Tensor) -> Any:
    """The sums of products that `subscripts` describes, such as "ij,jk->ik"; see `R.einsum`.

    Raises `OperandError` for subscripts that do not describe the tensors.
    """
    inputs, _ = parse_subscripts(subscripts)
    if len(inputs) != len(operand):
        raise OperandError(
            "subscripts", f"describes {len(inputs)}", code="RX0204",
            message=f"`topi.einsum` gets {len(operand)} tensors",
        )  # fmt: skip
    for tensor, term in zip(operand, inputs):
        letters = len(letters_of(term))
        if tensor.ndim < letters or (tensor.ndim > letters and ELLIPSIS not in term):
            raise OperandError(
                "subscripts", f'has "{term}"', code="RX0204",
                message=f"a tensor of `topi.einsum` has {tensor.ndim} axes",
            )  # fmt: skip
    return named_products(operand, subscripts, operand[0].dtype)


def named_products(operands: Sequence[Tensor], subscripts: str, dtype: DataType) -> Any:
    """The sums of products in `dtype`; an axis of 1 is repeated where another has more."""
    inputs, output = parse_subscripts(subscripts)
    axes = [labels_of(term, t.ndim) for t, term in zip(operands, inputs)]
    further = [t.ndim - len(letters_of(term)) for t, term in zip(operands, inputs)]
    own = max(further, default=0) if ELLIPSIS in output else 0
    wanted = labels_of(output, len(letters_of(output)) + own)
    sizes: dict[Label, PrimExpr] = {}
    for tensor, labels in zip(operands, axes):
        for size, label in zip(tensor.shape, labels):
            sizes[label] = _common(sizes[label], size, label) if label in sizes else size
    summed = [label for label in sizes if label not in wanted]
    inner = {name: reduce_axis((0, sizes[name]), name=f"k{n}") for n, name in enumerate(summed)}

    def element(*indices: Any) -> Any:
        places: dict[Label, PrimExpr] = dict(zip(wanted, indices))
        places |= {label: axis.var for label, axis in inner.items()}
        product: Any = None
        for tensor, labels in zip(operands, axes):
            at = [repeated(places[n], s, sizes[n]) for n, s in zip(labels, tensor.shape)]
            e = prim.cast(tensor[tuple(at)], dtype)
            product = e if product is None else product * e
        return reduction.sum(product, axis=list(inner.values())) if inner else product

    names = [f"ax{axis}" for axis in range(len(wanted))]
    return compute([sizes[n] for n in wanted], element, name="T_einsum", varargs_names=names)


def _common(a: PrimExpr, b: PrimExpr, label: Label) -> PrimExpr:
    """The size of an axis that two tensors have: they are equal, or one of them is 1."""
    one = prim.const(1, a.dtype)
    if is_one(b) or prove_equal(a, b) is YES:
        return a
    if is_one(a) or prove_equal(b, one) is NO:
        if prove_equal(a, one) is NO and prove_equal(a, b) is NO:
            raise OperandError(
                "subscripts", f"names it `{label}`", code="RX0203",
                message=f"an axis has {format_expr(a)} elements in one tensor and "
                f"{format_expr(b)} in another",
            )  # fmt: skip
        return b
    return a if prove_equal(a, one) is NO else prim.Select(prim.EQ(a, one), b, a)
