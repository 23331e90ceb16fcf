"""BundleModelParams: the weights of a function become one parameter, a tuple."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from relaxscript.analysis.weight_names import NUM_INPUT
from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.errors import DiagnosticError
from relaxscript.ir import relax
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.struct_info import TupleStructInfo
from relaxscript.ir.walk import free_vars, rewrite, substitute
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
            R.func_attr({"num_input": 1})
            w = model_params[0]
            y = R.multiply(x, w)
            return y

    Only functions with the attribute `num_input` are changed, and not those whose weights are one
    tuple already; one without weights takes an empty tuple. Weights are called as `param_names`
    says, where it is there. Calls of such functions in
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
    return None if packed or count > len(function.params) else count


def _bundled(function: relax.Function, count: int, name: str) -> relax.Function:
    inputs, weights = function.params[:count], function.params[count:]
    whole = relax.Var(name, TupleStructInfo(tuple(param.struct_info for param in weights)))
    assert isinstance(function.body, relax.SeqExpr)
    fields = {
        param: relax.TupleGetItem.make(whole, i, span=param.span) for i, param in enumerate(weights)
    }
    body = _with_fields(function.body, fields)
    return function.replace(params=(*inputs, whole), body=body)


def _with_fields(
    body: relax.SeqExpr, fields: Mapping[relax.Var, relax.TupleGetItem]
) -> relax.SeqExpr:
    """A body in which each weight is taken out of the tuple before its first use.

    One that several blocks use is taken before all of them. So is one that a local function uses,
    which reaches no variables of the dataflow block around it.
    """
    captured = {
        var
        for block in body.blocks
        for binding in block.bindings
        if isinstance(binding.value, relax.Function)
        for var in free_vars(binding.value)
    }
    users: dict[relax.Var, list[int]] = {}
    for place, part in enumerate((*body.blocks, body.body)):
        for var in free_vars(part):
            if isinstance(var, relax.Var) and var in fields:
                users.setdefault(var, []).append(place)
    first = {
        var: field
        for var, field in fields.items()
        if len(users.get(var, ())) > 1 or var in captured
    }
    users = {var: places for var, places in users.items() if var not in first}
    blocks = [_taken(first)]
    for place, block in enumerate(body.blocks):
        own = {var: fields[var] for var, places in users.items() if places == [place]}
        if isinstance(block, relax.DataflowBlock) and _has_variable_shapes(own, block):
            blocks += [_taken(own), block]
        else:
            blocks.append(_block_with_fields(block, own) if own else block)
    last = len(body.blocks)
    blocks.append(_taken({var: fields[var] for var, places in users.items() if places == [last]}))
    return body.replace(blocks=tuple([block for block in blocks if block.bindings]))


def _taken(fields: Mapping[relax.Var, relax.TupleGetItem]) -> relax.BindingBlock:
    bindings = [_field(var, field) for var, field in fields.items()]
    return relax.BindingBlock.make(tuple(bindings))


def _field(var: relax.Var, field: relax.TupleGetItem) -> relax.VarBinding:
    return relax.VarBinding.make(var, field, span=var.span)


def _has_variable_shapes(weights: Container[relax.Var], block: relax.BindingBlock) -> bool:
    """True if what is known of a variable of a block mentions a weight, which is a shape."""
    infos = [b.var.struct_info for b in block.bindings]
    return any(var in weights for info in infos if info is not None for var in free_vars(info))


def _block_with_fields(
    block: relax.BindingBlock, fields: Mapping[relax.Var, relax.TupleGetItem]
) -> relax.BindingBlock:
    """A block in which weights are taken out of the tuple before their first uses."""
    waiting, bindings = dict(fields), list[relax.Binding]()
    taken: dict[Node, relax.Var] = {}
    for binding in block.bindings:
        for var in free_vars(binding) if waiting else ():
            if isinstance(var, relax.Var) and var in waiting:
                new = var
                if isinstance(block, relax.DataflowBlock):
                    new = taken[var] = relax.DataflowVar.make(var.name_hint, var.struct_info)
                bindings.append(_field(new, waiting.pop(var)))
        bindings.append(substitute(binding, taken) if taken else binding)
    return block.replace(bindings=tuple(bindings))


def _with_tuple(node: Node, counts: Mapping[relax.GlobalVar, int]) -> relax.Call | None:
    """A call of a function with packed weights, given these in a tuple."""
    if isinstance(node, relax.Call) and isinstance(node.op, relax.GlobalVar):
        count = counts.get(node.op)
        if count is not None:
            packed = relax.Tuple(node.args[count:])
            return node.replace(args=(*node.args[:count], packed), arg_spans=())
    return None
