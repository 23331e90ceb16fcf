"""Sums of products by tiles: convolutions and products of every layout, within their bound."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_funcs
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript.transform.default_schedule import contraction_sizes, nests
from relaxscript.transform.default_schedule.contraction_axes import contraction_of
from relaxscript.transform.default_schedule.loop_nests import parts_of
from relaxscript.transform.default_schedule.processor import Processor, this_processor
from relaxscript.transform.default_schedule.row_nests import plain_nest
from relaxscript_tests.transform.default_schedule.fused_programs import fused, only_prim_func
from relaxscript_tests.transform.default_schedule.row_functions import prim_func

# Tiles of 2 rows by 4 columns, so that small sizes have edges and several panels.
SMALL = Processor(8, 7)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of so few elements that small sizes have several."""
    for name, value in {"DEPTH": 6, "KEPT": 48, "COPIED": 40}.items():
        monkeypatch.setattr(contraction_sizes, name, value)


def operands(*shapes: tuple[int | str, ...]) -> str:
    names = [
        f"{name}: R.Tensor({shape!r}, {{dtype}})".replace("'", '"')
        for name, shape in zip("xw", shapes)
    ]
    return ", ".join(names)


CONVOLUTIONS = {
    "channels first": ((2, 3, 5, 7), (4, 3, 3, 2), "R.nn.conv2d(x, w)"),
    "padded": ((1, 3, 5, 6), (5, 3, 3, 3), "R.nn.conv2d(x, w, padding=1)"),
    "strided": ((1, 2, 7, 9), (6, 2, 3, 3), "R.nn.conv2d(x, w, padding=[1, 0], strides=[2, 3])"),
    "dilated": ((2, 2, 7, 8), (4, 2, 3, 2), "R.nn.conv2d(x, w, dilation=[2, 1])"),
    "of points": ((2, 5, 3, 4), (4, 5, 1, 1), "R.nn.conv2d(x, w)"),
    "in groups": ((1, 6, 4, 5), (8, 3, 3, 3), "R.nn.conv2d(x, w, padding=1, groups=2)"),
    "channels last": (
        (2, 4, 5, 3), (9, 3, 3, 2), "R.nn.conv2d(x, w, padding=1, data_layout='NHWC')",
    ),
    "all last": (
        (2, 4, 5, 3), (3, 2, 3, 6),
        "R.nn.conv2d(x, w, data_layout='NHWC', kernel_layout='HWIO')",
    ),
    "groups last": (
        (1, 4, 5, 6), (8, 3, 2, 3), "R.nn.conv2d(x, w, groups=2, data_layout='NHWC')",
    ),
    "of lines": ((2, 3, 11), (4, 3, 3), "R.nn.conv1d(x, w, padding=1)"),
    "of lines, strided": ((2, 3, 11), (4, 3, 3), "R.nn.conv1d(x, w, strides=2)"),
    "of lines, channels last": ((2, 9, 3), (5, 3, 3), "R.nn.conv1d(x, w, data_layout='NWC')"),
    "of volumes": ((1, 2, 4, 3, 5), (4, 2, 2, 2, 3), "R.nn.conv3d(x, w, padding=[0, 1, 0])"),
    "of any number": (("n", 3, 5, 7), (4, 3, 3, 3), "R.nn.conv2d(x, w, padding=1)"),
    "of any number, channels last": (
        ("n", 5, 4, 3), (5, 3, 3, 2), "R.nn.conv2d(x, w, data_layout='NHWC')",
    ),
}  # fmt: skip
# The loops of the result, those of the sum, and the indices of both factors.
PRODUCTS = {
    "rows of both": ("i=5, j=6", "k=9", "i, k", "j, k"),
    "columns of both": ("i=5, j=7", "k=9", "k, i", "k, j"),
    "of batches": ("q=2, i=5, j=7", "k=9", "q, i, k", "q, j, k"),
    "over two axes": ("i=5, j=6", "k=3, l=4", "i, k, l", "l, k, j"),
    "of any rows": ("i=n, j=6", "k=9", "i, k", "j, k"),
    "of any columns": ("i=5, j=n", "k=9", "k, i", "k, j"),
    "of four axes": ("i=2, j=3, p=2, q=3", "k=5", "j, k, i", "q, p, k"),
}
ALL = [*CONVOLUTIONS, *PRODUCTS]


