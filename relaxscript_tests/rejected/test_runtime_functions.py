"""Rejected runs: functions that are not of the type that is asked for."""

from __future__ import annotations

import numpy as np

from relaxscript.runtime import PackedFunc
from relaxscript.script import ir as I, relax as R
from relaxscript.testing import rejected
from relaxscript_tests.rejected.running import fails

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


@rejected
def test_a_packed_function_for_a_closure():
    @I.ir_module
    class Module:
        @R.function
        def main(f: R.Callable((R.Object,), R.Tensor)):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `f` is a packed function (`f`);
        #        | must be a function of type `R.Callable((R.Object,), R.Tensor)`
            return f

    fails(Module, PackedFunc("f", len))


@rejected
def test_a_closure_for_a_packed_function():
    @I.ir_module
    class Module:
        @R.function
        def main(f: R.Callable):
        #        ^^^^^^^^^^^^^ error: RX0601 `f` is a closure (`main`); must be a packed function
        # help: `relaxscript.PackedFunc(name, function)` makes a packed function
            return f

    fails(Module, "@main")


@rejected
def test_a_number_for_a_function():
    @I.ir_module
    class Module:
        @R.function
        def main(f: R.Callable((R.Object,), R.Object)):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `f` is an int; must be a
        #        | function of type `R.Callable((R.Object,), R.Object)`
            return f

    fails(Module, 5)


@rejected
def test_a_closure_of_other_parameters():
    @I.ir_module
    class Module:
        @R.function
        def main(f: R.Callable((R.Tensor((3,), "int8"),), R.Object)):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `f` is a closure
        #        | (`g`) that does not fit: in parameter 0, dimension 0 is `3`, not `2`
            return f

        @R.function
        def g(x: R.Tensor((2,), "int8")):
            return x

    fails(Module, "@g")


@rejected
def test_a_closure_of_another_number_of_parameters():
    @I.ir_module
    class Module:
        @R.function
        def main(f: R.Callable((R.Object,), R.Object)):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `f` is a closure (`g`) that
        #        | does not fit: it takes 2 parameters, not 1
            return f

        @R.function
        def g(x: R.Object, y: R.Object):
            return x

    fails(Module, "@g")


@rejected
def test_a_closure_of_another_result():
    @I.ir_module
    class Module:
        @R.function
        def main(f: R.Callable((R.Object,), R.Shape)):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `f` is a closure (`g`) that does
        #        | not fit: in the result, it is a scalar, not a shape
            return f

        @R.function
        def g(x: R.Object):
            return R.prim_value(1)

    fails(Module, "@g")


@rejected
def test_a_closure_with_effects():
    @I.ir_module
    class Module:
        @R.function
        def main(f: R.Callable((R.Object,), R.Object)):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `f` is a closure (`g`) that
        #        | does not fit: it is impure, not pure
            return f

        @R.function(pure=False)
        def g(x: R.Object):
            u = R.print(x)
            return x

    fails(Module, "@g")


@rejected
def test_a_closure_under_the_values_of_variables():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor(("n",), "int8"),
            f: R.Callable((R.Tensor(("n",), "int8"),), R.Object),
            # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `f` is a closure
            #        | (`g`) that does not fit with `n = 3` from `x.shape[0]`: in parameter 0,
            #        | dimension 0 is `3`, not `2`
        ):
            return f

        @R.function
        def g(x: R.Tensor((2,), "int8")):
            return x

    fails(Module, np.ones(3, "int8"), "@g")


@rejected
def test_a_size_that_the_type_of_a_closure_gave():
    @I.ir_module
    class Module:
        @R.function
        def main(f: R.Callable((), R.Tensor(("n",), "int8")), x: R.Tensor(("n",), "int8")):
        #                                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        #        | error: RX0601 `x.shape[0]` is 3; must be `n = 2` from the type of `f`
            return x

        @R.function
        def g():
            return R.zeros((2,), "int8")

    fails(Module, "@g", np.ones(3, "int8"))


@rejected
def test_a_size_that_the_type_of_a_closure_does_not_give():
    @I.ir_module
    class Module:
        @R.function
        def main(f: R.Callable((), R.Tensor(("n",), "int8"))):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `f` is a closure (`g`),
        #        | whose type does not say what `n` is
            return f

        @R.function
        def g() -> R.Tensor("int8", ndim=1):
            return R.zeros((2,), "int8")

    fails(Module, "@g")
