"""RewriteDataflowReshape: calls of loops that only reshape become `R.reshape` again."""

from __future__ import annotations

from relaxscript.analysis import has_reshape_pattern
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Function,
    GlobalVar,
    If,
    ShapeExpr,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import compounds, rewrite_top_down
from relaxscript.op.manipulate import reshape
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .tir_calls import TIRCalls

__all__ = ["RewriteDataflowReshape"]


class RewriteDataflowReshape(FunctionPass):
    """Replace calls of PrimFuncs in dataflow blocks by `R.reshape` where they are nothing else.

    Before:

        lv1 = R.call_tir(cls.reshape, (lv,), out_sinfo=R.Tensor((2, 8), "float32"))

    After:

        lv1 = R.reshape(lv, R.shape([2, 8]))

    A reshape need not copy anything. That a PrimFunc is one is proved of its loops, however it is
    called. What leaves its block is computed as before, and so is what is checked when it runs.

    Source: TVM `relax.transform.RewriteDataflowReshape`.
    """

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        rewriting = _Rewriting(mod)

        def step(node: Node) -> Node | None:
            if isinstance(node, DataflowBlock):
                return rewriting.block(node)
            if isinstance(node, Binding) and not isinstance(node.value, (If, Function)):
                return node  # there is nothing to look for
            return None

        if not any(node.__class__ is DataflowBlock for node in compounds(func)):
            return func
        return rewrite_top_down(func, step)


class _Rewriting:
    """Writes the blocks of one function."""

    def __init__(self, mod: IRModule) -> None:
        self._calls = TIRCalls(mod)
        self._are_reshapes: dict[str, bool] = {}

    def block(self, block: DataflowBlock) -> DataflowBlock:
        """The block afterwards; itself where nothing in it reshapes."""
        bindings = tuple([self._binding(binding) for binding in block.bindings])
        if all(new is old for new, old in zip(bindings, block.bindings)):
            return block
        return DataflowBlock.make(bindings, span=block.span)

    def _binding(self, binding: Binding) -> Binding:
        if binding.__class__ is not VarBinding or not isinstance(binding.var, DataflowVar):
            return binding
        made = self._reshape(binding.value) if isinstance(binding.value, Call) else None
        return binding if made is None else VarBinding.make(binding.var, made, span=binding.span)

    def _reshape(self, value: Call) -> Call | None:
        """The reshape that a call is, if it is one."""
        call = self._calls.match(value) if self._may_reshape(value) else None
        if call is None or len(call.args) != 1:
            return None
        (arg,), result = call.args, call.result
        given = struct_info_of_leaf(arg)
        if not isinstance(result, TensorStructInfo) or not isinstance(given, TensorStructInfo):
            return None
        if given.vdevice is not result.vdevice:
            return None
        shape = ShapeExpr.make(result.dims or ())
        made = Call.make(reshape.op, (arg, shape), span=value.span)
        remember_struct_info(made, result)
        return made

    def _may_reshape(self, value: Call) -> bool:
        """True if the PrimFunc of a call only gives a tensor another shape; found once for each."""
        gvar = value.args[0] if value.args else None
        if not isinstance(gvar, GlobalVar):
            return False
        name = gvar.name_hint
        if name not in self._are_reshapes:
            signature = self._calls.signature(gvar)
            self._are_reshapes[name] = signature is not None and (
                has_reshape_pattern(signature.func)
            )
        return self._are_reshapes[name]
