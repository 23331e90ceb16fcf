""" "Derivation Rules" 15 and 16, shadowing, and functions that are public or private."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as relax
from relaxscript.analysis import function_struct_info, ill_formed, well_formed
from relaxscript.errors import RelaxWarning
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing import rejected

from .rules import accepts, rejects, symbolic

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- 15: functions


@accepts("derivation 15.1", "derivation 15.2")
def test_a_function_is_known_by_its_parameters_result_and_purity():
    text = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def g(x: R.Tensor(("n",), "float32"), y) -> R.Tensor(ndim=1):
        return x

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        return cls.g(x, x)
"""
    with pytest.warns(RelaxWarning, match="`y` has no annotation"):
        mod = from_source(text)
    info = function_struct_info(mod["g"])
    assert [repr(p) for p in info.params] == ['R.Tensor((n,), "float32")', "R.Object"]
    assert (repr(info.ret), info.purity) == ("R.Tensor(ndim=1)", False)
    assert repr(mod["main"].ret_struct_info) == "R.Tensor(ndim=1)"


@accepts("derivation 15.5", "derivation 15.6")
@symbolic("derivation 15.5", "derivation 15.6")
def test_the_declared_result_is_the_result_even_if_the_body_knows_more():
    @R.function
    def f(x: R.Tensor(("n", 2), "float32")) -> R.Tensor(ndim=2):
        return x

    @R.function
    def g(x: R.Tensor(("n", 2), "float32")) -> R.Tensor(("2 * n",), "float32"):
        n = T.int64()
        return R.reshape(x, (n + n,))

    assert repr(f.ret_struct_info) == "R.Tensor(ndim=2)"
    assert well_formed(f)
    assert well_formed(g)


@accepts("derivation 15.6")
@symbolic("derivation 15.6")
def test_a_result_that_is_not_declared_is_what_callers_can_understand():
    @R.function
    def f(x: R.Tensor(("n",), "float32"), y: R.Tensor(ndim=1, dtype="float32")):
        n, m = T.int64(), T.int64()
        s = R.shape_of(y)
        z = R.match_cast(y, R.Tensor((m,), "float32"))
        w: R.Tensor(s, "float32") = R.match_cast(y, R.Tensor(s, "float32"))
        return (x, z, w, R.shape([n, m]))

    assert [repr(info) for info in f.ret_struct_info.fields] == [
        'R.Tensor((n,), "float32")',
        'R.Tensor(dtype="float32", ndim=1)',
        'R.Tensor(dtype="float32", ndim=1)',
        "R.Shape(ndim=2)",
    ]


