""" "Derivation Rules" 14 and "Checking Purity": calls of operators, functions and PackedFuncs."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as relax
from relaxscript.analysis import contains_impure_call, detect_recursion
from relaxscript.errors import RelaxWarning, apply_fixes
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing import rejected

from .rules import accepts, rejects, symbolic

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


def result(f):
    """What a function declares as its result, which was derived."""
    return repr(f.ret_struct_info)


# ---------------------------------------------------------------- 14.1: operators


@accepts("derivation 14.1.1")
@symbolic("derivation 14.1.1")
def test_the_result_of_an_operator_is_what_its_rule_derives():
    @R.function
    def f(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, "m"), "float32")):
        return (R.matmul(x, w), R.sum(x, axis=0), R.reshape(x, (-1,)))

    assert [repr(info) for info in f.ret_struct_info.fields] == [
        'R.Tensor((n, m), "float32")', 'R.Tensor((4,), "float32")', 'R.Tensor((n * 4,), "float32")',
    ]  # fmt: skip


@rejects("derivation 14.1.1")
@symbolic("derivation 14.1.1")
@rejected
def test_operands_that_the_rule_of_an_operator_refuses():
    @R.function
    def f(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n + 1", 4), "float32")):
        return R.matmul(x, y)
        #                  ^ error: RX0203 `R.matmul` cannot multiply these operands


@accepts("derivation 14.1.2")
def test_a_pure_operator_may_be_called_anywhere_and_an_impure_one_in_impure_functions():
    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        R.print(y, format="{}")
        return y

    assert contains_impure_call(f)
    assert not f.is_pure


@accepts("derivation 14.1.2")
def test_impure_calls_are_disregarded_where_purity_is_forced():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        R.func_attr({"relax.force_pure": True})
        R.print(x, format="{}")
        return x

    assert f.struct_info.purity


@rejects("derivation 14.1.2")
@rejected
def test_an_impure_operator_cannot_be_called_in_a_pure_function():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        R.print(x, format="{}")
        # <^^^^^^ error: RX0401 `R.print` is impure and cannot be called in a pure function
        #   help: declare the function impure: `@R.function(pure=False)`, or vouch for it:
        #   | `R.func_attr({"relax.force_pure": True})`
        return x


@rejects("derivation 14.1.2")
@rejected
def test_an_impure_operator_cannot_be_called_in_a_dataflow_block_not_even_where_purity_is_forced():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        R.func_attr({"relax.force_pure": True})
        with R.dataflow():
            R.print(x, format="{}")
            # <^^^^^^ error: RX0402 `R.print` is impure and cannot be called in a dataflow block
            #   help: move it out of the dataflow block
            y = R.exp(x)
            R.output(y)
        return y


# ---------------------------------------------------------------- 14.2.1 to 14.2.3: callees


@accepts("derivation 14.2.2.2")
def test_the_result_of_a_packed_function_is_what_the_call_says():
    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
        nothing = R.call_packed("p", x)
        one = R.call_packed("p", x, sinfo_args=R.Tensor((2,), "float32"))
        two = R.call_packed("p", x, sinfo_args=[R.Shape([3]), R.Object])
        return (nothing, one, two)

    assert [repr(info) for info in f.ret_struct_info.fields] == [
        "R.Object", 'R.Tensor((2,), "float32")', "R.Tuple(R.Shape([3]), R.Object)",
    ]  # fmt: skip


@accepts("derivation 14.2.2.2")
def test_the_result_of_a_packed_function_is_derived_by_its_own_derivation():
    @R.function(pure=False)
    def f(p: R.Callable(ret=R.Shape([3])), q: R.Callable, x: R.Tensor((4,), "float32")):
        return (p(x), q(x, sinfo_args=R.Shape([4])))

    assert result(f) == "R.Tuple(R.Shape([3]), R.Object)"


@rejects("derivation 14.2.1")
@rejected
def test_only_functions_are_called():
    @R.function
    def f(x: R.Tensor((4,), "float32"), g: R.Object):
        y = x(x)
        #   ^ error: RX0201 `x` is a tensor, and only functions can be called
        z = g(x)
        #   ^ error: RX0201 `g` is an object of unknown kind, and only functions can be called
        return (y, z)


@rejects("derivation 14.2.2.1")
@rejected
def test_a_packed_function_is_impure_unless_the_call_says_otherwise():
    @R.function
    def f(x: R.Tensor((4,), "float32"), p: R.Callable(ret=R.Object)):
        a = R.call_packed("p", x, sinfo_args=R.Object)
        #   ^^^^^^^^^^^^^ error: RX0401 `p` is impure and cannot be called in a pure function
        #     help: if it has no side effects, call it by `R.call_pure_packed`; else declare the
        #     | function impure: `@R.function(pure=False)`
        b = p(x)
        #   ^ error: RX0401 `p` is impure and cannot be called in a pure function
        with R.dataflow():
            c = R.call_packed("p", x, sinfo_args=R.Object)
            #   ^^^^^^^^^^^^^ error: RX0402 `p` is impure and cannot be called in a dataflow block
            #     help: if it has no side effects, call it by `R.call_pure_packed`; else move it out
            #     | of the dataflow block
            R.output(c)
        return (a, b, c)


@accepts("derivation 14.2.2.1")
def test_a_packed_function_that_the_call_vouches_for_may_stand_in_a_dataflow_block():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.call_pure_packed("p", x, sinfo_args=R.Tensor((2,), "float32"))
            R.output(y)
        return y

    assert result(f) == 'R.Tensor((2,), "float32")'
    assert not contains_impure_call(f)


@accepts("derivation 14.2.1", "derivation 14.2.3")
def test_a_pure_function_may_be_called_by_pure_ones():
    @I.ir_module
    class Module:
        @R.function(private=True)
        def g(x: R.Tensor((4,), "float32")):
            return R.exp(x)

        @R.function
        def main(x: R.Tensor((4,), "float32"), h: R.Callable((R.Tensor,), R.Tensor, True)):
            cls = Module
            with R.dataflow():
                y = cls.g(x)
                z = h(y)
                R.output(z)
            return z

    assert not contains_impure_call(Module["main"], module=Module)


@rejects("derivation 14.2.3")
@rejected
def test_an_impure_function_cannot_be_called_by_a_pure_one():
    @I.ir_module
    class Module:
        @T.prim_func
        def fill(x: T.Buffer((4,), "float32")):
            for i in range(4):
                x[i] = T.float32(0)

        @R.function(pure=False)
        def g(x: R.Tensor((4,), "float32")):
            R.print(x, format="{}")
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32"), h: R.Callable((R.Object,), R.Object, False)):
            cls = Module
            y = cls.g(x)
            #   ^^^^^ error: RX0401 `g` is impure and cannot be called in a pure function
            z = h(x)
            #   ^ error: RX0401 `h` is impure and cannot be called in a pure function
            cls.fill(x)
            # <^^^^^^^ error: RX0401 `fill` is impure and cannot be called in a pure function
            return (y, z)


def test_recursion_and_impurity_are_found_by_the_analyses():
    @I.ir_module
    class Module:
        @R.function(pure=False)
        def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            cls = Module
            R.print(x, format="{}")
            return cls.g(x)

        @R.function(pure=False)
        def g(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            cls = Module
            return cls.f(x)

        @R.function
        def h(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return R.exp(x)

    groups = [sorted(var.name_hint for var in group) for group in detect_recursion(Module)]
    assert groups == [["f", "g"]]
    assert contains_impure_call(Module["f"], module=Module)
    assert not contains_impure_call(Module["h"], module=Module)


# ---------------------------------------------------------------- 14.2.4 to 14.2.7: arguments


@accepts("derivation 14.2.4")
def test_a_call_has_as_many_arguments_as_parameters():
    @R.function
    def f(g: R.Callable((), R.Object), h: R.Callable((R.Object, R.Object), R.Object)):
        return h(g(), g)

    assert result(f) == "R.Object"


@rejects("derivation 14.2.4")
@rejected
def test_a_call_cannot_have_another_number_of_arguments():
    @R.function
    def f(g: R.Callable((R.Object, R.Object), R.Object), x: R.Object):
        a = g(x)
        #   ^ error: RX0206 `g` takes 2 arguments, not 1
        b = g(x, x, x)
        #   ^ error: RX0206 `g` takes 2 arguments, not 3
        return (a, b)


@accepts("derivation 14.2.5", "derivation 14.2.6", "derivation 14.2.7")
@symbolic("derivation 14.2.5", "derivation 14.2.6", "derivation 14.2.7")
def test_dimensions_of_parameters_are_matched_against_arguments_and_substituted_in_the_result():
    @I.ir_module
    class Module:
        @R.function
        def g(
            x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("m",), "float32"), k: R.Prim(value="k")
        ) -> R.Tuple(R.Tensor(("n * m + k",), "float32"), R.Shape(["m", "m"])):
            n, m, k = T.int64(), T.int64(), T.int64()
            return (R.zeros((n * m + k,), "float32"), R.shape([m, m]))

        @R.function
        def main(a: R.Tensor(("p", 3), "float32"), b: R.Tensor((3,), "float32")):
            cls = Module
            return cls.g(a, b, R.prim_value(2))

    expected = 'R.Tuple(R.Tensor((p * 3 + 2,), "float32"), R.Shape([3, 3]))'
    assert result(Module["main"]).replace('("p * 3 + 2",)', "(p * 3 + 2,)") == expected
    a, b = np.ones((5, 3), "float32"), np.ones(3, "float32")
    assert relax.jit(Module).main(a, b)[0].shape == (17,)


@accepts("derivation 14.2.7")
@symbolic("derivation 14.2.7")
def test_dimensions_that_no_argument_tells_are_forgotten_in_the_result():
    @R.function
    def f(g: R.Callable((R.Tensor(("n",)),), R.Tensor(("n",), "float32")), x: R.Tensor((4,))):
        return g(x)

    assert result(f) == 'R.Tensor((4,), "float32")'
    text = """
