"""StructInfos as annotations: every kind, and everything that a kind can say."""

from __future__ import annotations

import pytest

from relaxscript.errors import InternalError
from relaxscript.ir import prim, relax, tir
from relaxscript.ir.module import VDevice
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
    empty_derive,
)  # fmt: skip
from relaxscript.script.printer.module import Printer, script

from .programs import function, tensor

n, m = prim.Var("n", "int64"), prim.Var("m", "int64")
shape = relax.Var("s", ShapeStructInfo(ndim=2))
anyshape = relax.Var("s", ShapeStructInfo())

CASES = [
    (tensor(n, 64), 'R.Tensor((n, 64), "float32")'),
    (tensor(4), 'R.Tensor((4,), "float32")'),
    (tensor(), 'R.Tensor((), "float32")'),
    (tensor(n * 2 + 1, prim.Max(n, m), dtype="int8"), 'R.Tensor((n * 2 + 1, T.max(n, m)), "int8")'),
    (tensor(prim.const(4, "int32")), 'R.Tensor((4,), "float32")'),
    (TensorStructInfo((2,), None), "R.Tensor((2,))"),
    (TensorStructInfo(None, None), "R.Tensor"),
    (TensorStructInfo(None, "float16", ndim=2), 'R.Tensor(dtype="float16", ndim=2)'),
    (TensorStructInfo(None, None, ndim=0), "R.Tensor(ndim=0)"),
    (TensorStructInfo(shape, "float32"), 'R.Tensor(s, "float32")'),
    (TensorStructInfo(anyshape, "float32", ndim=3), 'R.Tensor(s, "float32", ndim=3)'),
    (TensorStructInfo((2,), "float32", VDevice("llvm", 1)),
     'R.Tensor((2,), "float32", vdevice="llvm:1")'),
    (TensorStructInfo((2,), "float32", VDevice("cuda", 0, "shared")),
     'R.Tensor((2,), "float32", vdevice="cuda:0:shared")'),
    (TensorStructInfo((2,), "float32", VDevice("llvm -mcpu=a", 1, "b")),
     'R.Tensor((2,), "float32", vdevice=I.vdevice("llvm -mcpu=a", 1, "b"))'),
    (ShapeStructInfo(), "R.Shape"),
    (ShapeStructInfo(ndim=2), "R.Shape(ndim=2)"),
    (ShapeStructInfo([]), "R.Shape([])"),
    (ShapeStructInfo([n, 3]), "R.Shape([n, 3])"),
    (PrimStructInfo("int64"), 'R.Prim("int64")'),
    (PrimStructInfo(None, n), "R.Prim(value=n)"),
    (PrimStructInfo(None, prim.const(True)), "R.Prim(value=True)"),
    (PrimStructInfo("int32", prim.const(3)), "R.Prim(value=T.int32(3))"),
    (PrimStructInfo("float32", prim.const(3)), 'R.Prim(dtype="float32", value=T.int32(3))'),
    (ObjectStructInfo(), "R.Object"),
    (TupleStructInfo([]), "R.Tuple"),
    (TupleStructInfo([tensor(2), ObjectStructInfo()]),
     'R.Tuple(R.Tensor((2,), "float32"), R.Object)'),
    (FuncStructInfo([tensor(n)], tensor(n)),
     'R.Callable((R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32"))'),
    (FuncStructInfo([], ObjectStructInfo(), False), "R.Callable((), R.Object, purity=False)"),
    (FuncStructInfo.opaque_func(), "R.Callable"),
    (FuncStructInfo.opaque_func(ret=tensor(2)), 'R.Callable(ret=R.Tensor((2,), "float32"))'),
    (FuncStructInfo(None, ObjectStructInfo(), True, default_derive),
     'R.Callable(purity=True, derive_func="default_derive")'),
    (FuncStructInfo(None, ObjectStructInfo(), False, "mine"), 'R.Callable(derive_func="mine")'),
    (FuncStructInfo(None, tensor(2), False, empty_derive),
     'R.Callable(ret=R.Tensor((2,), "float32"), derive_func="empty_derive")'),
    (FuncStructInfo(None, ObjectStructInfo(), False, None), "R.Callable(ret=R.Object)"),
]  # fmt: skip


@pytest.mark.parametrize(("info", "expected"), CASES, ids=[text for _, text in CASES])
def test_a_struct_info_is_written(info: StructInfo, expected: str):
    assert script(info) == expected
    assert repr(info) == expected


def header(*infos: StructInfo, ret: StructInfo | None = None) -> str:
    params = [relax.Var(f"p{i}", info) for i, info in enumerate(infos)]
    printed = script(function(params, result=params[0], ret=ret), line_width=1000)
    return next(line for line in printed.split("\n") if line.startswith("def "))


def test_dimensions_of_a_signature_are_strings():
    assert header(tensor(n, 4), ret=tensor(n * 2, 4)) == (
        'def main(p0: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n * 2", 4), "float32"):'
    )


def test_scalars_and_shapes_of_a_signature_are_strings_too():
    assert header(ShapeStructInfo([n]), PrimStructInfo(None, m)) == (
        'def main(p0: R.Shape(["n"]), p1: R.Prim(value="m")):'
    )


def test_arithmetic_in_a_string_uses_the_names_of_the_other_strings():
    other = prim.Var("n", "int64")
    assert header(tensor(n), tensor(other), tensor(prim.Max(n, other) + 1)).endswith(
        'p1: R.Tensor(("n_1",), "float32"), p2: R.Tensor(("T.max(n, n_1) + 1",), "float32")):'
    )


def test_a_dimension_that_a_function_type_mentions_twice_keeps_its_name():
    taking = FuncStructInfo([tensor(n), ShapeStructInfo([n])], tensor(n))
    assert header(taking).endswith(
        'p0: R.Callable((R.Tensor(("n",), "float32"), R.Shape(["n"])), '
        'R.Tensor(("n",), "float32"))):'
    )


def test_a_dimension_of_a_function_type_is_another_one_in_the_body():
    taking = FuncStructInfo([tensor(n)], tensor(n))
    p, x = relax.Var("p", taking), relax.Var("x", TensorStructInfo(dtype="float32", ndim=1))
    matched = relax.Var("y", tensor(n))
    binding = relax.MatchCast(matched, x, tensor(n))
    printed = script(function([p, x], binding, result=matched))
    assert "n_1 = T.int64()" in printed
    assert 'R.match_cast(x, R.Tensor((n_1,), "float32"))' in printed


def test_a_dimension_and_a_parameter_never_share_a_name():
    params = [relax.Var("n", tensor(n))]
    assert 'n: R.Tensor(("n_1",)' in script(function(params, result=params[0]))


def test_an_attribute_in_tir_may_be_a_relax_expression():
    statement = tir.AttrStmt(
        relax.StringImm("a"), "key", prim.const(1), tir.Evaluate(prim.const(0))
    )
    assert script(statement).startswith('with T.attr(R.str("a"), "key", 1):')


def test_a_struct_info_that_nobody_knows_is_our_mistake():
    class Strange(StructInfo):
        pass

    with pytest.raises(InternalError, match="does not know the StructInfo Strange"):
        script(Strange())


def test_an_annotation_of_a_signature_alone_has_its_dimensions_in_quotes():
    info = TensorStructInfo((n, 4, n * 2), "float32")
    assert Printer().signature(info) == 'R.Tensor(("n", 4, "n * 2"), "float32")'
    assert Printer(relax_prefix="rx").signature(ShapeStructInfo((n,))) == 'rx.Shape(["n"])'
