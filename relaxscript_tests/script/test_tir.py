"""The names of `T`, outside of any script."""

from __future__ import annotations

import inspect

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.script import tir as T
from relaxscript.script.names.relax_typed import DTYPES as SHORT
from relaxscript.script.names.tir_types import StmtForm

STATEMENTS = """
    Assert Bind Buffer Else If LetStmt Range Then While alloc_buffer allocate allocate_const
    attr axis bind block block_attr buffer buffer_decl buffer_store decl_buffer env_thread
    evaluate func_attr grid init launch_thread macro match_buffer meta_var parallel prefetch
    prim_func reads realize sblock sblock_alloc_buffer sblock_attr serial thread_binding unroll
    vectorized where writes
""".split()
NODES = """
    EQ GE GT LE LT NE Add And Broadcast BufferLoad Call Cast Div FloatImm FloorDiv FloorMod IntImm
    CallEffectKind CommReducer IterVar ProducerLoad Reduce comm_reducer index_map iter_var
    Let Max Min Mod Mul Not Or Ptr Ramp Select Shuffle SizeVar StringImm Sub Var broadcast
    buffer_var cast let max min ptr ramp target var
""".split()
DTYPES = {
    *("bool", "boolean", "handle", "void", "bfloat16"),
    *(f"{kind}{bits}{lanes}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)
      for lanes in ("", "x4", "x8", "x16", "x32", "x64")),
    *(f"float{bits}{lanes}" for bits in ("16", "32", "64", "8_e4m3fn", "8_e5m2", "4_e2m1fn")
      for lanes in ("", "x4", "x8", "x16", "x32", "x64")),
    "float4_e2m1fnx2",
}  # fmt: skip


TYPED = {"dim", *SHORT} - {"bool"}  # what type checkers read


def test_every_name_is_listed_once():
    assert len(T.__all__) == len(set(T.__all__))
    assert set(T.__all__) == {*STATEMENTS, *NODES, *DTYPES, *TYPED, *FUNCTIONS}


@pytest.mark.parametrize("name", sorted({*STATEMENTS, *NODES, *FUNCTIONS}))
def test_every_function_says_what_it_means(name):
    assert inspect.getdoc(getattr(T, name))


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"min", "max"}))
def test_intrinsics_go_by_their_names(name):
    assert getattr(T, name) is FUNCTIONS[name]


@pytest.mark.parametrize("name", sorted(DTYPES))
def test_data_types_go_by_their_names(name):
    assert getattr(T, name).dtype == ("bool" if name == "boolean" else name)


def test_forms_hold_their_arguments():
    form = T.serial(2, 8, annotations={"a": 1})
    assert isinstance(form, StmtForm)
    assert (form.name, form.start, form.stop) == ("T.serial", 2, 8)
    assert repr(T.axis.spatial(4, 0)) == "T.axis.spatial(dom=4, binding=0, dtype='int32')"
    with pytest.raises(AttributeError, match=r"`T\.serial` has no `extent`"):
        _ = form.extent


def test_a_buffer_takes_whatever_an_annotation_says():
    assert isinstance(T.Buffer(), StmtForm)
    assert isinstance(T.Buffer((4,), "no dtype", unknown=3), StmtForm)
    assert isinstance(T.Buffer[(4,), "float32"], StmtForm)
    assert list(inspect.signature(T.Buffer).parameters)[:2] == ["shape", "dtype"]


def test_data_types_make_variables_and_convert():
    n = T.int64(is_size_var=True)
    assert isinstance(n, prim.SizeVar)
    assert n.dtype == "int64"
    assert structural_equal(T.float32(1), prim.FloatImm("float32", 1.0))
    assert structural_equal(T.int8(n), prim.Cast("int8", n), map_free_vars=True)
    assert T.int32(n < 3).dtype == "int32"
    assert T.float32("0x1.8p+1").value == 3.0
    assert T.float32x4(2).dtype == "float32x4"


def test_conversions_of_what_is_no_number_are_refused():
    with pytest.raises(TypeError, match=r"`T\.float32` converts scalars, not list"):
        T.float32([1])
    with pytest.raises(ValueError, match="300 does not fit in int8"):
        T.int8(300)
    with pytest.raises(ValueError, match="inf is no int32"):
        T.int32(float("inf"))
    with pytest.raises(ValueError, match='"pi" is not a number'):
        T.float32("pi")
    with pytest.raises(ValueError, match='"flaot32" is not a dtype'):
        T.handle("flaot32")


def test_nodes_match_their_operands():
    x = T.Var("x", "float32")
    assert T.Add(x, 1).b.dtype == "float32"
    assert T.max(x, 1, 2).b.dtype == "float32"
    assert structural_equal(T.cast(1, "float16"), prim.FloatImm("float16", 1.0))
    with pytest.raises(TypeError, match="is not a scalar expression"):
        T.Not("x")
    with pytest.raises(DiagnosticError, match=r"`T\.exp` takes scalar expressions"):
        T.exp([1])


def test_a_let_binds_several_variables_the_first_outermost():
    x, y = T.Var("x"), T.Var("y")
    let = T.Let(x + y, where={x: 1, y: x})
    assert (let.var, let.body.var) == (x, y)


def test_a_misspelt_name_gets_the_nearest_one():
    with pytest.raises(AttributeError, match=r"`T` has no `sqtr`; did you mean `T\.sqrt`\?"):
        _ = T.sqtr
    with pytest.raises(AttributeError, match=r"`T` has no `zzzzzzzz`$"):
        _ = T.zzzzzzzz
