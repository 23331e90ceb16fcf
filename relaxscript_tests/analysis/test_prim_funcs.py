"""Questions about PrimFuncs by the names of `tvm.tir.analysis`."""

from __future__ import annotations

import pytest

from relaxscript import tir
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.testing.prim_funcs import random_prim_func
from relaxscript.tir.analysis import (
    calculate_allocated_bytes,
    estimate_tir_flops,
    expr_deep_equal,
    get_block_access_region,
    get_block_read_write_region,
    undefined_vars,
    verify_ssa,
    verify_well_formed,
)
from relaxscript_tests import examples

X, Y = tir.Var("x", "int32"), tir.Var("x", "int32")


def function(body: str) -> tir.PrimFunc:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    found = from_source(
        '@T.prim_func\ndef f(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):\n'
        f"{lines}\n"
    )
    assert isinstance(found, tir.PrimFunc)
    return found


def test_scalars_are_equal_where_they_are_written_alike():
    assert expr_deep_equal(X + 1, X + 1)
    assert not expr_deep_equal(X + 1, X + 2)
    assert not expr_deep_equal(X + 1, X - 1)
    assert not expr_deep_equal(X + 1, Y + 1)
    assert not expr_deep_equal(tir.Let(X, 1, X + 1), tir.Let(Y, 1, Y + 1))
    assert not expr_deep_equal(tir.max(X, 1), tir.IntImm("int32", 1))
    assert not expr_deep_equal(tir.Shuffle([X], [0]), tir.Shuffle([X, X], [0]))
    e = X
    for _ in range(2000):
        e = e + e
    other = X
    for _ in range(2000):
        other = other + other
    assert expr_deep_equal(e, other)


def test_variables_that_nothing_defines():
    loop = tir.For(X, 0, 8, "serial", tir.Evaluate(X + Y))
    assert undefined_vars(loop) == [Y]
    assert undefined_vars(loop, [Y]) == []
    assert undefined_vars(X + Y) == [X, Y]
    f = function("B[0] = A[0, 0]")
    assert undefined_vars(f.body) == [f.buffer_map[p].data for p in reversed(f.params)]


def test_random_functions_are_well_formed():
    for seed in range(examples(200)):
        f = random_prim_func(seed)
        assert verify_ssa(f)
        assert verify_well_formed(f)
        assert verify_well_formed(IRModule({"main": f}))


def refused(f: tir.PrimFunc, message: str) -> str:
    assert not verify_well_formed(f, assert_mode=False)
    with pytest.raises(DiagnosticError, match=message) as caught:
        verify_well_formed(f)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.help
    return diagnostic.code


def test_a_variable_that_nothing_defines_is_told():
    assert refused(tir.PrimFunc([], tir.Evaluate(X)), "nothing defines `x`") == "RX0302"


def test_a_variable_that_is_defined_twice_is_told():
    loop = tir.For(X, 0, 8, "serial", tir.Evaluate(X))
    f = tir.PrimFunc([], tir.SeqStmt([loop, loop]))
    assert not verify_ssa(f)
    assert refused(f, "the PrimFunc defines `x` twice") == "RX0302"
    assert not verify_ssa(tir.PrimFunc([X], tir.LetStmt(X, X, tir.Evaluate(X))))


def test_a_block_that_uses_a_loop_outside_is_told():
    block = tir.Block((), (), (), "inner", tir.Evaluate(X))
    realize = tir.BlockRealize((), tir.IntImm("bool", 1), block)
    f = tir.PrimFunc([], tir.For(X, 0, 8, "serial", realize))
    assert refused(f, "the block `inner` uses `x`, the variable of a loop outside") == "RX0504"


def test_only_functions_and_modules_are_verified():
    with pytest.raises(TypeError, match="takes a PrimFunc or a module, not int"):
        verify_well_formed(3)
    with pytest.raises(TypeError, match="takes a PrimFunc or a module, not int"):
        calculate_allocated_bytes(3)
    with pytest.raises(TypeError, match="takes a statement or a module, not int"):
        estimate_tir_flops(3)


