"""The specification's own examples, each wrapped into a whole program, behave as it says.

The heading above a test is the section in which the example stands.
"""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as relax
from relaxscript.analysis import ill_formed, struct_info_base_check, well_formed
from relaxscript.errors import RelaxWarning
from relaxscript.runtime.values import Shape
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

F4 = relax.TensorStructInfo((4,), "float32")


def compiled(f):
    return relax.jit(relax.IRModule({"f": f})).f


# ---------------------------------------------------------------- "Expression Survey"


def test_shape_variables_of_a_match_cast_are_bound_and_checked_from_then_on():
    @R.function
    def f(x: R.Object, y: R.Object):
        n = T.int64()
        a = R.match_cast(x, R.Tensor((n, 2 * n), "float32"))
        b = R.match_cast(y, R.Shape([n]))
        return R.shape([n])

    run = compiled(f)
    assert run(np.ones((3, 6), "float32"), Shape((3,))) == (3,)
    with pytest.raises(relax.VMError, match=r"`x.shape\[1\]` is 5; must be `2 \* n` with `n = 3`"):
        run(np.ones((3, 5), "float32"), Shape((3,)))
    with pytest.raises(relax.VMError, match="is 4; must be `n = 3`"):
        run(np.ones((3, 6), "float32"), Shape((4,)))


def test_a_match_cast_may_stand_without_a_variable():
    @R.function
    def f(x: R.Object):
        n = T.int64()
        R.match_cast(x, R.Tensor((n,), "float32"))
        return R.shape([n + 1])

    assert compiled(f)(np.ones(3, "float32")) == (4,)


def test_the_first_branch_is_evaluated_if_the_condition_is_true_and_else_the_other():
    @R.function
    def f(c: R.Tensor((), "bool")):
        if c:
            y = R.const(1)
        else:
            y = R.const(2)
        return y

    assert [int(compiled(f)(np.bool_(c))) for c in (True, False)] == [1, 2]


def test_functions_nest_and_capture_relax_variables_and_shape_variables():
    @R.function
    def f(x: R.Tensor(("n",), "float32"), y: R.Tensor((2,), "float32")):
        n = T.int64()

        @R.function
        def g(z: R.Tensor((2,), "float32")):
            return (R.add(z, y), R.shape([n + 1]))

        return g(y)

    total, shape = compiled(f)(np.ones(5, "float32"), np.ones(2, "float32"))
    assert total.tolist() == [2.0, 2.0]
    assert shape == (6,)


