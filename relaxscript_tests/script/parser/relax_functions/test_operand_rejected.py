"""Rejected programs: operands that do not go together (RX0201 to RX0204, RX0208)."""

from __future__ import annotations

from relaxscript.script import relax as R
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- operands


@rejected
def test_inner_dimensions_of_a_matrix_product():
    @R.function
    def f(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((63, 10), "float32")):
    #                                                     -- label: `w` has 63 rows here
    #        ------------------------------ label: `x` has 64 columns here
        y = R.matmul(x, w)
        #               ^ error: RX0203 `R.matmul` cannot multiply these operands
        #                   help: the last axis of `x` must equal the last-but-one axis of `w`
        #               - label: has 63 rows
        #            - label: has 64 columns
        return y


@rejected
def test_inner_dimensions_of_a_matrix_product_written_as_an_operator():
    @R.function
    def f(x: R.Tensor((4, 3), "float32"), w: R.Tensor((4, 10), "float32")):
    #                                                  - label: `w` has 4 rows here
        y = (x + x) @ w
        #             ^ error: RX0203 `R.matmul` cannot multiply these operands
        #                 help: the last axis of `x + x` must equal the last-but-one axis of `w`
        #             - label: has 4 rows
        #    ----- label: has 3 columns
        return y


@rejected
def test_inner_dimensions_that_differ_for_every_value():
    @R.function
    def f(x: R.Tensor((4, "n"), "float32"), w: R.Tensor(("n + 1", "n"), "float32")):
        y = R.matmul(x, w)
        #               ^ error: RX0203 `R.matmul` cannot multiply these operands
        #                   help: the last axis of `x` must equal the last-but-one axis of `w`
        return y


@rejected
def test_prim_values_of_two_data_types():
    @R.function
    def f(p: R.Prim("int64"), q: R.Prim("int32")):
        return p + q
        #          ^ error: RX0202 `p + q` cannot take these operands
        #            help: declare it as `R.Prim("int64")`


@rejected
def test_prim_values_that_are_no_bools():
    @R.function
    def f(p: R.Prim("int64"), q: R.Prim("int64")):
        return R.logical_and(p, q)
        #                    ^ error: RX0202 `R.logical_and` cannot take these operands
        #                      help: it takes bools


@rejected
def test_shapes_that_do_not_broadcast():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 4), "float32")):
    #                                        --------------------------- label: `y` has shape (2,
    #        | 4) here
    #        --------------------------- label: `x` has shape (2, 3) here
        z = R.add(x, y)
        #            ^ error: RX0203 `R.add` cannot take these operands
        #        help: shapes are compared from the right: dimensions are equal, or one of them is 1
        #            - label: has shape (2, 4)
        #         - label: has shape (2, 3)
        return z


@rejected
def test_shapes_that_do_not_broadcast_where_one_was_computed():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
    #        --------------------------- label: `x` has shape (2, 3) here
        y = R.sum(x, axis=1)
        # < label: `y` has shape (2,) here
        z = x * y
        #       ^ error: RX0203 `x * y` cannot take these operands
        #        help: shapes are compared from the right: dimensions are equal, or one of them is 1
        #       - label: has shape (2,)
        #   - label: has shape (2, 3)
        return z


