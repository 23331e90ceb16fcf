"""What an operator is: its definition, its calls, its inverse, its errors."""

from __future__ import annotations

import copy
import inspect
import pickle
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.errors import DiagnosticError, InternalError
from relaxscript.ir import relax
from relaxscript.ir.relax import Attrs, Call, Op
from relaxscript.ir.struct_info import ObjectStructInfo, TensorStructInfo
from relaxscript.op import REGISTRY, ArgumentError, Operator, PlainContext, lookup, namespace
from relaxscript.opdef import documentation
from relaxscript.opdef.operator import op, register
from relaxscript.opdef.parameters import Axes, Tensor
from relaxscript_tests.op.inference import tensor

X = tensor("n", 64)


def test_the_documentation_lists_the_parameters_one_by_one():
    assert (
        "\n\nR.sum(x, axis=None, keepdims=False)\n\n"
        "x         a tensor\n"
        "axis      an integer, or several, or None; None unless given\n"
        "keepdims  True or False; False unless given\n\n"
    ) in str(R.sum.__doc__)
    assert "    " not in str(R.matmul.__doc__).partition("R.matmul(")[0]


def test_every_annotation_of_a_parameter_is_said_in_words():
    words = {
        word
        for operator in REGISTRY.values()
        for parameter in operator.parameters
        if parameter.kind != "rest"
        for word in parameter.annotation.split(" | ")
    }
    assert words - set(documentation.MEANINGS) == set()


def test_an_operator_has_one_op_node() -> None:
    assert R.add.build((X, X)).op is R.add.op
    assert R.add.op.name == "relax.add"


def test_an_op_node_is_looked_up_by_its_name() -> None:
    assert lookup(Op("relax.nn.softmax")) is R.nn.softmax
    with pytest.raises(ArgumentError, match=r"there is no operator `relax.ad`") as caught:
        lookup(Op("relax.ad"))
    assert caught.value.help == "did you mean `relax.add`?"
    with pytest.raises(ArgumentError, match="there is no operator `zzzzzzzzzzz`") as caught:
        lookup(Op("zzzzzzzzzzz"))
    assert caught.value.help is None


def test_an_operator_cannot_be_defined_twice() -> None:
    with pytest.raises(InternalError, match=r"the operator `relax.add` is defined twice"):
        register(Operator("add", np.add, parameters=R.add.parameters))


def test_every_parameter_of_a_meaning_is_annotated() -> None:
    with pytest.raises(ArgumentError, match="`x` of `<lambda>` has no annotation"):
        Operator("test.plain", lambda x: x)


def test_an_operator_without_rule_gives_an_object() -> None:
    @op("test.plain")
    def plain(x: Tensor) -> Any:
        """Nothing."""

    try:
        call = Call(plain.op, (X,))
        assert isinstance(plain.infer(call, PlainContext()), ObjectStructInfo)
    finally:
        del REGISTRY["relax.test.plain"]


def test_an_operator_shows_its_name_help_and_signature() -> None:
    assert repr(R.nn.softmax) == "R.nn.softmax"
    assert R.nn.softmax.__name__ == "softmax"
    assert "without overflow" in str(R.nn.softmax.__doc__)
    assert list(inspect.signature(R.matmul).parameters) == ["x1", "x2", "out_dtype"]
    assert list(inspect.signature(R.add).parameters) == ["x1", "x2"]
    assert str(inspect.signature(R.sum)) == "(x, axis=None, keepdims=False)"
    assert str(inspect.signature(R.print)) == "(*values, format='')"


def test_an_operator_is_itself_after_a_copy() -> None:
    assert copy.deepcopy(R.add) is R.add
    assert pickle.loads(pickle.dumps(R.add)) is R.add


def test_equal_calls_share_their_default_attributes() -> None:
    assert R.sum.build((X,)).attrs is R.sum.build((X,)).attrs
    assert R.add.build((X, X)).attrs is None


def test_all_attributes_are_stored() -> None:
    assert R.nn.softmax.build((X,)).attrs == {"axis": -1}
    assert R.nn.rms_norm.build((X, X)).attrs == {"axes": (-1,), "epsilon": 1e-5}


