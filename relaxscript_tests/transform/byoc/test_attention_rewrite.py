"""Attention found in products and a softmax: what becomes of it, and what is left alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from relaxscript.dpl import rewrite_call
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.relax.backend.patterns import make_attention_rewrite_pattern
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import DeadCodeElimination, PassContext, VerifyEach

# Batch, queries, keys, heads, features, and features of values: each another, one of them symbolic.
SIZES = {"b": 2, "s": 5, "k": 6, "h": 3, "f": 4, "v": 7}


def operand(name: str, length: str, features: str, layout: str, repeats: int, turned: bool) -> str:
    lines, made = [], name
    if repeats:
        lines.append(f"{name}_r = R.repeat({made}, {repeats}, axis=2)")
        made = f"{name}_r"
    if layout == "BSNH":
        lines.append(f"{name}_p = R.permute_dims({made}, (0, 2, 1, 3))")
        lines.append(f"{name}_j = R.reshape({name}_p, (b * 3, {length}, {features}))")
        made = f"{name}_j"
    if turned:
        lines.append(f"{name}_t = R.permute_dims({made}, (0, 2, 1))")
        made = f"{name}_t"
    return "\n".join([*lines, f"{name}_made = {made}"])


def module(
    layout: str, out: str, bias: str | None, cast: bool, repeat: bool = False, changed: str = ""
) -> IRModule:
    """Attention written out, with one line of it changed: `old -> new`."""
    dtype = "float16" if cast else "float32"
    heads, own = ("3, ", "1, " if repeat else "3, ") if layout == "BSNH" else ("", "")
    given = [
        f'q: R.Tensor(("b", 5, {heads}4), "{dtype}")',
        f'k: R.Tensor(("b", 6, {own}4), "{dtype}")',
        f'v: R.Tensor(("b", 6, {own}7), "{dtype}")',
    ]
    if bias is not None:
        given.append(f'm: R.Tensor({bias}, "{dtype}")')
    repeats = 3 if repeat else 0
    factor = 'R.const(0.25, "float32")'
    if cast:
        factor = f'R.astype({factor}, "float16")'
    lines = [
        operand("q", "5", "4", layout, 0, turned=False),
        operand("k", "6", "4", layout, repeats, turned=True),
        operand("v", "6", "7", layout, repeats, turned=False),
        "scores = R.matmul(q_made, k_made)",
        f"factor = {factor}",
        "scaled = R.multiply(scores, factor)",
        "biased = R.add(scaled, m)" if bias is not None else "biased = scaled",
        'wide = R.astype(biased, "float32")' if cast else "wide = biased",
        "soft = R.nn.softmax(wide, axis=-1)",
        'weights = R.astype(soft, "float16")' if cast else "weights = soft",
        "product = R.matmul(weights, v_made)",
    ]
    if out == "BSNH":
        lines.append("split = R.reshape(product, (b, 3, 5, 7))")
        lines.append("out = R.permute_dims(split, (0, 2, 1, 3))")
    else:
        lines.append("out = product")
    text = "\n".join(lines)
    if changed:
        old, new = changed.split(" -> ")
        assert old in text
        text = text.replace(old, new)
    body = "\n".join(f"            {line}" for line in text.split("\n"))
    found = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main({", ".join(given)}):
        b = T.int64()
        with R.dataflow():
{body}
            R.output(out)
        return out
""")
    assert isinstance(found, IRModule)
    return found


def rewritten(mod: IRModule, *options: object) -> IRModule:
    pattern, rewriter = make_attention_rewrite_pattern(*options)
    made = mod.clone()
    made["main"] = rewrite_call(pattern, rewriter, mod["main"])
    with PassContext(instruments=[VerifyEach()]):
        return DeadCodeElimination()(made)


