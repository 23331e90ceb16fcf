"""AttachAttrLayoutFreeBuffers: PrimFuncs know which of their parameters are constants."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    VarBinding,
)
from relaxscript.ir.walk import compounds, rewrite_compounds
from relaxscript.transform.default_schedule.packed_product import LAYOUT_FREE
from relaxscript.transform.fuse.function_names import (
    FunctionNames,
    with_free_names,
    without_unused,
)
from relaxscript.transform.fuse.tir_calls import TIRCall, TIRCalls
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["AttachAttrLayoutFreeBuffers"]


class AttachAttrLayoutFreeBuffers(ModulePass):
    """Say of PrimFuncs which of their parameters are constants, and may lie in memory in any way.

    Before:

        @T.prim_func(private=True)
        def matmul(A: T.Buffer((4, 4)), B: T.Buffer((4, 4)), C: T.Buffer((4, 4))):
            ...

        y = R.call_tir(cls.matmul, (x, R.const(...)), out_sinfo=R.Tensor((4, 4), "float32"))

    After:

        @T.prim_func(private=True)
        def matmul(A: T.Buffer((4, 4)), B: T.Buffer((4, 4)), C: T.Buffer((4, 4))):
            T.func_attr({"layout_free_buffers": [1]})
            ...

        y = R.call_tir(cls.matmul, (x, R.const(...)), out_sinfo=R.Tensor((4, 4), "float32"))

    The attribute lists parameters by their positions. Calls with constants in the same places call
    the same function. It has the name of the old one where nobody else uses that, else a new one. A
    schedule may then write another layout, which `SplitLayoutRewritePreproc` makes ahead.

    Source: TVM `relax.transform.AttachAttrLayoutFreeBuffers`.
    """

    adds_functions = True
    removes_functions = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        attaching = _Attaching(mod)
        made = mod.clone()
        for gvar, func in mod.relax_functions().items():
            attaching.names_of_constants(func)
            new = rewrite_compounds(func, attaching.block)
            if new is not func:
                made[gvar] = new
        if not attaching.made:
            return mod
        for (name, indices), new_name in attaching.made.items():
            made[new_name] = mod[name].with_attr(LAYOUT_FREE, list(indices))
        made = without_unused(made, {name for name, _ in attaching.made if mod[name].is_private})
        wanted = {new.name_hint: name for (name, _), new in attaching.made.items()}
        return with_free_names(made, wanted)


class _Attaching:
    """The functions that are made for the calls of one module, by names and constants."""

    def __init__(self, mod: IRModule) -> None:
        self.made: dict[tuple[str, tuple[int, ...]], GlobalVar] = {}
        self._calls = TIRCalls(mod)
        self._names = FunctionNames(mod)
        self._constant: set[Expr] = set()

    def names_of_constants(self, func: Function) -> None:
        """Learn which variables of a function are constants."""
        for node in compounds(func):
            if isinstance(node, VarBinding) and self._is_constant(node.value):
                self._constant.add(node.var)

    def _is_constant(self, expr: Expr) -> bool:
        if isinstance(expr, Constant):
            return expr.data.ndim > 0
        return expr in self._constant

    def block(self, node: Node) -> Node | None:
        """A block of bindings with calls of functions that know their constants."""
        if not isinstance(node, BindingBlock):
            return None
        bindings = tuple([self._binding(b) for b in node.bindings])
        same = all(a is b for a, b in zip(bindings, node.bindings))
        return None if same else node.replace(bindings=bindings)

    def _binding(self, binding: object) -> object:
        if not isinstance(binding, VarBinding):
            return binding
        call = self._calls.match(binding.value)
        indices = () if call is None else self._constants(call)
        if call is None or not indices:
            return binding
        key = call.gvar.name_hint, indices
        if key not in self.made:
            self.made[key] = GlobalVar.make(self._names.unique(call.gvar.name_hint))
        value = binding.value
        assert isinstance(value, Call)
        return binding.replace(value=value.replace(args=(self.made[key], *value.args[1:])))

    def _constants(self, call: TIRCall) -> tuple[int, ...]:
        """The parameters that are constants; none where the function says already which are."""
        func = call.signature.func
        if func.attrs is not None and LAYOUT_FREE in func.attrs:
            return ()
        buffers = [i for i, param in enumerate(func.params) if param in func.buffer_map]
        pairs = zip(buffers, call.args)
        return tuple([i for i, arg in pairs if self._is_constant(arg)])
