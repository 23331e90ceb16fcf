"""Sums of products by named axes. Source: numpy `einsum`, TVM `relax.einsum`."""

from __future__ import annotations

import itertools
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.arith import NO, YES, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Expr, Tuple
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Tensor, Tensors
from relaxscript.opdef.shapes import (
    ONE,
    broadcast_dim,
    common_dtype,
    common_vdevice,
    dims_of,
    require_dtype,
    require_equal,
    same_dim,
    same_dims,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.sinfo.subscripts import ELLIPSIS, Label, labels_of, letters_of, parse_subscripts

from .gradients import R, broadcast_like, dtype_of, fields_of, known_dims, known_rank
from .numeric import accumulator
from .pieces import PIECE, pieces

__all__ = ["einsum", "outer"]


# How many elements are converted at once; of more, numpy converts some whenever it takes them.
_CONVERTED = 8 * PIECE


@op()
def einsum(operands: Tensors, subscripts: str) -> Tensor:
    """The sums of products that `subscripts` describes, such as "ij,jk->ik".

    Each operand has a letter for each of its axes; "..." stands for any number of further axes,
    which are compared from the right. Axes of one letter have one size, or 1 and are repeated. The
    result has the axes behind "->"; without it, those of "..." and then, in alphabetical order,
    those whose letter is there once. The others are added up, floats in a wider type.
    """
    inputs, output = parse_subscripts(subscripts)
    further = max(x.ndim - len(letters_of(term)) for x, term in zip(operands, inputs))
    axes = [labels_of(term, x.ndim) for x, term in zip(operands, inputs)]
    wanted = labels_of(
        output,
        len(letters_of(output)) + (further if ELLIPSIS in output else 0),
    )
    sizes: dict[Label, int] = {}
    for x, own in zip(operands, axes):
        for size, label in zip(x.shape, own):
            sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    number = {label: place for place, label in enumerate(sizes)}
    result = np.empty([sizes[label] for label in wanted], operands[0].dtype)
    wide = accumulator(result.dtype)
    for piece in pieces(result.shape):
        places = dict(zip(wanted, piece))
        arguments: list[Any] = []
        for x, own in zip(operands, axes):
            along = (places.get(label, slice(None)) for label in own)
            part = x[tuple(slice(None) if n == 1 else p for n, p in zip(x.shape, along))]
            part = part.astype(wide) if part.size <= _CONVERTED else part
            arguments += [part, [number[label] for label in own]]
        arguments.append([number[label] for label in wanted])
        found = np.einsum(*arguments, dtype=wide, casting="unsafe")
        result[piece] = np.asarray(found).astype(result.dtype)
    return result


@einsum.compute(sums=4)
def _(context: ComputeContext, operands: tuple[te.Tensor, ...], subscripts: str) -> te.Tensor:
    dtype = context.dtype
    made = topi.named_axes.named_products(operands, subscripts, DataType(accumulator(dtype.numpy)))
    return topi.linear_algebra.rounded(made, dtype)


@einsum.attribute_rule
def _(subscripts: str) -> None:
    parse_subscripts(subscripts)


@einsum.infer_rule
def _(context: InferContext, operands: tuple[TensorStructInfo, ...], subscripts: str) -> StructInfo:
    inputs, output = parse_subscripts(subscripts)
    if len(inputs) != len(operands):
        raise OperandError(
            "operands",
            f"has {quantity(len(operands), 'tensor')}",
            also={"subscripts": f"describes {len(inputs)}"},
        )
    named = {f"operands[{index}]": info for index, info in enumerate(operands)}
    dtype, vdevice = common_dtype(named), common_vdevice(named)
    sizes: dict[Label, list[PrimExpr | None]] = {}
    further: list[int] = []
    for (name, info), term in zip(named.items(), inputs):
        require_dtype(name, info.dtype, "number")
        rank = _rank(name, info, term)
        if ELLIPSIS in term:
            further.append(rank - len(letters_of(term)) if rank >= 0 else -1)
        labels = labels_of(term, max(rank, len(letters_of(term))))
        _measure(context, name, labels, dims_of(info), sizes)
    if ELLIPSIS in output and -1 in further:
        return tensor_of(None, dtype, vdevice)
    rank = len(letters_of(output)) + max(further, default=0)
    dims = [_size(context, sizes[label]) for label in labels_of(output, rank)]
    known = [dim for dim in dims if dim is not None]
    return tensor_of(known if len(known) == rank else None, dtype, vdevice, rank)


def _rank(name: str, info: TensorStructInfo, term: str) -> int:
    """The number of axes of an operand, or -1; its letters do not describe more, or fewer."""
    dims = dims_of(info)
    rank = info.ndim if dims is None else len(dims)
    letters = len(letters_of(term))
    if rank < 0 or rank == letters or (rank > letters and ELLIPSIS in term):
        return rank
    raise OperandError(
        name,
        shape_fact(info, dims),
        also={"subscripts": f'has "{term}" for it'},
        help="there is a letter for each axis"
        if ELLIPSIS not in term
        else "there is an axis for each letter",
    )


def _measure(
    context: InferContext,
    name: str,
    labels: Sequence[Label],
    dims: Sequence[PrimExpr] | None,
    sizes: dict[Label, list[PrimExpr | None]],
) -> None:
    """Take note of the size of each axis, None for unknown; each two are equal, or one is 1."""
    own: dict[Label, PrimExpr] = {}
    for axis, label in enumerate(labels):
        seen = sizes.setdefault(label, [])
        if dims is None:
            seen.append(None)
            continue
        dim = dims[axis]
        # Twice in one operand it is a diagonal, of which no side is repeated.
        if label in own:
            error, called = _size_mismatch(name, axis, label, own[label], dim)
            text = f"{called} has {dim_text(dim)} elements, not {dim_text(own[label])}"
            require_equal(context, own[label], dim, error, text)
            continue
        own[label] = dim
        for known in seen:
            if known is not None and not same_dims((known,), (dim,)):
                error, called = _size_mismatch(name, axis, label, known, dim)
                text = f"{called} has {dim_text(dim)} elements, not {dim_text(known)} or 1"
                broadcast_dim(context, known, dim, error, text)
        seen.append(dim)


def _size_mismatch(
    name: str, axis: int, label: Label, known: PrimExpr, dim: PrimExpr
) -> tuple[OperandError, str]:
    """The error for sizes of an axis that do not go together, and the name of that axis."""
    letter = label if isinstance(label, str) else ELLIPSIS
    fact = f"has {dim_text(dim)} elements along axis {axis}, `{letter}`"
    also = {"subscripts": f"has {dim_text(known)} elements for `{letter}` elsewhere"}
    return OperandError(name, fact, also=also), f"axis {axis} of `{name}`, `{letter}`,"


def _size(context: InferContext, sizes: Sequence[PrimExpr | None]) -> PrimExpr | None:
    """The size of an axis of the result, or None where that depends on values."""
    facts = context.facts
    for dim in sizes:
        if dim is not None and prove_equal(dim, ONE, facts) is NO:
            return dim
    larger = [dim for dim in sizes if dim is None or not same_dim(dim, ONE)]
    first = larger[0] if larger else ONE
    if first is None or any(d is None or prove_equal(first, d, facts) is not YES for d in larger):
        return None
    return first


@einsum.gradient
def _(context: GradientContext, operands: Expr, subscripts: str) -> Gradients:
    inputs, output = parse_subscripts(subscripts)
    given = fields_of(operands)
    ranks = [known_rank(f"operands[{k}]", x) for k, x in enumerate(given)]
    axes = [labels_of(term, rank) for term, rank in zip(inputs, ranks)]
    letters = dict(zip(dict.fromkeys(itertools.chain(*axes)), string.ascii_letters))
    terms = ["".join(letters[label] for label in own) for own in axes]
    wanted = labels_of(output, known_rank("out", context.out))
    result = "".join(letters[label] for label in wanted)
    found = [_of_factor(context.grad, result, given, terms, k) for k in range(len(given))]
    return (Tuple.make(tuple(found)),)


def _of_factor(
    grad: Expr, result: str, operands: Sequence[Expr], terms: Sequence[str], index: int
) -> Expr:
    """The gradient by one factor: the product of that of the result with all other factors."""
    x, term = operands[index], terms[index]
    dims = known_dims(f"operands[{index}]", x)
    factors = [(result, grad)]
    factors += [(t, e) for k, (t, e) in enumerate(zip(terms, operands)) if k != index]
    for axis, letter in enumerate(term):
        if letter in term[:axis]:  # a diagonal: elsewhere the gradient is 0
            fresh = next(c for c in string.ascii_letters if not any(c in t for t in (term, *terms)))
            term = term[:axis] + fresh + term[axis + 1 :]
            factors.append((letter + fresh, R.eye(dims[axis], dims[axis], 0, dtype_of(x))))
    # Along the other axes it is repeated, or added up.
    kept = [
        axis
        for axis, (letter, dim) in enumerate(zip(term, dims))
        if any(letter in t for t, _ in factors) and not (isinstance(dim, IntImm) and dim.value == 1)
    ]
    absent = [axis for axis in range(len(term)) if axis not in kept]
    left = "".join(term[axis] for axis in kept)
    found = grad
    if len(factors) > 1 or left != result:
        subscripts = ",".join(t for t, _ in factors)
        found = R.einsum([e for _, e in factors], f"{subscripts}->{left}")
    return broadcast_like(R.expand_dims(found, absent) if absent else found, x)


@op()
def outer(x1: Tensor, x2: Tensor) -> Tensor:
    """Each element of `x1`, of rank 1, times each of `x2`."""
    return np.asarray(x1[:, None] * x2)


@outer.compute()
def _(context: ComputeContext, x1: te.Tensor, x2: te.Tensor) -> Any:
    return te.compute(context.shape, lambda i, j: x1[i] * x2[j], name="outer")


@outer.infer_rule
def _(context: InferContext, x1: TensorStructInfo, x2: TensorStructInfo) -> StructInfo:
    operands = {"x1": x1, "x2": x2}
    dtype, vdevice = common_dtype(operands), common_vdevice(operands)
    dims: list[Sequence[PrimExpr] | None] = []
    for name, info in operands.items():
        require_dtype(name, info.dtype, "number")
        own = dims_of(info)
        if (info.ndim if own is None else len(own)) not in (-1, 1):
            message = "both operands have rank 1"
            raise OperandError(name, shape_fact(info, own), message=message)
        dims.append(own)
    if dims[0] is None or dims[1] is None:
        return tensor_of(None, dtype, vdevice, 2)
    return tensor_of((*dims[0], *dims[1]), dtype, vdevice)


@outer.gradient
def _(context: GradientContext, x1: Expr, x2: Expr) -> Gradients:
    return R.matmul(context.grad, x2), R.matmul(x1, context.grad)
