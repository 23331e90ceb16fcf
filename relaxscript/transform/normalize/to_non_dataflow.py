"""ToNonDataflow: dataflow blocks become ordinary ones."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    MatchCast,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    TupleGetItem,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.ir.walk import Substitution, compounds, rewrite
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

__all__ = ["ToNonDataflow", "to_non_dataflow"]


class ToNonDataflow(FunctionPass):
    """Turn dataflow blocks and the variables of these into ordinary ones, for passes that follow.

    Before:

        with R.dataflow():
            lv: R.Tensor((4,), "float32") = R.exp(x)
            gv: R.Tensor((4,), "float32") = R.log(lv)
            R.output(gv)

    After:

        lv: R.Tensor((4,), "float32") = R.exp(x)
        gv: R.Tensor((4,), "float32") = R.log(lv)

    Source: TVM `relax.transform.ToNonDataflow`.
    """

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return to_non_dataflow(func)


def to_non_dataflow(func: Function) -> Function:
    """The function without dataflow blocks; `func` itself where it has none."""
    parts = list(compounds(func))
    bound = [p.var for p in parts if isinstance(p, Binding)]
    in_blocks = any(isinstance(p, DataflowBlock) for p in parts)
    if not in_blocks and not any(isinstance(var, DataflowVar) for var in bound):
        return func
    ordinary = _Ordinary()
    for var in bound:
        ordinary.define(var)
    return func.replace(body=ordinary.value(func.body))


class _Ordinary:
    """The ordinary variables that take the places of those of dataflow blocks.

    What is known of calls stays known: only names change.
    """

    def __init__(self) -> None:
        self.variables = Substitution()

    def define(self, var: Var) -> None:
        """Make an ordinary variable for one of a dataflow block."""
        info = self._info(var.struct_info)
        if isinstance(var, DataflowVar) or info is not var.struct_info:
            self.variables[var] = Var.make(var.name_hint, info, span=var.span)

    def _info(self, info: StructInfo | None) -> StructInfo | None:
        """StructInfo afterwards, which changes only where a variable holds a shape."""
        match info:
            case None | TensorStructInfo(shape=None | ShapeExpr()):
                return info
        return self.variables.apply(info)

    def value(self, value: Expr) -> Expr:
        """An expression afterwards."""
        match value:
            case SeqExpr(blocks=blocks, body=body):
                bindings = tuple([self._binding(b) for block in blocks for b in block.bindings])
                first = blocks[0].span if blocks else None
                made = (BindingBlock.make(bindings, span=first),) if blocks else ()
                seq = value.replace(blocks=made, body=self.value(body))
                return self._keep_struct_info(value, seq)
            case Call() if (call := self.variables.in_call(value)) is not None:
                return self._keep_struct_info(value, call)
            case Call(args=args) if all(a.__class__ in _PLAIN for a in args):
                return self._call(value)
            case Var():
                found: Expr = self.variables.get(value, value)
                return found
            case TupleGetItem(tuple_value=Var() as whole):
                # What is known of the tuple, such as all weights of a model, is not gone through.
                item = value.replace(tuple_value=self.variables.get(whole, whole))
                return self._keep_struct_info(value, item)
        return self.variables.apply(rewrite(value, self._inside))

    def _inside(self, node: Node) -> Node | None:
        """Sequences inside of branches and local functions."""
        return self.value(node) if isinstance(node, SeqExpr) else None

    def _binding(self, binding: Binding) -> Binding:
        var, value = self.variables.get(binding.var, binding.var), self.value(binding.value)
        if isinstance(binding, MatchCast):
            info = self.variables.apply(binding.struct_info)
            return binding.replace(var=var, value=value, struct_info=info)
        if var is binding.var and value is binding.value:
            return binding
        return VarBinding.make(var, value, span=binding.span)

    def _call(self, call: Call) -> Expr:
        get = self.variables.get
        op, args = get(call.op, call.op), tuple([get(arg, arg) for arg in call.args])
        infos = tuple([self._info(info) for info in call.sinfo_args])
        same = zip((op, *args, *infos), (call.op, *call.args, *call.sinfo_args), strict=True)
        if all(made is old for made, old in same):
            return call
        made = Call.make(op, args, call.attrs, infos, call.arg_spans, span=call.span)
        return self._keep_struct_info(call, made)

    def _keep_struct_info(self, before: Expr, made: Expr) -> Expr:
        info = self._info(before.known_info)
        if info is not None and made is not before:
            remember_struct_info(made, info)
        return made


_PLAIN = frozenset({Var, DataflowVar, Constant, GlobalVar, PrimValue, DataTypeImm, StringImm})
