""" "Normal Form": parsed and built programs are in it, and what is not is said.

Each rule has a program of nodes made by hand, which `Normalize` brings into normal form.
"""

from __future__ import annotations

import pytest

import relaxscript as relax
from relaxscript.analysis import ill_formed, well_formed
from relaxscript.ir.relax import Binding
from relaxscript.ir.walk import walk
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples

from .rules import accepts, rejects

F4 = relax.TensorStructInfo((4,), "float32")
BOOL = relax.TensorStructInfo((), "bool")
x, y, z, c = relax.Var("x", F4), relax.Var("y", F4), relax.Var("z", F4), relax.Var("c", BOOL)


def function(body):
    return relax.Function([x, c], body, F4, attrs={"global_symbol": "f"})


def sequence(*blocks, body=x):
    return relax.SeqExpr(blocks, body)


def block(var, value):
    return relax.BindingBlock([relax.VarBinding(var, value)])


def flow(var, value):
    return relax.DataflowBlock([relax.VarBinding(var, value)])


def texts(func):
    found = ill_formed(func)
    assert {d.code for d in found} <= {"RX0325"}
    return [(d.message, d.span.text) for d in found]


def normalized(func):
    mod = relax.transform.Normalize()(relax.IRModule({"f": func}))
    assert well_formed(mod)
    return mod["f"]


@accepts("normal form 1", "normal form 2", "normal form 3", "normal form 4", "normal form 5")
def test_nested_scripts_are_in_normal_form():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        with R.dataflow():
            lv = R.exp(R.add(x, R.multiply(x, x)))
            gv = (lv, (R.sin(lv), x))
            R.output(gv)
        with R.dataflow():
            pass
        with R.dataflow():
            a = gv[1][0]
            R.output(a)
        if R.logical_not(c):
            y = R.add(R.exp(a), a)
        else:
            y = a
        return R.exp(R.exp(y))

    assert well_formed(f)
    assert [type(b).__name__ for b in f.body.blocks] == ["DataflowBlock", "BindingBlock"]
    leaves = (relax.Var, relax.Tuple)
    calls = [b.value for b in walk(f) if isinstance(b, Binding) and isinstance(b.value, relax.Call)]
    assert all(isinstance(arg, leaves) for call in calls for arg in call.args)


@accepts("normal form 1", "normal form 3", "normal form 4")
def test_random_programs_are_in_normal_form_and_stay_the_same_when_normalized():
    for seed in range(examples(100)):
        mod = random_module(seed)
        assert well_formed(mod)
        assert relax.transform.Normalize()(mod) is mod


@rejects("normal form 1")
def test_a_call_inside_a_call_is_bound_to_a_variable():
    nested = function(sequence(block(y, relax.op.exp(relax.op.add(x, x)))))
    assert texts(nested) == [("a call is an operand, not bound to a variable", "R.add(x, x)")]
    values = [b.value.op.name for b in normalized(nested).body.blocks[0].bindings]
    assert values == ["relax.add", "relax.exp"]


@rejects("normal form 1")
def test_a_call_inside_a_tuple_is_bound_to_a_variable():
    pair = relax.Var("pair", relax.TupleStructInfo([F4, F4]))
    nested = function(sequence(block(pair, relax.Tuple([x, relax.op.exp(x)]))))
    assert texts(nested) == [("a call is in a tuple, not bound to a variable", "R.exp(x)")]
    assert len(normalized(nested).body.blocks[0].bindings) == 2


@accepts("normal form 1")
def test_tuples_may_nest():
    func = relax.Function([x], relax.SeqExpr([], relax.Tuple([x, relax.Tuple([x])])))
    assert not [d for d in ill_formed(func) if d.code == "RX0325"]


@rejects("normal form 2")
def test_a_sequence_that_is_bound_is_flattened():
    inner = sequence(block(z, relax.op.exp(x)), body=z)
    nested = function(sequence(block(y, inner), body=y))
    message = "a SeqExpr is the body of a function or a branch, and cannot be bound"
    assert [m for m, _ in texts(nested)] == [message]
    made = normalized(nested)
    assert [b.var for b in made.body.blocks[0].bindings] == [z, y]


@rejects("normal form 2")
def test_an_ordinary_block_that_would_be_flattened_into_a_dataflow_block_is_malformed():
    inner = sequence(block(z, relax.op.exp(x)), body=z)
    nested = function(sequence(flow(y, inner), body=y))
    with pytest.raises(relax.DiagnosticError, match="an ordinary binding block is not allowed"):
        relax.transform.Normalize()(relax.IRModule({"f": nested}))


@rejects("normal form 3")
def test_a_body_is_wrapped_into_a_sequence():
    bare = function(relax.op.exp(x))
    assert texts(bare) == [("the body of a function is a call, not a SeqExpr", "R.exp(x)")]
    assert isinstance(normalized(bare).body, relax.SeqExpr)


@rejects("normal form 3")
def test_branches_are_wrapped_into_sequences():
    choice = relax.If(c, relax.op.exp(x), sequence())
    bare = function(sequence(block(y, choice), body=y))
    assert [m for m, _ in texts(bare)] == ["a branch is a call, not a SeqExpr"]
    made = normalized(bare).body.blocks[0].bindings[0].value
    assert isinstance(made.true_branch, relax.SeqExpr)


@rejects("normal form 3")
def test_the_result_of_a_body_is_a_leaf():
    bare = function(sequence(body=relax.op.exp(x)))
    message = "a call is the result of a body, not bound to a variable"
    assert texts(bare) == [(message, "R.exp(x)")]
    assert isinstance(normalized(bare).body.body, relax.Var)


@rejects("normal form 4")
@pytest.mark.parametrize("kind", [block, flow])
def test_neighbours_of_a_kind_are_one_block(kind):
    two = function(sequence(kind(y, relax.op.exp(x)), kind(z, relax.op.exp(x))))
    (message, _) = texts(two)[0]
    assert message.endswith("block follows another and is not one with it")
    (only,) = normalized(two).body.blocks
    assert [b.var for b in only.bindings] == [y, z]


@rejects("normal form 4")
@pytest.mark.parametrize("kind", [relax.BindingBlock, relax.DataflowBlock])
def test_empty_blocks_are_dropped(kind):
    empty = function(sequence(kind([])))
    assert texts(empty)[0][0].endswith("block is empty")
    assert normalized(empty).body.blocks == ()


@accepts("normal form 4")
def test_blocks_of_two_kinds_stay_apart():
    func = function(sequence(block(y, relax.op.exp(x)), flow(z, relax.op.exp(x))))
    assert not ill_formed(func)
    assert normalized(func) is func


@rejects("normal form 5")
def test_a_call_of_a_prim_func_with_a_tuple_in_a_variable_is_brought_into_its_own_form():
    @I.ir_module
    class Module:
        @T.prim_func
        def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            for i in range(4):
                y[i] = x[i]

    args = relax.Var("args", relax.TupleStructInfo([F4]))
    copy = Module.get_global_var("copy")
    call = relax.Call(relax.ir.Op("relax.call_tir"), [copy, args], sinfo_args=[F4])
    func = relax.Function(
        [args], sequence(block(y, call), body=y), F4, attrs={"global_symbol": "f"}
    )
    mod = relax.IRModule({"copy": Module["copy"], "f": func})
    (found,) = ill_formed(mod)
    assert found.code == "RX0323"
    assert found.message == "the call of `relax.call_tir` is not in its normal form"
    made = relax.transform.Normalize()(mod)
    assert well_formed(made)
