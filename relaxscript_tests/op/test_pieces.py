"""Meanings that are computed a piece at a time: no size of the pieces shows in the results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.op import REGISTRY, Operator, pieces, scan

from .sampling import samples

DETERMINISTIC = [o for o in REGISTRY.values() if o.pure and "random" not in o.name]


@pytest.fixture(autouse=True)
def _no_complaints() -> Any:
    with np.errstate(all="ignore"):
        yield


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of three elements."""
    monkeypatch.setattr(pieces, "PIECE", 3)
    monkeypatch.setattr(scan, "PIECE", 3)
    monkeypatch.setattr(pieces, "_RUN", 1)


def assert_near(found: Any, wanted: Any, what: str) -> None:
    """The same values; floats may differ by what the order of a sum leaves."""
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted), what
        for one, other in zip(found, wanted, strict=True):
            assert_near(one, other, what)
        return
    if not isinstance(wanted, np.ndarray):
        return
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), what
    if not DataType(str(wanted.dtype)).is_float:
        assert found.tolist() == wanted.tolist(), what
        return
    digits = {1: 2, 2: 7, 4: 20, 8: 48}[wanted.dtype.itemsize]
    near = {"rtol": 2.0**-digits, "atol": 2.0**-digits, "err_msg": what}
    np.testing.assert_allclose(found.astype("float64"), wanted.astype("float64"), **near)


@pytest.mark.parametrize("operator", DETERMINISTIC, ids=repr)
def test_an_operator_gives_the_same_in_pieces_of_any_size(
    operator: Operator, request: pytest.FixtureRequest
) -> None:
    at_once = [sample.evaluate() for sample in samples(operator)]
    request.getfixturevalue("small")
    for wanted, sample in zip(at_once, samples(operator), strict=True):
        assert_near(sample.evaluate(), wanted, str(sample))


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_a_scan_goes_on_where_the_piece_before_ended(
    axis: int | None, exclusive: bool, small: None
) -> None:
    x = np.arange(1, 36).reshape(5, 7)
    wanted = np.cumsum(x, axis)
    wanted = wanted - (x if axis is not None else x.ravel()) if exclusive else wanted
    found = R.cumsum(x.astype("float32"), axis=axis, exclusive=exclusive)
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("sum", 0), ("prod", 1), ("mean", np.nan), ("variance", np.nan), ("std", np.nan)],
)
def test_many_combinations_of_nothing_are_those_of_nothing(
    name: str, wanted: float, small: None
) -> None:
    found = getattr(R, name)(np.zeros((0, 8), "float32"), axis=[0])
    np.testing.assert_array_equal(found, np.full(8, wanted, "float32"))


def test_quantization_to_a_float_is_rounded_once() -> None:
    # A little more than the middle between two values; as float32 it is the middle.
    x = np.array([1.0625 + 2.0**-40, -1.0625 - 2.0**-40])
    one, zero = np.array(1.0), np.array(0.0)
    found = R.quantize(x, one, zero, axis=-1, out_dtype="float8_e4m3fn")
    assert found.astype("float64").tolist() == [1.125, -1.125]
