"""Parameters and buffers of PrimFuncs, as they are written and what they mean."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import RelaxWarning
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim
from relaxscript.ir.structural_equality import assert_structural_equal, structural_equal
from relaxscript.ir.tir import For
from relaxscript.script import from_source, tir as T
from relaxscript_tests.script.parser.reading import nodes

# Programs are written as users write them, whatever a formatter would rather have.
# fmt: off

IMAGE = T.Buffer((4, 4), "float32")
SHAPE = (4, 4)
SCALE = 3


def test_a_buffer_parameter_is_a_handle_with_a_buffer():
    @T.prim_func
    def f(x: T.Buffer((4, 8), "float16")):
        pass

    (param,) = f.params
    buffer = f.buffer_map[param]
    assert (param.name, param.dtype) == ("x_handle", "handle")
    assert (buffer.name, buffer.dtype, [int(d) for d in buffer.shape]) == ("x", "float16", [4, 8])
    assert {d.dtype for d in buffer.shape} == {"int64"}


def test_every_dimension_knows_its_place():
    f = from_source('@T.prim_func\ndef f(é: T.Buffer((64, "n"), "float32")):\n    pass')
    dims = next(iter(f.buffer_map.values())).shape
    assert [d.span.text for d in dims] == ["64", '"n"']
    assert f.param_spans[0].text == "é"


def test_a_string_dimension_and_a_declaration_are_one_variable():
    @T.prim_func
    def f(x: T.Buffer(("n", 4), "float32"), y: T.Buffer((4, "n"), "float32")):
        n = T.int64()
        for i in range(n):
            y[0, i] = x[i, 0]

    x, y = f.buffer_map.values()
    assert x.shape[0] is y.shape[1] is nodes(f, For)[0].extent
    assert x.shape[0].dtype == "int64"


def test_a_declaration_decides_the_data_type_of_a_dimension():
    @T.prim_func
    def f(x: T.Buffer(("n", "m"), "float32")):
        n, m = T.int32(), T.int64(is_size_var=True)

    n, m = next(iter(f.buffer_map.values())).shape
    assert n.dtype == "int32"
    assert isinstance(m, prim.SizeVar)


def test_dimensions_are_arithmetic_of_names_defined_anywhere_in_the_signature():
    @T.prim_func
    def f(
        x: T.Buffer(("n * 2 + 1", "max(n, k)"), "float32"),
        y: T.Buffer(("n",), "float32"),
        k: T.int64,
    ):
        pass

    x, y = f.buffer_map.values()
    n, k = y.shape[0], f.params[2]
    assert structural_equal(x.shape[0], n * 2 + 1)
    assert structural_equal(x.shape[1], prim.Max(n, k))


def test_match_buffer_says_everything_of_a_buffer():
    @T.prim_func
    def f(a: T.handle, n: T.int64):
        A = T.match_buffer(a, (n, 4), "int8", strides=("s", 1), elem_offset="o", scope="shared",
                           align=16, offset_factor=8, buffer_type="auto", axis_separators=[1])

    A = f.buffer_map[f.params[0]]
    assert A.shape[0] is f.params[1]
    assert [A.strides[0].name, int(A.strides[1]), A.elem_offset.name] == ["s", 1, "o"]
    assert (A.scope, A.data_alignment, A.offset_factor) == ("shared", 16, 8)
    assert (A.buffer_type, A.axis_separators) == ("auto_broadcast", (1,))


def test_an_offset_factor_makes_an_offset():
    @T.prim_func
    def f(a: T.handle):
        A = T.match_buffer(a, (4,), "float32", offset_factor=2)

    assert f.buffer_map[f.params[0]].elem_offset.name == "A_elem_offset"


@pytest.mark.parametrize("annotation", [
    'T.Buffer((4, 4), "float32")', 'T.Buffer[(4, 4), "float32"]', '"T.Buffer((4, 4))"',
    "T.Buffer([4, 4], dtype=T.float32)",
])  # fmt: skip
def test_spellings_of_a_buffer(annotation):
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32")):
        x[0, 0] = 1.0

    g = from_source(f"@T.prim_func\ndef f(x: {annotation}):\n    x[0, 0] = 1.0")
    assert_structural_equal(f, g)


def test_captured_annotations_shapes_and_numbers():
    @T.prim_func
    def f(x: IMAGE, y: T.Buffer(SHAPE, np.float32)):
        for i, j in T.grid(*SHAPE):
            y[i, j] = x[i, j] * SCALE + np.float32(2)

    @T.prim_func
    def g(x: T.Buffer((4, 4), "float32"), y: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            y[i, j] = x[i, j] * 3.0 + T.float32(2)

    assert_structural_equal(f.without_attr("global_symbol"), g.without_attr("global_symbol"))


def test_a_handle_may_say_what_it_points_to():
    @T.prim_func
    def f(a: T.handle("float16", "shared"), b: T.handle):
        pass

    pointer = f.params[0].type_annotation
    assert (pointer.element_type.dtype, pointer.storage_scope) == ("float16", "shared")
    assert f.params[1].type_annotation is None


def test_attributes_and_privacy():
    @T.prim_func
    def public(n: T.int32):
        T.func_attr({"tir.noalias": True})

    @T.prim_func(private=True)
    def private(n: T.int32):
        pass

    assert dict(public.attrs) == {"global_symbol": "public", "tir.noalias": True}
    assert not private.attrs


def test_a_function_may_return_a_scalar():
    @T.prim_func
    def f(n: T.int64) -> T.int64:
        return n + 1

    assert f.ret_type.dtype == "int64"
    assert evaluate(f, [41]) == 42


def test_a_name_in_a_shape_that_nobody_declared_is_a_new_variable_and_warned_of():
    text = """
@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    with T.grid(n) as i:
        B[i] = T.exp(A[i])
"""
    with pytest.warns(RelaxWarning, match="`n` is not declared"):
        f = from_source(text)
    A, B = f.buffer_map.values()
    assert A.shape[0] is B.shape[0]
