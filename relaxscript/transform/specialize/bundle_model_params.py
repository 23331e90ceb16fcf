"""BundleModelParams: the weights of a function become one parameter, a tuple."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relaxscript.analysis.weight_names import NUM_INPUT, PARAM_NAMES, weights_of
from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.errors import DiagnosticError
from relaxscript.ir import relax
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.struct_info import TupleStructInfo
from relaxscript.ir.walk import free_vars, rewrite
from relaxscript.transform.normalize.normalize import normalize_module
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["BundleModelParams"]


class BundleModelParams(ModulePass):
    """Pack the parameters after the inputs of a function into one parameter, a tuple.

    Before:

        @R.function
        def main(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4,), "float32")):
            R.func_attr({"num_input": 1})
            y = R.multiply(x, w)
            return y

    After:

        @R.function
        def main(x: R.Tensor((2, 4), "float32"), model_params: R.Tuple(R.Tensor((4,), "float32"))):
            R.func_attr({"num_input": 1, "param_names": ["w"]})
            w = model_params[0]
            y = R.multiply(x, w)
            return y

    Only functions with the attribute `num_input` are changed, and not those whose weights are one
    tuple already. The names of the weights are kept in `param_names`. Calls of such functions in
    the module give them a tuple; where one is used as a value, that is refused. `param_tuple_name`
    is the name of the parameter, "model_params" unless given. Source: TVM
    `relax.transform.BundleModelParams`.
    """

    opt_level = 1
    changes_signatures = True

    def __init__(self, param_tuple_name: str | None = None) -> None:
        self.param_tuple_name = param_tuple_name

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        name = self.param_tuple_name or "model_params"
        counts = {
            var: count
            for var, function in mod.relax_functions().items()
            if (count := _inputs(function)) is not None
        }
        if not counts:
            return mod
        made = mod.clone()
        for var, function in mod.relax_functions().items():
            new = _bundled(function, counts[var], name) if var in counts else function
            made[var] = rewrite(new, lambda node: _with_tuple(node, counts))
        made = normalize_module(made)
        if (wrong := ill_formed(made)) and not ill_formed(mod):
            raise DiagnosticError(wrong)
        return made

    def call_as_before(
        self, before: IRModule, call: Callable[..., Any], name: str, args: Sequence[Any]
    ) -> Any:
        """Call the function with its weights in a tuple."""
        count = _inputs(before[name])
        if count is not None:
            args = [*args[:count], tuple(args[count:])]
        return call(name, *args)


def _inputs(function: relax.BaseFunc) -> int | None:
    """The number of inputs of a function whose weights are to be packed."""
    if not isinstance(function, relax.Function) or function.attrs is None:
        return None
    count = function.attrs.get(NUM_INPUT)
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    weights = function.params[count:]
    packed = len(weights) == 1 and isinstance(weights[0].struct_info, TupleStructInfo)
    return None if packed or not weights else count


def _bundled(function: relax.Function, count: int, name: str) -> relax.Function:
    inputs, weights = function.params[:count], function.params[count:]
    whole = relax.Var(name, TupleStructInfo(tuple(param.struct_info for param in weights)))
    body = function.body
    assert isinstance(body, relax.SeqExpr)
    used = {*free_vars(body)}
    bindings = tuple(
        relax.VarBinding.make(param, relax.TupleGetItem(whole, i), span=param.span)
        for i, param in enumerate(weights)
        if param in used
    )
    blocks = (relax.BindingBlock.make(bindings), *body.blocks) if bindings else body.blocks
    made = function.replace(params=(*inputs, whole), body=body.replace(blocks=blocks))
    assert function.attrs is not None
    attrs = dict(function.attrs)
    attrs.pop(PARAM_NAMES, None)
    if not any(isinstance(param.struct_info, TupleStructInfo) for param in weights):
        attrs[PARAM_NAMES] = [w.name for w in weights_of(function) if not w.is_input]
    return made.replace(attrs=relax.Attrs(attrs))


def _with_tuple(node: Node, counts: Mapping[relax.GlobalVar, int]) -> relax.Call | None:
    """A call of a function with packed weights, given these in a tuple."""
    if isinstance(node, relax.Call) and isinstance(node.op, relax.GlobalVar):
        count = counts.get(node.op)
        if count is not None:
            packed = relax.Tuple(node.args[count:])
            return node.replace(args=(*node.args[:count], packed), arg_spans=())
    return None
