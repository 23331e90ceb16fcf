"""Why an impure call may not stand where it stands: what is called, and the ways out."""

from __future__ import annotations

import pytest

from relaxscript import op
from relaxscript.analysis import ill_formed
from relaxscript.analysis.purity import claims_purity
from relaxscript.ir.relax import (
    Attrs,
    BindingBlock,
    Call,
    DataflowBlock,
    ExternFunc,
    Function,
    SeqExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, TensorStructInfo

F4, OBJECT = TensorStructInfo((4,), "float32"), ObjectStructInfo()
x, y = Var("x", F4), Var("y", OBJECT)
closure = Var("h", FuncStructInfo([F4], OBJECT, False))
packed = Var("p", FuncStructInfo.opaque_func())
PACKED = "if it has no side effects, call it by `R.call_pure_packed`; else "
IMPURE = "declare the function impure: `@R.function(pure=False)`"
FORCE = ', or vouch for it: `R.func_attr({"relax.force_pure": True})`'
MOVE = "move it out of the dataflow block"


def refusal(call, block):
    params = [x, *([call.op] if isinstance(call.op, Var) else [])]
    func = Function(params, SeqExpr([block([VarBinding(y, call)])], x), F4)
    (found,) = ill_formed(func)
    return found.code, found.message.split(" is ")[0], found.help


@pytest.mark.parametrize(
    ("call", "name", "is_packed"),
    [
        (op.print(x, format="{}"), "`R.print`", False),
        (Call(ExternFunc("my.show"), [x]), "`my.show`", True),
        (Call(closure, [x]), "`h`", False),
        (Call(packed, [x]), "`p`", True),
    ],
)
def test_an_impure_call_is_named_with_the_ways_out(call, name, is_packed):
    instead = PACKED if is_packed else ""
    forced = "" if is_packed else FORCE
    assert refusal(call, BindingBlock) == ("RX0401", name, instead + IMPURE + forced)
    assert refusal(call, DataflowBlock) == ("RX0402", name, instead + MOVE)


def test_a_function_that_asks_to_be_trusted_claims_nothing():
    assert claims_purity(True, None)
    assert claims_purity(True, Attrs({"relax.force_pure": False}))
    assert not claims_purity(True, Attrs({"relax.force_pure": True}))
    assert not claims_purity(False, None)
