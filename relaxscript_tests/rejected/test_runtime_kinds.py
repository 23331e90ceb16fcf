"""Rejected runs: arguments of another kind than their parameters."""

from __future__ import annotations

import numpy as np

from relaxscript.script import ir as I, relax as R
from relaxscript.testing import rejected
from relaxscript_tests.rejected.running import fails

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


@rejected
def test_an_int_for_an_int32():
    @I.ir_module
    class Module:
        @R.function
        def main(k: R.Prim("int32")):
        #        ^^^^^^^^^^^^^^^^^^ error: RX0601 `k` is 4 of dtype int64; must be of dtype int32
        # help: `relaxscript.runtime.Prim(value, "int32")` makes one
            return k

    fails(Module, 4)


@rejected
def test_a_bool_for_an_int():
    @I.ir_module
    class Module:
        @R.function
        def main(k: R.Prim("int64")):
        #        ^^^^^^^^^^^^^^^^^^ error: RX0601 `k` is True of dtype bool; must be of dtype int64
            return k

    fails(Module, True)


@rejected
def test_an_int_for_a_bool():
    @I.ir_module
    class Module:
        @R.function
        def main(c: R.Prim("bool")):
        #        ^^^^^^^^^^^^^^^^^ error: RX0601 `c` is 1 of dtype int64; must be of dtype bool
            return c

    fails(Module, 1)


@rejected
def test_an_int_of_too_many_bits():
    @I.ir_module
    class Module:
        @R.function
        def main(k: R.Prim("int64")):
        #        ^^^^^^^^^^^^^^^^^^ error: RX0601 `k` is an int that does not fit 64 bits; must be
        #        | a scalar of dtype int64
            return k

    fails(Module, 1 << 70)


@rejected
def test_a_tensor_for_a_prim_value():
    @I.ir_module
    class Module:
        @R.function
        def main(k: R.Prim("int64")):
        #        ^^^^^^^^^^^^^^^^^^ error: RX0601 `k` is a tensor of shape () and dtype int64; must
        #        | be a scalar of dtype int64
        # help: a scalar is a plain number; `.item()` takes it out of a tensor
            return k

    fails(Module, np.array(3))


@rejected
def test_a_text_for_a_prim_value():
    @I.ir_module
    class Module:
        @R.function
        def main(k: R.Prim("int64")):
        #        ^^^^^^^^^^^^^^^^^^ error: RX0601 `k` is a string; must be a scalar of dtype
        #        | int64
            return k

    fails(Module, "3")


@rejected
def test_a_list_for_a_tensor():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `x` is a list of 2; must be a tensor of
        #        | shape (2,) and dtype float32
        # help: `numpy.array(value, dtype)` makes a tensor
            return x

    fails(Module, [1.0, 2.0])


@rejected
def test_a_number_for_a_tensor():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((), "float32")):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `x` is a float; must be a tensor of shape
        #        | () and dtype float32
        # help: `numpy.array(value, dtype)` makes a tensor
            return x

    fails(Module, 1.5)


@rejected
def test_nothing_for_a_tensor():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `x` is None (the null object); must be
        #        | a tensor of shape (2,) and dtype float32
            return x

    fails(Module, None)


@rejected
def test_a_masked_array():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0608 `x`: a masked array is no tensor;
        #        | `array.filled(value)` makes it one
            return x

    fails(Module, np.ma.masked_array(np.ones(2, "float32")))


@rejected
def test_an_array_of_texts():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,))):
        #        ^^^^^^^^^^^^^^^^^ error: RX0601 `x` is an array of shape (2,) and dtype str32;
        #        | must be a tensor of shape (2,)
            return x

    fails(Module, np.array(["a", "b"]))


@rejected
def test_a_shape_below_zero():
    @I.ir_module
    class Module:
        @R.function
        def main(s: R.Shape(ndim=2)):
        #        ^^^^^^^^^^^^^^^^^^ error: RX0608 `s`: a dimension of a shape cannot be negative,
        #        | got -3
            return s

    fails(Module, [2, -3])


@rejected
def test_a_text_for_a_shape():
    @I.ir_module
    class Module:
        @R.function
        def main(s: R.Shape(ndim=2)):
        #        ^^^^^^^^^^^^^^^^^^ error: RX0601 `s` is a string; must be a shape of 2 dimensions
            return s

    fails(Module, "ab")
