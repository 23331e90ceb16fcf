"""How Relax calls PrimFuncs: which argument goes where."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import DeviceTensor, Prim, Shape, cpu
from relaxscript.script import tir as T
from relaxscript.semantics.prim_funcs import call_tir_adapter, entry_closure, prim_func_closure


@T.prim_func
def mixed(x: T.Buffer((2,), "float32"), k: T.int64, y: T.Buffer((2,), "float32")):
    for i in range(2):
        y[i] = x[i] + T.Cast("float32", k)


X, Y = np.ones(2, "float32"), np.zeros(2, "float32")


def seen_by(adapter, *given):
    """The arguments that the kernel gets."""
    seen = []
    adapter(lambda *args: seen.append(args))(*given)
    return seen[0]


@pytest.mark.parametrize(
    "given", [(X, 3, Y), (X, Y, 3), (3, X, Y), (X, Y, Shape([3])), (X, Prim(3, "int32"), Y)]
)
def test_tensors_and_integers_find_their_parameters_in_any_order(given):
    x, k, y = seen_by(lambda kernel: call_tir_adapter(mixed, kernel), *given)
    assert (x is X, k, y is Y) == (True, 3, True)


@pytest.mark.parametrize(
    "adapter",
    [lambda f: call_tir_adapter(mixed, f), lambda f: prim_func_closure("mixed", mixed, f)],
)
def test_tensors_on_several_devices_are_refused(adapter):
    there = DeviceTensor(X, cpu(1))
    with pytest.raises(VMError, match="on several devices, cpu:1 and cpu:0") as caught:
        seen_by(adapter, there, 3, Y)
    assert caught.value.code == "RX0601"


@pytest.mark.parametrize("k", [3, np.int64(3), np.array(3), Prim(3, "int32")])
def test_numbers_of_any_kind_are_numbers(k):
    _, number, _ = seen_by(lambda kernel: prim_func_closure("f", mixed, kernel), X, k, Y)
    assert (type(number), number) == (int, 3)


def test_a_wrong_number_of_arguments_lists_the_parameters():
    with pytest.raises(VMError, match=r"`f` takes 3 arguments \(x, k, y\), got 1") as caught:
        entry_closure("f", mixed, lambda *args: None)(X)
    assert caught.value.code == "RX0602"
    assert caught.value.span == mixed.span
