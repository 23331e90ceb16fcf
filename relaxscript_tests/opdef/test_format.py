"""Dimensions and shapes in messages."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript.ir import prim
from relaxscript.ir.struct_info import ObjectStructInfo, TensorStructInfo
from relaxscript.opdef.format import dim_text, shape_fact, shape_text
from relaxscript_tests.op.inference import dim

n, m = dim("n"), dim("m")


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (prim.as_prim(3), "3"),
        (n, "n"),
        (n + 1, "n + 1"),
        ((n + 1) * 2, "(n + 1) * 2"),
        (n * 2 + 1, "n * 2 + 1"),
        (n - (m - 1), "n - (m - 1)"),
        (n // (m * 2), "n // (m * 2)"),
        (n % 4, "n % 4"),
        (prim.Min(n, m + 1), "min(n, m + 1)"),
        (prim.Max(n, 2), "max(n, 2)"),
        (prim.Cast("int64", n), "n"),
        (prim.Select(n < m, n, m), "..."),
    ],
)
def test_dimensions(e: Any, text: str) -> None:
    assert dim_text(e) == text


def test_what_is_nested_deeply_is_cut_short() -> None:
    e = n
    for _ in range(10_000):
        e = e + m
    assert len(dim_text(e)) < 100


def test_shapes() -> None:
    assert shape_text(()) == "()"
    assert shape_text((n,)) == "(n,)"
    assert shape_text((n, n + 1)) == "(n, n + 1)"


def test_facts() -> None:
    assert shape_fact(TensorStructInfo((2, n), "float32")) == "has shape (2, n)"
    assert shape_fact(TensorStructInfo(None, "float32", None, 3)) == "has rank 3"
    assert shape_fact(TensorStructInfo(None, "float32")) == "has a shape that is not known"
    assert shape_fact(ObjectStructInfo()) == "has a shape"
