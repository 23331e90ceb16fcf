"""PrimFuncs that only copy elements are run by numpy, and do what the evaluator does."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import from_source
from relaxscript.interpreter.element_copies import copy_elements
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.prim import Var
from relaxscript.ir.tir import Buffer
from relaxscript.transform.default_schedule.processor import this_processor
from relaxscript.transform.default_schedule.tiled_product import Product, packing_loops
from relaxscript_tests.prim_funcs import load, loop, prim_func, store

X = Var("i", "int64")
HEAD = """
from relaxscript.script import tir as T
@T.prim_func
def f({params}):
    T.func_attr({{"tir.noalias": True}})
"""


def function(params, *lines):
    text = HEAD.format(params=params) + "".join(f"    {line}\n" for line in lines)
    return from_source(text)


def arrays(func):
    """Arrays for the parameters: each element is another number."""
    buffers = [func.buffer_map[param] for param in func.params]
    shapes = [tuple(int(extent.value) for extent in buffer.shape) for buffer in buffers]
    return [
        np.arange(100 * k, 100 * k + np.prod(shape)).reshape(shape).astype(buffer.dtype.numpy)
        for k, (shape, buffer) in enumerate(zip(shapes, buffers, strict=True))
    ]


def check_copied(func):
    found, wanted = arrays(func), arrays(func)
    assert copy_elements(func, found)
    evaluate(func, wanted)
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine, other)


def check_refused(func, args=None):
    """The function is left to others, and its arrays are as they were."""
    found = arrays(func) if args is None else args
    before = [np.array(array) for array in found]
    assert not copy_elements(func, found)
    for mine, other in zip(found, before, strict=True):
        np.testing.assert_array_equal(mine, other)


COPIES = {
    "transposed": (
        'a: T.Buffer((3, 4), "float32"), b: T.Buffer((4, 3), "float32")',
        "for i, j in T.grid(4, 3):",
        "    b[i, j] = a[j, i]",
    ),
    "in a block": (
        'a: T.Buffer((3, 4), "int8"), b: T.Buffer((4, 3), "int8")',
        "for i, j in T.grid(4, 3):",
        '    with T.block("t"):',
        '        vi, vj = T.axis.remap("SS", [i, j])',
        "        b[vi, vj] = a[vj, vi]",
    ),
    "by vectors": (
        'a: T.Buffer((3, 8), "float32"), b: T.Buffer((2, 3, 4), "float32")',
        "for i in range(2):",
        "    j: T.int32 = i * 4",
        "    for k in range(3):",
        "        b[i, k, T.Ramp(0, 1, 4)] = a[k, T.Ramp(j, 1, 4)]",
    ),
    "backwards": (
        'a: T.Buffer((5,), "float64"), b: T.Buffer((5,), "float64")',
        "for i in range(5):",
        "    b[4 - i] = a[i]",
    ),
    "numbers": (
        'a: T.Buffer((5,), "float16")',
        "for i in range(2):",
        "    a[i * 2] = T.float16(1.5)",
    ),
    "one after the other": (
        'a: T.Buffer((4,), "int64"), b: T.Buffer((4,), "int64")',
        "for i in range(4):",
        "    b[i] = T.int64(7)",
        "for i in T.unroll(2):",
        "    b[i + 1] = a[i]",
    ),
    "nothing": (
        'a: T.Buffer((4,), "int64"), b: T.Buffer((4,), "int64")',
        "for i in range(0):",
        "    b[i] = a[i]",
    ),
}


@pytest.mark.parametrize("name", COPIES)
def test_loops_that_copy_do_what_the_evaluator_does(name):
    check_copied(function(*COPIES[name]))


@pytest.mark.parametrize("columns", [32, 64, 5, 39, 96])
def test_panels_of_a_matrix_are_copies(columns):
    a, b, c = (
        Buffer(name, shape) for name, shape in zip("abc", [(9, 7), (7, columns), (9, columns)])
    )
    panels, loops = packing_loops(Product(a, b, c), this_processor())
    check_copied(prim_func([b, panels], loops))


OTHERS = {
    "a sum": (
        'a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")',
        "for i in range(4):",
        "    b[i] = a[i] + T.float32(1)",
    ),
    "an element that is stored twice": (
        'a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")',
        "for i, j in T.grid(2, 2):",
        "    b[i + j] = a[i * 2 + j]",
    ),
    "a place that is no sum": (
        'a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")',
        "for i in range(4):",
        "    b[i] = a[i // 2]",
    ),
    "its own elements": (
        'a: T.Buffer((4,), "float32")',
        "for i in range(3):",
        "    a[i + 1] = a[i]",
    ),
    "a condition": (
        'a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")',
        "for i in range(4):",
        "    if i < 2:",
        "        b[i] = a[i]",
    ),
    "iterations at once": (
        'a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")',
        "for i in T.parallel(4):",
        "    b[i] = a[i]",
    ),
    "one that copies before": (
        'a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")',
        "for i in range(4):",
        "    b[i] = a[i]",
        "for i in range(4):",
        "    b[i] = T.exp(a[i])",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops_are_left_as_they_are(name):
    check_refused(function(*OTHERS[name]))


@pytest.mark.parametrize("offset", [-1, 1])
def test_an_index_outside_of_its_buffer_is_left_to_who_tells_of_it(offset):
    a, b = Buffer("a", (4,)), Buffer("b", (4,))
    for target, source in ((X, X + offset), (X + offset, X)):
        check_refused(prim_func([a, b], loop(X, 4, store(b, load(a, source), target))))


def test_arrays_that_do_not_fit_are_left_to_who_tells_of_it():
    func = function(*COPIES["transposed"])
    a, b = arrays(func)
    whole = np.zeros(24, "float32")
    for args in (
        [a, b[:3]], [a, b.astype("float64")], [a], [a.T.copy().T, b], [a, 3],
        [whole[:12].reshape(3, 4), whole[6:18].reshape(4, 3)],
    ):  # fmt: skip
        check_refused(func, args)


def test_an_array_that_may_not_be_written_is_left_to_who_tells_of_it():
    func = function(*COPIES["transposed"])
    a, b = arrays(func)
    b.setflags(write=False)
    check_refused(func, [a, b])