@R.function
def f(g: R.Callable((R.Tensor(("n",)),), R.Tensor(("n",), "float32")), x: R.Tensor(ndim=1)):
    return g(x)
"""
    with pytest.warns(RelaxWarning, match="the shape is unknown"):
        f = from_source(text)
    assert result(f) == 'R.Tensor(dtype="float32", ndim=1)'


@rejects("derivation 14.2.6")
@symbolic("derivation 14.2.6")
@rejected
def test_arguments_that_contradict_each_other_or_the_parameters_are_refused():
    @I.ir_module
    class Module:
        @R.function
        def g(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n + 1",), "float32")) -> R.Object:
            return (x, y)

        @R.function
        def main(a: R.Tensor(("p",), "float32"), b: R.Tensor((2,), "float32"), o: R.Object):
            cls = Module
            u = cls.g(a, a)
            #            ^ error: RX0206 argument 2 does not fit the function's parameter
            #              help: the parameter is `R.Tensor((p + 1,), "float32")`
            v = cls.g(b, b)
            #            ^ error: RX0206 argument 2 does not fit the function's parameter
            w = cls.g(R.shape([2]), b)
            #         ^^^^^^^^^^^^ error: RX0206 argument 1 does not fit the function's parameter
            z = cls.g(b, o)
            #            ^ error: RX0206 argument 2 does not fit the function's parameter
            #              help: write `R.match_cast(o, R.Tensor((3,), "float32"))`
            return (u, v, w, z)


@rejects("derivation 14.2.6")
@symbolic("derivation 14.2.6")
@rejected
def test_an_argument_that_may_not_fit_is_a_warning_that_a_cast_settles():
    @I.ir_module
    class Module:
        @R.function
        def g(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")) -> R.Object:
            return (x, y)

        @R.function
        def main(a: R.Tensor(("p",), "float32"), b: R.Tensor(("q",), "float32"), c: R.Tensor):
            cls = Module
            u = cls.g(a, R.exp(b))
            #            ^^^^^^^^ warning: RX0207 dimension 0 is `q`, which is not known to be `p`;
            #        | it is
            #            | checked when the program runs
            #            help: write `R.match_cast(R.exp(b), R.Tensor(("p",), "float32"))`
            #            fix: R.match_cast(
            #            fix: , R.Tensor(("p",), "float32"))
            v = cls.g(a, c)
            #            ^ warning: RX0207 the dtype is unknown, and float32 is needed; it is
            #        | checked when
            #            | the program runs
            #            help: write `R.match_cast(c, R.Tensor(("p",), "float32"))`
            return (u, v)


@rejects("derivation 14.2.6")
@symbolic("derivation 14.2.6")
def test_a_dimension_that_only_the_callee_knows_is_declared_before_the_cast():
    text = """
