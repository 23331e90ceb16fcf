"""Layouts of operands: a call whose operands have their axes in another order gives its result so.

The law is tested for every operator with a rule, on all of its samples. What a rule takes is tested
one by one: who wants every axis where it was obeys the law, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import OperandError
from relaxscript.ir import relax
from relaxscript.ir.relax import Call, Expr
from relaxscript.ir.struct_info import TensorStructInfo, TupleStructInfo
from relaxscript.op import REGISTRY, Operator, PlainContext
from relaxscript.op.nn.layouts import Layout
from relaxscript.opdef.layout import ConvertedCall, convert_layout, index_map_between, order_to
from relaxscript.script import relax as R, tir as T
from relaxscript.sinfo.axis_order import AxisOrder

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
    if isinstance(orders, AxisOrder):
        return Layout(*orders).pack(value).copy()
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
    values_in_order = in_order(old[expr], orders)
    var = relax.Var(expr.name, TensorStructInfo(values_in_order.shape, info.dtype))
    values[var] = values_in_order
    return var


def converted(
    sample: Sample, orders: Any, desired: tuple[str, ...] = ()
) -> tuple[Sample, Any] | None:
    """A sample with operands in the orders that a rule takes, and the order of its result."""
    made = convert_layout(sample.call, orders, PlainContext(), desired)
    if made is None:
        return None
    values: dict[relax.Var, Any] = {}
    args = [
        in_order_expr(arg, own, values, sample.values)
        for arg, own in zip(made.call.args, made.input_layouts)
    ]
    return Sample(sample.operator, made.call.replace(args=tuple(args)), values), made.output_layouts


def packed_orders_of(info: Any, rng: np.random.Generator) -> Any:
    """An order for each tensor of a value, with an axis packed where one can be."""
    if isinstance(info, TupleStructInfo):
        return tuple(packed_orders_of(inner, rng) for inner in info.fields)
    if not isinstance(info, TensorStructInfo):
        return None
    letters = "ABCDEFGH"[: info.ndim]
    sizes = [int(dim) for dim in info.dims or ()]  # type: ignore[call-overload]
    pairs = [(a, by) for a, n in enumerate(sizes) for by in (2, 3) if n and n % by == 0]
    parts = list(rng.permutation(list(letters)))
    if pairs:
        axis, by = pairs[rng.integers(len(pairs))]
        place = parts.index(letters[axis])
        parts.insert(int(rng.integers(place + 1, len(parts) + 1)), f"{by}{letters[axis].lower()}")
    return order_to(letters, "".join(parts))


def layouts_of(sample: Sample, rng: np.random.Generator) -> tuple[str, ...]:
    """Layouts that a call could be asked for; none where its operator has no such attributes."""
    attrs = sample.operator.attributes(sample.call)
    names = [name for name in ("data_layout", "layout", "kernel_layout") if name in attrs]
    made = []
    for name in names:
        letters = [letter for letter in attrs[name] if letter.isupper()]
        parts = list(rng.permutation(letters))
        if rng.integers(2):
            channels = letters[rng.integers(2)].lower()
            parts.append(f"{rng.choice((1, 2, 3))}{channels}")
        made.append("".join(parts))
    if "out_layout" in attrs and rng.integers(2):
        made.append("".join(rng.permutation([c for c in attrs[names[0]] if c.isupper()])))
    return tuple(made)


def check_samples(operator: Operator, rng: np.random.Generator, drawn: Any, desired: Any) -> int:
    """Compare each sample with what it becomes; gives how many have some axes elsewhere."""
    moved = 0
    for sample in samples(operator, ("float32", "int64", "bool")):
        infos = [PlainContext().struct_info(arg) for arg in sample.call.args]
        found = converted(sample, [drawn(info) for info in infos], desired(sample))
        if found is None:
            continue
        other, order = found
        moved += other.call.args != sample.call.args
        assert orders_of(other.infer(), range) is not None, str(sample)
        expected, result = in_order(sample.evaluate(), order), other.evaluate()
        is_one = type(result) is not tuple
        flat = ((result,), (expected,)) if is_one else (result, expected)
        for one, wanted in zip(*flat, strict=True):
            assert (one.shape, one.dtype) == (wanted.shape, wanted.dtype), str(sample)
            np.testing.assert_allclose(one, wanted, rtol=2e-5, atol=1e-5, err_msg=str(sample))
    return moved


every_operator_with_rule = pytest.mark.parametrize("operator", WITH_LAYOUT_RULE, ids=repr)


@every_operator_with_rule
def test_a_call_in_another_layout_gives_its_result_in_it(
    operator: Operator, rng: np.random.Generator
) -> None:
    assert check_samples(
        operator, rng, lambda info: orders_of(info, rng.permutation), lambda sample: ()
    )


@every_operator_with_rule
def test_a_call_on_packed_operands_gives_its_result_as_it_says(
    operator: Operator, rng: np.random.Generator
) -> None:
    for _ in range(3):
        check_samples(operator, rng, lambda info: packed_orders_of(info, rng), lambda sample: ())


@every_operator_with_rule
def test_a_call_in_the_layouts_that_are_asked_for_gives_its_result_in_them(
    operator: Operator, rng: np.random.Generator
) -> None:
    for _ in range(3):
        check_samples(
            operator, rng, lambda info: orders_of(info, range), lambda s: layouts_of(s, rng)
        )


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
        (R.sum(X, [1, 3], keepdims=True), {"axis": (2, 3)}),
        (R.concat([X, X], axis=1), {"axis": 3}),
        (R.nn.max_pool2d(X), {"layout": "NHWC", "out_layout": "NHWC"}),
        (R.nn.pad(X, (1, 2, 3, 4, 5, 6, 7, 8)), {"pad_width": (1, 2, 5, 6, 7, 8, 3, 4)}),
        (R.repeat(X, 2, axis=1), {"axis": 3}),
        (R.tile(X, (2, 1, 3)), {"repeats": (1, 1, 3, 2)}),
        (R.quantize(X, R.const(0.5), R.const(1, "int8"), axis=1), {"axis": 3}),
        (R.zeros_like(X, "int32"), {"dtype": "int32"}),
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


def test_what_is_taken_along_an_axis_has_the_axes_of_the_indices_there():
    indices = relax.Var("i", TensorStructInfo((7, 8), "int64"))
    made = asked(R.take(X, indices, axis=1), NHWC)
    assert (made.call.attrs["axis"], made.output_layouts) == (3, (0, 3, 4, 1, 2))
    assert asked(R.take(X, indices, axis=-1), NHWC).output_layouts == (0, 2, 3, 4, 1)


def test_elements_that_are_counted_in_their_order_keep_it():
    for call in (R.argmax(X), R.cumsum(X), R.repeat(X, 2)):
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


def test_layouts_that_pack_more_than_there_is_are_not_taken():
    made = asked(R.nn.conv2d(X, W), NCHW, desired=("NCHW4c", "OIHW"))
    assert (made.input_layouts[0], made.output_layouts) == (NCHW, NCHW)
    assert made.call.attrs["data_layout"] == "NWCH"


def test_a_call_of_unknown_rank_or_without_a_rule_is_left():
    unknown = relax.Var("u", TensorStructInfo(None, "float32"))
    assert convert_layout(R.nn.relu(unknown), [None], PlainContext()) is None
    assert convert_layout(R.flatten(X), [NHWC, None], PlainContext()) is None


# ---------------------------------------------------------------- packed axes


def packed(letters: str, layout: str) -> Any:
    order = order_to(letters, layout)
    assert isinstance(order, AxisOrder)
    return order


P = relax.Var("p", TensorStructInfo((2, 8, 4, 6), "float32"))
NCHW4C = packed("NCHW", "NCHW4c")


@pytest.mark.parametrize(
    ("call", "attributes", "result"),
    [
        (R.nn.relu(P), {}, NCHW4C),
        (R.nn.softmax(P, axis=2), {"axis": 2}, NCHW4C),
        (R.sum(P, [2, 3]), {"axis": (2, 3)}, packed("AB", "AB4b")),
        (R.sum(P, [1], keepdims=True), {"axis": (1, 4)}, packed("NCHW", "NCHW1c")),
        (R.sum(P, [1]), {"axis": (1, 4)}, (0, 1, 2)),
        (R.nn.max_pool2d(P), {"layout": "NCHW4c", "out_layout": "NCHW4c"}, NCHW4C),
        (R.nn.softmax(P, axis=1), {"axis": 1}, (0, 1, 2, 3)),  # what lies along C is one row
        (R.permute_dims(P, [0, 2, 3, 1]), {"axes": (0, 2, 3, 1)}, (0, 1, 2, 3)),
    ],
)
def test_packed_axes_are_taken_where_the_rule_takes_them(call, attributes, result):
    made = asked(call, NCHW4C)
    assert made.output_layouts == result
    assert {name: made.call.attrs[name] for name in attributes} == attributes


def test_what_broadcasts_along_a_packed_axis_is_packed_by_one():
    bias = relax.Var("b", TensorStructInfo((8, 1, 1), "float32"))
    one = relax.Var("o", TensorStructInfo((1, 1, 6), "float32"))
    three = relax.Var("t", TensorStructInfo((2, "c", 4, 6), "float32"))
    assert asked(R.add(P, bias), NCHW4C).input_layouts[1] == packed("CHW", "CHW4c")
    assert asked(R.add(P, one), NCHW4C).input_layouts[1] == packed("CHW", "CHW1c")
    made = asked(R.maximum(P, three), NCHW4C)  # `c` may be no multiple of 4
    assert (made.input_layouts, made.output_layouts) == (((0, 1, 2, 3),) * 2, (0, 1, 2, 3))


def test_tensors_are_joined_in_whole_packs():
    four = relax.Var("f", TensorStructInfo((2, 4, 4, 6), "float32"))
    one = relax.Var("o", TensorStructInfo((2, 1, 4, 6), "float32"))
    made = asked(R.concat([P, four], axis=1), (NCHW4C, None))
    assert (made.input_layouts, made.output_layouts) == (((NCHW4C, NCHW4C),), NCHW4C)
    assert asked(R.concat([P, one], axis=1), (NCHW4C, None)).output_layouts == (0, 1, 2, 3)
    made = asked(R.concat([C, C], axis=None), (packed("C", "C3c"), None))
    assert (made.input_layouts, made.output_layouts) == ((((0,), (0,)),), (0,))


def test_sizes_that_may_be_0_are_not_packed():
    for size in (0, "n", "4 * n"):
        n = T.int64()
        given = {"n": n, "4 * n": n * 4}.get(size, size)
        x = relax.Var("x", TensorStructInfo((2, given, 4, 6), "float32"))
        made = asked(R.nn.max_pool2d(x), NHWC, desired=("NCHW4c",))
        assert made.input_layouts == (NHWC,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("NCHW", "NHWC"),
        ("NCHW", "NCHW4c"),
        ("NCHW4c", "NHWC"),
        ("N2cCHW", "NHWC"),
        ("CHWN", "NC4cHW"),
    ],
)
def test_the_index_map_between_orders_moves_each_element(old, new, rng):
    orders = [order_to("NCHW", layout) for layout in (old, new)]
    plain = rng.normal(size=(2, 8, 4, 6))
    there, here = (in_order(plain, order) for order in orders)
    np.testing.assert_array_equal(index_map_between(*orders).map_ndarray(there), here)


def test_a_layout_of_other_axes_is_refused():
    for desired in (("NDHW", "OIHW"), ("NHWC", "OHW"), ("NHWC", "OIHW", "4cNHW")):
        with pytest.raises(OperandError, match="names the axes"):
            asked(R.nn.conv2d(X, W), desired=desired)
