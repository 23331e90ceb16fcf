"""Layouts of operands: a call whose operands have their axes in another order gives its result so.

The law is tested for every operator with a rule, on all of its samples. What a rule takes is tested
one by one: who wants every axis where it was obeys the law, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relaxscript.ir import relax
from relaxscript.ir.relax import Call, Expr
from relaxscript.ir.struct_info import TensorStructInfo, TupleStructInfo
from relaxscript.op import REGISTRY, Operator, PlainContext
from relaxscript.opdef.layout import ConvertedCall, convert_layout, order_to
from relaxscript.script import relax as R

from .sampling import Sample, samples

WITH_LAYOUT_RULE = [o for o in REGISTRY.values() if "layout" in o.rules]


def orders_of(info: Any, drawn: Callable[[int], Any]) -> Any:
    """An order for each tensor of a value."""
    if isinstance(info, TupleStructInfo):
        return tuple(orders_of(inner, drawn) for inner in info.fields)
    return tuple(map(int, drawn(info.ndim))) if isinstance(info, TensorStructInfo) else None


def in_order(value: Any, orders: Any) -> Any:
    """A value with the axes of each tensor in another order."""
    if orders is None:
        return value
    if type(value) is tuple:
        return tuple(in_order(inner, own) for inner, own in zip(value, orders, strict=True))
    return np.transpose(value, orders).copy()


def in_order_expr(expr: Expr, orders: Any, values: dict[relax.Var, Any], old: Any) -> Expr:
    """An operand with its axes in another order: new variables, and what they hold."""
    if isinstance(expr, relax.Tuple):
        pairs = zip(expr.fields, orders, strict=True)
        return relax.Tuple([in_order_expr(e, own, values, old) for e, own in pairs])
    if not isinstance(expr, relax.Var) or orders is None:
        if isinstance(expr, relax.Var):
            values[expr] = old[expr]
        return expr
    info = expr.struct_info
    assert isinstance(info, TensorStructInfo)
    assert info.dims is not None
    var = relax.Var(expr.name, TensorStructInfo([info.dims[a] for a in orders], info.dtype))
    values[var] = in_order(old[expr], orders)
    return var


def converted(sample: Sample, orders: Any) -> tuple[Sample, Any] | None:
    """A sample with operands in the orders that a rule takes, and the order of its result."""
    made = convert_layout(sample.call, orders, PlainContext())
    if made is None:
        return None
    values: dict[relax.Var, Any] = {}
    args = [
        in_order_expr(arg, own, values, sample.values)
        for arg, own in zip(made.call.args, made.input_layouts)
    ]
    return Sample(sample.operator, made.call.replace(args=tuple(args)), values), made.output_layouts


@pytest.mark.parametrize("operator", WITH_LAYOUT_RULE, ids=repr)
def test_a_call_in_another_layout_gives_its_result_in_it(
    operator: Operator, rng: np.random.Generator
) -> None:
    tried = 0
    for sample in samples(operator, ("float32", "int64", "bool")):
        infos = [PlainContext().struct_info(arg) for arg in sample.call.args]
        found = converted(sample, [orders_of(info, rng.permutation) for info in infos])
        if found is None:
            continue
        tried += 1
        other, order = found
        assert orders_of(other.infer(), range) is not None, str(sample)
        expected, result = in_order(sample.evaluate(), order), other.evaluate()
        flat = (result, expected) if type(result) is tuple else ((result,), (expected,))
        for one, wanted in zip(*flat, strict=True):
            assert (one.shape, one.dtype) == (wanted.shape, wanted.dtype), str(sample)
            np.testing.assert_allclose(one, wanted, rtol=2e-5, atol=1e-5, err_msg=str(sample))
    assert tried


# ---------------------------------------------------------------- what rules take


NHWC, NCHW = (0, 2, 3, 1), (0, 3, 1, 2)
X = relax.Var("x", TensorStructInfo((2, 3, 4, 5), "float32"))
W = relax.Var("w", TensorStructInfo((6, 3, 2, 2), "float32"))
C = relax.Var("c", TensorStructInfo((3,), "float32"))


def asked(call: Any, *orders: Any, desired: tuple[str, ...] = ()) -> ConvertedCall:
    assert isinstance(call, Call)
    others = [None] * (len(call.args) - len(orders))
    made = convert_layout(call, [*orders, *others], PlainContext(), desired)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("call", "attributes"),
    [
        (R.nn.relu(X), {}),
        (R.nn.softmax(X, axis=1), {"axis": 3}),
        (R.nn.group_norm(X, C, C, 3, 1, [2, 3]), {"channel_axis": 3, "axes": (1, 2)}),
        (R.sum(X, [1, 3], keepdims=True), {"axis": (3, 2)}),
        (R.concat([X, X], axis=1), {"axis": 3}),
        (R.nn.max_pool2d(X), {"layout": "NHWC", "out_layout": "NHWC"}),
        (R.nn.conv2d(X, W), {"data_layout": "NHWC", "out_layout": "NHWC"}),
    ],
)
def test_an_order_of_axes_is_taken_and_given_on(call, attributes):
    made = asked(call, (NHWC, None) if isinstance(call.args[0], relax.Tuple) else NHWC)
    assert made.output_layouts == NHWC
    assert {name: made.call.attrs[name] for name in attributes} == attributes


def test_axes_that_are_gone_are_gone_from_the_order():
    assert asked(R.mean(X, [2, 3]), NHWC).output_layouts == (0, 1)
    assert asked(R.mean(X, [0]), NHWC).output_layouts == (1, 2, 0)


def test_elements_that_are_counted_in_their_order_keep_it():
    for call in (R.argmax(X), R.cumsum(X)):
        made = asked(call, NHWC)
        assert (made.call.attrs, made.input_layouts) == (call.attrs, ((0, 1, 2, 3),))
    made = asked(R.argmax(X, 1), NHWC)
    assert (made.call.attrs["axis"], made.input_layouts, made.output_layouts) == (
        3,
        (NHWC,),
        (0, 1, 2),
    )


def test_a_new_axis_stays_where_it_is_wanted():
    made = asked(R.stack([X, X], axis=1), (NHWC, NHWC))
    assert (made.call.attrs["axis"], made.output_layouts) == (1, (0, 1, 3, 4, 2))


def test_transposing_takes_any_order_and_gives_the_plain_one():
    made = asked(R.permute_dims(X, [0, 2, 3, 1]), NHWC)
    assert (made.output_layouts, made.call.attrs["axes"]) == ((0, 1, 2, 3), (0, 1, 2, 3))


def test_an_operand_of_less_axes_follows_where_it_can():
    bias = relax.Var("b", TensorStructInfo((3, 1, 1), "float32"))
    made = asked(R.add(X, bias), NHWC, (0, 1, 2))
    assert (made.input_layouts, made.output_layouts) == ((NHWC, (1, 2, 0)), NHWC)
    made = asked(R.add(X, bias), (1, 0, 2, 3), (0, 1, 2))
    assert (made.input_layouts, made.output_layouts) == (((0, 1, 2, 3), (0, 1, 2)), (0, 1, 2, 3))
    rows = relax.Var("r", TensorStructInfo((4, 5), "float32"))
    made = asked(R.add(X, rows), (1, 0, 3, 2), (0, 1))
    assert (made.input_layouts, made.output_layouts) == (((1, 0, 3, 2), (1, 0)), (1, 0, 3, 2))


def test_layouts_that_are_asked_for_are_wanted_of_the_operands():
    made = asked(R.nn.conv2d(X, W), desired=("NHWC", "OHWI"))
    assert (made.input_layouts, made.output_layouts) == ((NHWC, (0, 2, 3, 1)), NHWC)
    assert made.call.attrs["kernel_layout"] == "OHWI"
    made = asked(R.nn.conv2d(X, W), desired=("NHWC", "OHWI", "NCHW"))
    assert (made.input_layouts[0], made.output_layouts) == (NHWC, (0, 1, 2, 3))


def test_packed_layouts_are_no_order_of_axes():
    assert order_to("NCHW", "NCHW16c") is None
    made = asked(R.nn.conv2d(X, W), NCHW, desired=("NCHW4c", "OIHW"))
    assert (made.input_layouts, made.output_layouts) == (((0, 1, 2, 3), (0, 1, 2, 3)), (0, 1, 2, 3))
    assert made.call.attrs["data_layout"] == "NCHW"


def test_a_call_of_unknown_rank_or_without_a_rule_is_left():
    unknown = relax.Var("u", TensorStructInfo(None, "float32"))
    assert convert_layout(R.nn.relu(unknown), [None], PlainContext()) is None
    assert convert_layout(R.flatten(X), [NHWC, None], PlainContext()) is None
