"""What goes the fast way, and what does not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from relaxscript.codegen.llvm.call_stub import fast_call
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const
from relaxscript.semantics.prim_func_abi import PrimFuncSignature
from relaxscript_tests.prim_func_examples import zeros
from relaxscript_tests.prim_funcs import prim_func, store

N, S, X = Var("n", "int64"), Var("s", "int32"), Var("x", "float32")
A, B = tir.Buffer("a", (N, 4)), tir.Buffer("b", (N * 2,))
FUNC = prim_func([A, B], store(B, const(1.0), 0), [S, X])


def way(func, *args):
    """How a call goes: "slow", or what the entry is given besides addresses."""
    tools = {
        "slow": lambda args: "slow",
        "entry": lambda details, *given: tools["given"].extend(given) or 0,
        "local": SimpleNamespace(address=0),
        "finish": lambda status: tools["given"],
        "given": [],
    }
    return fast_call(PrimFuncSignature(func), True, tools)(*args)


def test_exact_arguments_go_the_fast_way():
    a, b = zeros(3, 4), zeros(6)
    first, second, *numbers = way(FUNC, a, b, 5, 0.5)
    assert getattr(first, "value", first) == a.ctypes.data
    assert getattr(second, "value", second) == b.ctypes.data
    assert numbers == [5, 0.5, 3]


FROZEN = zeros(6)
FROZEN.flags.writeable = False
DOUBTFUL = {
    "too few": (zeros(3, 4), zeros(6), 5),
    "no array": ([1], zeros(6), 5, 0.5),
    "another dtype": (zeros(3, 4, dtype="int32"), zeros(6), 5, 0.5),
    "another rank": (zeros(3, 4, 1), zeros(6), 5, 0.5),
    "another extent": (zeros(3, 5), zeros(6), 5, 0.5),
    "extents that do not agree": (zeros(3, 4), zeros(7), 5, 0.5),
    "another layout": (zeros(3, 8)[:, ::2], zeros(6), 5, 0.5),
    "read-only where written": (zeros(3, 4), FROZEN, 5, 0.5),
    "not aligned": (zeros(3, 4), np.zeros(25, "uint8")[1:].view("float32"), 5, 0.5),
    "a number out of range": (zeros(3, 4), zeros(6), 1 << 40, 0.5),
    "a number of numpy": (zeros(3, 4), zeros(6), np.int32(5), 0.5),
    "a truth value": (zeros(3, 4), zeros(6), True, 0.5),
    "an integer for a float": (zeros(3, 4), zeros(6), 5, 1),
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_whatever_is_doubtful_goes_the_slow_way(name):
    assert way(FUNC, *DOUBTFUL[name]) == "slow"


@pytest.mark.parametrize(
    ("func", "args"),
    [
        (prim_func([tir.Buffer("a", (N,), strides=(S,))], tir.Evaluate(const(0))), [zeros(3)]),
        (prim_func([A, tir.Buffer("b", (8 // N,))], tir.Evaluate(const(0))),
         [zeros(2, 4), zeros(4)]),
        (prim_func([], tir.Evaluate(const(0)), [Var("h", "float16")]), [0.5]),
        (tir.PrimFunc([Var("p", "handle")], tir.Evaluate(const(0))), [zeros(3)]),
        (prim_func([A, tir.Buffer("b", (prim.Max(N, N),))], tir.Evaluate(const(0))),
         [zeros(2, 4), zeros(2)]),
    ],
    ids=["strides", "a quotient of variables", "half precision", "a pointer", "other arithmetic"],
)  # fmt: skip
def test_signatures_without_quick_tests_go_the_slow_way(func, args):
    assert way(func, *args) == "slow"


def test_a_dimension_too_deep_for_python_goes_the_slow_way():
    def product(count):
        size = N
        for _ in range(count):
            size = size * N
        square = tir.Buffer("b", (size,))
        return prim_func([A, square], store(square, const(1.0), 0))

    assert way(product(20), zeros(1, 4), zeros(1)) != "slow"
    assert way(product(300), zeros(1, 4), zeros(1)) == "slow"


def test_small_variables_are_tested():
    small = prim_func([tir.Buffer("a", (Var("n", "int8"),))], tir.Evaluate(const(0)))
    assert way(small, zeros(127))[1] == 127
    assert way(small, zeros(128)) == "slow"
