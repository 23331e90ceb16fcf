"""PrimFuncs: every statement, in the form that parses back."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript.errors import InternalError
from relaxscript.ir import prim, structural_equal, tir
from relaxscript.ir.prim import BufferLoad, Call, Cast, PointerType, PrimType, StringImm, Var
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir import Buffer, BufferStore, Evaluate, SeqStmt
from relaxscript.script import from_source
from relaxscript.script.printer.module import script

from .programs import block_of, body_of, comes_back, int32, int64, loop, prim_func, text

n = Var("n", "int64")
A = Buffer("A", (64, 64), "float32")
B = Buffer("B", (64,), "int32")
i, j, k = Var("i"), Var("j"), Var("k")
s = Var("s", "int32")


def store(value: Any, *indices: Any, buffer: Buffer = B) -> BufferStore:
    return BufferStore(buffer, value, indices)


NOTHING = Evaluate(int32(0))


# ---------------------------------------------------------------- functions


def test_a_function_is_written_with_header_and_body():
    f = prim_func(loop(i, 64, store(i, i)), B)
    assert script(f) == text("""
        # from relaxscript.script import tir as T


        @T.prim_func
        def main(B: T.Buffer((64,), "int32")):
            for i in range(64):
                B[i] = i
    """)
    comes_back(f)


def header(f: tir.PrimFunc) -> str:
    return "\n".join(script(f, line_width=1000).split("\n")[3:])


def test_symbolic_dimensions_are_strings_and_declared_where_they_are_used():
    X = Buffer("X", (n, n * 2), "float32")
    f = prim_func(loop(Var("i", "int64"), n, NOTHING), X)
    assert header(f) == text("""
        @T.prim_func
        def main(X: T.Buffer(("n", "n * 2"), "float32")):
            n = T.int64()
            for i in range(n):
                T.evaluate(0)
    """)
    comes_back(f)


def test_a_buffer_that_is_not_plain_is_matched_in_the_body():
    m = Var("m", "int64")
    X = Buffer("X", (n, 4), "float16", strides=(m, 1), elem_offset=m, scope="shared",
        data_alignment=16,
               offset_factor=4, buffer_type="auto_broadcast", axis_separators=(1,))  # fmt: skip
    f = prim_func(NOTHING, X)
    assert body_of(f) == text("""
        n = T.int64()
        m = T.int64()
        X = T.match_buffer(
            X_handle,
            (n, 4),
            "float16",
            strides=[m, 1],
            elem_offset=m,
            scope="shared",
            align=16,
            offset_factor=4,
            buffer_type="auto_broadcast",
            axis_separators=[1],
        )
        T.evaluate(0)
    """)
    assert "def main(X_handle: T.handle):" in script(f)


def test_a_dimension_that_is_a_parameter_is_matched_in_the_body():
    size = Var("size", "int64")
    f = prim_func(NOTHING, size, Buffer("X", (size,), "float32"))
    assert header(f) == text("""
        @T.prim_func
        def main(size: T.int64, X_handle: T.handle):
            X = T.match_buffer(X_handle, (size,))
            T.evaluate(0)
    """)
    comes_back(f)


def test_scalar_and_pointer_parameters_say_their_types():
    p = Var("p", "handle", PointerType(PrimType("float32"), "shared"))
    f = prim_func(NOTHING, s, Var("h", "handle"), p, ret=PrimType("int32"))
    assert (
        'def main(s: T.int32, h: T.handle, p: T.handle("float32", "shared")) -> T.int32:'
        in script(f)
    )
    comes_back(f)


def test_options_and_attributes_are_written_where_they_are_not_as_usual():
    f = prim_func(NOTHING, attrs={"tir.noalias": True})
    assert header(f) == text("""
        @T.prim_func(private=True)
        def main():
            T.func_attr({"tir.noalias": True})
            T.evaluate(0)
    """)
    comes_back(f)


# ---------------------------------------------------------------- loops


def test_a_perfect_nest_of_serial_loops_from_zero_is_one_grid():
    f = prim_func(loop(i, 64, loop(j, 4, loop(k, 2, store(k, j)))), B)
    assert body_of(f) == "for i, j, k in T.grid(64, 4, 2):\n    B[j] = k"
    comes_back(f)


def test_a_loop_whose_extent_depends_on_another_begins_a_new_nest():
    f = prim_func(loop(i, 64, loop(j, i, loop(k, 2, store(k, j)))), B)
    assert body_of(f) == "for i in range(64):\n    for j, k in T.grid(i, 2):\n        B[j] = k"
    comes_back(f)


LOOPS = [
    ("serial", {}, "range(4)"),
    ("serial", {"annotations": {"k": 1}}, 'T.serial(4, annotations={"k": 1})'),
    ("parallel", {}, "T.parallel(4)"),
    ("vectorized", {}, "T.vectorized(4)"),
    ("unrolled", {"annotations": {"k": [1, 2]}}, 'T.unroll(4, annotations={"k": [1, 2]})'),
    ("serial", {"min": int32(2)}, "range(2, 6)"),
    ("parallel", {"min": s}, "T.parallel(s, s + 4)"),
]


@pytest.mark.parametrize(("kind", "more", "expected"), LOOPS, ids=[shown for *_, shown in LOOPS])
def test_a_single_loop_says_its_kind(kind: str, more: dict[str, Any], expected: str):
    f = prim_func(loop(i, 4, store(i, i), kind, **more), B, s)
    assert body_of(f) == f"for i in {expected}:\n    B[i] = i"
    comes_back(f)


def test_a_loop_over_threads_names_them():
    thread = tir.IterVar(None, Var(""), "ThreadIndex", "threadIdx.x")
    f = prim_func(loop(i, 4, store(i, i), "thread_binding", thread_binding=thread), B)
    assert body_of(f).startswith('for i in T.thread_binding(4, thread="threadIdx.x"):')
    comes_back(f)


def test_loops_beside_each_other_use_the_same_name():
    other = Var("i")
    f = prim_func(SeqStmt([loop(i, 4, store(i, i)), loop(other, 4, store(other, other))]), B)
    assert body_of(f).count("for i in range(4):") == 2
    comes_back(f)


def test_extents_of_another_data_type_say_it():
    wide = Var("i", "int64")
    f = prim_func(loop(wide, int64(4), store(Cast("int32", wide), wide)), B)
    assert body_of(f) == 'for i in range(T.int64(4)):\n    B[i] = T.Cast("int32", i)'
    comes_back(f)


# ---------------------------------------------------------------- other statements


STATEMENTS = [
    (store(int32(1), int32(0)), "B[0] = 1"),
    (store(prim.FloatImm("float32", 0.5), i, j, buffer=A), "A[i, j] = T.float32(0.5)"),
    (store(BufferLoad(B, (i,)) + 1, i), "B[i] = B[i] + 1"),
    (store(int32(1), buffer=Buffer("D", (), "int32")), "D[()] = 1"),
    (BufferStore(B, int32(1), (i,), prim.const(True)), "B.vstore([i], 1, predicate=T.bool(True))"),
    (NOTHING, "T.evaluate(0)"),
    (Evaluate(Call("int32", "tir.tvm_call_packed", (StringImm("f"), i))),
     'T.evaluate(T.tvm_call_packed("f", i))'),
    (Evaluate(Call("void", GlobalVar("f"), (i,))), "T.evaluate(Module.f(i))"),
    (SeqStmt([store(i, i), SeqStmt.make(()), store(j, j)]), "B[i] = i\nB[j] = j"),
    (tir.IfThenElse(i < 3, store(i, i)), "if i < 3:\n    B[i] = i"),
    (tir.IfThenElse(i < 3, store(i, i), tir.IfThenElse(i < 5, NOTHING, store(j, j))),
     "if i < 3:\n    B[i] = i\nelif i < 5:\n    T.evaluate(0)\nelse:\n    B[j] = j"),
    (tir.While(i < 3, store(i, i)), "while i < 3:\n    B[i] = i"),
    (tir.While(i < 3, SeqStmt.make(())), "while i < 3:\n    pass"),
    (tir.AssertStmt(i < 3, StringImm("why"), store(i, i)), 'assert i < 3, "why"\nB[i] = i'),
    (tir.LetStmt(k, i * 2, store(k, k)), "k: T.int32 = i * 2\nB[k] = k"),
    (tir.AttrStmt("node", "key", int32(1), NOTHING),
     'with T.attr("node", "key", 1):\n    T.evaluate(0)'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "expected"), STATEMENTS, ids=[shown for _, shown in STATEMENTS]
)
def test_a_statement_is_written(statement: tir.Stmt, expected: str):
    assert script(statement) == expected


def test_statements_come_back():
    body = SeqStmt([
        tir.IfThenElse(s < 3, store(s, s), tir.IfThenElse(s < 5, store(int32(1), s))),
        tir.While(s < 3, store(s, s)),
        tir.AssertStmt(s < 3, StringImm("why"), tir.LetStmt(k, s * 2, SeqStmt([store(k, k),
            store(s, k)]))),
    ])  # fmt: skip
    comes_back(prim_func(body, B, s))


def test_a_scope_that_ends_before_the_statements_do_is_visible():
    let = tir.LetStmt(k, s * 2, store(k, k))
    held = tir.AssertStmt(s < 3, StringImm("why"), store(s, s))
    f = prim_func(SeqStmt([let, held, store(s, s)]), B, s)
    assert body_of(f) == text("""
        with T.LetStmt(s * 2) as k:
            B[k] = k
        with T.Assert(s < 3, "why"):
            B[s] = s
        B[s] = s
    """)
    comes_back(f)


def test_a_handle_that_is_used_itself_stays_a_parameter():
    handle = tir.handle_var("h")
    use = Evaluate(Call("int32", "tir.call_extern", (StringImm("f"), handle)))
    f = tir.PrimFunc([handle], use, None, {handle: B}, {"global_symbol": "main"})
    assert header(f) == text("""
        @T.prim_func
        def main(h: T.handle):
            B = T.match_buffer(h, (64,), "int32")
            T.evaluate(T.call_extern("int32", "f", h))
    """)


def test_without_sugar_every_loop_and_block_is_written():
    vi = Var("vi")
    axis = (vi, int32(0), int32(4), "spatial", i)
    inner = loop(i, 4, loop(j, 4, block_of([axis], store(vi, vi))))
    root = tir.BlockRealize((), True, tir.Block((), (), (), "root", inner))
    assert body_of(prim_func(root, B), syntax_sugar=False) == text("""
        with T.block("root"):
            T.reads()
            T.writes()
            for i in range(4):
                for j in range(4):
                    with T.block("block"):
                        vi = T.axis.spatial(4, i)
                        T.reads()
                        T.writes()
                        B[vi] = vi
    """)


def test_memory_is_allocated_for_the_statements_in_it():
    pointer = Var("data", "handle", PointerType(PrimType("float32"), "shared"))
    H = Buffer("H", (16,), "float32", data=pointer, scope="shared")
    inner = tir.DeclBuffer(H, store(prim.const(1.0), int32(0), buffer=H))
    f = prim_func(tir.Allocate(pointer, "float32", (int32(16),), True, inner))
    assert body_of(f) == text("""
        with T.allocate([16], "float32", "shared") as data:
            with T.decl_buffer((16,), data=data, scope="shared") as H:
                H[0] = T.float32(1.0)
    """)
    comes_back(f)


def test_the_node_of_an_attribute_may_be_a_buffer_or_an_axis():
    axis = tir.IterVar(tir.Range(int32(0), int32(4)), k, "ThreadIndex", "threadIdx.x")
    assert script(tir.AttrStmt(axis, "key", int32(1), NOTHING)).startswith(
        'with T.attr(T.iter_var(k, T.Range(0, 4), "ThreadIndex", "threadIdx.x"), "key", 1):'
    )
    assert script(tir.AttrStmt(B, "key", int32(1), NOTHING)).startswith("with T.attr(B,")


def test_a_vector_of_bools_has_no_annotation():
    mask = Var("mask", "boolx4")
    value = prim.Broadcast(s < 3, 4)
    store_masked = BufferStore(A, prim.Broadcast(prim.const(1.0), 4), (s, prim.Ramp(s, 1, 4)), mask)
    assert script(tir.LetStmt(mask, value, store_masked)).startswith(
        "mask = T.Broadcast(s < 3, 4)\n"
    )


def test_memory_that_holds_constants_lists_them():
    pointer = Var("data", "handle", PointerType(PrimType("int32")))
    made = tir.AllocateConst(pointer, "int32", (int32(2),), (1, 2), NOTHING)
    assert script(made) == text("""
        with T.allocate_const([1, 2], "int32", [2]) as data:
            T.evaluate(0)
    """)


def test_the_memory_of_a_buffer_is_written_as_such():
    X = Buffer("X", (4,), "float32", data=Var("X", "handle", PointerType(PrimType("float32"))))
    assert X.data is not None
    f = prim_func(Evaluate(Call("int32", "tir.call_extern", (StringImm("f"), X.data))), X)
    assert body_of(f) == 'T.evaluate(T.call_extern("int32", "f", X.data))'
    comes_back(f)


def test_a_statement_that_nobody_knows_is_our_mistake():
    class Strange(tir.Stmt):
        pass

    with pytest.raises(InternalError, match="does not know the statement Strange"):
        script(Strange())


def test_a_vector_whose_data_type_has_no_name_is_bound_without_an_annotation():
    text = """
@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    half = T.vectorlow("float32x2", A[0:4])
    A[0:2] = half
"""
    program = from_source(text)
    printed = program.script()
    assert "half = T.vectorlow(" in printed
    assert structural_equal(from_source(printed), program)
