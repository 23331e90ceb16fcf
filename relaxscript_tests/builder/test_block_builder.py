"""BlockBuilder: normal form, types, purity, scopes, blame."""

from __future__ import annotations

import warnings

import pytest

from relaxscript import op
from relaxscript.analysis import well_formed
from relaxscript.builder import BlockBuilder
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir import IRModule, VDevice, assert_structural_equal, structural_equal
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    ExternFunc,
    Function,
    If,
    MatchCast,
    PrimValue,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.script import from_source


def tensor(*dims, dtype="float32"):
    return TensorStructInfo(dims, dtype)


@pytest.fixture
def x():
    return Var("x", tensor("n", 4))


def function_of(bb: BlockBuilder, name: str = "main") -> Function:
    return bb.finalize()[name]


def test_a_function_is_written_binding_by_binding(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(op.add(x, x))
            z = bb.emit_output(op.nn.relu(y))
        bb.emit_func_output(z)
    f = function_of(bb)
    (block,) = f.body.blocks
    assert isinstance(block, DataflowBlock)
    assert isinstance(block.bindings[0].var, DataflowVar)
    assert type(block.bindings[1].var) is Var
    assert f.body.body is z
    assert f.attrs.global_symbol == "main"
    assert structural_equal(f.ret_struct_info, x.struct_info)


def test_nested_operands_are_bound_to_variables(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        y = bb.emit(op.add(op.exp(x), op.nn.relu(op.tanh(x))))
        bb.emit_func_output(y)
    names = [b.var.name_hint for b in function_of(bb).body.blocks[0].bindings]
    assert names == ["gv", "gv1", "gv2", "gv3"]


def test_operands_in_tuples_are_bound_too(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        t = bb.emit(Tuple([op.exp(x), x]))
        bb.emit_func_output(t)
    bindings = function_of(bb).body.blocks[0].bindings
    assert [type(b.value).__name__ for b in bindings] == ["Call", "Tuple"]


def test_a_field_of_a_tuple_literal_is_the_field(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        y = bb.emit(TupleGetItem(Tuple([x, x]), 1))
        bb.emit_func_output(y)
    assert bb.lookup_binding(y) is x


def test_blocks_of_a_kind_are_merged_and_empty_ones_dropped(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            bb.emit_output(op.exp(x))
        with bb.dataflow():
            pass
        with bb.dataflow():
            z = bb.emit_output(op.exp(x))
        bb.emit(op.exp(x))
        bb.emit_func_output(z)
    kinds = [(type(b), len(b.bindings)) for b in function_of(bb).body.blocks]
    assert kinds == [(DataflowBlock, 2), (BindingBlock, 1)]


def test_after_its_block_a_tensor_has_no_shape_that_a_variable_of_the_block_holds(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            s = bb.emit(op.shape_of(x))
            y = bb.match_cast(x, TensorStructInfo(s, "float32"))
            z = bb.emit_output(y)
        bb.emit_func_output(z)
    assert y.struct_info.shape is s
    assert_structural_equal(z.struct_info, TensorStructInfo(None, "float32", None, 2))


def test_a_nested_sequence_is_flattened(x):
    y = Var("y", tensor("n", 4))
    bb = BlockBuilder()
    with bb.function("main", [x]):
        z = bb.emit(SeqExpr([BindingBlock([VarBinding(y, op.exp(x))])], op.exp(y)))
        bb.emit_func_output(z)
    assert [b.var.name_hint for b in function_of(bb).body.blocks[0].bindings] == ["y", "gv"]


@pytest.mark.parametrize("kind", [BindingBlock, DataflowBlock])
def test_a_sequence_is_flattened_into_an_open_dataflow_block(x, kind):
    y = Var("y", x.struct_info)
    bb = BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            first = bb.emit(op.add(x, x))
            z = bb.emit(SeqExpr([kind([VarBinding(y, op.exp(first))])], op.exp(y)))
            out = bb.emit_output(SeqExpr([], op.add(y, z)))
        bb.emit_func_output(out)
    assert well_formed(bb.get())
    (block,) = function_of(bb).body.blocks
    assert isinstance(block, DataflowBlock)
    assert [b.var.name_hint for b in block.bindings] == ["lv", "y", "lv1", "gv"]


def test_what_is_not_allowed_in_a_dataflow_block_is_not_in_a_sequence_there(x):
    y = Var("y", x.struct_info)
    effect = Call(ExternFunc("f"), [x], None, [tensor("n", 4)])
    choice = If(PrimValue(True), x, x)
    for value, reason in ((effect, "impure"), (choice, "`if` is not allowed")):
        bb = BlockBuilder()
        with bb.function("main", [x], pure=False), bb.dataflow():
            with pytest.raises(DiagnosticError, match=reason):
                bb.emit(SeqExpr([BindingBlock([VarBinding(y, value)])], y))
            bb.emit_func_output(x)


def test_branches_become_sequences_and_their_bindings_stay_inside(x):
    c = Var("c", tensor(dtype="bool"))
    bb = BlockBuilder()
    with bb.function("main", [c, x]):
        y = bb.emit(If(c, op.exp(op.exp(x)), x))
        bb.emit_func_output(y)
    choice = function_of(bb).body.blocks[0].bindings[0].value
    assert isinstance(choice.true_branch, SeqExpr)
    assert len(choice.true_branch.blocks[0].bindings) == 2
    assert choice.false_branch.blocks == ()


def test_a_match_cast_brings_its_shape_variables_into_scope(x):
    m = PrimVar("m", "int64")
    bb = BlockBuilder()
    with bb.function("main", [Var("o", ObjectStructInfo())]):
        y = bb.match_cast(bb._frames[-1].params[0], tensor(m, 4))
        assert bb.is_in_scope(m)
        bb.emit_func_output(y)
    assert not bb.is_in_scope(m)
    f = function_of(bb)
    assert isinstance(f.body.blocks[0].bindings[0], MatchCast)
    # m lives in the body only, so the result of the function cannot mention it.
    assert (f.ret_struct_info.shape, f.ret_struct_info.ndim) == (None, 2)


def test_a_dimension_that_a_function_type_binds_is_not_one_of_the_function():
    n = PrimVar("n", "int64")
    taking = Var("g", FuncStructInfo([tensor(n, 4)], tensor(n, 4)))
    bb = BlockBuilder()
    with bb.function("main", [taking, Var("o", ObjectStructInfo())]):
        bb.emit_func_output(bb.match_cast(bb._frames[-1].params[1], tensor(n, 4)))
    ret = function_of(bb).ret_struct_info
    assert (ret.shape, ret.ndim) == (None, 2)
    assert_structural_equal(from_source(bb.get().script()), bb.get())


def test_constants_scalars_shapes_and_texts_are_typed():
    bb = BlockBuilder()
    with bb.function("main", []):
        t = bb.emit(Tuple([Constant([1.5]), 3, "text"]))
        bb.emit_func_output(t)
    fields = t.struct_info.fields
    kinds = [TensorStructInfo, PrimStructInfo, ObjectStructInfo]
    assert [type(f) for f in fields] == kinds


def test_impure_calls_are_refused_in_a_pure_function(x):
    bb = BlockBuilder()
    with (
        pytest.raises(
            DiagnosticError, match="`f` is impure and cannot be called in a pure function"
        ),
        bb.function("main", [x]),
    ):
        bb.emit(Call(ExternFunc("f"), [x]))


def test_impure_calls_are_refused_in_a_dataflow_block(x):
    bb = BlockBuilder()
    with (
        pytest.raises(
            DiagnosticError, match="`f` is impure and cannot be called in a dataflow block"
        ),
        bb.function("main", [x], pure=False),
        bb.dataflow(),
    ):
        bb.emit(Call(ExternFunc("f"), [x]))


@pytest.mark.parametrize("options", [{"pure": False}, {"attrs": {"relax.force_pure": True}}])
def test_impure_functions_and_forced_ones_may_call_anything(x, options):
    bb = BlockBuilder()
    with bb.function("main", [x], **options):
        bb.emit_func_output(bb.emit(Call(ExternFunc("f"), [x])))
    assert function_of(bb).is_pure == options.get("pure", True)


def test_control_flow_is_refused_in_a_dataflow_block(x):
    c = Var("c", tensor(dtype="bool"))
    bb = BlockBuilder()
    with (
        pytest.raises(DiagnosticError, match="`if` is not allowed in a dataflow block"),
        bb.function("main", [c, x]),
        bb.dataflow(),
    ):
        bb.emit(If(c, x, x))


@pytest.mark.parametrize(
    "info",
    [tensor(2, dtype="bool"), tensor(dtype="float32"), PrimStructInfo("int64"), ShapeStructInfo()],
)
def test_a_condition_must_be_a_bool_scalar(x, info):
    bb = BlockBuilder()
    with (
        pytest.raises(DiagnosticError, match="the condition of `if` must be a bool scalar"),
        bb.function("main", [Var("c", info), x]),
    ):
        bb.emit(If(bb._frames[-1].params[0], x, x))


def test_operands_that_do_not_fit_are_blamed_on_the_calling_line(x):
    bb = BlockBuilder()
    w = Var("w", tensor(5, 6))
    with pytest.raises(DiagnosticError) as caught, bb.function("main", [x, w]):
        bb.emit(op.matmul(x, w))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "RX0203"
    assert diagnostic.span is not None
    assert diagnostic.span.filename == __file__
    assert "op.matmul(x, w)" in diagnostic.span.source.line(diagnostic.span.line)


def test_what_cannot_be_decided_is_a_warning_at_the_calling_line(x):
    bb = BlockBuilder()
    z = Var("z", tensor("m", 4))
    with bb.function("main", [x, z]):
        with pytest.warns(RelaxWarning, match="checked when the program runs"):
            y = bb.emit(op.add(x, z))
        bb.emit_func_output(y)
    assert y.struct_info.ndim == 2


def test_a_function_needs_a_result(x):
    bb = BlockBuilder()
    with (
        pytest.raises(DiagnosticError, match="the function `main` has no result"),
        bb.function("main", [x]),
    ):
        bb.emit(op.exp(x))


def test_an_open_function_cannot_be_finalised(x):
    bb = BlockBuilder()
    bb.begin_function("main", [x])
    with pytest.raises(DiagnosticError, match="the function `main` is still open"):
        bb.finalize()


def test_an_output_belongs_in_a_dataflow_block(x):
    bb = BlockBuilder()
    with (
        pytest.raises(DiagnosticError, match="`emit_output` belongs in a dataflow block"),
        bb.function("main", [x]),
    ):
        bb.emit_output(x)


def test_a_builder_survives_a_function_that_failed(x):
    bb = BlockBuilder()
    with pytest.raises(ZeroDivisionError), bb.function("bad", [x]):
        raise ZeroDivisionError
    with bb.function("good", [x]):
        bb.emit_func_output(x)
    assert [gv.name for gv in bb.finalize()] == ["good"]


def test_a_variable_of_a_hand_built_binding_gets_the_struct_info_of_its_value(x):
    y = Var("y")
    with (bb := BlockBuilder()).function("main", [x]):
        z = bb.emit(SeqExpr([BindingBlock([VarBinding(y, op.exp(x))])], y))
        assert structural_equal(z.struct_info, x.struct_info)
        bb.emit_func_output(z)
    (first, _) = bb.get()["main"].body.blocks[0].bindings
    assert (first.var.name_hint, first.var.struct_info.ndim) == ("y", x.struct_info.ndim)


def test_names_are_made_unique_from_their_second_use_on():
    bb = BlockBuilder()
    assert [bb.get_unique_name("lv") for _ in range(3)] == ["lv", "lv1", "lv2"]


def test_the_module_to_start_from_is_not_changed(x):
    first = BlockBuilder()
    with first.function("main", [x]):
        first.emit_func_output(x)
    mod = first.finalize()
    bb = BlockBuilder(mod)
    gv = bb.add_func(mod["main"].with_attr("other", 1), "main")
    bb.update_func(bb.get().get_global_var("main"), mod["main"].with_attr("k", 1))
    assert gv.name_hint == "main1"
    assert [v.name_hint for v in mod] == ["main"]
    assert "k" not in mod["main"].attrs
    assert bb.get()["main"].attrs.k == 1


def test_adding_a_function_that_is_there_gives_its_name(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(x)
    mod = bb.finalize()
    assert bb.add_func(mod["main"], "main").name_hint == "main"
    assert len(bb.finalize()) == 1


def test_the_enclosing_builder_is_the_current_one(x):
    assert BlockBuilder.current() is None
    bb = BlockBuilder()
    with bb.function("main", [x]):
        assert BlockBuilder.current() is bb
        bb.emit_func_output(x)
    assert BlockBuilder.current() is None


def test_a_testing_scope_defines_shape_variables(x):
    n = PrimVar("n", "int64")
    bb = BlockBuilder()
    with bb.testing_scope([n]):
        y = bb.emit(op.exp(Var("y", tensor(n, 2))))
        assert structural_equal(y.struct_info, tensor(n, 2))
    assert not bb.is_in_scope(n)


def test_the_output_of_a_function_gives_the_name_by_which_it_is_called(x):
    bb = BlockBuilder()
    with bb.function("f", [x], private=True):
        first = bb.emit_func_output(x)
    y = Var("y", x.struct_info)
    with bb.function("f", [y]):
        second = bb.emit_func_output(bb.emit(Call(first, [y])))
    assert (first.name_hint, second.name_hint) == ("f", "f1")
    assert [type(bb.get()[gv]) for gv in (first, second)] == [Function, Function]
    assert bb.get()["f1"].body.blocks[0].bindings[0].value.op is first


def test_the_name_of_a_function_is_its_own_before_it_ends(x):
    bb = BlockBuilder()
    with bb.function("f", [x]):
        given = bb.emit_func_output(x)
        y = Var("y", tensor(3))
        added = bb.add_func(Function([y], SeqExpr([], y), y.struct_info), "f")
    assert (given.name_hint, added.name_hint) == ("f", "f1")
    assert structural_equal(bb.get()[given].params[0].struct_info, x.struct_info)


def test_a_private_function_has_no_global_symbol(x):
    bb = BlockBuilder()
    with bb.function("main", [x], private=True):
        bb.emit_func_output(())
    f = function_of(bb)
    assert f.is_private
    assert isinstance(f.ret_struct_info, TupleStructInfo)


def test_parameters_may_be_given_with_the_result(x):
    bb = BlockBuilder()
    with bb.function("main"):
        bb.emit_func_output(bb.emit(op.exp(x)), params=[x])
    assert function_of(bb).params == (x,)
    assert structural_equal(function_of(bb).body.struct_info, x.struct_info)


def test_parameters_are_given_once(x):
    bb = BlockBuilder()
    with (
        pytest.raises(DiagnosticError, match="the function `main` has its parameters"),
        bb.function("main", [x]),
    ):
        bb.emit_func_output(x, params=[x])
    with (
        pytest.raises(DiagnosticError, match="`x` is given twice among the parameters"),
        bb.function("main", [x, x]),
    ):
        bb.emit_func_output(x)
    with bb.function("main", [x]):
        bb.emit_func_output(x)
    assert function_of(bb).params == (x,)


def test_names_are_made_new_as_those_of_tvm(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        outside = bb.emit(op.add(op.exp(x), x))
        with bb.dataflow():
            inside = bb.emit(op.add(op.exp(outside), x))
            named = [bb.emit(op.exp(inside), "lv1"), bb.emit(op.exp(inside), "y")]
            bb.emit(op.exp(inside))
            bb.emit(op.exp(inside), "y")
            outputs = [bb.emit_output(inside), bb.emit_output(named[0])]
        bb.emit_func_output(outputs)
    written = [b.var.name_hint for block in function_of(bb).body.blocks for b in block.bindings]
    assert written == ["gv", "gv1", "lv", "lv1", "lv11", "y", "lv2", "y1", "gv2", "gv3"]


def test_the_fields_of_a_tuple_that_a_kernel_is_given_are_bound():
    mod = from_source(
        """
@I.ir_module
class M:
    @T.prim_func
    def copy(x: T.Buffer((2,), "int8"), y: T.Buffer((2,), "int8")):
        for i in range(2):
            y[i] = x[i]

    @R.function
    def main(t: R.Tuple(R.Tensor((2,), "int8"))):
        cls = M
        y = R.call_tir(cls.copy, t, out_sinfo=R.Tensor((2,), "int8"))
        return y
"""
    )
    field, call = mod["main"].body.blocks[0].bindings
    assert call.value.args[1].fields[0] is field.var
    assert structural_equal(from_source(mod.script()), mod)


def test_a_function_that_is_added_is_shared_with_what_the_module_has_now():
    def returning(value):
        return Function([], PrimValue(value), PrimStructInfo("int64"))

    builder = BlockBuilder(IRModule({"given": returning(0)}))
    first = builder.add_func(returning(1), "one")
    assert builder.add_func(returning(1), "one") is first
    assert builder.add_func(returning(0), "given").name_hint == "given"
    builder.update_func(first, returning(2))
    assert builder.add_func(returning(2), "one") is first
    assert builder.add_func(returning(1), "one").name_hint != "one"
    with builder.function("one_more", [], private=True):
        builder.emit_func_output(PrimValue(3))
    assert builder.add_func(builder.get()["one_more"], "one").name_hint == "one_more"


def test_a_device_that_is_not_said_is_found_out_later_where_the_module_lists_devices(x):
    there = TensorStructInfo((4,), "float32", "llvm:1")
    y = Var("y", TensorStructInfo((4,), "float32"))
    listing = IRModule({"f": Function([Var("a", there)], Tuple([]), TupleStructInfo([]))})
    for devices in ([VDevice("llvm", 1)], []):
        mod = IRModule(listing.functions, global_infos={"vdevice": devices})
        with warnings.catch_warnings(record=True) as caught, BlockBuilder(mod).function("g", [y]):
            warnings.simplefilter("always")
            bb = BlockBuilder.current()
            bb.emit(Call(mod.get_global_var("f"), [y]))
            bb.emit_func_output(())
        said = [warning.message.diagnostic.message for warning in caught]
        unknown = "the device is unknown, and llvm:1 is needed; it is checked when the program runs"
        assert said == ([] if devices else [unknown])


def test_a_scope_is_opened_with_variables_that_are_known_in_it():
    bb = BlockBuilder()
    x = Var("x", tensor("n", 4))
    bb.begin_scope([x])
    made = bb.emit(op.add(x, x))
    seq = bb.end_scope(made)
    assert seq.body is made
    assert made.struct_info.shape.values[0] is x.struct_info.shape.values[0]


def test_the_result_of_a_function_gives_the_variable_that_calls_it():
    builder = BlockBuilder()
    x, y = (Var(name, TensorStructInfo((3,), "float32")) for name in "xy")
    with builder.function("twice", [x]):
        twice = builder.emit_func_output(builder.emit(op.add(x, x)))
    with builder.function("main", [y]):
        builder.emit_func_output(builder.emit(Call(twice, [y])))
    module = builder.get()
    assert module.get_global_var("twice") is twice
    assert "cls.twice(y)" in module.script()


def test_the_variable_of_a_second_function_of_a_name_has_a_name_of_its_own():
    builder = BlockBuilder()
    made = []
    for name in "xy":
        x = Var(name, TensorStructInfo((3,), "float32"))
        with builder.function("same", [x]):
            made.append(builder.emit_func_output(x))
    first, second = made
    assert first.name_hint == "same" != second.name_hint
    assert {first, second} == set(builder.get().get_global_vars())
