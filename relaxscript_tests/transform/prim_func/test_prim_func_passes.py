"""Passes over PrimFuncs: before and after, and the laws that all of them keep."""

from __future__ import annotations

import pytest

import relaxscript as rx
from relaxscript import tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal, structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.prim_funcs import random_prim_func
from relaxscript.tir.transform import (
    AnnotateEntryFunc,
    Apply,
    BindTarget,
    ConvertSSA,
    Filter,
    LowerInitBlock,
    PrimFuncPass,
    RemoveNoOp,
    Simplify,
    prim_func_pass,
)
from relaxscript_tests import examples

HEAD = """
@T.prim_func
def main(A: T.Buffer(("n", 4), "float32"), B: T.Buffer(("n", 4), "float32")):
    n = T.int64()
"""


def module(body: str) -> IRModule:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    return IRModule({"main": from_source(f"{HEAD}{lines}\n")})


def assert_becomes(make, before: str, after: str) -> None:
    given = module(before)
    text = given.script()
    made = make()(given)
    assert_structural_equal(made, module(after))
    assert given.script() == text
    assert make()(made) is made


# ---------------------------------------------------------------- Simplify


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("B[(i * 4 + j) // 4, j % 4] = A[i + 0, j]", "B[i, j] = A[i, j]"),
        ("if i < n:\n    B[i, j] = A[i, j]", "B[i, j] = A[i, j]"),
        ("if j < 0:\n    B[i, j] = A[i, j]\nelse:\n    B[i, 0] = A[i, j]", "B[i, 0] = A[i, j]"),
        ("if j < 0:\n    B[i, j] = A[i, j]", "T.evaluate(0)"),
        (
            "if i < 2:\n    if i < 3:\n        B[i, j] = A[i, j]",
            "if i < 2:\n    B[i, j] = A[i, j]",
        ),
        (
            "B[i, j] = T.if_then_else(j < 4, A[i, (j + 8) % 4], T.float32(0))",
            "B[i, j] = A[i, j]",
        ),
        (
            "B[i, j] = T.if_then_else(j > 3, A[0, 0], T.if_then_else(i < n, A[i, j % 4], A[0, 1]))",
            "B[i, j] = A[i, j]",
        ),
        (
            "B[i, j] = T.if_then_else(j < 2, A[i, j % 4], T.float32(0))",
            "B[i, j] = T.if_then_else(j < 2, A[i, j], T.float32(0))",
        ),
        ("for k in range(i + 3 - i):\n    B[i, j] = A[i, k]",
         "for k in range(T.int64(3)):\n    B[i, j] = A[i, k]"),
    ],
)  # fmt: skip
def test_indices_sizes_and_conditions_are_simplified(before: str, after: str):
    def around(body: str) -> str:
        return "for i, j in T.grid(n, T.int64(4)):\n" + "\n".join(
            f"    {line}" for line in body.splitlines()
        )

    assert_becomes(Simplify, around(before), around(after))


def test_the_shape_of_a_buffer_that_is_read_stays_as_it_is_declared():
    text = """
@T.prim_func
def main(A: T.Buffer(("n", 4), "float32"), B: T.Buffer(("n * 0 + 4",), "float32")):
    n = T.int64()
    for i in range(4):
        B[i] = B[i] + A[0, i]
"""
    mod = IRModule({"main": from_source(text)})
    assert Simplify()(mod) is mod


def test_axes_of_blocks_have_their_domains():
    block = """
for i, j in T.grid(n, T.int64(4)):
    with T.block("copy"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = A[vi, {}]
"""
    assert_becomes(Simplify, block.format("vj % 4"), block.format("vj"))


def test_arithmetic_that_may_wrap_around_stays():
    mod = IRModule(
        {
            "main": from_source("""
@T.prim_func
def main(x: T.Buffer((4,), "int8"), y: T.Buffer((4,), "int8"), k: T.int32):
    for i in range(4):
        y[i] = x[i] * T.int8(2) // T.int8(2) + T.Cast("int8", k * 2 // 2)
    for i in range(100000):
        if i * 100000 // 100000 == i:
            y[0] = T.int8(1)
""")
        }
    )
    assert Simplify()(mod) is mod


