"""Programs as the nodes that they consist of."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import op
from relaxscript.errors import DiagnosticError
from relaxscript.ir.relax import Constant, DataflowVar, GlobalVar, PrimValue, ShapeExpr, Tuple, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.testing.ast_printer import ASTPrinter, dump_ast
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples
from relaxscript_tests.builder.test_expr_functor import EVERY, PROGRAM
from relaxscript_tests.test_visitor import nested_function

OBJECT = ObjectStructInfo()
X = Var("x", TensorStructInfo((3, 4), "float32"))


def plain(expr, **options) -> str:
    return dump_ast(expr, include_struct_info_annotations=False, **options)


def test_a_node_with_one_field_is_on_one_line_and_others_have_a_line_for_each():
    assert plain(X) == 'Var(name_hint="x")'
    assert plain(Tuple([X])) == 'Tuple(fields=[Var(name_hint="x")])'
    assert plain(Tuple([])) == "Tuple(fields=[])"
    assert plain(op.add(X, X), indent_str=" ") == "\n".join([
        "Call(", ' op=Op(name="relax.add"),', " args=[", '  Var(name_hint="x"),',
        '  Var(name_hint="x")', " ]", ")",
    ])  # fmt: skip


def test_leaves_say_what_they_are():
    assert plain(GlobalVar("g")) == 'GlobalVar(name_hint="g")'
    assert plain(DataflowVar("d", OBJECT)) == 'DataflowVar(name_hint="d")'
    assert plain(PrimValue(3)) == "PrimValue(value=PrimExpr(value=`T.int64(3)`))"
    assert plain(ShapeExpr([])) == "ShapeExpr(values=[])"
    assert plain(Constant(np.float32(1))) == "Constant(data=1.0)"
    assert plain(Constant(np.arange(3)), indent_str=" ") == "Constant(\n data=[0 1 2]\n)"


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (OBJECT, "ObjectStructInfo()"),
        (PrimStructInfo("int64"), "PrimStructInfo(dtype=int64)"),
        (PrimStructInfo(value=3),
         "PrimStructInfo(\n dtype=int64,\n value=PrimExpr(value=`T.int64(3)`)\n)"),
        (ShapeStructInfo(ndim=2), "ShapeStructInfo(ndim=2)"),
        (ShapeStructInfo([1]),
         "ShapeStructInfo(\n ndim=1,\n values=[PrimExpr(value=`T.int64(1)`)]\n)"),
        (TensorStructInfo(ndim=2, dtype="float32"),
         "TensorStructInfo(\n dtype=float32,\n ndim=2\n)"),
        (TupleStructInfo([OBJECT]), "TupleStructInfo(fields=[ObjectStructInfo()])"),
        (FuncStructInfo([OBJECT], OBJECT), "FuncStructInfo(\n params=[ObjectStructInfo()],\n "
                                           "ret=ObjectStructInfo(),\n purity=True\n)"),
        (FuncStructInfo.opaque_func(),
         "FuncStructInfo(\n ret=ObjectStructInfo(),\n purity=False\n)"),
    ],
)  # fmt: skip
def test_what_is_known_is_a_field_of_an_expression(info, expected):
    printer = ASTPrinter(indent_str=" ")
    assert printer.visit_struct_info_(info) == expected
    assert dump_ast(Var("v", info), " ") == "\n".join([
        "Var(", ' name_hint="v",', f" struct_info={expected}".replace("\n", "\n "), ")",
    ])  # fmt: skip


def test_bindings_and_blocks_are_nodes_too():
    text = plain(PROGRAM, indent_str=" ")
    assert "  blocks=[\n   DataflowBlock(\n    bindings=[\n     VarBinding(\n" in text
    assert 'var=DataflowVar(name_hint="h")' in text
    assert "MatchCast(" in text
    assert text.endswith('is_pure=False,\n attrs={"global_symbol": "main"}\n)')


def test_attributes_and_types_are_shown_on_request():
    call = op.permute_dims(X, [1, 0])
    assert 'attrs={"axes": (1, 0)}' in plain(call)
    assert "attrs" not in plain(call, include_call_attrs=False)
    typed = plain(X, include_type_annotations=True)
    assert 'checked_type=R.Tensor(dtype="float32", ndim=2)' in typed


def test_a_binding_can_be_shown_alone():
    binding = PROGRAM.body.blocks[1].bindings[0]
    printer = ASTPrinter(include_struct_info_annotations=False)
    assert printer.visit_binding_(binding).startswith("MatchCast(\n")
    assert printer.visit_var_def(X) == 'Var(name_hint="x")'
    assert printer.visit_var_def(DataflowVar("d", OBJECT)) == 'DataflowVar(name_hint="d")'


@pytest.mark.slow
def test_every_random_program_has_its_text():
    for seed in range(examples(100)):
        for func in random_module(seed).relax_functions().values():
            text = dump_ast(func)
            assert text.startswith("Function(\n")
            assert text.count("(") == text.count(")") or "metadata" in text


def test_the_printer_has_every_hook():
    assert all(hook in vars(ASTPrinter) for hook in EVERY)


def test_what_is_nested_too_deeply_for_a_text_is_refused():
    with pytest.raises(DiagnosticError, match="nested too deeply for the hooks of `ASTPrinter`"):
        plain(nested_function(5_000, "call"))
    with pytest.raises(DiagnosticError, match=r"`ASTPrinter\.visit_expr` does not visit int"):
        dump_ast(3)
