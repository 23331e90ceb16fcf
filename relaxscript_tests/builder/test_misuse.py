"""BlockBuilder: every misuse is a diagnostic at the calling line, and the builder stays usable."""

from __future__ import annotations

import pytest

from relaxscript import op
from relaxscript.builder import BlockBuilder
from relaxscript.errors import DiagnosticError
from relaxscript.ir import relax, structural_equal
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Function,
    GlobalVar,
    If,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import ObjectStructInfo, TensorStructInfo, TupleStructInfo


@pytest.fixture
def x():
    return Var("x", TensorStructInfo(("n", 4), "float32"))


def refused(match: str, code: str, action) -> None:
    with pytest.raises(DiagnosticError, match=match) as caught:
        action()
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.span.filename) == (code, __file__)


@pytest.mark.parametrize(
    "action",
    [
        lambda bb, x: bb.emit(op.add(x, x)),
        lambda bb, x: bb.match_cast(x, ObjectStructInfo()),
        lambda bb, x: bb.emit_func_output(x),
        lambda bb, x: bb.dataflow().__enter__(),
        lambda bb, x: bb.end_scope(),
        lambda bb, x: bb.end_dataflow(),
        lambda bb, x: bb.emit_normalized(None),
    ],
)
def test_bindings_stand_in_a_function(action, x):
    bb = BlockBuilder()
    refused("no function is open", "RX0105", lambda: action(bb, x))
    with bb.function("main", [x]):
        bb.emit_func_output(x)
    assert "main" in bb.finalize()