def test_attributes_of_a_call_made_by_hand_are_completed_and_converted() -> None:
    assert R.sum.attributes(Call(R.sum.op, (X,))) == {"axis": None, "keepdims": False}
    by_hand = Call(R.sum.op, (X,), {"axis": 1})
    assert R.sum.attributes(by_hand) == {"axis": (1,), "keepdims": False}
    info = R.sum.infer(by_hand, PlainContext())
    assert isinstance(info, TensorStructInfo)
    assert info.ndim == 1


def test_a_call_made_by_hand_may_miss_an_attribute() -> None:
    with pytest.raises(ArgumentError, match=r"`R.astype` needs `dtype`"):
        R.astype.infer(Call(R.astype.op, (X,)), PlainContext())
    with pytest.raises(ArgumentError, match=r"`R.nn.layer_norm` needs `axes`"):
        R.nn.layer_norm.attributes(Call(R.nn.layer_norm.op, (X, X, X), {"epsilon": 1.0}))


def test_a_call_made_by_hand_may_have_another_number_of_operands() -> None:
    with pytest.raises(ArgumentError, match=r"`R.add` needs `x2`"):
        R.add.infer(Call(R.add.op, (X,)), PlainContext())
    with pytest.raises(ArgumentError, match=r"`R.add` takes 2 operands, not 3"):
        R.add.infer(Call(R.add.op, (X, X, X)), PlainContext())
    with pytest.raises(ArgumentError, match=r"`R.shape_of` takes 1 operand, not 2"):
        R.shape_of.infer(Call(R.shape_of.op, (X, X)), PlainContext())
    with pytest.raises(ArgumentError, match=r"`R.reshape` needs `shape`"):
        R.reshape.infer(Call(R.reshape.op, (X,)), PlainContext())


def test_arguments_come_by_parameter() -> None:
    given = R.sum.arguments(R.sum.build((X, -1)))
    assert [(p.name, v) for p, v in given] == [("x", X), ("axis", (-1,)), ("keepdims", False)]


def test_results_described_come_as_one_or_several() -> None:
    info = TensorStructInfo((2,), "float32")
    one = R.call_pure_packed.build(("f",), {"sinfo_args": info})
    two = R.call_pure_packed.build(("f",), {"sinfo_args": [info, info]})
    assert R.call_pure_packed.arguments(one)[-1][1] is info
    assert R.call_pure_packed.arguments(two)[-1][1] == (info, info)


def test_most_operators_have_no_normal_form_of_their_own() -> None:
    call = R.add.build((X, X))
    assert R.add.normalize(call) is call


# ---------------------------------------------------------------- calling


def test_calling_with_an_expression_builds_a_call() -> None:
    call = R.add(X, 1)
    assert isinstance(call, Call)
    assert isinstance(call.args[1], relax.Constant)


def test_calling_with_arrays_computes() -> None:
    assert R.add(np.ones(2, np.float32), 1).tolist() == [2, 2]
    assert R.add(np.float32(1), np.float32(2)).tolist() == 3


def test_an_operand_error_reaches_the_user_as_a_diagnostic() -> None:
    with pytest.raises(DiagnosticError, match=r"`R.add` cannot take these operands") as caught:
        R.add(X, "a")
    assert caught.value.diagnostics[0].code == "RX0201"
    with pytest.raises(DiagnosticError, match=r"`R.matmul` cannot multiply these operands"):
        R.matmul(np.ones((2, 3)), np.ones((4, 5)))


