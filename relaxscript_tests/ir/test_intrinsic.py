from __future__ import annotations

import pytest

from relaxscript.ir import prim
from relaxscript.ir.intrinsic import INTRINSICS, Effect, lookup
from relaxscript.ir.relax import GlobalVar


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
    with pytest.raises(TypeError, match=r"data type of a call of tir\.call_extern stands in"):
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
    assert lookup("tir.exp") is INTRINSICS["tir.exp"]
    assert lookup("tir.nothing") is None
    assert lookup(GlobalVar("f")) is None
