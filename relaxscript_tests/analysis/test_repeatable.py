"""Functions that may be run twice where once was asked for, and those that run within others."""

from __future__ import annotations

from relaxscript.analysis.repeatable import is_repeatable, run_once
from relaxscript.script import from_source

MODULE = from_source(
    """
@I.ir_module
class M:
    @R.function(private=True)
    def deepest(x: R.Tensor((4,), "float32")):
        return R.exp(x)

    @R.function(private=True)
    def within(x: R.Tensor((4,), "float32")):
        cls = M
        return cls.deepest(x)

    @R.function(private=True)
    def apart(x: R.Tensor((4,), "float32")):
        return R.exp(x)

    @R.function(pure=False)
    def calls_out(x: R.Tensor((4,), "float32")):
        cls = M
        a = R.call_packed("test.log", x, sinfo_args=R.Tensor((4,), "float32"))
        return cls.within(a)

    @R.function(pure=False)
    def outermost(x: R.Tensor((4,), "float32")):
        cls = M
        return cls.calls_out(x)

    @R.function
    def pure(x: R.Tensor((4,), "float32")):
        cls = M
        return cls.apart(x)
"""
)


def test_a_function_is_repeatable_if_nothing_that_it_mentions_calls_out() -> None:
    repeatable = {var.name_hint for var in MODULE if is_repeatable(MODULE, var.name_hint)}
    assert repeatable == {"deepest", "within", "apart", "pure"}


def test_a_function_that_is_not_there_is_not_repeatable() -> None:
    assert not is_repeatable(MODULE, "nowhere")


def test_what_runs_within_a_function_that_calls_out_runs_once() -> None:
    assert run_once(MODULE) == {"deepest", "within", "calls_out", "outermost"}
