"""Rejected runs: operands that turn out not to go together, and what PrimFuncs refuse."""

from __future__ import annotations

import numpy as np

from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import rejected
from relaxscript_tests.rejected.running import fails

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

X = np.ones((2, 3), "float32")


@rejected
def test_operands_whose_inner_axes_differ():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(("j", 2), "float32")):
            y = R.matmul(x, w)
            #   ^^^^^^^^^^^^^^ warning: RX0207 `x` has k columns, `w` has j rows; it is checked
            #        | when the program runs
            #   ^^^^^^^^^^^^^^ error: RX0606 `R.matmul` cannot multiply these operands: `w` has 1
            #        | rows; `x` has 3 columns
            return y

    fails(Module, X, np.ones((1, 2), "float32"))


@rejected
def test_tensors_that_cannot_be_joined():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(("m", "j"), "float32")):
            y = R.concat((x, w), axis=0)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^ warning: RX0207 `w` has j elements along axis 1,
            #        | not k; it is checked when the program runs
            #   ^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0606 `R.concat` cannot take these operands:
            #        | `w` has shape (2, 2); `x` has shape (2, 3)
            return y

    fails(Module, X, np.ones((2, 2), "float32"))


@rejected
def test_tensors_that_cannot_be_stacked():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor("float32"), w: R.Tensor("float32")):
            y = R.stack((x, w), axis=0)
            #   ^^^^^^^^^^^^^^^^^^^^^^^ error: RX0606 `R.stack` cannot take these operands:
            #        | `w` has shape (3,); `x` has shape (2,)
            return y

    fails(Module, np.ones(2, "float32"), np.ones(3, "float32"))


@rejected
def test_a_reshape_to_another_number_of_elements():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "float32")):
            y = R.reshape(x, (2, 3))
            #   ^^^^^^^^^^^^^^^^^^^^ warning: RX0207 `x` has n elements, the shape has 6; it is
            #        | checked when the program runs
            #   ^^^^^^^^^^^^^^^^^^^^ error: RX0606 `R.reshape` keeps the number of elements: `x`
            #        | has 5 elements, in shape (5,); `shape` has 6 elements, in shape (2, 3)
            return y

    fails(Module, np.ones(5, "float32"))


@rejected
def test_an_axis_that_cannot_be_removed():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32")):
            y = R.squeeze(x, axis=0)
            #   ^^^^^^^^^^^^^^^^^^^^ warning: RX0207 axis 0 of `x` has n elements, not 1; it is
            #        | checked when the program runs
            #   ^^^^^^^^^^^^^^^^^^^^ error: RX0606 only an axis of one element can be removed:
            #        | `axis` names axis 0; `x` has 2 elements along axis 0
            return y

    fails(Module, X)


@rejected
def test_a_tensor_that_cannot_be_broadcast():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")):
            y = R.broadcast_to(x, (4, 4))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^ warning: RX0207 `n` must be `4`, or 1; it is checked when
            #        | the program runs
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0606 `R.broadcast_to` cannot take these
            #        | operands: `x` has shape (3, 4); `shape` is (4, 4)
            return y

    fails(Module, np.ones((3, 4), "float32"))


@rejected
def test_a_convolution_of_other_channels():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((1, "c", 8, 8), "float32"),
            w: R.Tensor((4, "d", 3, 3), "float32"),
        ):
            y = R.nn.conv2d(x, w)
            #   ^^^^^^^^^^^^^^^^^ warning: RX0207 `w` takes d channels, and `x` has c; it
            #        | is checked when the program runs
            #   ^^^^^^^^^^^^^^^^^ error: RX0606 the weight is for another number of channels:
            #        | `w` takes 2 channels; `x` has 3 channels
            return y

    fails(Module, np.ones((1, 3, 8, 8), "float32"), np.ones((4, 2, 3, 3), "float32"))


@rejected
def test_an_equation_whose_letters_differ():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", "m"), "float32"), w: R.Tensor(("k", 2), "float32")):
            y = R.einsum((x, w), "ij,jk->ik")
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ warning: RX0207 axis 0 of `w`, `j`, has k
            #        | elements, not m or 1; it is checked when the program runs
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0606 `R.einsum` cannot take these operands:
            #        | `w` has 2 elements along axis 0, `j`; `subscripts` has 3 elements
            #        | for `j` elsewhere
            return y

    fails(Module, X, np.ones((2, 2), "float32"))


