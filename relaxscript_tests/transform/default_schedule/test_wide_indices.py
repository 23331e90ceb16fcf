"""Loops of int32 as such of int64: the same code, and what wraps around still does."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.codegen.llvm import compile_prim_funcs
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import INT32, INT64, IntImm, PrimExpr, Var, cast
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import Block, BlockRealize, For, IterVar, PrimFunc, Range, Stmt
from relaxscript.ir.walk import rewrite_top_down
from relaxscript.script import from_source
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript.transform.default_schedule.wide_indices import with_wide_indices
from relaxscript.transform.prim_func.rewriter import StatementRewriter
from relaxscript_tests import examples
from relaxscript_tests.transform.default_schedule.fused_programs import FUSED, fused, only_prim_func
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module


class Narrowing(StatementRewriter[None]):
    """Makes loops and axes of int64 with known extents such of int32, as a test's own opposite."""

    def __init__(self) -> None:
        self.narrow: dict[Var, Var] = {}

    def enter(self, stmt: Stmt, context: None) -> Stmt:
        match stmt:
            case For(loop_var=var, extent=IntImm()):
                self.narrow[var] = Var.make(var.name, INT32)
            case BlockRealize(iter_values=values, block=block):
                made = []
                for value, axis in zip(values, block.iter_vars, strict=True):
                    if axis.dom is None or not isinstance(axis.dom.extent, IntImm):
                        made.append(value)
                        continue
                    self.narrow[axis.var] = Var.make(axis.var.name, INT32)
                    known = self.narrow.get(value) if isinstance(value, Var) else None
                    wide = cast(self.scalar(value, context), INT32)
                    made.append(wide if known is None else known)
                return stmt.replace(iter_values=tuple(made))
        return stmt

    def scalar(self, e: PrimExpr, context: None) -> PrimExpr:
        def step(node):
            known = self.narrow.get(node) if isinstance(node, Var) else None
            return None if known is None else cast(known, INT64)

        return rewrite_top_down(e, step)

    def leave(self, stmt: Stmt, context: None) -> Stmt:
        match stmt:
            case For(loop_var=var) if var in self.narrow:
                low, extent = cast(stmt.min, INT32), cast(stmt.extent, INT32)
                return stmt.replace(loop_var=self.narrow[var], min=low, extent=extent)
            case Block(iter_vars=axes):
                return stmt.replace(iter_vars=tuple(map(self._axis, axes)))
        return stmt

    def _axis(self, axis: IterVar) -> IterVar:
        if axis.dom is None or axis.var not in self.narrow:
            return axis
        dom = Range(cast(axis.dom.min, INT32), cast(axis.dom.extent, INT32))
        return axis.replace(dom=dom, var=self.narrow[axis.var])


def narrowed(mod: IRModule) -> IRModule:
    made = mod.clone()
    for gvar, func in mod.functions.items():
        if isinstance(func, PrimFunc):
            made[gvar] = func.replace(body=Narrowing().rewrite(func.body, None))
    return made


def assert_arranged_alike(mod: IRModule) -> None:
    """Each function of a module becomes the same with loops of int32 as with those of int64."""
    narrow = narrowed(mod)
    made, expected = ApplyDefaultSchedule()(narrow), ApplyDefaultSchedule()(mod)
    for gvar, func in mod.functions.items():
        # What no rule is for is left as it is.
        before = narrow[gvar] if expected[gvar] is func else expected[gvar]
        assert_structural_equal(made[gvar], before)


def function(head: str, body: str) -> PrimFunc:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    return from_source(
        f"@T.prim_func\ndef main({head}):\n    T.func_attr({{'tir.noalias': True}})\n{lines}\n"
    )


def rule_of(func: PrimFunc) -> str | None:
    made = ApplyDefaultSchedule()(IRModule({"main": func}))["main"]
    return made.attrs.get("relaxscript.schedule")


