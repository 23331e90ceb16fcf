from __future__ import annotations

import pickle

import pytest

from relaxscript import tir
from relaxscript.ir import prim
from relaxscript.ir.intrinsic import INTRINSICS, Effect, lookup, op_named
from relaxscript.ir.relax import GlobalVar, Op


def test_the_result_of_most_has_the_dtype_of_the_operands():
    x = prim.Var("x", "float16x4")
    assert INTRINSICS["tir.exp"].result_dtype([x]) == "float16x4"


def test_predicates_give_as_many_bools_as_there_are_lanes():
    assert INTRINSICS["tir.isnan"].result_dtype([prim.Var("x", "float32x4")]) == "boolx4"


def test_clz_counts_in_int32():
    assert INTRINSICS["tir.clz"].result_dtype([prim.Var("x", "uint64")]) == "int32"


def test_a_choice_has_the_dtype_of_what_is_chosen():
    c, x = prim.Var("c", "bool"), prim.Var("x", "float64")
    assert INTRINSICS["tir.if_then_else"].result_dtype([c, x, x]) == "float64"


def test_the_dtype_of_some_stands_only_in_the_call():
    with pytest.raises(TypeError, match=r"dtype of a call of tir\.call_extern is given in"):
        INTRINSICS["tir.call_extern"].result_dtype([])


def test_arity_is_open_where_operands_may_follow():
    assert INTRINSICS["tir.atan2"].arity == 2
    assert INTRINSICS["tir.call_extern"].arity is None


def test_what_runs_elsewhere_is_known_but_not_compiled():
    assert not INTRINSICS["tir.ptx_mma"].compiled
    assert INTRINSICS["tir.tanh"].compiled


def test_effects_tell_what_may_be_dropped():
    assert INTRINSICS["tir.exp"].is_pure
    assert INTRINSICS["tir.call_pure_extern"].is_pure
    assert not INTRINSICS["tir.call_extern"].is_pure
    assert INTRINSICS["tir.ret"].effect == Effect.CONTROL


def test_a_function_of_the_module_is_no_intrinsic():
    assert lookup(op_named("tir.exp")) is INTRINSICS["tir.exp"]
    assert lookup(op_named("tir.nothing")) is None
    assert lookup(GlobalVar("f")) is None


def test_the_callee_of_an_intrinsic_is_its_operator():
    x = prim.Var("x", "float32")
    call = tir.exp(x)
    assert isinstance(call.op, Op)
    assert call.op.name == "tir.exp"
    assert call.op is Op.get("tir.exp") is prim.Call("float32", "tir.exp", [x]).op


def test_an_operator_is_equal_to_its_name():
    assert op_named("tir.exp") == "tir.exp"
    assert op_named("tir.exp") != "tir.log"
    assert {op_named("tir.exp"): 1}["tir.exp"] == 1
    assert Op.get("relax.add") == Op("relax.add") != Op("relax.multiply")


def test_an_operator_that_was_pickled_is_still_the_operator():
    call = tir.exp(prim.Var("x", "float32"))
    assert pickle.loads(pickle.dumps(call)).op == call.op
    assert lookup(pickle.loads(pickle.dumps(call)).op) is INTRINSICS["tir.exp"]
