"""DecomposeOpsForInference, DecomposeOpsForTraining: composite operators become simpler ones."""

from __future__ import annotations

from typing import Any

from relaxscript.arith import YES, prove_equal
from relaxscript.builder import ExprMutator
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Binding, Call, DataflowVar, Expr, Function, MatchCast, Op, Var
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.walk import compounds
from relaxscript.op import REGISTRY
from relaxscript.opdef.decomposition import DecompositionContext, decompose
from relaxscript.opdef.traits import Trait
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass, Pass

__all__ = ["DecomposeOpsForInference", "DecomposeOpsForTraining"]


class DecomposeOpsForInference(FunctionPass):
    """Write out `R.nn.batch_norm`, `R.nn.dropout` and `R.tensor_to_shape` for inference.

    Before:

        y = R.nn.batch_norm(x, gamma, beta, mean, var, axis=1)

    After:

        lv = R.expand_dims(mean, axis=[0, 2, 3])
        lv_1 = R.subtract(x, lv)
        lv_2 = R.expand_dims(var, axis=[0, 2, 3])
        lv_3 = R.add(lv_2, R.const(1e-05, "float32"))
        lv_4 = R.sqrt(lv_3)
        lv_5 = R.divide(lv_1, lv_4)
        lv_6 = R.expand_dims(gamma, axis=[0, 2, 3])
        lv_7 = R.multiply(lv_5, lv_6)
        lv_8 = R.expand_dims(beta, axis=[0, 2, 3])
        lv_9 = R.add(lv_7, lv_8)
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

        lv = R.mean(x, axis=[-1], keepdims=True)
        lv_1 = R.subtract(x, lv)
        lv_2 = R.variance(x, axis=[-1], keepdims=True)
        lv_3 = R.add(lv_2, R.const(1e-05, "float32"))
        lv_4 = R.sqrt(lv_3)
        lv_5 = R.divide(lv_1, lv_4)
        lv_6 = R.multiply(lv_5, gamma)
        y = R.add(lv_6, beta)

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

    operators = frozenset(name for name, o in REGISTRY.items() if "decompose" in o.rules)

    def __init__(
        self, mod: IRModule, training: bool, keep_training: bool, writes_arguments: bool
    ) -> None:
        super().__init__(mod)
        self.how = DecompositionContext(
            self._emit, self._match_cast, self.builder.struct_info, self._is_equal,
            training, keep_training, not writes_arguments,
        )  # fmt: skip

    def binding(self, binding: Binding) -> None:
        made = decompose(self.how, binding.value)
        if made is None:
            super().binding(binding)
        else:
            self.retype(binding, made)

    def _emit(self, made: Any) -> Var:
        """Bind a step; where it fails, the operator that it is of is shown."""
        return self.emit(made.replace(span=self.original.value.span), "lv", self.original.span)

    def _match_cast(self, value: Expr, info: StructInfo) -> None:
        kind = DataflowVar if self.builder.current_block_is_dataflow() else Var
        span = self.original.span
        self.keep(MatchCast.make(kind.make("shape", info), value, info, span=span))

    def _is_equal(self, a: PrimExpr, b: PrimExpr) -> bool:
        return prove_equal(a, b, self.builder.context.facts) is YES
