"""Sums of products by named axes. Source: numpy `einsum`, TVM `relax.einsum`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo

from .context import InferContext
from .define import op
from .numeric import accumulator
from .parameters import Tensor, Tensors
from .shapes import (
    common_dtype,
    common_vdevice,
    dims_of,
    require_dtype,
    require_equal,
    same_dim,
    tensor_of,
)
from .words import count, dim_text, shape_fact

__all__ = ["einsum", "outer"]


@op()
def einsum(operands: Tensors, subscripts: str) -> Tensor:
    """The sums of products that `subscripts` describes, such as "ij,jk->ik".

    Each operand has a letter for each of its axes; axes of one letter have one size. The result has
    the axes behind "->", or in alphabetical order those whose letter stands once; the others are
    added up. Sums of floats are computed in a wider type.
    """
    wide = accumulator(operands[0].dtype)
    inputs, output = _read(subscripts)
    text = f"{','.join(inputs)}->{output}"
    found: Tensor = np.einsum(text, *(x.astype(wide) for x in operands))
    return np.asarray(found).astype(operands[0].dtype)


def _read(subscripts: str) -> tuple[list[str], str]:
    """The letters of each operand, and those of the result; raises `OperandError` (RX0204)."""
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    letters = "".join(inputs)
    if not all(c.isascii() and c.isalpha() for c in letters + output):
        raise _unreadable(
            subscripts, 'subscripts have the form "ij,jk->ik": letters, commas and one arrow'
        )
    if not arrow:
        output = "".join(c for c in sorted(set(letters)) if letters.count(c) == 1)
    unknown = [c for c in output if c not in letters]
    if unknown:
        raise _unreadable(subscripts, f"`{unknown[0]}` is an axis of the result, and of no operand")
    if len(set(output)) < len(output):
        raise _unreadable(subscripts, "an axis stands twice in the result")
    return inputs, output


def _unreadable(subscripts: str, rule: str) -> OperandError:
    return OperandError("subscripts", f'is "{subscripts}"', message=rule, code="RX0204")


@einsum.attribute_rule
def _(subscripts: str) -> None:
    _read(subscripts)


@einsum.infer_rule
def _(context: InferContext, operands: tuple[TensorStructInfo, ...], subscripts: str) -> StructInfo:
    inputs, output = _read(subscripts)
    if len(inputs) != len(operands):
        raise OperandError(
            "operands",
            f"has {count(len(operands), 'tensor')}",
            also={"subscripts": f"describes {len(inputs)}"},
        )
    named = {f"operands[{index}]": info for index, info in enumerate(operands)}
    dtype, vdevice = common_dtype(named), common_vdevice(named)
    sizes: dict[str, PrimExpr] = {}
    for (name, info), letters in zip(named.items(), inputs):
        require_dtype(name, info.dtype, "number")
        _measure(context, name, info, letters, sizes)
    known = [sizes[letter] for letter in output if letter in sizes]
    whole = len(known) == len(output)
    return tensor_of(known if whole else None, dtype, vdevice, len(output))


def _measure(
    context: InferContext,
    name: str,
    info: TensorStructInfo,
    letters: str,
    sizes: dict[str, PrimExpr],
) -> None:
    """Take note of the size of each letter; the same letter has the same size everywhere."""
    dims = dims_of(info)
    if (info.ndim if dims is None else len(dims)) not in (-1, len(letters)):
        raise OperandError(
            name,
            shape_fact(info, dims),
            also={"subscripts": f'has "{letters}" for it'},
            help="there is a letter for each axis",
        )
    for axis, (letter, dim) in enumerate(zip(letters, dims or ())):
        known = sizes.setdefault(letter, dim)
        if not same_dim(known, dim):
            fact = f"has {dim_text(dim)} elements along axis {axis}, `{letter}`"
            also = {"subscripts": f"has {dim_text(known)} elements for `{letter}` elsewhere"}
            text = f"axis {axis} of `{name}`, `{letter}`, has {dim_text(dim)} elements"
            text = f"{text}, not {dim_text(known)}"
            require_equal(context, known, dim, OperandError(name, fact, also=also), text)


@op()
def outer(x1: Tensor, x2: Tensor) -> Tensor:
    """Each element of `x1`, of rank 1, times each of `x2`."""
    return np.asarray(x1[:, None] * x2)


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
