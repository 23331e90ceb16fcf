"""The names of `T` for tensor expressions: reductions, producers, index maps, kinds of effects.

    total = T.comm_reducer(lambda x, y: x + y, [T.float32(0)])

Source: TVM `tvm.script.tir` for names, order of parameters and defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.errors.user_frame import report_at_caller
from relaxscript.ir import tir
from relaxscript.ir.prim import PrimExpr, PrimExprLike, Var, as_prim, cast, const
from relaxscript.ir.tir_compute import (
    CommReducer as _CommReducer,
    IndexMap,
    ProducerLoad as _Load,
    Reduce as _Reduce,
    parameters_of,
)
from relaxscript.tir_builder import iter_var as make_iter_var

from .statement import Arguments, Role, statement
from .tir_types import StmtForm

__all__ = [
    "CallEffectKind", "CommReducer", "IterVar", "ProducerLoad", "Reduce", "comm_reducer",
    "index_map", "iter_var",
]  # fmt: skip


class CallEffectKind(IntEnum):
    """The effects that evaluating a call may have."""

    ExprAnnotation = 0
    Pure = 1
    ReadState = 2
    UpdateState = 3
    SpecialCallArg = 4
    EmbedInfo = 5
    ControlJump = 6


@statement(
    Role.VALUE,
    lambda tb, v, dom, iter_type, thread_tag: make_iter_var(v, dom, iter_type, thread_tag),
)
def iter_var(v: Any, dom: Any, iter_type: str, thread_tag: str) -> Arguments:
    """An axis: of a `T.Reduce`, or as the node of `T.attr`."""
    return locals()


def IterVar(dom: Any, var: Any, iter_type: str, thread_tag: str = "") -> StmtForm:
    """The same as `T.iter_var`, in the order of the node's fields."""
    return iter_var(var, dom, iter_type, thread_tag)


def _results(made: Any) -> tuple[Any, ...]:
    return tuple(made) if isinstance(made, (tuple, list)) else (made,)


def CommReducer(
    lhs: Sequence[Var],
    rhs: Sequence[Var],
    result: Sequence[PrimExpr],
    identity_element: Sequence[PrimExpr],
) -> _CommReducer:
    """A function that combines values, by its variables; usually made by `T.comm_reducer`."""
    return _CommReducer(tuple(lhs), tuple(rhs), tuple(result), tuple(identity_element))


def comm_reducer(combiner: Callable[..., Any], identity: Sequence[PrimExpr]) -> _CommReducer:
    """A function that combines values: `T.comm_reducer(lambda x, y: x + y, [T.float32(0)])`.

    For several values combined together the function takes those of the left side first, and gives
    a tuple.
    """
    names, starts = parameters_of(combiner), _results(identity)
    if len(names) != 2 * len(starts):
        raise TypeError(
            f"the function has {len(names)} parameters, and {len(starts)} identities need "
            f"{2 * len(starts)}"
        )
    dtypes = [as_prim(e).dtype for e in starts] * 2
    made = [Var.make(name, dtype) for name, dtype in zip(names, dtypes)]
    results = _results(combiner(*made))
    half = len(starts)
    return _CommReducer(tuple(made[:half]), tuple(made[half:]), results, starts)


@report_at_caller
def Reduce(
    combiner: _CommReducer,
    src: Sequence[PrimExpr],
    rdom: Sequence[tir.IterVar],
    condition: PrimExprLike,
    value_index: int,
    init: Sequence[PrimExpr] | None = None,
) -> _Reduce:
    """The values of `src` combined over some axes, where `condition` holds."""
    if type(value_index) is not int or not 0 <= value_index < len(src):
        raise OperandError(
            "value_index", f"is {value_index}", code="RX0502",
            message=f"`value_index` names one of the values of a `T.Reduce`, which has {len(src)}",
        )  # fmt: skip
    where = cast(as_prim(condition), DataType("bool"))
    return _Reduce(combiner, tuple(src), tuple(rdom), where, value_index, tuple(init or ()))


def ProducerLoad(producer: tir.Buffer, indices: Sequence[PrimExprLike]) -> _Load:
    """The element of what a tensor expression produces."""
    return _Load(producer, tuple(e if isinstance(e, PrimExpr) else const(e) for e in indices))


def index_map(
    mapping: Callable[..., Any],
    *,
    inverse_index_map: Callable[..., Any] | IndexMap | None = None,
    index_dtype: str = "int64",
) -> IndexMap:
    """A change of layout: `T.index_map(lambda i, j: (i // 16, j, i % 16))`."""
    return IndexMap.from_func(mapping, inverse_index_map=inverse_index_map, index_dtype=index_dtype)