@rejects("derivation 15.5")
@symbolic("derivation 15.5")
@rejected
def test_a_result_that_contradicts_what_is_declared_is_refused():
    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n + 1",), "float32"):
            return x
            #      ^ error: RX0205 the result does not fit the return annotation

        @R.function
        def g(x: R.Tensor((2,), "float32")) -> R.Shape([2]):
            return x
            #      ^ error: RX0205 the result does not fit the return annotation

        @R.function
        def h(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return
            # <^^^^^ error: RX0205 the result does not fit the return annotation


@rejects("derivation 15.5")
@symbolic("derivation 15.5")
@rejected
def test_a_result_that_may_not_fit_is_a_warning_that_a_cast_settles():
    @R.function
    def f(
        x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")
    ) -> R.Tensor(("m",), "float32"):
        return x
        #      ^ warning: RX0207 dimension 0 is `n`, which is not known to be `m`; it is checked
        #        | when the
        #      | program runs
        #      help: write `R.match_cast(x, R.Tensor(("m",), "float32"))`
        #      fix: R.match_cast(
        #      fix: , R.Tensor(("m",), "float32"))


@rejects("derivation 15.5")
def test_a_result_that_may_not_fit_is_checked_when_the_program_runs():
    text = """
@R.function
def f(x: R.Tensor(("n",), "float32")) -> R.Tensor((4,), "float32"):
    return x
"""
    with pytest.warns(RelaxWarning):
        f = from_source(text)
    run = relax.jit(relax.IRModule({"f": f})).f
    assert run(np.ones(4, "float32")).shape == (4,)
    with pytest.raises(relax.VMError, match="of the result of `f` is 5; must be 4"):
        run(np.ones(5, "float32"))


@rejects("derivation 15.5")
def test_a_built_function_that_contradicts_its_declaration_is_ill_formed_where_its_result_stands():
    x = relax.Var("x", relax.TensorStructInfo((4,), "float32"))
    f = relax.Function([x], relax.SeqExpr([], x), relax.TensorStructInfo((5,), "float32"))
    (found,) = ill_formed(f)
    assert found.code == "RX0205"
    assert found.message == "the result does not fit the return annotation"
    assert (found.span.text, found.labels[0].text) == ("x", "dimension 0 is `4`, not `5`")


# ---------------------------------------------------------------- 16: PrimFuncs


@accepts("derivation 16.1", "derivation 16.2")
@symbolic("derivation 16.1")
def test_a_prim_func_takes_tensors_and_scalars_and_gives_unit():
    @I.ir_module
    class Module:
        @T.prim_func
        def fill(k: T.int64, x: T.Buffer(("n", 4), "float32")):
            n = T.int64()
            for i, j in T.grid(n, 4):
                x[i, j] = T.Cast("float32", k)

        @R.function(pure=False)
        def main(x: R.Tensor((2, 4), "float32")):
            cls = Module
            unit = cls.fill(R.prim_value(7), x)
            return x

    info = function_struct_info(Module["fill"])
    assert [repr(p) for p in info.params] == ["R.Prim(value=k)", 'R.Tensor((n, 4), "float32")']
    assert (repr(info.ret), info.purity) == ("R.Tuple", False)
    assert relax.jit(Module).main(np.zeros((2, 4), "float32")).tolist() == [[7.0] * 4] * 2


@rejects("derivation 16.2")
@rejected
def test_a_prim_func_is_called_directly_by_impure_functions_only():
    @I.ir_module
    class Module:
        @T.prim_func
        def fill(x: T.Buffer((4,), "float32")):
            for i in range(4):
                x[i] = T.float32(0)

        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32"), y: R.Tensor((5,), "float32")):
            cls = Module
            cls.fill(y)
            #        ^ error: RX0206 argument 1 does not fit the function's parameter
            with R.dataflow():
                unit = cls.fill(x)
                #      ^^^^^^^^ error: RX0402 `fill` is impure and cannot be called in a dataflow
                #        | block
                R.output(unit)
            return x


# ---------------------------------------------------------------- "Variable Scoping"


def test_a_name_that_is_bound_again_is_a_new_variable():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        x = R.sum(x, axis=0)
        y = x
        x = R.shape([1])
        return (x, y)

    names = [b.var.name for b in f.body.blocks[0].bindings]
    assert names[0] == "x"
    assert len({b.var for b in f.body.blocks[0].bindings}) == len(names)
    assert repr(f.ret_struct_info) == 'R.Tuple(R.Shape([1]), R.Tensor((3,), "float32"))'
    assert well_formed(f)


def test_what_a_scope_binds_shadows_outer_names_until_it_ends():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
        if c:
            x = R.zeros((3,), "float32")
            y = R.sum(x)
        else:
            y = R.sum(x)
        with R.dataflow():
            x = R.concat((x, x), axis=0)
            z = x
            R.output(z)

        @R.function
        def g(x: R.Shape([7])) -> R.Shape([7]):
            return x

        return (x, y, z)

    assert repr(f.ret_struct_info.fields[0]) == 'R.Tensor((2,), "float32")'
    assert repr(f.ret_struct_info.fields[2]) == 'R.Tensor((4,), "float32")'
    assert f.ret_struct_info is not None
    result = relax.jit(relax.IRModule({"f": f})).f(np.True_, np.ones(2, "float32"))
    assert [np.shape(part) for part in result] == [(2,), (), (4,)]


def test_a_variable_may_have_the_name_of_a_dimension():
    @R.function
    def f(x: R.Tensor(("n",), "float32")):
        n = R.add(x, x)
        return n

    assert repr(f.ret_struct_info) == 'R.Tensor((n,), "float32")'
    assert well_formed(f)


@rejected
def test_what_a_branch_binds_is_unknown_behind_it():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
        if c:
            inner = R.exp(x)
            y = inner
        else:
            y = x
        return (y, inner)
        #          ^^^^^ error: RX0101 `inner` is not defined


def test_private_functions_are_called_from_within_the_module_only():
    @I.ir_module
    class Module:
        @R.function(private=True)
        def helper(x: R.Tensor((4,), "float32")):
            return R.exp(x)

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            return cls.helper(x)

    made = relax.jit(Module)
    assert made.main(np.zeros(4, "float32")).tolist() == [1.0] * 4
    with pytest.raises((relax.VMError, KeyError, AttributeError), match="helper"):
        made["helper"](np.zeros(4, "float32"))