@pytest.mark.parametrize(
    "action",
    [
        lambda bb, x: bb.emit(op.add(x, x)),
        lambda bb, x: bb.match_cast(x, ObjectStructInfo()),
        lambda bb, x: bb.emit_func_output(x),
    ],
)
def test_nothing_follows_the_result(action, x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(x)
        refused("nothing can follow the result of the function `main`", "RX0105",
                lambda: action(bb, x))  # fmt: skip
    assert bb.finalize()["main"].body.body is x


@pytest.mark.parametrize(
    ("match", "code", "action"),
    [
        ("is not a Relax expression", "RX0201", lambda bb, x: bb.emit(object())),
        (r"R\.add is not a Relax expression", "RX0201", lambda bb, x: bb.emit(op.add)),
        ("is not a StructInfo", "RX0108", lambda bb, x: bb.match_cast(x, "R.Tensor")),
        ("is no binding", "RX0201", lambda bb, x: bb.emit_normalized(3)),
        ("a parameter is a `Var`", "RX0201", lambda bb, x: bb.emit_func_output(x, ["x"])),
        ("a parameter is a `Var`", "RX0201", lambda bb, x: bb.function("g", ["x"]).__enter__()),
    ],
)
def test_values_of_another_kind_are_refused(match, code, action, x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        refused(match, code, lambda: action(bb, x))
        bb.emit_func_output(bb.emit(op.add(x, x)))
    assert len(bb.finalize()["main"].body.blocks[0].bindings) == 1


def test_a_variable_of_a_dataflow_block_is_no_result(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            lv = bb.emit(op.add(x, x))
            refused("`lv` is used outside its dataflow block", "RX0301",
                    lambda: bb.emit_func_output((x, lv)))  # fmt: skip
            gv = bb.emit_output(lv)
        bb.emit_func_output(gv)


def test_a_dataflow_block_does_not_stand_inside_another(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            refused("is not allowed inside another", "RX0104", lambda: bb.dataflow().__enter__())
            gv = bb.emit_output(op.add(x, x))
        bb.emit_func_output(gv)


def test_a_module_holds_functions(x):
    bb = BlockBuilder()
    refused("cannot be a function of a module", "RX0201", lambda: bb.add_func("x", "f"))
    with bb.function("main", [x]):
        bb.emit_func_output(x)
    module = bb.get()
    main = module.get_global_var("main")
    refused("cannot be a function", "RX0201", lambda: bb.update_func(main, 3))
    refused("the module has no function `other`", "RX0101",
            lambda: bb.update_func(GlobalVar("other"), module["main"]))  # fmt: skip
    refused("starts from an `IRModule`", "RX0201", lambda: BlockBuilder("module"))


def test_a_second_function_of_a_name_gets_another(x):
    bb = BlockBuilder()
    for _ in range(2):
        y = Var("y", TensorStructInfo((2,), "float32"))
        with bb.function("f", [y]):
            bb.emit_func_output(y)
    module = bb.finalize()
    names = sorted(gv.name_hint for gv in module.functions)
    assert names == ["f", "f1"]
    assert all(module[name].attrs["global_symbol"] == name for name in names)


def test_the_operator_that_refuses_is_named(x):
    y = Var("y", TensorStructInfo((3, 5), "float32"))
    bb = BlockBuilder()
    with bb.function("main", [x, y]):
        refused(r"`R\.add` cannot take these operands", "RX0203", lambda: bb.emit(op.add(x, y)))
        bb.emit_func_output(x)


def test_a_parameter_without_struct_info_is_any_object():
    v = Var("v")
    bb = BlockBuilder()
    with bb.function("main", [v]):
        bb.emit_func_output((v, v))
    result = bb.finalize()["main"].ret_struct_info
    assert structural_equal(result, TupleStructInfo((ObjectStructInfo(), ObjectStructInfo())))


@pytest.mark.slow
def test_expressions_of_any_depth_are_bound_innermost_first(x):
    deep = x
    for _ in range(5000):
        deep = op.add(TupleGetItem(Tuple((deep, x)), 0), x)
    bb = BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(deep)
    bindings = bb.finalize()["main"].body.blocks[0].bindings
    assert len(bindings) == 5000
    assert bindings[0].value.args == (x, x)
    assert bindings[1].value.args[0] is bindings[0].var


def test_one_expression_in_several_places_is_bound_once(x):
    shared = op.exp(x)
    for _ in range(60):
        shared = op.add(shared, shared)
    bb = BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(shared)
    assert len(bb.finalize()["main"].body.blocks[0].bindings) == 61


def test_branches_that_nest_too_deeply_are_refused():
    c = Var("c", TensorStructInfo((), "bool"))
    nested = c
    for _ in range(5000):
        nested = If(c, nested, c)
    bb = BlockBuilder()
    with pytest.raises(DiagnosticError, match="nested too deeply"), bb.function("main", [c]):
        bb.emit(nested)
    with bb.function("main", [c]):
        bb.emit_func_output(c)
    assert isinstance(bb.finalize()["main"], Function)


def test_what_is_normalized_is_typed_and_refused_at_once(x):
    bb = BlockBuilder()
    made = bb.normalize(op.add(x, x))
    assert made.known_info is not None
    other = Var("y", TensorStructInfo(("n", 5), "float32"))
    refused("cannot take these operands", "RX0203", lambda: bb.normalize(op.add(x, other)))
    refused("needs", "RX0103", lambda: bb.normalize(Call(op.add.op, [x])))
    with bb.function("main", [x]):
        refused("cannot take these operands", "RX0203", lambda: bb.normalize(op.add(x, other)))
        bb.emit_func_output(x)


def test_outside_a_function_a_nested_call_is_typed_as_it_stands(x):
    bb = BlockBuilder()
    (n, four) = x.struct_info.dims
    call = op.eye(relax.PrimValue(n), relax.PrimValue(n + 1), relax.PrimValue(0), "float32")
    for given in (call, op.add(op.exp(x), x), Tuple([op.exp(x)]), op.tril(x, n * 2)):
        assert bb.normalize(given) is given
        assert given.known_info is not None
    assert structural_equal(call.struct_info, TensorStructInfo((n, n + 1), "float32"))
    assert structural_equal(op.add(op.exp(x), x).struct_info, x.struct_info)
    assert not bb.has_open_scope


def test_outside_a_function_a_body_is_brought_into_normal_form(x):
    value = op.add(op.exp(x), x)
    z = Var("z", x.struct_info)
    made = BlockBuilder().normalize(SeqExpr([BindingBlock([VarBinding(z, value)])], z))
    assert len(made.blocks[0].bindings) == 2
    assert structural_equal(made.struct_info, x.struct_info)


def test_a_call_is_normalized_on_its_own(x):
    bb = BlockBuilder()
    n = PrimVar("n", "int64")
    with bb.testing_scope([n]):
        call = bb.normalize(op.add(op.exp(x), x))
    assert isinstance(call, Call)
    assert isinstance(call.args[0], Var)