@rejected
def test_data_types_that_differ():
    @R.function
    def f(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float16")):
    #                                      ------------------------- label: `y` has dtype
    #        | float16 here
    #        ------------------------- label: `x` has dtype float32 here
        z = R.add(x, y)
        #            ^ error: RX0202 `R.add` cannot take these operands
        #                help: write `R.astype(y, "float32")`
        #                fix: R.astype(y, "float32")
        #            - label: has dtype float16
        #         - label: has dtype float32
        return z


@rejected
def test_a_number_that_the_data_type_does_not_hold():
    @R.function
    def f(x: R.Tensor((4,), "int8")):
        y = R.add(x, 1000)
        #            ^^^^ error: RX0202 `R.add` cannot take these operands
        #            ---- label: is the int 1000, which int8 does not hold
        z = x + 0.5
        #       ^^^ error: RX0202 `x + 0.5` cannot take these operands
        #       --- label: is the float 0.5, which int8 does not hold
        return y


@rejected
def test_ranks_that_do_not_fit():
    @R.function
    def f(x: R.Tensor((), "float32"), y: R.Tensor((4,), "float32")):
    #        ----------------------- label: `x` has rank 0 here
        z = R.matmul(x, y)
        #            ^ error: RX0203 `R.matmul` multiplies matrices, not scalars
        #                help: write `R.multiply(x, y)`
        #            - label: has rank 0
        return z


@rejected
def test_a_shape_where_a_tensor_is_needed():
    @R.function
    def f(x: R.Tensor((4,), "float32"), s: R.Shape((4,))):
        y = R.add(x, s)
        #            ^ error: RX0201 `R.add` cannot take these operands
        return y


@rejected
def test_a_tuple_where_a_tensor_is_needed():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.exp((x, x))
        #         ^^^^^^ error: RX0201 `R.exp` cannot take these operands
        return y


@rejected
def test_a_text_where_a_tensor_is_needed():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.add(x, "y")
        #            ^^^ error: RX0201 `R.add` cannot take these operands
        z = R.add(x, None)
        #            ^^^^ error: RX0201 `R.add` cannot take these operands
        return y


@rejected
def test_an_axis_that_there_is_not():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.sum(x, axis=2)
        #                 ^ error: RX0204 there is no axis 2
        #                     help: the axes are 0 to 1, or -2 to -1 counted from the end
        return y


@rejected
def test_an_axis_given_twice():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.sum(x, axis=[0, -2])
        #                 ^^^^^^^ error: RX0204 axis 0 is given more than once
        return y


@rejected
def test_an_attribute_of_another_kind():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.sum(x, axis="rows")
        #                 ^^^^^^ error: RX0204 the attribute `axis` must be an integer or a list
        #        | of integers
        z = R.astype(x, "float31")
        #               ^^^^^^^^^ error: RX0204 the attribute `dtype` must be a dtype, such
        #        | as "float32"
        w = R.sum(x, keepdims=3)
        #                     ^ error: RX0204 the attribute `keepdims` must be True or False
        return y


@rejected
def test_an_integer_where_a_float_is_needed():
    @R.function
    def f(x: R.Tensor((2, 3), "int32")):
        y = R.exp(x)
        #         ^ error: RX0202 `R.exp` cannot take these operands
        #             help: it takes floating-point numbers: write `R.astype(x, "float32")`
        #             fix: R.astype(x, "float32")
        return y


@rejected
def test_another_number_of_elements():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
    #        --------------------------- label: `x` has 6 elements, in shape (2, 3) here
        y = R.reshape(x, (4, 2))
        #             ^ error: RX0203 `R.reshape` keeps the number of elements
        #             - label: has 6 elements, in shape (2, 3)
        #                ------ label: has 8 elements, in shape (4, 2)
        return y


@rejected
def test_an_equality_that_python_would_decide():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), s: R.Shape((2, 3))):
        y = x == s
        #        ^ error: RX0201 `x == s` cannot take these operands
        return y


@rejected
def test_a_field_that_the_tuple_has_not():
    @R.function
    def f(t: R.Tuple(R.Tensor((4,), "float32"), R.Object)):
        x = t[2]
        #     ^ error: RX0208 the tuple has no field 2
        #   - label: has 2 fields
        return x


@rejected
def test_a_field_whose_index_is_no_number():
    @R.function
    def f(t: R.Tuple(R.Tensor((4,), "float32"), R.Object), i: R.Prim("int64")):
        x = t["first"]
        #     ^^^^^^^ error: RX0208 the fields of `t` have no names
        #             help: write `t[0]`; of a mapping, `R.Tuple(weights)` names the fields
        y = t[i]
        #     ^ error: RX0208 the index of a tuple is a whole number written out
        return x


@rejected
def test_a_field_of_an_object():
    @R.function
    def f(o: R.Object):
        x = o[0]
        #   ^^^^ error: RX0208 `o` is an object of unknown kind, and only a tuple can be indexed
        #          help: check it first: `R.match_cast(o, R.Tuple(...))`
        return x


@rejected
def test_a_tuple_for_another_number_of_names():
    @R.function
    def f(t: R.Tuple(R.Tensor((4,), "float32"), R.Object)):
        a, b, c = t
        # <^^^^^^ error: RX0208 3 names cannot take 2 fields
        #         - label: has 2 fields
        return a


@rejected
def test_a_tensor_that_is_unpacked():
    @R.function
    def f(x: R.Tensor((2,), "float32")):
        a, b = x
        #      ^ error: RX0208 `x` is not a tuple
        return a
