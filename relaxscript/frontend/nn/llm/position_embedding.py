"""Rotary position embeddings and their scalings, as loops that are compiled with the model.

A function of frequencies is given a position `s` and the element `d` of a head. It gives cosine and
sine of the angle by which the element is turned. It also gives the variables in them, by value.
Elements `d` and `d + d_range / 2` are turned together, in the manner of GPT-J `d` and `d + 1`.

Source: TVM `relax.frontend.nn.llm.position_embedding`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from relaxscript import te
from relaxscript.errors import did_you_mean, nearest
from relaxscript.frontend.nn.tensor import Tensor, tensor_info, wrap_nested
from relaxscript.frontend.nn.trace import current_builder, model_error
from relaxscript.ir.prim import Let, Max, Min, PrimExpr, Var
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import relax as R

__all__ = [
    "llama_rope", "llama_rope_with_position_map", "rope_freq_default", "rope_freq_gptj",
    "rope_freq_llama3", "rope_freq_longrope", "rope_freq_yarn", "switch_rope_freq_func",
]  # fmt: skip

Frequencies = tuple[PrimExpr, PrimExpr, dict[Var, PrimExpr]]
Scaling = Mapping[str, Any] | None

# The kinds of scaling, and the items of a scaling that are arguments of their functions.
_ITEMS = {
    "default": (),
    "gptj": (),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "longrope": ("max_position_embeddings", "original_max_position_embeddings"),
    "yarn": ("original_max_position_embeddings", "factor", "beta_fast", "beta_slow"),
}


def rope_freq_default(s: Any, d: Any, d_range: int, theta: float, dtype: str) -> Frequencies:
    """The angle `s / theta ** (2 * pair / d_range)`, where `pair` is `d` modulo `d_range / 2`."""
    freq = _number(s) / _divisor(d * 2 % d_range, d_range, theta)
    return _turning("freq", freq, dtype)


def rope_freq_gptj(s: Any, d: Any, d_range: int, theta: float, dtype: str) -> Frequencies:
    """The same angle where elements `2 * pair` and `2 * pair + 1` are turned together."""
    freq = _number(s) / _divisor(te.floordiv(d, 2) * 2 % d_range, d_range, theta)
    return _turning("freq", freq, dtype)


def rope_freq_llama3(
    s: Any, d: Any, d_range: int, theta: float, dtype: str, factor: float,
    low_freq_factor: float, high_freq_factor: float, original_max_position_embeddings: float,
) -> Frequencies:  # fmt: skip
    """The scaling of Llama 3: angles of long waves are divided by `factor`, of short ones kept.

    Waves between `original_max_position_embeddings` divided by either factor are in between.
    """
    plain = _f32(1) / _divisor(d * 2 % d_range, d_range, theta)
    orig = te.var("orig_freq", "float32")
    if high_freq_factor == low_freq_factor:
        longest = 2 * math.pi * low_freq_factor / original_max_position_embeddings
        smooth = te.if_then_else(orig < _f32(longest), _f32(0), _f32(1))
    else:
        span = high_freq_factor - low_freq_factor
        slope = original_max_position_embeddings / (2 * math.pi) / span
        ramp = orig * _f32(slope) - _f32(low_freq_factor / span)
        smooth = Max(_f32(0), Min(_f32(1), ramp))
    scaled = _number(s) * ((_f32(1) - smooth) * orig * _f32(1 / factor) + smooth * orig)
    cos, sin, values = _turning("smoothed_freq", scaled, dtype)
    return cos, sin, {**values, orig: plain}


def rope_freq_longrope(
    s: Any, d: Any, d_range: int, theta: float, dtype: str, max_position_embeddings: int,
    original_max_position_embeddings: int, ext_factors: Any = None,
) -> Frequencies:  # fmt: skip
    """The scaling of LongRoPE: `ext_factors` has a divisor for each pair of elements.

    Cosine and sine grow with the ratio of the two lengths where that is above 1.
    """
    ratio = max_position_embeddings / original_max_position_embeddings
    longer = math.log(max(ratio, 1)) / math.log(original_max_position_embeddings)
    growth = math.sqrt(1 + longer)
    divisor = _divisor(d * 2 % d_range, d_range, theta)
    if ext_factors is not None:
        divisor = divisor * ext_factors[d % (d_range // 2)]
    freq = _number(s) / divisor
    cos, sin, values = _turning("freq", freq, "float32")
    return (cos * _f32(growth)).astype(dtype), (sin * _f32(growth)).astype(dtype), values


def rope_freq_yarn(
    s: Any, d: Any, d_range: int, theta: float, dtype: str,
    original_max_position_embeddings: int, scaling_factor: float, beta_fast: int, beta_slow: int,
) -> Frequencies:  # fmt: skip
    """The scaling of YaRN: slow angles are divided by `scaling_factor`, fast ones are kept.

    Slow ones turn less than `beta_slow` times in the original length, fast ones more than
    `beta_fast` times. In between it is a straight line over the pairs. The temperature of attention
    is not in it: it belongs in `sm_scale`.
    """

    def pair_of(rotations: float) -> float:
        turns = math.log(original_max_position_embeddings / (rotations * 2 * math.pi))
        return d_range * turns / (2 * math.log(theta))

    low = max(math.floor(pair_of(beta_fast)), 0)
    high = min(math.ceil(pair_of(beta_slow)), d_range - 1)
    width = high - low if high != low else 0.001
    pair = _number(d % (d_range // 2))
    slowed = Max(_f32(0), Min(_f32(1), (pair - _f32(low)) / _f32(width)))
    plain = _f32(1) / _divisor(d * 2 % d_range, d_range, theta)
    share = _f32(1) - slowed * _f32(1 - 1 / scaling_factor)
    freq = _number(s) * plain * share
    return _turning("freq", freq, dtype)


def switch_rope_freq_func(rope_scaling: Scaling) -> Callable[..., Frequencies]:
    """The function of frequencies for the scaling of a model's configuration.

    Its item "rope_type" is "default", "gptj", "llama3", "longrope" or "yarn"; without it there is
    no scaling. Raises `DiagnosticError` (RX0711) for another one, and for items that it lacks.
    """
    scaling = dict(rope_scaling or {})
    kind = scaling.get("rope_type", "default")
    if kind not in _ITEMS:
        known = ", ".join(f'"{name}"' for name in _ITEMS)
        help = did_you_mean(nearest(str(kind), _ITEMS), f"write one of {known}")
        raise model_error(f"there is no scaling of rope of the type {kind!r}", help=help)
    missing = [name for name in _ITEMS[kind] if name not in scaling]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        raise model_error(f'the scaling "{kind}" of rope lacks {listed}')
    renamed = {"factor": "scaling_factor"} if kind == "yarn" else {}
    given = {renamed.get(name, name): scaling[name] for name in _ITEMS[kind]}
    return partial(_FUNCTIONS[kind], **given)


_FUNCTIONS: dict[str, Callable[..., Frequencies]] = {
    "default": rope_freq_default,
    "gptj": rope_freq_gptj,
    "llama3": rope_freq_llama3,
    "longrope": rope_freq_longrope,
    "yarn": rope_freq_yarn,
}


def llama_rope(
    qkv: Tensor, total_seq_len: Any, theta: float, scale: float, num_q_heads: int,
    num_kv_heads: int, rope_scaling: Scaling, rotary_dim: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Queries, keys and values of a fused tensor, the first two turned by their positions.

    `qkv` is `(batch, seq_len, num_q_heads + 2 * num_kv_heads, head_dim)`. Its last token is at
    position `total_seq_len - 1`. Of each head the first `rotary_dim` elements are turned, all
    unless said. Raises `DiagnosticError` (RX0711) for another shape or scaling.
    """
    shape, fused = qkv.shape, num_q_heads + 2 * num_kv_heads
    if len(shape) != 4 or shape[2] != fused or not isinstance(shape[3], int):
        raise model_error(f"`qkv` is (batch, seq_len, {fused}, head_dim), got {tuple(shape)}")
    batch, length = (te.var(name, "int64") for name in ("batch_size", "seq_len"))
    total = te.var("total_seq_len", "int64")
    given = te.placeholder((batch, length, fused, shape[3]), qkv.dtype, name="qkv")
    turn = _Turning(theta, scale, shape[3], rope_scaling, rotary_dim)
    counts = {"q": num_q_heads, "k": num_kv_heads, "v": num_kv_heads}
    parts, first = [], 0
    for name, count in counts.items():
        element = turn.element if name != "v" else _as_is
        parts.append(
            te.compute(
                (batch, length, count, shape[3]),
                lambda b, s, h, d, at=first, element=element: element(
                    lambda i: given[b, s, h + at, i], total - length + s, d
                ),
                name=name,
            )
        )
        first += count
    function = _opaque(te.create_prim_func([given, *parts, total]))
    builder = current_builder("llama_rope")
    infos = [tensor_info((*shape[:2], count, shape[3]), qkv.dtype) for count in counts.values()]
    called = builder.add_func(function, "llama_rope")
    variables = R.shape([total_seq_len])
    result = R.call_tir(called, [qkv._expr], infos, tir_vars=variables)
    q, k, v = wrap_nested(result, "llama_rope")
    return q, k, v


