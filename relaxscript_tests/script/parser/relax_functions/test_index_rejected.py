"""Rejected programs: indices of tensors, shapes and tuples, and attributes of values."""

from __future__ import annotations

from relaxscript.script import relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- indices of tensors


@rejected
def test_an_index_outside_of_an_axis():
    @R.function
    def f(x: R.Tensor((4, 3), "float32")):
        a = x[4]
        #     ^ error: RX0208 the index 4 is outside, there are 4 elements here
        b = x[0, -4]
        #        ^^ error: RX0208 the index -4 is outside, there are 3 elements here
        return x


@rejected
def test_more_indices_than_axes():
    @R.function
    def f(x: R.Tensor((4, 3), "float32")):
        return x[0, 1, 2]
        #        ^^^^^^^ error: RX0208 there are 3 indices
        #      - label: `x` has rank 2


@rejected
def test_an_index_with_two_ellipses():
    @R.function
    def f(x: R.Tensor((4, 3), "float32")):
        return x[..., 0, ...]
        #                ^^^ error: RX0208 an index has one `...` only


@rejected
def test_an_index_of_a_tensor_of_unknown_rank():
    @R.function
    def f(x: R.Tensor):
        return x[0]
        #      ^^^^ error: RX0208 the rank of `x` is not known, so it cannot be indexed
        #             help: check it first: `R.match_cast(x, R.Tensor((n, m)))`


@rejected
def test_a_mask_as_an_index():
    @R.function
    def f(x: R.Tensor((4, 3), "float32"), m: R.Tensor((4,), "bool")):
        a = x[m]
        #     ^ error: RX0208 a mask is no index: how much it keeps is known at run time only
        #       help: keep the shape: `R.where(mask, x, 0)`
        b = x[True]
        #     ^^^^ error: RX0208 a mask is no index: how much it keeps is known at run time only
        #       help: keep the shape: `R.where(mask, x, 0)`
        c = x[[True, False, True, True]]
        #     ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0208 a mask is no index: how much it keeps is known
        #       | at run time only
        #       help: keep the shape: `R.where(mask, x, 0)`
        return x


@rejected
def test_a_tensor_of_floats_as_an_index():
    @R.function
    def f(x: R.Tensor((4, 3), "float32"), i: R.Tensor((2,), "float32")):
        a = x[i]
        #     ^ error: RX0208 an index is a tensor of whole numbers
        #     - label: is `R.Tensor((2,), "float32")`
        b = x[[0.5, 1.0]]
        #     ^^^^^^^^^^ error: RX0208 an index is made of whole numbers
        c = x[1.5]
        #     ^^^ error: RX0208 `1.5` is no index
        #       help: an index is a whole number, a slice, `...`, `None` or a tensor of these
        d = x["row"]
        #     ^^^^^ error: RX0208 `'row'` is no index
        #       help: an index is a whole number, a slice, `...`, `None` or a tensor of these
        return x


@rejected
def test_two_tensors_in_one_index():
    @R.function
    def f(x: R.Tensor((4, 3), "float32"), i: R.Tensor((2,), "int64")):
        return x[i, i]
        #           ^ error: RX0208 only one tensor is allowed in an index
        #             help: take along one axis after another: `R.take(x, index, axis)`
        #        - label: the first one


@rejected
def test_a_tensor_apart_from_a_number_in_an_index():
    @R.function
    def f(x: R.Tensor((4, 3, 5), "float32"), i: R.Tensor((2,), "int64")):
        return x[0, :, i]
        #              ^ error: RX0208 a tensor in an index is beside the integers in it
        #                help: index in two steps


@rejected
def test_slices_that_are_none():
    @R.function
    def f(x: R.Tensor((4, 3), "float32"), i: R.Tensor((), "int64")):
        a = x[::0]
        #       ^ error: RX0208 a slice cannot go in steps of 0
        b = x[0:i]
        #       ^ error: RX0208 a slice is made of whole numbers and dimensions
        #         help: where they are known at run time only: `R.dynamic_strided_slice`
        c = x[0.5:]
        #     ^^^ error: RX0208 a slice is made of whole numbers and dimensions
        #         help: where they are known at run time only: `R.dynamic_strided_slice`
        return x


