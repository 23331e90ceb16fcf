"""How far another layout goes, and where tensors come back into their own.

Every program has one convolution or more, which is to be in NHWC. The weights are so already.
"""

from __future__ import annotations

import pytest

from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.transform import ConvertLayout
from relaxscript_tests.transform.before_after import check

MODULE = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def twice(a: T.handle, b: T.handle):
        n, h = T.int64(), T.int64()
        A = T.match_buffer(a, (n, 4, h, 6), "float32")
        B = T.match_buffer(b, (n, 4, h, 6), "float32")
        for i, j, k, l in T.grid(n, 4, h, 6):
            with T.block("twice"):
                vi, vj, vk, vl = T.axis.remap("SSSS", [i, j, k, l])
                B[vi, vj, vk, vl] = A[vi, vj, vk, vl] * T.float32(2)

    @R.function
    def main(
        x: R.Tensor(("n", 4, "h", 6), "float32"), w: R.Tensor((4, 1, 1, 4), "float32"),
        b: R.Tensor((4, 1, 1), "float32"), p: R.Tensor((4,), "float32"),
    ):
        n, h = T.int64(), T.int64()
        cls = M
{body}
        return {out}
"""
NHWC = ConvertLayout({"nn.conv2d": ["NHWC", "OHWI"]})
CONV = 'R.nn.conv2d({}, w, kernel_layout="OHWI")'
MADE = 'R.nn.conv2d({}, w, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC")'
INTO = "R.permute_dims({}, [0, 2, 3, 1])"
BACK = "R.permute_dims({}, [0, 3, 1, 2])"


def module(body: str, out: str = "y", block: bool = True) -> str:
    for name, form in (("CONV", CONV), ("MADE", MADE), ("INTO", INTO), ("BACK", BACK)):
        while f"{name}(" in body:
            begin, _, rest = body.partition(f"{name}(")
            inside, _, rest = rest.partition(")")
            body = begin + form.format(inside) + rest
    lines = body.strip().splitlines()
    if block:
        lines = [
            "with R.dataflow():",
            *(f"    {line}" for line in (*lines, f"R.output({out.strip('()')})")),
        ]
    text = "\n".join(f"        {line}" for line in lines)
    return MODULE.format(body=text, out=out)


def become(before: str, after: str, out: str = "y") -> None:
    """The bindings of a block become others, which mean the same, and those stay."""
    made = check(NHWC, module(before, out), module(after, out))
    assert NHWC(made) is made
    mod = from_source(module(before, out))
    inputs = inputs_for(mod["main"], 0)
    then, now = (observe(EXECUTORS["interpreter"](m), "main", inputs) for m in (mod, made))
    check_outcomes("afterwards", now, "before", then, 1e-4, 1e-4)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("R.nn.relu(c)", "R.nn.relu(c)"),
        ("R.multiply(c, R.const(2, 'float32'))", "R.multiply(c, R.const(2, 'float32'))"),
        ("R.nn.softmax(c, axis=1)", "R.nn.softmax(c, axis=3)"),
        ("R.concat((c, c), axis=-3)", "R.concat((c, c), axis=3)"),
        (
            "R.nn.max_pool2d(c, (2, 1), padding=(1, 0))",
            "R.nn.max_pool2d(c, (2, 1), padding=(1, 0), layout='NHWC', out_layout='NHWC')",
        ),
        (
            "R.nn.adaptive_avg_pool2d(c, (1, 1))",
            "R.nn.adaptive_avg_pool2d(c, (1, 1), layout='NHWC', out_layout='NHWC')",
        ),
        ("R.mean(c, [1, 3], keepdims=True)", "R.mean(c, [2, 3], keepdims=True)"),
        ("R.astype(c, 'float16')", "R.astype(c, 'float16')"),
        (
            "R.strided_slice(c, (1, 3), (0, 1), (2, 6))",
            "R.strided_slice(c, (3, 2), (0, 1), (2, 6))",
        ),
    ],
)
def test_what_follows_takes_its_operands_as_they_come(before, after):
    become(
        f"c = CONV(x)\ny = {before}",
        f"a = INTO(x)\nc = MADE(a)\nd = {after}\ny = BACK(d)",
    )


def test_axes_that_are_gone_need_no_order():
    become(
        "c = CONV(x)\ny = R.mean(c, [2, 3])",
        "a = INTO(x)\nc = MADE(a)\ny = R.mean(c, [1, 2])",
    )


def test_a_tensor_is_brought_into_another_order_once():
    become(
        "c = CONV(x)\nd = R.nn.relu(c)\ne = R.add(d, x)\nf = CONV(e)\ny = R.add(f, x)",
        "a = INTO(x)\nc = MADE(a)\nd = R.nn.relu(c)\ne = R.add(d, a)\nf = MADE(e)\n"
        "g = R.add(f, a)\ny = BACK(g)",
    )  # fmt: skip


def test_operands_of_less_axes_follow():
    become(
        "c = CONV(x)\ny = R.add(c, b)",
        "a = INTO(x)\nc = MADE(a)\ne = R.permute_dims(b, [1, 2, 0])\nd = R.add(c, e)\ny = BACK(d)",
    )


def test_the_fields_of_tuples_have_orders_of_their_own():
    become(
        "c = CONV(x)\nn_ = R.nn.batch_norm(c, p, p, p, R.abs(p), axis=1, training=False)\n"
        "d = n_[0]\nt = (d, (b, c))\nu = t[1]\ny = R.add(u[1], u[0])",
        "a = INTO(x)\nc = MADE(a)\nq = R.abs(p)\n"
        "n_ = R.nn.batch_norm(c, p, p, p, q, axis=3, training=False)\n"
        "d = n_[0]\nt = (d, (b, c))\nu = t[1]\nu1 = u[1]\nu0 = u[0]\n"
        "e = R.permute_dims(u0, [1, 2, 0])\nf = R.add(u1, e)\ny = BACK(f)",
    )  # fmt: skip


def test_a_tuple_that_leaves_the_block_holds_what_it_held():
    become(
        "c = CONV(x)\nd = (c, x)\ny = d",
        "a = INTO(x)\nc = MADE(a)\nd = (c, x)\ne = d[0]\ng = d[1]\nf = BACK(e)\ny = (f, g)",
    )


@pytest.mark.parametrize(
    "value",
    [
        "R.reshape({}, (n, 24 * h))",
        "R.cumsum({})",
        "R.call_tir(cls.twice, ({},), out_sinfo=R.Tensor((n, 4, h, 6), 'float32'))",
        "R.call_pure_packed('test.pass', {}, sinfo_args=R.Tensor((n, 4, h, 6), 'float32'))",
        "R.shape_of({})",
    ],
)
def test_who_has_no_rule_gets_what_there_was(value):
    check(
        NHWC,
        module(f"c = CONV(x)\ny = {value.format('c')}"),
        module(f"a = INTO(x)\nc = MADE(a)\nd = BACK(c)\ny = {value.format('d')}"),
    )


def test_what_is_cast_is_cast_in_its_order():
    become(
        "k = T.int64()\nc = CONV(x)\nd = R.match_cast(c, R.Tensor((n, 4, k, 6), 'float32'))\n"
        "y = R.add(d, x)".replace("k = T.int64()\n", "").replace("k,", "h,"),
        "a = INTO(x)\nc = MADE(a)\nd = R.match_cast(c, R.Tensor((n, h, 6, 4), 'float32'))\n"
        "e = R.add(d, a)\ny = BACK(e)",
    )


def test_what_is_cast_for_less_than_its_axes_comes_back():
    become(
        "c = CONV(x)\nd = R.match_cast(c, R.Tensor(ndim=4, dtype='float32'))\ny = R.exp(d)",
        "a = INTO(x)\nc = MADE(a)\ne = BACK(c)\n"
        "d = R.match_cast(e, R.Tensor(ndim=4, dtype='float32'))\ny = R.exp(d)",
    )


def test_each_block_is_by_itself():
    text = """
