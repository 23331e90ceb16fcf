"""What is asked of the gradient of an operator, and what is said where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import op
from relaxscript.builder import BlockBuilder
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.relax import Constant, PrimValue, Tuple, TupleGetItem, Var
from relaxscript.ir.struct_info import PrimStructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.opdef.gradient import GradientContext, gradients_of, has_gradient

call_te = BlockBuilder().call_te
F4, I4 = TensorStructInfo((4,), "float32"), TensorStructInfo((4,), "int32")
x, i, out, grad = Var("x", F4), Var("i", I4), Var("out", F4), Var("grad", F4)


def test_floats_and_what_holds_them_have_a_gradient():
    assert has_gradient(F4)
    assert has_gradient(TupleStructInfo([I4, TupleStructInfo([F4])]))
    assert not has_gradient(I4)
    assert not has_gradient(TupleStructInfo([I4]))
    assert not has_gradient(PrimStructInfo("float32"))


def test_there_is_a_gradient_for_each_argument_that_has_one():
    both = gradients_of(op.multiply(x, x), out, grad, call_te)
    assert [g is None for g in both] == [False, False]
    assert gradients_of(op.multiply(i, i), i, i, call_te) == [None, None]
    scalar = PrimValue(prim.FloatImm("float32", 2.0))
    assert gradients_of(op.multiply(x, scalar), out, grad, call_te)[1] is None
    one = Constant(np.ones(4, "float32"))
    assert gradients_of(op.multiply(x, one), out, grad, call_te)[1] is None


def test_a_call_of_no_operator_has_no_gradient_of_its_own():
    assert gradients_of(op.exp(x).replace(op=x), out, grad, call_te) == [None]


def test_the_gradient_by_a_field_is_a_field_of_the_gradient():
    call = op.exp(x)
    assert GradientContext(call, out, Tuple([x, grad]), call_te).field(1) is grad
    pair = Var("pair", TupleStructInfo([F4, F4]))
    field = GradientContext(call, out, pair, call_te).field(1)
    assert isinstance(field, TupleGetItem)
    assert (field.tuple_value, field.index) == (pair, 1)


def test_an_operator_without_a_gradient_says_why():
    call = op.call_pure_packed("f", x, sinfo_args=F4)
    with pytest.raises(OperandError) as caught:
        gradients_of(call, out, grad, call_te)
    assert caught.value.message == (
        "`R.call_pure_packed` has no gradient: nothing is known of what a packed function computes"
    )
    assert caught.value.help == "stop before it: `R.grad.no_grad(x)`"


def test_a_call_of_what_does_not_depend_on_floats_needs_no_gradient():
    call = op.call_pure_packed("f", i, sinfo_args=F4)
    assert gradients_of(call, out, grad, call_te) == [None, None]