def sum_of_products(name: str, dtype: str) -> tuple[PrimFunc, str]:
    """A function of a sum of products, and its letters."""
    outer, inner, x, w = PRODUCTS[name]
    sizes = dict(part.split("=") for part in f"{outer}, {inner}".split(", "))
    result, steps = (
        ", ".join(part.split("=")[0] for part in loops.split(", ")) for loops in (outer, inner)
    )

    def buffer(name: str, axes: str) -> str:
        dims = ", ".join(sizes[axis].replace("n", '"n"') for axis in axes.split(", "))
        return f'{name}: T.Buffer(({dims},), "{dtype}")'

    kinds = "S" * len(result.split(",")) + "R" * len(steps.split(","))
    extents = ", ".join("n" if size == "n" else f"T.int64({size})" for size in sizes.values())
    body = f"""
for {result}, {steps} in T.grid({extents}):
    with T.block("c"):
        {result}, {steps} = T.axis.remap("{kinds}", [{result}, {steps}])
        with T.init():
            c[{result}] = T.{dtype}(0)
        c[{result}] = c[{result}] + a[{x}] * b[{w}]
"""
    if "n" in sizes.values():
        body = f"n = T.int64(){body}"
    head = ", ".join([buffer("a", x), buffer("b", w), buffer("c", result)])
    return prim_func(head, body), f"{x},{w}->{result}".replace(", ", "")


def check(name: str, processor: Processor, dtype: str = "float32", n: int = 3) -> None:
    """Native code has the bits of the evaluator, which are within the bound of the sums."""
    if name in CONVOLUTIONS:
        *shapes, body = CONVOLUTIONS[name]
        head = operands(*shapes)
        func = by_tiles(head.format(dtype=f'"{dtype}"'), body, processor)
        mod = fused(head.format(dtype='"float64"'), f"y = {body}")
        exactly = functools.partial(EXECUTORS["interpreter"](mod), "main")
    else:
        before, subscripts = sum_of_products(name, dtype)
        found_func = nests(before, processor)
        assert found_func is not None
        assert "tile" in found_func.script()
        func = found_func
        exactly = functools.partial(np.einsum, subscripts)
        buffers = [before.buffer_map[p] for p in before.params[:2]]
        shapes = [[getattr(d, "value", n) for d in buffer.shape] for buffer in buffers]
    kernel = compile_prim_funcs({"f": func})["f"]
    generator = np.random.default_rng(len(name))
    sizes = [[n if d == "n" else d for d in shape] for shape in shapes]
    x, w = (generator.standard_normal(size).astype(dtype) for size in sizes)
    wide = x.astype("float64"), w.astype("float64")
    exact, terms = exactly(*wide), exactly(*map(np.abs, wide))
    found, expected = (np.full(exact.shape, np.nan, dtype) for _ in range(2))
    kernel(x, w, found)
    evaluate(func, [x, w, expected])
    assert found.tobytes() == expected.tobytes()
    bound = np.finfo(dtype).eps * (w.size + 2) * terms
    assert (np.abs(found - exact) <= bound).all()


def by_tiles(head: str, body: str, processor: Processor) -> PrimFunc:
    """The only function of a program by tiles."""

    def rule(func: PrimFunc, _: Processor) -> PrimFunc | None:
        return nests(func, processor)

    made = ApplyDefaultSchedule(rule)(fused(head, f"y = {body}"))
    func = only_prim_func(made)
    assert "tile" in func.script()
    assert_structural_equal(from_source(made.script()), made)
    return func


@pytest.mark.parametrize("name", ALL)
def test_every_edge_of_tiles_is_computed(name: str):
    check(name, SMALL)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", ALL)
def test_blocks_are_added_up(name: str):
    check(name, SMALL)


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("name", ["padded", "strided", "in groups", "channels last"])
def test_tiles_of_every_processor_compute_the_same(name: str, vector_bytes: int):
    check(name, Processor(vector_bytes, 16 if vector_bytes < 64 else 32))


@pytest.mark.parametrize("name", ["padded", "channels last", "rows of both"])
def test_float64_has_tiles(name: str):
    check(name, Processor(16, 7), "float64")


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("name", [name for name in ALL if "any" in name])
def test_one_compilation_serves_every_number(name: str, n: int):
    check(name, SMALL, n=n)


