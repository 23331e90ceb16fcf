"""Rejected programs: a mistake is said once, what follows from it is not, and help can be typed."""

# ruff: noqa: E501  (what is rejected is not meant to be good Python)

from __future__ import annotations

from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import check_rejected, rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


@rejected
def test_what_an_import_was_to_bind():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        import math
        # <^^^^^^^^^^ error: RX0104 `import` cannot be used in a Relax function
        #              help: import outside the function
        y = math.sqrt(2.0)
        return R.multiply(x, R.const(y))


def test_an_undefined_dimension_is_said_once():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((batch, 4)), y: R.Tensor(("n", 4))) -> R.Tensor((batch, 4)):
            #              ^^^^^ error: RX0109 the dimension `batch` is not defined here
            #                    help: write `"batch"`, or declare it in the body: `batch = T.int64()`
            #                    fix: "batch"
            z: R.Tensor((batch, 4)) = R.reshape(x, (batch, 4))
            return R.add(z, y)

        @R.function
        def g(x: R.Tensor(("n", 4))):
            y: R.Tensor((batch, 4)) = x
            #            ^^^^^ error: RX0109 the dimension `batch` is not defined here
            return R.reshape(x, (batch, 4))
        """,
        "data",
        check_fixes=False,
    )


@rejected
def test_a_dimension_without_a_value_is_said_once():
    @R.function
    def f(x: R.Tensor(("n * 2", 4))):
        #              ^^^^^^^ error: RX0306 no parameter has `n` as a dimension of its own, so it has no value
        #                      help: let a parameter have the dimension `n` by itself
        n = T.int64()
        y = R.reshape(x, (n, 8))
        return y


@rejected
def test_an_attribute_of_the_class_that_cannot_be_one():
    @I.ir_module
    class Module:
        w: R.Tensor((2,))
        # <^^^^^^^^^^^^^^^^ error: RX0104 a module holds functions only
        # help: write it outside the class

        def __init__(self):
        #   ^^^^^^^^ error: RX0104 a module has no `__init__`
        #            help: weights are parameters of its functions, or constants: `R.const(array)`
            self.w = 1

        @R.function
        def main(x: R.Tensor((2,))):
            y = R.add(x, Module.w)
            return R.add(y, Module.weights)
            #               ^^^^^^^^^^^^^^ error: RX0101 the module has no function `weights`
            #                              help: it has `Module.main`


@rejected
def test_a_dimension_that_is_a_word_of_python():
    @R.function
    def f(x: R.Tensor(("in", 4), "float32")):
        #              ^^^^ error: RX0108 "in" is a word of Python, and no name
        #                   help: write `"in_"`
        #                   fix: "in_"
        return x


@rejected
def test_assignments_to_parts_of_tensors():
    @R.function
    def f(x: R.Tensor(("n", 4), "float32"), rows: R.Tensor((2,), "int64")):
        x[0, :] = 1.0
        # <^^^^^^ error: RX0104 only names can be assigned in Relax, values never change
        #       help: bind a new value: `x = R.slice_scatter(x, R.full((1, 4), 1.0, "float32"), 0, 1,
        #       | 1, axis=0)`
        x[rows] = 1.0
        # <^^^^^^ error: RX0104 only names can be assigned in Relax, values never change
        #       help: bind a new value: `x = ...`, made by `R.where`, `R.index_put`
        return x


@rejected
def test_parameters_without_annotations_in_an_operator():
    @R.function
    def f(x, w):
        return R.matmul(x, w)
        #               ^ error: RX0201 `R.matmul` cannot take these operands
        #                 help: say what it is: `x: R.Tensor`
        #                 fix: x: R.Tensor


@rejected
def test_two_axes_that_are_to_be_exchanged():
    @R.function
    def f(x: R.Tensor((2, 3, 4), "float32"), y: R.Tensor):
        a = R.transpose(x, 1, -1)
        #   ^^^^^^^^^^^ error: RX0102 `R` has no `transpose`
        #               help: write `R.permute_dims(x, (0, 2, 1))`
        #               fix: R.permute_dims(x, (0, 2, 1))
        b = R.transpose(y, 0, 1)
        #   ^^^^^^^^^^^ error: RX0102 `R` has no `transpose`
        #               help: `R.permute_dims` takes all axes in their new order
        c = R.permute_dims(x, 1, 2)
        #                        ^ error: RX0103 `R.permute_dims` takes 2 arguments, not 3
        return (a, b, c)


@rejected
def test_an_extent_that_is_known_later():
    @R.function
    def f(x: R.Object, u: R.Tensor):
        return R.zeros((2, u.shape[0]), "float32")
        #                  ^^^^^^^^^^ error: RX0108 a value known only at run time is not a dimension
        #                             help: bind its extent first: `n = T.int64()` and `R.match_cast(u, R.Tensor((n,)))`


@rejected
def test_what_holds_for_one_value_only_says_for_which():
    @R.function
    def f(x: R.Tensor(("n", 1, 20, 20), "float32"), w: R.Tensor((400, 10), "float32")):
        h = R.flatten(x)
        y = R.matmul(h, w)
        #   ^^^^^^^^^^^^^^ warning: RX0207 `h` has n * 400 elements, `w` has 400 rows; it holds only if n = 1; it is checked when the program runs
        #                  help: the last axis of `h` must equal the last-but-one axis of `w`
        return y


@rejected
def test_what_holds_for_nothing_but_no_elements_at_all():
    @R.function
    def f(x: R.Tensor(("b", "h", 12), "float32")):
        b, h = T.int64(), T.int64()
        y = R.reshape(x, (b * 13, h))
        #             ^ error: RX0203 `R.reshape` keeps the number of elements
        #               help: they are equal only if b * h = 0
        z = R.flatten(x, 1)
        #                ^ error: RX0103 `R.flatten` takes 1 argument, not 2
        #                  help: it makes one axis; `R.nn.batch_flatten(x)` keeps the first axis
        return (y, z)


@rejected
def test_one_slip_in_an_expression_is_one_warning():
    @R.function
    def f(q: R.Tensor(("b", "h", "s", 64), "float32"), k: R.Tensor(("b", "h", "s", 64), "float32")):
        scores = q @ k.T
        #        ^^^^^^^ warning: RX0207 `q` has 64 columns, `k.T` has h rows; it is checked when the program runs
        #                note: `b` and `64` must be equal, or one of them 1
        #                note: `h` and `s` must be equal, or one of them 1
        #                help: `.T` turns all axes; write `R.permute_dims(k, (0, 1, 3, 2))` to turn the last two
        return scores


@rejected
def test_a_tuple_that_cannot_be_derived():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((2, 4), "float32")):
        y: R.Tuple = R.add(x, w)
        #                     ^ error: RX0203 `R.add` cannot take these operands
        z: R.Tuple = x
        #            ^ error: RX0205 the value does not fit the annotation
        return (y, z)
