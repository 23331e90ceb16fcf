"""What definitions of operators say under TVM's keys."""

from __future__ import annotations

import pytest

from relaxscript.builder import BlockBuilder
from relaxscript.ir import relax
from relaxscript.ir.relax import Op
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op import namespace
from relaxscript.opdef.operator import REGISTRY
from relaxscript.script import relax as R

assert namespace

X = relax.Var("x", TensorStructInfo((2, 3), "float32"))


def test_every_operator_says_its_purity_and_its_part_in_mixed_precision():
    for name, operator in REGISTRY.items():
        op = Op.get(name)
        assert op.get_attr("FPurity") is operator.pure
        assert op.get_attr("TMixedPrecisionPolicy") in (0, 1, 2)
        assert op.has_attr("FInferStructInfo") is operator.has_rule
        assert op.has_attr("FLegalize") is ("compute" in operator.rules)
        assert op.has_attr("FNormalize") is ("normalize" in operator.rules)
        assert op.has_attr("FInferMixedPrecision") is ("mixed_precision" in operator.rules)
    assert Op.get("relax.print").get_attr("FPurity") is False
    assert [
        Op.get(f"relax.{name}").get_attr("TMixedPrecisionPolicy")
        for name in ("matmul", "add", "nn.softmax")
    ] == [0, 1, 2]


def test_the_result_of_a_call_is_inferred_with_a_builder():
    infer = Op.get("relax.add").get_attr("FInferStructInfo")
    builder = BlockBuilder()
    with builder.function("main", [X]):
        assert str(infer(R.add(X, X), builder)) == 'R.Tensor((2, 3), "float32")'
        builder.emit_func_output(X)


def test_a_call_is_legalised_with_a_builder():
    builder = BlockBuilder()
    with builder.function("main", [X]):
        y = builder.emit(Op.get("relax.exp").get_attr("FLegalize")(builder, R.exp(X)))
        builder.emit_func_output(y)
    text = builder.get().script()
    assert "R.call_tir(cls.exp, (x,)" in text
    assert "T.exp(" in text


def test_a_call_is_normalised():
    call = R.call_tir(relax.GlobalVar("f"), X, TensorStructInfo((2, 3), "float32"))
    normal = Op.get("relax.call_tir").get_attr("FNormalize")(None, call)
    assert isinstance(normal.args[1], relax.Tuple)


@pytest.mark.parametrize(
    ("name", "effect"), [("exp", 1), ("ret", 6), ("call_extern", 3), ("tvm_storage_sync", 3)]
)
def test_scalar_operators_say_their_effect_and_name(name: str, effect: int):
    op = Op.get(f"tir.{name}")
    assert op.get_attr("TCallEffectKind") == effect
    assert op.get_attr("TScriptPrinterName") == name
    assert not op.has_attr("FPurity")
