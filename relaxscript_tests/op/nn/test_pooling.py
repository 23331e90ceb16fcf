"""Poolings: what each window becomes, how many there are, what is refused."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.op.nn import windows
from relaxscript_tests.op.inference import infer, obliged, ranked, refused, result, tensor
from relaxscript_tests.op.sampling import DTYPES, FURTHER_DTYPES

FLOATS = [d for d in DTYPES + FURTHER_DTYPES if DataType(d).is_float]
MAX = (R.nn.max_pool1d, R.nn.max_pool2d, R.nn.max_pool3d)
AVG = (R.nn.avg_pool1d, R.nn.avg_pool2d, R.nn.avg_pool3d)
ROW = np.array([[[1, 5, 2, 4, 3]]], "float32")
X = tensor("n", 3, "h", 28)


def test_the_largest_and_the_mean_of_windows() -> None:
    assert R.nn.max_pool1d(ROW, 2).tolist() == [[[5, 5, 4, 4]]]
    assert R.nn.max_pool1d(ROW, 2, 2).tolist() == [[[5, 4]]]
    assert R.nn.max_pool1d(ROW, 2, dilation=2).tolist() == [[[2, 5, 3]]]
    assert R.nn.avg_pool1d(ROW, 2).tolist() == [[[3, 3.5, 3, 3.5]]]


def by_definition(x: Any, options: dict[str, Any], largest: bool, counted: bool) -> Any:
    """The windows of (N, C, spatial) float64 numbers one by one."""
    axes = x.ndim - 2
    pads = options["padding"]
    slack = [s - 1 if options["ceil_mode"] else 0 for s in options["strides"]]
    sizes = [
        (x.shape[2 + i] + pads[i] + pads[axes + i] + slack[i] - d * (k - 1) - 1) // s + 1
        for i, (k, s, d) in enumerate(
            zip(options["pool_size"], options["strides"], options["dilation"])
        )
    ]
    out = np.zeros((*x.shape[:2], *sizes))
    for place in itertools.product(*map(range, out.shape)):
        found, count = [], 0
        for inner in itertools.product(*map(range, options["pool_size"])):
            where = [
                place[2 + i] * options["strides"][i] + j * options["dilation"][i] - pads[i]
                for i, j in enumerate(inner)
            ]
            inside = [0 <= p < n for p, n in zip(where, x.shape[2:])]
            padded = [-pads[i] <= p < x.shape[2 + i] + pads[axes + i] for i, p in enumerate(where)]
            found += [x[(*place[:2], *where)]] if all(inside) else []
            count += all(padded if counted else inside)
        if largest:
            out[place] = max(found, default=-np.inf)
        else:
            out[place] = sum(found) / max(count, 1)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("part", [1, 1 << 16])
@pytest.mark.parametrize("seed", range(20))
def test_a_pooling_is_what_its_definition_says(
    seed: int, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "_PART", part)
    rng = np.random.default_rng(seed)
    axes = 1 + seed % 3

    def numbers(low: int, high: int, count: int = axes) -> tuple[int, ...]:
        return tuple(int(n) for n in rng.integers(low, high, count))

    x = rng.integers(-9, 9, (2, 3, *numbers(5, 8))).astype("float64")
    options: dict[str, Any] = {
        "pool_size": numbers(1, 4),
        "strides": numbers(1, 4),
        "padding": numbers(0, 3, 2 * axes),
        "dilation": numbers(1, 3),
        "ceil_mode": bool(seed % 2),
    }
    for operators, largest in ((MAX, True), (AVG, False)):
        for counted in (False, True):
            found = operators[axes - 1](x, **options, count_include_pad=counted)
            np.testing.assert_allclose(
                found, by_definition(x, options, largest, counted), rtol=1e-15, atol=1e-15
            )


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_of_every_size_are_pooled(dtype: str) -> None:
    x = np.arange(1, 13).reshape(1, 1, 3, 4).astype(DataType(dtype).numpy)
    largest = R.nn.max_pool2d(x, 2, 1, 1)
    assert largest.dtype == x.dtype
    wanted = [[1, 2, 3, 4, 4], [5, 6, 7, 8, 8], [9, 10, 11, 12, 12], [9, 10, 11, 12, 12]]
    wanted = np.array(wanted).astype(x.dtype).astype(float).tolist()
    assert largest[0, 0].astype(float).tolist() == wanted
    assert R.nn.avg_pool2d(x[..., :2], 1).tolist() == x[..., :2].tolist()
    assert float(R.nn.adaptive_avg_pool2d(x[:, :, :1, :2], 1).item()) in (1, 1.5, 2)


def test_nan_is_the_largest() -> None:
    x = np.array([[[1, np.nan, 2, 3]]], "float32")
    assert np.isnan(R.nn.max_pool1d(x, 2)[0, 0]).tolist() == [True, True, False]


def test_means_of_many_floats_are_added_up_in_a_wider_type() -> None:
    x = np.full((1, 1, 300, 300), 0.1, "float32")
    assert R.nn.avg_pool2d(x, 300).item() == x[0, 0, 0, 0]
    assert R.nn.adaptive_avg_pool2d(x, 1).item() == x[0, 0, 0, 0]


def test_a_window_that_fits_nowhere_is_an_error() -> None:
    given = {p.name: p.default for p in R.nn.max_pool1d.parameters if p.kind == "attribute"}
    with pytest.raises(ValueError, match="the window is larger than the tensor with its padding"):
        R.nn.max_pool1d.meaning(np.zeros((1, 1, 2)), **{**given, "pool_size": (3,)})


def test_padding_is_below_all_and_counts_where_it_is_told_to() -> None:
    assert R.nn.max_pool1d(-ROW, 2, 1, 1).tolist() == [[[-1, -1, -2, -2, -3, -3]]]
    assert R.nn.max_pool1d((-ROW).astype("int8"), 2, 4, 1).tolist() == [[[-1, -3]]]
    assert R.nn.avg_pool1d(ROW, 2, 2, [1, 0]).tolist() == [[[1, 3.5, 3.5]]]
    padded = R.nn.avg_pool1d(ROW, 2, 2, [1, 0], count_include_pad=True)
    assert padded.tolist() == [[[0.5, 3.5, 3.5]]]


def test_a_window_that_does_not_fit_whole_is_taken_where_that_is_asked_for() -> None:
    assert R.nn.max_pool1d(ROW, 2, 2, ceil_mode=True).tolist() == [[[5, 4, 3]]]
    for counted in (True, False):
        found = R.nn.avg_pool1d(ROW, 2, 2, ceil_mode=True, count_include_pad=counted)
        assert found.tolist() == [[[3, 3, 3]]]


def test_windows_of_about_one_size() -> None:
    assert R.nn.adaptive_avg_pool1d(ROW, 2).tolist() == [[[np.float32(8 / 3), 3]]]
    assert R.nn.adaptive_avg_pool1d(ROW, 5).tolist() == ROW.tolist()
    assert R.nn.adaptive_avg_pool1d(ROW).tolist() == ROW.tolist()
    square = np.arange(16, dtype="float64").reshape(1, 1, 4, 4)
    assert R.nn.adaptive_avg_pool2d(square, [1, 2]).tolist() == [[[[6.5, 8.5]]]]
    last = R.nn.adaptive_avg_pool2d(square.reshape(1, 4, 4, 1), 1, "NHWC")
    assert last.tolist() == [[[[7.5]]]]
    with pytest.raises(ValueError, match="there is nothing to take the mean of"):
        R.nn.adaptive_avg_pool1d(np.zeros((1, 1, 0)), 2)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, "(n, 3, h, 28) float32"),
        ({"pool_size": 2, "strides": 2}, "(n, 3, h // 2, 14) float32"),
        ({"pool_size": 2, "strides": 2, "ceil_mode": True}, "(n, 3, (h - 1) // 2 + 1, 14) float32"),
        ({"pool_size": [3, 1], "padding": [1, 0]}, "(n, 3, h, 28) float32"),
    ],
)
@pytest.mark.parametrize("operator", [R.nn.max_pool2d, R.nn.avg_pool2d], ids=repr)
def test_the_shape_of_a_pooling(operator: Any, attributes: Any, expected: str) -> None:
    assert result(operator, X, **attributes) == expected


def test_the_shape_of_an_adaptive_pooling() -> None:
    assert result(R.nn.adaptive_avg_pool2d, X, [4, 5]) == "(n, 3, 4, 5) float32"
    assert result(R.nn.adaptive_avg_pool2d, X) == "(n, 3, h, 28) float32"
    assert result(R.nn.adaptive_avg_pool3d, ranked(-1), 2) == "rank 5 float32"


def test_what_cannot_be_pooled() -> None:
    assert refused(R.nn.max_pool2d, tensor(2, 3, 4)).fact == "has shape (2, 3, 4)"
    assert refused(R.nn.max_pool2d, X, [1, 2, 3]).operand == "pool_size"
    assert refused(R.nn.max_pool2d, X, 0).fact == "is 0"
    assert refused(R.nn.max_pool2d, X, 2, layout="CHW").operand == "layout"
    assert refused(R.nn.max_pool2d, X, [1, 29]).fact == "has 28 elements along W"
    assert refused(R.nn.max_pool2d, tensor(2, 3, 4, 4, dtype="bool")).code == "RX0202"
    assert refused(R.nn.avg_pool1d, tensor(2, 3, 4, dtype="bool")).code == "RX0202"
    assert refused(R.nn.adaptive_avg_pool1d, tensor(2, 3, 4), [2, 2]).operand == "output_size"


def test_windows_of_nothing_have_no_mean() -> None:
    empty = refused(R.nn.adaptive_avg_pool2d, tensor(2, 3, 0, 4), 1)
    assert empty.fact == "has 0 elements along H"
    assert empty.message == "there is nothing to take the mean of"
    assert obliged(R.nn.adaptive_avg_pool2d, X, [4, 5]) == ["data: 1 inside h"]
    assert obliged(R.nn.adaptive_avg_pool2d, X) == []


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_means_of_integers_are_exact_and_rounded_toward_zero(dtype: str) -> None:
    rng = np.random.default_rng(5)
    info = np.iinfo(dtype)
    x = rng.integers(max(info.min, -(10**9)), min(info.max, 10**9), (1, 2, 5, 7)).astype(dtype)
    found = R.nn.avg_pool2d(x, (2, 3))
    adaptive = R.nn.adaptive_avg_pool2d(x, (3, 2))
    assert found.dtype == adaptive.dtype == x.dtype
    for c, i, j in np.ndindex(found.shape[1:]):
        window = [int(v) for v in x[0, c, i : i + 2, j : j + 3].ravel()]
        assert found[0, c, i, j] == int(Fraction(sum(window), 6))
    for c, i, j in np.ndindex(adaptive.shape[1:]):
        rows, columns = slice(i * 5 // 3, -(-(i + 1) * 5 // 3)), slice(j * 7 // 2, 4 + 3 * j)
        window = [int(v) for v in x[0, c, rows, columns].ravel()]
        assert adaptive[0, c, i, j] == int(Fraction(sum(window), len(window)))


def test_a_pooling_that_keeps_its_sizes_keeps_what_is_known_of_the_shape() -> None:
    s = Var("s", ShapeStructInfo(ndim=4))
    x = Var("x", TensorStructInfo(s, "float32"))
    assert structural_equal(infer(R.nn.adaptive_avg_pool2d, x), x.struct_info)