with R.dataflow():
    c = CONV(x)
    R.output(c)
d = R.nn.relu(c)
with R.dataflow():
    y = CONV(d)
    z = R.add(y, c)
    R.output(y, z)"""
    after = """
with R.dataflow():
    a = INTO(x)
    e = MADE(a)
    c = BACK(e)
    R.output(c)
d = R.nn.relu(c)
with R.dataflow():
    f = INTO(d)
    g = MADE(f)
    y = BACK(g)
    z = R.add(y, c)
    R.output(y, z)"""
    check(NHWC, module(text, "(y, z)", False), module(after, "(y, z)", False))


def test_blocks_in_branches_and_local_functions_are_converted_as_well():
    text = """
@R.function
def inner(v: R.Tensor(("n", 4, "h", 6), "float32")) -> R.Tensor(("n", 4, "h", 6), "float32"):
    with R.dataflow():
        {0}
        R.output(s)
    return s
if R.const(True):
    with R.dataflow():
        {1}
        R.output(t)
    y = t
else:
    y = inner(x)"""
    before = text.format("s = CONV(v)", "t = CONV(x)")
    steps = "a = INTO({})\n        b_ = MADE(a)\n        {} = BACK(b_)"
    after = text.format(steps.format("v", "s"), steps.format("x", "t"))
    made = check(NHWC, module(before, block=False), module(after, block=False))
    assert NHWC(made) is made


def test_what_somebody_may_write_into_is_as_it_was():
    write = 'u = R.call_pure_packed("test.write", c, sinfo_args=R.Object())'
    check(
        NHWC,
        module(f"c = CONV(x)\n{write}\nd = CONV(c)\ny = CONV(c)", "(y, d)"),
        module(
            f"a = INTO(x)\nf = MADE(a)\nc = BACK(f)\n{write}\ng = INTO(c)\ni = MADE(g)\n"
            "d = BACK(i)\ne = INTO(c)\nj = MADE(e)\ny = BACK(j)",
            "(y, d)",
        ),
    )


def test_transposing_is_not_done_again():
    become(
        "a = INTO(x)\nd = BACK(a)\nc = CONV(d)\ne = R.nn.relu(c)\ny = R.sum(e, [1])",
        "a = INTO(x)\nd = BACK(a)\nc = MADE(a)\ne = R.nn.relu(c)\ny = R.sum(e, [3])",
    )


def test_tensors_of_unknown_rank_are_left():
    check(NHWC, module(
        "u = R.match_cast(x, R.Tensor(dtype='float32'))\nc = CONV(u)\ny = R.exp(c)"
    ))  # fmt: skip