def test_functions_are_first_class():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
        @R.function
        def double(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.add(a, a)

        @R.function
        def square(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.multiply(a, a)

        functions = (double, square)
        if c:
            g = functions[0]
        else:
            g = functions[1]
        return g(x)

    x = np.array([3.0, 5.0], "float32")
    assert compiled(f)(np.True_, x).tolist() == [6.0, 10.0]
    assert compiled(f)(np.False_, x).tolist() == [9.0, 25.0]


@rejected
def test_what_a_sequence_binds_is_removed_from_scope_with_it():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor(ndim=1)):
        m = T.int64()
        if c:
            a = R.match_cast(x, R.Tensor((m,)))
            s = R.shape([m])
        else:
            s = R.shape_of(x)
        return R.shape([m])
        #               ^ error: RX0305 the dimension `m` is used before it is bound


# ---------------------------------------------------------------- "Purity and Dataflow Blocks"


def test_an_error_is_the_one_effect_that_pure_functions_may_have():
    @R.function
    def f(x: R.Tensor(ndim=1, dtype="float32")):
        with R.dataflow():
            y = R.match_cast(x, R.Tensor((3,), "float32"))
            R.output(y)
        return y

    assert f.is_pure
    assert well_formed(f)
    with pytest.raises(relax.VMError, match="is 2; must be 3"):
        compiled(f)(np.ones(2, "float32"))


# ---------------------------------------------------------------- the survey of StructInfo


def test_less_than_expected_needs_an_explicit_check():
    text = """
@I.ir_module
class Module:
    @R.function
    def g(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")):
        cls = Module
        return cls.g({})
"""
    with pytest.warns(RelaxWarning, match="the shape is unknown") as caught:
        from_source(text.format("x"))
    cast = 'R.match_cast(x, R.Tensor((4,), "float32"))'
    assert caught[0].message.diagnostic.help == f"write `{cast}`"
    assert well_formed(from_source(text.format(cast)))


# ---------------------------------------------------------------- "Top-level Program Organization"


def test_execution_may_begin_at_any_function_with_a_global_symbol():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            return R.add(x, x)

        @R.function
        def other(x: R.Tensor((2,), "float32")):
            cls = Module
            return cls.main(R.add(x, x))

    made = relax.jit(Module)
    assert made.main(np.ones(2, "float32")).tolist() == [2.0, 2.0]
    assert made.other(np.ones(2, "float32")).tolist() == [4.0, 4.0]


# ---------------------------------------------------------------- "Values in Relax"


def test_a_vector_of_three_has_rank_one_and_a_scalar_the_shape_of_nothing():
    @R.function
    def f():
        return (R.shape_of(R.const([1, 2, 3])), R.shape_of(R.const(1)), ())

    assert compiled(f)() == ((3,), (), ())


def test_the_null_object_is_what_python_calls_none():
    @R.function
    def f():
        return R.null_value()

    assert compiled(f)() is None


# ---------------------------------------------------------------- "Variable Scoping"


def test_the_example_of_shadowing(capsys):
    @R.function(pure=False)
    def func(x: R.Tensor) -> R.Tensor:
        if True:
            # the true branch will be a nested SeqExpr and hence a new scope
            # this x will shadow the function parameter x
            x = R.const(1)
            R.print(x, format="{}")  # prints 1
            # the inner x goes out of scope
        else:
            R.print("not executed")
        R.print(x, format="{}")  # this x is the function parameter
        return x

    assert well_formed(func)
    result = relax.jit(relax.IRModule({"func": func})).func(np.int32(5))
    assert result == 5
    assert capsys.readouterr().out.split() == ["1", "5"]


# ---------------------------------------------------------------- "Normal Form"


def test_a_block_behind_a_block_becomes_one_with_all_bindings_in_order():
    x, y, z = (relax.Var(name, F4) for name in "xyz")
    blocks = [
        relax.BindingBlock([relax.VarBinding(y, relax.op.exp(x))]),
        relax.BindingBlock([]),
        relax.BindingBlock([relax.VarBinding(z, relax.op.exp(y))]),
    ]
    func = relax.Function([x], relax.SeqExpr(blocks, z), F4, attrs={"global_symbol": "f"})
    assert {d.code for d in ill_formed(func)} == {"RX0325"}
    made = relax.transform.Normalize()(relax.IRModule({"f": func}))["f"]
    (block,) = made.body.blocks
    assert [binding.var for binding in block.bindings] == [y, z]


# ---------------------------------------------------------------- "Well-Formedness Criteria"


@rejected
def test_a_dimension_x_binds_x_and_a_dimension_2_x_does_not():
    @R.function
    def f(a: R.Tensor(ndim=1), b: R.Tensor(ndim=1)):
        x, y = T.int64(), T.int64()
        c = R.match_cast(a, R.Tensor((x,)))
        d = R.match_cast(b, R.Tensor((2 * y,)))
        #                                 ^ error: RX0305 the dimension `y` is used before it is
        #        | bound
        return R.shape([2 * x])


def test_x_times_y_may_stand_before_x_and_y():
    @R.function
    def f(a: R.Tensor(("x * y",)), b: R.Tensor(("x",)), c: R.Tensor(("y",))):
        x, y = T.int64(), T.int64()
        return R.shape([x, y])

    assert well_formed(f)
    run = compiled(f)
    assert run(np.ones(6), np.ones(2), np.ones(3)) == (2, 3)
    with pytest.raises(relax.VMError, match=r"`a\.shape\[0\]` is 5; must be `x \* y`"):
        run(np.ones(5), np.ones(2), np.ones(3))


# ------------------------ "Checking Structural Information at the Start and End of a Function"

SIGNATURE = """
@R.function(pure=False)
def f(x: R.Tensor(("M * N",), "float32"), y: R.Tensor(("M", "N"), "float32")) -> {}:
    M, N = T.int64(), T.int64()
    s = R.shape([M, N])
    return R.call_packed("spec.example", s, sinfo_args=R.Tensor(ndim=2, dtype="float32"))
"""


@pytest.fixture
def example():
    def squares(shape):
        return np.ones((shape[1] ** 2, shape[0] ** 2), "float32")

    relax.register_func("spec.example", squares, override=True)


def test_the_example_of_a_signature_binds_m_and_n_first_and_then_compares_the_rest(example):
    with pytest.warns(RelaxWarning, match="the shape is unknown"):
        f = from_source(SIGNATURE.format('R.Tensor(("N * N", "M * M"), "float32")'))
    run = compiled(f)
    assert run(np.ones(6, "float32"), np.ones((2, 3), "float32")).shape == (9, 4)
    with pytest.raises(relax.VMError, match=r"`x.shape\[0\]` is 7; must be `M \* N`"):
        run(np.ones(7, "float32"), np.ones((2, 3), "float32"))


def test_the_result_of_the_example_of_a_signature_is_compared_at_its_end(example):
    with pytest.warns(RelaxWarning, match="the shape is unknown"):
        f = from_source(SIGNATURE.format('R.Tensor(("N * M", "M * M"), "float32")'))
    with pytest.raises(relax.VMError, match=r"of the result of `f` is 9; must be `N \* M`"):
        compiled(f)(np.ones(6, "float32"), np.ones((2, 3), "float32"))


# ---------------------------------------------------------------- "Subtyping for StructInfo"


def test_a_subtype_is_taken_where_more_is_and_not_the_other_way_round():
    general = relax.TensorStructInfo(ndim=1, dtype="float32")
    assert general.is_base_of(F4)
    assert not F4.is_base_of(general)
    assert struct_info_base_check(general, F4).name == "PASS"

    @I.ir_module
    class Module:
        @R.function
        def g(x: R.Tensor(ndim=1)) -> R.Tensor(ndim=1):
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            return cls.g(x)

    assert well_formed(Module)


# ---------------------------------------------------------------- "Auxiliary Procedures"


def test_the_default_derivation_takes_none_one_and_several_struct_infos():
    @R.function(pure=False)
    def f(x: R.Object):
        return (
            R.call_packed("p", x),
            R.call_packed("p", x, sinfo_args=R.Shape([2])),
            R.call_packed("p", x, sinfo_args=[R.Shape([2]), R.Object]),
        )

    assert repr(f.ret_struct_info) == (
        "R.Tuple(R.Object, R.Shape([2]), R.Tuple(R.Shape([2]), R.Object))"
    )


# ---------------------------------------------------------------- "Derivation Rules"


def test_the_examples_of_constants():
    @R.function
    def f():
        return (R.const(1), R.const([1, 2]))

    shapes = [repr(info.shape) for info in f.ret_struct_info.fields]
    assert shapes == ["R.shape([])", "R.shape([2])"]


# ---------------------------------------------------------------- "Evaluating Expressions"


def test_a_constant_is_a_new_tensor_each_time_it_is_evaluated():
    def set_first(array):
        array[0] = 7
        return array

    relax.register_func("spec.set_first", set_first, override=True)

    @R.function(pure=False)
    def f():
        a = R.const([0, 0])
        b = R.call_packed("spec.set_first", a, sinfo_args=R.Tensor((2,), "int32"))
        return (a, R.const([0, 0]))

    run = compiled(f)
    for _ in range(2):
        mutated, fresh = run()
        assert (mutated.tolist(), fresh.tolist()) == ([7, 0], [0, 0])


def test_a_packed_function_that_is_not_there_is_an_error_only_when_it_is_evaluated():
    @R.function(pure=False)
    def f(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
        if c:
            y = x
        else:
            y = R.call_packed("spec.nowhere", x, sinfo_args=R.Tensor((2,), "float32"))
        return y

    run = compiled(f)
    assert run(np.True_, np.ones(2, "float32")).tolist() == [1.0, 1.0]
    with pytest.raises(relax.VMError, match=r"spec\.nowhere"):
        run(np.False_, np.ones(2, "float32"))


def test_a_prim_func_can_be_called_as_a_packed_function_by_its_global_symbol():
    @I.ir_module
    class Module:
        @T.prim_func
        def fill(x: T.Buffer((4,), "float32")):
            for i in range(4):
                x[i] = T.float32(3)

        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")):
            nothing = R.call_packed("fill", x, sinfo_args=R.Tuple)
            return x

    assert relax.jit(Module).main(np.zeros(4, "float32")).tolist() == [3.0] * 4


def test_arguments_are_evaluated_from_left_to_right(capsys):
    @R.function(pure=False)
    def f(x: R.Tensor((), "int32")):
        @R.function(pure=False)
        def show(a: R.Tensor((), "int32")) -> R.Tensor((), "int32"):
            R.print(a, format="{}")
            return a

        return (show(x), show(R.add(x, x)), show(R.const(0)))

    compiled(f)(np.int32(1))
    assert capsys.readouterr().out.split() == ["1", "2", "0"]


# ---------------------------------------------------------------- "Notable Operators"


def test_a_prim_func_is_called_with_arguments_then_integers_then_new_outputs():
    @I.ir_module
    class Module:
        @T.prim_func
        def scale(x: T.Buffer((4,), "float32"), k: T.int64, y: T.Buffer((4,), "float32")):
            for i in range(4):
                y[i] = x[i] * T.Cast("float32", k)

        @R.function
        def main(x: R.Tensor(("n",), "float32")):
            n = T.int64()
            cls = Module
            z = R.match_cast(x, R.Tensor((4,), "float32"))
            with R.dataflow():
                y = R.call_tir(
                    cls.scale, (z,), out_sinfo=R.Tensor((4,), "float32"), tir_vars=R.shape([n])
                )
                R.output(y)
            return (x, y)

    x, y = relax.jit(Module).main(np.ones(4, "float32"))
    assert (x.tolist(), y.tolist()) == ([1.0] * 4, [4.0] * 4)


def test_a_packed_function_may_write_into_new_outputs():
    def split(x, low, high):
        low[...], high[...] = x[: len(low)], x[len(low) :]

    relax.register_func("spec.split", split, override=True)

    @R.function
    def f(x: R.Tensor((3,), "float32")):
        with R.dataflow():
            pair = R.call_dps_packed(
                "spec.split", (x,),
                out_sinfo=[R.Tensor((1,), "float32"), R.Tensor((2,), "float32")],
            )
            R.output(pair)
        return pair

    low, high = compiled(f)(np.arange(3, dtype="float32"))
    assert (low.tolist(), high.tolist()) == ([0.0], [1.0, 2.0])
