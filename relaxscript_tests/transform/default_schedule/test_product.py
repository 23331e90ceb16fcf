"""Products by tiles: what they compute at every edge, and functions that are left as they are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_funcs
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript.transform.default_schedule import direct_product, product
from relaxscript.transform.default_schedule.direct_product import best_shape
from relaxscript.transform.default_schedule.processor import Processor, this_processor
from relaxscript_tests.transform.default_schedule.fused_programs import fused, only_prim_func

# Tiles of 2 rows by 4 columns, so that small matrices have edges and several panels.
SMALL = Processor(8, 7)
AVX512 = Processor(64, 32)


def by_tiles(mod: IRModule, processor: Processor = SMALL) -> IRModule:
    """The module with its products by tiles for a processor."""

    def rule(func, _):
        return product(func, processor)

    made = ApplyDefaultSchedule(rule)(mod)
    assert made is not mod
    return made


def assert_law(
    m, k, n, processor: Processor, part: str = "", rows: int = 5, columns: int = 9
) -> IRModule:
    """The scheduled module, whose code computes the bits of the evaluator, near the product.

    All of its indices are proved. A size that is not known is `rows`, `columns`, or 7 for steps.
    """
    head = f'a: R.Tensor(({m!r}, {k!r}), "float32"), '
    head += f'b: R.Tensor(({k!r}, {n!r}), "float32")'
    mod = by_tiles(fused(head, "y = R.matmul(a, b)"), processor)
    func = only_prim_func(mod)
    assert part in mod.script()
    rows, steps, columns = (
        known if isinstance(size, str) else size
        for size, known in ((m, rows), (k, 7), (n, columns))
    )
    a, b = matrices((rows, steps), (steps, columns))
    found, expected = (np.full((rows, columns), np.nan, "f4") for _ in range(2))
    kernel = compile_prim_funcs({"f": func})["f"]
    kernel(a, b, found)
    assert "icmp uge" not in kernel.llvm_ir or k == 0
    evaluate(func, [a, b, expected])
    assert found.tobytes() == expected.tobytes()
    assert_close(found, a, b)
    return mod


def matrices(*shapes: tuple[int, ...], dtype: str = "float32") -> list[np.ndarray]:
    generator = np.random.default_rng(sum(map(sum, shapes)))
    return [generator.standard_normal(shape).astype(dtype) for shape in shapes]


def assert_close(actual, a, b, *, behind=lambda x: x) -> None:
    """Within one unit in the last place, for each step, of the sum of the products' sizes."""
    wide = [x.astype("float64") for x in (a, b)]
    bound = np.finfo(a.dtype).eps * (a.shape[-1] + 2) * (np.abs(wide[0]) @ np.abs(wide[1]))
    difference = np.abs(actual - behind(wide[0] @ wide[1]))
    assert (difference <= bound + 1e-30).all()


SYMBOLIC = 'a: R.Tensor(("m", "k"), {0}), b: R.Tensor(("k", "n"), {0})'


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_edge_of_a_tile_is_computed(dtype: str):
    mod = by_tiles(fused(SYMBOLIC.format(repr(dtype)), "y = R.matmul(a, b)"))
    func = only_prim_func(mod)
    kernel = compile_prim_funcs({"f": func})["f"]
    for m, k, n in itertools.product((0, 1, 2, 3, 5), (0, 1, 5), (0, 1, 3, 4, 9)):
        a, b = matrices((m, k), (k, n), dtype=dtype)
        found, expected = np.full((m, n), np.nan, dtype), np.full((m, n), np.nan, dtype)
        kernel(a, b, found)
        evaluate(func, [a, b, expected])
        assert found.tobytes() == expected.tobytes()
        assert_close(found, a, b)


@pytest.mark.parametrize(
    ("m", "k", "n"), [(1, 384, 33), (97, 1025, 17), (200, 2100, 40), (14, 7, 2100), (96, 1, 2048)]
)
def test_blocks_are_added_up_in_their_order(m: int, k: int, n: int):
    mod = by_tiles(fused(SYMBOLIC.format("'float32'"), "y = R.matmul(a, b)"), this_processor())
    a, b = matrices((m, k), (k, n))
    run = EXECUTORS["llvm"](mod)
    found = run("main", a, b)
    assert_close(found, a, b)
    assert run("main", a, b).tobytes() == found.tobytes()


