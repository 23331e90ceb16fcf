""" "Derivation Rules" 1 to 10, 12 and 13: what is known of each kind of expression."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as relax
from relaxscript.analysis import derive_struct_info, well_formed
from relaxscript.errors import OperandError
from relaxscript.ir.struct_info import default_derive
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing import rejected

from .rules import accepts, rejects, symbolic

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


def result(f):
    """What a function declares as its result, which was derived."""
    return repr(f.ret_struct_info)


def known(f, name):
    """What is known of the variable of that name."""
    blocks = f.body.blocks
    return next(repr(b.var.struct_info) for k in blocks for b in k.bindings if b.var.name == name)


# ---------------------------------------------------------------- 1, 2: variables


@accepts("derivation 1", "derivation 2")
def test_functions_that_call_each_other_are_known_by_their_annotations():
    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor(("n",), "float32")) -> R.Tensor(ndim=1):
            cls = Module
            y = cls.g(x)
            return y

        @R.function
        def g(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            n = T.int64()
            cls = Module
            y = cls.f(x)
            return R.match_cast(y, R.Tensor((n,), "float32"))

    assert known(Module["f"], "y") == 'R.Tensor((n,), "float32")'
    assert known(Module["g"], "y") == "R.Tensor(ndim=1)"


@accepts("derivation 1")
def test_functions_without_declared_result_are_derived_before_their_callers():
    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor(("n",), "float32")):
            cls = Module
            y = cls.g(x)
            return y

        @R.function
        def g(x: R.Tensor(("n",), "float32")):
            return (x, R.exp(x))

    expected = 'R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("n",), "float32"))'
    assert result(Module["f"]).replace("(n,)", '("n",)') == expected


@rejects("derivation 1")
@rejected
def test_functions_that_call_each_other_are_not_known_without_annotations():
    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor((4,), "float32")):
        #   ^ error: RX0308 `f` is recursive (through `g`) and has no return annotation
            cls = Module
            return cls.g(x)

        @R.function
        def g(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            cls = Module
            return cls.f(x)


@accepts("derivation 2")
def test_a_variable_is_what_it_was_bound_to():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            lv = R.reshape(x, (2, 2))
            gv = lv
            R.output(gv)
        y = gv
        return y

    assert result(f) == 'R.Tensor((2, 2), "float32")'


# ---------------------------------------------------------------- 3 to 6: leaves

LEAVES = {
    "R.const(1)": 'R.Tensor((), "int32")',
    "R.const([1.0, 2.0])": 'R.Tensor((2,), "float32")',
    'R.const([[1, 2, 3]], "int8")': 'R.Tensor((1, 3), "int8")',
    "R.prim_value(3)": "R.Prim(value=3)",
    "R.prim_value(1.5)": "R.Prim(value=T.float64(1.5))",
    "R.prim_value(True)": "R.Prim(value=True)",
    'R.str("text")': "R.Object",
    'R.dtype("float32")': "R.Object",
}


@accepts("derivation 3", "derivation 4", "derivation 5", "derivation 6")
@pytest.mark.parametrize("leaf", LEAVES)
def test_a_leaf_is_what_it_holds(leaf):
    f = from_source(f"@R.function\ndef f():\n    return {leaf}")
    assert result(f) == LEAVES[leaf]


@accepts("derivation 3")
def test_a_constant_has_the_shape_and_data_type_of_its_array():
    info = derive_struct_info(relax.Constant(np.zeros((2, 0, 3), "uint8")))
    assert repr(info) == 'R.Tensor((2, 0, 3), "uint8")'


# ---------------------------------------------------------------- 7, 8: tuples and shapes


@accepts("derivation 7", "derivation 8")
@symbolic("derivation 7", "derivation 8")
def test_tuples_and_shapes_are_what_their_parts_are():
    @R.function
    def f(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        return (x, (R.shape([n, n * 4]), ()))

    tensor, inner = 'R.Tensor((n, 4), "float32")', "R.Tuple(R.Shape([n, n * 4]), R.Tuple)"
    assert result(f) == f"R.Tuple({tensor}, {inner})"


# ---------------------------------------------------------------- 9: choices

CHOICES = {
    ("R.exp(x)", "R.sin(x)"): 'R.Tensor((n, 4), "float32")',
    ("R.exp(x)", "R.zeros((n, 5), 'float32')"): 'R.Tensor(dtype="float32", ndim=2)',
    ("R.zeros((n + n, 1), 'int8')", "R.zeros((n * 2, 1), 'int8')"): 'R.Tensor((n + n, 1), "int8")',
    ("R.exp(x)", "R.sum(x)"): 'R.Tensor(dtype="float32")',
    ("R.exp(x)", 'R.astype(x, "int8")'): "R.Tensor((n, 4))",
    ("R.shape([n])", "R.shape([n + 1])"): "R.Shape(ndim=1)",
    ("R.shape([n])", "R.shape([n, n])"): "R.Shape",
    ("(x, R.shape([n]))", "(x, x)"): 'R.Tuple(R.Tensor((n, 4), "float32"), R.Object)',
    ("(x,)", "(x, x)"): "R.Object",
    ("R.prim_value(n)", "R.prim_value(n + 1)"): 'R.Prim("int64")',
}


@accepts("derivation 9")
@symbolic("derivation 9")
@pytest.mark.parametrize("yes", CHOICES)
def test_a_choice_is_what_both_branches_are(yes):
    body = "if c:\n        y = {}\n    else:\n        y = {}\n    return y".format(*yes)
    head = 'c: R.Tensor((), "bool"), x: R.Tensor(("n", 4), "float32")'
    f = from_source(f"@R.function\ndef f({head}):\n    n = T.int64()\n    {body}")
    assert known(f, "y") == CHOICES[yes]
    assert well_formed(f)


@rejects("derivation 9")
@rejected
def test_a_choice_gives_nothing_that_one_branch_does_not_give():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            y = x
        else:
            y = R.shape([4])
        return R.exp(y)
        #            ^ error: RX0201 `R.exp` cannot take these operands


@accepts("derivation 9")
def test_a_choice_of_a_pure_and_an_impure_function_is_impure():
    @R.function
    def f(
        c: R.Tensor((), "bool"),
        g: R.Callable((R.Object,), R.Object, True),
        h: R.Callable((R.Object,), R.Object, False),
    ):
        if c:
            y = g
        else:
            y = h
        return y

    assert f.ret_struct_info.purity is False


# ---------------------------------------------------------------- 10: sequences


@accepts("derivation 10.1")
def test_what_a_dataflow_block_binds_is_gone_behind_it():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.exp(x)
            z = R.sin(y)
            R.output(z)
        with R.dataflow():
            y = R.reshape(z, (2, 2))
            w = y
            R.output(w)
        return w

    assert result(f) == 'R.Tensor((2, 2), "float32")'


@pytest.mark.slow
@rejects("derivation 10.1")
@rejected
def test_what_a_dataflow_block_binds_cannot_be_used_by_the_next_one():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.exp(x)
            z = R.sin(y)
            R.output(z)
        with R.dataflow():
            w = R.cos(y)
            #         ^ error: RX0107 `y` is used outside its dataflow block
            R.output(w)
        return w


@accepts("derivation 10.4")
@symbolic("derivation 10.4")
def test_what_a_branch_gives_is_known_outside_without_its_own_dimensions():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32"), y: R.Tensor(ndim=1)):
        n, m = T.int64(), T.int64()
        if c:
            own = R.match_cast(y, R.Tensor((m,), "float32"))
            z = R.concat((own, own), axis=0)
        else:
            z = R.concat((x, x), axis=0)
        return (z, x)

    assert result(f) == 'R.Tuple(R.Tensor(dtype="float32", ndim=1), R.Tensor((n,), "float32"))'


@accepts("derivation 10.4")
def test_what_a_branch_gives_is_known_outside_without_its_own_shapes():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor(ndim=1, dtype="float32")):
        if c:
            s = R.shape_of(x)
            z: R.Tensor(s, "float32") = R.match_cast(x, R.Tensor(s, "float32"))
        else:
            z = x
        return z

    assert known(f, "z") == 'R.Tensor(dtype="float32", ndim=1)'


# ---------------------------------------------------------------- 12: indices into tuples


@accepts("derivation 12.4")
def test_an_index_gives_the_field():
    @R.function
    def f(t: R.Tuple(R.Tensor((2,)), R.Shape([3]), R.Tuple(R.Object))):
        return (t[1], t[2][0], t[0])

    assert result(f) == "R.Tuple(R.Shape([3]), R.Object, R.Tensor((2,)))"


@accepts("derivation 12.3")
def test_a_negative_index_counts_from_the_end_as_in_python():
    @R.function
    def f(t: R.Tuple(R.Tensor((2,)), R.Shape([3]))):
        return (t[-1], t[-2])

    assert result(f) == "R.Tuple(R.Shape([3]), R.Tensor((2,)))"


@accepts("derivation 12.2")
def test_the_dimensions_of_a_shape_are_not_its_fields():
    @R.function
    def f(s: R.Shape(["n", 4])):
        n = T.int64()
        return R.shape([s[0], s[1] + n])

    assert result(f) == "R.Shape([n, 4 + n])"


@rejects("derivation 12.2")
@rejected
def test_what_is_no_tuple_has_no_fields():
    @R.function
    def f(t: R.Object, p: R.Prim("int64")):
        a = t[0]
        #   ^^^^ error: RX0208 `t` is an object of unknown kind, and only a tuple can be indexed
        #        help: check it first: `R.match_cast(t, R.Tuple(...))`
        b = p[0]
        #   ^^^^ error: RX0208 `p` is a scalar, and only a tuple can be indexed
        return (a, b)


@rejects("derivation 12.3")
@rejected
def test_a_tuple_has_no_more_fields_than_it_has():
    @R.function
    def f(t: R.Tuple(R.Tensor((2,)), R.Shape([3]))):
        a = t[2]
        #     ^ error: RX0208 the tuple has no field 2
        b = t[-3]
        #     ^^ error: RX0208 the tuple has no field -3
        return (a, b)


@rejects("derivation 12.3")
def test_a_node_made_by_hand_counts_from_zero():
    t = relax.Var("t", relax.TupleStructInfo([relax.ShapeStructInfo((3,))]))
    with pytest.raises(ValueError, match="counts from 0; -1 is no field"):
        relax.TupleGetItem(t, -1)
    with pytest.raises(OperandError, match="the tuple has no field 1"):
        derive_struct_info(relax.TupleGetItem(t, 1))


# ---------------------------------------------------------------- 13: PackedFuncs


@accepts("derivation 13")
def test_a_packed_function_is_impure_and_its_result_is_what_the_call_says():
    info = derive_struct_info(relax.ExternFunc("p"))
    assert (info.params, info.purity, repr(info.ret)) == (None, False, "R.Object")
    assert info.derive_func is default_derive
