"""Statements come in their order, as those that executors run."""

from __future__ import annotations

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const
from relaxscript.ir.tir_compute import BufferRealize, Prefetch
from relaxscript.semantics.statements import core_statements
from relaxscript_tests.prim_funcs import store

A = tir.Buffer("a", (4,))
FIRST, SECOND = store(A, const(1.0), 0), store(A, const(2.0), 1)


def core(s, has_memory=lambda buffer: False):
    return list(core_statements(s, has_memory))


def test_sequences_are_flat_and_bodies_of_declarations_come_after_them():
    let = tir.LetStmt(Var("x", "int64"), const(3, "int64"), SECOND)
    assert core(tir.SeqStmt([tir.SeqStmt([FIRST, let]), FIRST])) == [FIRST, let, SECOND, FIRST]


def test_hints_and_values_without_effects_mean_nothing():
    whole = [tir.Range(const(0), const(4))]
    parts = [Prefetch(A, whole), tir.Evaluate(const(0)), tir.Evaluate(prim.StringImm("here"))]
    hint = tir.AttrStmt(Var("i", "int64"), "pragma", const(1), FIRST)
    assert core(tir.SeqStmt([*parts, hint])) == [FIRST]


def test_a_block_is_a_realized_one():
    block = tir.Block([], [], [], "b", FIRST)
    (realize,) = core(block)
    assert isinstance(realize, tir.BlockRealize)
    assert realize.block is block


def test_whether_a_buffer_has_memory_is_asked_when_its_region_comes():
    asked = []

    def has_memory(buffer):
        asked.append(buffer.name)
        return True

    region = BufferRealize(A, [tir.Range(const(0), const(4))], const(True), SECOND)
    found = core_statements(tir.SeqStmt([FIRST, region]), has_memory)
    assert next(found) is FIRST
    assert asked == []
    assert isinstance(next(found), tir.BlockRealize)
    assert asked == ["a"]
    assert next(found) is SECOND


def test_a_statement_without_meaning_is_refused_when_it_comes():
    thread = tir.AttrStmt(Var("t", "int64"), "thread_extent", const(8), SECOND)
    found = core_statements(tir.SeqStmt([FIRST, thread]), lambda buffer: True)
    assert next(found) is FIRST
    with pytest.raises(DiagnosticError, match="starts threads of a GPU"):
        next(found)
