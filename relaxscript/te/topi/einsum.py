"""Sums of products by named axes. Source: TVM `topi.einsum`, numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.arith import NO, YES, format_expr, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.te import reduction
from relaxscript.te.compute import compute, reduce_axis
from relaxscript.te.tensor import Tensor

from .broadcast import is_one, repeated
from .operands import topi_function

__all__ = ["einsum"]

ELLIPSIS = "..."
# An axis by its letter; those of an ellipsis count from its end: -1 is the last.
Label = str | int


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


def parse_subscripts(subscripts: str) -> tuple[list[str], str]:
    """The axes of each operand, and those of the result; raises `OperandError` (RX0204)."""
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    letters = "".join(letters_of(term) for term in inputs)
    if not all(c.isascii() and c.isalpha() for c in letters + letters_of(output)):
        raise _unreadable(
            subscripts, 'subscripts have the form "ij,jk->ik": letters, commas, `...` and one arrow'
        )
    dots = ELLIPSIS if ELLIPSIS in left else ""
    if not arrow:
        output = dots + "".join(c for c in sorted(set(letters)) if letters.count(c) == 1)
    unknown = [c for c in letters_of(output) if c not in letters]
    if unknown:
        raise _unreadable(subscripts, f"`{unknown[0]}` is an axis of the result, and of no operand")
    if len(set(letters_of(output))) < len(letters_of(output)):
        raise _unreadable(subscripts, "an axis appears twice in the result")
    if dots not in output:
        raise _unreadable(subscripts, "the axes of `...` are missing in the result")
    return inputs, output


def letters_of(term: str) -> str:
    """The letters of one operand or of the result, without its ellipsis."""
    return term.replace(ELLIPSIS, "", 1)


def _unreadable(subscripts: str, rule: str) -> OperandError:
    return OperandError("subscripts", f'is "{subscripts}"', message=rule, code="RX0204")


def labels_of(term: str, rank: int) -> list[Label]:
    """The names of the axes; an ellipsis takes what the letters leave of the `rank`."""
    before, _, after = term.partition(ELLIPSIS)
    return [*before, *range(len(before) + len(after) - rank, 0), *after]
