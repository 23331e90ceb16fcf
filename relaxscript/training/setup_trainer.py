"""SetupTrainer: a model, its loss, its gradients and an optimizer as one module."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter, signature
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Constant, Function, SeqExpr, Tuple
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.struct_info import StructInfo, TupleStructInfo
from relaxscript.transform.gradient.gradient import Gradient
from relaxscript.transform.legalize.decompose_ops import (
    DecomposeOpsForInference,
    DecomposeOpsForTraining,
)
from relaxscript.transform.legalize.legalize_ops import LegalizeOps
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.function_names import global_var_named
from relaxscript.transform.pass_infra.passes import ModulePass

from .append_loss import AppendLoss
from .loss import Loss
from .optimizer import Optimizer

__all__ = [
    "ADJOINT_FUNC", "BACKBONE_FUNC", "BACKBONE_LOSS_FUNC", "INPUT_NUM", "OPTIMIZER_FUNC",
    "OPTIM_STATE", "PARAM_NUM", "STATE_NUM", "SetupTrainer",
]  # fmt: skip

BACKBONE_FUNC, BACKBONE_LOSS_FUNC = "backbone", "backbone_loss"
ADJOINT_FUNC, OPTIMIZER_FUNC = "backbone_loss_adjoint", "optimizer"
INPUT_NUM, PARAM_NUM, STATE_NUM = "input_num", "param_num", "state_num"
OPTIM_STATE = "optim_state"


class SetupTrainer(ModulePass):
    """Make of a module with a model one that a `Trainer` trains.

    Before:

        @I.ir_module
        class Model:
            I.module_attrs({"param_num": 1, "state_num": 0})

            @R.function
            def backbone(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32")):
                with R.dataflow():
                    y = R.matmul(x, w)
                    R.output(y)
                return y

    After, besides `backbone`:

        I.module_attrs({"input_num": 1, "param_num": 1, "state_num": 0, "optim_state": [...]})

        def backbone_loss(x, w, targets): ...            # the loss
        def backbone_loss_adjoint(x, w, targets): ...    # the loss, and the gradients: (loss, (g,))
        def optimizer(params, gradients, optim_states): ...

    The parameters of `backbone` are inputs, then `param_num` parameters to be trained. Then come
    `state_num` states, such as the moving statistics of `R.nn.batch_norm`. With states it returns a
    tuple, of which the last `state_num` fields are the new ones.

    `loss` is made for `loss_args`, the StructInfo of each of its operands: first of the results of
    `backbone` that it takes, then of targets. `optimizer` is given the parameters by `init`.
    Normalizations are those of inference in `backbone`, of training elsewhere. With `legalize`
    operators become calls of PrimFuncs; without it other passes may still see them.

    Raises `DiagnosticError`. RX0703 is for a module without `backbone`, RX0714 for one that cannot
    be trained otherwise. What does not fit the loss is told as by `AppendLoss`, what has no
    gradient as by `Gradient`. Source: TVM `relax.training.SetupTrainer`.
    """

    adds_functions = True
    runs_once = True
    fails_as = (("RX0606", "RX0614"),)

    def __init__(
        self, loss: Loss, optimizer: Optimizer, loss_args: Sequence[StructInfo],
        legalize: bool = True,
    ) -> None:  # fmt: skip
        self.loss = loss
        self.optimizer = optimizer
        self.loss_args = loss_args
        self.legalize = legalize

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        backbone = mod[global_var_named(mod, BACKBONE_FUNC, self.info.name, relax_only=True)]
        params, states = (_count(mod, key) for key in (PARAM_NUM, STATE_NUM))
        inputs = _require_trainable(mod, backbone, params, states)
        taken = self.loss.num_backbone_outputs
        if states and taken > _results(backbone) - states:
            message = f"the loss takes {taken} results of `{BACKBONE_FUNC}`, and states among them"
            help = "a loss takes results before the states"
            raise DiagnosticError(Diagnostic("RX0714", message, backbone.span, help=help))
        _require_operands(self.loss, self.loss_args)
        cost = self.loss(*self.loss_args)
        with_loss = AppendLoss(BACKBONE_FUNC, cost, taken, BACKBONE_LOSS_FUNC)(mod)
        decomposed = DecomposeOpsForTraining(BACKBONE_LOSS_FUNC)(with_loss)
        decomposed = DecomposeOpsForInference(BACKBONE_FUNC)(decomposed)
        wanted = decomposed[BACKBONE_LOSS_FUNC].params[inputs : inputs + params]
        made = Gradient(BACKBONE_LOSS_FUNC, wanted)(decomposed).clone()
        made[OPTIMIZER_FUNC], initial = self._optimizer(backbone, inputs, params)
        known = {INPUT_NUM: inputs, PARAM_NUM: params, STATE_NUM: states, OPTIM_STATE: initial}
        trainable = made.with_attrs(known)
        return LegalizeOps()(trainable) if self.legalize else trainable

    def _optimizer(
        self, backbone: Function, inputs: int, count: int
    ) -> tuple[Function, list[Constant]]:
        """The function of the optimizer, and its states before the first step."""
        own = copy_with_new_vars(backbone)
        optimizer = self.optimizer.init(own.params[inputs : inputs + count])
        made = optimizer.get_function()
        if not made.is_private:
            made = made.with_attr("global_symbol", OPTIMIZER_FUNC)
        return made, [Constant(state) for state in optimizer.state or ()]


def _require_operands(loss: Loss, operands: Sequence[StructInfo]) -> None:
    """Refuse more or fewer operands than a loss takes."""
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    taken = [p for p in signature(loss).parameters.values() if p.kind in kinds]
    least = sum(p.default is Parameter.empty for p in taken)
    any_number = Parameter.VAR_POSITIONAL in {p.kind for p in signature(loss).parameters.values()}
    if least <= len(operands) and (any_number or len(operands) <= len(taken)):
        return
    message = f"`loss_args` has {len(operands)} StructInfos, which is not what the loss takes"
    help = f"`{type(loss).__name__}` takes {', '.join(p.name for p in taken)}"
    raise DiagnosticError(Diagnostic("RX0203", message, caller_span(), help=help))


def _count(mod: IRModule, key: str) -> int:
    """The number that a module says under a key."""
    value: Any = None if mod.attrs is None else mod.attrs.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        said = f"has no attribute `{key}`" if value is None else f"says `{key}` is {brief(value)}"
        message = f"a module is trained that says how many of its parameters are what; it {said}"
        help = f'write `I.module_attrs({{"{PARAM_NUM}": 2, "{STATE_NUM}": 0}})` for two parameters'
        raise DiagnosticError(Diagnostic("RX0714", message, mod.span, help=help))
    return value


def _require_trainable(mod: IRModule, backbone: Function, params: int, states: int) -> int:
    """The number of inputs; refuses a model that lacks parameters or states that it says it has."""
    inputs = len(backbone.params) - params - states
    if inputs < 0:
        message = (
            f"`{BACKBONE_FUNC}` has {len(backbone.params)} parameters, and {params} to be trained "
            f"with {states} states are said to be among them"
        )
        raise DiagnosticError(Diagnostic("RX0714", message, backbone.span))
    if states and _results(backbone) <= states:
        message = f"`{BACKBONE_FUNC}` has {states} states, and does not return them with a result"
        help = "end it with `return (result, new_state, ...)`"
        raise DiagnosticError(Diagnostic("RX0714", message, backbone.span, help=help))
    for name in (BACKBONE_LOSS_FUNC, ADJOINT_FUNC, OPTIMIZER_FUNC):
        if name in mod:
            message = f"a function of the module is called `{name}`, as one that trains it would be"
            raise DiagnosticError(Diagnostic("RX0714", message, mod[name].span))
    return inputs


def _results(backbone: Function) -> int:
    """The number of results, 1 where they are no tuple."""
    body = backbone.body.body if isinstance(backbone.body, SeqExpr) else backbone.body
    if isinstance(body, Tuple):
        return len(body.fields)
    info = backbone.ret_struct_info
    return len(info.fields) if isinstance(info, TupleStructInfo) else 1
