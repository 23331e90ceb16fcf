"""Random programs: what they are made of, and that they are what they claim to be."""

from __future__ import annotations

import io
import warnings
from collections import Counter
from contextlib import redirect_stdout

import pytest
from hypothesis import given, settings

from relaxscript.interpreter import Interpreter
from relaxscript.ir import prim, relax, struct_info as si
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import free_vars, walk
from relaxscript.testing.compare import outcome
from relaxscript.testing.effects import record_effects
from relaxscript.testing.generate.context import PARAM_DTYPES
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import functions, modules, random_function, random_module
from relaxscript_tests import examples

pytestmark = pytest.mark.slow

SEEDS = range(200)


@pytest.fixture(scope="module")
def programs() -> list[IRModule]:
    return [random_module(seed) for seed in SEEDS]


def nodes(programs):
    for mod in programs:
        for function in mod.functions.values():
            yield from walk(function)


def test_a_seed_stands_for_one_program(programs):
    for seed in (0, 1, 2):
        assert structural_equal(random_module(seed), programs[seed])
        assert structural_equal(random_function(seed), random_function(seed))
    assert not structural_equal(programs[0], programs[1])


def test_every_construct_occurs(programs):
    kinds = Counter(type(node) for node in nodes(programs))
    for kind in (
        *(relax.If, relax.DataflowBlock, relax.MatchCast, relax.Tuple, relax.TupleGetItem),
        *(relax.ShapeExpr, relax.PrimValue, relax.Constant, relax.ExternFunc, relax.DataflowVar),
        *(prim.Mul, prim.FloorDiv, si.TupleStructInfo, si.ShapeStructInfo, si.PrimStructInfo),
    ):
        assert kinds[kind] > 5, kind.__name__


def test_calls_of_every_kind_occur(programs):
    calls = [node for node in nodes(programs) if isinstance(node, relax.Call)]
    called = Counter(getattr(call.op, "name", type(call.op).__name__) for call in calls)
    for name in ("call_tir", "call_pure_packed", "call_dps_packed"):
        assert called[f"relax.{name}"] > 3, name
    assert sum(isinstance(call.op, relax.GlobalVar) for call in calls) > 10
    assert sum(isinstance(call.op, relax.ExternFunc) for call in calls) > 3
    assert len(called) > 50
    assert {"relax.sum", "relax.astype", "relax.matmul", "relax.concat"} <= set(called)


def test_functions_are_values_and_call_themselves(programs):
    functions = [f for mod in programs for f in mod.relax_functions().values()]
    inside = [node for f in functions for node in walk(f)]
    local = [
        b for b in inside
        if isinstance(b, relax.VarBinding) and isinstance(b.value, relax.Function)
    ]  # fmt: skip
    assert sum(b.var in free_vars(b.value) for b in local) > 20
    captured = {type(v) for b in local for v in set(free_vars(b.value)) - {b.var}}
    assert {relax.Var, prim.Var} <= captured
    for kind in (relax.If, relax.TupleGetItem):
        chosen = [
            b for b in inside if isinstance(b, relax.VarBinding) and isinstance(b.value, kind)
        ]
        assert any(isinstance(b.var.struct_info, si.FuncStructInfo) for b in chosen), kind.__name__
    assert sum({"even", "odd"} <= {gv.name_hint for gv in mod} for mod in programs) > 5


def test_casts_of_every_kind_occur(programs):
    infos = [n.struct_info for n in nodes(programs) if isinstance(n, relax.MatchCast)]
    kinds = Counter(type(info) for info in infos)
    for kind in (si.TensorStructInfo, si.ShapeStructInfo, si.PrimStructInfo, si.TupleStructInfo,
                 si.FuncStructInfo, si.ObjectStructInfo):  # fmt: skip
        assert kinds[kind] > 1, kind.__name__
    assert any(isinstance(getattr(info, "shape", None), relax.Var) for info in infos)


def test_effects_of_every_kind_occur(programs):
    log = Counter()
    for seed, mod in enumerate(programs):
        with record_effects() as effects, redirect_stdout(io.StringIO()) as printed:
            run = Interpreter(mod)
            outcome(lambda run=run, mod=mod, s=seed: run.call("main", inputs_for(mod["main"], s)))
        log.update(entry[0] for entry in effects.log)
        log["print"] += bool(printed.getvalue())
    assert set(log) == {"note", "bump", "keep", "recall", "tick", "apply", "print"}
    assert log.total() > len(programs) / 2


def test_tensors_of_every_data_type_occur(programs):
    dtypes = {node.dtype for node in nodes(programs) if isinstance(node, si.TensorStructInfo)}
    assert dtypes >= {*PARAM_DTYPES, "void"}


def test_names_collide_on_purpose(programs):
    def repeated(function):
        names = [v.name_hint for v in walk(function) if isinstance(v, relax.Var)]
        variables = {v for v in walk(function) if isinstance(v, relax.Var)}
        return len({v.name_hint for v in variables}) < len(variables) and names

    functions = [f for mod in programs for f in mod.relax_functions().values()]
    assert sum(bool(repeated(function)) for function in functions) > len(functions) / 4


def test_dimensions_are_symbolic_or_small_and_0_and_1_occur(programs):
    dims = [
        dim
        for node in nodes(programs)
        if isinstance(node, si.TensorStructInfo) and node.dims is not None
        for dim in node.dims
    ]
    literal = Counter(dim.value for dim in dims if isinstance(dim, prim.IntImm))
    assert literal[0] > 3
    assert literal[1] > 3
    assert sum(not isinstance(dim, prim.IntImm) for dim in dims) > len(dims) / 10


def test_nothing_is_free(programs):
    for mod in programs:
        for function in mod.functions.values():
            assert free_vars(function) == []


def test_every_module_has_a_public_main(programs):
    assert all(not mod["main"].is_private for mod in programs)


def test_making_programs_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(20):
            random_module(seed)


@settings(max_examples=examples(100))
@given(modules())
def test_modules_are_drawn_by_hypothesis(mod):
    assert "main" in mod


@settings(max_examples=examples(100))
@given(functions())
def test_functions_stand_alone(function):
    assert not any(isinstance(node, relax.GlobalVar) for node in walk(function))
