"""FoldBatchnormToConv2D: normalizations of batches become part of the weights before them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from relaxscript.arith import YES, prove_equal
from relaxscript.builder import ExprMutator
from relaxscript.dtypes import DataType
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import compounds, mentioned
from relaxscript.op.binary import add, divide, multiply, subtract
from relaxscript.op.datatype import astype
from relaxscript.op.manipulate.axes import expand_dims
from relaxscript.op.nn.batch_normalization import batch_norm
from relaxscript.op.nn.convolution import conv2d
from relaxscript.op.unary import sqrt
from relaxscript.te.topi.reduction import accumulator
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .shared_memory import SharedMemory

__all__ = ["FoldBatchnormToConv2D"]


class FoldBatchnormToConv2D(FunctionPass):
    """Make the `R.nn.batch_norm` of a convolution part of its weight, for inference.

    Before, in a dataflow block:

        lv = R.nn.conv2d(x, w)
        lv1 = R.nn.batch_norm(lv, gamma, beta, mean, var, axis=1)
        y = lv1[0]

    After:

        lv = R.add(var, R.const(1e-05, "float32"))
        lv1 = R.sqrt(lv)
        lv2 = R.divide(gamma, lv1)
        lv3 = R.expand_dims(lv2, axis=[1, 2, 3])
        lv4 = R.multiply(w, lv3)
        lv5 = R.nn.conv2d(x, lv4)
        lv6 = R.multiply(mean, lv2)
        lv7 = R.subtract(beta, lv6)
        lv8 = R.expand_dims(lv7, axis=[0, 2, 3])
        y = R.add(lv5, lv8)

    Batches are normalized by the moving statistics, whatever `training` says. The layouts are any
    in which the channels are one axis. What is computed of constants `FoldConstant` computes, what
    of weights `LiftTransformParams` lifts out. The scale of floats of 16 bits and fewer is computed
    in float32. A normalization stays whose statistics are used, or whose parameters may have
    another size than the channels. So does one of a convolution that others use, and whatever is
    outside of dataflow blocks.

    Source: TVM `relax.transform.FoldBatchnormToConv2D`.
    """

    tolerance = 1e-4

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        if not any(isinstance(n, Call) and n.op is batch_norm.op for n in compounds(func)):
            return func
        chains = _chains(func, mod)
        return _Folder(mod, chains).function(func) if chains else func


class _Chain(NamedTuple):
    """A convolution, and the normalization of its result."""

    conv: Call
    norm: Call


class _Chains(NamedTuple):
    """The chains by the variables of their results, and the variables that go with them."""

    by_result: dict[Var, _Chain]
    gone: set[Var]

    def __bool__(self) -> bool:
        return bool(self.by_result)


def _chains(func: Function, mod: IRModule) -> _Chains:
    """The normalizations of a function that are part of convolutions."""
    memory = SharedMemory(func, mod)
    found = _Chains({}, set())
    for block in compounds(func):
        if not isinstance(block, DataflowBlock):
            continue
        uses = Counter(v for b in block.bindings for v in mentioned(b.value))
        bound: dict[Var, Expr] = {}
        for binding in block.bindings:
            if not isinstance(binding, VarBinding):
                continue
            once = isinstance(binding.var, DataflowVar) and uses[binding.var] == 1
            if isinstance(binding.value, TupleGetItem) and binding.value.index == 0:
                _note(binding, binding.value, bound, memory, found)
            elif once and isinstance(binding.value, Call):
                bound[binding.var] = binding.value
    return found


def _note(
    binding: VarBinding, result: TupleGetItem, bound: dict[Var, Expr], memory: SharedMemory,
    found: _Chains,
) -> None:  # fmt: skip
    """Note a binding to the first field of the normalization of a convolution, used once each."""
    whole = result.tuple_value
    norm = bound.get(whole) if isinstance(whole, Var) else None
    if not isinstance(norm, Call) or norm.op is not batch_norm.op or not norm.args:
        return
    data = norm.args[0]
    conv = bound.get(data) if isinstance(data, Var) else None
    if not isinstance(conv, Call) or conv.op is not conv2d.op:
        return
    given = [arg for arg in (*conv.args, *norm.args[1:]) if isinstance(arg, Var)]
    # The convolution is computed later than it was: what it reads has to be what it was.
    if not any(map(memory.is_exposed, given)) and _places(conv, norm) is not None:
        found.by_result[binding.var] = _Chain(conv, norm)
        found.gone.update(var for var in (whole, data) if isinstance(var, Var))


class _Places(NamedTuple):
    """The places of the channels: in the weight, and in the result."""

    weight: int
    result: int


def _places(conv: Call, norm: Call) -> _Places | None:
    """The axes of the channels that a normalization is about; None where it cannot be folded."""
    options, given = batch_norm.attributes(norm), conv2d.attributes(conv)
    result = given["out_layout"] or given["data_layout"]
    kernel = given["kernel_layout"]
    if not (result.isalpha() and kernel.isalpha()):
        return None
    axis = result.index("C")
    infos = [arg.struct_info for arg in (conv.args[1], *norm.args)]
    dims = [info.dims for info in infos if isinstance(info, TensorStructInfo)]
    dtypes = {info.dtype for info in infos if isinstance(info, TensorStructInfo)}
    if len(dims) < len(infos) or len(dtypes) > 1 or options["axis"] % len(result) != axis:
        return None
    weight, data, *parameters = dims
    place = kernel.index("O")
    if weight is None or data is None:
        return None
    sizes = [weight[place], *(p[0] for p in parameters if p is not None and len(p) == 1)]
    same = len(sizes) == 1 + len(parameters) and _are_equal(data[axis], sizes)
    return _Places(place, axis) if same else None


def _are_equal(size: PrimExpr, others: Sequence[PrimExpr]) -> bool:
    return all(prove_equal(size, other) is YES for other in others)


class _Folder(ExprMutator):
    """Writes convolutions with their normalizations at the places of these."""

    def __init__(self, mod: IRModule, chains: _Chains) -> None:
        super().__init__(mod)
        self._chains = chains

    def binding(self, binding: Binding) -> None:
        original = self.original.var
        if original in self._chains.gone:
            self.changed = True
        elif original in self._chains.by_result:
            self.retype(binding, self._folded(self._chains.by_result[original]))
        else:
            super().binding(binding)

    def _emit(self, made: Expr, of: Call) -> Var:
        """Bind a step; where it fails, the operator that it is of is shown."""
        return self.emit(made.replace(span=of.span), "lv", of.span)

    def _folded(self, chain: _Chain) -> Expr:
        """The value of a chain, the steps to which are emitted."""
        conv, norm = chain
        places = _places(conv, norm)
        assert places is not None, "such chains are not noted"
        options = batch_norm.attributes(norm)
        weight, *given = [self._substitute(arg) for arg in (conv.args[1], *norm.args[1:])]
        dtype = _dtype(weight)
        wide = accumulator(dtype) if dtype.bits <= 16 else dtype

        def emit(made: Any) -> Var:
            return self._emit(made, norm)

        def widened(x: Expr) -> Expr:
            return x if wide is dtype else emit(astype(x, wide))

        def rounded(x: Expr) -> Expr:
            return x if wide is dtype else emit(astype(x, dtype))

        gamma, beta, mean, variance = map(widened, given)
        root = emit(sqrt(emit(add(variance, _number(options["epsilon"], variance)))))
        top = gamma if options["scale"] else _number(1, variance)
        scale = emit(divide(top, root))
        along = emit(expand_dims(scale, [axis for axis in range(4) if axis != places.weight]))
        scaled = rounded(emit(multiply(widened(weight), along)))
        data = self._substitute(conv.args[0])
        made = self._emit(conv.replace(args=(data, scaled)), conv)
        moved = emit(multiply(mean, scale))
        bias = emit(subtract(beta if options["center"] else _number(0, moved), moved))
        others = [axis for axis in range(4) if axis != places.result]
        sum_of: Expr = add(made, rounded(emit(expand_dims(bias, others))))
        return sum_of.replace(span=norm.span)


def _dtype(x: Expr) -> DataType:
    info = x.struct_info
    assert isinstance(info, TensorStructInfo), "operands of normalizations are tensors"
    return info.dtype


def _number(value: float, like: Expr) -> Constant:
    return Constant(np.array(value, _dtype(like).numpy))