# ---------------------------------------------------------------- RemoveNoOp


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for i in range(8):\n    T.evaluate(i + 1)\nB[0, 0] = A[0, 0]", "B[0, 0] = A[0, 0]"),
        ("for i in range(0):\n    B[i, 0] = A[0, 0]", "T.evaluate(0)"),
        ("if n < 3:\n    T.evaluate(0)", "T.evaluate(0)"),
        (
            "if T.bool(True):\n    B[0, 0] = A[0, 0]\nelse:\n    B[0, 1] = A[0, 0]",
            "B[0, 0] = A[0, 0]",
        ),
        ("if T.bool(False):\n    B[0, 0] = A[0, 0]", "T.evaluate(0)"),
        (
            "if n < 3:\n    B[0, 0] = A[0, 0]\nelse:\n    T.evaluate(3)",
            "if n < 3:\n    B[0, 0] = A[0, 0]",
        ),
        ("k: T.int64 = n + 1\nT.evaluate(k)", "T.evaluate(0)"),
        ("with T.block('b'):\n    T.evaluate(0)", "T.evaluate(0)"),
        ("T.evaluate(0)\nT.evaluate(1)\nB[0, 0] = A[0, 0]", "B[0, 0] = A[0, 0]"),
    ],
)  # fmt: skip
def test_statements_without_effect_are_removed(before: str, after: str):
    assert_becomes(RemoveNoOp, before, after)


@pytest.mark.parametrize(
    "body",
    [
        "T.evaluate(A[4 // n, 0])",
        "T.evaluate(4 // n)",
        'T.evaluate(T.call_extern("int32", "tick"))',
        "if A[4 // n, 0] > T.float32(0):\n    T.evaluate(0)",
        'assert n < 3, "small"\nT.evaluate(0)',
        "for i in range(8):\n    B[i, 0] = A[0, 0]",
    ],
)
def test_what_may_fail_or_has_an_effect_stays(body: str):
    mod = module(body)
    assert RemoveNoOp()(mod) is mod


# ---------------------------------------------------------------- the others


def test_an_init_becomes_a_condition():
    head = """
for i, k in T.grid(n, T.int64(4)):
    with T.block("sum"):
        vi, vk = T.axis.remap("SR", [i, k])
        T.reads(A[vi, vk])
        T.writes(B[vi, 0])
"""
    init = "        with T.init():\n            B[vi, 0] = T.float32(0)\n"
    condition = "        if vk == 0:\n            B[vi, 0] = T.float32(0)\n"
    body = "        B[vi, 0] = B[vi, 0] + A[vi, vk]\n"
    assert_becomes(LowerInitBlock, head + init + body, head + condition + body)


def test_an_init_without_axes_to_combine_runs_always():
    block = tir.Block((), (), (), "b", tir.Evaluate(2), tir.Evaluate(1))
    body = tir.BlockRealize((), tir.IntImm("bool", 1), block)
    found = LowerInitBlock()(IRModule({"main": tir.PrimFunc([], body)}))["main"].body.block
    assert [int(s.value) for s in found.body.seq] == [1, 2]


def test_a_statement_that_is_used_twice_defines_two_variables():
    mod = module("for i in range(4):\n    B[i, 0] = A[i, 0]")
    loop = mod["main"].body
    twice = mod["main"].with_body(tir.SeqStmt([loop, loop]))
    assert not tir.analysis.verify_ssa(twice)
    made = ConvertSSA()(IRModule({"main": twice}))
    first, second = made["main"].body.seq
    assert first is loop
    assert second.loop_var is not loop.loop_var
    assert second.loop_var.name == "i"
    assert structural_equal(first, second)
    assert tir.analysis.verify_ssa(made["main"])
    assert ConvertSSA()(made) is made


