"""Arguments of Python functions as expressions."""

from __future__ import annotations

from typing import List, Optional  # noqa: UP035

import numpy as np
import pytest

from relaxscript import DiagnosticError, relax, tir
from relaxscript.ir import structural_equal
from relaxscript.relax import Expr, args_converter, convert_to_expr
from relaxscript.script import relax as R


def test_python_values_are_converted_to_expressions():
    x, n = relax.Var("x", R.Tensor((2,), "float32")), tir.Var("n", "int64")
    assert convert_to_expr(x) is x
    for value, kind in (
        (1, relax.PrimValue), (1.5, relax.PrimValue), (n, relax.PrimValue), ("s", relax.StringImm),
        ((x, 1), relax.Tuple), ([], relax.Tuple), (np.ones(2), relax.Constant),
    ):  # fmt: skip
        assert isinstance(convert_to_expr(value), kind)
    assert structural_equal(convert_to_expr([x, n]), relax.Tuple((x, relax.PrimValue(n))))
    with pytest.raises(TypeError, match="is not a Relax expression"):
        convert_to_expr(object())


def test_parameters_that_are_named_are_converted():
    @args_converter.to_expr("a", "c")
    def f(a, b, c=None, *, d=1):
        return a, b, c, d

    a, b, c, d = f(1, 2)
    assert isinstance(a, relax.PrimValue)
    assert (b, c, d) == (2, None, 1)
    assert isinstance(f(1, b=2, c="t")[2], relax.StringImm)
    assert f.__name__ == "f"


def test_lists_of_parameters_are_converted_element_by_element():
    @args_converter.to_list_expr("a", "rest")
    def f(a, *rest):
        return a, rest

    a, rest = f([1, "s"], [2], [])
    assert [type(e) for e in a] == [relax.PrimValue, relax.StringImm]
    assert [[type(e) for e in each] for each in rest] == [[relax.PrimValue], []]

    @args_converter.convert(args_to_expr=["a"], args_to_list_expr=["b"])
    def g(a, b, **named):
        return a, b

    a, b = g(1, (2, 3))
    assert isinstance(a, relax.PrimValue)
    assert [e.value.value for e in b] == [2, 3]


def test_annotations_say_what_is_converted():
    @args_converter.auto
    def f(a: Expr, b: Optional[Expr], c: List[Expr], d: relax.Expr | None, e: int, *f: Expr):  # noqa: UP006, UP045
        return a, b, c, d, e, f

    a, b, c, d, e, rest = f(1, None, [2], 3, 4, 5)
    assert isinstance(a, relax.PrimValue)
    assert b is None
    assert isinstance(c[0], relax.PrimValue)
    assert isinstance(d, relax.PrimValue)
    assert e == 4
    assert isinstance(rest[0], relax.PrimValue)


def test_a_name_that_is_no_parameter_is_refused():
    with pytest.raises(DiagnosticError) as raised:

        @args_converter.to_expr("weigth")
        def f(weight):
            return weight

    assert raised.value.diagnostics[0].message == "the function has no parameter `weigth`"
    assert raised.value.diagnostics[0].help == "did you mean `weight`?"


def test_a_name_that_stands_in_both_lists_is_refused():
    with pytest.raises(DiagnosticError, match="`a` cannot be both an expression and a list"):

        @args_converter.convert(["a"], ["a"])
        def f(a):
            return a


def test_a_shape_is_made_of_a_list_or_tuple_of_dimensions():
    n = tir.Var("n", "int64")
    assert relax.expr.make_shape([n, 4]).values[0] is n
    assert str(relax.expr.make_shape((2, 3))) == "R.shape([2, 3])"
    with pytest.raises(TypeError, match="`shape` is a list or tuple of dimensions, not 4"):
        relax.expr.make_shape(4)
