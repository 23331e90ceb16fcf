"""What a program asks of its tensors: what is known of the answer, and the answer."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.arith import format_expr
from relaxscript.errors import OperandError
from relaxscript.ir import relax
from relaxscript.ir.struct_info import PrimStructInfo, TensorStructInfo
from relaxscript.op import Operator, PlainContext
from relaxscript.runtime import Prim

from .inference import OBJECT, dim, tensor

X = tensor("n", 3, "m")
UNKNOWN = relax.Var("u", TensorStructInfo(None, "void"))
RANKED = relax.Var("r", TensorStructInfo(None, "float32", None, 2))


def answer(operator: Operator, *args: object) -> tuple[str, str | None]:
    """The dtype of a scalar, and the value as far as it is known."""
    info = operator.infer(operator.build(args), PlainContext())
    assert isinstance(info, PrimStructInfo)
    return str(info.dtype), None if info.value is None else format_expr(info.value)


@pytest.mark.parametrize(
    ("dtype", "code", "bits"),
    [
        ("int8", 0, 8),
        ("int64", 0, 64),
        ("uint8", 1, 8),
        ("bool", 1, 1),
        ("float16", 2, 16),
        ("bfloat16", 4, 16),
        ("float8_e4m3fn", 10, 8),
        ("float8_e5m2", 12, 8),
    ],
)
def test_a_data_type_is_told_as_dlpack_tells_it(dtype: str, code: int, bits: int) -> None:
    x = tensor(2, dtype=dtype)
    assert answer(R.inspect.tensor_dtype_code, x) == ("uint8", str(code))
    assert answer(R.inspect.tensor_dtype_bits, x) == ("uint8", str(bits))
    assert answer(R.inspect.tensor_dtype_lanes, x) == ("uint16", "1")
    array = np.zeros(2, getattr(ml_dtypes, dtype, dtype))
    assert R.inspect.tensor_dtype_code(array) == Prim(code, "uint8")
    assert R.inspect.tensor_dtype_bits(array) == Prim(bits, "uint8")


def test_a_data_type_that_is_not_known_gives_a_value_that_is_not_known() -> None:
    assert answer(R.inspect.tensor_dtype_code, UNKNOWN) == ("uint8", None)
    assert answer(R.inspect.tensor_dtype_bits, UNKNOWN) == ("uint8", None)
    assert answer(R.inspect.tensor_dtype_lanes, UNKNOWN) == ("uint16", None)


def test_a_dimension_is_known_where_the_shape_is() -> None:
    assert answer(R.inspect.tensor_shape_i, X, 0) == ("int64", "n")
    assert answer(R.inspect.tensor_shape_i, X, 1) == ("int64", "3")
    assert answer(R.inspect.tensor_shape_i, X, -1) == ("int64", "m")
    assert answer(R.inspect.tensor_shape_i, RANKED, 1) == ("int64", None)
    assert answer(R.inspect.tensor_shape_i, UNKNOWN, 7) == ("int64", None)
    assert answer(R.inspect.tensor_shape_i, X, dim("i")) == ("int64", None)


def test_strides_are_those_of_a_compact_tensor_in_row_major_order() -> None:
    assert answer(R.inspect.tensor_stride_i, X, 0) == ("int64", "m * 3")
    assert answer(R.inspect.tensor_stride_i, X, 1) == ("int64", "m")
    assert answer(R.inspect.tensor_stride_i, X, -1) == ("int64", "1")
    array = np.zeros((2, 3, 4), "float32")
    for axis, stride in enumerate(array.strides):
        assert R.inspect.tensor_stride_i(array, axis) == stride // array.itemsize
    assert R.inspect.tensor_stride_i(array.T, 0) == 6, "a transposed view is a tensor of its own"


def test_a_tensor_begins_at_the_start_of_its_memory() -> None:
    assert answer(R.inspect.tensor_byte_offset, X) == ("uint64", "0")
    assert answer(R.inspect.tensor_elem_offset, X) == ("int64", "0")


def test_the_rank_is_known_where_it_is() -> None:
    assert answer(R.inspect.tensor_ndim, X) == ("int32", "3")
    assert answer(R.inspect.tensor_ndim, RANKED) == ("int32", "2")
    assert answer(R.inspect.tensor_ndim, UNKNOWN) == ("int32", None)


@pytest.mark.parametrize("operator", [R.inspect.tensor_shape_i, R.inspect.tensor_stride_i])
def test_an_axis_is_a_prim_value_of_integers_that_there_is(operator: Operator) -> None:
    def refused(*args: object) -> OperandError:
        with pytest.raises(OperandError) as caught:
            operator.infer(operator.build(args), PlainContext())
        return caught.value

    assert refused(X, 3).message == "there is no axis 3"
    assert refused(RANKED, -3).message == "there is no axis -3"
    assert refused(X, OBJECT).code == "RX0201"
    assert refused(X, X).fact == "is a tensor, not a scalar"
    error = refused(X, 1.0)
    assert (error.code, error.fact) == ("RX0202", "is a scalar of float64")