def test_buffers_that_are_allocated_twice_become_two():
    mod = module(
        'with T.block("b"):\n    t = T.alloc_buffer((4,))\n    t[0] = 1.0\n    B[0, 0] = t[0]'
    )
    block = mod["main"].body
    twice = mod["main"].with_body(tir.SeqStmt([block, block]))
    made = ConvertSSA()(IRModule({"main": twice}))["main"]
    assert tir.analysis.verify_ssa(made)
    first, second = made.body.seq
    assert structural_equal(first, second)


def test_the_only_function_is_the_entry():
    mod = module("B[0, 0] = A[0, 0]")
    made = AnnotateEntryFunc()(mod)
    assert made["main"].attrs["tir.is_entry_func"]
    assert AnnotateEntryFunc()(made) is made
    two = IRModule(
        {**dict(mod.functions), "other": mod["main"].with_attr("global_symbol", "other")}
    )
    assert AnnotateEntryFunc()(two) is two


def test_a_target_is_bound_where_there_is_none():
    mod = module("B[0, 0] = A[0, 0]")
    made = BindTarget("llvm")(mod)
    assert made["main"].attrs["target"].kind == "llvm"
    assert BindTarget("cuda")(made) is made


def test_a_function_is_applied_to_each_prim_func():
    mod = module("B[0, 0] = A[0, 0]")
    made = Apply(lambda f: f.with_attr("tir.noalias", True))(mod)
    assert made["main"].attrs["tir.noalias"]
    assert Apply(lambda f: f)(mod) is mod
    assert [*Filter(lambda f: "tir.noalias" in f.attrs)(made).functions] == [*made.functions]
    assert not Filter(lambda f: "tir.noalias" in f.attrs)(mod).functions
    for name in (Apply, Filter):
        with pytest.raises(TypeError, match=f"` of `{name.__name__}` is a function, not int"):
            name(3)


def test_a_pass_is_made_of_a_function():
    @prim_func_pass(opt_level=1, name="Rename")
    def rename(func, mod, ctx):
        return func.with_attr("seen", len(mod.functions))

    mod = module("B[0, 0] = A[0, 0]")
    assert rename.info.name == "Rename"
    assert rename.info.opt_level == 1
    assert isinstance(rename, PrimFuncPass)
    assert rename(mod)["main"].attrs["seen"] == 1

    @prim_func_pass
    class Keep:
        def transform_function(self, func, mod, ctx):
            return func

    assert Keep()(mod) is mod
    with pytest.raises(rx.DiagnosticError, match="the pass `wrong` gave int, not a PrimFunc"):
        prim_func_pass(lambda func, mod, ctx: 3, name="wrong")(mod)


def test_a_body_is_exchanged():
    f = module("B[0, 0] = A[0, 0]")["main"]
    made = f.with_body(tir.Evaluate(0))
    assert made.attrs is f.attrs
    assert made.params is f.params
    assert isinstance(made.body, tir.Evaluate)


# ---------------------------------------------------------------- laws

PASSES = (Simplify, RemoveNoOp, ConvertSSA, LowerInitBlock)


def random_module(seed: int) -> IRModule:
    return IRModule({"main": random_prim_func(seed).with_attr("global_symbol", "main")})


@pytest.mark.parametrize("make", PASSES)
def test_a_pass_keeps_the_meaning_settles_and_leaves_its_input(make):
    for seed in range(examples(150)):
        mod = random_module(seed)
        before = mod.script()
        made = make()(mod)
        assert mod.script() == before
        assert make()(made) is made
        assert_structural_equal(from_source(made.script()), made)
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        actual = observe(EXECUTORS["interpreter"](made), "main", inputs)
        check_outcomes("after the pass", actual, "before", expected)


@pytest.mark.parametrize("make", [RemoveNoOp, ConvertSSA])
def test_a_pass_that_has_nothing_to_do_gives_the_same_object(make):
    for seed in range(examples(150)):
        mod = random_module(seed)
        assert make()(mod) is mod
