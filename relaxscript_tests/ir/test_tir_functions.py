"""Scalar functions by the names of `tvm.tir`, and the names that its facade offers."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import ir, te, tir
from relaxscript.errors import DiagnosticError
from relaxscript.ir import structural_equal

N, M = tir.Var("n", "int64"), tir.Var("m", "int64")


@pytest.mark.parametrize(
    ("made", "script"),
    [
        (lambda: tir.all(N > 1, M < 5, N < M), "n > 1 and m < 5 and n < m"),
        (lambda: tir.any(N > 1, M < 5), "n > 1 or m < 5"),
        (lambda: tir.all(N > 1), "n > 1"),
        (lambda: tir.div(N, 2), "T.truncdiv(n, T.int64(2))"),
        (lambda: tir.indexdiv(N, 2), "n // 2"),
        (lambda: tir.indexmod(N, 2), "n % 2"),
        (lambda: tir.floordiv(N, M), "n // m"),
        (lambda: tir.min(N, M), "T.min(n, m)"),
        (lambda: tir.max(N, 1), "T.max(n, T.int64(1))"),
        (lambda: tir.power(N, 2), "T.pow(n, T.int64(2))"),
        (lambda: tir.if_then_else(N > 1, N, 0), "T.if_then_else(n > 1, n, T.int64(0))"),
    ],
)
def test_a_function_builds_what_scripts_write(made, script: str):
    assert str(made()) == script


@pytest.mark.parametrize("join", [tir.all, tir.any])
def test_no_conditions_cannot_be_joined(join):
    with pytest.raises(DiagnosticError, match=f"`tir.{join.__name__}` joins one condition or more"):
        join()


def test_decl_buffer_makes_a_buffer_with_its_shape_first():
    made = tir.decl_buffer((N, 4), "float16", name="B")
    assert (made.name, made.dtype, [str(d) for d in made.shape]) == (
        "B",
        "float16",
        ["n", "T.int64(4)"],
    )
    assert tir.decl_buffer(8).ndim == 1


def test_the_facade_offers_every_name_that_it_lists():
    assert [name for name in tir.__all__ if not hasattr(tir, name)] == []


@pytest.mark.parametrize("facade", [rx.expr, rx.struct_info])
def test_facades_of_relax_hold_the_classes_of_relax(facade):
    shared = set(facade.__all__) & set(rx.__all__)
    assert len(shared) >= 7
    assert all(getattr(facade, name) is getattr(rx, name) for name in shared)


def test_a_range_is_written_by_its_ends():
    assert structural_equal(ir.Range(3, 5), ir.Range.from_min_extent(3, 2))
    assert structural_equal(ir.Range(5), ir.Range(0, 5))
    assert ir.Range(0, N).extent is N
    assert str(ir.Range(N, M).extent) == "m - n"


def test_a_range_needs_an_end():
    with pytest.raises(
        TypeError, match=r"Range\(\) missing 1 required positional argument: 'begin'"
    ):
        ir.Range()
    with pytest.raises(TypeError, match=r"Range\(\) missing"):
        ir.Range(min=3)


def test_the_end_of_a_range_is_a_scalar():
    with pytest.raises(TypeError, match="'x' is not a scalar"):
        ir.Range(1, "x")


def test_a_range_is_copied_with_another_extent():
    assert structural_equal(ir.Range(3, 5).replace(extent=4), ir.Range(3, 7))


def test_an_operator_is_found_by_its_full_name():
    assert ir.Op.get("relax.add") is rx.op.add.op
    with pytest.raises(TypeError, match=r"there is no operator `relax\.ad`"):
        ir.Op.get("relax.ad")


def test_functions_of_numbers_are_numbers():
    five, two = tir.const(-5), tir.const(2)
    found = [
        tir.truncdiv(five, two), tir.truncmod(five, two), tir.floordiv(five, two),
        tir.floormod(five, two), tir.max(five, two, 1), tir.min(3, 2, 4),
    ]  # fmt: skip
    assert [int(e.value) for e in found] == [-2, -1, -3, 1, 2, 2]
    assert tir.truncdiv(N, 1) is N
    assert int(tir.truncmod(N, 1).value) == 0
    with pytest.raises(DiagnosticError, match="something is divided by zero"):
        tir.floormod(N, 0)


def test_a_condition_that_is_known_decides_or_is_left_out():
    condition = N < M
    for join, neutral in ((tir.all, True), (tir.any, False)):
        assert join(condition, tir.const(neutral)) is condition
        assert join(tir.const(neutral), condition) is condition
        known = tir.const(not neutral)
        assert join(condition, known) is known


def test_reductions_are_functions_of_scalars_too():
    assert tir.max is te.max
    assert tir.op.comm_reducer is te.comm_reducer
    assert str(tir.sum(N, M)) == "n + m"


def test_a_number_of_numpy_keeps_its_dtype():
    dtypes = ["bool", "uint8", "int16", "int64", "float16", "float32", "float64"]
    assert [tir.const(np.dtype(name).type(1)).dtype for name in dtypes] == dtypes
