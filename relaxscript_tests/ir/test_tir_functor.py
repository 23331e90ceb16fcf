"""Visitors and mutators of TIR as classes."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript import tir
from relaxscript.script import from_source
from relaxscript.testing.prim_funcs import random_prim_func
from relaxscript_tests import examples

FUNCTION = from_source("""
@T.prim_func
def f(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
    for i in range(8):
        if i < 4:
            y[i] = x[i] * T.float32(3)
        else:
            y[i] = T.float32(5)
""")

# The methods of TVM 0.20 to 0.25, but for statements that no program here has.
METHODS = """
visit_stmt visit_expr visit_attr_stmt_ visit_if_then_else_ visit_let_stmt_ visit_for_ visit_while_
visit_allocate_ visit_allocate_const_ visit_decl_buffer_ visit_buffer_store_ visit_buffer_realize_
visit_assert_stmt_ visit_seq_stmt_ visit_evaluate_ visit_block_ visit_block_realize_ visit_prefetch_
visit_var_ visit_size_var_ visit_buffer_load_ visit_producer_load_ visit_let_ visit_call_ visit_add_
visit_sub_ visit_mul_ visit_div_ visit_mod_ visit_floor_div_ visit_floor_mod_ visit_min_ visit_max_
visit_eq_ visit_ne_ visit_lt_ visit_le_ visit_gt_ visit_ge_ visit_and_ visit_or_ visit_reduce_
visit_cast_ visit_not_ visit_select_ visit_ramp_ visit_broadcast_ visit_shuffle_ visit_int_imm_
visit_float_imm_ visit_string_imm_
""".split()


@pytest.mark.parametrize("cls", [tir.PyStmtExprVisitor, tir.PyStmtExprMutator])
def test_the_methods_are_those_of_tvm(cls: type):
    assert sorted(name for name in dir(cls) if name.startswith("visit_")) == sorted(METHODS)


def body() -> Any:
    assert isinstance(FUNCTION, tir.PrimFunc)
    return FUNCTION.body


def test_a_visitor_is_called_for_its_classes():
    @tir.functor.visitor
    class Loads(tir.PyStmtExprVisitor):
        def __init__(self) -> None:
            self.found: list[Any] = []

        def visit_buffer_load_(self, op: tir.BufferLoad) -> None:
            self.found.append(op.buffer.name)

        def visit_int_imm_(self, op: tir.IntImm) -> None:
            self.found.append(op.value)

    loads = Loads()
    loads.visit_stmt(body())
    assert loads.found == [0, 8, 4, "x"]


def test_a_mutator_replaces_and_keeps_the_rest():
    @tir.functor.mutator
    class Halve(tir.PyStmtExprMutator):
        def visit_float_imm_(self, op: tir.FloatImm) -> tir.FloatImm:
            return tir.FloatImm(op.dtype, op.value / 2)

    made = Halve().visit_stmt(body())
    found: list[Any] = []
    tir.stmt_functor.post_order_visit(made, found.append)
    assert [e.value for e in found if isinstance(e, tir.FloatImm)] == [1.5, 2.5]
    assert made.body.condition is body().body.condition


def test_a_mutator_may_replace_a_statement_and_go_on_inside():
    class Unrolled(tir.PyStmtExprMutator):
        def visit_for_(self, op: tir.For) -> tir.Stmt:
            return op.replace(kind="unrolled", body=self.visit_stmt(op.body))

        def visit_if_then_else_(self, op: tir.IfThenElse) -> tir.Stmt:
            return self.visit_stmt(op.then_case)

    made = Unrolled().visit_stmt(body())
    assert made.kind == "unrolled"
    assert isinstance(made.body, tir.BufferStore)


def test_a_mutator_that_changes_nothing_gives_the_same_object():
    for seed in range(examples(200)):
        root = random_prim_func(seed).body
        assert tir.PyStmtExprMutator().visit_stmt(root) is root
        tir.PyStmtExprVisitor().visit_stmt(root)


def test_a_method_gives_a_node_of_its_sort():
    class Wrong(tir.PyStmtExprMutator):
        def visit_float_imm_(self, op: tir.FloatImm) -> Any:
            return 3

        def visit_for_(self, op: tir.For) -> Any:
            return self.visit_stmt(op.body) and None

    with pytest.raises(TypeError, match=r"`visit_float_imm_` gives int \(3\), where a scalar"):
        Wrong().visit_stmt(body())
    with pytest.raises(
        TypeError, match=r"`visit_for_` gives NoneType .* where a statement is needed"
    ):
        Wrong().visit_stmt(body().replace(body=tir.Evaluate(0)))


def test_what_is_no_statement_or_scalar_is_refused():
    with pytest.raises(TypeError, match=r"`visit_stmt` takes a statement.*one as its `body`"):
        tir.PyStmtExprVisitor().visit_stmt(FUNCTION)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`visit_expr` takes a scalar, not "):
        tir.PyStmtExprMutator().visit_expr(body())


def test_only_classes_of_the_right_base_are_decorated():
    with pytest.raises(TypeError, match=r"derives from `tir.PyStmtExprVisitor`"):
        tir.functor.visitor(int)
    with pytest.raises(TypeError, match=r"derives from `tir.PyStmtExprMutator`"):
        tir.functor.mutator(tir.PyStmtExprVisitor)
