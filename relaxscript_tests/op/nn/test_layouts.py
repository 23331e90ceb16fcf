"""Packed layouts: what is packed means what is plain, and is of the shape that is derived."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
import relaxscript.op as R
from relaxscript.op.nn.layouts import Layout, read_layout
from relaxscript_tests import examples
from relaxscript_tests.op.inference import infer, obliged, refused, result, tensor
from relaxscript_tests.op.test_laws import disagreement

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def some_layout(
    rng: np.random.Generator, name: str, letters: str, sizes: tuple[int, ...]
) -> Layout:
    """A layout in which some axes of these sizes may be packed."""
    parts = list(letters)
    for letter, size in zip(letters, sizes, strict=True):
        factors = [f for f in range(1, size + 1) if size % f == 0]
        if factors and rng.random() < 0.4:
            parts.append(f"{rng.choice(factors)}{letter.lower()}")
    rng.shuffle(parts)
    return read_layout(name, "".join(parts), letters)


@pytest.mark.parametrize("seed", range(examples(200)))
def test_packing_and_unpacking_undo_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 99, rng.integers(1, 7, 4))
    layout = some_layout(rng, "layout", "NCHW", x.shape)
    packed = layout.pack(x)
    assert (layout.unpack(packed) == x).all()
    for letter, axis in zip("NCHW", x.shape, strict=True):
        ours = [n for n, place in zip(packed.shape, layout.places) if "NCHW"[place.axis] == letter]
        assert np.prod(ours) == axis


def test_the_inner_part_of_an_axis_holds_neighbours() -> None:
    x = np.arange(6).reshape(1, 6, 1, 1)
    packed = read_layout("layout", "NCHW2c", "NCHW").pack(x)
    assert packed[0, :, 0, 0].tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("seed", range(examples(200)))
def test_a_convolution_of_packed_tensors_is_the_plain_one(seed: int, transposed: bool) -> None:
    rng = np.random.default_rng(seed)
    axes, groups = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    x = rng.integers(-3, 4, (2, 2 * groups, *rng.integers(4, 7, axes))).astype("int32")
    k = rng.integers(-3, 4, (4 * groups, 2, *rng.integers(1, 3, axes))).astype("int32")
    if transposed:
        k = rng.integers(-3, 4, (2 * groups, 4, *k.shape[2:])).astype("int32")
    operator = getattr(R.nn, f"conv{axes}d" + "_transpose" * transposed)
    plain = operator(x, k, groups=groups)
    letters = "NC" + SPATIAL[axes]
    of_data = some_layout(rng, "data_layout", letters, x.shape)
    of_result = some_layout(rng, "out_layout", letters, plain.shape)
    kernel = ("IO" if transposed else "OI") + SPATIAL[axes]
    of_kernel = some_layout(rng, "kernel_layout", kernel, k.shape)
    words = {
        "groups": groups, "data_layout": of_data.text, "kernel_layout": of_kernel.text,
        "out_layout": of_result.text,
    }  # fmt: skip
    given = of_data.pack(x), of_kernel.pack(k)
    found = operator(*given, **words)
    assert (of_result.unpack(found) == plain).all()
    infos = [tensor(*array.shape, dtype="int32") for array in given]
    assert disagreement(infer(operator, *infos, **words), found) is None


@pytest.mark.parametrize("name", ["max_pool", "avg_pool", "adaptive_avg_pool"])
@pytest.mark.parametrize("seed", range(examples(100)))
def test_a_pooling_of_a_packed_tensor_is_the_plain_one(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    axes = int(rng.integers(1, 4))
    x = rng.integers(-30, 40, (2, 4, *rng.integers(3, 7, axes))).astype("int32")
    operator = getattr(R.nn, f"{name}{axes}d")
    plain = operator(x, 2)
    letters = "NC" + SPATIAL[axes]
    own = some_layout(rng, "layout", letters, x.shape)
    out = some_layout(rng, "out_layout", letters, plain.shape)
    words = {"layout": own.text, "out_layout": out.text}
    found = operator(own.pack(x), 2, **words)
    assert (out.unpack(found) == plain).all()
    info = tensor(*own.pack(x).shape, dtype="int32")
    assert disagreement(infer(operator, info, 2, **words), found) is None


@pytest.mark.parametrize(
    ("operator", "shapes", "layouts", "shape"),
    [
        (R.nn.conv2d, [(2, 4, 28, 28, 16), (8, 4, 3, 3, 16, 16)], ("NCHW16c", "OIHW16i16o", None),
         (2, 8, 26, 26, 16)),
        (R.nn.conv2d, [(2, 3, 28, 28), (4, 3, 3, 3)], ("NCHW", "OIHW", "NCHW4c"),
         (2, 1, 26, 26, 4)),
        (R.nn.conv1d, [(2, 4, 28, 16), (8, 4, 3, 16, 16)], ("NCW16c", "OIW16i16o", None),
         (2, 8, 26, 16)),
        (R.nn.conv1d, [(2, 16, 28), (3, 2, 3, 8)], ("NCW", "OIW8i", None), (2, 3, 26)),
        (R.nn.conv3d, [(2, 4, 9, 9, 9, 16), (8, 4, 3, 3, 3, 16, 16)],
         ("NCDHW16c", "OIDHW16i16o", None), (2, 8, 7, 7, 7, 16)),
    ],
)  # fmt: skip
def test_shapes_of_packed_convolutions(operator, shapes, layouts, shape) -> None:
    names = ("data_layout", "kernel_layout", "out_layout")
    words = dict(zip(names, layouts, strict=True))
    found = result(operator, *(tensor(*dims) for dims in shapes), **words)
    assert found == f"{shape} float32"


@pytest.mark.parametrize(
    "layout", ["NCHW16", "NCHW16x", "NCHWc", "NCHW0c", "NCHW2c2c", "NHW16c", ""]
)
def test_what_is_no_layout_is_refused(layout: str) -> None:
    error = refused(R.nn.max_pool2d, tensor(1, 2, 4, 5), layout=layout)
    assert (error.operand, error.code) == ("layout", "RX0204")
    assert error.message is not None
    assert 'as "NCHW16c"' in error.message


def test_what_cannot_be_packed_is_refused() -> None:
    x = tensor(1, 6, 9, 9)
    error = refused(R.nn.max_pool2d, x, 2, out_layout="NCHW4c")
    assert error.fact == "gives the result 6 elements along C"
    error = refused(R.nn.max_pool2d, tensor(1, 2, 9, 9, 8), 2, layout="NCHW4c")
    assert error.fact == "has 8 elements along the inner part of C"
    assert refused(R.nn.max_pool2d, x, 2, layout="NCHW4c").fact == "has shape (1, 6, 9, 9)"
    (told,) = obliged(R.nn.max_pool2d, tensor(1, "n", 9, 9), 2, out_layout="NCHW4c")
    assert told == "data: n % 4 equal 0"
    (told,) = obliged(R.nn.max_pool2d, tensor(1, 2, 9, 9, "n"), 2, layout="NCHW4c")
    assert told == "data: n equal 4"


def test_a_packed_layout_is_printed_as_it_is_read() -> None:
    text = (
        "@R.function\ndef f(x: R.Tensor((2, 4, 8, 8, 16), 'float32')):\n"
        "    return R.nn.max_pool2d(x, pool_size=(2, 2), layout='NCHW16c')"
    )
    function = rx.from_source(text)
    assert 'layout="NCHW16c"' in function.script()
    assert rx.ir.structural_equal(rx.from_source(function.script()), function)
