"""Kinds of targets are registered objects."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.backend import BACKENDS, Backend, register_backend
from relaxscript.compiler import build, jit
from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source

MOD = from_source("""
@I.ir_module
class M:
    @T.prim_func
    def twice(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = a[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = M
        y = R.call_tir(cls.twice, (x,), R.Tensor((2,), "float32"))
        return y
""")


@pytest.fixture
def by_hand():
    """A target whose kernels all double their first argument."""

    def twice(a, b):
        b[...] = a * 2

    register_backend(Backend("by_hand", lambda functions, *_: dict.fromkeys(functions, twice)))
    yield
    del BACKENDS["by_hand"]


@pytest.mark.usefixtures("by_hand")
def test_a_registered_target_runs_prim_funcs():
    x = np.array([1, 2], "float32")
    np.testing.assert_array_equal(jit(MOD, "by_hand").main(x), x * 2)


@pytest.mark.usefixtures("by_hand")
def test_a_target_is_registered_once():
    with pytest.raises(DiagnosticError, match='the target "by_hand" is there already'):
        register_backend(BACKENDS["by_hand"])


def test_an_unknown_target_is_refused():
    with pytest.raises(DiagnosticError, match='there is no target "by_hand"'):
        build(MOD, "by_hand")
