"""Annotations of PrimFuncs as type checkers read them: what they mean, and their dimensions."""

from __future__ import annotations

import pytest

from relaxscript.ir import structural_equal
from relaxscript.ir.walk import free_vars
from relaxscript.script import from_source, tir as T
from relaxscript.script.names.relax_typed import DTYPES

n = T.dim("n")
rows = T.int64()
half = T.f16
Image = T.Buffer[T.f32, rows, (3)]

SPELLINGS = [
    ("T.Buffer[T.f32, n, 64]", 'T.Buffer(("n", 64), "float32")'),
    ("T.Buffer[T.f32, n * 2 + 1, n]", 'T.Buffer(("n * 2 + 1", "n"), "float32")'),
    ("T.Buffer[T.f32, (n, 64)]", 'T.Buffer(("n", 64), "float32")'),
    ("T.Buffer[T.f16, 4]", 'T.Buffer((4,), "float16")'),
    ("T.Buffer[T.i64, ()]", 'T.Buffer((), "int64")'),
    ("T.Buffer[T.bool, n]", 'T.Buffer(("n",), "bool")'),
    ("T.Buffer[T.float32x4, n]", 'T.Buffer(("n",), "float32x4")'),
    ('T.Buffer[T.f32, "m", 4]', 'T.Buffer(("m", 4), "float32")'),
    ("'T.Buffer[T.f32, n]'", 'T.Buffer(("n",), "float32")'),
]
BODY = "    for i in T.serial(n):\n        a[i] = T.float32(0)\n"


def parsed(annotation, mode="data"):
    head = "from relaxscript.script import tir as T\nn = T.dim('n')\n@T.prim_func\n"
    text = f'{head}def f(a: T.Buffer(("n",), "float32"), x: {annotation}):\n{BODY}'
    return from_source(text, mode=mode)


@pytest.mark.parametrize(("typed", "usual"), SPELLINGS)
@pytest.mark.parametrize("mode", ["data", "python"])
def test_each_spelling_means_the_usual_one(typed, usual, mode):
    assert structural_equal(parsed(typed, mode), parsed(usual))


@pytest.mark.parametrize("name", [name for name in DTYPES if name != "bool"])
def test_every_data_type_of_relax_has_its_short_name_in_buffers(name):
    function = parsed(f"T.Buffer[T.{name}, 2]")
    assert function.buffer_map[function.params[1]].dtype == getattr(T, name)


def test_dimensions_of_python_belong_to_each_function_by_their_names():
    @T.prim_func
    def f(x: T.Buffer[T.f32, n, 4], y: T.Buffer(("n",), "float32")):
        for i in T.serial(n):
            y[i] = x[i, 0]

    @T.prim_func
    def g(x: T.Buffer[T.f32, n]):
        pass

    first, second = (f.buffer_map[p].shape[0] for p in f.params)
    assert first is second is f.body.extent
    assert first is not n
    assert g.buffer_map[g.params[0]].shape[0] not in (first, n)
    assert free_vars(f) == []


def test_a_parameter_of_a_dimensions_name_is_that_dimension():
    @T.prim_func
    def f(n: T.int64, x: T.Buffer[T.f32, n, 4]):
        pass

    assert f.buffer_map[f.params[1]].shape[0] is f.params[0]


def test_variables_without_a_name_have_that_of_pythons_variable():
    @T.prim_func
    def f(x: T.Buffer[half, rows], y: Image):
        for i in T.serial(rows):
            y[i, 0] = T.float32(1)

    (first,), (second, three) = (f.buffer_map[p].shape for p in f.params)
    assert first.name == "rows"
    assert first is second
    assert three.value == 3
    assert [f.buffer_map[p].dtype for p in f.params] == ["float16", "float32"]
    assert free_vars(f) == []