@pytest.fixture
def nothing_is_small(monkeypatch):
    """All products are computed as large ones are."""
    for name in ("NEAR", "NARROW", "LOW"):
        monkeypatch.setattr(direct_product, name, 0)


@pytest.mark.usefixtures("nothing_is_small")
def test_sizes_that_are_known_are_in_the_loops():
    head = 'a: R.Tensor((5, 6), "float32"), b: R.Tensor((6, 7), "float32")'
    mod = by_tiles(fused(head, "y = R.matmul(a, b)"))
    assert "T.min" not in mod.script().split("with T.allocate([T.int64(2), T.int64(4)]", 1)[0]
    a, b = matrices((5, 6), (6, 7))
    for run in EXECUTORS.values():
        assert_close(run(mod)("main", a, b), a, b)


def test_what_follows_a_product_follows_it_by_vectors():
    head = 'a: R.Tensor(("m", 8), "float32"), b: R.Tensor((8, 16), "float32"), '
    head += 'c: R.Tensor((16,), "float32")'
    mod = fused(head, "h = R.matmul(a, b)\nh = R.add(h, c)\ny = R.nn.relu(h)")
    made = by_tiles(mod, Processor(32, 16))
    assert_structural_equal(from_source(made.script()), made)
    a, b, c = matrices((5, 8), (8, 16), (16,))
    for run in EXECUTORS.values():
        found = run(made)("main", a, b, c)
        assert_close(found, a, b, behind=lambda x: np.maximum(x + c.astype("float64"), 0))


LAYER = 'a: R.Tensor(("m", 8), "float32"), b: R.Tensor((8, 16), "float32"), '


def test_a_product_lies_in_the_result_that_is_computed_of_it():
    mod = fused(LAYER + 'c: R.Tensor((16,), "float32")',
                "h = R.matmul(a, b)\nh = R.add(h, c)\ny = R.nn.relu(h)")  # fmt: skip
    made = by_tiles(mod)
    assert "T.allocate([m, T.int64(16)]" not in made.script()
    assert "T.allocate([m, 16]" not in made.script()
    a, b, c = matrices((5, 8), (8, 16), (16,))
    for run in EXECUTORS.values():
        found = run(made)("main", a, b, c)
        assert_close(found, a, b, behind=lambda x: np.maximum(x + c.astype("float64"), 0))


@pytest.mark.parametrize(
    ("body", "behind"),
    [
        ('y = R.astype(R.matmul(a, b), "float64")', lambda x: x),
        ("y = R.permute_dims(R.matmul(a, b))", lambda x: x.T),
        ("h = R.matmul(a, b)\ny = R.add(h, R.flip(h, 1))", lambda x: x + x[:, ::-1]),
    ],
)
def test_a_product_that_does_not_fit_the_result_has_memory_of_its_own(body: str, behind):
    made = ApplyDefaultSchedule(lambda func, _: product(func, SMALL))(fused(LAYER, body))
    a, b = matrices((5, 8), (8, 16))
    expected = behind(a.astype("float64") @ b.astype("float64"))
    for run in EXECUTORS.values():
        np.testing.assert_allclose(run(made)("main", a, b), expected, 1e-5, 1e-5)


def test_rows_of_all_batches_are_one_matrix_where_the_other_factor_has_none():
    mod = by_tiles(
        fused('a: R.Tensor((2, "m", 3), "float32"), b: R.Tensor((3, 5), "float32")',
              "y = R.matmul(a, b)")
    )  # fmt: skip
    assert "2 * m" in mod.script()
    a, b = matrices((2, 3, 3), (3, 5))
    for run in EXECUTORS.values():
        assert_close(run(mod)("main", a, b), a, b)


