"""The packed functions of random programs: registered once, and doing what they say."""

from __future__ import annotations

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.runtime.packed_func import get_global_func
from relaxscript.runtime.values import DeviceTensor, cpu
from relaxscript.testing.effects import record_effects
from relaxscript.testing.generate.packed_funcs import (
    APPLY,
    BUMP,
    FIRST,
    KEEP,
    NOTE,
    PAIR,
    RECALL,
    TICK,
    TWICE,
    TWICE_INTO,
    register_packed,
)

X = np.array([1, -100, 100], "int8")


def test_they_are_registered_once():
    register_packed()
    before = get_global_func(TWICE)
    register_packed()
    assert get_global_func(TWICE) is before


def test_they_do_what_they_say():
    register_packed()
    doubled = np.array([2, 56, -56], "int8")
    np.testing.assert_array_equal(get_global_func(TWICE)(X), doubled)
    assert get_global_func(FIRST)(X, 3) is X
    assert get_global_func(PAIR)(X, 3) == (3, X)
    out = np.zeros_like(X)
    get_global_func(TWICE_INTO)(X, out)
    np.testing.assert_array_equal(out, doubled)


def test_effects_are_logged_with_the_values_of_their_time():
    register_packed()
    x = np.array([1, 2], "float32")
    there = DeviceTensor(np.array([5]), cpu(1))
    with record_effects() as effects:
        get_global_func(NOTE)(x, (x, "text"))
        get_global_func(BUMP)(x)
        get_global_func(BUMP)(there)
        assert get_global_func(TICK)() == 4
        assert get_global_func(RECALL)() is None
        get_global_func(KEEP)(x)
        assert get_global_func(RECALL)() is x
        assert get_global_func(APPLY)(lambda a, b: a + b, 3, 4) == 7
    names = [entry[0] for entry in effects.log]
    assert names == ["note", "bump", "bump", "tick", "recall", "keep", "recall", "apply"]
    assert effects.log[0][1].tolist() == [1, 2]
    assert effects.log[1][1].tolist() == x.tolist() == [2, 3]
    assert effects.log[2][1].numpy().tolist() == [6]
    assert effects.kept == [x]


def test_every_element_of_any_data_type_changes_when_it_is_bumped():
    register_packed()
    for dtype in ("bool", "uint8", "int64", "float16", "bfloat16", "float8_e4m3fn"):
        x = np.zeros((2, 1), DataType(dtype).numpy)
        get_global_func(BUMP)(x)
        assert x.astype("float32").tolist() == [[1.0], [1.0]]
