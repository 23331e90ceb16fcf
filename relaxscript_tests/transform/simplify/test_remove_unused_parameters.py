"""Private functions take no more than they read."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import RemoveUnusedParameters
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.before_after import check
from relaxscript_tests.transform.simplify.module_texts import FOUR, ROW, N, main, module, private

STEP = RemoveUnusedParameters()


def test_a_parameter_that_nobody_reads_goes_with_its_arguments():
    check(
        STEP,
        module(
            private(f"f(x: {FOUR}, y: {FOUR}) -> {FOUR}", "z = R.exp(x)", "return z"),
            main(f"x: {FOUR}", "y = R.log(x)", "z = M.f(x, y)", "return z"),
        ),
        module(
            private(f"f(x: {FOUR}) -> {FOUR}", "z = R.exp(x)", "return z"),
            main(f"x: {FOUR}", "y = R.log(x)", "z = M.f(x)", "return z"),
        ),
    )


def test_sizes_that_are_needed_are_passed_by_themselves():
    zeros = "z = R.zeros(R.shape([n]), 'float32')"
    check(
        STEP,
        module(
            private(f"f(x: {ROW}) -> {ROW}", N, zeros, "return z"),
            main(f"x: {FOUR}, y: {ROW}", N, "a = M.f(x)", "b = M.f(y)", "return (a, b)"),
        ),
        module(
            private(f'f(k: R.Prim(value="n")) -> {ROW}', N, zeros, "return z"),
            main(
                f"x: {FOUR}, y: {ROW}", N, "a = M.f(R.prim_value(4))",
                "b = M.f(R.prim_value(n))", "return (a, b)",
            ),
        ),
    )  # fmt: skip


def test_sizes_that_a_parameter_which_is_read_says_are_not_passed():
    check(
        STEP,
        module(
            private(f"f(y: {ROW}, x: {ROW}) -> {ROW}", N, "z = R.exp(x)", "return z"),
            main(f"x: {ROW}", N, "z = M.f(x, x)", "return z"),
        ),
        module(
            private(f"f(x: {ROW}) -> {ROW}", N, "z = R.exp(x)", "return z"),
            main(f"x: {ROW}", N, "z = M.f(x)", "return z"),
        ),
    )


def test_a_size_that_a_parameter_uses_is_passed_behind_it():
    info = 'R.Tensor(("n + 1",), "float32")'
    check(
        STEP,
        module(
            private(f"f(y: {ROW}, x: {info}) -> {info}", N, "z = R.exp(x)", "return z"),
            main(f"y: {FOUR}, x: R.Tensor((5,), 'float32')", "z = M.f(y, x)", "return z"),
        ),
        module(
            private(f'f(x: {info}, k: R.Prim(value="n")) -> {info}', N, "z = R.exp(x)", "return z"),
            main(
                f"y: {FOUR}, x: R.Tensor((5,), 'float32')", "z = M.f(x, R.prim_value(4))",
                "return z",
            ),
        ),
    )  # fmt: skip


def test_a_size_goes_through_a_row_of_functions():
    check(
        STEP,
        module(
            private(f'f(x: {ROW}) -> R.Shape(["n"])', N, "return R.shape([n])"),
            private(f'g(u: R.Tensor, x: {ROW}) -> R.Shape(["n"])', N, "s = M.f(x)", "return s"),
            main(f"x: {FOUR}", "s = M.g(x, x)", "return s"),
        ),
        module(
            private('f(k: R.Prim(value="n")) -> R.Shape(["n"])', N, "return R.shape([n])"),
            private(
                'g(k: R.Prim(value="n")) -> R.Shape(["n"])', N, "s = M.f(R.prim_value(n))",
                "return s",
            ),
            main(f"x: {FOUR}", "s = M.g(R.prim_value(4))", "return s"),
        ),
    )  # fmt: skip


def test_what_functions_only_hand_on_to_each_other_is_not_read():
    check(
        STEP,
        module(
            private(
                f"f(x: {FOUR}, y: {FOUR}, c: R.Prim('bool')) -> {FOUR}", "if c:",
                "    z = M.g(y, x)", "else:", "    z = x", "return z",
            ),
            private(
                f"g(y: {FOUR}, x: {FOUR}) -> {FOUR}", "z = M.f(x, y, R.prim_value(True))",
                "return z",
            ),
            main(f"x: {FOUR}", "z = M.f(x, x, R.prim_value(False))", "return z"),
        ),
        module(
            private(
                f"f(x: {FOUR}, c: R.Prim('bool')) -> {FOUR}", "if c:",
                "    z = M.g(x)", "else:", "    z = x", "return z",
            ),
            private(f"g(x: {FOUR}) -> {FOUR}", "z = M.f(x, R.prim_value(True))", "return z"),
            main(f"x: {FOUR}", "z = M.f(x, R.prim_value(False))", "return z"),
        ),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*checked when the program runs")
def test_a_parameter_that_holds_a_shape_is_read_by_who_names_it():
    info = 'R.Tensor(s, "float32", ndim=1)'
    check(
        STEP,
        module(
            private(f"f(s: R.Shape(ndim=1), x: {info}) -> {info}", "return x"),
            main(f"s: R.Shape(ndim=1), x: {info}", "z = M.f(s, x)", "return z"),
        ),
    )


@pytest.mark.parametrize(
    "text",
    [
        # A public function is called by anybody.
        module(main(f"x: {FOUR}, y: {FOUR}", "return x")),
        # One that is a value is called by who has it.
        module(
            private(f"f(x: {FOUR}, y: {FOUR}) -> {FOUR}", "return x"),
            main(f"x: {FOUR}", "g = M.f", "return g(x, x)"),
        ),
        # A size that is a parameter already is passed as it is.
        module(
            private('f(k: R.Prim(value="n")) -> R.Shape(["n"])', N, "return R.shape([n])"),
            main("", "s = M.f(R.prim_value(4))", "return s"),
        ),
    ],
    ids=["public", "value", "size"],
)
def test_what_others_rely_on_stays(text):
    check(STEP, text)


UNKNOWN = module(
    private(f"f(x: {FOUR}, y: {FOUR}) -> {FOUR}", "z = R.exp(x)", "return z"),
    main(
        f'x: {FOUR}, y: R.Tensor("float32", ndim=1)',
        'w: R.Tensor("float32", ndim=1) = y', "z = M.f(x, w)", "return z",
    ),
)  # fmt: skip
UNEQUAL = module(
    private(f"f(y: {ROW}, x: {ROW}) -> {ROW}", N, "z = R.exp(x)", "return z"),
    main(
        f'x: {FOUR}, y: R.Tensor(("m",), "float32")', "m = T.int64()", "z = M.f(y, x)", "return z"
    ),
)


@pytest.mark.parametrize("text", [UNKNOWN, UNEQUAL], ids=["unknown", "unequal"])
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.filterwarnings("ignore:.*checked when the program runs")
def test_a_parameter_stays_whose_argument_may_not_fit(text, executor):
    made = check(STEP, text)
    run = EXECUTORS[executor](made)
    x = np.zeros(4, "float32")
    run("main", x, x)
    with pytest.raises(VMError, match="; must be "):
        run("main", x, np.zeros(3, "float32"))


def test_a_dead_function_takes_what_it_reads():
    check(
        STEP,
        module(
            private(f"f(x: {FOUR}, y: {ROW}) -> {FOUR}", N, "return x"), main("", "return ()"),
        ),
        module(private(f"f(x: {FOUR}) -> {FOUR}", "return x"), main("", "return ()")),
    )  # fmt: skip


def test_a_program_that_is_not_in_normal_form_is_brought_into_it():
    text = module(
        private(f"f(x: {FOUR}, y: {FOUR}) -> {FOUR}", "return x"),
        main(f"x: {FOUR}", "z = M.f(R.exp(x), R.log(x))", "return z"),
    )
    mod = from_source(text)
    main_of = STEP(mod)["main"]
    assert len(main_of.body.blocks[0].bindings[-1].value.args) == 1


def test_a_row_of_functions_costs_what_each_does():
    def prepare(count):
        rows = [private(f"f0(x: {FOUR}, y: {ROW}) -> {FOUR}", N, "return x")]
        rows += [
            private(f"f{i}(x: {FOUR}, y: {ROW}) -> {FOUR}", N, f"z = M.f{i - 1}(x, y)", "return z")
            for i in range(1, count)
        ]
        mod = from_source(
            module(*rows, main(f"x: {FOUR}", f"z = M.f{count - 1}(x, x)", "return z"))
        )
        return lambda: STEP(mod)

    assert growth(prepare, 10) < 10
