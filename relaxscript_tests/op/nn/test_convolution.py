"""Convolutions: against the definition, element by element; shapes; what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.ir import relax
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.op import pieces
from relaxscript.op.nn import im2col
from relaxscript_tests.op.inference import dim, obliged, ranked, refused, result, tensor


def by_definition(x: Any, k: Any, strides: Any, pads: Any, dilation: Any, groups: int) -> Any:
    """The convolution of (N, C, spatial) by (O, I, spatial), one product after the other."""
    axes = x.ndim - 2
    padded = np.pad(x, [(0, 0), (0, 0), *((pads[i], pads[axes + i]) for i in range(axes))])
    sizes = [
        (padded.shape[2 + i] - dilation[i] * (k.shape[2 + i] - 1) - 1) // strides[i] + 1
        for i in range(axes)
    ]
    out = np.zeros((len(x), len(k), *sizes), x.dtype)
    of_group = len(k) // groups
    for place in itertools.product(*map(range, out.shape)):
        first = place[1] // of_group * k.shape[1]
        for inner in itertools.product(*map(range, k.shape[1:])):
            where = [place[2 + i] * strides[i] + inner[1 + i] * dilation[i] for i in range(axes)]
            out[place] += padded[(place[0], first + inner[0], *where)] * k[(place[1], *inner)]
    return out


@pytest.mark.parametrize("part", [1, 300, 1 << 20])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_a_convolution_is_what_its_definition_says(
    seed: int, last: bool, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whatever parts the columns are copied, and whatever axis runs last in memory."""
    monkeypatch.setattr(im2col, "_PART", part)
    monkeypatch.setattr(pieces, "_RUN", 1)
    rng = np.random.default_rng(seed)
    axes = 1 + seed % 3
    groups = int(rng.integers(1, 3))
    x = rng.integers(-3, 4, (2, 2 * groups, *rng.integers(4, 6, axes))).astype("int32")
    k = rng.integers(-3, 4, (3 * groups, 2, *rng.integers(1, 3, axes))).astype("int32")
    strides, dilation = (tuple(int(n) for n in rng.integers(1, 3, axes)) for _ in range(2))
    pads = tuple(int(n) for n in rng.integers(0, 3, 2 * axes))
    if last:
        x = np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)
    operator = (R.nn.conv1d, R.nn.conv2d, R.nn.conv3d)[axes - 1]
    found = operator(x, k, strides, pads, dilation, groups)
    assert found.tolist() == by_definition(x, k, strides, pads, dilation, groups).tolist()


def test_layouts_say_where_the_axes_stand() -> None:
    rng = np.random.default_rng(0)
    x, k = (rng.integers(-9, 9, shape) / 8 for shape in ((1, 3, 5, 6), (4, 3, 2, 2)))
    plain = R.nn.conv2d(x, k)
    other = R.nn.conv2d(
        x.transpose(0, 2, 3, 1), k.transpose(2, 3, 1, 0), data_layout="NHWC", kernel_layout="HWIO"
    )
    assert (other == plain.transpose(0, 2, 3, 1)).all()
    back = R.nn.conv2d(x.transpose(0, 2, 3, 1), k, data_layout="NHWC", out_layout="NCHW")
    assert (back == plain).all()


