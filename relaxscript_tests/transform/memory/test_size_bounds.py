"""What attributes promise of sizes, and what a plan of memory makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError, RelaxWarning, VMError
from relaxscript.ir.relax import Call
from relaxscript.ir.walk import walk
from relaxscript.op import memory
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import StaticPlanBlockMemory
from relaxscript_tests.transform.memory.planning import ARGS, plan, program


def test_a_scalar_may_be_negative_unless_it_is_said_that_it_is_not():
    lines = """
        a = new(n + k)
        cls.head(x, a)
        r = R.sum(a)
        b = new(n)
        cls.head(x, b)
        r2 = R.sum(b)
        return (r, r2)
        """
    mod = from_source(program(lines))
    assert storages(StaticPlanBlockMemory()(mod)) == 2
    named = 'R.func_attr({"tir_non_negative_var": ["k"]})'
    assert storages(StaticPlanBlockMemory()(from_source(program(lines, named)))) == 1


def storages(mod) -> int:
    return sum(isinstance(n, Call) and n.op == memory.alloc_storage.op for n in walk(mod["main"]))


# -- upper bounds ----------------------------------------------------------------------------------

BOUNDS = 'R.func_attr({"tir_var_upper_bound": {"n": 8, "m": 3}})'


def test_an_upper_bound_makes_the_size_of_a_storage_known():
    plan(
        """
        a = new(n * 2)
        cls.head(x, a)
        r = R.sum(a)
        b = new(m)
        cls.exp(y, b)
        r2 = R.sum(b)
        return (r, r2)
        """,
        """
        s1 = store(64)
        a = new(n * 2) in s1
        cls.head(x, a)
        r = R.sum(a)
        b = new(m) in s1
        cls.exp(y, b)
        r2 = R.sum(b)
        return (r, r2)
        """,
        attrs=BOUNDS,
    )


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_call_with_more_than_the_bound_fails_where_it_allocates(executor):
    lines = "a = new(n)\ncls.exp(x, a)\nr = R.sum(a)\nreturn r"
    made = StaticPlanBlockMemory()(from_source(program(lines, BOUNDS)))
    run = EXECUTORS[executor](made)
    assert run("main", np.zeros(8, "float32"), *ARGS[1:]) == 8
    with pytest.raises(VMError, match=r"(36.*32|32.*36)"):
        run("main", np.zeros(9, "float32"), *ARGS[1:])


@pytest.mark.parametrize("bound", ["0", "-3", "2.5", '"8"', "True"])
def test_an_upper_bound_is_a_positive_integer(bound):
    attrs = f'R.func_attr({{"tir_var_upper_bound": {{"n": {bound}}}}})'
    mod = from_source(program("return x", attrs))
    with pytest.raises(DiagnosticError, match="the upper bound of `n` in `main` is no positive in"):
        StaticPlanBlockMemory()(mod)


def test_bounds_are_given_by_names():
    mod = from_source(program("return x", 'R.func_attr({"tir_var_upper_bound": [8]})'))
    with pytest.raises(DiagnosticError, match="`tir_var_upper_bound` of `main` is no dictionary"):
        StaticPlanBlockMemory()(mod)
    mod = from_source(program("return x", 'R.func_attr({"tir_non_negative_var": "n"})'))
    with pytest.raises(DiagnosticError, match="`tir_non_negative_var` of `main` is no list of nam"):
        StaticPlanBlockMemory()(mod)


@pytest.mark.parametrize(
    "attrs", ['{"tir_var_upper_bound": {"N": 8}}', '{"tir_non_negative_var": ["N"]}']
)
def test_a_bound_of_no_variable_is_warned_of(attrs):
    mod = from_source(program("return x", f"R.func_attr({attrs})"))
    with pytest.warns(RelaxWarning, match="`main` has no variable of that name") as found:
        made = StaticPlanBlockMemory()(mod)
    assert found[0].message.diagnostic.help == "did you mean `n`?"
    assert made is mod
