"""Reductions of rows: what they compute for every length, and functions that are left alone."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_funcs
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm, Ramp, Shuffle
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import IfThenElse, PrimFunc
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript.transform.default_schedule import rows
from relaxscript.transform.default_schedule.processor import Processor, this_processor
from relaxscript_tests import examples
from relaxscript_tests.transform.default_schedule.fused_programs import (
    fused,
    only_prim_func,
)
from relaxscript_tests.transform.default_schedule.row_functions import (
    MATRIX,
    Array,
    bits,
    function_over_rows,
    of_blocks,
    prim_func,
    random,
)
from relaxscript_tests.transform.default_schedule.same_results import (
    assert_same_on_fused_programs,
)

EIGHT = Processor(32, 16)
# Lengths around one vector, several vectors at once, and both.
LENGTHS = (0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 41, 63, 100)
EPS = float(np.finfo("float32").eps)


def by_rows(mod: IRModule, processor: Processor = EIGHT) -> PrimFunc:
    """The only function of a module by rows, as it is to be compiled."""

    def rule(func: PrimFunc, _: Processor) -> PrimFunc | None:
        return rows(func, processor)

    made = only_prim_func(ApplyDefaultSchedule(rule)(mod))
    assert made.attrs["relaxscript.schedule"] == "rule"
    return made


class Family:
    """An operator over rows: its program, the exact result, and the bound of the difference."""

    def __init__(
        self, parameters: str, body: str, exact: Callable[..., Any], bound: Callable[..., Any],
        kept: bool = True,
    ) -> None:  # fmt: skip
        self.mod = fused(parameters, body)
        self.vectors = parameters.count('("n",)')
        self.exact = exact
        self.bound = bound
        self.kept = kept

    def check(self, kernel: Callable[..., None], func: PrimFunc, m: int, n: int) -> None:
        x, *others = random((m, n), *[(n,)] * self.vectors)
        shape = (m, n) if self.kept else (m,)
        found, expected = np.full(shape, 7, "float32"), np.full(shape, 8, "float32")
        kernel(x, *others, found)
        evaluate(func, [x, *others, expected])
        assert bits(found) == bits(expected)
        wide = [array.astype("float64") for array in (x, *others)]
        with np.errstate(all="ignore"):
            exact, bound = self.exact(*wide), self.bound(*wide)
            same = (found == exact) | (np.abs(found - exact) <= bound)
        assert (same | (np.isnan(found) & np.isnan(exact))).all()


X = 'x: R.Tensor(("m", "n"), "float32")'
G, B = (f', {name}: R.Tensor(("n",), "float32")' for name in "gb")


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    return e / e.sum(-1, keepdims=True)


def log_softmax(x: Array) -> Array:
    t = x - x.max(-1, keepdims=True, initial=-np.inf)
    return t - np.log(np.exp(t).sum(-1, keepdims=True))


def spread(x: Array) -> Array:
    return x.max(-1, keepdims=True, initial=0) - x.min(-1, keepdims=True, initial=0)


def mean(x: Array) -> Array:
    return x.sum(-1, keepdims=True) / x.shape[-1]


def layer_norm(x: Array, g: Array, b: Array) -> Array:
    c = x - mean(x)
    return c / np.sqrt(mean(c * c) + 1e-5) * g + b


def layer_norm_bound(x: Array, g: Array, b: Array) -> Array:
    """Two roundings of what is normalized, and one of the sum: see `topi.nn.layer_norm`."""
    return 1.5 * ONE_UNIT * (np.abs(layer_norm(x, g, 0 * b)) + np.abs(b)) + 1e-12


def rms_norm(x: Array, g: Array) -> Array:
    return x / np.sqrt(mean(x * x) + 1e-5) * g


# Sums are written in float64, so that their bound is far below one unit of float32.
ONE_UNIT = 1.01 * EPS
FAMILIES = {
    "softmax": lambda: Family(
        X, "y = R.nn.softmax(x)", softmax, lambda x: EPS * (8 + spread(x)) * softmax(x)
    ),
    "log_softmax": lambda: Family(
        X, "y = R.nn.log_softmax(x)", log_softmax, lambda x: EPS * (8 + spread(x))
    ),
    "layer_norm": lambda: Family(
        X + G + B, "y = R.nn.layer_norm(x, g, b, axes=[-1])", layer_norm, layer_norm_bound
    ),
    "rms_norm": lambda: Family(
        X + G, "y = R.nn.rms_norm(x, g, axes=[-1])", rms_norm,
        lambda x, g: ONE_UNIT * np.abs(rms_norm(x, g)),
    ),
    "sum": lambda: Family(
        X, "y = R.sum(x, axis=-1)", lambda x: x.sum(-1),
        lambda x: ONE_UNIT * np.abs(x.sum(-1)) + 1e-12, False,
    ),
    "mean": lambda: Family(
        X, "y = R.mean(x, axis=-1)", lambda x: mean(x)[:, 0],
        lambda x: ONE_UNIT * np.abs(mean(x)[:, 0]) + 1e-12, False,
    ),
    "prod": lambda: Family(
        X, "y = R.prod(x, axis=-1)", lambda x: x.prod(-1),
        lambda x: ONE_UNIT * np.abs(x.prod(-1)) + 1e-45, False,
    ),
    "max": lambda: Family(
        X, "y = R.max(x, axis=-1)", lambda x: x.max(-1, initial=-np.inf), lambda x: 0, False
    ),
    "min": lambda: Family(
        X, "y = R.min(x, axis=-1)", lambda x: x.min(-1, initial=np.inf), lambda x: 0, False
    ),
    "softmax and a product": lambda: Family(
        X + G, "h = R.nn.softmax(x)\ny = R.multiply(h, g)", lambda x, g: softmax(x) * g,
        lambda x, g: EPS * (9 + spread(x)) * np.abs(softmax(x) * g),
    ),
}  # fmt: skip


@pytest.mark.parametrize("vector_bytes", [8, 16, 32])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_length_is_computed_with_the_same_bits_as_by_the_evaluator(
    name: str, vector_bytes: int
):
    family = FAMILIES[name]()
    func = by_rows(family.mod, Processor(vector_bytes, 16))
    kernel = compile_prim_funcs({"f": func})["f"]
    for m in (0, 1, 3):
        for n in LENGTHS:
            family.check(kernel, func, m, n)


SUM = of_blocks("SR", "T.float32(0)", "B[vi] + A[vi, vk]")


def test_a_row_is_reduced_by_several_vectors_that_are_put_together():
    head = 'A: T.Buffer((3, 22), "float32"), B: T.Buffer((3,), "float32")'
    before = """
