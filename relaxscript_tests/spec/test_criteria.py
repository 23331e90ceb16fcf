"""Criteria 1 to 6 of "Well-Formedness Criteria", in scripts: the mistake is shown where it stands.

What is a matter of names in a script has a code of names; nodes that break these criteria are in
`test_criteria_built.py`.
"""

from __future__ import annotations

import numpy as np

import relaxscript as relax
from relaxscript.analysis import ill_formed
from relaxscript.script import relax as R, tir as T
from relaxscript.testing import rejected

from .rules import accepts, rejects, symbolic

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- 1 to 3: variables


@accepts("criterion 1")
def test_what_leaves_a_dataflow_block_is_used_behind_it():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            z = R.exp(y)
            R.output(z)
        return R.add(z, z)

    flow, last = f.body.blocks
    assert [isinstance(b.var, relax.DataflowVar) for b in flow.bindings] == [True, False]
    assert isinstance(last, relax.BindingBlock)
    assert not ill_formed(f)


@rejects("criterion 1")
@rejected
def test_a_variable_of_a_dataflow_block_is_unknown_behind_it():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            z = R.exp(y)
            R.output(z)
        return R.add(y, z)
        #            ^ error: RX0107 `y` is used outside its dataflow block
        #              help: let it leave the block: `R.output(z, y)`


@accepts("criterion 2")
def test_a_local_function_may_stand_on_the_right_of_its_own_binding():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        @R.function
        def again(c: R.Tensor((), "bool"), a: R.Tensor((4,), "float32")) -> R.Tensor(ndim=1):
            if c:
                b: R.Tensor(ndim=1) = again(R.logical_not(c), a)
            else:
                b = a
            return b

        return again(c, x)

    assert not ill_formed(f)


@rejects("criterion 2")
@rejected
def test_a_variable_that_nothing_binds():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.add(x, z)
        #            ^ error: RX0101 `z` is not defined
        return y


@rejects("criterion 2")
@rejected
def test_a_value_may_not_stand_on_the_right_of_its_own_binding():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        z = R.add(x, z)
        #            ^ error: RX0101 `z` is not defined
        return z


@accepts("criterion 3")
def test_bindings_use_what_stands_before_them():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)
        z = R.exp(y)
        return z

    assert not ill_formed(f)


@rejects("criterion 3")
@rejected
def test_a_variable_that_is_used_before_it_is_bound():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.exp(z)
        #         ^ error: RX0101 `z` is not defined
        z = R.add(x, x)
        return y


# ---------------------------------------------------------------- 4 to 6: shape variables


@accepts("criterion 4", "criterion 5", "criterion 6")
@symbolic("criterion 4", "criterion 5", "criterion 6")
def test_a_result_uses_the_dimensions_of_parameters_in_any_order():
    @R.function
    def f(x: R.Tensor(("n * m",), "float32"), y: R.Tensor(("m", "n"), "float32")) -> R.Tensor(
        ("n * m",), "float32"
    ):
        n, m = T.int64(), T.int64()
        return R.add(x, R.reshape(y, (n * m,)))

    assert not ill_formed(f)
    made = relax.jit(relax.IRModule({"f": f}))
    assert made.f(np.ones(6, "float32"), np.ones((2, 3), "float32")).tolist() == [2.0] * 6


@accepts("criterion 4")
@symbolic("criterion 4")
def test_a_result_uses_the_dimensions_around_a_local_function():
    @R.function
    def f(x: R.Tensor(("n",), "float32")):
        n = T.int64()

        @R.function
        def g() -> R.Tensor((n,), "float32"):
            return R.zeros((n,), "float32")

        return g()

    assert not ill_formed(f)
    assert repr(f.ret_struct_info) == 'R.Tensor((n,), "float32")'


@rejects("criterion 4")
@symbolic("criterion 4")
@rejected
def test_a_result_cannot_use_a_dimension_that_only_the_body_binds():
    @R.function
    def f(x: R.Tensor(ndim=1, dtype="float32")) -> R.Tensor(("m",), "float32"):
        #                                                    ^^^ error: RX0304 no parameter has `m`
        #        | as a
        #                                                    | dimension of its own, so it has no
        #        | value
        m = T.int64()
        return R.match_cast(x, R.Tensor((m,), "float32"))


@accepts("criterion 5")
@symbolic("criterion 5")
def test_a_match_cast_binds_a_dimension_that_stands_alone():
    @R.function
    def f(x: R.Tensor(ndim=2, dtype="float32")):
        n = T.int64()
        y = R.match_cast(x, R.Tensor((n, 2 * n), "float32"))
        return R.shape([n + 1])

    assert not ill_formed(f)
    assert relax.jit(relax.IRModule({"f": f})).f(np.ones((2, 4), "float32")) == (3,)


@rejects("criterion 5")
@symbolic("criterion 5")
@rejected
def test_a_match_cast_to_twice_a_dimension_binds_nothing():
    @R.function
    def f(x: R.Tensor(ndim=1, dtype="float32")):
        n = T.int64()
        y = R.match_cast(x, R.Tensor((2 * n,), "float32"))
        #                                 ^ error: RX0305 the dimension `n` is used before it is
        #        | bound
        return y


@rejects("criterion 5")
@rejected
def test_a_shape_cannot_use_a_dimension_before_the_cast_that_binds_it():
    @R.function
    def f(x: R.Tensor(ndim=1, dtype="float32")):
        n = T.int64()
        s = R.shape([n])
        #            ^ error: RX0305 the dimension `n` is used before it is bound
        y = R.match_cast(x, R.Tensor((n,), "float32"))
        return (s, y)


@rejects("criterion 6")
@symbolic("criterion 6")
@rejected
def test_a_dimension_of_a_signature_must_stand_alone_somewhere():
    @R.function
    def f(x: R.Tensor(("n * m", "n"), "float32")):
        #              ^^^^^^^ error: RX0306 no parameter has `m` as a dimension of its own, so it
        #        | has
        #                    | no value
        return x
