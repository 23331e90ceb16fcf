"""Patterns of what libraries compute as one: what each matches, what not, and its named parts."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript.analysis import get_var2val
from relaxscript.dpl import is_op, wildcard
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Expr
from relaxscript.relax.backend.patterns import (
    make_attention_pattern,
    make_conv2d_pattern,
    make_fused_bias_activation_pattern,
    make_layer_norm_pattern,
    make_matmul_dequantize_pattern,
    make_matmul_multiply_pattern,
    make_matmul_pattern,
    make_residual_block_pattern,
    make_rms_norm_pattern,
    make_stacked_attention_pattern,
)
from relaxscript.relax.backend.utils import has_leaking_intermediate_variables
from relaxscript.script import from_source
from relaxscript.transform import FuseOpsByPattern, FusionPattern, PatternCheckContext

PARAMS = """x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 5), "float32"),
        t: R.Tensor((5, 4), "float32"), b: R.Tensor((5,), "float32"),
        r: R.Tensor(("n", 5), "float32"), s: R.Tensor((1,), "float32"),
        u: R.Tensor((1,), "float32"), i: R.Tensor((1, 3, 8, 9), "float32"),
        k: R.Tensor((2, 3, 3, 3), "float32"), z: R.Tensor((4,), "float32"),
        q: R.Tensor((2, 6, 4, 16), "float32"), m: R.Tensor((2, 4, 6, 6), "float32"),
        q1: R.Tensor((1, 6, 4, 16), "float32"), l: R.Tensor((3,), "int32"),
        most: R.Tensor((), "int32"), stacked: R.Tensor((2, 6, 192), "float32"),
        heads: R.Tensor((6, 2, 4, 48), "float32"), j: R.Tensor((2, 4), "int32"),
        o: R.Tensor((4, 5), "int32")"""


def module(body: str, outputs: str = "out") -> IRModule:
    lines = "\n".join(f"            {line.strip()}" for line in body.strip().split("\n"))
    found = from_source(f"""
@I.ir_module
class M:
    @T.prim_func(private=True)
    def norm(a: T.Buffer((4, 5), "float32"), c: T.Buffer((5,), "float32"),
             d: T.Buffer((4, 5), "float32")):
        for i, j in T.grid(4, 5):
            with T.block("norm"):
                vi, vj = T.axis.remap("SS", [i, j])
                d[vi, vj] = a[vi, vj] * c[vj]

    @R.function
    def main({PARAMS}):
        n = T.int64()
        cls = M
        with R.dataflow():
{lines}
            R.output({outputs})
        return out
