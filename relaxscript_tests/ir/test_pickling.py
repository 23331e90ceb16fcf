"""Nodes pickle as flat data, with one variable staying one variable."""

from __future__ import annotations

import copy
import pickle

import pytest

from relaxscript.ir import IRModule, structural_equal
from relaxscript.ir.prim import Var
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Function,
    GlobalVar,
    SeqExpr,
    Var as RelaxVar,
    VarBinding,
)
from relaxscript.ir.struct_info import TensorStructInfo


def program():
    n = Var("n", "int64")
    x = RelaxVar("x", TensorStructInfo((n, n + 1)))
    y = RelaxVar("y", TensorStructInfo((n, n + 1)))
    body = SeqExpr([BindingBlock([VarBinding(y, Call(GlobalVar("f"), [x]))])], y)
    function = Function([x], body, TensorStructInfo((n, n + 1)))
    return IRModule({"f": function, "g": function}, {"k": 1})


def test_a_module_pickles_and_copies():
    for again in (pickle.loads(pickle.dumps(program())), copy.deepcopy(program())):
        assert structural_equal(again, program())
        again.update_func("h", again["f"])
        assert again.get_global_var("h").name_hint == "h"


def test_a_shallow_copy_of_a_module_can_be_updated_by_itself():
    module = program()
    copy.copy(module).update_func("h", module["f"])
    assert "h" not in module


def test_variables_stay_themselves_across_what_is_pickled_together():
    function = program()["f"]
    again, var = pickle.loads(pickle.dumps((function, function.params[0])))
    assert again.params[0] is var
    assert again.ret_struct_info.dims[0] is var.struct_info.dims[0]


@pytest.mark.long
def test_a_hundred_thousand_operations_pickle_and_copy():
    e = n = Var("n", "int64")
    for _ in range(100_000):
        e = e + n
    assert structural_equal(pickle.loads(pickle.dumps(e)), e, map_free_vars=True)
    assert structural_equal(copy.deepcopy(e), e, map_free_vars=True)
