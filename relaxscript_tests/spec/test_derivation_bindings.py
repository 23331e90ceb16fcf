""" "Derivation Rules" 11: parameters, bindings with and without annotations, and match_cast."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as relax
from relaxscript.errors import RelaxWarning
from relaxscript.script import from_source, relax as R, tir as T
from relaxscript.testing import rejected

from .rules import accepts, rejects, symbolic

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


def known(f, name):
    """What is known of the variable of that name."""
    blocks = f.body.blocks
    return next(repr(b.var.struct_info) for k in blocks for b in k.bindings if b.var.name == name)


def compiled(f):
    return relax.jit(relax.IRModule({"f": f})).f


# ---------------------------------------------------------------- 11.1: parameters


@accepts("derivation 11.1")
@symbolic("derivation 11.1")
def test_a_parameter_is_what_its_annotation_says_and_brings_its_dimensions():
    @R.function
    def f(x: R.Tensor(("n", "m"), "float32"), k: R.Prim(value="k")):
        n, m, k = T.int64(), T.int64(), T.int64()
        return R.shape([n, m, k])

    assert repr(f.params[0].struct_info) == 'R.Tensor((n, m), "float32")'
    assert compiled(f)(np.ones((2, 3), "float32"), 7) == (2, 3, 7)


@accepts("derivation 11.1")
@rejected
def test_a_parameter_without_annotation_is_an_object_and_a_warning_says_so():
    @R.function
    def f(x):
    #     ^ warning: RX0209 the parameter `x` has no annotation: it is taken as `R.Object`
    #       fix: x: R.Object
        return x


# ---------------------------------------------------------------- 11.2.1, 11.2.2: what is bound


@accepts("derivation 11.2.1")
def test_a_local_function_that_declares_its_result_may_call_itself():
    @R.function
    def f(n: R.Tensor((), "int64")):
        @R.function
        def double(a: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            if a == R.const(0, "int64"):
                b = a
            else:
                less = double(a - R.const(1, "int64"))
                b = less + R.const(2, "int64")
            return b

        return double(n)

    assert compiled(f)(np.int64(5)) == 10
    info = f.body.blocks[0].bindings[0].var.struct_info
    assert repr(info.ret) == 'R.Tensor((), "int64")'


@rejects("derivation 11.2.1")
@rejected
def test_a_local_function_does_not_give_another_result_than_it_declares():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        @R.function
        def g(a: R.Tensor((4,), "float32")) -> R.Tensor((5,), "float32"):
        #                                      ------------------------- label: declared here
            return R.exp(a)
            #      ^^^^^^^^ error: RX0205 the result does not fit the return annotation
            #      -------- label: dimension 0 is `4`, not `5`

        return g(x)


@rejects("derivation 11.2.1")
def test_a_function_that_is_bound_by_hand_fits_what_is_known_of_its_variable():
    f4, f5 = (relax.TensorStructInfo((n,), "float32") for n in (4, 5))
    x, a = relax.Var("x", f4), relax.Var("a", f4)
    inner = relax.Function([a], relax.SeqExpr([], a), f4)

    def program(result):
        g = relax.Var("g", relax.FuncStructInfo([f4], result))
        block = relax.BindingBlock([relax.VarBinding(g, inner)])
        return relax.Function([x], relax.SeqExpr([block], x), f4)

    assert relax.analysis.well_formed(program(f4))
    (found,) = relax.analysis.ill_formed(program(f5))
    assert (found.code, found.message) == ("RX0205", "the value does not fit the annotation")


@accepts("derivation 11.2.2", "derivation 11.2.4")
def test_a_variable_without_annotation_is_what_its_value_is():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.permute_dims(x)
        t = (y, x)
        z = t
        return z

    assert known(f, "z") == 'R.Tuple(R.Tensor((3, 2), "float32"), R.Tensor((2, 3), "float32"))'


# ---------------------------------------------------------------- 11.2.3: annotated bindings


@accepts("derivation 11.2.3")
@symbolic("derivation 11.2.3")
def test_an_annotation_that_says_less_is_respected():
    @R.function
    def f(x: R.Tensor(("n",), "float32")):
        y: R.Tensor(ndim=1) = x
        t: R.Tuple(R.Object, R.Tensor) = (x, x)
        z: R.Object = R.exp(x)
        s: R.Shape(ndim=1) = R.shape_of(x)
        return (y, t, z, s)

    assert repr(f.ret_struct_info) == (
        "R.Tuple(R.Tensor(ndim=1), R.Tuple(R.Object, R.Tensor), R.Object, R.Shape(ndim=1))"
    )


@accepts("derivation 11.2.3")
@symbolic("derivation 11.2.3")
def test_an_annotation_that_says_the_same_in_other_words_is_taken():
    @R.function
    def f(x: R.Tensor(("n", 2), "float32")):
        n = T.int64()
        y: R.Tensor((n + n,), "float32") = R.reshape(x, (n * 2,))
        return y

    assert repr(f.ret_struct_info) == 'R.Tensor((n + n,), "float32")'


@rejects("derivation 11.2.3")
@symbolic("derivation 11.2.3")
@rejected
def test_an_annotation_that_says_more_is_a_warning_that_a_cast_settles():
    @R.function
    def f(x: R.Tensor(ndim=1, dtype="float32"), z: R.Tensor(("n",), "float32")):
        y: R.Tensor(("n",), "float32") = x
        #                                ^ warning: RX0207 the shape is unknown, and `(n,)` is
        #        | needed; it is
        #                                | checked when the program runs
        #                                help: write `R.match_cast(x, R.Tensor(("n",), "float32"))`
        #                                fix: R.match_cast(
        #                                fix: , R.Tensor(("n",), "float32"))
        return R.add(y, z)


@rejects("derivation 11.2.3")
def test_an_annotation_that_says_more_is_checked_when_the_program_runs():
    text = """
