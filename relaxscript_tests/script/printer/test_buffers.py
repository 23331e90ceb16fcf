"""Buffers outside of functions, and the ends of ranges."""

from __future__ import annotations

from relaxscript.ir import prim, tir
from relaxscript.ir.prim import PointerType, PrimType, Var
from relaxscript.ir.tir import Buffer
from relaxscript.script.printer.module import script
from relaxscript.script.printer.tir_context import is_plain

from .programs import int32, int64, region

i, n = Var("i"), Var("n", "int64")
A = Buffer("A", (64, n), "float32")


def test_a_plain_buffer_is_its_shape_and_data_type():
    assert is_plain(A)
    assert not is_plain(Buffer("A", (4,), scope="local"))
    assert not is_plain(Buffer("A", (4,), elem_offset=0))
    assert script(A) == 'T.Buffer((64, n), "float32")'


def test_a_region_says_where_it_ends():
    assert script(region(A, (int32(2), int32(4)), i)) == "A[2:6, i]"
    assert script(region(A, (i, int32(4)), (int32(0), i))) == "A[i:i + 4, 0:i]"
    end = prim.Sub(i, i)
    assert script(region(A, (i, end), (int64(0), n))) == "A[i:i, T.int64(0):n]"


def test_a_range_is_written_by_its_ends():
    assert script(tir.Range(int32(2), int32(6))) == "T.Range(2, 6)"


def test_types_of_scalars_and_pointers():
    assert script(PrimType("int32")) == "T.int32"
    assert script(PointerType(PrimType("int32"))) == 'T.handle("int32")'


def test_an_axis_by_itself():
    assert script(tir.IterVar(tir.Range(int32(0), int32(4)), i)) == "T.axis.spatial(4, i)"
    assert script(tir.IterVar(None, i, "opaque")) == "T.axis.opaque(None, i)"
