"""Gradients where not all is known, and of what samples do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript import op
from relaxscript.builder import BlockBuilder
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.module import VDevice
from relaxscript.ir.relax import Call, Expr, PrimValue, Tuple, Var
from relaxscript.ir.struct_info import PrimStructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.opdef.gradient import gradients_of

from .differentiation import gradient_module, run

call_te = BlockBuilder().call_te
F4 = TensorStructInfo((4,), "float64")
x4, out4, grad4 = Var("x", F4), Var("out", F4), Var("grad", F4)
UNKNOWN = TensorStructInfo(None, "float64")
x, grad = Var("x", UNKNOWN), Var("grad", UNKNOWN)


def gradients(call: Call, values: Any) -> tuple[Any, ...]:
    """The gradients by the parameters, given those and the gradient of the result."""
    params = [arg for arg in call.args if isinstance(arg, Var)]
    module, _ = gradient_module(call, params, [Var("grad", call.struct_info)])
    return run(module, values)


def refused(call: Call, grad: Expr = grad4) -> OperandError:
    with pytest.raises(OperandError) as caught:
        gradients_of(call, out4, grad, call_te)
    return caught.value


def test_gradients_over_unknown_shapes_ask_for_them_when_they_run():
    row, matrix = np.array([1.0, 2.0, 4.0]), np.arange(6.0).reshape(2, 3)
    ones = np.ones((2, 3))
    by_row, by_matrix = gradients(op.multiply(Var("row", UNKNOWN), x), [row, matrix, ones])
    assert np.array_equal(by_row, matrix.sum(0))
    assert np.array_equal(by_matrix, np.broadcast_to(row, (2, 3)))
    (by_mean,) = gradients(op.mean(x), [matrix, np.array(3.0)])
    assert np.array_equal(by_mean, ones / 2)
    ranked = Var("x", TensorStructInfo(None, "float64", ndim=2))
    (by_variance,) = gradients(op.variance(ranked, [1]), [matrix, np.ones(2)])
    assert np.allclose(by_variance, [[-2 / 3, 0, 2 / 3]] * 2)
    (by_flat,) = gradients(op.flatten(x), [matrix, np.ones(6)])
    assert by_flat.shape == (2, 3)


def test_a_gradient_that_needs_the_rank_or_the_shape_says_so():
    error = refused(op.sum(x, [0]))
    assert (error.operand, error.fact) == ("x", "has a rank that is not known")
    assert error.message == "a gradient is written for operands of known rank"
    ranked = Var("x", TensorStructInfo(None, "float64", ndim=2))
    error = refused(op.repeat(ranked, 2, 0))
    assert (error.operand, error.fact) == ("data", "has a shape that is not known")


def test_equal_elements_share_the_gradient_of_the_largest():
    values = np.array([1.0, 3.0, 3.0, 2.0])
    assert np.array_equal(gradients(op.max(x4), [values, np.array(1.0)])[0], [0, 0.5, 0.5, 0])
    both = gradients(op.maximum(x4, Var("y", F4)), [values, values, np.ones(4)])
    assert np.array_equal(both[0] + both[1], np.ones(4))


@pytest.mark.parametrize("zeros", [[], [1], [1, 2], [3], [0, 3]])
def test_products_of_zeros_have_a_gradient(zeros):
    values = np.array([2.0, 3.0, 5.0, 7.0])
    values[zeros] = 0
    others = np.array([np.prod(np.delete(values, k)) for k in range(4)])
    assert np.array_equal(gradients(op.prod(x4), [values, np.array(1.0)])[0], others)
    running = np.array([0.5, -1.0, 2.0, 0.25])
    # By each element, the products of the others up to each that comes later.
    expected = [
        sum(running[k] * np.prod(np.delete(values[: k + 1], j)) for k in range(j, 4))
        for j in range(4)
    ]
    assert np.allclose(gradients(op.cumprod(x4), [values, running])[0], expected)
    places = Var("places", TensorStructInfo((3,), "int64"))
    factors = Var("factors", TensorStructInfo((3,), "float64"))
    put = op.scatter_elements(x4, places, factors, 0, "mul")
    for given in ([2.0, 3.0, 4.0], [0.0, 3.0, 4.0], [0.0, 0.0, 4.0]):
        _check_scatter(put, values, np.array([1, 1, 3]), np.array(given), running)


def _check_scatter(call: Call, data: Any, places: Any, factors: Any, grad: Any) -> None:
    by_data, by_factors = gradients(call, [data, places, factors, grad])
    for index in range(4):
        others = np.prod(factors[places == index])
        assert np.isclose(by_data[index], grad[index] * others)
    for index, place in enumerate(places):
        rest = np.delete(factors, index)[np.delete(places, index) == place]
        assert np.isclose(by_factors[index], grad[place] * data[place] * np.prod(rest))


def test_the_gradient_of_a_copy_is_on_the_device_of_the_original():
    device = VDevice("llvm", 1)
    there = Var("x", TensorStructInfo((4,), "float64", device))
    (found,) = gradients_of(op.to_vdevice(there, "llvm:0"), out4, grad4, call_te)
    assert found is not None
    assert found.struct_info.vdevice is device
    assert gradients_of(op.to_vdevice(x4, "llvm:0"), out4, grad4, call_te) == [grad4]
    pair = Tuple([x4, there])
    out = Var("out", TupleStructInfo([F4, F4]))
    (found,) = gradients_of(op.to_vdevice(pair, "llvm:0"), out, Tuple([grad4, grad4]), call_te)
    assert found is not None
    assert [info.vdevice for info in found.struct_info.fields] == [device, device]


def test_the_gradient_of_a_slice_needs_to_know_how_it_goes():
    later = Var("k", PrimStructInfo("int64"))
    one = PrimValue(1)
    error = refused(op.strided_slice(x4, [0], [one], [3], [later]))
    assert (error.operand, error.fact) == ("strides", "has a stride that is known only later")
    assert error.message == (
        "the gradient of a slice is written for axes and strides that are numbers"
    )
    error = refused(op.strided_slice(x4, [0], [later], [0], [-1]))
    assert error.fact == "turns round a slice whose bounds are known only later"
    assert error.message == (
        "the gradient of a slice in reverse is written for bounds that are expressions"
    )
    n = prim.Var("n", "int64")
    (found, *_) = gradients_of(op.strided_slice(x4, [0], [n], [0], [-1]), out4, grad4, call_te)
    assert found is not None


def test_sections_that_overlap_add_up_their_gradients():
    call = op.split(x4, [3, 1])
    fields = call.struct_info.fields
    module, _ = gradient_module(call, [x4], [Var(f"g{k}", info) for k, info in enumerate(fields)])
    (found,) = run(module, [np.arange(4.0), np.ones(3), np.ones(0), np.full(3, 10.0)])
    assert np.array_equal(found, [1, 11, 11, 10])


def test_scales_and_zero_points_have_gradients():
    params = [Var("x", TensorStructInfo((2, 3), "int8"))]
    params += [Var(name, TensorStructInfo((3,), "float64")) for name in ("scale", "zero")]
    call = op.dequantize(*params, 1, "float64")
    x, scale = np.arange(6, dtype="int8").reshape(2, 3), np.array([2.0, 3.0, 5.0])
    by_scale, by_zero = gradients(call, [x, scale, np.ones(3), np.ones((2, 3))])
    assert np.array_equal(by_scale, (x - 1.0).sum(0))
    assert np.array_equal(by_zero, -2 * scale)
    single = [params[0], *(Var(name, TensorStructInfo((), "float64")) for name in "sz")]
    call = op.dequantize(*single, 1, "float64")
    by_scale, by_zero = gradients(call, [x, np.array(2.0), np.array(1.0), np.ones((2, 3))])
    assert by_scale == (x - 1.0).sum()
    assert by_zero == -12


def test_the_gradient_by_a_tuple_that_a_variable_holds_is_a_tuple():
    pair = Var("pair", TupleStructInfo([F4, TensorStructInfo((2,), "float64")]))
    grad = Var("grad", TensorStructInfo((6,), "float64"))
    (found,) = gradients_of(op.concat(pair), Var("out", grad.struct_info), grad, call_te)
    assert found is not None
    assert structural_equal(found.struct_info, pair.struct_info)
