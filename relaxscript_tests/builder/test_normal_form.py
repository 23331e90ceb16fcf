"""What a BlockBuilder is given in any form, it writes in normal form."""

from __future__ import annotations

import pytest

from relaxscript import op
from relaxscript.analysis import well_formed
from relaxscript.builder import BlockBuilder
from relaxscript.errors import DiagnosticError
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Function,
    If,
    SeqExpr,
    Tuple,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import TensorStructInfo

F4 = TensorStructInfo((4,), "float32")
x, y, a = Var("x", F4), Var("y", F4), Var("a", F4)
c = Var("c", TensorStructInfo((), "bool"))


def test_typed_branches_made_by_hand_are_brought_into_normal_form():
    nested = SeqExpr([], op.exp(op.add(x, x)))
    assert nested.struct_info is not None
    bb = BlockBuilder()
    with bb.function("main", [x, c]):
        bb.emit_func_output(bb.emit(If(c, nested, nested)))
    assert well_formed(bb.finalize())


def test_a_branch_in_normal_form_stays_the_object_that_it_is():
    branch = SeqExpr([BindingBlock([VarBinding(y, op.add(x, x))])], y)
    assert branch.struct_info is not None
    bb = BlockBuilder()
    with bb.function("main", [x, c]):
        choice = bb.emit(If(c, branch, branch))
        bb.emit_func_output(choice)
    assert bb.lookup_binding(choice).true_branch is branch


def test_a_local_function_made_by_hand_is_brought_into_normal_form():
    bb = BlockBuilder()
    with bb.function("main", [x]):
        g = bb.emit(Function([a], SeqExpr([], op.exp(op.add(a, a))), F4))
        bb.emit_func_output(bb.emit(Call(g, [x])))
    assert well_formed(bb.finalize())


def test_what_is_normalized_may_not_bring_an_ordinary_block_into_a_dataflow_block():
    nested = SeqExpr([BindingBlock([VarBinding(y, op.add(x, x))])], y)
    bb = BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow(), pytest.raises(DiagnosticError) as caught:
            bb.normalize(nested)
        bb.emit_func_output(x)
    (found,) = caught.value.diagnostics
    assert found.code == "RX0325"
    assert found.message == "an ordinary binding block is not allowed inside a dataflow block"


def test_one_expression_that_stands_in_several_places_is_bound_once():
    shared = op.exp(x)
    for value in (op.add(shared, shared), Tuple([op.add(shared, x), shared, op.log(shared)])):
        bb = BlockBuilder()
        with bb.function("main", [x]):
            bb.emit_func_output(bb.emit(value))
        assert bb.finalize().script().count("R.exp") == 1
