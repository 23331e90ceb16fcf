"""Random accesses: one module for each seed, and every construct among them."""

from __future__ import annotations

import warnings

import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim, tir
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir_compute import BufferRealize
from relaxscript.ir.walk import walk
from relaxscript.testing.accesses import random_accesses


def read(seed):
    """The functions of a module, none where an index is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(rx.from_source(random_accesses(seed)).functions.values())
    except DiagnosticError:
        return []


def test_a_seed_stands_for_one_script():
    assert random_accesses(3) == random_accesses(3) != random_accesses(4)


@pytest.mark.slow
def test_most_scripts_are_programs_and_every_construct_occurs():
    made = [read(seed) for seed in range(200)]
    assert sum(bool(functions) for functions in made) > 140
    nodes = [node for functions in made for function in functions for node in walk(function)]
    assert {type(node) for node in nodes} >= {
        tir.AssertStmt, tir.Block, tir.BlockRealize, tir.BufferStore, tir.DeclBuffer, tir.For,
        tir.IfThenElse, tir.LetStmt, tir.MatchBufferRegion, BufferRealize, prim.BufferLoad,
        prim.Ramp, prim.Select,
    }  # fmt: skip
    assert any(isinstance(node, tir.Block) and node.init is not None for node in nodes)
    called = [n for n in nodes if isinstance(n, prim.Call) and isinstance(n.op, GlobalVar)]
    assert {call.dtype.kind for call in called} == {"void", "int"}
    # Functions that others call call others in turn.
    assert any(len(functions) > 2 for functions in made)
