"""Arguments made for a signature fit it."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.ir import prim
from relaxscript.ir.relax import Function, SeqExpr, Tuple, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.runtime.values import Prim, Shape
from relaxscript.testing.inputs import inputs_for, inputs_of
from relaxscript.testing.prim_funcs import random_prim_func
from relaxscript.testing.programs import random_module


def taking(*infos):
    return Function([Var("x", info) for info in infos], SeqExpr([], Tuple([])))


N = prim.Var("n", prim.INT64)


def test_one_dimension_has_one_extent_everywhere():
    function = taking(
        TensorStructInfo((N, 4), "float32"),
        TensorStructInfo((N * 2,), "int8"),
        ShapeStructInfo((N, 3)),
        PrimStructInfo("int64", N),
    )
    extents = set()
    for seed in range(40):
        x, y, s, n = inputs_for(function, seed)
        assert x.shape == (n, 4)
        assert y.shape == (2 * n,)
        assert s == Shape((n, 3))
        assert (x.dtype, y.dtype) == (np.dtype("float32"), np.dtype("int8"))
        extents.add(n)
    assert {0, 1, 2, 3} <= extents


def test_a_shape_in_a_variable_is_the_shape_of_its_tensors():
    s = Var("s", ShapeStructInfo(ndim=2))
    function = Function([s, Var("x", TensorStructInfo(s, "float32"))], SeqExpr([], Tuple([])))
    shape, x = inputs_for(function, 3)
    assert x.shape == tuple(shape)
    x, shape = inputs_for(function.replace(params=tuple(reversed(function.params))), 3)
    assert x.shape == tuple(shape)


@pytest.mark.parametrize(
    ("dtype", "kind"), [("int64", int), ("float64", float), ("bool", bool), ("int32", Prim)]
)
def test_scalars_are_of_their_kind(dtype, kind):
    [value] = inputs_for(taking(PrimStructInfo(dtype)), 0)
    assert type(value) is kind


def test_what_is_unknown_is_chosen():
    infos = [TensorStructInfo(None, None), ShapeStructInfo(), ObjectStructInfo()]
    x, s, o = inputs_for(taking(*infos), 0)
    assert x.dtype == np.float32
    assert isinstance(s, Shape)
    assert isinstance(o, np.ndarray)


def test_tuples_are_tuples_of_their_fields():
    info = TupleStructInfo([TensorStructInfo((2,), "uint8"), TupleStructInfo([])])
    [(x, unit)] = inputs_for(taking(info), 0)
    assert x.dtype == np.uint8
    assert unit == ()


def test_a_function_cannot_be_made():
    with pytest.raises(TypeError, match="no argument can be made for"):
        inputs_for(taking(FuncStructInfo([], ObjectStructInfo())), 0)


def test_arguments_are_made_for_what_is_known_of_a_function():
    taken = (TensorStructInfo((2,), "uint8"), ObjectStructInfo())
    [x, _] = inputs_of(FuncStructInfo(taken, ObjectStructInfo()))
    assert (x.shape, x.dtype) == ((2,), "uint8")
    higher = FuncStructInfo((FuncStructInfo((), ObjectStructInfo()),), ObjectStructInfo())
    assert [inputs_of(known) for known in (higher, FuncStructInfo.opaque_func(), None)] == [
        None
    ] * 3


def test_numbers_are_small_and_whole_and_fit_their_type():
    for dtype in ("float16", "bfloat16", "int8", "uint8", "bool"):
        [x] = inputs_for(taking(TensorStructInfo((50,), dtype)), 0)
        numbers = x.astype("float64")
        assert np.all(np.abs(numbers) <= 4)
        assert np.all(numbers == np.round(numbers))
        assert len(np.unique(numbers)) > 1


@pytest.mark.slow
def test_arguments_of_random_functions_are_determined_by_the_seed():
    for seed in range(30):
        function = random_module(seed)["main"]
        first, second = inputs_for(function, 5), inputs_for(function, 5)
        assert str(first) == str(second)
        assert len(first) == len(function.params)


def test_a_prim_func_gets_its_results_too():
    for seed in range(30):
        function = random_prim_func(seed)
        arrays = inputs_for(function, seed)
        assert len(arrays) == len(function.params)
        for param, array in zip(function.params, arrays):
            assert array.ndim == function.buffer_map[param].ndim
