"""Visits and transformations of TIR: what is visited, in what order, and what stays."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript import tir
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.stmt_functor import (
    all_parts,
    inner_statements,
    parts_of_tir,
    rebuild_tir,
    rewrite_tir,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import bound_vars, walk
from relaxscript.script import from_source
from relaxscript.testing.prim_funcs import random_prim_func
from relaxscript.tir.stmt_functor import (
    ir_transform,
    post_order_visit,
    pre_order_visit,
    renew_defs,
    substitute,
)
from relaxscript_tests import examples

SCRIPT = """
@T.prim_func
def f(x: T.Buffer((8, 4), "float32"), y: T.Buffer((8,), "float32")):
    for i, j in T.grid(8, 4):
        with T.block("sum"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                y[vi] = T.float32(1)
            y[vi] = y[vi] + x[vi, vj] * T.float32(2)
"""


def function() -> tir.PrimFunc:
    found = from_source(SCRIPT)
    assert isinstance(found, tir.PrimFunc)
    return found


def names(visit: Any, root: Any, **stop: str) -> list[str]:
    found: list[str] = []

    def fvisit(node: Any) -> bool:
        found.append(type(node).__name__)
        return type(node).__name__ != stop.get("at")

    visit(root, fvisit)
    return found


def test_parts_are_visited_before_the_whole():
    found = names(post_order_visit, function().body)
    assert found[-1] == "BlockRealize"
    assert found.index("BufferLoad") < found.index("Add") < found.index("BlockRealize")
    # A block starts what its body goes on with.
    stores: list[Any] = []
    post_order_visit(function().body, stores.append)
    first, second = (e for e in stores if isinstance(e, tir.BufferStore))
    assert isinstance(first.value, tir.FloatImm)
    assert isinstance(second.value, tir.Add)


def test_the_whole_is_visited_before_its_parts_until_false_is_returned():
    found = names(pre_order_visit, function().body)
    assert found[0] == "BlockRealize"
    assert found.index("Add") < found.index("Mul")
    assert "Mul" not in names(pre_order_visit, function().body, at="Add")
    seen: list[Any] = []
    pre_order_visit(function().body, seen.append)  # Nothing returned is no reason to stop.
    assert len(seen) == len(found)


def test_everything_is_visited_once_and_definitions_are_not():
    x = tir.Var("x", "int32")
    shared = x + 1
    e = shared * shared
    assert names(post_order_visit, e) == ["Var", "IntImm", "Add", "Mul"]
    assert names(pre_order_visit, e) == ["Mul", "Add", "Var", "IntImm"]
    loop = tir.For(x, 0, 8, "serial", tir.Evaluate(0))
    assert "Var" not in names(post_order_visit, loop)


def test_a_function_is_visited_as_its_body():
    f = function()
    assert names(post_order_visit, f) == names(post_order_visit, f.body)


@pytest.mark.parametrize("visit", [post_order_visit, pre_order_visit])
def test_what_is_no_part_of_a_program_is_refused(visit: Any):
    with pytest.raises(TypeError, match="takes a statement, a scalar or a PrimFunc, not int"):
        visit(3, print)
    with pytest.raises(TypeError, match="takes a statement, a scalar or a PrimFunc"):
        ir_transform(3, None, None)  # type: ignore[arg-type]


def test_deep_expressions_are_no_problem():
    e: tir.PrimExpr = tir.Var("x", "int32")
    for _ in range(20_000):
        e = tir.Not(e) if e.dtype == "bool" else tir.Add(e, tir.IntImm("int32", 1))
    count = 0

    def fvisit(node: Any) -> None:
        nonlocal count
        count += 1

    post_order_visit(e, fvisit)
    assert count == 40_001
    assert ir_transform(e, None, lambda node: None) is e


def test_postorder_gets_parts_that_are_replaced():
    def double(e: Any) -> Any:
        return tir.FloatImm(e.dtype, 2 * e.value) if isinstance(e, tir.FloatImm) else None

    made = ir_transform(function().body, None, double)
    assert [e.value for e in literals(made)] == [2.0, 4.0]
    assert [e.value for e in literals(function().body)] == [1.0, 2.0]


def test_loads_are_rewritten_and_buffers_and_definitions_stay():
    f = function()
    doubled = rewrite_tir(f.body, lambda e: e + e if isinstance(e, tir.BufferLoad) else None)
    loads, before = (
        [e for e in walk(b) if isinstance(e, tir.BufferLoad)] for b in (doubled, f.body)
    )
    assert len(loads) == 2 * len(before)
    assert {e.buffer for e in loads} == {e.buffer for e in before}
    assert bound_vars(doubled) == bound_vars(f.body)


def test_what_is_shared_is_rewritten_once_and_what_stays_is_the_same_object():
    x = tir.Var("x", "int32")
    shared = x + 1
    asked: list[Any] = []

    def step(e: Any) -> None:
        asked.append(e)

    e = shared * shared
    assert rewrite_tir(e, step) is e
    assert [type(found).__name__ for found in asked] == ["Var", "IntImm", "Add", "Mul"]


def test_what_is_given_first_takes_the_place_of_a_node_and_is_not_entered():
    zero, asked = tir.const(0.0, "float32"), list[Any]()
    made = rewrite_tir(function().body, asked.append, {tir.BufferLoad: lambda load: zero})
    assert not any(isinstance(node, tir.BufferLoad) for node in walk(made))
    assert not any(isinstance(node, tir.BufferLoad) or node is zero for node in asked)


def test_where_nothing_is_given_first_a_node_is_rewritten_as_others_are():
    body = function().body
    made = rewrite_tir(body, None, {tir.BufferLoad: lambda load: None, tir.Add: lambda e: e.b})
    assert "Add" not in names(post_order_visit, made)
    assert rewrite_tir(body, None, {tir.BufferLoad: lambda load: None}) is body


def test_the_parts_of_a_function_are_gone_through_once_and_remembered():
    f = function()
    visited: list[Any] = []
    pre_order_visit(f, visited.append)
    assert [*map(id, all_parts(f))] == [*map(id, visited)]
    assert all_parts(f) is all_parts(f)


def literals(root: Any) -> list[tir.FloatImm]:
    found: list[Any] = []
    post_order_visit(root, found.append)
    return [e for e in found if isinstance(e, tir.FloatImm)]


def test_what_preorder_returns_is_not_entered():
    seen: list[Any] = []

    def skip(e: Any) -> Any:
        return e if isinstance(e, tir.Add) else None

    ir_transform(function().body, skip, seen.append)
    assert not any(isinstance(e, (tir.Add, tir.Mul)) for e in seen)


def test_what_postorder_returns_is_taken_where_it_is_zero_or_false():
    x = tir.Var("x", "int32")
    made = ir_transform(x + 7, None, lambda e: tir.const(0, e.dtype) if e is x else None)
    assert isinstance(made.a, tir.IntImm)
    assert made.a.value == 0


def test_only_enable_names_the_classes_that_are_seen():
    seen: list[Any] = []
    ir_transform(function().body, None, seen.append, ["tir.For", "Add"])
    assert [type(e).__name__ for e in seen] == ["Add", "For", "For"]
    with pytest.raises(ValueError, match=r"not 'tir.Fro'.*`For`"):
        ir_transform(function().body, None, seen.append, ["tir.Fro"])


def test_statements_in_a_row_stay_one_row():
    a, b = tir.Evaluate(1), tir.Evaluate(2)
    row = tir.SeqStmt([a, b])

    def twice(stmt: Any) -> Any:
        return tir.SeqStmt([stmt, tir.Evaluate(3)]) if isinstance(stmt, tir.Evaluate) else None

    assert [int(s.value) for s in ir_transform(row, None, twice).seq] == [1, 3, 2, 3]


def test_a_replacement_is_of_the_same_sort():
    with pytest.raises(TypeError, match=r"`postorder` gives .*, where .* is a scalar"):
        ir_transform(function().body, None, lambda e: tir.Evaluate(0))
    with pytest.raises(TypeError, match=r"`preorder` gives .*, where .* is a statement"):
        ir_transform(function().body, lambda e: tir.IntImm("int32", 0), None)
    with pytest.raises(TypeError, match="takes the body of a PrimFunc"):
        ir_transform(function(), None, None)  # type: ignore[arg-type]


def test_variables_are_substituted_by_scalars():
    i, j = tir.Var("i", "int64"), tir.Var("j", "int64")
    assert structural_equal(
        substitute(i * 2 + j, {i: j + 1, j: 5}), (j + 1) * 2 + tir.IntImm("int64", 5)
    )


def test_substitution_checks_its_variables():
    i, j = tir.Var("i", "int64"), tir.Var("j", "int32")
    with pytest.raises(TypeError, match=r'`i` is of int64, .* of int32; .*astype\("int64"\)'):
        substitute(i + 1, {i: j})
    with pytest.raises(TypeError, match="only variables are substituted"):
        substitute(i + 1, {3: j})  # type: ignore[dict-item]
    loop = tir.For(i, 0, 8, "serial", tir.Evaluate(i))
    with pytest.raises(TypeError, match="`i` is defined here"):
        substitute(loop, {i: 3})


def test_renewed_functions_share_no_definition():
    f = function()
    made = renew_defs(f)
    assert structural_equal(made, f)
    assert not set(bound_vars(made)) & set(bound_vars(f))


def test_laws_hold_for_random_functions():
    for seed in range(examples(300)):
        f = random_prim_func(seed)
        assert ir_transform(f.body, lambda e: None, lambda e: None) is f.body
        assert substitute(f.body, {}) is f.body
        made = renew_defs(f)
        assert structural_equal(made, f)
        assert not set(bound_vars(made)) & set(bound_vars(f))
        seen: list[Any] = []
        post_order_visit(f, seen.append)
        assert len(seen) == len({id(e) for e in seen})
        assert sorted(map(id, seen)) == sorted(visited_first(f))


def visited_first(f: tir.PrimFunc) -> list[int]:
    seen: list[Any] = []
    pre_order_visit(f, seen.append)
    return [id(e) for e in seen]


@pytest.mark.parametrize("seed", range(8))
def test_the_parts_of_a_node_are_the_statements_and_scalars_of_its_fields(seed):
    for node in walk(random_prim_func(seed).body):
        if isinstance(node, (tir.Stmt, PrimExpr)):
            kept: list[Any] = []
            rebuild_tir(node, lambda part, kept=kept: kept.append(part) or part)
            assert [*map(id, kept)] == [*map(id, parts_of_tir(node))]


@pytest.mark.parametrize("seed", range(examples(100)))
def test_rewriting_builds_what_a_transformation_builds(seed):
    def anew(e: Any) -> Any:
        return tir.IntImm(e.dtype, e.value ^ 1) if isinstance(e, tir.IntImm) else None

    body = random_prim_func(seed).body
    made, expected = rewrite_tir(body, anew), ir_transform(body, None, anew)
    assert structural_equal(made, expected)
    pairs = zip(walk(made), walk(expected), strict=True)
    assert all(type(a) is type(b) and a.span is b.span for a, b in pairs)


@pytest.mark.parametrize("seed", range(examples(100)))
def test_the_statements_in_one_are_those_among_its_parts(seed):
    for node in walk(random_prim_func(seed).body):
        if isinstance(node, tir.Stmt):
            parts = [part for part in parts_of_tir(node) if isinstance(part, tir.Stmt)]
            assert [*map(id, inner_statements(node))] == [*map(id, parts)]
