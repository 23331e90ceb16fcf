"""Nodes that Python made and a script mentions are held against the criteria, too."""

from __future__ import annotations

import pytest

import relaxscript as relax
from relaxscript import op
from relaxscript.analysis import ill_formed
from relaxscript.errors import DiagnosticError
from relaxscript.ir.struct_info import default_derive
from relaxscript.script import ir as I, relax as R
from relaxscript.testing import rejected

F4 = relax.TensorStructInfo((4,), "float32")
n, m = (relax.tir.Var(name, "int64") for name in "nm")
v = relax.Var("v", F4)
s = relax.Var("s", relax.ShapeStructInfo(ndim=1))

ANNOTATIONS = {
    "RX0314 `s` is not in scope here": relax.TensorStructInfo(s, "float32"),
    "RX0314 a shape is a ShapeExpr or a Var, not a Call": relax.TensorStructInfo(
        op.shape_of(v), "float32"
    ),
    "RX0317 a function has `params` or `derive_func`, not both": relax.FuncStructInfo(
        [F4], F4, derive_func=default_derive
    ),
    'RX0319 a scalar is a number, not "handle"': relax.PrimStructInfo("handle"),
    'RX0320 Relax has no dtype "int24"': relax.TensorStructInfo((4,), "int24"),
    "RX0322 the value is int64, the scalar int32": relax.PrimStructInfo(
        "int32", relax.tir.IntImm("int64", 3)
    ),
}
VALUES = {
    "RX0302 nothing binds `v`": op.exp(op.add(v, v)),
    "RX0305 `n` is used before it is bound": relax.ShapeExpr([n]),
    "RX0309 the operator `relax.add` may only be called": relax.Tuple.make(
        (relax.ir.Op("relax.add"),)
    ),
    "RX0318 a PrimValue holds a number, not `m + 1`": relax.PrimValue(m + 1),
}


def found(define):
    with pytest.raises(DiagnosticError) as raised:
        define()
    return [(f"{d.code} {d.message}", d.span.text) for d in raised.value.diagnostics]


@pytest.mark.parametrize("text", ANNOTATIONS)
def test_an_annotation_that_breaks_a_criterion_is_refused_where_it_is_mentioned(text):
    info = ANNOTATIONS[text]

    def define():
        @R.function
        def f(x: info):
            return x

    assert found(define) == [(text, "info")]


@pytest.mark.parametrize("text", VALUES)
def test_a_value_that_breaks_a_criterion_is_refused_where_it_is_mentioned(text):
    value = VALUES[text]

    def define():
        @R.function
        def f(x: R.Tensor(("m",), "float32")):
            y = value
            return (x, y)

    assert found(define) == [(text, "value")]


def test_what_was_made_by_hand_and_is_right_is_taken():
    infos, half = [F4], relax.TensorStructInfo((n, 4), "float32")

    @R.function
    def f(x: infos[0], y: half):
        z = op.exp(op.add(x, x))
        return (z, relax.ShapeExpr([n]))

    assert not ill_formed(f)
    assert repr(f.ret_struct_info) == 'R.Tuple(R.Tensor((4,), "float32"), R.Shape([n]))'


def test_a_sequence_that_was_made_by_hand_and_contradicts_itself_is_refused():
    y = relax.Var("y", F4)
    sequence = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(y, relax.const(1.0))])], y)

    def define():
        @R.function
        def f(x: R.Tensor((4,), "float32")):
            z = sequence
            return z

    assert found(define) == [("RX0205 the value does not fit the annotation", "sequence")]


@rejected
def test_a_device_that_the_module_does_not_list():
    device = relax.TensorStructInfo((4,), "float32", relax.ir.VDevice("llvm", 1))

    @I.ir_module
    class Module:
        @R.function
        def main(x: device):
            #       ^^^^^^ error: RX0324 the module does not list the device `llvm:1`
            return x


def test_work_in_progress_may_hold_anything():
    info = relax.PrimStructInfo("handle")

    @R.function(check_well_formed=False)
    def f(x: info):
        return x

    assert [d.code for d in ill_formed(f)] == ["RX0319"]
