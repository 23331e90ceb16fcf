"""Of a chain of reshapes the last one is left, or none."""

from __future__ import annotations

import pytest

from relaxscript.script import from_source
from relaxscript.transform import RemoveRedundantReshape
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.before_after import check


def module(body: str, result: str, block: str = "with R.dataflow():", output: str = "") -> str:
    lines = "\n".join(f"            {line}" for line in body.strip().splitlines())
    output = output or f"R.output({result})"
    return f"""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2, 3, 4), "float32"), w: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        {block}
{lines}
            {output}
        return {result}
"""


def test_a_reshape_of_a_reshape_is_one_of_what_that_was_given():
    made = check(
        RemoveRedundantReshape(),
        module("a = R.reshape(x, (6, 4))\nb = R.reshape(a, (24,))\nc = R.reshape(b, (3, 8))", "c"),
        module("c = R.reshape(x, (3, 8))", "c"),
    )
    assert RemoveRedundantReshape()(made) is made


def test_a_reshape_to_the_shape_that_is_there_goes():
    check(
        RemoveRedundantReshape(),
        module("a = R.reshape(w, (n, 4))\nb = R.exp(a)", "b"),
        module("b = R.exp(w)", "b"),
    )
    check(
        RemoveRedundantReshape(),
        module("a = R.reshape(w, (4 * n,))\nb = R.reshape(a, (n, 4))\nc = R.exp(b)", "c"),
        module("c = R.exp(w)", "c"),
    )


def test_what_others_use_stays():
    check(
        RemoveRedundantReshape(),
        module("a = R.reshape(x, (6, 4))\nb = R.reshape(a, (24,))\nc = R.exp(a)", "b, c"),
        module("a = R.reshape(x, (6, 4))\nb = R.reshape(x, (24,))\nc = R.exp(a)", "b, c"),
    )


def test_what_leaves_a_block_keeps_its_name():
    check(
        RemoveRedundantReshape(),
        module("a = R.reshape(w, (n * 4,))\nb = R.reshape(a, (n, 4))", "b"),
        module("b = w", "b"),
    )


def test_outside_of_dataflow_blocks_a_reshape_that_may_fail_stays():
    body = "a = R.reshape(x, (6, 4))\nb = R.reshape(a, (24,))"
    plain = {"block": "if True:", "output": "pass"}
    check(
        RemoveRedundantReshape(),
        module(body, "b", **plain),
        module(body.replace("(a, (24", "(x, (24"), "b", **plain),
    )


@pytest.mark.parametrize(
    "body",
    [
        "a = R.reshape(x, (6, 4))\nb = R.exp(a)",
        "a = R.reshape(x, (6, 4))\nc = R.exp(a)\nb = R.reshape(c, (24,))",
        "a = R.reshape(x, (4, 3, 2))\nb = R.add(a, a)",
        "a = R.permute_dims(w, (1, 0))\nb = R.reshape(a, (n, 4))",
    ],
)
def test_other_reshapes_stay(body):
    check(RemoveRedundantReshape(), module(body, "b"))


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_a_reshape_stays_behind_one_that_checks_the_number_of_elements():
    check(RemoveRedundantReshape(), """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), s: R.Tensor(("m", "k"), "float32")):
        n, m, k = T.int64(), T.int64(), T.int64()
        with R.dataflow():
            a = R.reshape(x, (m, k))
            b = R.reshape(a, (m * k,))
            R.output(b)
        return b
""")  # fmt: skip


def test_a_tensor_that_is_written_into_is_not_another_one():
    check(RemoveRedundantReshape(), module("""
a = R.reshape(x, (2, 3, 4))
u = R.call_pure_packed("test.write", a, sinfo_args=R.Object())
b = R.exp(x)
""", "b"))  # fmt: skip


def test_the_cost_is_linear_in_the_reshapes():
    def prepare(count: int):
        lines = ["a0 = R.reshape(x, (24,))"]
        shapes = ("(6, 4)", "(24,)")
        lines += [f"a{k + 1} = R.reshape(a{k}, {shapes[k % 2]})" for k in range(count)]
        mod = from_source(module("\n".join(lines), f"a{count}"))
        step = RemoveRedundantReshape()
        return lambda: step(mod)

    assert growth(prepare, 16) < 9
