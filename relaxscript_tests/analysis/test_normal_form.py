"""What is not in normal form, each the smallest program that shows it."""

from __future__ import annotations

import pytest

from relaxscript import op
from relaxscript.analysis import ill_formed, well_formed
from relaxscript.analysis.normal_form import is_normal
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    ExternFunc,
    Function,
    If,
    MatchCast,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import Evaluate, PrimFunc
from relaxscript.transform import Normalize

F4 = TensorStructInfo((4,), "float32")
PAIR = TupleStructInfo([F4, F4])
BOOL = TensorStructInfo((), "bool")
x, y, z, t = (Var(name, F4) for name in "xyzt")
lv = DataflowVar("lv", F4)
c, pair = Var("c", BOOL), Var("pair", PAIR)
g = Var("g", FuncStructInfo([F4], F4))
params = (x, c, pair)
double = op.add(x, x)
seq = SeqExpr([BindingBlock([VarBinding(y, double)])], y)


def returning(body, ret=F4):
    return Function(params, body, ret)


def binding(value, var=z, block=BindingBlock):
    return returning(SeqExpr([block([VarBinding(var, value)])], x))


def blocks(*given):
    return returning(SeqExpr(given, x))


def local(body):
    return Function([t], body, F4)


ONE = BindingBlock([VarBinding(y, double)])
FLOW = DataflowBlock([VarBinding(lv, double)])

NORMAL = {
    "leaves": binding(double),
    "a tuple of tuples": returning(SeqExpr([], Tuple([x, Tuple([x, c])])), None),
    "a variable": binding(x),
    "an index": binding(TupleGetItem(pair, 0)),
    "branches": binding(If(c, seq, SeqExpr([], x))),
    "a function": binding(local(SeqExpr([], t)), g),
    "a packed function": binding(Call(ExternFunc("p"), [x])),
    "a match_cast": blocks(BindingBlock([MatchCast(z, x, F4)])),
    "blocks of two kinds": blocks(ONE, FLOW, BindingBlock([VarBinding(z, x)])),
    "no block": returning(SeqExpr([], x)),
}

NESTED = {
    "a call is an operand, not bound to a variable": [
        binding(op.exp(double)), binding(If(op.logical_not(c), SeqExpr([], x), SeqExpr([], x))),
        binding(TupleGetItem(op.split(x, 2), 0)),
    ],
    "a function is an operand, not bound to a variable": [
        binding(Call(local(SeqExpr([], t)), [x]))
    ],
    "a call is the result of a body, not bound to a variable": [
        returning(SeqExpr([], double)), binding(If(c, SeqExpr([], double), SeqExpr([], x))),
        binding(local(SeqExpr([], op.exp(t))), g),
    ],
    "a call is in a tuple, not bound to a variable": [
        binding(Tuple([x, Tuple([double])]), Var("z", TupleStructInfo([F4, TupleStructInfo([F4])])))
    ],
    "an index into a tuple is an operand, not bound to a variable": [
        binding(op.exp(TupleGetItem(pair, 1)))
    ],
    "a SeqExpr is the body of a function or a branch, and cannot be bound": [binding(seq)],
    "a SeqExpr is an operand, not bound to a variable": [binding(op.exp(seq))],
    "the body of a function is a call, not a SeqExpr": [
        returning(double), binding(local(op.exp(t)), g)
    ],
    "the body of a function is a value, not a SeqExpr": [returning(x)],
    "a branch is a value, not a SeqExpr": [binding(If(c, seq, x))],
    "a binding block is empty": [blocks(BindingBlock([])), blocks(ONE, BindingBlock([]))],
    "a dataflow block is empty": [blocks(DataflowBlock([]))],
    "a binding block follows another and is not one with it": [
        blocks(ONE, BindingBlock([VarBinding(z, x)]))
    ],
    "a dataflow block follows another and is not one with it": [
        blocks(FLOW, DataflowBlock([VarBinding(z, x)]))
    ],
}  # fmt: skip
ALL_NESTED = [(text, function) for text, found in NESTED.items() for function in found]
nested = pytest.mark.parametrize(("text", "function"), ALL_NESTED)


@pytest.mark.parametrize("function", NORMAL.values(), ids=NORMAL)
def test_what_is_flat_is_in_normal_form(function):
    assert is_normal(function)
    assert not [d for d in ill_formed(function) if d.code == "RX0325"]


@nested
def test_what_is_not_flat_is_said_once_and_has_a_place(text, function):
    (found,) = ill_formed(function, check_struct_info=False)
    assert (found.code, found.message) == ("RX0325", text)
    assert found.span is not None
    assert not is_normal(function)


@nested
def test_normalize_brings_it_there(text, function):
    made = Normalize()(IRModule({"main": function.with_attr("global_symbol", "main")}))
    assert well_formed(made, check_struct_info=False)
    assert Normalize()(made) is made


def test_a_prim_func_is_not_bound_inside_a_function():
    f = Var("f", ObjectStructInfo())
    body = SeqExpr([BindingBlock([VarBinding(f, PrimFunc([], Evaluate(0)))])], f)
    (found,) = ill_formed(Function([], body, ObjectStructInfo()))
    assert found.code == "RX0325"
    assert found.message == "a PrimFunc is a function of the module, and cannot be bound"