@pytest.mark.parametrize("groups", [1, 6])
def test_float32_is_as_close_as_a_matrix_product(groups: int) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 6, 9, 11)).astype("float32")
    k = rng.normal(size=(12, 6 // groups, 3, 2)).astype("float32")
    attributes: Any = (2, 1, (1, 2), groups)
    found = R.nn.conv2d(x, k, *attributes)
    assert found.dtype == np.float32
    exact = R.nn.conv2d(x.astype("float64"), k.astype("float64"), *attributes)
    sizes = R.nn.conv2d(abs(x).astype("float64"), abs(k).astype("float64"), *attributes)
    terms = k[0].size
    assert (abs(found - exact) <= terms * 2.0**-24 * sizes).all()


@pytest.mark.parametrize("shape", [(0, 3, 5, 6), (2, 0, 5, 6)])
def test_nothing_convolved_is_nothing_or_zero(shape: tuple[int, ...]) -> None:
    for last in (False, True):
        x = np.ones(shape, "float32")
        x = np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1) if last else x
        found = R.nn.conv2d(x, np.ones((4, shape[1], 2, 3), "float32"))
        assert found.tolist() == np.zeros((shape[0], 4, 4, 4)).tolist()


def test_small_floats_are_added_up_in_a_wider_type() -> None:
    x, k = np.ones((1, 3000, 1), "float16"), np.ones((1, 3000, 1), "float16")
    assert R.nn.conv1d(x, k).item() == 3000
    assert R.nn.conv1d(x, k, out_dtype="float32").dtype == np.float32


X = tensor("n", 3, "h", 28)
K = tensor(8, 3, 3, 3)


def test_the_shape_of_a_convolution() -> None:
    assert result(R.nn.conv2d, X, K) == "(n, 8, h - 2, 26) float32"
    assert result(R.nn.conv2d, X, K, 2, 1) == "(n, 8, (h - 1) // 2 + 1, 14) float32"
    assert result(R.nn.conv2d, X, K, padding=[0, 1, 2, 3]) == "(n, 8, h, 30) float32"
    assert result(R.nn.conv2d, X, K, dilation=[1, 2]) == "(n, 8, h - 2, 24) float32"
    assert result(R.nn.conv2d, X, ranked(4), out_dtype="float16") == "rank 4 float16"
    assert result(R.nn.conv1d, ranked(-1), ranked(-1)) == "rank 3 float32"


def test_a_shape_is_written_as_people_write_that_of_windows() -> None:
    x, k = tensor("n", 3, "h"), tensor(8, 3, "k")
    assert result(R.nn.conv1d, x, k) == "(n, 8, h + 1 - k) float32"
    assert result(R.nn.conv1d, x, k, padding=1) == "(n, 8, h + 3 - k) float32"
    assert result(R.nn.conv1d, x, tensor(8, 3, 3), 2) == "(n, 8, (h - 3) // 2 + 1) float32"
    assert result(R.nn.conv1d, x, tensor(8, 3, 2), 2) == "(n, 8, h // 2) float32"
    wide = tensor("n", 3, dim("h") * 2)
    assert result(R.nn.conv1d, wide, tensor(8, 3, 2), 2) == "(n, 8, h) float32"


@pytest.mark.parametrize(
    ("attributes", "operand", "fact"),
    [
        ({"strides": [1, 2, 3]}, "strides", "has 3 numbers"),
        ({"strides": 0}, "strides", "is 0"),
        ({"padding": [1, 2, 3]}, "padding", "has 3 numbers"),
        ({"padding": [0, 0, -1, 0]}, "padding", "is (-1, 0)"),
        ({"dilation": [1, 0]}, "dilation", "is (1, 0)"),
        ({"groups": 0}, "groups", "is 0"),
        ({"groups": 3}, "weight", "has 8 output channels"),
        ({"groups": 2}, "weight", "takes 6 channels"),
        ({"data_layout": "NCHX"}, "data_layout", 'is "NCHX"'),
        ({"kernel_layout": "OIH"}, "kernel_layout", 'is "OIH"'),
        ({"out_layout": "NHW"}, "out_layout", 'is "NHW"'),
        ({"data_layout": "NHWC"}, "weight", "takes 3 channels"),
    ],
)
def test_attributes_that_do_not_fit(attributes: Any, operand: str, fact: str) -> None:
    error = refused(R.nn.conv2d, tensor(2, 3, 9, 28), K, **attributes)
    assert (error.operand, error.fact) == (operand, fact)


def test_operands_that_do_not_fit() -> None:
    assert refused(R.nn.conv2d, tensor(2, 3, 9), K).fact == "has shape (2, 3, 9)"
    assert refused(R.nn.conv2d, X, ranked(3)).operand == "weight"
    assert refused(R.nn.conv2d, tensor(2, 3, 2, 28), K).fact == "has 2 elements along H"
    assert refused(R.nn.conv2d, tensor(2, 3, 9, 9, dtype="int8"), K).code == "RX0202"
    assert obliged(R.nn.conv2d, tensor(2, "c", 9, 9), K) == ["weight: c equal 3"]
    with pytest.raises(ValueError, match="the window is larger than the tensor"):
        R.nn.conv1d.meaning(np.zeros((1, 1, 2)), np.zeros((1, 1, 3)), **ATTRIBUTES)


ATTRIBUTES = {p.name: p.default for p in R.nn.conv1d.parameters if p.kind == "attribute"}


PICTURE, KERNEL = (relax.Var(n, TensorStructInfo((2, 3, 8, 8), "float32")) for n in "xw")


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        ({}, {"strides": (1, 1), "padding": (0, 0, 0, 0), "out_layout": "NCHW"}),
        ({"strides": 2, "padding": 1}, {"strides": (2, 2), "padding": (1, 1, 1, 1)}),
        ({"padding": (1, 2)}, {"padding": (1, 2, 1, 2)}),
        ({"dilation": [2]}, {"dilation": (2, 2)}),
        ({"data_layout": "NHWC"}, {"data_layout": "NHWC", "out_layout": "NHWC"}),
    ],
)
def test_attributes_that_mean_the_same_are_kept_in_one_form(short, whole):
    made, same = R.nn.conv2d(PICTURE, KERNEL, **short), R.nn.conv2d(PICTURE, KERNEL, **whole)
    assert structural_equal(made, same)
    assert {name: made.attrs[name] for name in whole} == whole


@pytest.mark.parametrize(
    ("short", "whole", "printed"),
    [
        (R.nn.max_pool2d(PICTURE, 2), R.nn.max_pool2d(PICTURE, (2, 2), padding=(0,) * 4), "[2, 2]"),
        (R.nn.adaptive_avg_pool2d(PICTURE, 2), R.nn.adaptive_avg_pool2d(PICTURE, [2, 2]), "[2, 2]"),
        (R.nn.conv2d_transpose(PICTURE, KERNEL), R.nn.conv2d_transpose(PICTURE, KERNEL, 1), "w)"),
        (R.nn.conv2d(PICTURE, KERNEL, padding=1), R.nn.conv2d(PICTURE, KERNEL, 1, [1, 1]), "1]"),
        (R.nn.conv2d(PICTURE, KERNEL, data_layout="NHWC"), None, 'data_layout="NHWC")'),
    ],
)
def test_what_follows_from_other_attributes_is_not_printed(short, whole, printed):
    assert whole is None or structural_equal(short, whole)
    text = short.script().splitlines()[-1]
    assert printed in text
    assert "out_layout" not in text
    assert "dilation" not in text
