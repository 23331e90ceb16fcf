"""Random modules that say everything: one for each seed, and nothing missing among them."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given, settings

from relaxscript.ir import relax, struct_info as si
from relaxscript.ir.module import IRModule, VDevice
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import walk
from relaxscript.testing.scripts import random_script, scripts

pytestmark = pytest.mark.slow  # whichever comes first makes the modules


@functools.cache
def modules() -> tuple[IRModule, ...]:
    return tuple(random_script(seed) for seed in range(300))


@functools.cache
def nodes() -> tuple[object, ...]:
    return tuple(n for mod in modules() for f in mod.functions.values() for n in walk(f))


def test_a_seed_stands_for_one_module():
    for seed in range(20):
        assert structural_equal(random_script(seed), modules()[seed])
    assert not structural_equal(modules()[0], modules()[1])


def test_every_construct_occurs():
    kinds = {type(node) for node in nodes()}
    assert kinds >= {
        relax.Constant, relax.DataflowBlock, relax.DataTypeImm, relax.ExternFunc, relax.Function,
        relax.GlobalVar, relax.If, relax.MatchCast, relax.PrimValue, relax.ShapeExpr,
        relax.StringImm, relax.Tuple, relax.TupleGetItem, PrimFunc, VDevice, si.FuncStructInfo,
        si.ObjectStructInfo, si.PrimStructInfo, si.ShapeStructInfo, si.TensorStructInfo,
        si.TupleStructInfo,
    }  # fmt: skip
    assert any(mod.attrs for mod in modules())
    assert any(mod.global_infos for mod in modules())
    assert any(f.attrs for mod in modules() for f in mod.functions.values())


def test_names_clash_with_everything():
    functions = {var.name_hint for mod in modules() for var in mod.functions}
    variables = {node.name_hint for node in nodes() if isinstance(node, relax.Var)}
    assert functions >= {"R", "if", "a.b", "add", "main", "metadata", "Module"}
    assert variables >= {"R", "T", "cls", "if", "1", "x", "x_1", "metadata", "float", "Module"}
    assert {mod.__name__ for mod in modules()} >= {"R", "if", "main", "Module"}


def test_constants_are_of_every_kind():
    constants = [node.data for node in nodes() if isinstance(node, relax.Constant)]
    assert {array.dtype.name for array in constants} >= {"bfloat16", "float8_e5m2", "bool", "int8"}
    assert {array.size for array in constants} >= {0, 1, 64, 65, 100}


@settings(max_examples=5)
@given(scripts())
def test_hypothesis_draws_them_too(mod):
    assert isinstance(mod, IRModule)