@pytest.mark.parametrize("first", ["2", "1", '"q"'])
def test_a_product_for_each_batch_is_a_loop_over_them(first: str):
    head = f'a: R.Tensor(({first}, 4, 3), "float32"), b: R.Tensor((2, 3, 5), "float32")'
    if '"q"' in first:
        head = head.replace("(2, 3, 5)", '("q", 3, 5)')
    mod = by_tiles(fused(head, "y = R.matmul(a, b)"))
    a, b = matrices((1 if first == "1" else 2, 4, 3), (2, 3, 5))
    for run in EXECUTORS.values():
        assert_close(run(mod)("main", a, b), a, b)


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("first", ["2", "1", '"q"'])
def test_a_large_product_for_each_batch_is_a_loop_over_them(first: str):
    test_a_product_for_each_batch_is_a_loop_over_them(first)


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize(("k", "block"), [(6, True), (1025, True), ("k", False)])
def test_rows_of_a_known_length_make_a_tile_a_block_of_its_own(k: int | str, block: bool):
    made = assert_law(6, k, 8, SMALL, "panels")
    assert ('T.block("tile")' in made.script()) is block


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("m", [5, 6, 7])
@pytest.mark.parametrize("n", [4, 8, 9])
@pytest.mark.parametrize("k", [6, 1])
def test_edges_that_are_known_are_computed(m: int, n: int, k: int):
    assert_law(m, k, n, SMALL, "panels")


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [4, 8, 17])
@pytest.mark.parametrize("k", [6, 4, 3])
def test_few_rows_are_computed_without_copies(m: int, n: int, k: int):
    made = assert_law(m, k, n, SMALL)
    assert "T.allocate" not in made.script()


@pytest.mark.parametrize("processor", [SMALL, Processor(16, 16), Processor(32, 16), AVX512])
@pytest.mark.parametrize("m", [1, 4, 7, "m"])
@pytest.mark.parametrize(("k", "n"), [(5, 4), (9, 10), (16, 33), ("k", 8), (0, 5), (2, 64)])
def test_small_products_are_computed_where_they_lie(m, k, n, processor: Processor):
    made = assert_law(m, k, n, processor)
    assert "panels" not in made.script()


@pytest.mark.parametrize("m", ["m", 5])
@pytest.mark.parametrize("columns", [0, 1, 3, 4, 15, 16, 17, 40])
def test_columns_that_are_not_known_are_computed_by_vectors_where_there_are_some(m, columns: int):
    assert_law(m, 6, "n", Processor(32, 16), columns=columns)


@pytest.mark.parametrize("size", [0, 1, 5, 16, 17])
def test_as_many_rows_as_columns_need_no_code_for_few_rows(size: int):
    head = 'a: R.Tensor(("m", 6), "float32"), b: R.Tensor((6, "m"), "float32")'
    func = only_prim_func(by_tiles(fused(head, "y = R.matmul(a, b)"), Processor(32, 16)))
    a, b = matrices((size, 6), (6, size))
    found, expected = (np.full((size, size), np.nan, "f4") for _ in range(2))
    kernel = compile_prim_funcs({"f": func})["f"]
    kernel(a, b, found)
    assert "icmp uge" not in kernel.llvm_ir
    evaluate(func, [a, b, expected])
    assert found.tobytes() == expected.tobytes()
    assert_close(found, a, b)


@pytest.mark.parametrize("m", [0, 1, 2, 5, 6, 11, 12, 13])
def test_one_code_computes_any_number_of_rows_of_a_small_product(m: int):
    assert_law("m", 6, 20, Processor(32, 16), rows=m)


def test_a_row_is_the_sum_of_several_sums():
    made = assert_law(1, 64, 8, Processor(32, 16))
    assert "p * T.int64(4)" in made.script() or "p * 4" in made.script()


def test_rows_below_a_tile_or_two_are_not_copied():
    head = 'a: R.Tensor((7, 256), "float32"), b: R.Tensor((256, 256), "float32")'
    mod = by_tiles(fused(head, "y = R.matmul(a, b)"), Processor(32, 16))
    assert "panels" not in mod.script()