def test_what_follows_a_convolution_is_in_the_same_function():
    head = operands((1, 3, 5, 6), (5, 3, 3, 3)) + ", b: R.Tensor((1, 5, 1, 1), {dtype})"
    body = "h = R.nn.conv2d(x, w, padding=1)\nh = R.add(h, b)\ny = R.nn.relu(h)"
    mod = fused(head.format(dtype='"float32"'), body)
    made = ApplyDefaultSchedule(lambda func, _: nests(func, SMALL))(mod)
    only_prim_func(made)
    generator = np.random.default_rng(1)
    shapes = (1, 3, 5, 6), (5, 3, 3, 3), (1, 5, 1, 1)
    given = [generator.standard_normal(shape).astype("float32") for shape in shapes]
    expected = EXECUTORS["interpreter"](mod)("main", *given)
    for run in EXECUTORS.values():
        np.testing.assert_allclose(run(made)("main", *given), expected, rtol=1e-5, atol=1e-5)


def test_halves_are_multiplied_as_they_are_written():
    head = operands((5, 9), (9, 6)).format(dtype='"float16"')
    body = "R.matmul(x, w, out_dtype='float32')"
    func = by_tiles(head, body, SMALL)
    generator = np.random.default_rng(1)
    x, w = (generator.standard_normal(shape).astype("float16") for shape in ((5, 9), (9, 6)))
    found = np.empty((5, 6), "float32")
    compile_prim_funcs({"f": func})["f"](x, w, found)
    np.testing.assert_allclose(found, x.astype("float64") @ w.astype("float64"), rtol=1e-5)


def test_the_tile_of_a_convolution_stays_in_registers():
    head = operands((1, 8, 9, 9), (8, 8, 3, 3)).format(dtype='"float32"')
    func = by_tiles(head, "R.nn.conv2d(x, w, padding=1)", Processor(32, 16))
    kernel = compile_prim_funcs({"f": func})["f"]
    # That of 4 rows and 2 vectors, which is there twice before: once to be put.
    before, after = (
        text.count("alloca [64 x float]") for text in (kernel.llvm_ir, kernel.optimised_ir)
    )
    assert (before, after) == (2, 1)


@pytest.mark.parametrize(
    ("shapes", "body"),
    [
        (((1, 4, 5, 6), (4, 1, 3, 3)), "R.nn.conv2d(x, w, groups=4)"),  # one row in each group
        (((1, 3, 5, "n"), (4, 3, 3, 3)), "R.nn.conv2d(x, w)"),  # lines of any length
    ],
)
def test_what_tiles_gain_nothing_for_has_none(shapes: Any, body: str):
    mod = fused(operands(*shapes).format(dtype='"float32"'), f"y = {body}")
    func = nests(only_prim_func(mod), SMALL)
    assert func is None or "tile" not in func.script()


@pytest.mark.parametrize(
    ("outer", "inner"), [("i=2, j=6", "k=9"), ("i=5, j=6", "k=3"), ("i=5, j=6", "k=n")]
)
def test_few_rows_and_steps_and_any_steps_have_no_tiles(
    outer: str, inner: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(PRODUCTS, "small", (outer, inner, "i, k", "j, k"))
    func = nests(sum_of_products("small", "float32")[0], SMALL)
    assert func is None or "tile" not in func.script()


BLOCK = """
for i, j, k in T.grid(8, 8, 8):
    with T.block("C"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.float32({start})
        C[vi, vj] = C[vi, vj] + ({value})
"""
HEAD = ", ".join(f'{name}: T.Buffer((8, 8), "float32")' for name in "ABC")


@pytest.mark.parametrize(
    ("start", "value"),
    [
        ("1", "A[vi, vk] * B[vk, vj]"),
        ("0", "A[vi, vk] + B[vk, vj]"),
        ("0", "A[vi, vk] * B[vi, vj]"),  # a step that no factor has
        ("0", "A[vi, vj] * B[vi, vj]"),
        ("0", "A[vi, vk] * T.float32(2)"),
    ],
)
def test_other_sums_are_no_contractions(start: str, value: str):
    def found(start: str, value: str) -> Any:
        text = BLOCK.format(start=start, value=value)
        lines = "\n".join(f"    {line}" for line in text.strip().splitlines())
        parts = parts_of(from_source(f"@T.prim_func\ndef main({HEAD}):\n{lines}\n"))
        assert parts is not None
        nest = plain_nest(parts.parts[0])
        assert nest is not None
        assert nest.start is not None
        return contraction_of(nest, nest.start)

    assert found("0", "A[vi, vk] * B[vk, vj]") is not None
    assert found(start, value) is None


def test_this_processor_has_tiles():
    check("padded", this_processor())
