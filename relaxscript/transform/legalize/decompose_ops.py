"""DecomposeOpsForInference, DecomposeOpsForTraining: composite operators become simpler ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.arith import YES, prove_equal
from relaxscript.builder import ExprMutator
from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import INT64, PrimExpr, Var as PrimVar
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    DataflowVar,
    Expr,
    ExternFunc,
    Function,
    MatchCast,
    Op,
    ShapeExpr,
    Tuple,
    Var,
)
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo
from relaxscript.ir.walk import compounds
from relaxscript.op.base import tensor_to_shape
from relaxscript.op.binary import add, divide, multiply, subtract
from relaxscript.op.calls import call_pure_packed
from relaxscript.op.create import ones_like
from relaxscript.op.datatype import astype
from relaxscript.op.manipulate.axes import expand_dims, permute_dims
from relaxscript.op.nn.batch_normalization import batch_norm
from relaxscript.op.nn.loss import dropout
from relaxscript.op.nn.normalization import layer_norm
from relaxscript.op.statistical import mean as mean_of, variance as variance_of
from relaxscript.op.unary import sqrt
from relaxscript.opdef.operator import REGISTRY
from relaxscript.opdef.traits import Trait
from relaxscript.te.topi.reduction import accumulator
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass, Pass

__all__ = ["DecomposeOpsForInference", "DecomposeOpsForTraining"]

# Binds a step of a decomposition to a variable.
Emit = Callable[[Any], Var]

TENSOR_TO_SHAPE = "vm.builtin.tensor_to_shape"


class DecomposeOpsForInference(FunctionPass):
    """Write out `R.nn.batch_norm`, `R.nn.dropout` and `R.tensor_to_shape` for inference.

    Before:

        y = R.nn.batch_norm(x, gamma, beta, mean, var, axis=1)

    After:

        lv = R.expand_dims(mean, axis=[0, 2, 3])
        lv_1 = R.expand_dims(var, axis=[0, 2, 3])
        lv_2 = R.expand_dims(gamma, axis=[0, 2, 3])
        lv_3 = R.expand_dims(beta, axis=[0, 2, 3])
        lv_4 = R.subtract(x, lv)
        lv_5 = R.add(lv_1, R.const(1e-05, "float32"))
        lv_6 = R.sqrt(lv_5)
        lv_7 = R.divide(lv_4, lv_6)
        lv_8 = R.multiply(lv_7, lv_2)
        lv_9 = R.add(lv_8, lv_3)
        y = (lv_9, mean, var)

    Batches are normalized by the moving statistics, whatever `training` says. Nothing is dropped.
    A shape that a tensor holds has dimensions of its own. Floats of 16 bits and fewer are computed
    in float32. With `func_name` the function of this name is rewritten, without it all are. What is
    of unknown shape stays. In a function that writes into its arguments, so does what would give an
    operand as a result. With `keep_training` so does what is said to be for training. Raises
    `DiagnosticError` (RX0703) for a function that there is not.

    Source: TVM `relax.transform.DecomposeOpsForInference`.
    """

    def __init__(self, func_name: str | None = None, *, keep_training: bool = False) -> None:
        self.func_name = func_name
        self.keep_training = keep_training

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        _require_function(self, mod, self.func_name)
        return super().transform(mod, ctx)

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return _decomposed(func, mod, self.func_name, False, self.keep_training)


class DecomposeOpsForTraining(FunctionPass):
    """Write out `R.nn.batch_norm`, `R.nn.layer_norm` and `R.tensor_to_shape` for training.

    Before:

        y = R.nn.layer_norm(x, gamma, beta, axes=[-1])

    After:

        lv = R.mean(x, axis=[1], keepdims=True)
        lv_1 = R.variance(x, axis=[1], keepdims=True)
        lv_2 = R.expand_dims(gamma, axis=[0])
        lv_3 = R.expand_dims(beta, axis=[0])
        lv_4 = R.subtract(x, lv)
        lv_5 = R.add(lv_1, R.const(1e-05, "float32"))
        lv_6 = R.sqrt(lv_5)
        lv_7 = R.divide(lv_4, lv_6)
        lv_8 = R.multiply(lv_7, lv_2)
        y = R.add(lv_8, lv_3)

    Batches are normalized by their own statistics, and the moving ones move. Those whose `training`
    is False are normalized by the moving ones. The rest is as in `DecomposeOpsForInference`.

    Source: TVM `relax.transform.DecomposeOpsForTraining`.
    """

    def __init__(self, func_name: str | None = None) -> None:
        self.func_name = func_name

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        _require_function(self, mod, self.func_name)
        return super().transform(mod, ctx)

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return _decomposed(func, mod, self.func_name, True)


def _require_function(step: Pass, mod: IRModule, name: str | None) -> None:
    names = [var.name_hint for var in mod.relax_functions()]
    if name is not None and name not in names:
        message = f"`{step.info.name}` finds no Relax function `{name}` in the module"
        help = did_you_mean(nearest(name, names))
        raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))


def _decomposed(
    func: Function, mod: IRModule, name: str | None, training: bool, keep_training: bool = False
) -> Function:
    """The function without composite operators, if it is the one with a name or there is none."""
    if name is not None and mod[name] is not func:
        return func
    return _Decomposer(mod, training, keep_training, _writes_arguments(func)).function(func)


def _writes_arguments(func: Function) -> bool:
    """True if a function has calls that write into what they are given."""
    called = (node.op for node in compounds(func) if isinstance(node, Call))
    known = (REGISTRY.get(op.name) for op in called if isinstance(op, Op))
    return any(operator is not None and Trait.WRITES_ARGS in operator.traits for operator in known)


class _Decomposer(ExprMutator):
    """Writes out composite operators; results share no memory where arguments are written."""

    operators = frozenset(o.name for o in (batch_norm, dropout, layer_norm, tensor_to_shape))

    def __init__(
        self, mod: IRModule, training: bool, keep_training: bool, writes_arguments: bool
    ) -> None:
        super().__init__(mod)
        self.training = training
        self.keep_training = keep_training
        self.may_share = not writes_arguments

    def binding(self, binding: Binding) -> None:
        made = self._decomposed(binding.value)
        if made is None:
            super().binding(binding)
        else:
            self.retype(binding, made)

    def _decomposed(self, value: Expr) -> Expr | None:
        """The value of a composite operator, the steps to which are emitted; None for others."""
        match value:
            case Call(op=batch_norm.op):
                return self._batch_norm(value)
            case Call(op=layer_norm.op) if self.training:
                return self._layer_norm(value)
            case Call(op=dropout.op, args=(data,)) if not self.training and self.may_share:
                return Tuple.make((data, self._emit(ones_like(data))))
            case Call(op=tensor_to_shape.op, args=(data,)):
                return self._shape(data)
        return None

    def _emit(self, made: Any) -> Var:
        """Bind a step; where it fails, the operator that it is of is shown."""
        return self.emit(made.replace(span=self.original.value.span), "lv", self.original.span)

    def _batch_norm(self, call: Call) -> Expr | None:
        data, gamma, beta, *moving = call.args
        emit = self._emit
        options = batch_norm.attributes(call)
        dims = _dims(data)
        own = self.training and options["training"]
        if options["training"] and self.keep_training:
            return None
        if dims is None or not (own or self.may_share):
            return None
        axis = options["axis"] % len(dims)
        if not all(self._has(parameter, [dims[axis]]) for parameter in call.args[1:]):
            return None
        others = [place for place in range(len(dims)) if place != axis]
        x = _widened(emit, data)
        statistics, moved = [_widened(emit, m) for m in moving], moving
        if own:
            old = statistics
            statistics = [emit(f(x, others)) for f in (mean_of, variance_of)]
            moved = [
                emit(_rounded(emit, _blend(emit, a, b, options["momentum"]), m))
                for a, b, m in zip(old, statistics, moving)
            ]
        mean, variance = (_expanded(emit, s, others) for s in statistics)
        parameters = [
            _expanded(emit, _widened(emit, p), others) if options[used] else None
            for p, used in ((gamma, "scale"), (beta, "center"))
        ]
        found = _normalized(emit, x, mean, variance, options["epsilon"], parameters)
        return Tuple.make((emit(_rounded(emit, found, data)), *moved))

    def _layer_norm(self, call: Call) -> Expr | None:
        data, gamma, beta = call.args
        emit = self._emit
        options = layer_norm.attributes(call)
        dims = _dims(data)
        if dims is None:
            return None
        axes = [axis % len(dims) for axis in options["axes"]]
        wanted = [dims[axis] for axis in axes]
        if not (self._has(gamma, wanted) and self._has(beta, wanted)):
            return None
        x = _widened(emit, data)
        mean, variance = (emit(f(x, sorted(axes), True)) for f in (mean_of, variance_of))
        others = [place for place in range(len(dims)) if place not in axes]
        order = sorted(range(len(axes)), key=axes.__getitem__)
        parameters = [
            _expanded(emit, _permuted(emit, _widened(emit, p), order), others)
            if options[used]
            else None
            for p, used in ((gamma, "scale"), (beta, "center"))
        ]
        found = _normalized(emit, x, mean, variance, options["epsilon"], parameters)
        return _rounded(emit, found, data)

    def _has(self, parameter: Expr, wanted: Sequence[PrimExpr]) -> bool:
        """True if a parameter has these dimensions whatever the run brings."""
        dims, facts = _dims(parameter), self.builder.context.facts
        if dims is None or len(dims) != len(wanted):
            return False
        return all(prove_equal(a, b, facts) is YES for a, b in zip(dims, wanted))

    def _shape(self, tensor: Expr) -> Expr | None:
        """The shape that a tensor holds, by dimensions that are bound here."""
        info = self.builder.struct_info(tensor_to_shape(tensor))
        assert isinstance(info, ShapeStructInfo), "a tensor holds a shape"
        if info.ndim < 0:
            return None
        held = self._emit(Call.make(
            call_pure_packed.op, (ExternFunc.make(TENSOR_TO_SHAPE), tensor), None,
            (ShapeStructInfo.make(None, info.ndim),),
        ))  # fmt: skip
        dims = tuple(PrimVar.make("d" if k == 0 else f"d_{k}", INT64) for k in range(info.ndim))
        known = ShapeStructInfo.make(dims, info.ndim)
        kind = DataflowVar if self.builder.current_block_is_dataflow() else Var
        self.keep(MatchCast.make(kind.make("shape", known), held, known, span=self.original.span))
        return ShapeExpr.make(dims)


def _dims(data: Expr) -> Sequence[PrimExpr] | None:
    """The dimensions of a tensor of floats, where they are known."""
    info = data.struct_info
    if not isinstance(info, TensorStructInfo) or not info.dtype.is_float:
        return None
    return info.dims


def _dtype(tensor: Expr) -> DataType:
    info = tensor.struct_info
    assert isinstance(info, TensorStructInfo), "operands of normalizations are tensors"
    return info.dtype


def _widened(emit: Emit, tensor: Expr) -> Expr:
    """A tensor in float32, where its dtype is narrower."""
    dtype = _dtype(tensor)
    return emit(astype(tensor, accumulator(dtype))) if dtype.bits <= 16 else tensor


def _rounded(emit: Emit, made: Expr, like: Expr) -> Expr:
    """A step in the dtype of an operand."""
    dtype = _dtype(like)
    return astype(emit(made), dtype) if dtype.bits <= 16 else made


def _number(value: float, like: Expr) -> Constant:
    return Constant(np.array(value, _dtype(like).numpy))


def _expanded(emit: Emit, parameter: Expr, axes: Sequence[int]) -> Expr:
    """A parameter with axes of size 1 besides its own."""
    return emit(expand_dims(parameter, axes)) if axes else parameter


def _permuted(emit: Emit, parameter: Expr, order: Sequence[int]) -> Expr:
    in_order = list(order) == sorted(order)
    return parameter if in_order else emit(permute_dims(parameter, order))


def _normalized(
    emit: Emit, x: Expr, mean: Expr, variance: Expr, epsilon: float, parameters: Sequence[Any]
) -> Expr:
    """`(x - mean) / sqrt(variance + epsilon) * gamma + beta`; the last step is not bound."""
    apart = emit(subtract(x, mean))
    above = emit(add(variance, _number(epsilon, variance)))
    made: Expr = divide(apart, emit(sqrt(above)))
    for parameter, combine in zip(parameters, (multiply, add)):
        if parameter is not None:
            made = combine(emit(made), parameter)
    return made


def _blend(emit: Emit, moving: Expr, own: Expr, momentum: float) -> Expr:
    rest = emit(multiply(_number(1 - momentum, own), moving))
    made: Expr = add(rest, emit(multiply(_number(momentum, own), own)))
    return made
