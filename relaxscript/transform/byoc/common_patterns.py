"""Patterns of what libraries compute as one: products, convolutions, attention, normalisations.

pattern, annotations = make_matmul_pattern(with_bias=True, activation="relax.nn.relu")
FuseOpsByPattern([("mine.matmul_bias_relu", pattern, annotations)])

The second result gives parts of the pattern by name, for the `check` of a `FusionPattern` and for
its attributes. Source: TVM `relax.backend.patterns`.
"""

from __future__ import annotations

from relaxscript.dpl.constraints import pattern_error
from relaxscript.dpl.constructors import is_const, is_op, is_tuple_get_item, wildcard
from relaxscript.dpl.pattern import DFPattern, GlobalVarPattern, TuplePattern
from relaxscript.errors import nearest
from relaxscript.op.binary import add, multiply
from relaxscript.op.calls import call_tir
from relaxscript.op.datatype import astype
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.manipulate.axes import permute_dims
from relaxscript.op.manipulate.concat_split import split
from relaxscript.op.manipulate.shapes import reshape
from relaxscript.op.nn.convolution import conv2d
from relaxscript.op.nn.normalization import layer_norm
from relaxscript.op.nn.scaled_dot_product import attention
from relaxscript.op.nn.variable_lengths import attention_var_len
from relaxscript.op.qdq import dequantize
from relaxscript.op.slicing import strided_slice

__all__ = [
    "make_attention_pattern", "make_conv2d_pattern", "make_fused_bias_activation_pattern",
    "make_layer_norm_pattern", "make_matmul_dequantize_pattern", "make_matmul_multiply_pattern",
    "make_matmul_pattern", "make_residual_block_pattern", "make_rms_norm_pattern",
    "make_stacked_attention_pattern", "require_one_of",
]  # fmt: skip

# A pattern, and parts of it by name.
Parts = dict[str, DFPattern]
PatternAndParts = tuple[DFPattern, Parts]


def require_one_of(word: str, given: object, known: tuple[str, ...]) -> None:
    """Refuse a word that is not among those known: RX0709, with the nearest that is."""
    if given not in known:
        near = nearest(given, known) if isinstance(given, str) else None
        choices = " or ".join(f'"{name}"' for name in known)
        help = f'write `{word}="{near or known[0]}"`'
        raise pattern_error(f"`{word}` is {choices}, not `{given!r}`", help)


def _with_bias_and_activation(
    root: DFPattern, parts: Parts, with_bias: bool, activation: str | None
) -> PatternAndParts:
    """A computation, its bias and its activation, as far as they are wanted."""
    out = root
    if with_bias:
        parts["bias"] = wildcard()
        out = is_op(add.name)(out, parts["bias"])
    return out if activation is None else is_op(activation)(out), parts


def make_fused_bias_activation_pattern(
    op_name: str, with_bias: bool = False, activation: str | None = None
) -> PatternAndParts:
    """A call of an operator of two operands, then a bias, then an activation.

    Its parts are `lhs`, `rhs`, `root` (the call of `op_name`), and `bias` where there is one.
    Operators have full names. Raises `DiagnosticError` (RX0101) for one that there is not.

    Source: TVM `relax.backend.patterns.make_fused_bias_activation_pattern`.
    """
    lhs, rhs = wildcard(), wildcard()
    root = is_op(op_name)(lhs, rhs)
    parts: Parts = {"lhs": lhs, "rhs": rhs, "root": root}
    return _with_bias_and_activation(root, parts, with_bias, activation)


def make_residual_block_pattern(
    node_output: DFPattern | PatternAndParts,
    binary_op: str = add.name,
    activation: str | None = None,
) -> PatternAndParts:
    """A value that a pattern matches and a residual input, on either side; then an activation.

    `node_output` is a pattern, or a pattern and its parts. `residual` is the part that is added to
    these. Raises `DiagnosticError` (RX0101) for an operator that there is not.

    Source: TVM `relax.backend.patterns.make_residual_block_pattern`.
    """
    inner, parts = node_output if isinstance(node_output, tuple) else (node_output, {})
    residual = wildcard()
    combine = is_op(binary_op)
    out: DFPattern = combine(inner, residual) | combine(residual, inner)
    if activation is not None:
        out = is_op(activation)(out)
    return out, {**parts, "residual": residual}


def make_conv2d_pattern(with_bias: bool = False, activation: str | None = None) -> PatternAndParts:
    """A 2D convolution, then a bias, then an activation.

    Its parts are `input`, `weight`, `root` (the convolution), and `bias` where there is one.

    Source: TVM `relax.backend.patterns.make_conv2d_pattern`.
    """
    data, weight = wildcard(), wildcard()
    root = is_op(conv2d.name)(data, weight)
    parts: Parts = {"input": data, "weight": weight, "root": root}
    return _with_bias_and_activation(root, parts, with_bias, activation)


def _product(transposed_rhs: bool) -> tuple[DFPattern, Parts]:
    """A product of matrices, of which the second may be transposed first."""
    lhs, rhs = wildcard(), wildcard()
    second: DFPattern = is_op(permute_dims.name)(rhs) if transposed_rhs else rhs
    root = is_op(matmul.name)(lhs, second)
    return root, {"lhs": lhs, "rhs": rhs, "root": root}