for i, k in T.grid(3, 22):
    with T.block("B"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            B[vi] = T.float32(0)
        B[vi] = B[vi] + A[vi, vk]
"""
    after = """
for i in range(3):
    with T.allocate([T.int64(1)], "float32", "global") as total_data:
        total = T.decl_buffer((1,), data=total_data)
        with T.allocate([T.int64(16)], "float32", "global") as partial_data:
            partial = T.decl_buffer((16,), data=partial_data)
            for u in T.unroll(4):
                partial[T.Ramp(u * 4, 1, 4)] = T.Broadcast(T.float32(0), 4)
            for b in range(1):
                for u in T.unroll(4):
                    partial[T.Ramp(u * 4, 1, 4)] = (
                        partial[T.Ramp(u * 4, 1, 4)] + A[i, T.Ramp(b * 16 + u * 4, 1, 4)]
                    )
            for j in range(1):
                partial[T.Ramp(0, 1, 4)] = (
                    partial[T.Ramp(0, 1, 4)] + A[i, T.Ramp(16 + j * 4, 1, 4)]
                )
            partial[T.Ramp(0, 1, 4)] = T.Select(
                T.Ramp(0, 1, 4) >= T.Broadcast(2, 4),
                partial[T.Ramp(0, 1, 4)] + A[i, T.Ramp(18, 1, 4)],
                partial[T.Ramp(0, 1, 4)],
            )
            v = (partial[T.Ramp(0, 1, 4)] + partial[T.Ramp(4, 1, 4)]) + (
                partial[T.Ramp(8, 1, 4)] + partial[T.Ramp(12, 1, 4)]
            )
            h = T.Shuffle([v], [0, 1]) + T.Shuffle([v], [2, 3])
            total[0] = T.Shuffle([h], [0]) + T.Shuffle([h], [1])
        s: T.float32 = total[0]
        B[i] = s
"""
    made = rows(prim_func(head, before), Processor(16))
    assert_structural_equal(made, prim_func(head, after))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sum_is_within_its_bound_in_the_type_that_is_written(dtype: str):
    body = SUM.replace("float32", dtype)
    func = rows(prim_func(MATRIX.format(dtype), body), EIGHT)
    assert func is not None
    kernel = compile_prim_funcs({"f": func})["f"]
    for n in (*LENGTHS, 1001):
        (a,) = random((3, n), dtype=dtype)
        found = np.empty(3, dtype)
        kernel(a, found)
        exact = a.astype("longdouble").sum(-1)
        bound = np.finfo(dtype).eps * n * np.abs(a.astype("longdouble")).sum(-1)
        assert (np.abs(found - exact) <= bound).all()


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "float16"])
@pytest.mark.parametrize("operation", ["+", "max"])
def test_other_types_give_the_same_bits_as_by_the_evaluator(dtype: str, operation: str):
    value = "B[vi] + A[vi, vk]" if operation == "+" else "T.max(B[vi], A[vi, vk])"
    before = prim_func(MATRIX.format(dtype), of_blocks("SR", f"T.{dtype}(0)", value))
    func = rows(before, EIGHT)
    assert func is not None
    kernel = compile_prim_funcs({"f": func})["f"]
    for n in (0, 1, 31, 70):
        (a,) = random((2, n), dtype=dtype)
        found, expected, plain = (np.empty(2, dtype) for _ in range(3))
        kernel(a, found)
        evaluate(func, [a, expected])
        evaluate(before, [a, plain])
        assert found.tobytes() == expected.tobytes()
        if operation == "max" or dtype != "float16":
            assert found.tobytes() == plain.tobytes()


@pytest.mark.parametrize("operator", ["any", "all"])
def test_truths_of_a_row_become_one(operator: str):
    func = by_rows(fused(X.replace("float32", "bool"), f"y = R.{operator}(x, axis=-1)"))
    kernel = compile_prim_funcs({"f": func})["f"]
    for n in (0, 1, 31, 70, 300):
        for odd in {None, 0, n // 2, n - 1} & {None, *range(n)}:
            x = np.full((2, n), operator == "all")
            if odd is not None:
                x[1, odd] = operator == "any"
            found, expected = np.zeros(2, bool), np.ones(2, bool)
            kernel(x, found)
            evaluate(func, [x, expected])
            assert found.tolist() == expected.tolist() == getattr(x, operator)(-1).tolist()


def test_a_maximum_is_nan_where_an_element_is():
    mod = fused(X, "y = R.max(x, axis=-1)")
    kernel = compile_prim_funcs({"f": by_rows(mod)})["f"]
    for n in (1, 7, 8, 33, 70):
        for place in range(n):
            (x,) = random((2, n))
            x[1, place] = np.nan
            found = np.empty(2, "float32")
            kernel(x, found)
            np.testing.assert_array_equal(found, x.max(-1))


def test_partial_results_are_kept_in_registers():
    kernel = compile_prim_funcs({"f": by_rows(fused(X, "y = R.nn.log_softmax(x)"))})["f"]
    assert " = alloca [64 x float]" in kernel.llvm_ir
    assert "alloca" not in kernel.optimised_ir


def test_a_vector_of_partial_results_takes_at_most_two_registers():
    head = 'A: T.Buffer(("m", "n"), "int8"), B: T.Buffer(("m",), "int64")'
    body = of_blocks("SR", "T.int64(0)", 'B[vi] + T.Cast("int64", A[vi, vk])')
    func = rows(prim_func(head, body), EIGHT)
    assert func is not None
    lanes = [node.lanes for node in walk(func.body) if isinstance(node, Ramp)]
    assert set(lanes) == {8}


def test_a_row_that_turns_out_to_be_short_puts_no_vectors_together():
    func = rows(prim_func(MATRIX.format("float32"), SUM), EIGHT)
    assert func is not None
    (choice,) = [node for node in walk(func.body) if isinstance(node, IfThenElse)]
    assert str(choice.condition) == "n >= 8"
    shuffles = [sum(isinstance(x, Shuffle) for x in walk(s)) for s in (func.body, choice.then_case)]
    assert shuffles == [6, 6]


def test_an_element_that_is_computed_by_a_call_is_kept_for_the_next_pass():
    text = by_rows(fused(X, "y = R.nn.softmax(x)")).script()
    # Once for several vectors, for single ones, and for short rows: of one pass.
    assert text.count("T.exp(") == 3
    assert "T.allocate([n]" in text


def test_an_element_that_costs_little_is_computed_again():
    func = prim_func(
        'A: T.Buffer(("m", "n"), "float32"), C: T.Buffer(("m", "n"), "float32")',
        """
m = T.int64()
n = T.int64()
t = T.alloc_buffer((m, n))
s = T.alloc_buffer((m,))
for i, k in T.grid(m, n):
    t[i, k] = A[i, k] * T.float32(2)
for i in range(m):
    s[i] = T.float32(0)
for i, k in T.grid(m, n):
    s[i] = s[i] + t[i, k]
for i, k in T.grid(m, n):
    C[i, k] = t[i, k] - s[i]
""",
    )
    made = rows(func, EIGHT)
    assert made is not None
    assert made.script().count("A[i, k]") == 2
    assert "T.allocate([n" not in made.script()


def test_what_is_the_same_for_a_row_is_computed_once():
    text = by_rows(fused(X, "y = R.nn.log_softmax(x)")).script()
    assert text.count("T.log(") == 1
    assert by_rows(fused(X, "y = R.nn.softmax(x)")).script().count("1.0 / ") == 1


def test_an_element_that_an_empty_row_does_not_have_is_not_read_before_the_row():
    func = prim_func(
        'A: T.Buffer(("m", "n"), "float32"), B: T.Buffer(("m",), "float32")',
        of_blocks("SR", "T.float32(0)", "B[vi] + T.abs(A[vi, 0]) * A[vi, vk]"),
    )
    made = rows(func, EIGHT)
    assert made is not None
    kernel = compile_prim_funcs({"f": made})["f"]
    for n in (0, 1, 9):
        (a,) = random((2, n))
        found, expected = np.full(2, np.nan, "float32"), np.full(2, np.nan, "float32")
        kernel(a, found)
        evaluate(made, [a, expected])
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((2, 3, 5), [1, 2]), ((2, 3, 5), [0, 1, 2]), ((2, 1, 9), [2]),
     ((3, 4, 1), [1, 2]), ((2, 3, 1, 5), [1, 2, 3]), ((17,), [0])],
)  # fmt: skip
@pytest.mark.parametrize("keepdims", [False, True])
def test_last_axes_that_lie_behind_one_another_are_one_row(
    shape: tuple[int, ...], axes: list[int], keepdims: bool
):
    parameters = f'x: R.Tensor({shape}, "float32")'
    func = by_rows(
        fused(parameters, f"y = R.sum(x, axis={axes}, keepdims={keepdims})"), Processor(8)
    )
    (x,) = random(shape)
    exact = x.astype("float64").sum(tuple(axes), keepdims=keepdims)
    found, expected = np.empty(exact.shape, "float32"), np.empty(exact.shape, "float32")
    compile_prim_funcs({"f": func})["f"](x, found)
    evaluate(func, [x, expected])
    assert found.tobytes() == expected.tobytes()
    np.testing.assert_allclose(found, exact, rtol=EPS, atol=1e-12)


def test_norms_of_several_axes_with_what_follows():
    parameters = ", ".join(
        f'{name}: R.Tensor(({shape}"p", "q"), "float32")'
        for name, shape in (("x", '"m", '), ("g", ""), ("b", ""))
    )
    body = "h = R.nn.layer_norm(x, g, b, axes=[-2, -1])\ny = R.nn.relu(h)"
    mod = fused(parameters, body)
    func = by_rows(mod)
    kernel = compile_prim_funcs({"f": func})["f"]
    for p, q in ((0, 3), (1, 1), (3, 5), (8, 8), (5, 21)):
        x, g, b = random((2, p, q), (p, q), (p, q))
        found, expected = np.empty_like(x), np.empty_like(x)
        kernel(x, g, b, found)
        evaluate(func, [x, g, b, expected])
        assert found.tobytes() == expected.tobytes()
        flat = [a.astype("float64").reshape((*a.shape[:-2], p * q)) for a in (x, g, b)]
        with np.errstate(all="ignore"):
            exact = np.maximum(layer_norm(*flat), 0).reshape(x.shape)
            assert (np.abs(found - exact) <= layer_norm_bound(*flat).reshape(x.shape)).all()


IMAGE = 'x: R.Tensor(("m", 2, 3, "n"), "float32")'
CHANNELS = ', g: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32")'


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        (X, "y = R.variance(x, axis=-1)"),
        (X, "y = R.std(x, axis=-1, keepdims=True)"),
        (f'{X}, z: R.Tensor(("m", "n"), "float32")', "y = R.nn.cross_entropy_with_logits(x, z)"),
        (X.replace("float32", "float16"), "y = R.nn.softmax(x)"),
        (X.replace("float32", "float64"), "y = R.nn.log_softmax(x)"),
        (IMAGE, "y = R.nn.softmax(x)"),
        (IMAGE, "y = R.mean(x, axis=[2, 3])"),
        (IMAGE + CHANNELS, "y = R.nn.instance_norm(x, g, b, channel_axis=1, axes=[2, 3])"),
        (X.replace('"m", "n"', '"n",'), "h = R.nn.softmax(x)\ny = R.exp(h)"),
    ],
)
def test_other_operators_over_rows_compute_the_same(parameters: str, body: str):
    mod = fused(parameters, body)
    before, func = only_prim_func(mod), by_rows(mod)
    kernel = compile_prim_funcs({"f": func})["f"]
    for n in (0, 1, 5, 8, 33, 50):
        arrays = []
        for number, buffer in enumerate(before.buffer_map[p] for p in before.params):
            shape = [
                d.value if isinstance(d, IntImm) else {"m": 3}.get(d.name, n) for d in buffer.shape
            ]
            arrays.append(random((*shape, number + 1), dtype=str(buffer.dtype))[0][..., 0].copy())
        *given, _ = arrays
        found, expected, plain = (np.zeros_like(arrays[-1]) for _ in range(3))
        kernel(*given, found)
        evaluate(func, [*given, expected])
        evaluate(before, [*given, plain])
        assert bits(found) == bits(expected)
        # Functions of vector math, and the rounding of float16.
        tolerance = 1e-3 if found.dtype == "float16" else 1e-5
        np.testing.assert_allclose(found, plain, rtol=tolerance, atol=tolerance)


def test_what_is_scheduled_says_so_and_gives_the_same_bits_each_time():
    mod = fused(X, "y = R.nn.softmax(x)")
    made = ApplyDefaultSchedule()(mod)
    assert only_prim_func(made).attrs["relaxscript.schedule"] == "rows"
    assert ApplyDefaultSchedule()(made) is made
    assert_structural_equal(from_source(made.script()), made)
    run = EXECUTORS["llvm"](made)
    (x,) = random((5, 1001))
    assert run("main", x).tobytes() == run("main", x).tobytes()


def test_a_long_chain_before_a_reduction_is_one_pass():
    count = 1500
    stages = "\n".join(
        f"for i, k in T.grid(2, 16):\n    t{n + 1}[i, k] = t{n}[i, k] + T.float32(1)"
        for n in range(count)
    )
    buffers = "\n".join(f"t{n} = T.alloc_buffer((2, 16))" for n in range(count + 1))
    body = f"""
{buffers}
for i, k in T.grid(2, 16):
    t0[i, k] = A[i, k]
{stages}
for i in range(2):
    B[i] = T.float32(0)
for i, k in T.grid(2, 16):
    B[i] = B[i] + t{count}[i, k]
"""
    head = 'A: T.Buffer((2, 16), "float32"), B: T.Buffer((2,), "float32")'
    assert rows(prim_func(head, body), EIGHT) is not None


PLAIN = {"kind": "SR", "start": "T.float32(0)", "value": "B[vi] + A[vi, vk]"}


@pytest.mark.parametrize(
    "change",
    [
        {"value": "B[vi] + B[vi]"},
        {"value": "B[vi] - A[vi, vk]"},
        {"value": "A[vi, vk]"},
        {"value": "A[vi, vk] + B[vi]"},
        {"start": "T.float32(1)"},
        {"start": "A[i, 0]"},
        {"value": "B[vi] + A[vi, n - 1 - vk]"},
        {"value": "B[vi] + A[vk, vi]"},
        {"value": "B[vi] + A[vi, vk + 1]"},
        {"value": "B[0] + A[vi, vk]"},
        {"extents": "n, m"},
        {"extents": "T.int64(3), n"},
    ],
)
def test_another_function_has_no_rows(change: dict[str, str]):
    assert rows(prim_func(MATRIX.format("float32"), of_blocks(**PLAIN)), EIGHT) is not None
    func = prim_func(MATRIX.format("float32"), of_blocks(**{**PLAIN, **change}))
    assert rows(func, EIGHT) is None


def test_parameters_that_may_share_memory_have_no_rows():
    assert rows(prim_func(MATRIX.format("float32"), SUM, noalias=False), EIGHT) is None


@pytest.mark.parametrize(
    "body",
    [
        "for i, k in T.grid(4, 16):\n    C[i, k] = A[i, k]",  # nothing is reduced
        "for i in range(4):\n    s[i] = A[i, 0]\n"
        "for i, k in T.grid(4, 16):\n    C[i, k] = A[i, k] * s[i]",
        "for i, k in T.grid(4, 16):\n    s[i] = s[i] + A[i, k]\n"  # begins with what is there
        "for i, k in T.grid(4, 16):\n    C[i, k] = A[i, k] * s[i]",
        "for i in range(4):\n    s[i] = T.float32(0)\n"
        "for i, k in T.grid(4, 16):\n    s[i] = s[i] + A[i, k]\n"
        "for i, k in T.grid(4, 16):\n    C[i, k] = A[i, k] * s[0]",  # of another row
        "for i in range(4):\n    s[i] = T.float32(0)\n"
        "for i, k in T.grid(4, 16):\n    C[i, k] = A[i, k] * s[i]\n"  # before its sum
        "for i, k in T.grid(4, 16):\n    s[i] = s[i] + A[i, k]",
        "for i in range(4):\n    s[i] = T.float32(0)\n"
        "for i, k in T.grid(4, 16):\n    s[i] = s[i] + A[i, k]\n"
        "for i, k in T.grid(4, 16):\n    A[i, k] = s[i]",  # what is read is overwritten
        "for i in range(4):\n    s[i] = T.float32(0)\n"
        "for k, i in T.grid(16, 4):\n    s[i] = s[i] + A[i, k]",
        "for i in range(4):\n    s[i] = T.float32(0)\n"
        "for i, k in T.grid(4, 16):\n    s[i] = s[i] + C[i, k] * t[i, k]",  # never stored
    ],
)
def test_rows_that_depend_on_others_are_left_in_their_order(body: str):
    head = 'A: T.Buffer((4, 16), "float32"), C: T.Buffer((4, 16), "float32")'
    own = "s = T.alloc_buffer((4,))\nt = T.alloc_buffer((4, 16))\n"
    assert rows(prim_func(head, own + body), EIGHT) is None


def test_a_row_that_is_shorter_than_a_vector_is_left_as_it_is():
    mod = fused('x: R.Tensor((64, 7), "float32")', "y = R.nn.softmax(x)")
    assert rows(only_prim_func(mod), EIGHT) is None
    assert rows(only_prim_func(mod), Processor(16)) is not None


@pytest.mark.parametrize("vector_bytes", [8, 16])
def test_fused_programs_compute_the_same_by_rows(vector_bytes: int):
    processor = Processor(vector_bytes, 16)
    assert_same_on_fused_programs(lambda func, _: rows(func, processor))


def test_random_functions_over_rows_compute_the_same():
    for seed in range(examples(60)):
        rng = Random(seed)
        before = function_over_rows(seed)
        func = rows(before, Processor(rng.choice((8, 16, 32))))
        assert func is not None
        func = func.with_attr("tir.vector_math", True)
        assert_structural_equal(from_source(func.script()), func)
        kernel = compile_prim_funcs({"f": func})["f"]
        for n in (0, rng.choice(LENGTHS), rng.choice(LENGTHS)):
            given = [x / 3 for x in random((2, n), (n,), (2,))]
            made = [[np.empty(s, "float32") for s in ((2, n), (2,), (2,))] for _ in range(3)]
            kernel(*given, *made[0])
            evaluate(func, [*given, *made[1]])
            evaluate(before, [*given, *made[2]])
            for found, expected, plain in zip(*made, strict=True):
                assert bits(found) == bits(expected)
                np.testing.assert_allclose(found, plain, rtol=1e-3, atol=1e-3)


def test_this_processor_has_rows():
    assert by_rows(fused(X, "y = R.nn.softmax(x)"), this_processor()) is not None
