"""Composite operators written out: what a rule is asked, and what is left alone."""

from __future__ import annotations

from relaxscript.arith import YES, prove_equal
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import Constant, GlobalVar, Tuple, Var
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo
from relaxscript.op.binary import add
from relaxscript.op.calls import call_packed
from relaxscript.op.nn.loss import dropout
from relaxscript.op.nn.normalization import layer_norm
from relaxscript.opdef.decomposition import DecompositionContext, decompose, float_dims


def tensor(name, *shape, dtype="float32"):
    return Var(name, TensorStructInfo(shape, dtype))


def context(steps, **options):
    """A context whose steps are kept in a list."""

    def emit(made):
        steps.append(made)
        return Var(f"lv{len(steps)}", TensorStructInfo((2, 3), "float32"))

    said = {"training": False, "keep_training": False, "may_share": True, **options}
    return DecompositionContext(
        emit, lambda value, info: None, lambda value: value.struct_info,
        lambda a, b: prove_equal(a, b) is YES, **said,
    )  # fmt: skip


X = tensor("x", 2, 3)


def test_steps_are_bound_and_the_value_is_given():
    steps = []
    made = decompose(context(steps), dropout(X, 0.5))
    assert isinstance(made, Tuple)
    assert made.fields[0] is X
    assert [step.op.name for step in steps] == ["relax.ones_like"]


def test_a_rule_may_leave_a_call_as_it_is():
    steps = []
    g = tensor("g", 3)
    assert decompose(context(steps, training=True), dropout(X, 0.5)) is None
    assert decompose(context(steps, may_share=False), dropout(X, 0.5)) is None
    assert decompose(context(steps), layer_norm(X, g, g, axes=[-1])) is None
    assert steps == []
    assert decompose(context(steps, training=True), layer_norm(X, g, g, axes=[-1])) is not None


def test_what_has_no_rule_is_left_as_it_is():
    for value in (add(X, X), X, Constant(1.0), call_packed("f", X, sinfo_args=X.struct_info)):
        assert decompose(context([]), value) is None
    assert decompose(context([]), GlobalVar("f")) is None


def test_dimensions_are_those_of_floats():
    n, m = PrimVar("n", "int64"), PrimVar("m", "int64")
    x = tensor("x", n, 3)
    assert context([]).has(x, x.struct_info.dims)
    assert not context([]).has(x, tensor("y", m, 3).struct_info.dims)
    assert not context([]).has(x, x.struct_info.dims[:1])
    assert float_dims(tensor("i", 2, dtype="int32")) is None
    assert float_dims(Var("s", ShapeStructInfo((2,)))) is None
    assert not context([]).has(tensor("i", 2, dtype="int32"), [])
