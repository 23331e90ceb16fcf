"""RunCodegen: code generators make packed functions of the functions that are theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from relaxscript.builder import BlockBuilder
from relaxscript.errors import Diagnostic, DiagnosticError, Span, did_you_mean, nearest
from relaxscript.errors.exceptions import add_note
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    Constant,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    Tuple,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.walk import rewrite_top_down, walk
from relaxscript.op.calls import call_dps_packed
from relaxscript.runtime import get_global_func, list_global_func_names
from relaxscript.transform.fuse.tir_calls import tensors_of
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.function_names import global_var_named
from relaxscript.transform.pass_infra.passes import ModulePass

from .merge_composite_functions import without_unused

__all__ = ["RunCodegen"]

_PREFIX = "relax.ext."


class RunCodegen(ModulePass):
    """Have code generators make packed functions of the functions with the attribute `Codegen`.

    Before:

        gv: R.Tensor((n, 10), "float32") = cls.fused_relax_matmul_mine(x, w)

    After:

        gv = R.call_dps_packed(
            "fused_relax_matmul_mine", (x, w), out_sinfo=R.Tensor((n, 10), "float32")
        )

    The code generator "mine" is the packed function "relax.ext.mine". It is called once, with the
    list of its functions, its options and names of their constants. It gives a mapping that has a
    callable for the `global_symbol` of each: this takes the arguments, then the arrays to write
    into. The module keeps these callables as `external_mods`, and `build` links them; a script says
    the names only. `target_options` has the options of each code generator by its name.
    `entry_functions` are the functions whose calls are replaced, all unless they are named.

    Raises `DiagnosticError`: RX0703 for a code generator that is not registered. RX0206 is for a
    result of unknown shape. RX0709 is for a function that its code generator left out.

    Source: TVM `relax.transform.RunCodegen`.
    """

    removes_functions = True

    def __init__(
        self,
        target_options: Mapping[str, Mapping[str, Any]] | None = None,
        entry_functions: Sequence[str] | None = None,
    ) -> None:
        super().__init__()
        self.target_options = dict(target_options or {})
        self.entry_functions = tuple(entry_functions or ())

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        named = [global_var_named(mod, n, self.info.name, True) for n in self.entry_functions]
        theirs = {
            gvar.name_hint: func
            for gvar, func in mod.relax_functions().items()
            if "Codegen" in (func.attrs or Attrs())
        }
        _require_no_misspelling(self.target_options, theirs.values())
        made = mod.clone()
        calling = _Calling(mod, theirs)
        for gvar in named or mod.relax_functions():
            if gvar.name_hint not in theirs:
                made[gvar] = calling.function(mod[gvar])
        if not calling.called:
            return mod
        functions = [func for name, func in theirs.items() if name in calling.called]
        compiled = _compile(functions, self.target_options)
        made = without_unused(made, set(theirs))
        made.external_mods = (*mod.external_mods, compiled)
        return made


class _Calling:
    """Replaces the calls of functions of code generators; `called` are the names of these."""

    def __init__(self, mod: IRModule, theirs: Mapping[str, Function]) -> None:
        self._mod = mod
        self._theirs = theirs
        self.called: set[str] = set()

    def function(self, func: Function) -> Function:
        """The function with calls of packed functions."""

        def step(node: Node) -> Node | None:
            if isinstance(node, Binding) and isinstance(node.value, Call):
                bound = node.var.struct_info if isinstance(node, VarBinding) else None
                value = self._call(node.value, bound)
                return node if value is node.value else node.replace(value=value)
            return None

        return rewrite_top_down(func, step)

    def _call(self, call: Call, bound: StructInfo | None) -> Expr:
        """The call of a packed function, or the call itself; `bound` is what is known of it."""
        name = call.op.name_hint if isinstance(call.op, GlobalVar) else ""
        if name not in self._theirs:
            return call
        info = call.known_info or bound or BlockBuilder(self._mod).normalize(call).struct_info
        tensors = tensors_of(info)
        if tensors is None or any(tensor.dims is None for tensor in tensors):
            message = f"`{name}` is for a code generator, and the shape of its result is not known"
            help = "give its result a shape by `R.match_cast`, or leave it out of the pattern"
            raise DiagnosticError(Diagnostic("RX0206", message, call.span, help=help))
        self.called.add(name)
        symbol = str((self._theirs[name].attrs or Attrs()).get("global_symbol", name))
        made = Call.make(
            call_dps_packed.op, (ExternFunc(symbol), Tuple.make(call.args)), None, (info,),
            span=call.span,
        )  # fmt: skip
        remember_struct_info(made, info)
        return made


def _require_no_misspelling(
    options: Mapping[str, Mapping[str, Any]], functions: Iterable[Function]
) -> None:
    """Refuse options under what is nearly the name of a code generator of the module.

    Other names may be those of code generators for other modules.
    """
    there = {str((func.attrs or Attrs())["Codegen"]) for func in functions}
    for name in options:
        near = None if name in there else nearest(name, sorted(there - set(options)))
        if near is not None:
            message = f'`target_options` of `RunCodegen` are for "{name}", and no function is'
            help = did_you_mean(near, quote='"')
            raise DiagnosticError(Diagnostic("RX0703", message, caller_span(), help=help))


def _compile(
    functions: Sequence[Function], options: Mapping[str, Mapping[str, Any]]
) -> dict[str, Callable[..., Any]]:
    """The callables of functions by their symbols, as their code generators make them."""
    by_codegen: dict[str, list[Function]] = {}
    for func in functions:
        by_codegen.setdefault(str((func.attrs or Attrs())["Codegen"]), []).append(func)
    compiled: dict[str, Callable[..., Any]] = {}
    for codegen, theirs in by_codegen.items():
        generate = _code_generator(codegen, theirs[0].span)
        constants = {
            node: f"{codegen}_const_{number}"
            for number, node in enumerate(
                dict.fromkeys(n for f in theirs for n in walk(f) if isinstance(n, Constant))
            )
        }
        try:
            given = generate(theirs, dict(options.get(codegen, {})), constants)
        except Exception as error:
            add_note(error, f'the code generator "{codegen}" failed')
            raise
        for func in theirs:
            symbol = str((func.attrs or Attrs())["global_symbol"])
            kernel = given.get(symbol) if isinstance(given, Mapping) else None
            if not callable(kernel):
                message = f'the code generator "{codegen}" gives no callable for `{symbol}`'
                help = "return a mapping from the `global_symbol` of each function to a callable"
                raise DiagnosticError(Diagnostic("RX0709", message, func.span, help=help))
            compiled[symbol] = kernel
    return compiled


def _code_generator(codegen: str, span: Span | None) -> Callable[..., Any]:
    """The code generator of a name."""
    found = get_global_func(_PREFIX + codegen, allow_missing=True)
    if found is not None:
        return found.function
    known = [n.removeprefix(_PREFIX) for n in list_global_func_names() if n.startswith(_PREFIX)]
    there = f"there is {', '.join(sorted(known))}; " if known else ""
    register = f'{there}register it: `@register_func("{_PREFIX}{codegen}")`'
    help = did_you_mean(nearest(codegen, known), register, quote='"')
    message = f'the code generator "{codegen}" is not registered'
    raise DiagnosticError(Diagnostic("RX0703", message, span, help=help))