@R.function
def f(x: R.Tensor(ndim=1, dtype="float32")):
    y: R.Tensor((4,), "float32") = x
    return y
"""
    with pytest.warns(RelaxWarning, match="the shape is unknown"):
        f = from_source(text)
    run = compiled(f)
    assert run(np.ones(4, "float32")).shape == (4,)
    with pytest.raises(relax.VMError, match="is 5; must be 4"):
        run(np.ones(5, "float32"))


@rejects("derivation 11.2.3")
def test_what_only_possibly_fits_is_refused_by_the_strict():
    text = """
@R.function
def f(x: R.Tensor(("n",)), y: R.Tensor(("m",))) -> R.Tensor(("m",)):
    z: R.Tensor(("m",)) = x
    return x
"""
    with relax.config(strict=True), pytest.raises(relax.DiagnosticError) as raised:
        from_source(text)
    found = raised.value.diagnostics
    assert [(d.code, d.severity, d.span.line, bool(d.fix)) for d in found] == [
        ("RX0207", "error", 4, True), ("RX0207", "error", 5, True),
    ]  # fmt: skip


@rejects("derivation 11.2.3")
@symbolic("derivation 11.2.3")
@rejected
def test_an_annotation_that_contradicts_the_value_is_refused():
    @R.function
    def f(x: R.Tensor(("n",), "float32"), t: R.Tuple(R.Object)):
        n = T.int64()
        a: R.Tensor((n + 1,), "float32") = x
        #                                  ^ error: RX0205 the value does not fit the annotation
        b: R.Tensor((n,), "int32") = R.exp(x)
        #                            ^^^^^^^^ error: RX0205 the value does not fit the annotation
        c: R.Shape = x
        #            ^ error: RX0205 the value does not fit the annotation
        d: R.Tuple(R.Object, R.Object) = t
        #                                ^ error: RX0205 the value does not fit the annotation
        return a


@rejects("derivation 11.2.3")
@rejected
def test_of_an_object_nothing_is_assumed_before_it_is_cast():
    @R.function
    def f(x: R.Object):
        y: R.Tensor((4,), "float32") = x
        #                              ^ error: RX0205 the value does not fit the annotation
        #                                help: write `R.match_cast(x, R.Tensor((4,), "float32"))`
        #                                fix: R.match_cast(
        #                                fix: , R.Tensor((4,), "float32"))
        return y


# ---------------------------------------------------------------- 11.3: match_cast


@accepts("derivation 11.3.1", "derivation 11.3.2", "derivation 11.3.5")
@symbolic("derivation 11.3.2")
def test_a_cast_binds_new_dimensions_and_is_what_it_says():
    @R.function
    def f(x: R.Object):
        n, m = T.int64(), T.int64()
        t = R.match_cast(x, R.Tuple(R.Tensor((n, m), "float32"), R.Shape([m, n + 1])))
        return (t[0], R.shape([n * m]))

    assert known(f, "t") == 'R.Tuple(R.Tensor((n, m), "float32"), R.Shape([m, n + 1]))'
    run = compiled(f)
    assert run((np.ones((2, 3), "float32"), relax.runtime.values.Shape((3, 3))))[1] == (6,)
    with pytest.raises(relax.VMError, match=r"must be `n \+ 1` with `n = 2`"):
        run((np.ones((2, 3), "float32"), relax.runtime.values.Shape((3, 4))))


@accepts("derivation 11.3.2")
@symbolic("derivation 11.3.2")
def test_both_branches_may_bind_a_dimension_of_one_name():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor(ndim=1), y: R.Tensor(ndim=1)):
        m = T.int64()
        if c:
            a = R.match_cast(x, R.Tensor((m,)))
            s = R.shape([m + 1])
        else:
            b = R.match_cast(y, R.Tensor((m,)))
            s = R.shape([m + 2])
        return s

    run = compiled(f)
    x, y = np.ones(3, "float32"), np.ones(5, "float32")
    assert run(np.True_, x, y) == (4,)
    assert run(np.False_, x, y) == (7,)


@accepts("derivation 11.3.3")
@symbolic("derivation 11.3.3")
def test_a_cast_that_can_succeed_is_silent():
    @R.function
    def f(x: R.Tensor(("n",), "float32"), o: R.Object):
        n, m = T.int64(), T.int64()
        always = R.match_cast(x, R.Tensor(ndim=1))
        perhaps = R.match_cast(x, R.Tensor((4,), "float32"))
        bound = R.match_cast(o, R.Tensor((m, n)))
        return (always, perhaps, bound)

    assert len(f.body.blocks[0].bindings) == 3


@rejects("derivation 11.3.3")
@symbolic("derivation 11.3.3")
@rejected
def test_a_cast_that_always_fails_is_a_warning():
    @R.function
    def f(x: R.Tensor(("n",), "float32"), t: R.Tuple(R.Object)):
        n = T.int64()
        a = R.match_cast(x, R.Tensor((n + 1,), "float32"))
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ warning: RX0205 this match_cast can never
        #   | succeed: dimension 0 is `n`, not `n + 1`
        b = R.match_cast(x, R.Tensor((n,), "int32"))
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ warning: RX0205 this match_cast can never
        #        | succeed: the
        #   | dtype is float32, not int32
        c = R.match_cast(t, R.Tuple)
        #   ^^^^^^^^^^^^^^^^^^^^^^^^ warning: RX0205 this match_cast can never succeed: it has 1
        #        | field, not 0
        return (a, b, c)


@rejects("derivation 11.3.3")
def test_a_cast_that_always_fails_is_a_warning_even_for_the_strict_and_fails_when_it_runs():
    text = """
