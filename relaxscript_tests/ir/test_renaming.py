"""Copies of functions over variables of their own."""

from __future__ import annotations

import pytest

from relaxscript.ir import structural_equal
from relaxscript.ir.relax import Function, SeqExpr, Tuple, Var
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import bound_vars
from relaxscript.script import from_source

PROGRAM = """
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(ndim=1), c: R.Tensor((), "bool")):
    n, m = T.int64(), T.int64()
    z = R.match_cast(y, R.Tensor((m,), "float32"))

    @R.function
    def local(a: R.Tensor((n,)), b: R.Tensor(("k",), "float32")) -> R.Tensor((n,)):
        k = T.int64()
        r = local(a, b)
        return r

    if c:
        w = local(x, z)
    else:
        w = R.exp(x)
    return (w, z)
"""


def test_every_variable_is_new_and_the_program_the_same():
    func = from_source(PROGRAM)
    made = copy_with_new_vars(func)
    assert structural_equal(made, func)
    before, after = bound_vars(func), bound_vars(made)
    assert len(before) == len(after) > 10
    assert set(before).isdisjoint(after)
    assert [type(v) for v in before] == [type(v) for v in after]
    assert made.script() == func.script()


def test_variables_keep_the_place_where_they_are_declared():
    func = from_source(PROGRAM)
    made = copy_with_new_vars(func)
    assert [p.span for p in made.params] == [p.span for p in func.params]
    assert made.params[0].span is not None


def test_what_is_not_defined_inside_stays_what_it_is():
    x, outer = (Var(name, TensorStructInfo((2,), "float32")) for name in ("x", "outer"))
    made = copy_with_new_vars(Function([x], SeqExpr([], Tuple([x, outer]))))
    assert made.body.body.fields == (made.params[0], outer)
    assert made.params[0] is not x


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="must be a Function, not int"):
        copy_with_new_vars(3)
