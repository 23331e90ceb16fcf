"""Buffers are indexed in Python as in scripts."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import tir
from relaxscript.ir import structural_equal, structural_hash
from relaxscript.ir.prim import BufferLoad, IntImm, PointerType, PrimType, Var
from relaxscript.ir.tir import Buffer, BufferRegion, BufferStore, For
from relaxscript.script import tir as T
from relaxscript_tests.prim_funcs import both

A = Buffer("A", (4, 8), "float32")


def numbers(region):
    return [(r.min.value, r.extent.value) for r in region.region]


def test_indices_give_an_element():
    i = Var("i", "int32")
    load = A[i, 3]
    assert isinstance(load, BufferLoad)
    assert load.buffer is A
    assert load.indices[0] is i
    assert isinstance(load.indices[1], IntImm)
    assert load.indices[1].dtype == "int32"


def test_slices_give_a_region():
    assert numbers(A[1:3, 2]) == [(1, 2), (2, 1)]
    assert numbers(A[:, 4:]) == [(0, 4), (4, 4)]
    i = Var("i", "int32")
    region = A[i : i + 2, :]
    assert isinstance(region, BufferRegion)
    assert region.region[0].min is i


def test_as_many_indices_as_dimensions():
    with pytest.raises(IndexError, match="has 2 dimensions, 1 indices are given"):
        A[0]
    assert isinstance(Buffer("B", (), "float32")[()], BufferLoad)


def test_a_region_has_no_steps():
    with pytest.raises(IndexError, match="no steps"):
        A[0:4:2, 0]


def test_a_buffer_is_not_gone_through():
    with pytest.raises(TypeError, match="'Buffer' object is not iterable"):
        iter(A)


# ---------------------------------------------------------------- the pointer


@T.prim_func
def written(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = 0.0


@pytest.mark.parametrize(
    "buffer",
    [
        tir.decl_buffer((4,), "float32", "x"),
        Buffer("x", (4,), "float32", scope="global"),
        Buffer("x", (4,), data=Var("p", "handle")).replace(data=None),
        next(iter(written.buffer_map.values())),
    ],
    ids=["decl_buffer", "constructor", "replace", "parser"],
)
def test_a_buffer_has_a_pointer_of_its_own(buffer: Buffer):
    assert (buffer.data.name, buffer.data.dtype) == ("x", "handle")
    assert buffer.data.type_annotation == PointerType(PrimType("float32"), "global")


def test_a_pointer_that_is_given_is_taken():
    p = Var("p", "handle")
    assert tir.decl_buffer((4,), data=p).data is p
    assert A.replace(name="B").data is A.data


def test_axes_are_separated_in_their_order():
    for separators in ([1, 2], [-1], [1, 0]):
        with pytest.raises(ValueError, match=r"`Buffer.axis_separators`: those of the buffer `B`"):
            Buffer("B", (4,), "float32", axis_separators=separators)


def halves(address: bool) -> tir.PrimFunc:
    """A function that writes into the second half of its buffer, by the pointer or by the index."""
    x, handle, i = tir.decl_buffer((4,), "float32", "x"), Var("x", "handle"), Var("i", "int32")
    body = BufferStore(x, 1.0, (i + 2,))
    if address:
        half = tir.decl_buffer((2,), "float32", "half", data=x.data, elem_offset=2)
        body = tir.DeclBuffer(half, BufferStore(half, 1.0, (i,)))
    return tir.PrimFunc([handle], For(i, 0, 2, "serial", body), None, {handle: x})


def test_the_pointer_of_a_declared_buffer_is_that_of_its_function():
    func = halves(address=True)
    assert "data=x.data" in func.script()
    again = rx.from_source(func.script())
    assert structural_equal(func, again)
    assert structural_hash(func) == structural_hash(again)
    assert not structural_equal(func, halves(address=False))
    plain = halves(address=False)
    assert ".data" not in plain.script()
    assert structural_equal(plain, rx.from_source(plain.script()))


@pytest.mark.parametrize("address", [True, False])
def test_what_is_written_by_the_pointer_is_in_the_buffer(address: bool):
    (x,) = both(halves(address), [np.zeros(4, "float32")])
    assert x.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("kind", ["serial", "unrolled"])
def test_each_declaration_without_memory_has_memory_anew(kind: str):
    x, handle, i = tir.decl_buffer((3,), "int32"), Var("x", "handle"), Var("i", "int32")
    own = tir.decl_buffer((i + 1,), "int32", "own")
    stores = tir.SeqStmt([BufferStore(own, i * 2, (i,)), BufferStore(x, own[i], (i,))])
    body = For(i, 0, 3, kind, tir.DeclBuffer(own, stores))
    (found,) = both(tir.PrimFunc([handle], body, None, {handle: x}), [np.zeros(3, "int32")])
    assert found.tolist() == [0, 2, 4]