@pytest.mark.parametrize(
    ("m", "n", "lanes"), [(1, 64, 8), (8, 8, 8), (64, 64, 16), (1, 10, 8), (4096, 384, 8)]
)
@pytest.mark.parametrize("registers", [16, 32])
def test_a_shape_fits_into_the_registers(m: int, n: int, lanes: int, registers: int):
    rows, vectors, _ = best_shape(m, n, lanes, registers)
    assert rows <= m
    assert (vectors - 1) * lanes < n
    assert rows * vectors + (vectors if rows > 1 else 0) < registers
    busy = min(m * -(-n // lanes), 8)
    assert rows * vectors >= busy or rows * vectors == m * -(-n // lanes)


def test_a_tile_is_kept_in_registers():
    mod = by_tiles(fused(SYMBOLIC.format("'float32'"), "y = R.matmul(a, b)"), Processor(32, 16))
    kernel = compile_prim_funcs({"f": only_prim_func(mod)})["f"]
    assert kernel.llvm_ir.count(" = alloca [96 x float]") == 2
    # The one that is left is the tile as it is put into the result.
    assert kernel.optimised_ir.count("alloca [96 x float]") == 1


PROGRAM = """
@T.prim_func
def main(
    A: T.Buffer((8, 8), "{dtype}"), B: T.Buffer((8, 8), "{dtype}"), C: T.Buffer((8, 8), "{dtype}")
):
    T.func_attr({{"tir.noalias": {noalias}}})
    for i, j, k in T.grid({loops}):
        with T.block("product"):
            vi, vj, vk = T.axis.remap("{kinds}", [i, j, k])
            with T.init():
                C[vi, vj] = {start}
            C[vi, vj] = {value}
"""
PLAIN = {
    "dtype": "float32", "noalias": True, "loops": "T.int64(8), T.int64(8), T.int64(8)",
    "kinds": "SSR", "start": "T.float32(0)", "value": "C[vi, vj] + A[vi, vk] * B[vk, vj]",
}  # fmt: skip


def test_a_product_in_its_plain_form_is_found():
    assert product(from_source(PROGRAM.format(**PLAIN)), SMALL) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"value": "C[vi, vj] + A[vi, vk] + B[vk, vj]"},
        {"value": "C[vi, vj] + A[vk, vi] * B[vk, vj]"},
        {"value": "C[vi, vj] + A[vi, vk] * B[vj, vk]"},
        {"value": "C[vi, vj] + A[vi, vk] * C[vk, vj]"},
        {"value": "C[vj, vi] + A[vi, vk] * B[vk, vj]"},
        {"value": "A[vi, vk] * B[vk, vj]"},
        {"start": "T.float32(1)"},
        {"start": "A[vi, vj]"},
        {"noalias": False},
        {"loops": "T.int64(8), T.int64(8), T.int64(7)"},
        {"loops": "T.int64(7), T.int64(8), T.int64(8)"},
        {"dtype": "int32", "start": "0"},
    ],
)
def test_another_function_has_no_tiles(change: dict[str, object]):
    assert product(from_source(PROGRAM.format(**{**PLAIN, **change})), SMALL) is None


def test_a_sum_that_begins_with_what_is_there_has_no_tiles():
    text = PROGRAM.format(**PLAIN)
    init = "            with T.init():\n                C[vi, vj] = T.float32(0)\n"
    assert init in text
    reads = (
        "            T.reads(C[vi, vj], A[vi, vk], B[vk, vj])\n            T.writes(C[vi, vj])\n"
    )
    assert product(from_source(text.replace(init, reads)), SMALL) is None


@pytest.mark.parametrize(("m", "n"), [(1, 3), (64, 2)])
def test_few_columns_are_left_as_they_are(m: int, n: int):
    head = f'a: R.Tensor(({m}, 6), "float32"), b: R.Tensor((6, {n}), "float32")'
    assert product(only_prim_func(fused(head, "y = R.matmul(a, b)")), SMALL) is None


def test_no_rows_are_left_as_they_are():
    head = 'a: R.Tensor((0, 200), "float32"), b: R.Tensor((200, 200), "float32")'
    mod = fused(head, "y = R.matmul(a, b)")
    assert product(only_prim_func(mod), SMALL) is None
    run = EXECUTORS["llvm"](mod)
    assert run("main", *matrices((0, 200), (200, 200))).shape == (0, 200)


def test_what_cannot_be_by_vectors_behind_a_product_leaves_it_as_it_is():
    head = 'a: R.Tensor((8, 6), "float32"), b: R.Tensor((6, 8), "float32")'
    mod = fused(head, "h = R.matmul(a, b)\ny = R.nn.softmax(h)")
    first, second = (product(f, SMALL) for f in mod.functions.values() if isinstance(f, PrimFunc))
    assert (first is None) != (second is None)