@R.function
def f(x: R.Tensor((4,), "float32")):
    y = R.match_cast(x, R.Tensor((5,), "float32"))
    return y
"""
    with relax.config(strict=True), pytest.warns(RelaxWarning, match="can never succeed"):
        f = from_source(text)
    with pytest.raises(relax.VMError, match="is 4; must be 5"):
        compiled(f)(np.ones(4, "float32"))


@accepts("derivation 11.3.4")
@symbolic("derivation 11.3.4")
def test_an_annotation_beside_a_cast_that_says_less_is_respected():
    @R.function
    def f(x: R.Object):
        n = T.int64()
        y: R.Tensor(ndim=1) = R.match_cast(x, R.Tensor((n,), "float32"))
        return (y, R.shape([n]))

    assert known(f, "y") == "R.Tensor(ndim=1)"
    (cast,) = f.body.blocks[0].bindings
    assert repr(cast.struct_info) == 'R.Tensor((n,), "float32")'
    assert relax.ir.structural_equal(from_source(f.script()), f)
    assert compiled(f)(np.ones(3, "float32"))[1] == (3,)


@rejects("derivation 11.3.4")
@rejected
def test_an_annotation_beside_a_cast_that_contradicts_it_is_refused():
    @R.function
    def f(x: R.Object):
        y: R.Tensor(ndim=2) = R.match_cast(x, R.Tensor((4,), "float32"))
        #  ---------------- label: declared here
        #                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0205 the value
        #        | does not
        #                     | fit the annotation
        #                     ------------------------------------------ label: the rank is 1, not 2
        return y


@rejects("derivation 11.3.4")
@symbolic("derivation 11.3.4")
@rejected
def test_an_annotation_beside_a_cast_that_says_more_than_the_cast_is_refused():
    @R.function
    def f(x: R.Object, z: R.Tensor(("n",), "float32")):
        n = T.int64()
        y: R.Tensor((n,), "float32") = R.match_cast(x, R.Tensor((4,), "float32"))
        #                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0205 the
        #        | value does not fit the annotation
        #                              help: it is `R.Tensor((4,), "float32")`, declared as
        #        | `R.Tensor((n,), "float32")`
        return y