def llama_rope_with_position_map(
    theta: float, scale: float, head_dim: int, num_q_heads: int, num_kv_heads: int, dtype: str,
    rope_scaling: Scaling, rotary_dim: int | None = None,
) -> PrimFunc:  # fmt: skip
    """The kernel with which a paged cache splits a fused tensor and turns queries and keys.

    It takes `qkv` of `(seq_len, num_q_heads + 2 * num_kv_heads, head_dim)` and the position of each
    token. Then come tensors for queries, keys and values. Last comes 1, or 0 where nothing is to be
    turned. In its place the kernel for "longrope" takes the extension factors.
    """
    length = te.var("seq_len", "int64")
    fused = num_q_heads + 2 * num_kv_heads
    qkv = te.placeholder((length, fused, head_dim), dtype, name="qkv")
    positions = te.placeholder((length,), "int32", name="position_map")
    turn = _Turning(theta, scale, head_dim, rope_scaling, rotary_dim)
    last: Any = te.var("apply_rope", "int64")
    if (rope_scaling or {}).get("rope_type") == "longrope":
        last = te.placeholder((turn.rotary_dim // 2,), "float32", name="ext_factors")
        turn.ext_factors = last
    else:
        turn.wanted = last > 0
    parts, first = [], 0
    for name, count in {"q": num_q_heads, "k": num_kv_heads, "v": num_kv_heads}.items():
        element = turn.element if name != "v" else _as_is
        parts.append(
            te.compute(
                (length, count, head_dim),
                lambda s, h, d, at=first, element=element: element(
                    lambda i: qkv[s, h + at, i], positions[s], d
                ),
                name=name,
            )
        )
        first += count
    return _opaque(te.create_prim_func([qkv, positions, *parts, last]))


class _Turning:
    """The elements of turned heads. `wanted` is a condition on which they are turned at all."""

    def __init__(
        self, theta: float, scale: float, head_dim: int, scaling: Scaling, rotary_dim: int | None
    ) -> None:
        self.rotary_dim = head_dim if rotary_dim is None else rotary_dim
        if self.rotary_dim % 2 or not 0 < self.rotary_dim <= head_dim:
            text = f"{self.rotary_dim} elements of a head of {head_dim} cannot be turned in pairs"
            raise model_error(text)
        self.ext_factors: Any = None
        self.wanted: PrimExpr | None = None
        self._head_dim, self._theta, self._scale = head_dim, theta, scale
        self._adjacent = (scaling or {}).get("rope_type") == "gptj"
        self._frequencies = switch_rope_freq_func(scaling)

    def element(self, load: Callable[[Any], PrimExpr], position: PrimExpr, d: Any) -> PrimExpr:
        """Element `d` of a head at a position; `load` gives those of the head."""
        given = load(d)
        ext = {} if self.ext_factors is None else {"ext_factors": self.ext_factors}
        at = _number(position) * _f32(self._scale)
        cos, sin, values = self._frequencies(at, d, self.rotary_dim, self._theta, "float32", **ext)
        step = 1 if self._adjacent else self.rotary_dim // 2
        first = (d % 2).equal(0) if self._adjacent else d < step
        partner = te.if_then_else(first, -load(d + step), load(d - step))
        turned = cos * _number(given) + sin * _number(partner)
        for var, value in values.items():
            turned = Let(var, value, turned)
        turned = turned.astype(given.dtype)
        conditions = [] if self.wanted is None else [self.wanted]
        if self.rotary_dim < self._head_dim:
            conditions.append(d < self.rotary_dim)
        for condition in reversed(conditions):
            turned = te.if_then_else(condition, turned, given)
        return turned


def _as_is(load: Callable[[Any], PrimExpr], position: PrimExpr, d: Any) -> PrimExpr:
    return load(d)


def _opaque(function: PrimFunc) -> PrimFunc:
    opaque: PrimFunc = function.with_attr("op_pattern", 8).without_attr("global_symbol")
    return opaque


def _turning(name: str, angle: PrimExpr, dtype: str) -> Frequencies:
    """Cosine and sine of an angle, which has a name in them."""
    var = te.var(name, "float32")
    return te.cos(var).astype(dtype), te.sin(var).astype(dtype), {var: angle}


def _divisor(exponent: Any, d_range: int, theta: float) -> PrimExpr:
    return te.power(_f32(theta), _number(exponent) / _f32(d_range))


def _number(value: Any) -> PrimExpr:
    """A value as a float32."""
    return value.astype("float32") if isinstance(value, PrimExpr) else _f32(value)


def _f32(value: float) -> PrimExpr:
    return te.const(float(value), "float32")
