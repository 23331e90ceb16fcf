"""Random PrimFuncs that say everything: one for each seed, and nothing missing among them."""

from __future__ import annotations

import functools

from relaxscript.ir import prim, tir
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import walk
from relaxscript.testing.prim_scripts import random_prim_script


@functools.cache
def functions() -> tuple[tir.PrimFunc, ...]:
    return tuple(random_prim_script(seed) for seed in range(200))


def test_a_seed_stands_for_one_function():
    for seed in range(20):
        assert structural_equal(random_prim_script(seed), functions()[seed])
    assert not structural_equal(functions()[0], functions()[1])


def test_every_construct_occurs():
    kinds = {type(node) for f in functions() for node in walk(f)}
    assert kinds >= {
        tir.Allocate, tir.AssertStmt, tir.AttrStmt, tir.Block, tir.BlockRealize, tir.BufferStore,
        tir.DeclBuffer, tir.Evaluate, tir.For, tir.IfThenElse, tir.LetStmt, tir.SeqStmt, tir.While,
        prim.Add, prim.And, prim.BufferLoad, prim.Call, prim.Cast, prim.Div, prim.FloorDiv,
        prim.FloorMod, prim.Let, prim.Max, prim.Mod, prim.Not, prim.Or, prim.Select, prim.LT,
    }  # fmt: skip
