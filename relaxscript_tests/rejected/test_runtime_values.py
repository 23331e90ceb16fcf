"""Rejected runs: casts, results and values that are not what the program says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from relaxscript.errors import RelaxWarning, VMError
from relaxscript.runtime import Shape
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing import rejected
from relaxscript_tests.rejected.running import fails

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

X = np.ones((2, 3), "float32")


@rejected
def test_a_cast_of_another_kind():
    @I.ir_module
    class Module:
        @R.function
        def main(o: R.Object):
            y = R.match_cast(o, R.Tensor)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `o` is an int; must be a tensor
            # help: `numpy.array(value, dtype)` makes a tensor
            return y

    fails(Module, 5)


@rejected
def test_a_cast_to_another_data_type():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(ndim=2)):
            y = R.match_cast(x, R.Tensor("int8", ndim=2))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `x.dtype` is float32; must
            #        | be int8
            # help: `.astype("int8")` converts an array
            return y

    fails(Module, X)


@rejected
def test_a_cast_to_another_rank():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor("float32")):
            y = R.match_cast(x, R.Tensor("float32", ndim=3))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `x.ndim` is 2; must be 3
            return y

    fails(Module, X)


@rejected
def test_a_cast_to_a_computed_dimension():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor("float32", ndim=2), w: R.Tensor(("n",), "float32")):
            n = T.int64()
            y = R.match_cast(x, R.Tensor((n, n * 2), "float32"))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `x.shape[1]` is 3;
            #        | must be `n * 2` with `n = 2` from `w.shape[0]`, that is 4
            return y

    fails(Module, X, np.ones(2, "float32"))


@rejected
def test_a_cast_of_fields_that_share_a_variable():
    @I.ir_module
    class Module:
        @R.function
        def main(o: R.Object):
            n = T.int64()
            t = R.match_cast(o, R.Tuple(R.Shape([n]), R.Tensor((n,), "float32")))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605
            #        | `o[1].shape[0]` is 2; must be `n = 3` from `o[0][0]`
            return t

    fails(Module, (Shape([3]), np.ones(2, "float32")))


@rejected
def test_a_cast_of_a_prim_value():
    @I.ir_module
    class Module:
        @R.function
        def main(o: R.Object):
            y = R.match_cast(o, R.Prim(value=3))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `o` is 4; must be 3
            return y

    fails(Module, 4)


@rejected
def test_a_cast_of_a_shape():
    @I.ir_module
    class Module:
        @R.function
        def main(s: R.Shape):
            y = R.match_cast(s, R.Shape(ndim=3))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `len(s)` is 2; must be 3
            return y

    fails(Module, (2, 3))


@rejected
def test_a_cast_of_a_tuple():
    @I.ir_module
    class Module:
        @R.function
        def main(o: R.Object):
            y = R.match_cast(o, R.Tuple(R.Object, R.Object))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `len(o)` is 3; must be 2
            return y

    fails(Module, (1, 2, 3))


@rejected
def test_a_cast_to_the_shape_in_a_variable():
    @I.ir_module
    class Module:
        @R.function
        def main(o: R.Object, s: R.Shape):
            y = R.match_cast(o, R.Tensor(s, "float32"))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `o.shape` is (2, 3); must be
            #        | `s = (3, 2)`
            return y

    fails(Module, X, (3, 2))


@rejected
def test_a_cast_of_a_closure():
    @I.ir_module
    class Module:
        @R.function
        def main(o: R.Object):
            f = R.match_cast(o, R.Callable((R.Tensor((2,), "int8"),), R.Object))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `o`
            #        | is a closure (`g`) that does not fit: in parameter 0, the dtype is int8, not
            #        | int16
            return f

        @R.function
        def g(x: R.Tensor((2,), "int16")):
            return x

    fails(Module, "@g")


@rejected
def test_a_shape_that_comes_out_below_zero():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "float32")):
            n = T.int64()
            return R.shape([n - 5])
            #      ^^^^^^^^^^^^^^^^ error: RX0605 dimension 0 of a shape, `n - 5`, is -2 with `n =
            #        | 3` from `x.shape[0]`

    fails(Module, np.ones(3, "float32"))


@rejected
def test_a_shape_that_divides_by_zero():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "float32")):
            n = T.int64()
            return R.shape([4 // n])
            #      ^^^^^^^^^^^^^^^^^ error: RX0605 dimension 0 of a shape, `4 // n`, cannot be
            #        | computed with `n = 0` from `x.shape[0]`: something is divided by zero

    fails(Module, np.ones(0, "float32"))


# ---------------------------------------------------------------- what was warned of

UNDECIDED = """
@I.ir_module
class M:
    @R.function
    def annotated(x: R.Tensor("float32", ndim=2)):
        y: R.Tensor((2, 4), "float32") = x
        return y

    @R.function
    def computed(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("m", "m"), "float32"):
        y = R.concat((x, x), axis=0)
        return y

    @R.function
    def field(s: R.Shape(["n"]), x: R.Tensor("float32", ndim=1)) -> R.Tuple(
        R.Shape(["n"]), R.Tensor(("n",), "float32")
    ):
        return (s, x)

    @R.function(private=True)
    def pair(x: R.Tensor((2,), "float32")):
        return x

    @R.function
    def calls(w: R.Tensor("float32", ndim=1)):
        y = M.pair(w)
        return y

    @R.function
    def closes(x: R.Tensor(("n",), "float32"), w: R.Tensor("float32", ndim=1)):
        n = T.int64()

        @R.function
        def inner(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.add(x, y)

        z = inner(w)
        return z
"""


@pytest.mark.parametrize(
    ("name", "args", "code", "place", "message"),
    [
        ("annotated", (X,), "RX0605", "y", "`y.shape[1]` is 3; must be 4"),
        ("computed", (X,), "RX0605", "y",
         "`shape[0]` of the result of `computed` is 4; must be `m = 3` from `x.shape[1]`"),
        ("field", ((3,), X[0, :2]), "RX0605", "(s, x)",
         "`[1].shape[0]` of the result of `field` is 2; must be `n = 3` from `s[0]`"),
        ("calls", (X[0],), "RX0601", "M.pair(w)", "`x.shape[0]` is 3; must be 2"),
        ("closes", (X[0], X[0, :2]), "RX0601", "inner(w)", "`y.shape[0]` is 2; must be `n = 3`"),
    ],
)
def test_what_was_warned_of_fails_where_it_is_checked(name, args, code, place, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        mod = from_source(UNDECIDED)
    with pytest.raises(VMError) as caught:
        fails(mod, *args, name=name)
    error = caught.value
    assert (error.code, error.diagnostic.message) == (code, message)
    assert error.span.text == place
