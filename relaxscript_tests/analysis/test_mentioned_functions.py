"""The functions that a function mentions."""

from __future__ import annotations

import relaxscript as rx
from relaxscript.analysis.mentioned_functions import mentioned_functions
from relaxscript.ir.relax import GlobalVar
from relaxscript.script import ir as I, relax as R, tir as T


@I.ir_module
class Calls:
    @T.prim_func(private=True)
    def inner(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + T.float32(1)

    @R.function(private=True)
    def callee(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.call_tir(Calls.inner, (x,), out_sinfo=R.Tensor((4,), "float32"))

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        pair = (Calls.callee, x)
        y = Calls.callee(x)
        return (pair, y)


def test_calls_operands_and_values_mention_functions() -> None:
    assert mentioned_functions(Calls["main"]) == {"callee"}
    assert mentioned_functions(Calls["callee"]) == {"inner"}
    assert mentioned_functions(Calls["inner"]) == frozenset()


def test_a_prim_func_mentions_what_it_calls_and_what_its_attributes_hold() -> None:
    inner = Calls["inner"]
    held = inner.with_attr("like", {"also": (GlobalVar("other"),)})
    assert mentioned_functions(held) == {"other"}


def test_a_function_that_only_a_value_mentions_stays() -> None:
    made = rx.relax.transform.DeadCodeElimination()(Calls)
    assert {var.name_hint for var in made} == {"inner", "callee", "main"}
