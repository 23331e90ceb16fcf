"""Random PrimFuncs: every form occurs, and they compute what their loops say."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

from relaxscript.dtypes import DataType
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import free_vars, walk
from relaxscript.testing.generate.choices import Seeded
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.prim_funcs import prim_funcs, random_prim_func, reduction
from relaxscript_tests import examples

SEEDS = range(200)


def test_a_seed_stands_for_one_prim_func():
    assert structural_equal(random_prim_func(4), random_prim_func(4))
    assert not structural_equal(random_prim_func(4), random_prim_func(5))


@pytest.mark.slow
def test_every_form_occurs():
    found = [node for seed in SEEDS for node in walk(random_prim_func(seed))]
    kinds = Counter(type(node) for node in found)
    for kind in (
        *(tir.For, tir.Block, tir.BlockRealize, tir.BufferStore, tir.IfThenElse, tir.LetStmt),
        *(prim.Select, prim.Max, prim.Min, prim.FloorDiv, prim.FloorMod, prim.BufferLoad),
    ):
        assert kinds[kind] > 3, kind.__name__
    assert {n.kind for n in found if isinstance(n, tir.For)} >= {
        *("serial", "parallel", "vectorized", "unrolled")
    }
    assert sum(isinstance(n, tir.Block) and n.init is not None for n in found) > 3


def test_nothing_is_free():
    for seed in SEEDS:
        assert free_vars(random_prim_func(seed)) == []


def test_a_reduction_is_the_one_of_numpy():
    seen = set()
    for seed in range(30):
        dims = [prim.IntImm(prim.INT64, 2), prim.Var("n", prim.INT64)]
        function, left = reduction(Seeded(seed), dims, DataType("int32"))
        x, y = np.array([[3, -1, 2], [0, 5, 1]], "int32"), np.zeros(2, "int32")
        evaluate(function, [x, y])
        expected = {"sum": x.sum(1), "max": x.max(1), "min": x.min(1)}
        name = next(k for k, v in expected.items() if np.array_equal(v, y))
        seen.add(name)
        assert list(left) == dims[:-1]
    assert seen == {"sum", "max", "min"}


@settings(max_examples=examples(200))
@given(prim_funcs())
def test_they_run(function):
    arrays = inputs_for(function, 0)
    before = [a.copy() for a in arrays[:-1]]
    evaluate(function, arrays)
    for array, old in zip(arrays, before):
        np.testing.assert_array_equal(array, old)