def test_random_programs_are_arranged_alike_with_loops_of_int32():
    for seed in range(examples(60)):
        mod = FUSED(fusable_module(seed))
        try:
            assert_arranged_alike(mod)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ('a: R.Tensor((13, 24), "float32"), b: R.Tensor((24, 17), "float32")',
         "y = R.nn.relu(R.matmul(a, b))"),
        ('a: R.Tensor((13, 24), "float32"), b: R.Tensor((17, 24), "float32")',
         "y = R.matmul(a, R.permute_dims(b))"),
        ('a: R.Tensor((1, 5, 9, 11), "float32"), b: R.Tensor((8, 5, 3, 3), "float32")',
         "y = R.nn.conv2d(a, b)"),
        ('a: R.Tensor((1, 8, 9, 11), "float32"), b: R.Tensor((16, 8, 3, 3), "float32")',
         "y = R.nn.conv2d(a, b, padding=(1, 1))"),
        ('a: R.Tensor((1, 8, 9, 11), "float32")', "y = R.nn.max_pool2d(a, (2, 2), (2, 2))"),
        ('a: R.Tensor((13, 24), "float32")', "y = R.nn.softmax(a)"),
        ('a: R.Tensor((13, 24), "float32")', "y = R.sum(a, axis=0)"),
        ('a: R.Tensor((13, 24), "float32")', "y = R.permute_dims(R.exp(a))"),
        ('a: R.Tensor((13, 24), "float32"), b: R.Tensor((24,), "float32")',
         "y = R.nn.layer_norm(a, b, b, axes=[-1])"),
        ('a: R.Tensor((13, 24), "float32")', "y = R.concat((a, a), axis=1)"),
        ('a: R.Tensor((13, 24), "float32")', "y = R.nn.pad(a, (1, 1, 2, 2))"),
        ('a: R.Tensor((13, 24), "float32"), b: R.Tensor((7,), "int64")',
         "y = R.take(a, b, axis=0)"),
        ('a: R.Tensor((13, 24), "float32")', "y = R.cumsum(a, axis=1)"),
    ],
)  # fmt: skip
def test_operators_of_each_family_are_arranged_alike_with_loops_of_int32(head: str, body: str):
    assert_arranged_alike(fused(head, body))


def test_functions_without_loops_of_int32_are_the_same_object():
    func = only_prim_func(fused('a: R.Tensor((4, 8), "float32")', "y = R.exp(a)"))
    assert with_wide_indices(func) is func


def test_loops_and_indices_are_of_int64_and_values_keep_their_dtype():
    head = 'A: T.Buffer((12, 1), "float32"), B: T.Buffer((8, 1), "float32")'
    before = """
for i in range(8):
    with T.block("B"):
        vi = T.axis.spatial(8, i)
        B[vi, 0] = A[vi + 1, 0] * T.Cast("float32", vi)
"""
    after = """
for i in range(T.int64(8)):
    with T.block("B"):
        vi = T.axis.spatial(T.int64(8), i)
        B[vi, T.int64(0)] = A[vi + T.int64(1), T.int64(0)] * T.Cast("float32", T.Cast("int32", vi))
"""
    given = function(head, before)
    text = given.script()
    made = with_wide_indices(given)
    expected = function(head, after)
    assert made.script().split("T.reads")[0] == expected.script().split("T.reads")[0]
    assert (
        made.script().split("T.writes")[1].split("\n", 1)[1]
        == (expected.script().split("T.writes")[1].split("\n", 1)[1])
    )
    assert given.script() == text
    assert with_wide_indices(made) is made


def test_an_index_that_wraps_around_in_int32_still_does():
    head = 'A: T.Buffer((8,), "float32"), B: T.Buffer((64,), "float32")'
    func = function(head, "for i in range(64):\n    B[i] = A[(i * 123456789) % 8]")
    wide = with_wide_indices(func)
    a = np.arange(8, dtype="float32")
    found, native, expected = (np.full(64, np.nan, "float32") for _ in range(3))
    evaluate(func, [a, expected])
    evaluate(wide, [a, found])
    compile_prim_funcs({"f": wide})["f"](a, native)
    assert found.tobytes() == native.tobytes() == expected.tobytes()
    factors = np.arange(64, dtype="int32") * np.int32(123456789)
    assert expected.tolist() == (factors % 8).tolist()


def test_a_value_that_wraps_around_in_int32_still_does():
    head = 'B: T.Buffer((64,), "int32")'
    func = function(head, "for i in range(64):\n    B[i] = i * 123456789")
    made = ApplyDefaultSchedule()(IRModule({"main": func}))["main"]
    found, expected = np.zeros(64, "int32"), np.zeros(64, "int32")
    evaluate(func, [expected])
    compile_prim_funcs({"f": made})["f"](found)
    assert found.tobytes() == expected.tobytes()


