"""The cost of passes on private functions: that of each binding and call once."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from relaxscript.script import from_source
from relaxscript.transform import (
    ExpandTupleArguments,
    Pass,
    RemoveUnusedOutputs,
    RemoveUnusedParameters,
)
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.simplify.module_texts import ROW, N, main, module, private

PAIR = f"R.Tuple({ROW}, {ROW})"
every_pass = pytest.mark.parametrize(
    "step", [ExpandTupleArguments(), RemoveUnusedOutputs(), RemoveUnusedParameters()], ids=repr
)


def bindings(count: int, first: str) -> list[str]:
    """A row of bindings, each of which reads the one before it."""
    names = [first, *(f"v{i}" for i in range(count))]
    return [f"{new} = R.exp({old})" for old, new in itertools.pairwise(names)]


def many_calls(count: int) -> str:
    """A long function, and another one that calls it as often as that is long."""
    calls: list[str] = []
    for i in range(count // 2):
        row = f"c{i - 1}" if i else "x"
        calls += [f"t{i} = M.f(({row}, x), x)", f"c{i} = t{i}[0]"]
    last = f"c{count // 2 - 1}"
    return module(
        private(
            f"f(t: {PAIR}, u: {ROW}) -> {PAIR}", N, "a = t[0]", *bindings(count, "a"),
            f"return (v{count - 1}, a)",
        ),
        main(f"x: {ROW}", N, *calls, f"return {last}"),
    )  # fmt: skip


def many_functions(count: int) -> str:
    """A row of functions, each of which calls the one before it."""
    rows = [private(f"f0(t: {PAIR}, u: {ROW}) -> {PAIR}", N, "return t")]
    rows += [
        private(
            f"f{i}(t: {PAIR}, u: {ROW}) -> {PAIR}", N, "with R.dataflow():",
            f"    s = M.f{i - 1}(t, u)", "    a = s[0]", "    b = R.exp(s[1])",
            "    R.output(a, b)", "return (a, b)",
        )
        for i in range(1, count)
    ]  # fmt: skip
    last = f"t = M.f{count - 1}((x, x), x)"
    return module(*rows, main(f"x: {ROW}", N, last, "return t[0]"))


def growth_of(step: Pass, text: Callable[[int], str], small: int) -> float:
    def prepare(count: int) -> Callable[[], object]:
        mod = from_source(text(count))
        return lambda: step(mod)

    return growth(prepare, small)


@every_pass
@pytest.mark.parametrize("text", [many_calls, many_functions])
def test_it_is_linear(step: Pass, text: Callable[[int], str]) -> None:
    assert step(mod := from_source(text(3))) is not mod
    assert growth_of(step, text, 16) < 10


@pytest.mark.long
@every_pass
def test_it_is_linear_to_ten_thousand_bindings(step: Pass) -> None:
    assert growth_of(step, many_calls, 1_250) < 10
