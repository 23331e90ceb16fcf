"""Runs of pure bindings become dataflow blocks."""

from __future__ import annotations

import pytest

from relaxscript.transform import ConvertToDataflow
from relaxscript_tests.transform.before_after import check

X = 'x: R.Tensor((4,), "float32"), c: R.Prim("bool")'


def program(*lines: str, params: str = X) -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return f"""
@I.ir_module
class M:
    @R.function(pure=False)
    def main({params}) -> R.Object:
{body}
"""


def converts(before: tuple[str, ...], after: tuple[str, ...] | None, min_size: int = 2) -> None:
    text = None if after is None else program(*after)
    check(ConvertToDataflow(min_size), program(*before), text)
    check(ConvertToDataflow(min_size), text or program(*before))


EFFECT = '_ = R.print(b, format="x")'


def test_runs_of_pure_bindings_become_blocks_and_effects_stay_outside():
    converts(
        ("a = R.exp(x)", "b = R.log(a)", EFFECT, "d = R.exp(b)", "return d"),
        (
            "with R.dataflow():", "    a = R.exp(x)", "    b = R.log(a)", "    R.output(b)", EFFECT,
            "d = R.exp(b)", "return d",
        ),
    )  # fmt: skip


def test_a_run_has_as_many_bindings_as_are_asked_for():
    lines = ("a = R.exp(x)", "b = R.log(a)", EFFECT, "d = R.exp(b)", "return d")
    converts(lines, None, min_size=3)
    converts(
        lines,
        (
            "with R.dataflow():", "    a = R.exp(x)", "    b = R.log(a)", "    R.output(b)", EFFECT,
            "with R.dataflow():", "    d = R.exp(b)", "    R.output(d)", "return d",
        ),
        min_size=1,
    )  # fmt: skip


def test_casts_tuples_constants_and_local_functions_are_part_of_a_run():
    converts(
        (
            "a = R.exp(x)", 'm = R.match_cast(a, R.Tensor(ndim=1))', "k = R.const(1.0)",
            "@R.function", 'def f(z: R.Tensor((4,), "float32")) -> R.Object:', "    q = R.exp(z)",
            "    return q", "t = (m, k)", "return (t, f)",
        ),
        (
            "with R.dataflow():", "    a = R.exp(x)", "    m: R.Tensor(ndim=1) = a",
            "    k = R.const(1.0)", "    @R.function",
            '    def f(z: R.Tensor((4,), "float32")) -> R.Object:', "        q = R.exp(z)",
            "        return q", "    t = (m, k)", "    R.output(f, t)", "return (t, f)",
        ),
    )  # fmt: skip


def test_a_block_beside_a_run_becomes_part_of_it():
    converts(
        (
            "with R.dataflow():", "    a = R.exp(x)", "    b = R.log(a)", "    R.output(b)",
            "d = R.exp(b)", "return d",
        ),
        (
            "with R.dataflow():", "    a = R.exp(x)", "    b = R.log(a)", "    d = R.exp(b)",
            "    R.output(d)", "return d",
        ),
    )  # fmt: skip


def test_a_block_that_is_smaller_than_a_run_stays():
    converts(
        (
            "with R.dataflow():", "    b = R.exp(x)", "    R.output(b)", EFFECT, "return b",
        ),
        None,
        min_size=3,
    )  # fmt: skip


def test_choices_are_outside_and_their_branches_have_runs_of_their_own():
    converts(
        (
            "if c:", "    a = R.exp(x)", "    b = R.log(a)", "    z = R.exp(b)", "else:",
            "    z = R.log(x)", "return z",
        ),
        (
            "if c:", "    with R.dataflow():", "        a = R.exp(x)", "        b = R.log(a)",
            "        z1 = R.exp(b)", "        R.output(z1)", "    z = z1", "else:",
            "    z = R.log(x)", "return z",
        ),
    )  # fmt: skip


def test_recursive_calls_stay_outside():
    text = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        f = M.main
        a = M.main(x)
        b = f(a)
        return b

    @R.function
    def other(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        a = M.main(x)
        return a
"""
    check(
        ConvertToDataflow(1),
        text,
        """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            f = M.main
            R.output(f)
        a = M.main(x)
        b = f(a)
        return b

    @R.function
    def other(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = M.main(x)
            R.output(a)
        return a
""",
    )


def test_the_size_is_a_number():
    for size in (True, 2.5, "2"):
        with pytest.raises(TypeError, match="`min_size` of `ConvertToDataflow` is an integer"):
            ConvertToDataflow(size)
