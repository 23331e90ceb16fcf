"""Loops of random convolutions and poolings, in any layout: they mean what the operators mean."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.errors import RelaxWarning
from relaxscript.ir import relax
from relaxscript.ir.prim import Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op import Operator
from relaxscript.op.nn.layouts import Layout
from relaxscript_tests import examples
from relaxscript_tests.op.sampling import Sample
from relaxscript_tests.op.test_compute import legalised, run

from .test_layouts import SPATIAL, some_layout


def numbers(rng: np.random.Generator, low: int, high: int, count: int) -> tuple[int, ...]:
    return tuple(int(n) for n in rng.integers(low, high, count))


def check(
    operator: Operator, operands: list[Any], attributes: dict[str, Any], layout: Layout,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """The loops of a call give the elements of its meaning, of integers exactly.

    `layout` is that of the data, whose axes but that of channels may be variables.
    """
    is_open = rng.random() < 0.4
    infos = [TensorStructInfo(x.shape, "int32") for x in operands]
    if is_open:
        dims = [
            int(n) if place.axis == 1 or layout.factor(place.axis) > 1 else Var(f"n{k}", "int64")
            for k, (n, place) in enumerate(zip(operands[0].shape, layout.places))
        ]
        infos[0] = TensorStructInfo(dims, "int32")
    values = {relax.Var(f"x{n}", info): x for n, (info, x) in enumerate(zip(infos, operands))}
    sample = Sample(operator, operator.build(list(values), attributes), values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        module = legalised(sample)
        if module is None:
            # Only the run shows whether an axis can be packed.
            assert is_open
            return
        found = run(module, sample, "llvm")
    expected = sample.evaluate()
    assert found.shape == expected.shape
    assert (found == expected).all(), str(sample)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("seed", range(examples(80)))
def test_loops_of_a_convolution(seed: int, transposed: bool) -> None:
    rng = np.random.default_rng(seed)
    axes, groups = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    sizes, kernel = rng.integers(5, 8, axes), rng.integers(1, 4, axes)
    x = rng.integers(-3, 4, (2, 2 * groups, *sizes)).astype("int32")
    channels = (2 * groups, 4) if transposed else (4 * groups, 2)
    k = rng.integers(-3, 4, (*channels, *kernel)).astype("int32")
    strides = numbers(rng, 1, 4, axes)
    attributes: dict[str, Any] = {
        "strides": strides, "padding": numbers(rng, 0, 2, 2 * axes), "groups": groups,
        "dilation": numbers(rng, 1, 3, axes),
    }  # fmt: skip
    if transposed:
        attributes["output_padding"] = tuple(int(rng.integers(0, s)) for s in strides)
    operator = getattr(R.nn, f"conv{axes}d" + "_transpose" * transposed)
    letters = "NC" + SPATIAL[axes]
    plain = operator(x, k, **attributes)
    of_data = some_layout(rng, "data_layout", letters, x.shape)
    of_kernel = some_layout(
        rng, "kernel_layout", ("IO" if transposed else "OI") + SPATIAL[axes], k.shape
    )
    attributes["data_layout"], attributes["kernel_layout"] = of_data.text, of_kernel.text
    attributes["out_layout"] = some_layout(rng, "out_layout", letters, plain.shape).text
    check(operator, [of_data.pack(x), of_kernel.pack(k)], attributes, of_data, rng)


@pytest.mark.parametrize("name", ["max_pool", "avg_pool"])
@pytest.mark.parametrize("seed", range(examples(80)))
def test_loops_of_a_pooling(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    axes = int(rng.integers(1, 4))
    x = rng.integers(-30, 40, (2, 4, *rng.integers(5, 8, axes))).astype("int32")
    attributes: dict[str, Any] = {
        "pool_size": numbers(rng, 1, 4, axes), "strides": numbers(rng, 1, 4, axes),
        "padding": numbers(rng, 0, 3, 2 * axes), "dilation": numbers(rng, 1, 3, axes),
        "ceil_mode": bool(rng.random() < 0.5), "count_include_pad": bool(rng.random() < 0.5),
    }  # fmt: skip
    operator = getattr(R.nn, f"{name}{axes}d")
    letters = "NC" + SPATIAL[axes]
    plain = operator(x, **attributes)
    own = some_layout(rng, "layout", letters, x.shape)
    attributes["layout"] = own.text
    attributes["out_layout"] = some_layout(rng, "out_layout", letters, plain.shape).text
    check(operator, [own.pack(x)], attributes, own, rng)


@pytest.mark.parametrize("seed", range(examples(80)))
def test_loops_of_means_over_as_many_windows_as_are_asked_for(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axes = int(rng.integers(1, 4))
    x = rng.integers(-30, 40, (2, 4, *rng.integers(1, 9, axes))).astype("int32")
    size = numbers(rng, 1, 9, axes)
    operator = getattr(R.nn, f"adaptive_avg_pool{axes}d")
    letters = "NC" + SPATIAL[axes]
    own = some_layout(rng, "layout", letters, x.shape)
    out = some_layout(rng, "out_layout", letters, (2, 4, *size))
    attributes = {"output_size": size, "layout": own.text, "out_layout": out.text}
    check(operator, [own.pack(x)], attributes, own, rng)
