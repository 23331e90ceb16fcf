"""Private functions take what is in tuples, not the tuples."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import ExpandTupleArguments
from relaxscript_tests.transform.before_after import check
from relaxscript_tests.transform.simplify.module_texts import FOUR, ROW, N, main, module, private

STEP = ExpandTupleArguments()
PAIR = f"R.Tuple({ROW}, {ROW})"


def test_fields_are_passed_one_by_one():
    check(
        STEP,
        module(
            private(f"f(t: {PAIR}) -> {ROW}", N, "z = R.add(t[0], t[1])", "return z"),
            main(f"x: {ROW}, y: {ROW}", N, "z = M.f((x, y))", "return z"),
        ),
        module(
            private(f"f(a: {ROW}, b: {ROW}) -> {ROW}", N, "z = R.add(a, b)", "return z"),
            main(f"x: {ROW}, y: {ROW}", N, "z = M.f(x, y)", "return z"),
        ),
    )


def test_parameters_have_the_name_of_the_tuple_and_a_number():
    text = module(
        private(
            f"f(t: R.Tuple({FOUR}, R.Tuple({FOUR}), R.Tuple), u: {FOUR}) -> {FOUR}", "return u"
        ),
        main(f"x: {FOUR}", "z = M.f((x, (x,), R.tuple()), x)", "return z"),
    )
    made = STEP(check(STEP, text, text.replace(
        f"t: R.Tuple({FOUR}, R.Tuple({FOUR}), R.Tuple), u", f"a: {FOUR}, b: {FOUR}, u"
    ).replace("(x, (x,), R.tuple()), x", "x, x, x")))  # fmt: skip
    assert [param.name_hint for param in made["f"].params] == ["t_0", "t_1_0", "u"]


def test_fields_of_a_variable_are_taken_out_before_the_call():
    check(
        STEP,
        module(
            private(f"f(t: {PAIR}) -> {ROW}", N, "z = R.add(t[0], t[1])", "return z"),
            main(
                f"t: {PAIR}", N, "with R.dataflow():", "    z = M.f(t)", "    R.output(z)",
                "return z",
            ),
        ),
        module(
            private(f"f(a: {ROW}, b: {ROW}) -> {ROW}", N, "z = R.add(a, b)", "return z"),
            main(
                f"t: {PAIR}", N, "with R.dataflow():", "    a = t[0]", "    b = t[1]",
                "    z = M.f(a, b)", "    R.output(z)", "return z",
            ),
        ),
    )  # fmt: skip


def test_a_tuple_that_is_needed_as_a_whole_is_made_again():
    check(
        STEP,
        module(
            private(f"f(t: {PAIR}) -> {PAIR}", N, "return t"),
            main(f"x: {ROW}", N, "z = M.f((x, x))", "return z"),
        ),
        module(
            private(f"f(a: {ROW}, b: {ROW}) -> {PAIR}", N, "t = (a, b)", "return t"),
            main(f"x: {ROW}", N, "z = M.f(x, x)", "return z"),
        ),
    )


def test_functions_that_call_each_other_are_expanded_together():
    check(
        STEP,
        module(
            private(
                f"f(t: {PAIR}, c: R.Prim('bool')) -> {ROW}", N, "if c:", "    z = M.g(t, c)",
                "else:", "    z = t[0]", "return z",
            ),
            private(
                f"g(t: {PAIR}, c: R.Prim('bool')) -> {ROW}", N, "a = t[0]", "b = t[1]",
                "z = M.f((b, a), c)", "return z",
            ),
            main(f"x: {ROW}", N, "z = M.f((x, x), R.prim_value(False))", "return z"),
        ),
        module(
            private(
                f"f(a: {ROW}, b: {ROW}, c: R.Prim('bool')) -> {ROW}", N, "if c:",
                "    z = M.g(a, b, c)", "else:", "    z = a", "return z",
            ),
            private(
                f"g(a: {ROW}, b: {ROW}, c: R.Prim('bool')) -> {ROW}", N, "z = M.f(b, a, c)",
                "return z",
            ),
            main(f"x: {ROW}", N, "z = M.f(x, x, R.prim_value(False))", "return z"),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        module(main(f"t: {PAIR}", N, "return t[0]")),
        module(
            private(f"f(t: {PAIR}) -> {ROW}", N, "return t[0]"),
            main(f"t: {PAIR}", N, "g = M.f", "return g(t)"),
        ),
        module(
            private(f"f(x: {ROW}) -> {ROW}", N, "return x"),
            main(f"t: {PAIR}", N, "t1 = t", "z = M.f(t1[0])", "return z"),
        ),
    ],
    ids=["public", "value", "no_tuples"],
)
def test_what_others_rely_on_stays(text):
    check(STEP, text)


def test_a_function_that_was_a_value_of_no_use_is_expanded_with_the_others():
    check(
        STEP,
        module(
            private(f"f(t: {PAIR}) -> {ROW}", N, "return t[0]"),
            private(f"g(t: {PAIR}) -> {ROW}", N, "unused = M.f", "return t[1]"),
            main(f"x: {ROW}", N, "y = M.f((x, x))", "z = M.g((y, x))", "return z"),
        ),
        module(
            private(f"f(a: {ROW}, b: {ROW}) -> {ROW}", N, "return a"),
            private(f"g(a: {ROW}, b: {ROW}) -> {ROW}", N, "return b"),
            main(f"x: {ROW}", N, "y = M.f(x, x)", "z = M.g(y, x)", "return z"),
        ),
    )


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.filterwarnings("ignore:.*checked when the program runs")
def test_sizes_that_differ_are_refused_as_before(executor):
    made = check(
        STEP,
        module(
            private(f"f(t: {PAIR}) -> {ROW}", N, "z = R.add(t[0], t[1])", "return z"),
            main(f'x: {ROW}, y: R.Tensor(("m",), "float32")', N, "z = M.f((x, y))", "return z"),
        ),
        module(
            private(f"f(a: {ROW}, b: {ROW}) -> {ROW}", N, "z = R.add(a, b)", "return z"),
            main(f'x: {ROW}, y: R.Tensor(("m",), "float32")', N, "z = M.f(x, y)", "return z"),
        ),
    )
    run, x = EXECUTORS[executor](made), np.ones(3, "float32")
    np.testing.assert_array_equal(np.asarray(run("main", x, x)), x + x)
    with pytest.raises(VMError, match="is 4; must be"):
        run("main", x, np.ones(4, "float32"))
