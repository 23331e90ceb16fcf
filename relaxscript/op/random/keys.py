"""Keys of random numbers: two words each."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import shape_fact
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Tensor, Value
from relaxscript.opdef.prim_operands import integer_in, require_integer
from relaxscript.opdef.shapes import dims_of, number, require_dtype, tensor_of
from relaxscript.opdef.tensor_expressions import te
from relaxscript.opdef.traits import Trait

from . import loops
from .operands import require_key
from .threefry import threefry

__all__ = ["key", "split"]

_UINT32 = DataType("uint32")
# The first word of a counter that numbers keys, of which no tensor has so many elements.
_OF_KEYS = np.uint32(1 << 31)


@op("random.key", traits={Trait.RANDOM})
def key(seed: Value) -> Tensor:
    """The key of a seed, one integer: its 64 bits as two uint32, the high ones first.

    Every seed has a key of its own, and a negative one that of its two's complement.
    """
    value = int(seed) if isinstance(seed, np.ndarray) else integer_in(seed)
    bits = value & ((1 << 64) - 1)
    return np.array([bits >> 32, bits & 0xFFFFFFFF], np.uint32)


@key.infer_rule
def _(context: InferContext, seed: StructInfo) -> StructInfo:
    if not isinstance(seed, TensorStructInfo):
        require_integer("seed", seed, "a seed")
        return tensor_of((number(2),), _UINT32)
    require_dtype("seed", seed.dtype, "integer")
    dims = dims_of(seed)
    if (seed.ndim if dims is None else len(dims)) not in (-1, 0):
        raise OperandError("seed", shape_fact(seed, dims), message="a seed is one integer")
    return tensor_of((number(2),), _UINT32, seed.vdevice)


@op("random.split", traits={Trait.RANDOM})
def split(key: Tensor, num: int = 2) -> Tensor:
    """`num` keys made of one, a row each: uint32 of shape (num, 2).

    They give numbers that have nothing to do with each other, nor with those of `key` itself. Row
    `i` is Threefry-2x32 of the counter (2**31, i).
    """
    counters = np.arange(num, dtype=np.uint32)
    words = threefry(key, np.full(num, _OF_KEYS), counters)
    found: Tensor = np.stack(words, axis=1)
    return found


@split.infer_rule
def _(context: InferContext, key: TensorStructInfo, num: int = 2) -> StructInfo:
    require_key(context, key)
    return tensor_of((number(num), number(2)), _UINT32, key.vdevice)


@split.attribute_rule
def _(num: int) -> None:
    if not 0 <= num < 1 << 31:
        message = "a key is split into 0 to 2147483647 others"
        raise OperandError("num", f"is {num}", message=message, code="RX0204")


@key.compute()
def _(context: ComputeContext, seed: Any) -> te.Tensor:
    def element(ax0: PrimExpr) -> PrimExpr:
        bits = te.element.converted(te.tensor.as_element(seed), DataType("uint64"))
        return te.element.select(ax0 < 1, loops.high_word(bits), loops.low_word(bits))

    made: te.Tensor = te.compute(context.shape, element, name="T_key")
    return made


@split.compute()
def _(context: ComputeContext, key: te.Tensor, num: int) -> te.Tensor:
    return loops.keys(key, context.shape, int(_OF_KEYS))


for _operator in (key, split):
    _operator.lacks("gradient", "its result is a key of random numbers")
