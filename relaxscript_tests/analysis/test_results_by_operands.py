"""What is known of a call is known again for the same operands, and only for these."""

from __future__ import annotations

import pytest

from relaxscript.analysis import results_by_operands
from relaxscript.analysis.derive import Context, derive_struct_info, rederive_struct_info
from relaxscript.arith import Facts
from relaxscript.errors import OperandError
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import Call, Function, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import walk
from relaxscript.op import add, matmul, multiply, nn
from relaxscript.script import from_source
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples


def tensor(*dims, dtype="float32", vdevice=None):
    return TensorStructInfo(dims, dtype, vdevice)


def calls_in(mod: IRModule) -> list[Call]:
    functions = [f for f in mod.functions.values() if isinstance(f, Function)]
    return [node for function in functions for node in walk(function) if isinstance(node, Call)]


def test_a_call_of_the_same_operands_has_the_same_result():
    x, w = Var("x", tensor(PrimVar("n", "int64"), 4)), Var("w", tensor(4, 4))
    context = Context()
    first, second = (rederive_struct_info(matmul(x, w), context) for _ in range(2))
    assert first is second


def test_nothing_is_remembered_for_all_programs():
    x, w = Var("x", tensor(2, 3)), Var("w", tensor(3, 4))
    first, second = (derive_struct_info(matmul(x, w)) for _ in range(2))
    assert first is not second
    assert structural_equal(first, second)


def test_results_that_say_the_same_are_one_object_whatever_computes_them():
    x, y = Var("x", tensor(2, 3)), Var("y", tensor(2, 3))
    context = Context()
    infos = [rederive_struct_info(call, context) for call in (add(x, y), multiply(y, x))]
    assert infos[0] is infos[1]


@pytest.mark.parametrize(
    "other",
    [tensor(2, 4), tensor(2, 3, dtype="float16"), tensor(2, 3, vdevice="llvm:1"), tensor(2, 3, 1)],
)
def test_results_that_say_something_else_are_others(other):
    context = Context()
    plain, found = (
        rederive_struct_info(nn.relu(Var("x", info)), context) for info in (tensor(2, 3), other)
    )
    assert structural_equal(found, other)
    assert not structural_equal(plain, found)


def test_a_check_that_is_deferred_is_noted_for_each_call():
    x, y = (Var(name, tensor(PrimVar(name, "int64"))) for name in "xy")
    checks = []
    context = Context(require=checks.append)
    for _ in range(3):
        rederive_struct_info(add(x, y), context)
    assert len(checks) == 3


def test_what_a_branch_knows_is_known_in_it_only():
    n, m = PrimVar("n", "int64"), PrimVar("m", "int64")
    x, y = Var("x", tensor(n)), Var("y", tensor(m))
    checks = []
    context = Context(require=checks.append)
    context.facts = Facts(equalities=[(n, m)])
    rederive_struct_info(add(x, y), context)
    assert not checks
    context.facts = None
    rederive_struct_info(add(x, y), context)
    assert len(checks) == 1


COPY = """
@I.ir_module
class Module:
    @T.prim_func
    def copy(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj]
"""


def copies():
    """A context in which all checks are collected, and a call of `copy` for tensors of n, m."""
    mod = from_source(COPY)
    n, m = (PrimVar(name, "int64") for name in "nm")
    x, y, z = (Var(str(rows), tensor(rows, 4)) for rows in (n, n, m))
    checks = []
    context = Context(mod, require=checks.append)
    context.shape_scope = {n, m}
    gv = mod.get_global_var("copy")
    return context, checks, Call(gv, [x, y]), Call(gv, [x, z])


def test_a_function_that_is_called_again_has_the_same_result():
    context, checks, fits, _ = copies()
    first, second = (rederive_struct_info(fits, context) for _ in range(2))
    assert structural_equal(first, second)
    assert not checks


def test_arguments_that_may_not_fit_are_noted_for_each_call():
    context, checks, _, unknown = copies()
    for _ in range(2):
        rederive_struct_info(unknown, context)
    assert [check.operand for check in checks] == ["argument 2"] * 2


def test_arguments_that_do_not_fit_are_refused_each_time():
    context, _, fits, _ = copies()
    rederive_struct_info(fits, context)
    wrong = Call(fits.op, [fits.args[0], Var("w", tensor(3, 5))])
    for _ in range(2):
        with pytest.raises(OperandError, match="argument 2"):
            rederive_struct_info(wrong, context)


def test_a_mistake_is_one_each_time():
    x, y = Var("x", tensor(2)), Var("y", tensor(3))
    context = Context()
    for _ in range(2):
        with pytest.raises(OperandError, match="has shape"):
            rederive_struct_info(add(x, y), context)


def test_only_so_many_results_are_kept(monkeypatch):
    monkeypatch.setattr(results_by_operands, "MOST", 3)
    context = Context()
    infos = [tensor(size) for size in range(2, 10)]
    for _ in range(2):
        for info in infos:
            found = rederive_struct_info(nn.relu(Var("x", info)), context)
            assert structural_equal(found, info)


def test_what_was_known_before_changes_no_result():
    for seed in range(examples(300)):
        mod = random_module(seed)
        context = Context(mod)
        for call in calls_in(mod):
            alone = rederive_struct_info(call, Context(mod))
            assert structural_equal(rederive_struct_info(call, context), alone)