def test_regions_that_a_block_accesses():
    f = function("""
for i, k in T.grid(8, 4):
    with T.block("sum"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            B[vi] = T.float32(0)
        B[vi] = B[vi] + A[vi, vk]
""")
    blocks: list[tir.Block] = []
    tir.stmt_functor.post_order_visit(
        f.body, lambda e: blocks.append(e) if isinstance(e, tir.Block) and e.iter_vars else None
    )
    (block,) = blocks
    around = {b.data: b for b in f.buffer_map.values()}
    reads, writes, hidden = get_block_access_region(block, around)
    assert [r.buffer.name for r in reads] == ["A"]
    assert [r.buffer.name for r in writes] == ["B"]
    assert hidden == []
    again = get_block_read_write_region(block, around)
    assert [[r.buffer.name for r in regions] for regions in again] == [["A"], ["B"]]


def test_what_an_address_hides_is_read_and_written():
    f = function("""
with T.block("b"):
    T.reads(A[0:8, 0:4])
    T.writes(A[0:8, 0:4])
    T.evaluate(T.call_extern("int32", "f", A.data))
""")
    blocks: list[tir.Block] = []
    tir.stmt_functor.post_order_visit(
        f.body, lambda e: blocks.append(e) if isinstance(e, tir.Block) else None
    )
    around = {b.data: b for b in f.buffer_map.values()}
    reads, writes, hidden = get_block_access_region(blocks[0], around)
    assert (reads, writes, [r.buffer.name for r in hidden]) == ([], [], ["A"])
    reads, writes = get_block_read_write_region(blocks[0], around)
    assert [r.buffer.name for r in (*reads, *writes)] == ["A", "A"]


def test_bytes_that_are_allocated_at_one_time():
    f = function("""
with T.block("root"):
    t = T.alloc_buffer((8, 4), "float16")
    with T.block("a"):
        u = T.alloc_buffer((8,), "float32", scope="shared")
        v = T.alloc_buffer((4,), "int8")
        B[0] = u[0]
    with T.block("b"):
        w = T.alloc_buffer((2,), "int8")
        B[0] = T.Cast("float32", w[0])
""")
    assert calculate_allocated_bytes(f) == {"main": {"global": 68, "shared": 32}}
    assert calculate_allocated_bytes(IRModule({"g": f})) == {"g": {"global": 68, "shared": 32}}
    memory = tir.Allocate(
        tir.Var("p", tir.PointerType(tir.PrimType("float32"), "local")), "float32", [8],
        tir.IntImm("bool", 1), tir.Evaluate(0),
    )  # fmt: skip
    assert calculate_allocated_bytes(tir.PrimFunc([], memory)) == {"main": {"local": 32}}
    unknown = memory.replace(extents=(X,))
    assert calculate_allocated_bytes(tir.PrimFunc([X], unknown)) == {"main": {}}


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("A[i, 0] + T.float32(1)", 8),
        ("T.exp(A[(i * 2) % 8, 0])", 0),
        ("T.if_then_else(i < 2, A[i, 0] + A[i, 1], A[i, 0] * A[i, 1] * A[i, 2])", 24),
        ("T.max(A[i, 0], T.float32(0))", 8),
        ('T.Cast("float32", i * 2 + 1)', 16),
    ],
)
def test_operations_on_values_are_counted(value: str, count: float):
    f = function(f"for i in range(8):\n    B[i] = {value}")
    assert estimate_tir_flops(f.body) == count
    assert estimate_tir_flops(IRModule({"f": f, "g": f})) == 2 * count


def test_operations_of_loops_and_branches():
    f = function("""
for i, k in T.grid(8, 4):
    with T.block("sum"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            B[vi] = T.float32(0)
        B[vi] = B[vi] + A[vi, vk] * A[vi, vk]
""")
    assert estimate_tir_flops(f.body) == 64
    branches = function(
        "if A[0, 0] < A[0, 1]:\n    B[0] = A[0, 0] + A[0, 1]\nelse:\n    B[0] = A[0, 0]"
    )
    assert estimate_tir_flops(branches.body) == 2
    add = tir.Evaluate(Y + Y)
    assert estimate_tir_flops(tir.For(X, 0, Y, "serial", add)) == 1
    assert estimate_tir_flops(tir.For(X, 0, -3, "serial", add)) == 0
