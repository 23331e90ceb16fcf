"""Rejected runs: arguments that do not fit their parameters."""

from __future__ import annotations

import numpy as np

from relaxscript.runtime import Shape
from relaxscript.script import ir as I, relax as R
from relaxscript.testing import rejected
from relaxscript_tests.rejected.running import fails

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

X = np.ones((2, 3), "float32")


@rejected
def test_a_dimension_that_is_computed():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "float32"), w: R.Tensor(("2 * n",), "float32")):
        #                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `w.shape[0]` is 7; must be `2 * n` with `n = 4` from `x.shape[0]`, that is 8
            return w

    fails(Module, np.ones(4, "float32"), np.ones(7, "float32"))


@rejected
def test_a_dimension_that_is_computed_from_several():
    @I.ir_module
    class Module:
        @R.function
        def main(
            w: R.Tensor(("m + k", "n // 2"), "int8"),
            # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `w.shape[0]` is 5; must be `m
            #        | + k` with `m = 3` from `t[0][1]` and `k = 1` from `t[1]`, that is 4
            t: R.Tuple(R.Shape(["n", "m"]), R.Prim(value="k")),
        ):
            return w

    fails(Module, np.ones((5, 1), "int8"), ((2, 3), 1))


@rejected
def test_a_floor_division_in_a_dimension():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "float32"), w: R.Tensor(("n // 2",), "float32")):
        #                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `w.shape[0]` is 3; must be `n // 2` with `n = 5` from `x.shape[0]`, that is 2
            return w

    fails(Module, np.ones(5, "float32"), np.ones(3, "float32"))


@rejected
def test_a_dimension_that_is_divided_by_zero():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "float32"), w: R.Tensor(("8 // n",), "float32")):
        #                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `w.shape[0]` must be `8 // n`, which cannot be computed with `n = 0` from
        #        | `x.shape[0]`: something is divided by zero
            return w

    fails(Module, np.ones(0, "float32"), np.ones(3, "float32"))


@rejected
def test_a_size_that_a_shape_gave():
    @I.ir_module
    class Module:
        @R.function
        def main(s: R.Shape(["n"]), x: R.Tensor(("n",), "float32")):
        #                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `x.shape[0]` is 3;
        #        | must be `n = 4` from `s[0]`
            return x

    fails(Module, (4,), np.ones(3, "float32"))


@rejected
def test_a_size_that_a_field_of_a_tuple_gave():
    @I.ir_module
    class Module:
        @R.function
        def main(
            t: R.Tuple(R.Object, R.Tensor((2, "n"), "int8")),
            x: R.Tensor(("n",), "float32"),
            # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `x.shape[0]` is 3; must be `n = 4` from
            #        | `t[1].shape[1]`
        ):
            return x

    fails(Module, (None, np.ones((2, 4), "int8")), np.ones(3, "float32"))


@rejected
def test_a_size_that_a_prim_value_gave():
    @I.ir_module
    class Module:
        @R.function
        def main(n: R.Prim(value="n"), x: R.Tensor(("n",), "float32")):
        #                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `x.shape[0]` is
        #        | 3; must be `n = 4`
            return x

    fails(Module, 4, np.ones(3, "float32"))


@rejected
def test_a_prim_value_that_is_below_zero():
    @I.ir_module
    class Module:
        @R.function
        def main(n: R.Prim(value="n")):
        #        ^^^^^^^^^^^^^^^^^^^^ error: RX0601 `n` is -1; must be at least 0 to be the value
        #        | of `n`
            return n

    fails(Module, -1)


@rejected
def test_a_prim_value_that_is_not_the_constant():
    @I.ir_module
    class Module:
        @R.function
        def main(k: R.Prim(value=3)):
        #        ^^^^^^^^^^^^^^^^^^ error: RX0601 `k` is 4; must be 3
            return k

    fails(Module, 4)


@rejected
def test_a_prim_value_that_is_computed():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "float32"), k: R.Prim(value="n * n")):
        #                                        ^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `k` is 8;
        #        | must be `n * n` with `n = 3` from `x.shape[0]`, that is 9
            return k

    fails(Module, np.ones(3, "float32"), 8)


@rejected
def test_a_constant_of_a_shape():
    @I.ir_module
    class Module:
        @R.function
        def main(s: R.Shape([2, 3])):
        #        ^^^^^^^^^^^^^^^^^^ error: RX0601 `s[1]` is 4; must be 3
            return s

    fails(Module, (2, 4))


@rejected
def test_a_shape_for_a_tuple():
    @I.ir_module
    class Module:
        @R.function
        def main(t: R.Tuple(R.Prim("int64"), R.Object)):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `t` is the shape (1, 2); must
        #        | be a tuple of 2
            return t

    fails(Module, Shape([1, 2]))


@rejected
def test_a_path_into_a_tuple():
    @I.ir_module
    class Module:
        @R.function
        def main(t: R.Tuple(R.Object, R.Tuple(R.Tensor((2, 3), "int8"), R.Object))):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `t[1][0].shape[1]` is 4; must be 3
            return t

    fails(Module, (None, (np.ones((2, 4), "int8"), 0)))


@rejected
def test_a_data_type_in_a_tuple():
    @I.ir_module
    class Module:
        @R.function
        def main(t: R.Tuple(R.Tensor("int8"), R.Tensor("int16"))):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `t[1].dtype` is
        #        | int8; must be int16
        # help: `.astype("int16")` converts an array
            return t

    fails(Module, (np.ones(2, "int8"), np.ones(2, "int8")))


@rejected
def test_a_tuple_that_should_be_empty():
    @I.ir_module
    class Module:
        @R.function
        def main(t: R.Tuple()):
        #        ^^^^^^^^^^^^ error: RX0601 `len(t)` is 1; must be 0
            return t

    fails(Module, (1,))


@rejected
def test_a_tensor_on_another_device():
    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((2,), "float32", "llvm:1")):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `x` is on cpu:0; must be on
        #        | cpu:1
            return x

    fails(Module, np.ones(2, "float32"))


@rejected
def test_a_tensor_whose_shape_is_an_argument():
    @I.ir_module
    class Module:
        @R.function
        def main(s: R.Shape(ndim=2), x: R.Tensor(s, "float32")):
        #                            ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `x.shape` is (2, 3);
        #        | must be `s = (3, 2)`
            return x

    fails(Module, (3, 2), X)


@rejected
def test_an_unknown_keyword():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 3), "float32")):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0602 `main` has no parameter `z`
            return x

    fails(Module, z=X)


@rejected
def test_a_parameter_that_is_given_twice():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 3), "float32"), y: R.Object):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0602 `main` is given `x` twice
            return x

    fails(Module, X, x=X)
