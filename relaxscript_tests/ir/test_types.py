"""Traditional types as data."""

from __future__ import annotations

import pickle

import pytest

import relaxscript as rx
from relaxscript.ir import PrimType, structural_equal
from relaxscript.ir.types import PointerType

PAIR = rx.TupleType([rx.TensorType(2, "int8"), PrimType("int64")])
EVERY = [
    rx.TensorType(), rx.TensorType(2), rx.TensorType(2, "int8"), rx.TensorType(2, None),
    rx.ShapeType(), rx.ShapeType(2), PrimType("int64"), PAIR, rx.TupleType([]), rx.ObjectType(),
    rx.PackedFuncType(), rx.FuncType([PAIR], rx.ObjectType()), rx.FuncType([], PAIR),
    PointerType(PrimType("int8")), PointerType(PrimType("int8"), "shared"),
]  # fmt: skip


def test_types_are_equal_when_their_fields_are():
    for i, static in enumerate(EVERY):
        again = pickle.loads(pickle.dumps(static))
        assert again is not static
        assert again == static
        assert hash(again) == hash(static)
        assert structural_equal(again, static)
        assert all(static != other for other in EVERY[:i])
    assert rx.ObjectType() != "object"


def test_what_is_not_said_is_unknown():
    assert (rx.TensorType().ndim, rx.TensorType().dtype, rx.ShapeType().ndim) == (-1, "float32", -1)
    assert rx.TensorType(2, None).dtype == "void"
    assert rx.DynTensorType is rx.ty.TensorType is rx.TensorType


@pytest.mark.parametrize(
    ("static", "text"),
    [
        (rx.TensorType(2, "int8"), 'R.Tensor(dtype="int8", ndim=2)'),
        (rx.TensorType(-1, None), "R.Tensor"),
        (rx.ShapeType(2), "R.Shape(ndim=2)"),
        (PrimType("int64"), "T.int64"),
        (PAIR, 'R.Tuple(R.Tensor(dtype="int8", ndim=2), R.Prim("int64"))'),
        (rx.FuncType([rx.ShapeType()], rx.ObjectType()), "R.Callable((R.Shape,), R.Object)"),
        (rx.PackedFuncType(), "R.Callable"),
        (rx.ObjectType(), "R.Object"),
    ],
)
def test_a_type_prints_as_the_annotation_that_says_the_same(static, text):
    assert repr(static) == text


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: rx.TensorType(-2),
            ValueError,
            "`TensorType.ndim` is a number of dimensions, or -1: unknown; not -2",
        ),
        (lambda: rx.ShapeType(-2), ValueError, "`ShapeType.ndim` is a number of dimensions"),
        (lambda: rx.TensorType(2, "floaty"), ValueError, "`TensorType.dtype` cannot be str"),
        (lambda: rx.TupleType([3]), TypeError, "items are each a Type, but item 0 is int"),
        (lambda: rx.FuncType([], 3), TypeError, "`FuncType.ret_type` must be a Type, not int"),
    ],
)
def test_what_is_no_type_is_refused_by_the_name_of_the_field(make, error, message):
    with pytest.raises(error, match=message):
        make()
