"""Private functions return no more than their callers look at."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import RemoveUnusedOutputs
from relaxscript_tests.transform.before_after import check
from relaxscript_tests.transform.simplify.module_texts import FOUR, main, module, private

STEP = RemoveUnusedOutputs()
PAIR, TRIPLE = f"R.Tuple({FOUR}, {FOUR})", f"R.Tuple({FOUR}, {FOUR}, {FOUR})"


def block(*lines: str, output: str) -> list[str]:
    return ["with R.dataflow():", *(f"    {line}" for line in lines), f"    R.output({output})"]


BOTH = block("y = R.exp(x)", "z = R.log(x)", output="y, z")
FIRST = block("y = R.exp(x)", output="y")


def test_one_field_is_returned_by_itself():
    check(
        STEP,
        module(
            private(f"f(x: {FOUR}) -> {PAIR}", *BOTH, "return (y, z)"),
            main(f"x: {FOUR}", "t = M.f(x)", "y = t[0]", "return y"),
        ),
        module(
            private(f"f(x: {FOUR}) -> {FOUR}", *FIRST, "return y"),
            main(f"x: {FOUR}", "y = M.f(x)", "return y"),
        ),
    )


def test_several_fields_are_a_shorter_tuple():
    check(
        STEP,
        module(
            private(f"f(x: {FOUR}) -> {TRIPLE}", *BOTH, "return (y, z, x)"),
            main(f"x: {FOUR}", "t = M.f(x)", "a = t[2]", "s = M.f(a)", "b = s[0]", "return (a, b)"),
        ),
        module(
            private(f"f(x: {FOUR}) -> {PAIR}", *FIRST, "return (y, x)"),
            main(f"x: {FOUR}", "t = M.f(x)", "a = t[1]", "s = M.f(a)", "b = s[0]", "return (a, b)"),
        ),
    )


def test_of_a_result_that_nobody_looks_at_nothing_is_left():
    check(
        STEP,
        module(
            private(f"f(x: {FOUR}) -> {PAIR}", "y = R.exp(x)", "return (y, x)"),
            main(f"x: {FOUR}", "t = M.f(x)", "return x"),
        ),
        module(
            private(f"f(x: {FOUR}) -> R.Tuple", "y = R.exp(x)", "return R.tuple()"),
            main(f"x: {FOUR}", "t = M.f(x)", "return x"),
        ),
    )


def test_a_tuple_that_comes_from_elsewhere_is_taken_apart():
    check(
        STEP,
        module(
            private(f"f(t: {TRIPLE}) -> {TRIPLE}", "return t"),
            main(f"t: {TRIPLE}", "s = M.f(t)", "return (s[0], s[2])"),
        ),
        module(
            private(f"f(t: {TRIPLE}) -> {PAIR}", "a = t[0]", "b = t[2]", "return (a, b)"),
            main(f"t: {TRIPLE}", "s = M.f(t)", "return (s[0], s[1])"),
        ),
    )


def test_what_a_function_hands_on_is_used_where_its_callers_use_it():
    check(
        STEP,
        module(
            private(f"f(x: {FOUR}) -> {PAIR}", *BOTH, "return (y, z)"),
            private(f"g(x: {FOUR}) -> {PAIR}", "t = M.f(x)", "return t"),
            main(f"x: {FOUR}", "t = M.g(x)", "return t[0]"),
        ),
        module(
            private(f"f(x: {FOUR}) -> {FOUR}", *FIRST, "return y"),
            private(f"g(x: {FOUR}) -> {FOUR}", "t = M.f(x)", "return t"),
            main(f"x: {FOUR}", "y = M.g(x)", "return y"),
        ),
    )


def test_a_field_that_only_an_unused_field_needed_goes_too():
    check(
        STEP,
        module(
            private(f"f(x: {FOUR}) -> {PAIR}", *BOTH, "return (y, z)"),
            private(
                f"g(x: {FOUR}) -> {PAIR}",
                *block("t = M.f(x)", "a = t[0]", "b = t[1]", "c = R.abs(b)", output="a, c"),
                "return (a, c)",
            ),
            main(f"x: {FOUR}", "t = M.g(x)", "return t[0]"),
        ),
        module(
            private(f"f(x: {FOUR}) -> {FOUR}", *FIRST, "return y"),
            private(f"g(x: {FOUR}) -> {FOUR}", *block("a = M.f(x)", output="a"), "return a"),
            main(f"x: {FOUR}", "y = M.g(x)", "return y"),
        ),
    )


def test_a_function_that_hands_on_its_own_result_is_shortened():
    check(
        STEP,
        module(
            private(f"f(x: {FOUR}) -> {PAIR}", "t = M.f(x)", "return t"),
            main(f"x: {FOUR}", "t = M.f(x)", "return t[1]"),
        ),
        module(
            private(f"f(x: {FOUR}) -> {FOUR}", "t = M.f(x)", "return t"),
            main(f"x: {FOUR}", "y = M.f(x)", "return y"),
        ),
    )


@pytest.mark.parametrize(
    "lines",
    [["t = M.f(x)", "return t"], ["t = M.f(x)", "s = t", "return s[0]"],
     ["t = M.f(x)", "return (t, x)"], ["g = M.f", "t = g(x)", "return t[0]"],
     ["if R.const(True):", "    t = M.f(x)", "else:", "    t = (x, x)", "return t[0]"],
     ["t = M.f(x)", "s = M.f(x)", "return (t[0], s[1])"], ["return x"]],
    ids=["returned", "renamed", "held", "value", "branch", "each", "dead"],
)  # fmt: skip
def test_a_result_of_which_all_may_be_used_stays(lines):
    check(
        STEP,
        module(private(f"f(x: {FOUR}) -> {PAIR}", "return (x, x)"), main(f"x: {FOUR}", *lines)),
    )


def test_impure_calls_stay_and_give_less():
    body = ['u = R.print(x, format="{}")', "return (x, x)"]
    before = module(
        private(f"f(x: {FOUR}) -> {PAIR}", *body), main(f"x: {FOUR}", "t = M.f(x)", "return t[0]")
    ).replace("@R.function(private=True)", "@R.function(private=True, pure=False)")
    before = before.replace("@R.function\n", "@R.function(pure=False)\n")
    after = before.replace(PAIR, FOUR).replace("(x, x)", "x").replace("return t[0]", "return t")
    check(STEP, before, after)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.filterwarnings("ignore:.*checked when the program runs")
def test_a_result_stays_whose_check_may_fail(executor):
    made = check(
        STEP,
        module(
            private(
                f'f(x: {FOUR}, y: R.Tensor("float32", ndim=1)) -> {PAIR}', "return (x, y)",
            ),
            main(f'x: {FOUR}, y: R.Tensor("float32", ndim=1)', "t = M.f(x, y)", "return t[0]"),
        ),
    )  # fmt: skip
    run, x = EXECUTORS[executor](made), np.ones(4, "float32")
    np.testing.assert_array_equal(np.asarray(run("main", x, x)), x)
    with pytest.raises(VMError, match="is 3; must be 4"):
        run("main", x, np.ones(3, "float32"))


@pytest.mark.filterwarnings("ignore:.*checked when the program runs")
def test_a_variable_that_says_more_than_the_function_keeps_its_check():
    info = 'R.Tensor("float32", ndim=1)'
    check(
        STEP,
        module(
            private(f"f(x: {info}) -> R.Tuple({info}, {info})", "return (x, x)"),
            main(f"x: {info}", f"t: {PAIR} = M.f(x)", "return t[0]"),
        ),
    )
