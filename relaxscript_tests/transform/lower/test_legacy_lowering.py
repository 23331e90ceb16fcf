"""Programs that were lowered over shape heaps, as files hold them, are what they were before."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.compiler import jit
from relaxscript.errors import VMError
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same
from relaxscript.transform.lower.legacy_lowering import remove_shape_heaps

OLDER = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def shape_func(H: T.Buffer((2,), "int64")):
        T.func_attr({"tir.is_host_func": True})
        H[T.int64(1)] = H[T.int64(0)] * T.int64(2)

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), c: R.Prim("bool"), y: R.Object):
        R.func_attr({"relax.shapes_lowered": True})
        n = T.int64()
        cls = M
        shape_heap = R.call_builtin_with_ctx(
            "vm.builtin.alloc_shape_heap", (R.prim_value(2), R.str("n"), R.str("n * 2")),
            sinfo_args=R.Tensor((2,), "int64"),
        )
        R.call_packed(
            "vm.builtin.check_tensor_info", x, R.prim_value(1), R.dtype("float32"), R.str(""),
            R.str("`x`"), R.str("main"), R.str("RX0601"), R.str("a tensor of shape (n,)"),
            sinfo_args=R.Tuple,
        )
        R.call_packed(
            "vm.builtin.match_shape", x, shape_heap, R.prim_value(1), R.prim_value(1),
            R.prim_value(0), R.str("`x`"), R.str("main"), R.str("RX0601"),
            R.str("a tensor of shape (n,)"), R.str("`x`"), sinfo_args=R.Tuple,
        )
        if c:
            cls.shape_func(shape_heap)
            a = R.call_packed(
                "vm.builtin.make_shape", shape_heap, R.prim_value(1), R.prim_value(1),
                R.prim_value(1), sinfo_args=R.Shape([n * 2]),
            )
            s: R.Shape(ndim=1) = a
        else:
            s: R.Shape(ndim=1) = R.shape([3])
        v = R.call_packed(
            "vm.builtin.make_prim_value", shape_heap, R.prim_value(1), R.prim_value(0),
            R.dtype("int64"), sinfo_args=R.Prim(value=n),
        )
        R.call_packed(
            "vm.builtin.check_tensor_info", y, R.prim_value(1), R.dtype("void"), R.str(""),
            R.str("`y`"), R.str(""), R.str("RX0605"), R.str("a tensor of shape (n,)"),
            sinfo_args=R.Tuple,
        )
        z = R.match_cast(y, R.Tensor((n,)))
        return (s, v, z)
"""
BEFORE = """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), c: R.Prim("bool"), y: R.Object):
        n = T.int64()
        if c:
            a: R.Shape([n * 2]) = R.shape([n * 2])
            s: R.Shape(ndim=1) = a
        else:
            s: R.Shape(ndim=1) = R.shape([3])
        v = R.prim_value(n)
        z = R.match_cast(y, R.Tensor((n,)))
        return (s, v, z)
"""


def test_checks_and_shapes_are_taken_back():
    assert_same(remove_shape_heaps(from_source(OLDER)), from_source(BEFORE))


def test_a_module_without_heaps_stays_the_same_object():
    mod = from_source(BEFORE)
    assert remove_shape_heaps(mod) is mod


def test_such_a_program_runs_and_checks_as_it_did():
    mod = remove_shape_heaps(from_source(OLDER))
    assert not any(
        "shape_heap" in str(getattr(node, "name_hint", "")) for node in walk(mod["main"])
    )
    machine = jit(mod, "reference")
    x = np.zeros(2, "float32")
    shape, value, z = machine.main(x, True, x)
    assert (tuple(shape), value) == ((4,), 2)
    assert z is x
    with pytest.raises(VMError, match=r"`y.shape\[0\]` is 3; must be `n = 2` from `x.shape"):
        machine.main(x, True, np.zeros(3))
