"""Buffers are indexed in Python as in scripts."""

from __future__ import annotations

import pytest

from relaxscript.ir.prim import BufferLoad, IntImm, Var
from relaxscript.ir.tir import Buffer, BufferRegion

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
