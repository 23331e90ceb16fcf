"""Layouts that are undone at once are not made."""

from __future__ import annotations

import pytest

from relaxscript.script import from_source
from relaxscript.transform import OptimizeLayoutTransform
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.before_after import check

PACK = "lambda a, i: (a, i // 4, i % 4)"
UNPACK = "lambda a, i, j: (a, i * 4 + j)"


def module(body: str, result: str = "c") -> str:
    lines = "\n".join(f"            {line}" for line in body.strip().splitlines())
    return f"""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 16), "float32"), y: R.Tensor(("n", 10), "float32")):
        with R.dataflow():
{lines}
            R.output({result})
        return {result}
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (PACK, UNPACK),
        ("lambda a, i: (i, a)", "lambda i, a: (a, i)"),
        ("lambda a, i: (15 - i, a)", "lambda i, a: (a, 15 - i)"),
    ],
)
def test_a_layout_that_is_undone_is_not_made(first, second):
    made = check(
        OptimizeLayoutTransform(),
        module(f"""
a = R.layout_transform(x, {first})
b = R.layout_transform(a, {second})
c = R.exp(b)"""),
        module("c = R.exp(x)"),
    )
    assert OptimizeLayoutTransform()(made) is made


def test_what_others_use_stays():
    body = f"""
a = R.layout_transform(x, {PACK})
b = R.layout_transform(a, {UNPACK})
c = R.exp(b)
d = R.negative(a)"""
    check(
        OptimizeLayoutTransform(),
        module(body, "c, d"),
        module(f"a = R.layout_transform(x, {PACK})\nc = R.exp(x)\nd = R.negative(a)", "c, d"),
    )


@pytest.mark.parametrize(
    "body",
    [
        f"a = R.layout_transform(y, {PACK})\nb = R.layout_transform(a, {UNPACK})\nc = R.exp(b)",
        f"a = R.layout_transform(x, {PACK})\n"
        "b = R.layout_transform(a, lambda a, i, j: (a, j * 4 + i))\nc = R.exp(b)",
        f"a = R.layout_transform(x, {PACK})\nd = R.exp(a)\nc = R.layout_transform(d, {UNPACK})",
        "a = R.layout_transform(x, lambda a, i: (a, i * 2))\n"
        "b = R.layout_transform(a, lambda a, i: (a, i // 2))\nc = R.exp(b)",
    ],
    ids=["padding", "another_order", "in_between", "gaps"],
)
def test_layouts_that_are_not_undone_stay(body):
    check(OptimizeLayoutTransform(), module(body))


def test_a_result_is_no_parameter():
    check(
        OptimizeLayoutTransform(),
        module(f"a = R.layout_transform(x, {PACK})\nc = R.layout_transform(a, {UNPACK})"),
    )


def test_what_leaves_a_block_keeps_its_name():
    pack = f"a = R.layout_transform(d, {PACK})\nc = R.layout_transform(a, {UNPACK})"
    check(
        OptimizeLayoutTransform(),
        module(f"d = R.exp(x)\n{pack}"),
        module("d = R.exp(x)\nc = d"),
    )


def test_the_cost_is_linear_in_the_layouts():
    def prepare(count: int):
        lines = [f"""
a{k} = R.layout_transform({f"c{k - 1}" if k else "x"}, {PACK})
b{k} = R.layout_transform(a{k}, {UNPACK})
c{k} = R.exp(b{k})""" for k in range(count)]  # fmt: skip
        mod = from_source(module("".join(lines), f"c{count - 1}"))
        step = OptimizeLayoutTransform()
        return lambda: step(mod)

    assert growth(prepare, 8) < 9
