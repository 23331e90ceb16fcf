"""AttachAttrNoAlias: PrimFuncs know that the results of their calls are memory of their own."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import StringImm
from relaxscript.ir.relax import (
    Attrs,
    BindingBlock,
    Call,
    Expr,
    ExternFunc,
    GlobalVar,
    VarBinding,
)
from relaxscript.ir.stmt_functor import renew_defs
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import rewrite_compounds, walk
from relaxscript.op.calls import call_tir, call_tir_with_grad
from relaxscript.semantics.write_sets import written_params
from relaxscript.transform.fuse.function_names import (
    FunctionNames,
    with_free_names,
    without_unused,
)
from relaxscript.transform.fuse.tir_calls import tensors_of
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass
from relaxscript.transform.prim_func.memory_access import has_noalias

__all__ = ["AttachAttrNoAlias"]

_WITH_NEW_RESULTS = (call_tir.op, call_tir_with_grad.op)


class AttachAttrNoAlias(ModulePass):
    """Say of PrimFuncs that are called by `R.call_tir` that their buffers share no memory.

    Before:

        @T.prim_func
        def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
            ...

        y = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((4,), "float32"))

    After:

        @T.prim_func
        def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
            ...

        @T.prim_func(private=True)
        def double_noalias(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
            T.func_attr({"tir.noalias": True})
            ...

        y = R.call_tir(cls.double_noalias, (x,), out_sinfo=R.Tensor((4,), "float32"))

    The results of such a call are new tensors, which no other buffer shares. Those that are read
    may be one tensor, as in `R.call_tir(cls.add, (x, x), ...)`: that changes nothing. So the
    promise holds where the PrimFunc writes into its results only.

    All other callers may give it what they like. They are those in Python, other PrimFuncs,
    `R.call_tir_inplace` and packed functions. They still call the old function. It is gone where it
    is private and has no other callers; then the new one has its name. With `whole_program` so is a
    public one. In what `build` makes of a module only Relax functions are called from outside.
    """

    adds_functions = True
    removes_functions = True

    def __init__(self, *, whole_program: bool = False) -> None:
        self.whole_program = whole_program

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        attaching = _Attaching(mod)
        if not attaching.candidates:
            return mod
        made = mod.clone()
        for gvar, func in mod.relax_functions().items():
            new = rewrite_compounds(func, attaching.block)
            if new is not func:
                made[gvar] = new
        if not attaching.made:
            return mod
        for name, new_name in attaching.made.items():
            made[new_name] = _promising(attaching.candidates[name])
        named = _named_by_symbols(mod) if self.whole_program else None
        old = {name for name in attaching.made if _may_go(attaching.candidates[name], named)}
        made = without_unused(made, old)
        for name, new_name in attaching.made.items():
            if name in made:  # Variables are those of one function.
                made[new_name] = renew_defs(made[new_name])
        return with_free_names(made, {new.name_hint: n for n, new in attaching.made.items()})


def _may_go(func: PrimFunc, named: set[str] | None) -> bool:
    """True if a function may go; a public one where `named` are those that packed calls name."""
    symbol = (func.attrs or Attrs()).get("global_symbol")
    return symbol is None or (named is not None and symbol not in named)


def _named_by_symbols(mod: IRModule) -> set[str]:
    """The names by which functions of a module may find others, as packed functions."""
    found: set[str] = set()
    for func in mod.functions.values():
        for node in walk(func):
            if isinstance(node, StringImm):
                found.add(node.value)
            elif isinstance(node, ExternFunc):
                found.add(node.global_symbol)
    return found


def _promising(func: PrimFunc) -> PrimFunc:
    """The private function of the same body that makes the promise."""
    attrs = None if func.attrs is None else func.attrs.without("global_symbol")
    made: PrimFunc = func.replace(attrs=attrs or None).with_attr("tir.noalias", True)
    return made


class _Attaching:
    """The functions that are made for the calls of one module, by the names of the old ones."""

    def __init__(self, mod: IRModule) -> None:
        self.candidates = {
            gvar.name_hint: func
            for gvar, func in mod.functions.items()
            if isinstance(func, PrimFunc) and not has_noalias(func)
        }
        self.made: dict[str, GlobalVar] = {}
        self._names = FunctionNames(mod)

    def block(self, node: Node) -> Node | None:
        """A block of bindings with calls of functions that make the promise."""
        if not isinstance(node, BindingBlock):
            return None
        bindings = tuple([self._binding(b) for b in node.bindings])
        same = all(a is b for a, b in zip(bindings, node.bindings))
        return None if same else node.replace(bindings=bindings)

    def _binding(self, binding: object) -> object:
        if not isinstance(binding, VarBinding):
            return binding
        name = self._called(binding.value)
        if name is None:
            return binding
        if name not in self.made:
            self.made[name] = GlobalVar.make(self._names.unique(f"{name}_noalias"))
        value = binding.value
        assert isinstance(value, Call), "it calls the function"
        return binding.replace(value=value.replace(args=(self.made[name], *value.args[1:])))

    def _called(self, value: Expr) -> str | None:
        """The function of a call that writes into new results only, by its name."""
        if not isinstance(value, Call) or value.op not in _WITH_NEW_RESULTS:
            return None
        gvar, results = value.args[0], _number_of_results(value)
        if not isinstance(gvar, GlobalVar) or not results:
            return None
        func = self.candidates.get(gvar.name_hint)
        if func is None:
            return None
        buffers = [i for i, param in enumerate(func.params) if param in func.buffer_map]
        if not written_params(func) <= {*buffers[-results:]}:
            return None
        return gvar.name_hint


def _number_of_results(call: Call) -> int:
    """The number of tensors that a call describes as its results."""
    found = [tensors_of(info) for info in call.sinfo_args]
    return sum([len(infos) for infos in found if infos is not None])