@rejected
def test_a_dimension_as_the_step_of_a_slice():
    @R.function
    def f(x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        return x[::n]
        #          ^ error: RX0208 a slice is made of whole numbers and dimensions
        #            help: where they are known at run time only: `R.dynamic_strided_slice`


@rejected
def test_a_truth_as_an_index_of_dimensions():
    @R.function
    def f(x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        return x[n > 2]
        #        ^^^^^ error: RX0208 an index is a whole number


@rejected
def test_an_assignment_to_elements():
    @R.function
    def f(x: R.Tensor((4, 3), "float32")):
        x[0] = x
        # <^^^ error: RX0104 only names can be assigned in Relax, values never change
        #   help: bind a new value: `x = R.slice_scatter(x, R.broadcast_to(x, (1, 3)), 0, 1, 1,
        #   | axis=0)`
        return x


# ---------------------------------------------------------------- indices of shapes and tuples


@rejected
def test_indices_of_a_shape():
    @R.function
    def f(x: R.Tensor(("n", 3), "float32"), i: R.Tensor((), "int64"), s: R.Shape(ndim=2)):
        a = x.shape[2]
        #           ^ error: RX0208 the shape has no dimension 2
        #   ------- label: has 2 dimensions
        b = x.shape[i]
        #           ^ error: RX0208 the index of a shape is a whole number written out
        c = s[0]
        #   ^^^^ error: RX0208 the dimensions of `s` are not known
        #        help: name them first: `R.match_cast(s, R.Shape([n, m]))`
        return x


# ---------------------------------------------------------------- attributes


@rejected
def test_an_attribute_that_there_is_not():
    @R.function
    def f(x: R.Tensor((4, 3), "float32")):
        a = x.sofmax(axis=1)
        #   ^^^^^^^^ error: RX0102 `x` has no attribute `sofmax`
        #            help: did you mean `x.softmax`?
        b = x.shpe
        #   ^^^^^^ error: RX0102 `x` has no attribute `shpe`
        #          help: did you mean `x.shape`?
        c = x.zqzqzq
        #   ^^^^^^^^ error: RX0102 `x` has no attribute `zqzqzq`
        return x


@rejected
def test_an_attribute_of_a_tensor_of_what_is_none():
    @R.function
    def f(t: R.Tuple(R.Tensor((4, 3), "float32")), o: R.Object):
        a = t.shape
        #   ^^^^^^^ error: RX0102 `t` is a tuple, and only a tensor has this
        #           help: check it first: `R.match_cast(t, R.Tensor(...))`
        b = o.dtype
        #   ^^^^^^^ error: RX0102 `o` is an object of unknown kind, and only a tensor has this
        #           help: check it first: `R.match_cast(o, R.Tensor(...))`
        return t


@rejected
def test_a_data_type_that_is_not_known():
    @R.function
    def f(x: R.Tensor((4, 3))):
        y = R.zeros((2,), x.dtype)
        #                 ^^^^^^^ error: RX0102 the dtype of `x` is not known
        #                         help: check it first: `R.match_cast(x, R.Tensor(dtype="float32"))`
        return y


@rejected
def test_what_is_known_now_and_what_is_known_later():
    @R.function
    def f(x: R.Tensor(("n", 3), "float32")):
        for i in range(x.shape[0]):
        #        ^^^^^^^^^^^^^^^^^ error: RX0112 `range` is Python's own, and cannot take values
        #        | that are known only later
        #          help: loop in a `@T.prim_func`, or write a recursive function
            y = x
        return x


@rejected
def test_the_largest_of_a_dimension_and_something_else():
    @R.function
    def f(x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        return R.zeros((max(n, 2.5), max(n, x)), "float32")
        #               ^^^^^^^^^^^ error: RX0104 `max(n, 2.5)` mixes dimensions with other values
        #                            ^^^^^^^^^ error: RX0104 `max(n, x)` mixes dimensions with other
        #        | values
