"""Schedules of rules are traces of `tir.Schedule`: both give one normal form (`traces.py`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.structural_equality import assert_structural_equal, structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.tir import Schedule
from relaxscript.transform import default_schedule
from relaxscript.transform.default_schedule import elementwise, nests, product, rows
from relaxscript.transform.default_schedule.processor import Processor
from relaxscript_tests import examples
from relaxscript_tests.transform.default_schedule.fused_programs import (
    FUSED,
    fused,
    only_prim_func,
)
from relaxscript_tests.transform.default_schedule.test_nests import tensor
from relaxscript_tests.transform.default_schedule.traces import (
    by_vectors,
    elementwise_trace,
    in_blocks,
    in_parts,
    is_divided_by_sizes,
    iterations,
    main_loops,
    normal_form,
    output_blocks,
    partial_results,
    product_of_few_rows,
    reduction_in_columns,
    reduction_of_rows,
    unrolled,
)
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module

PROCESSORS = [Processor(16, 16), Processor(32, 16), Processor(64, 32)]

# ------------------------------------------------------------------ elements

X, Z = tensor("x", "m", 12), tensor("z", "m", 12)
ELEMENTS = [
    (tensor("x", 40), "y = R.exp(x)"),
    (tensor("x", 43), "y = R.exp(x)"),
    (tensor("x", 3), "y = R.exp(x)"),
    (tensor("x", "n"), "y = R.nn.relu(x)"),
    (X, "y = R.multiply(x, x)"),
    (tensor("x", 3, "n"), "h = R.exp(x)\ny = R.add(h, R.const(1.0))"),
    (f"{X}, {Z}", "h = R.exp(x)\ny = R.add(h, R.multiply(h, z))"),
    (f"{X}, {tensor('w', 12)}", "y = R.add(R.exp(x), w)"),
    (f"{X}, {tensor('w', 'm', 1)}", "y = R.multiply(x, w)"),
    (f"{tensor('x', 3, 5, 8)}, {tensor('w', 5, 8)}", "y = R.add(x, w)"),
    (f"{tensor('x', 2, 3, 5, 7)}, {tensor('w', 3, 1, 1)}", "y = R.nn.relu(R.add(x, w))"),
    (tensor("x", 2, 21, dtype="float64"), "y = R.sqrt(x)"),
    (tensor("x", 2, 21, dtype="float16"), "y = R.add(x, x)"),
    (tensor("x", 2, 21, dtype="int8"), "y = R.add(x, x)"),
    (tensor("x", 5, 9, dtype="int64"), "y = R.astype(x, 'int8')"),
    (tensor("x", 5, 9), "y = R.greater(x, R.const(0.0))"),
    (f"{tensor('x', 5, 9)}, {tensor('z', 5, 9)}", "y = R.where(R.less(x, z), x, z)"),
]  # fmt: skip


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize(("head", "body"), ELEMENTS)
def test_elements_are_inlined_fused_and_split(head: str, body: str, processor: Processor):
    func = only_prim_func(fused(head, body))
    assert_is_trace(func, elementwise(func, processor), elementwise_trace(func, processor))


@pytest.mark.slow
def test_elements_of_random_programs_are_inlined_fused_and_split():
    found = 0
    for seed in range(examples(60)):
        for func in FUSED(fusable_module(seed)).functions.values():
            if isinstance(func, PrimFunc):
                found += assert_elementwise(func)
    assert found


def assert_elementwise(func: PrimFunc) -> int:
    """Assert that the loops are those of the trace, where the rule is for a function."""
    processor = Processor(32)
    made = elementwise(func, processor)
    # Functions that were written by hand have indices of several dtypes, which `fuse` converts.
    if made is None or func.attrs is None or not func.attrs.get("tir.noalias"):
        return 0
    assert_is_trace(func, made, elementwise_trace(func, processor))
    return 1


def assert_is_trace(func: PrimFunc, made: PrimFunc | None, sch: Schedule) -> None:
    """Assert that what a rule made is what a trace makes."""
    assert made is not None
    found = sch.mod["main"]
    if is_divided_by_sizes(func):
        pairs = zip(iterations(made), iterations(found), strict=True)
        assert all(structural_equal(a, b, map_free_vars=True) for a, b in pairs)
    else:
        assert_structural_equal(normal_form(made), normal_form(found))


# ------------------------------------------------------------------ nests of elements


class Family(NamedTuple):
    """Functions whose loops a rule arranges, each with the steps that arrange its one block."""

    cases: list[tuple[str, str, Callable[[Schedule, Any, Processor], None]]]


def plain(sch: Schedule, block: Any, processor: Processor) -> None:
    by_vectors(sch, block, processor)


def floats(sch: Schedule, block: Any, processor: Processor) -> None:
    """Vectors of elements of four bytes, whatever the indices that are read have."""
    by_vectors(sch, block, processor, 4)


def parts(axis: int, *factors: int) -> Callable[[Schedule, Any, Processor], None]:
    def steps(sch: Schedule, block: Any, processor: Processor) -> None:
        for part in in_parts(sch, block, axis, factors):
            by_vectors(sch, part, processor)

    return steps


def padded(sch: Schedule, block: Any, processor: Processor) -> None:
    above, inside = in_parts(sch, block, 0, [1, 2])
    by_vectors(sch, above, processor)
    for part in in_parts(sch, inside, 1, [1, 9, 2]):
        by_vectors(sch, part, processor)


def tiled(sch: Schedule, block: Any, processor: Processor) -> None:
    sch.split(sch.get_loops(block)[1], [3, 20])
    for part in in_parts(sch, block, 0, [3, 3]):
        by_vectors(sch, part, processor)


def grouped(sch: Schedule, block: Any, processor: Processor) -> None:
    sch.split(sch.get_loops(block)[1], [None, 40])
    by_vectors(sch, block, processor)


def blocks(size: int) -> Callable[[Schedule, Any, Processor], None]:
    def steps(sch: Schedule, block: Any, processor: Processor) -> None:
        in_blocks(sch, block, size)

    return steps


def blocks_of_fused(sch: Schedule, block: Any, processor: Processor) -> None:
    """Blocks of the first axes, which lie behind one another, and of the last."""
    *first, _ = sch.get_loops(block)
    sch.fuse(*first)
    in_blocks(sch, block, 16)


def blocks_of_first_and_last(sch: Schedule, block: Any, processor: Processor) -> None:
    i, j, k = sch.get_loops(block)
    sch.reorder(j, i, k)
    in_blocks(sch, block, 16)


TAKEN = f"{tensor('x', 9, 16)}, {tensor('i', 5, dtype='int64')}"
FAMILIES = {
    "split_at_conditions": Family([
        (tensor("x", 2, 9), "y = R.nn.pad(x, [1, 0, 1, 2])", padded),
        (tensor("x", 3, 20), "y = R.roll(x, 3, axis=1)", parts(1, 3, 17)),
        (f"{tensor('x', 3, 8)}, {tensor('z', 3, 5)}", "y = R.concat((x, z), axis=1)",
         parts(1, 8, 5)),
        (f"{tensor('x', 3, 8)}, {tensor('z', 2, 8)}", "y = R.concat((x, z), axis=0)",
         parts(0, 3, 2)),
        (f"{tensor('x', 3, 8, 5)}, {tensor('z', 2, 8, 5)}", "y = R.concat((x, z), axis=0)",
         parts(0, 3, 2)),
        (f"{tensor('x', 3, 1)}, {tensor('z', 3, 16)}, {tensor('w', 3, 4)}",
         "h = R.concat((x, z, w), axis=1)\ny = R.nn.relu(h)", parts(1, 1, 16, 4)),
    ]),
    "grouped_loops": Family([
        (tensor("x", 3, 20), "y = R.tile(x, (2, 3))", tiled),
        (tensor("x", 5, 7, 40), "h = R.permute_dims(x, [1, 0, 2])\ny = R.reshape(h, (7, 200))",
         grouped),
        (tensor("x", 3, 12), "h = R.reshape(x, (3, 3, 4))\ny = R.permute_dims(h, [1, 0, 2])",
         plain),
    ]),
    "rows_elsewhere": Family([
        (TAKEN, "y = R.take(x, i, axis=0)", floats),
        (TAKEN.replace("16", '"n"'), "y = R.take(x, i, axis=0)", floats),
        (TAKEN, "h = R.take(x, i, axis=0)\ny = R.nn.relu(h)", floats),
    ]),
    "transposed_blocks": Family([
        (tensor("x", 32, 16), "y = R.permute_dims(x)", blocks(16)),
        (tensor("x", 37, 50), "y = R.permute_dims(x)", blocks(16)),
        (tensor("x", 70, 9), "y = R.permute_dims(x)", blocks(16)),
        (tensor("x", "m", "n"), "y = R.permute_dims(x)", blocks(16)),
        (tensor("x", "m", 33), "y = R.permute_dims(x)", blocks(16)),
        (tensor("x", 70, 9, dtype="int8"), "y = R.permute_dims(x)", blocks(32)),
        (tensor("x", 9, 20, dtype="float64"), "y = R.permute_dims(x)", blocks(8)),
        (tensor("x", 2, 5, 33), "h = R.permute_dims(x, axes=[0, 2, 1])\ny = R.nn.relu(h)",
         blocks(16)),
        (tensor("x", 3, 4, 5), "y = R.permute_dims(x, axes=[1, 2, 0])", blocks_of_fused),
        (tensor("x", 17, 4, 20), "y = R.permute_dims(x, axes=[2, 1, 0])",
         blocks_of_first_and_last),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize(
    ("head", "body", "steps"), [case for family in FAMILIES.values() for case in family.cases]
)
def test_elements_that_depend_on_where_they_are_are_partitioned_split_and_reordered(
    head: str, body: str, steps: Any, processor: Processor
):
    func = only_prim_func(fused(head, body))
    sch = Schedule(func)
    (block,) = output_blocks(sch)
    steps(sch, block, processor)
    made = nests(func, processor)
    assert made is not None
    assert_structural_equal(normal_form(made), normal_form(sch.mod["main"]))


# ------------------------------------------------------------------ reductions

COLUMNS = [
    *((tensor("x", 5, size), "y = R.sum(x, axis=0)", 0) for size in (8, 16, 32, 64, 128)),
    (tensor("x", 7, 64, dtype="int64"), "y = R.sum(x, axis=0)", 0),
    (tensor("x", 7, 64), "y = R.prod(x, axis=0)", 0),
    (tensor("x", 7, 64), "y = R.mean(x, axis=0)", 0),
    (tensor("x", 7, 64), "y = R.max(x, axis=0, keepdims=True)", 1),
    (tensor("x", 7, 128, dtype="bool"), "y = R.any(x, axis=0)", 0),
    (tensor("x", 7, 128, dtype="int8"), "y = R.max(x, axis=0)", 0),
    (tensor("x", 7, 3, 64), "y = R.min(x, axis=[0, 1])", 0),
    (tensor("x", 2, 7, 64), "y = R.max(x, axis=1)", 1),
    (tensor("x", "m", 7, 64), "y = R.max(x, axis=1)", 1),
]


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize(("head", "body", "axis"), COLUMNS)
def test_reductions_in_columns_are_cached_split_reordered_and_decomposed(
    head: str, body: str, axis: int, processor: Processor
):
    func = only_prim_func(fused(head, body))
    made = nests(func, processor)
    assert made is not None
    sch = reduction_in_columns(func, processor, axis)
    assert_structural_equal(normal_form(made), normal_form(sch.mod["main"]))


# ------------------------------------------------------------------ products of few rows


@pytest.mark.slow
@pytest.mark.parametrize("rows_of_a", [1, 3, 4])
@pytest.mark.parametrize(("steps", "columns"), [(300, 64), (303, 64), (300, 67), (301, "n")])
@pytest.mark.parametrize(("dtype", "lanes"), [("float32", 8), ("float64", 4)])
def test_products_of_few_rows_are_decomposed_partitioned_split_and_reordered(
    rows_of_a: int, steps: int, columns: int | str, dtype: str, lanes: int
):
    head = (
        f"{tensor('x', rows_of_a, steps, dtype=dtype)}, {tensor('z', steps, columns, dtype=dtype)}"
    )
    func = only_prim_func(fused(head, "y = R.matmul(x, z)"))
    made = product(func, Processor(32, 16))
    assert made is not None
    found = product_of_few_rows(func, 4, lanes).mod["main"]
    assert_structural_equal(unrolled(made), unrolled(found))


# ------------------------------------------------------------------ what steps do not write

X_64 = tensor("x", 5, 64)
LONG = f"{tensor('x', 5, 2048)}, {tensor('g', 2048)}, {tensor('b', 2048)}"
ROWS = [
    (X_64, "y = R.sum(x, axis=1)", (4, 8)),
    (tensor("x", 5, 96), "y = R.sum(x, axis=1)", (4, 8)),
    (tensor("x", "m", 64), "y = R.sum(x, axis=1)", (4, 8)),
    (tensor("x", 5, 16), "y = R.mean(x, axis=1)", (2, 8)),
    (tensor("x", 5, 128), "y = R.max(x, axis=1, keepdims=True)", (8, 8)),
    (tensor("x", 5, 64, dtype="float64"), "y = R.sum(x, axis=1)", (4, 4)),
    (tensor("x", 2, 5, 64), "y = R.min(x, axis=2)", (8, 8)),
    (tensor("x", 5, 4, 32), "y = R.prod(x, axis=[1, 2])", (4, 8)),
    (X_64, "y = R.nn.softmax(x, axis=1)", (8, 8)),
    (LONG, "y = R.nn.layer_norm(x, g, b, axes=[1])", (4, 8)),
]


@pytest.mark.parametrize(("head", "body", "vectors"), ROWS)
def test_partial_results_of_rows_are_those_of_rfactor(
    head: str, body: str, vectors: tuple[int, int]
):
    """How they are put together, half by half, no step writes: see the table."""
    func = only_prim_func(fused(head, body))
    made = rows(func, Processor(32, 16))
    assert made is not None
    found = reduction_of_rows(func, vectors).mod["main"]
    one, other = partial_results(made), partial_results(found)
    assert structural_equal(one, other, map_free_vars=True)


def test_partial_results_over_several_axes_are_those_of_rfactor():
    func = only_prim_func(fused(tensor("x", 3, 2, 64), "y = R.sum(x, axis=[0, 2])"))
    made = nests(func, Processor(32, 16))
    assert made is not None
    found = reduction_of_rows(func, (4, 8), is_fused=False).mod["main"]
    one, other = partial_results(made), partial_results(found)
    assert structural_equal(one, other, map_free_vars=True)


@pytest.mark.parametrize("size", [17, 19, 23])
def test_a_last_vector_that_begins_earlier_is_no_step_but_the_loop_before_it_is(size: int):
    """No step computes an element twice: `loop_partition` makes a loop of what is left over."""
    func = only_prim_func(fused(TAKEN.replace("16", str(size)), "y = R.take(x, i, axis=0)"))
    processor = Processor(32, 16)
    sch = Schedule(func)
    floats(sch, sch.get_block("T_take"), processor)
    made = nests(func, processor)
    assert made is not None
    assert_structural_equal(main_loops(made), main_loops(sch.mod["main"]))
    assert_same_results(func, made, sch.mod["main"])


def test_an_access_that_may_be_outside_keeps_its_dimensions_and_the_loops_are_the_same():
    """`FlattenBuffer` leaves it, while the rule has one dimension for axes that are inside."""
    func = only_prim_func(fused(TAKEN.replace("16", "3, 16"), "y = R.take(x, i, axis=0)"))
    processor = Processor(32, 16)
    sch = Schedule(func)
    floats(sch, sch.get_block("T_take"), processor)
    made = nests(func, processor)
    assert made is not None
    pairs = zip(iterations(made), iterations(sch.mod["main"]), strict=True)
    assert all(structural_equal(a, b) for a, b in pairs)
    assert_same_results(func, made, sch.mod["main"])


def assert_same_results(*funcs: PrimFunc) -> None:
    """Assert that functions compute the same bits, of whole numbers."""
    rng = np.random.default_rng(1)
    buffers = [funcs[0].buffer_map[param] for param in funcs[0].params]
    shapes = [tuple(getattr(dim, "value", 5) for dim in buffer.shape) for buffer in buffers]
    given = [rng.integers(0, 5, shape).astype(b.dtype.numpy) for b, shape in zip(buffers, shapes)]
    expected = [array.copy() for array in given]
    evaluate(funcs[0], expected)
    for func in funcs[1:]:
        found = [array.copy() for array in given]
        evaluate(func, found)
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


# ------------------------------------------------------------------ the table

# Files that arrange no loops: what they know, find or write for others.
SHARED = {
    "apart", "apply_default_schedule", "chosen_values", "conditional_ends", "conditional_inits",
    "contraction_axes", "contraction_sizes", "distributed_loops", "divided_loops",
    "expanded_scalars", "flat_indices", "guarded", "known_form", "loop_nests", "loop_writing",
    "loops_of_axes", "loops_of_quotients", "neutral_starts", "open_blocks", "ordered_loops",
    "processor", "renamed_results", "row_nests", "split_axes", "starts", "stored_choices",
    "wide_indices",
}  # fmt: skip
# The steps that the schedule of a file stands for, whole.
TRACED = {
    "elementwise": "compute_inline, fuse, loop_partition, split, vectorize",
    "inline_producers": "compute_inline",
    "collapsed_axes": "fuse",
    "product_of_few_rows": "decompose_reduction, loop_partition, split, reorder, unroll, vectorize",
    **dict.fromkeys(FAMILIES, "reorder, loop_partition, split, unroll, vectorize"),
}
_MICRO_KERNEL = "products have a micro-kernel in registers, with tiles that overlap at the edge"
_PANELS = "factors are copied into panels, with zeros behind the end, for a micro-kernel"
_HALVES = "partial results are put together half by half, by `T.Shuffle`, unless a row is too short"
# What no step writes in the schedule of a file.
OUTSIDE = {
    **dict.fromkeys(
        ("direct_product", "in_place", "packed_product", "product", "tiled_product"), _MICRO_KERNEL
    ),
    **dict.fromkeys(("contraction", "contraction_copies", "panel_copies"), _PANELS),
    "transposed_product": "whether rows are few is asked when the product is run, of two schedules",
    "reduction_loops": f"a last vector of columns begins earlier, a sum over what may be no steps "
    f"has one loop with a beginning of its own, and {_HALVES}",
    "row_conversions": "elements of short rows that several passes convert are kept by the first",
    "row_sweeps": _HALVES,
    "rows": _HALVES,
    "nests": "reductions among the nests are those of `reduction_loops` and `contraction`",
}


def test_each_file_of_schedules_is_a_trace_or_says_what_no_step_writes():
    files = {path.stem for path in Path(default_schedule.__file__).parent.glob("[a-z]*.py")}
    tables = SHARED, {*TRACED}, {*OUTSIDE}
    assert files == set().union(*tables)
    assert len(files) == sum(map(len, tables))


def test_each_family_that_is_traced_has_cases():
    assert ELEMENTS
    assert all(family.cases for family in FAMILIES.values())
