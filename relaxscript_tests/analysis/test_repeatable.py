"""Functions that may be run twice where once was asked for, and those that run within others."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.analysis.repeatable import is_repeatable, run_once
from relaxscript.compiler import build
from relaxscript.errors import VMError
from relaxscript.runtime import VirtualMachine, cpu
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


DIRECT = """
@I.ir_module
class M:
    @T.prim_func
    def kernel(x: T.Buffer((4,), "int32"), out: T.Buffer((4,), "int32")):
        for i in range(4):
            out[i] = x[i] + 1

    @R.function
    def by_operator(x: R.Tensor((4,), "int32")):
        cls = M
        y = R.call_tir(cls.kernel, (x,), out_sinfo=R.Tensor((4,), "int32"))
        return R.call_tir(cls.kernel, (y,), out_sinfo=R.Tensor((4,), "int32"))

    @R.function(pure=False)
    def as_value(x: R.Tensor((4,), "int32"), y: R.Tensor):
        cls = M
        f = cls.kernel
        f(x, x)
        return R.match_cast(y, R.Tensor((3,), "int32"))
"""


def test_a_prim_func_that_is_called_as_it_is_writes_into_arguments() -> None:
    module = from_source(DIRECT)
    assert is_repeatable(module, "by_operator")
    assert not is_repeatable(module, "as_value")


def test_a_failing_run_writes_once_into_the_arguments_of_a_prim_func() -> None:
    model = VirtualMachine(build(from_source(DIRECT), target="llvm"), cpu())
    x = np.zeros(4, "int32")
    with pytest.raises(VMError, match="must be 3"):
        model["as_value"](x, np.zeros(2, "int32"))
    assert x.tolist() == [1, 1, 1, 1]