def make_matmul_pattern(
    with_bias: bool = False, activation: str | None = None, transposed_rhs: bool = False
) -> PatternAndParts:
    """A product of matrices, then a bias, then an activation.

    With `transposed_rhs` the second operand goes through `R.permute_dims`, of any axes: a `check`
    may look at them. Parts are `lhs`, `rhs` (before it), `root` (the product), and `bias`.

    Source: TVM `relax.backend.patterns.make_matmul_pattern`.
    """
    root, parts = _product(transposed_rhs)
    return _with_bias_and_activation(root, parts, with_bias, activation)


def make_matmul_dequantize_pattern(transposed_rhs: bool = False) -> PatternAndParts:
    """A product of matrices that is dequantized with a constant scale and zero point.

    Parts are `lhs`, `rhs`, `root` (the product), `scale` and `zp`.

    Source: TVM `relax.backend.patterns.make_matmul_dequantize_pattern`.
    """
    root, parts = _product(transposed_rhs)
    scale, zero_point = is_const(), is_const()
    out = is_op(dequantize.name)(root, scale, zero_point)
    return out, {**parts, "scale": scale, "zp": zero_point}


def make_matmul_multiply_pattern(transposed_rhs: bool = False) -> PatternAndParts:
    """A product of matrices multiplied by the product of two scales of shape (1,), then cast.

    Parts are `lhs`, `rhs`, `root` (the product), `scaleA` and `scaleB`.

    Source: TVM `relax.backend.patterns.make_matmul_multiply_pattern`.
    """
    root, parts = _product(transposed_rhs)
    one, other = wildcard(), wildcard()
    scale = is_op(multiply.name)(one.has_shape((1,)), other.has_shape((1,)))
    out = is_op(astype.name)(is_op(multiply.name)(root, scale))
    return out, {**parts, "scaleA": one, "scaleB": other}


def make_attention_pattern(with_bias: bool = False, var_len: bool = False) -> PatternAndParts:
    """Attention; with a bias, or over sequences of several lengths.

    Parts are `query`, `key`, `value`, and `bias`; of several lengths also `seqstart_q`,
    `seqstart_k`, `max_seqlen_q` and `max_seqlen_k`. `with_bias` has precedence over `var_len`.

    Source: TVM `relax.backend.patterns.make_attention_pattern`.
    """
    names = ["query", "key", "value"]
    if with_bias:
        names.append("bias")
    elif var_len:  # the order of the operands of `R.nn.attention_var_len`
        names += ["seqstart_q", "max_seqlen_q", "seqstart_k", "max_seqlen_k"]
    parts: Parts = {name: wildcard() for name in names}
    of_lengths = var_len and not with_bias
    computation = attention_var_len if of_lengths else attention
    return is_op(computation.name)(*parts.values()), parts


def make_stacked_attention_pattern(
    start_op: str, with_bias: bool = False, layout: str = "BS3NH"
) -> PatternAndParts:
    """Attention of queries, keys and values that come as one tensor.

    `start_op` takes them apart: "split" or "strided_slice". In the layout "BS3NH" each is then
    reshaped. In "SBN3H" the axes of each are permuted, and those of the result. Parts are
    `stacked_qkv`, `split` or `strided_slice_query`, `_key` and `_value`, and `bias`; in the first
    layout `query_reshape_list`, `key_reshape_list` and `value_reshape_list`, in the second
    `q_transpose`, `k_transpose` and `v_transpose`.

    Raises `DiagnosticError` (RX0709) for another operator or layout.

    Source: TVM `relax.backend.patterns.make_stacked_attention_pattern`.
    """
    require_one_of("start_op", start_op, ("split", "strided_slice"))
    require_one_of("layout", layout, ("BS3NH", "SBN3H"))
    stacked = wildcard()
    parts: Parts = {"stacked_qkv": stacked}
    words = ("query", "key", "value")
    taken: list[DFPattern] = []
    if start_op == "split":
        parts["split"] = sections = is_op(split.name)(stacked)
        taken += [is_tuple_get_item(sections, index) for index in range(3)]
    else:
        for word in words:
            sliced = is_op(strided_slice.name)(stacked, varg_default_wildcard=True)
            parts[f"strided_slice_{word}"] = sliced
            taken.append(sliced)
    operands: list[DFPattern] = []
    for word, part in zip(words, taken):
        if layout == "BS3NH":
            shape = parts[f"{word}_reshape_list"] = wildcard()
            operands.append(is_op(reshape.name)(part, shape))
        else:
            parts[f"{word[0]}_transpose"] = is_op(permute_dims.name)(part)
            operands.append(parts[f"{word[0]}_transpose"])
    if with_bias:
        parts["bias"] = wildcard()
        operands.append(parts["bias"])
    out = is_op(attention.name)(*operands)
    return out if layout == "BS3NH" else is_op(permute_dims.name)(out), parts


def make_layer_norm_pattern() -> PatternAndParts:
    """A layer normalisation with its scale and shift; it has no named parts.

    Source: TVM `relax.backend.patterns.make_layer_norm_pattern`.
    """
    return is_op(layer_norm.name)(wildcard(), wildcard(), wildcard()), {}


def make_rms_norm_pattern() -> PatternAndParts:
    """A call of some PrimFunc of a tensor and a weight, as legalized models normalise.

    Parts are `gv` (the name of the PrimFunc, which a `check` looks at), `inp` and `rms_norm` (the
    call itself). It matches any such call.

    Source: TVM `relax.backend.patterns.make_rms_norm_pattern`.
    """
    inp, weight, callee = wildcard(), wildcard(), GlobalVarPattern()
    out = is_op(call_tir.name)(callee, TuplePattern([inp, weight]))
    return out, {"gv": callee, "inp": inp, "rms_norm": out}
