"""Random graphs of tensor expressions: each program of them computes what numpy does, everywhere.

Every step makes a tensor and the array that it means. Integers wrap around alike, so all is exact.
"""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import relax, te, topi
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, relax as R
from relaxscript_tests import examples
from relaxscript_tests.end_to_end.executors import EXECUTORS

ROWS, COLUMNS = 3, 4
SHAPE = (ROWS, COLUMNS)
STARTS = {"sum": 0, "max": np.iinfo("int32").min, "min": np.iinfo("int32").max}


def arithmetic(rng, x, y):
    name = rng.choice(["add", "subtract", "multiply", "maximum", "minimum"])
    return getattr(topi, name)(x[0], y[0]), getattr(np, name)(x[1], y[1])


def operators(rng, x, y):
    number = int(rng.integers(-3, 4))
    return x[0] * number - y[0], x[1] * np.int32(number) - y[1]


def element_by_element(rng, x, y):
    (a, b), (c, d) = x, y
    made = te.compute(SHAPE, lambda i, j: te.if_then_else(a[i, j] < c[i, j], a[i, j] + 1, c[i, j]))
    return made, np.where(b < d, b + 1, d)


def reversed_places(rng, x, y):
    a = x[0]
    made = te.compute(SHAPE, lambda i, j: a[ROWS - 1 - i, COLUMNS - 1 - j])
    return made, x[1][::-1, ::-1]


def shifted(rng, x, y):
    a, first = x[0], y[0]
    made = te.compute(
        a.shape, lambda i, j: te.if_then_else(te.all(i > 0, j > 0), a[i - 1, j - 1], first[i, j])
    )
    inner = y[1].copy()
    inner[1:, 1:] = x[1][:-1, :-1]
    return made, inner


def reduced(rng, x, y):
    name = str(rng.choice(list(STARTS)))
    a, least, k = x[0], int(rng.integers(-3, 4)), te.reduce_axis((0, COLUMNS), name="k")
    rows = te.compute(
        (ROWS,), lambda i: getattr(te, name)(a[i, k], axis=k, where=a[i, k] > least), name="rows"
    )
    kept = np.where(x[1] > least, x[1], np.int32(STARTS[name]))
    found = getattr(kept, name)(axis=1).astype("int32")
    return rows_repeated(rows), np.repeat(found[:, None], COLUMNS, axis=1)


def rows_repeated(rows):
    return te.compute(SHAPE, lambda i, j: rows[i])


def one_of_two(rng, x, y):
    (a, b), (c, d) = x, y
    pair = te.compute(SHAPE, lambda i, j: (a[i, j] - c[i, j], a[i, j] * 2))
    index = int(rng.integers(2))
    return pair[index], (b - d, b * np.int32(2))[index]


STEPS = [
    arithmetic, operators, element_by_element, reversed_places, shifted, reduced, one_of_two,
]  # fmt: skip


def graph(rng, inputs):
    """Tensors and the arrays that they mean, each made of those before it."""
    known = list(inputs)
    for _ in range(int(rng.integers(1, 7))):
        x, y = (known[int(k)] for k in rng.integers(len(known), size=2))
        known.append(STEPS[int(rng.integers(len(STEPS)))](rng, x, y))
    return known[len(inputs) :]


@pytest.mark.slow
def test_a_random_graph_means_what_its_arrays_say(rng):
    for _ in range(examples(200)):
        arrays = [rng.integers(-9, 10, SHAPE).astype("int32") for _ in range(2)]
        wanted = []

        def results(*tensors, arrays=arrays, wanted=wanted):
            made = graph(rng, list(zip(tensors, arrays)))
            wanted += [array for _, array in made]
            return [tensor for tensor, _ in made]

        params = [relax.Var(name, R.Tensor(SHAPE, "int32")) for name in "xy"]
        bb = relax.BlockBuilder()
        with bb.function("main", params):
            bb.emit_func_output(bb.emit_te(results, *params))
        module = bb.get()
        assert_structural_equal(from_source(module.script()), module)
        for load in EXECUTORS.values():
            found = load(module).main(*arrays)
            assert len(found) == len(wanted)
            for tensor, array in zip(found, wanted):
                np.testing.assert_array_equal(tensor, array, strict=True)
