"""Blocks that are begun and ended by calls."""

from __future__ import annotations

import pytest

from relaxscript import op
from relaxscript.builder import BlockBuilder
from relaxscript.builder.expr_mutator import PyExprMutator, mutator
from relaxscript.errors import DiagnosticError
from relaxscript.ir import assert_structural_equal
from relaxscript.ir.relax import BindingBlock, DataflowBlock, DataflowVar, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.script import from_source


@pytest.fixture
def x():
    return Var("x", TensorStructInfo(("n", 4), "float32"))


def test_blocks_are_written_by_the_names_that_mutators_of_tvm_use(x):
    bb = BlockBuilder()
    bb._begin_binding_block()
    first = bb.emit(op.add(x, x))
    bb._begin_dataflow_block()
    inner = bb.emit(op.multiply(first, x))
    assert isinstance(inner, DataflowVar)
    bb.emit_output(op.multiply(inner, inner), "out")
    flow = bb._end_block()
    bb.emit(op.add(first, x))
    block = bb._end_block()
    assert (type(flow), len(flow.bindings)) == (DataflowBlock, 2)
    assert (type(block), len(block.bindings)) == (BindingBlock, 2)
    assert not bb.has_open_scope


def test_a_block_that_is_written_by_hand_may_be_empty_and_leaves_the_scope_around_it(x):
    bb = BlockBuilder()
    bb.begin_scope([x])
    bb._begin_dataflow_block()
    assert bb._end_block().bindings == ()
    assert bb.has_open_scope


def test_a_block_is_begun_before_it_ends():
    with pytest.raises(DiagnosticError, match="no block was begun"):
        BlockBuilder()._end_block()


def test_a_mutator_may_write_the_blocks_that_it_visits():
    @mutator
    class Same(PyExprMutator):
        def visit_binding_block_(self, block: BindingBlock) -> BindingBlock:
            self.builder_._begin_binding_block()
            for binding in block.bindings:
                self.visit_binding(binding)
            return self.builder_._end_block()

        def visit_dataflow_block_(self, block: DataflowBlock) -> BindingBlock:
            self.builder_._begin_dataflow_block()
            for binding in block.bindings:
                self.visit_binding(binding)
            return self.builder_._end_block()

    f = from_source("""
@R.function
def f(x: R.Tensor((4,), "float32")):
    a = R.add(x, x)
    with R.dataflow():
        b = R.multiply(a, x)
        c = R.exp(b)
        R.output(c)
    d = R.add(c, x)
    return d
""")
    assert_structural_equal(Same().visit_expr(f), f)
