"""Scalar expressions become calls of PrimFuncs."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.script import from_source
from relaxscript.transform import ComputePrimValue
from relaxscript_tests.end_to_end.executors import every_executor, failure
from relaxscript_tests.transform.before_after import check

pytestmark = pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")

BEFORE = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()
        a = R.prim_value(n)
        b = R.prim_value(n * m + 1)
        c = R.prim_value(7)
        return (a, b, c)
"""

AFTER = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def compute_symbolic_expr(n: T.int64, m: T.int64) -> T.int64:
        T.func_attr({"tir.is_host_func": True})
        return n * m + T.int64(1)

    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        R.func_attr({"relax.force_pure": True})
        n = T.int64()
        m = T.int64()
        cls = M
        a = R.prim_value(n)
        v = R.prim_value(n)
        w = R.prim_value(m)
        b: R.Prim(value=n * m + 1) = cls.compute_symbolic_expr(v, w)
        c = R.prim_value(7)
        return (a, b, c)
"""


def test_expressions_are_computed_by_prim_funcs_and_variables_stay():
    check(ComputePrimValue(), BEFORE, AFTER)
    check(ComputePrimValue(), AFTER)


def test_functions_without_expressions_stay_as_they_are():
    check(ComputePrimValue(), """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        a = R.prim_value(n)
        return a
""")  # fmt: skip


def test_one_expression_over_the_same_names_is_one_prim_func():
    made = ComputePrimValue()(
        from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        return R.prim_value(n + 1)

    @R.function
    def other(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        return R.prim_value(n + 1)
""")
    )
    assert [v.name_hint for v in made.get_global_vars() if "compute" in v.name_hint] == [
        "compute_symbolic_expr"
    ]


@every_executor
def test_the_values_stay_the_same(load):
    made = ComputePrimValue()(from_source(BEFORE))
    assert load(made).main(np.zeros((2, 3), "float32")) == (2, 7, 7)


DIRECT = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def f(n: T.int64) -> T.{dtype}:
        {body}

    @R.function(pure=False)
    def main(n: R.Prim("int64")):
        y = M.f(n)
        return y
"""


@every_executor
def test_a_prim_func_that_declares_a_scalar_gives_it(load):
    mod = from_source(DIRECT.format(dtype="float32", body="return T.Cast('float32', n) * 0.5"))
    assert repr(mod["main"].ret_struct_info) == 'R.Prim("float32")'
    assert load(mod).main(3).value == 1.5


@every_executor
def test_a_prim_func_that_ends_without_the_scalar_it_declares_is_an_error(load):
    mod = from_source(DIRECT.format(dtype="int64", body="if n > 2:\n            T.ret(n)"))
    run = load(mod).main
    assert run(3) == 3
    error = failure(lambda: run(1))
    assert error.code == "RX0605"
    assert "`f` ends without returning the int64 that it declares" in str(error)