def test_the_symbols_of_python_build_calls() -> None:
    def name(call: Any) -> str:
        return str(call.op.name)

    y = relax.Var("y", X.struct_info)
    assert name(X + y) == "relax.add"
    assert name(X - y) == "relax.subtract"
    assert name(X * 2) == "relax.multiply"
    assert name(1.0 / X) == "relax.divide"
    assert name(X // y) == "relax.floor_divide"
    assert name(X % y) == "relax.floor_mod"
    assert name(X**2) == "relax.power"
    assert name(X @ y) == "relax.matmul"
    assert name(-X) == "relax.negative"
    assert name(X < y) == "relax.less"
    assert name(X <= y) == "relax.less_equal"
    assert name(X > y) == "relax.greater"
    assert name(X >= y) == "relax.greater_equal"
    assert name(X.astype("int8")) == "relax.astype"
    assert (1.0 - X).args[1] is X  # type: ignore[attr-defined]


def test_every_symbol_means_one_operator() -> None:
    found = [o.symbol for o in REGISTRY.values() if o.symbol]
    assert len(found) == len(set(found))
    assert set(found) == {
        "+", "-", "*", "/", "//", "%", "**", "@", "<", "<=", ">", ">=", "==", "!=", "unary -",
        "astype", "&", "|", "^", "~", "<<", ">>", "abs", "and", "or", "not",
    }  # fmt: skip


def test_the_namespace_holds_every_operator_and_what_stands_for_others() -> None:
    named_rooms = {name: getattr(R, name) for name in namespace.__all__}
    rooms = {name: room for name, room in named_rooms.items() if isinstance(room, ModuleType)}
    offered = set(namespace.__all__) - set(rooms)
    offered |= {f"{room}.{name}" for room in rooms for name in rooms[room].__all__}
    named = {o.script_name for o in REGISTRY.values()}
    composites = {
        "call_packed", "call_py_func", "dist.call_tir", "dist.const", "linear", "masked_fill",
        "nn.attention_bias", "nn.embedding", "nn.relu6", "vm.call_tir_dyn",
    }  # fmt: skip
    assert offered == named | composites
    for name in offered:
        home = rooms.get(name.partition(".")[0], R)
        assert getattr(home, name.rpartition(".")[2]).script_name == name


def test_a_context_collects_deferred_checks() -> None:
    context = PlainContext()
    R.add.infer(R.add.build((tensor("n"), tensor("m"))), context)
    (deferred,) = context.deferred_checks
    assert (deferred.operand, deferred.relation) == ("x2", "broadcast")
    assert context.struct_info(X) is X.struct_info
    assert context.module is None


def test_extra_attributes_of_a_call_are_no_concern_of_the_rule() -> None:
    call = R.sum.build((X,)).replace(attrs=Attrs(axis=None, keepdims=False, note="mine"))
    assert isinstance(R.sum.infer(call, PlainContext()), TensorStructInfo)


def _counting() -> tuple[Operator, list[tuple[int, ...]]]:
    """An operator, and the attributes that were converted and looked at."""
    asked: list[tuple[int, ...]] = []

    def meaning(x: Tensor, axis: Axes) -> Tensor:
        return x

    operator = Operator("counting", meaning)

    @operator.attribute_rule
    def attributes(axis: tuple[int, ...]) -> None:
        asked.append(axis)

    @operator.infer_rule
    def infer(context: Any, x: TensorStructInfo, axis: tuple[int, ...]) -> TensorStructInfo:
        return TensorStructInfo(None, x.dtype, ndim=len(axis))

    return operator, asked


def test_attributes_are_converted_once_however_often_a_call_is_inferred() -> None:
    operator, asked = _counting()
    call = operator.build((X, [0, 1]))
    assert asked == [(0, 1)]
    for _ in range(3):
        info = operator.infer(call, PlainContext())
        assert isinstance(info, TensorStructInfo)
        assert info.ndim == 2
    assert asked == [(0, 1)]
    by_hand = Call(operator.op, (X,), {"axis": 1})
    assert [operator.attributes(by_hand) for _ in range(3)] == [{"axis": (1,)}] * 3
    assert asked == [(0, 1), (1,)]


def test_attributes_that_an_operator_read_are_its_own() -> None:
    (one, of_one), (other, of_other) = _counting(), _counting()
    call = one.build((X, 3))
    one.attributes(call)["axis"] = ()
    assert one.attributes(call) == {"axis": (3,)}
    assert other.attributes(call) == {"axis": (3,)}
    assert (of_one, of_other) == ([(3,)], [(3,)])


def test_converted_attributes_are_no_part_of_what_attributes_are() -> None:
    operator, _ = _counting()
    attrs = operator.build((X, [0, 1])).attrs
    assert attrs == Attrs(axis=(0, 1))
    assert pickle.loads(pickle.dumps(attrs)) == attrs == copy.deepcopy(attrs)
    assert repr(attrs) == "Attrs({'axis': (0, 1)})"