""")
    assert isinstance(found, IRModule)
    return found


def parts_of(made: Any, body: str) -> dict[str, Expr] | None:
    """The named parts of the value of `out`; None where it does not match."""
    pattern, parts = made
    main = module(body)["main"]
    found = pattern.extract_matched_expr(main.body.blocks[0].bindings[-1].value, get_var2val(main))
    return None if found is None else {name: found[part] for name, part in parts.items()}


MATMUL = "p = R.matmul(x, w)\n"
QUERY, KEY, VALUE = (f"{name} = R.reshape({name}0, (2, 6, 4, 16))\n" for name in "abc")
SPLIT = "g = R.split(stacked, 3, axis=2)\na0 = g[0]\nb0 = g[1]\nc0 = g[2]\n" + QUERY + KEY + VALUE
SLICES = "".join(
    f"{name} = R.strided_slice(heads, (3,), ({16 * at},), ({16 * at + 16},))\n"
    f"{name}1 = R.permute_dims({name}, (1, 0, 2, 3))\n"
    for at, name in enumerate("abc")
)
ATTENTION = "out = R.nn.attention(a, b, c)"
RELU = "relax.nn.relu"

# A pattern, a program that it matches, the operands that it names, and one that it does not match.
CASES = [
    (
        make_fused_bias_activation_pattern("relax.matmul", True, RELU),
        f"{MATMUL}a = R.add(p, b)\nout = R.nn.relu(a)",
        {"lhs": "x", "rhs": "w", "bias": "b"},
        f"{MATMUL}out = R.nn.relu(p)",
    ),
    (
        make_fused_bias_activation_pattern("relax.subtract"),
        "out = R.subtract(b, u)",
        {"lhs": "b", "rhs": "u"},
        "out = R.add(b, u)",
    ),
    (
        make_residual_block_pattern(make_matmul_pattern(), activation=RELU),
        f"{MATMUL}a = R.add(r, p)\nout = R.nn.relu(a)",
        {"lhs": "x", "rhs": "w", "residual": "r"},
        f"{MATMUL}out = R.add(r, p)",
    ),
    (
        make_residual_block_pattern(is_op("relax.matmul")(wildcard(), wildcard()), "relax.divide"),
        f"{MATMUL}out = R.divide(r, p)",
        {"residual": "r"},
        f"{MATMUL}out = R.add(r, p)",
    ),
    (
        make_conv2d_pattern(activation=RELU),
        "c = R.nn.conv2d(i, k, strides=2)\nout = R.nn.relu(c)",
        {"input": "i", "weight": "k"},
        "c = R.nn.conv2d(i, k)\nout = R.exp(c)",
    ),
    (
        make_matmul_pattern(True),
        f"{MATMUL}out = R.add(b, p)",
        {"lhs": "x", "rhs": "w", "bias": "b"},
        "out = R.add(r, b)",
    ),
    (
        make_matmul_pattern(transposed_rhs=True),
        "p = R.permute_dims(t)\nout = R.matmul(x, p)",
        {"lhs": "x", "rhs": "t"},
        "out = R.matmul(x, w)",
    ),
    (
        make_attention_pattern(),
        "out = R.nn.attention(q, q, q)",
        {"query": "q", "key": "q", "value": "q"},
        "out = R.nn.attention(q, q, q, m)",
    ),
    (
        make_attention_pattern(with_bias=True),
        "out = R.nn.attention_bias(q, q, q, m)",
        {"query": "q", "bias": "m"},
        "out = R.nn.attention(q, q, q)",
    ),
    (
        make_attention_pattern(var_len=True),
        "out = R.nn.attention_var_len(q1, q1, q1, l, most, l, most)",
        {"query": "q1", "seqstart_q": "l", "max_seqlen_q": "most", "seqstart_k": "l"},
        "out = R.nn.attention_var_len(q1, q1, q1, l, most)",
    ),
    (
        make_stacked_attention_pattern("split"),
        SPLIT + ATTENTION,
        {"stacked_qkv": "stacked"},
        SPLIT + "out = R.nn.attention(b, a, c)",
    ),
    (
        make_stacked_attention_pattern("strided_slice", True, layout="SBN3H"),
        SLICES + "d = R.nn.attention(a1, b1, c1, m)\n"
        "out = R.permute_dims(d, (1, 0, 2, 3))",
        {"stacked_qkv": "heads"},
        SLICES + "d = R.nn.attention(a1, b1, c1)\nout = R.permute_dims(d, (1, 0, 2, 3))",
    ),
    (
        make_layer_norm_pattern(),
        "out = R.nn.layer_norm(x, z, z, axes=-1)",
        {},
        "out = R.nn.rms_norm(x, z, axes=-1)",
    ),
    (
        make_rms_norm_pattern(),
        'out = R.call_tir(cls.norm, (w, b), out_sinfo=R.Tensor((4, 5), "float32"))',
        {"gv": "norm", "inp": "w"},
        "out = R.multiply(w, b)",
    ),
    (
        make_matmul_dequantize_pattern(),
        'p = R.matmul(j, o)\nout = R.dequantize(p, R.const(2.0, "float32"), R.const(3, "int32"))',
        {"lhs": "j", "rhs": "o"},
        'p = R.matmul(j, o)\ne = R.max(u)\nout = R.dequantize(p, e, R.const(3, "int32"))',
    ),
    (
        make_matmul_multiply_pattern(transposed_rhs=True),
        "p = R.matmul(x, R.permute_dims(t))\nf = R.multiply(s, u)\n"
        'g = R.multiply(p, f)\nout = R.astype(g, "float16")',
        {"lhs": "x", "rhs": "t", "scaleA": "s", "scaleB": "u"},
        "p = R.matmul(x, R.permute_dims(t))\nf = R.multiply(b, b)\n"
        'g = R.multiply(p, f)\nout = R.astype(g, "float16")',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("made", "matched", "operands", "other"), CASES)
def test_it_matches_its_program_and_names_its_parts_and_matches_no_other(
    made, matched, operands, other
):
    found = parts_of(made, matched)
    assert found is not None
    assert found.keys() == made[1].keys()
    assert {name: found[name].name_hint for name in operands} == operands
    assert parts_of(made, other) is None


def test_the_root_is_the_computation_without_what_follows():
    for made, body in [
        (make_matmul_pattern(True, RELU), f"{MATMUL}a = R.add(p, b)\nout = R.nn.relu(a)"),
        (make_conv2d_pattern(False, RELU), "c = R.nn.conv2d(i, k)\nout = R.nn.relu(c)"),
    ]:
        found = parts_of(made, body)
        assert found is not None
        assert found["root"].op.name in ("relax.matmul", "relax.nn.conv2d")


def test_it_goes_into_a_fusion_pattern_as_it_is():
    asked = []

    def check(context: PatternCheckContext) -> bool:
        asked.append(context.annotated_expr["bias"].name_hint)
        return not has_leaking_intermediate_variables(context)

    mod = module(f"{MATMUL}a = R.add(p, b)\nout = R.nn.relu(a)")
    wanted = FusionPattern("mine.all", *make_matmul_pattern(True, RELU), check)
    made = FuseOpsByPattern([wanted])(mod)
    assert asked == ["b"]
    assert made["fused_relax_matmul_relax_add_relax_nn_relu"].attrs["Composite"] == "mine.all"


@pytest.mark.parametrize(
    ("arguments", "message", "help"),
    [
        (("splits",), '`start_op` is "split" or "strided_slice", not `\'splits\'`',
         'write `start_op="split"`'),
        (("split", False, "sbn3h"), '`layout` is "BS3NH" or "SBN3H", not `\'sbn3h\'`',
         'write `layout="SBN3H"`'),
        ((3,), '`start_op` is "split" or "strided_slice", not `3`', 'write `start_op="split"`'),
    ],
)  # fmt: skip
def test_another_operator_or_layout_is_refused(arguments, message, help):
    with pytest.raises(DiagnosticError) as caught:
        make_stacked_attention_pattern(*arguments)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.message) == ("RX0709", message)
    assert diagnostic.help.startswith("write `")
    assert diagnostic.help == help


# -- values that leak ------------------------------------------------------------------------------


def leaks(body: str, outputs: str = "out") -> bool:
    """What a `check` is told of the match of a relu of an addition that ends in `out`."""
    main = module(body, outputs)["main"]
    values = get_var2val(main)
    bound = {value: var for var, value in values.items()}
    usages: dict[Any, list[Any]] = {var: [] for var in values}
    for var, value in values.items():
        for arg in getattr(value, "args", ()):
            usages.setdefault(arg, []).append(var)
    (out,) = [value for var, value in values.items() if var.name_hint == "out"]
    inside = {bound[out]: out, out.args[0]: values[out.args[0]]}
    return has_leaking_intermediate_variables(PatternCheckContext(out, {}, inside, usages, bound))


def test_a_value_that_is_used_outside_of_a_match_leaks():
    assert not leaks("a = R.add(r, b)\nout = R.nn.relu(a)")
    assert leaks("a = R.add(r, b)\ne = R.exp(a)\nout = R.nn.relu(a)")


def test_a_value_that_leaves_its_block_leaks():
    assert leaks("a = R.add(r, b)\nout = R.nn.relu(a)", "a, out")
