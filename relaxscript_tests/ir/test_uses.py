"""What is done with a value that it is not for."""

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import structural_equal
from relaxscript.ir.relax import Call, TupleGetItem, Var
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)

X = Var("x", TensorStructInfo((2, 3), "float32"))
PAIR = Var("pair", TupleStructInfo([X.struct_info, X.struct_info]))


def test_a_scalar_is_not_called():
    with pytest.raises(ValueError, match="only a function can be called, and `v` is a scalar") as e:
        Call(Var("v", PrimStructInfo("int64")), [X])
    assert isinstance(e.value, DiagnosticError)
    assert e.value.diagnostics[0].span.filename == __file__


def test_a_tuple_is_taken_apart():
    first, second = PAIR
    assert structural_equal(first, TupleGetItem(PAIR, 0))
    assert structural_equal(second, TupleGetItem(PAIR, 1))
    with pytest.raises(TypeError, match="cannot be iterated while the program is being built"):
        list(X)