@I.ir_module
class Module:
    @R.function
    def g(x: R.Tensor(("n",)), y: R.Tensor(("n",))) -> R.Tensor(("n",)):
        return R.add(x, y)

    @R.function
    def main(n: R.Tensor(ndim=1)):
        cls = Module
        return cls.g(n, n)
"""
    with pytest.warns(RelaxWarning) as caught:
        from_source(text)
    found = [w.message.diagnostic for w in caught]
    assert len(found) == 2
    cast = 'R.match_cast(n, R.Tensor(("n_1",)))'
    assert {d.help for d in found} == {f"write `n_1 = T.int64()`, and then `{cast}`"}
    mended = apply_fixes(found[0].span.source, found)
    assert f"        n_1 = T.int64()\n        return cls.g({cast}, {cast})\n" in mended
    assert result(from_source(mended)["main"]) == "R.Tensor(ndim=1)"


@rejects("derivation 14.2.6")
def test_an_argument_that_may_not_fit_is_checked_when_the_program_runs():
    text = """
@I.ir_module
class Module:
    @R.function
    def g(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        cls = Module
        return cls.g(x)
"""
    with pytest.warns(RelaxWarning, match="dimension 0 is `n`"):
        mod = from_source(text)
    run = relax.jit(mod).main
    assert run(np.ones(4, "float32")).shape == (4,)
    with pytest.raises(relax.VMError, match=r"`x\.shape\[0\]` is 5; must be 4"):
        run(np.ones(5, "float32"))
    with relax.config(strict=True), pytest.raises(relax.DiagnosticError) as raised:
        from_source(text)
    (found,) = raised.value.diagnostics
    assert (found.code, found.severity, found.span.text) == ("RX0207", "error", "x")


@accepts("derivation 14.2.6")
def test_a_pure_function_is_taken_where_an_impure_one_is_expected_and_not_the_other_way_round():
    text = """
@R.function(pure=False)
def f(g: R.Callable((R.Callable((R.Object,), R.Object, {wanted}),), R.Object, True),
      h: R.Callable((R.Object,), R.Object, {given})):
    return g(h)
"""
    assert not from_source(text.format(wanted=False, given=True)).is_pure
    with pytest.raises(relax.DiagnosticError, match="RX0206"):
        from_source(text.format(wanted=True, given=False))
