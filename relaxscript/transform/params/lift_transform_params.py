"""LiftTransformParams: what depends on weights alone becomes a function of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.analysis.call_graph import all_global_vars
from relaxscript.analysis.weight_names import NUM_INPUT
from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.builder.mutator import ExprMutator
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Binding, Call, Function, GlobalVar, Tuple, TupleGetItem
from relaxscript.ir.struct_info import TupleStructInfo
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.function_names import global_var_named
from relaxscript.transform.pass_infra.passes import ModulePass

from .lifted_functions import Split, runtime_function, transform_function
from .shared_weights import split_together
from .weight_bindings import WeightBindings
from .weight_parameters import number_of_inputs

__all__ = ["LiftTransformParams"]

_SUFFIX, _SHARED = "_transform_params", "transform_params"


class LiftTransformParams(ModulePass):
    """Split off what depends on the parameters after the inputs alone, to be computed once.

    Before:

        @R.function
        def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 3), "float32")):
            R.func_attr({"num_input": 1})
            with R.dataflow():
                w_t = R.permute_dims(w)
                y = R.matmul(x, w_t)
                R.output(y)
            return y

    After:

        @R.function
        def main(x: R.Tensor((2, 3), "float32"), w_t: R.Tensor((3, 4), "float32")):
            R.func_attr({"num_input": 1})
            with R.dataflow():
                y = R.matmul(x, w_t)
                R.output(y)
            return y

        @R.function
        def main_transform_params(params: R.Tuple(R.Tensor((4, 3), "float32"))):
            R.func_attr({"num_input": 0})
            with R.dataflow():
                w = params[0]
                w_t = R.permute_dims(w)
                gv = (w_t,)
                R.output(gv)
            return gv

    `main(x, *main_transform_params(weights))` gives what `main(x, *weights)` gave. The functions
    that say how many inputs they have, by the attribute `num_input`, are split. Pure bindings of
    dataflow blocks are computed ahead, but `R.builtin.stop_lift_params` and what uses it. The new
    function gives the weights that are still needed in their order, then what it computed. Sizes
    that nothing else tells, or that inputs have to agree with, come first, as one shape. Calls in
    the module call both functions.

    With `shared_transform=True` there is one function `transform_params` for all of them, with
    what they have in common; a list names some. Their weights are the same then, and each takes all
    that it gives.

    The option "relax.lift_transform_params.consume_params" changes nothing: a tuple that is given
    cannot lose its fields here. `LazyTransformParams` fetches weights one at a time.

    Raises `DiagnosticError`. RX0712 is for a `num_input` that is no number of parameters, or not
    there, and for functions of other weights. RX0703 is for a function that is not there, and for a
    name that is taken. Source: TVM `relax.transform.LiftTransformParams`.
    """

    opt_level = 1
    changes_signatures = True
    adds_functions = True
    changes_failures = True

    def __init__(self, shared_transform: bool | Sequence[str | GlobalVar] = False) -> None:
        self.shared_transform = shared_transform

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        made, lifted = mod.clone(), dict[str, _Lifted]()
        for name, splits in self._splits(mod).items():
            for var, split in splits.items():
                if name not in made:
                    made[name] = transform_function(split, name, made)
                made[var] = runtime_function(split)
                lifted[var.name_hint] = _Lifted(len(split.work.inputs), made.get_global_var(name))
        if not lifted:
            return mod
        _adapt_calls(made, lifted)
        if (wrong := ill_formed(made)) and not ill_formed(mod):
            raise DiagnosticError(wrong)
        return made

    def call_as_before(
        self, before: IRModule, call: Callable[..., Any], name: str, args: Sequence[Any]
    ) -> Any:
        """Call the function with what its weights are transformed to."""
        for transform, splits in self._splits(before).items():
            for var, split in splits.items():
                if var.name_hint == name:
                    count = len(split.work.inputs)
                    args = [*args[:count], *call(transform, tuple(args[count:]))]
        return call(name, *args)

    def _splits(self, mod: IRModule) -> dict[str, dict[GlobalVar, Split]]:
        """The splits of functions, by the name of what transforms their weights."""
        works = {
            var: WeightBindings(function, count, mod)
            for var, (function, count) in _targets(mod, self.shared_transform).items()
        }
        if self.shared_transform is False:
            groups = {var.name_hint + _SUFFIX: {var: work} for var, work in works.items()}
        else:
            groups = {_SHARED: works} if works else {}
        splits = {name: split_together(group) for name, group in groups.items()}
        return {name: split for name, split in splits.items() if not _is_done(mod, name, split)}


def _targets(
    mod: IRModule, shared: bool | Sequence[str | GlobalVar]
) -> dict[GlobalVar, tuple[Function, int]]:
    """The functions to split, with the numbers of their inputs."""
    step = LiftTransformParams.__name__
    named = [] if isinstance(shared, bool) else shared
    names = [each.name_hint if isinstance(each, GlobalVar) else each for each in named]
    chosen = [global_var_named(mod, name, step, relax_only=True) for name in names]
    found = {}
    for var, function in mod.relax_functions().items():
        if chosen and var not in chosen:
            continue
        count = number_of_inputs(function, var.name_hint)
        if count is None and chosen:
            message = f"`{var.name_hint}` does not say which of its parameters are weights"
            help = f'write `R.func_attr({{"{NUM_INPUT}": 1}})` for one input'
            raise DiagnosticError(Diagnostic("RX0712", message, function.span, help=help))
        if count is not None and not _is_transform(mod, var.name_hint):
            found[var] = function, count
    return found


def _is_transform(mod: IRModule, name: str) -> bool:
    """True for a function that transforms weights for others of the module."""
    function = mod[name]
    of_one = name.endswith(_SUFFIX) and name.removesuffix(_SUFFIX) in mod
    if not isinstance(function, Function) or not (of_one or name == _SHARED):
        return False
    takes = [param.struct_info for param in function.params]
    is_first = function.attrs is not None and function.attrs.get(NUM_INPUT) == 0
    return is_first and len(takes) == 1 and isinstance(takes[0], TupleStructInfo)


def _is_done(mod: IRModule, name: str, splits: Mapping[GlobalVar, Split]) -> bool:
    """True if nothing is left to be computed ahead by a function that is there.

    Raises `DiagnosticError` (RX0703) where the name is that of something else.
    """
    if name not in mod:
        return False
    if _is_transform(mod, name) and not any(split.work.lifted for split in splits.values()):
        return True
    functions = ", ".join(f"`{var.name_hint}`" for var in splits)
    message = f"the module has a function `{name}`, as the one for weights of {functions} is called"
    help = "give one of them another name"
    raise DiagnosticError(Diagnostic("RX0703", message, mod[name].span, help=help))


class _Lifted(NamedTuple):
    """The number of inputs of a function, and what transforms its weights."""

    inputs: int
    transform: GlobalVar


def _adapt_calls(mod: IRModule, lifted: Mapping[str, _Lifted]) -> None:
    """Have calls of functions that were split transform the weights that they give."""
    for var, function in mod.relax_functions().items():
        if any(callee.name_hint in lifted for callee in all_global_vars(function)):
            mod[var] = _Calls(mod, lifted).function(function, var.name_hint)


class _Calls(ExprMutator):
    """Transforms weights before calls of functions that were split."""

    def __init__(self, mod: IRModule, lifted: Mapping[str, _Lifted]) -> None:
        super().__init__(mod)
        self._lifted = lifted

    def binding(self, binding: Binding) -> None:
        call = binding.value
        if not isinstance(call, Call) or not isinstance(call.op, GlobalVar):
            return super().binding(binding)
        found = self._lifted.get(call.op.name_hint)
        if found is None:
            return super().binding(binding)
        weights = Tuple.make(call.args[found.inputs :])
        whole = self.emit(Call.make(found.transform, (weights,), span=call.span), "params", None)
        info = whole.struct_info
        assert isinstance(info, TupleStructInfo)
        args = [
            self.emit(TupleGetItem.make(whole, i, span=call.span), "param", None)
            for i in range(len(info.fields))
        ]
        inputs = call.args[: found.inputs]
        made = Call.make(call.op, (*inputs, *args), call.attrs, call.sinfo_args, span=call.span)
        self.retype(binding, made)
        return None
