"""Operators on tensors of other devices."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import DeviceTensor, Shape, cpu
from relaxscript.semantics.devices import devices_of, run_on_device

X = np.arange(2.0)
THERE = DeviceTensor(X, cpu(1))


def test_devices_are_found_inside_tuples():
    assert devices_of([(X, (THERE,)), Shape([1]), 5]) == [cpu(), cpu(1)]
    assert devices_of([5, "x", None]) == []


def test_tensors_of_the_result_are_where_the_operands_are():
    def pair(xs, shape):
        return xs[0] + xs[1], (xs[0],), shape

    total, (same,), shape = run_on_device(
        pair, [(THERE, THERE), Shape([2])], "`R.pair`", anywhere=False
    )
    assert (total.device, same.device) == (cpu(1), cpu(1))
    assert total.numpy().tolist() == [0.0, 2.0]
    assert shape == Shape([2])


def test_operands_on_several_devices_are_refused():
    message = "`R.add` cannot take operands on several devices, cpu:1 and cpu:0"
    with pytest.raises(VMError, match=message) as caught:
        run_on_device(np.add, [THERE, X], "`R.add`", anywhere=False)
    assert caught.value.code == "RX0606"


def test_what_only_looks_at_values_takes_them_from_anywhere():
    seen = []
    run_on_device(lambda *xs: seen.extend(xs), [THERE, X], "`R.print`", anywhere=True)
    assert [type(x) for x in seen] == [np.ndarray, np.ndarray]