def test_loops_that_do_not_begin_at_zero_or_are_not_serial_are_left():
    head = 'A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32")'
    for loop in ("range(1, 9)", "T.vectorized(8)", "T.parallel(8)"):
        func = function(head, f"for i in {loop}:\n    B[i] = A[i]")
        assert with_wide_indices(func) is func


def test_sizes_of_int32_are_those_of_int64_loops():
    text = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    T.func_attr({'tir.noalias': True})
    n = T.int32()
    A = T.match_buffer(a, (n, 16), "float32")
    B = T.match_buffer(b, (n, 16), "float32")
    for i, j in T.grid(n, 16):
        B[i, j] = T.exp(A[i, j])
"""
    func = from_source(text)
    assert rule_of(func) == "elementwise"
    made = ApplyDefaultSchedule()(IRModule({"main": func}))["main"]
    assert_structural_equal(from_source(made.script()), made)
    a = np.linspace(0, 1, 48, dtype="float32").reshape(3, 16)
    found, expected = np.zeros((3, 16), "float32"), np.zeros((3, 16), "float32")
    compile_prim_funcs({"f": made})["f"](a, found)
    evaluate(func, [a, expected])
    np.testing.assert_allclose(found, expected, 1e-6)


OF_SIZES = {
    "product": """
for i, j, k in T.grid(n, 24, 24):
    with T.block("product"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.float32(0)
        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
""",
    "transposed_product": """
for i, j, k in T.grid(n, 24, 24):
    with T.block("product"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.float32(0)
        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
""",
    "rows": """
r = T.alloc_buffer((n,), "float32")
for i, k in T.grid(n, 24):
    with T.block("r"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            r[vi] = T.min_value("float32")
        r[vi] = T.max(r[vi], A[vi, vk])
for i, k in T.grid(n, 24):
    with T.block("C"):
        vi, vk = T.axis.remap("SS", [i, k])
        C[vi, vk] = T.exp(A[vi, vk] - r[vi]) * B[0, vk]
""",
    "nests": """
s = T.alloc_buffer((24,), "float32")
for j, k in T.grid(24, n):
    with T.block("s"):
        vj, vk = T.axis.remap("SR", [j, k])
        with T.init():
            s[vj] = T.float32(0)
        s[vj] = s[vj] + A[vk, vj]
for i, j in T.grid(n, 24):
    C[i, j] = A[i, j] - s[j] * B[0, j]
""",
    "elementwise": """
for i, j in T.grid(n, 24):
    C[i, j] = A[i, j] * B[0, j] + T.Cast("float32", i)
""",
}


@pytest.mark.parametrize("all_sizes", [False, True])
@pytest.mark.parametrize(("rule", "body"), OF_SIZES.items(), ids=OF_SIZES)
def test_sizes_of_int32_are_in_functions_of_each_rule(rule: str, body: str, all_sizes: bool):
    size = "m" if all_sizes else "24"
    lines = "\n".join(f"    {line}" for line in body.replace("24", size).splitlines())
    func = from_source(f"""
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
    T.func_attr({{'tir.noalias': True}})
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, {size}), "float32")
    B = T.match_buffer(b, ({size}, {size}), "float32")
    C = T.match_buffer(c, (n, {size}), "float32")
{lines}
""")
    made = ApplyDefaultSchedule()(IRModule({"main": func}))["main"]
    if not all_sizes:
        assert made.attrs.get("relaxscript.schedule") == rule
    assert_structural_equal(from_source(made.script()), made)
    rng = np.random.default_rng(5)
    for rows in (1, 3, 40):
        a, b = (rng.standard_normal(s).astype("float32") for s in ((rows, 24), (24, 24)))
        found, expected = (np.full((rows, 24), np.nan, "float32") for _ in range(2))
        compile_prim_funcs({"f": made})["f"](a, b, found)
        evaluate(func, [a, b, expected])
        np.testing.assert_allclose(found, expected, 1e-4, 1e-4)


def test_products_of_tensor_expressions_over_integers_are_by_tiles():
    a = te.placeholder((64, 48), "float32", "a")
    b = te.placeholder((48, 32), "float32", "b")
    k = te.reduce_axis((0, 48), "k")
    c = te.compute((64, 32), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), "c")
    for result in (c, topi.matmul(a, b)):
        assert rule_of(te.create_prim_func([a, b, result])) == "product"
