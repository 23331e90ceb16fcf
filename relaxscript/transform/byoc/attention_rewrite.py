"""Attention written as products and a softmax, and how it becomes `R.nn.attention`.

pattern, rewriter = make_attention_rewrite_pattern("BSNH", "BSNH", with_bias=True, with_cast=False)
after = rewrite_call(pattern, rewriter, before)

Source: TVM `relax.backend.patterns.make_attention_rewrite_pattern`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relaxscript.arith import YES, all_of, prove_equal
from relaxscript.dpl.constructors import is_const, is_op, wildcard
from relaxscript.dpl.pattern import DFPattern
from relaxscript.dtypes import DataType
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Attrs, Call, Constant, Expr, ShapeExpr
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op.binary import add, multiply
from relaxscript.op.datatype import astype
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.manipulate.axes import permute_dims
from relaxscript.op.manipulate.repetition import repeat
from relaxscript.op.manipulate.shapes import reshape
from relaxscript.op.nn.activation import softmax
from relaxscript.op.nn.scaled_dot_product import attention

from .common_patterns import require_one_of

__all__ = ["make_attention_rewrite_pattern"]

_LAYOUTS = ("BSNH", "BSH")
_HEADS_FIRST = (0, 2, 1, 3)
_TRANSPOSED = (0, 2, 1)
_ONE = IntImm(DataType("int64"), 1)

# What each part of the pattern matched.
Matchings = Mapping[DFPattern, Expr]
Dims = Sequence[PrimExpr]


def make_attention_rewrite_pattern(
    qkv_layout: str,
    out_layout: str,
    with_bias: bool,
    with_cast: bool,
    with_kv_repeat: bool = False,
) -> tuple[DFPattern, Callable[[Expr, Matchings], Expr]]:
    """Attention as two products with a softmax between them, and its rewriter for `rewrite_call`.

    Before, in the layout "BSH", which has one head:

        scores = R.multiply(R.matmul(q, R.permute_dims(k, [0, 2, 1])), R.const(0.5, "float32"))
        out = R.matmul(R.nn.softmax(scores), v)

    After:

        out = R.reshape(R.nn.attention(R.reshape(q, [b, s, 1, h]), ..., scale=0.5), [b, s, h])

    In "BSNH" (batch, sequence, heads, features) heads come before the sequence and are joined with
    the batch. `out_layout` says the same of the result. `with_bias` takes a bias of the scores, and
    `with_cast` the casts of mixed precision. With `with_kv_repeat` the heads of keys and values are
    repeated. The rewriter leaves a match alone where an axis or shape is not the one that is meant.

    Raises `DiagnosticError` (RX0709) for another layout.

    Source: TVM `relax.backend.patterns.make_attention_rewrite_pattern`.
    """
    require_one_of("qkv_layout", qkv_layout, _LAYOUTS)
    require_one_of("out_layout", out_layout, _LAYOUTS)
    query = _operand(qkv_layout, is_transposed=False, is_repeated=False)
    key = _operand(qkv_layout, is_transposed=True, is_repeated=with_kv_repeat)
    value = _operand(qkv_layout, is_transposed=False, is_repeated=with_kv_repeat)
    scale, bias = is_const(), wildcard() if with_bias else None
    scores = is_op(matmul.name)(query.pattern, key.pattern)
    scores = is_op(multiply.name)(scores, _cast(scale, with_cast))
    if bias is not None:
        scores = is_op(add.name)(scores, bias)
    weights = is_op(softmax.name)(_cast(scores, with_cast))
    product = is_op(matmul.name)(_cast(weights, with_cast), value.pattern)
    result = _Result(out_layout, product)

    def rewriter(original: Expr, matchings: Matchings) -> Expr:
        tensors = [part.found(matchings) for part in (query, key, value)]
        found = [tensor for tensor in tensors if tensor is not None]
        if len(found) < 3 or not _is_over_keys(matchings[weights]) or not _are_together(found):
            return original
        (q, q_dims), (k, k_dims), (v, v_dims) = found
        batch, queries, heads, _ = q_dims
        spread = None
        if bias is not None:
            spread = _spread(matchings[bias], batch, heads, queries, k_dims[1])
            if spread is None:
                return original
        factor = _number(matchings[scale])
        if factor is None or _dtype(original) != _dtype(matchings[query.tensor]):
            return original
        made = attention.build((q, k, v, spread, factor))
        return result.of(made, (batch, queries, heads, v_dims[3]), matchings, original)

    return result.pattern, rewriter


def _cast(pattern: DFPattern, is_cast: bool) -> DFPattern:
    return is_op(astype.name)(pattern) if is_cast else pattern


@dataclass(frozen=True)
class _Operand:
    """A query, key or value: `tensor` is what becomes an operand of attention."""

    tensor: DFPattern
    pattern: DFPattern
    permuted: DFPattern | None = None
    shape: DFPattern | None = None
    transposed: DFPattern | None = None

    def found(self, matchings: Matchings) -> tuple[Expr, Dims] | None:
        """The operand and its axes batch, sequence, heads, features; None for anything else."""
        tensor = matchings[self.tensor]
        dims = _dims(tensor)
        if dims is None or len(dims) != (3 if self.shape is None else 4):
            return None
        if self.transposed is not None and _axes(matchings[self.transposed], 3) != _TRANSPOSED:
            return None
        if self.permuted is None or self.shape is None:
            batch, length, features = dims
            whole = (batch, length, _ONE, features)
            return reshape.build((tensor, ShapeExpr(whole))), whole
        batch, length, heads, features = dims
        joined = (batch * heads, length, features)
        if _axes(matchings[self.permuted], 4) != _HEADS_FIRST:
            return None
        return (tensor, dims) if _is_shape(matchings[self.shape], joined) else None


def _operand(layout: str, is_transposed: bool, is_repeated: bool) -> _Operand:
    """The pattern of a query, key or value in a layout."""
    tensor: DFPattern = wildcard()
    if is_repeated:
        tensor = is_op(repeat.name)(tensor)
    pattern, permuted, shape, transposed = tensor, None, None, None
    if layout == "BSNH":
        permuted, shape = is_op(permute_dims.name)(tensor), wildcard()
        pattern = is_op(reshape.name)(permuted, shape)
    if is_transposed:
        pattern = transposed = is_op(permute_dims.name)(pattern)
    return _Operand(tensor, pattern, permuted, shape, transposed)


class _Result:
    """The second product and what follows it in a layout."""

    def __init__(self, layout: str, product: DFPattern) -> None:
        self.pattern = product
        self._shape: DFPattern | None = None
        if layout == "BSNH":
            self._shape = wildcard()
            self.pattern = is_op(permute_dims.name)(is_op(reshape.name)(product, self._shape))

    def of(self, made: Expr, dims: Dims, matchings: Matchings, original: Expr) -> Expr:
        """The attention in the layout; the original where that has another meaning."""
        batch, length, heads, features = dims
        if self._shape is None:
            if not _are_equal([(heads, 1)]):
                return original
            return reshape.build((made, ShapeExpr((batch, length, features))))
        if _axes(matchings[self.pattern], 4) != _HEADS_FIRST:
            return original
        split = (batch, heads, length, features)
        return made if _is_shape(matchings[self._shape], split) else original


# -- what is known of what was matched -------------------------------------------------------------


def _dims(expr: Expr) -> Dims | None:
    info = expr.struct_info
    return info.dims if isinstance(info, TensorStructInfo) else None


def _dtype(expr: Expr) -> object:
    info = expr.struct_info
    return info.dtype if isinstance(info, TensorStructInfo) else None


def _are_equal(pairs: Sequence[tuple[PrimExpr | int, PrimExpr | int]]) -> bool:
    return all_of(prove_equal(a, b) for a, b in pairs) is YES


def _are_together(found: Sequence[tuple[Expr, Dims]]) -> bool:
    """True if tensors have the same batch and heads."""
    (_, first), *others = found
    return _are_equal([(first[axis], dims[axis]) for _, dims in others for axis in (0, 2)])


def _is_shape(shape: Expr, dims: Dims) -> bool:
    """True if a shape has these dimensions for sure."""
    values = shape.values if isinstance(shape, ShapeExpr) else ()
    return len(values) == len(dims) and _are_equal(list(zip(values, dims)))


def _axes(call: Expr, ndim: int) -> tuple[int, ...]:
    """The order of the axes of `R.permute_dims`, counted from 0."""
    axes: Any = _attribute(call, "axes")
    if axes is None:
        return tuple(reversed(range(ndim)))
    numbers = [axis.value if isinstance(axis, IntImm) else int(axis) for axis in axes]
    return tuple([number % ndim for number in numbers])


def _attribute(call: Expr, name: str) -> Any:
    assert isinstance(call, Call)
    return (call.attrs or Attrs()).get(name)


def _is_over_keys(softmax: Expr) -> bool:
    """True if a softmax is over the last of three axes."""
    return int(_attribute(softmax, "axis")) in (-1, 2)


def _number(scale: Expr) -> float | None:
    """The number of a constant; None where it has several."""
    assert isinstance(scale, Constant)
    return float(scale.data.reshape(-1)[0]) if scale.data.size == 1 else None


def _spread(bias: Expr, batch: Any, heads: Any, queries: Any, keys: Any) -> Expr | None:
    """A bias of batch times heads, queries and keys, with axes for all four of these.

    It may have fewer axes, and 1 in each. None where it is not known to be one.
    """
    dims = _dims(bias)
    if dims is None or len(dims) > 3:
        return None
    missing: list[PrimExpr] = [_ONE] * (3 - len(dims))
    first, row, column = (*missing, *dims)
    for given, wanted in ((row, queries), (column, keys)):
        if not _are_equal([(given, wanted)]) and not _are_equal([(given, 1)]):
            return None
    for whole, leading in (
        (batch * heads, (batch, heads)),
        (batch, (batch, _ONE)),
        (1, (_ONE, _ONE)),
    ):
        if _are_equal([(first, whole)]):
            return reshape.build((bias, ShapeExpr((*leading, row, column))))
    return None
