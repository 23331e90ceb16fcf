"""Public functions go by their symbols, and private ones make room."""

from __future__ import annotations

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Attrs, ExternFunc, Function
from relaxscript.script import from_source
from relaxscript.transform import NormalizeGlobalVar

FUNCTION = from_source("""
@R.function(private=True)
def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    return x
""")


def module(**symbols: str | None) -> IRModule:
    def made(symbol: str | None) -> Function:
        return FUNCTION if symbol is None else FUNCTION.with_attr("global_symbol", symbol)

    return IRModule({name: made(symbol) for name, symbol in symbols.items()})


def names(mod: IRModule) -> dict[str, str | None]:
    return {v.name_hint: (f.attrs or Attrs()).get("global_symbol") for v, f in mod.items()}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"f": "main"}, {"main": "main"}),
        ({"main": None, "f": "main"}, {"main1": None, "main": "main"}),
        (
            {"f": "main", "main": None, "main1": None},
            {"main": "main", "main2": None, "main1": None},
        ),
        ({"a": "b", "b": "a"}, {"b": "b", "a": "a"}),
    ],
)
def test_public_names_are_symbols_and_all_are_unique(before, after):
    made = NormalizeGlobalVar()(module(**before))
    assert names(made) == after
    assert NormalizeGlobalVar()(made) is made


def test_names_that_fit_stay():
    mod = module(a="a", b=None)
    assert NormalizeGlobalVar()(mod) is mod


def test_uses_follow_the_names():
    mod = from_source("""
@I.ir_module
class M:
    @R.function(private=True)
    def helper(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = M.helper(x)
        return y
""")
    mod["f"] = mod["f"].with_attr("global_symbol", "helper")
    made = NormalizeGlobalVar()(mod)
    assert names(made) == {"helper1": None, "helper": "helper"}
    assert made["helper"].body.blocks[0].bindings[0].value.op.name_hint == "helper1"


def test_external_functions_make_room_as_private_ones_do():
    mod = IRModule(
        {"main": ExternFunc("outside"), "f": FUNCTION.with_attr("global_symbol", "main")}
    )
    made = NormalizeGlobalVar()(mod)
    assert [var.name_hint for var in made] == ["main1", "main"]


def test_two_functions_with_one_symbol_are_refused():
    with pytest.raises(DiagnosticError) as raised:
        NormalizeGlobalVar()(module(a="c", b="c"))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == "RX0313"
    assert diagnostic.message == "`a` and `b` both have the global symbol `c`"
    assert diagnostic.help == "give one of them another `global_symbol`, or none"