@rejected
def test_a_condition_of_another_size():
    @I.ir_module
    class Module:
        @R.function
        def main(c: R.Tensor(("n",), "bool"), x: R.Tensor(("m",), "float32")):
            y = R.where(c, x, x)
            #   ^^^^^^^^^^^^^^^^ warning: RX0207 `n` and `m` must be equal, or one of them 1; it is
            #        | checked when the program runs
            #   ^^^^^^^^^^^^^^^^ error: RX0606 `R.where` cannot take these operands: `x` has shape
            #        | (3,); `c` has shape (2,)
            return y

    fails(Module, np.ones(2, "bool"), np.ones(3, "float32"))


@rejected
def test_a_permutation_of_another_rank():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor):
            y = R.permute_dims(x, [1, 0])
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0606 the permutation must name every axis once:
            #        | `axes` names 2 axes; `x` has rank 1
            return y

    fails(Module, np.ones(2, "float32"))


@rejected
def test_an_axis_that_is_not_there():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor):
            y = R.sum(x, axis=2)
            #   ^^^^^^^^^^^^^^^^ error: RX0606 there is no axis 2: `axis` is 2; `x` has rank 2
            return y

    fails(Module, X)


@rejected
def test_data_types_that_differ():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor, w: R.Tensor):
            y = R.add(x, w)
            #   ^^^^^^^^^^^ error: RX0606 `R.add` cannot take these operands: `w` has dtype
            #        | int8; `x` has dtype float32
            return y

    fails(Module, X, np.ones((2, 3), "int8"))


@rejected
def test_a_data_type_that_the_operator_does_not_take():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(ndim=2)):
            y = R.nn.softmax(x)
            #   ^^^^^^^^^^^^^^^ error: RX0606 `R.nn.softmax` cannot take these operands: `x` has
            #        | dtype int8
            return y

    fails(Module, np.ones((2, 3), "int8"))


@rejected
def test_an_index_that_is_not_there():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float32"), i: R.Tensor((1,), "int64")):
            y = R.take(x, i, axis=0)
            #   ^^^^^^^^^^^^^^^^^^^^ error: RX0606 `R.take` cannot work with these operands: the
            #        | index 7 is not among the 3 along axis 0
            return y

    fails(Module, np.ones(3, "float32"), np.array([7]))


@rejected
def test_a_bound_behind_the_end():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "float32"), i: R.Prim("int64")):
            y = R.strided_slice(x, [0], [0], [i], assume_inbound=True)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0606 a bound that
            #        | is said to be in the tensor is not: `end` has the bound 5; `x` has 3
            #        | elements along axis 0
            return y

    fails(Module, np.ones(3, "float32"), 5)


@rejected
def test_an_identity_below_zero():
    @I.ir_module
    class Module:
        @R.function
        def main(n: R.Prim("int64")):
            y = R.eye(n)
            #   ^^^^^^^^ error: RX0606 a tensor has no dimension below 0: `n` is -2
            return y

    fails(Module, -2)


@rejected
def test_a_tensor_that_is_written_in_place_of_another_size():
    @I.ir_module
    class Module:
        @T.prim_func
        def double(x: T.Buffer((4,), "float32")):
            x[0] = x[0] * T.float32(2)

        @R.function
        def main(x: R.Tensor(("n",), "float32")):
            y = R.call_tir_inplace(Module.double, (x,), [0], R.Tensor((4,), "float32"))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            #        | warning: RX0207 `x` has n elements along axis 0, not 4; it is checked
            #        | when the program runs
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            #        | error: RX0605 `shape[0]` of `args[0]`, which is written in place, is 5; must
            #        | be 4
            return y

    fails(Module, np.ones(5, "float32"))


@rejected
def test_a_prim_func_that_divides_by_zero():
    @I.ir_module
    class Module:
        @T.prim_func
        def sixths(x: T.Buffer((2,), "int32"), y: T.Buffer((2,), "int32")):
            for i in range(2):
                y[i] = T.int32(6) // x[i]
                #      ^^^^^^^^^^^^^^^^^^ error: RX0614 an integer was divided by zero

        @R.function
        def main(x: R.Tensor((2,), "int32")):
            y = R.call_tir(Module.sixths, (x,), out_sinfo=R.Tensor((2,), "int32"))
            return y

    fails(Module, np.array([1, 0], "int32"))


@rejected
def test_an_assertion_of_the_program():
    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(c: R.Tensor((), "bool")):
            u = R.assert_op(c, [], "the input is empty")
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0611 Assertion Failed: the input
            #        | is empty
            return u

    fails(Module, np.array(False))