def check(mod: IRModule, rng: np.random.Generator, *options: object) -> None:
    """The rewritten module attends, and gives what the other gives."""
    made = rewritten(mod, *options)
    assert "R.nn.attention" in made.script()
    assert "softmax" not in made.script()
    inputs = []
    for param in mod["main"].params:
        info = param.struct_info
        shape = [getattr(dim, "value", None) or dim_of(str(dim)) for dim in info.dims]
        inputs.append(rng.normal(size=shape).astype(str(info.dtype)))
    expected = EXECUTORS["interpreter"](mod)("main", *inputs)
    near = 2e-2 if options[3] else 1e-5
    for load in EXECUTORS.values():
        np.testing.assert_allclose(load(made)("main", *inputs), expected, rtol=near, atol=near)


def dim_of(text: str) -> int:
    return int(eval(text, {"b": SIZES["b"]}))


BIASES = {
    "BSNH": ['("b * 3", 5, 6)', '("b * 3", 1, 6)', "(1, 5, 6)", "(5, 6)", "(6,)", "(1, 1, 6)"],
    "BSH": ['("b", 5, 6)', '("b", 1, 6)', "(5, 1)"],
}


@pytest.mark.parametrize(
    ("layout", "cast"), list(itertools.product(["BSNH", "BSH"], [False, True]))
)
def test_attention_written_out_is_attention(layout, cast, rng):
    check(module(layout, layout, None, cast), rng, layout, layout, False, cast)


@pytest.mark.parametrize(("layout", "bias"), [(k, bias) for k, v in BIASES.items() for bias in v])
def test_a_bias_of_any_shape_is_spread_to_scores(layout, bias, rng):
    check(module(layout, layout, bias, False), rng, layout, layout, True, False)


def test_repeated_heads_stay_repeated(rng):
    check(module("BSNH", "BSNH", None, False, repeat=True), rng, "BSNH", "BSNH", False, False, True)


CHANGES = [
    "q_p = R.permute_dims(q, (0, 2, 1, 3)) -> q_p = R.reshape(q, (b, 3, 5, 4))",
    "axis=-1 -> axis=1",
    "axis=-1 -> axis=0",
    "(b, 3, 5, 7) -> (3, b, 5, 7)",
    "R.permute_dims(split, (0, 2, 1, 3)) -> R.permute_dims(split, (2, 0, 1, 3))",
    "R.const(0.25, \"float32\") -> R.const([[[0.25], [0.5], [0.25], [0.5], [0.75]]], 'float32')",
]


@pytest.mark.parametrize("changed", CHANGES)
def test_what_only_looks_like_attention_is_left_alone(changed):
    mod = module("BSNH", "BSNH", None, False, changed=changed)
    pattern, rewriter = make_attention_rewrite_pattern("BSNH", "BSNH", False, False)
    assert rewrite_call(pattern, rewriter, mod["main"]) is mod["main"]


def test_joined_heads_are_no_layout_of_one_head():
    mod = module("BSNH", "BSH", None, False)
    pattern, rewriter = make_attention_rewrite_pattern("BSNH", "BSH", False, False)
    assert rewrite_call(pattern, rewriter, mod["main"]) is mod["main"]


def test_a_bias_whose_shape_is_not_known_is_left_alone():
    with pytest.warns(RelaxWarning, match="must be equal, or one of them 1"):
        mod = module("BSNH", "BSNH", '("x", 5, 6)', False)
    pattern, rewriter = make_attention_rewrite_pattern("BSNH", "BSNH", True, False)
    assert rewrite_call(pattern, rewriter, mod["main"]) is mod["main"]


def test_a_layout_that_there_is_not_is_refused():
    with pytest.raises(DiagnosticError, match='`qkv_layout` is "BSNH" or "BSH", not `\'BNSH\'`'):
        make_attention_rewrite_pattern("BNSH", "BSNH", False, False)
    with pytest.raises(DiagnosticError, match='`out_layout` is "BSNH" or "BSH", not `None`'):
        make_attention_rewrite_pattern("BSNH", None, False, False)
