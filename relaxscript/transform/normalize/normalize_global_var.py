"""NormalizeGlobalVar: functions go by the names that they have outside."""

from __future__ import annotations

from relaxscript.errors import Diagnostic, DiagnosticError, Label
from relaxscript.ir.module import IRModule, ModuleFunction
from relaxscript.ir.relax import Attrs, ExternFunc, GlobalVar
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["NormalizeGlobalVar"]


class NormalizeGlobalVar(ModulePass):
    """Give each public function its `global_symbol` as its name; private ones make room for it.

    Before:

        @R.function(private=True)
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"): ...

        @R.function
        def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            R.func_attr({"global_symbol": "main"})
            return cls.main(x)

    After:

        @R.function(private=True)
        def main1(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"): ...

        @R.function
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return cls.main1(x)

    Names are replaced where they are used, too. Raises `DiagnosticError` (RX0313) where two
    functions have one `global_symbol`. Source: TVM `relax.transform.NormalizeGlobalVar`.
    """

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        symbols = {var: _symbol(function) for var, function in mod.functions.items()}
        public: dict[str, GlobalVar] = {}
        for var, symbol in symbols.items():
            if symbol is not None and public.setdefault(symbol, var) is not var:
                raise _shared_symbol(mod, symbol, public[symbol], var)
        taken = {*public, *(var.name_hint for var, symbol in symbols.items() if symbol is None)}
        names: dict[GlobalVar, str] = {}
        for var, symbol in symbols.items():
            if symbol is None and var.name_hint in public:
                names[var] = _free_name(var.name_hint, taken)
                taken.add(names[var])
            elif symbol is not None and symbol != var.name_hint:
                names[var] = symbol
        return mod.replace_global_vars(names) if names else mod


def _symbol(function: ModuleFunction) -> str | None:
    """The name of a function outside; None for a private one, and for what is outside itself."""
    if isinstance(function, ExternFunc):
        return None
    found: str | None = (function.attrs or Attrs()).get("global_symbol")
    return found


def _free_name(name: str, taken: set[str]) -> str:
    number = 1
    while f"{name}{number}" in taken:
        number += 1
    return f"{name}{number}"


def _shared_symbol(
    mod: IRModule, symbol: str, first: GlobalVar, second: GlobalVar
) -> DiagnosticError:
    span = mod[first].span
    labels = () if span is None else (Label(span, f"`{first.name_hint}` has it as well"),)
    message = f"`{first.name_hint}` and `{second.name_hint}` both have the global symbol `{symbol}`"
    help = "give one of them another `global_symbol`, or none"
    return DiagnosticError(Diagnostic("RX0313", message, mod[second].span, labels, help=help))
