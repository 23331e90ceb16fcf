"""Reductions: values of an expression combined over axes, by rules that users may add to.

    te.sum(A[i, k], axis=k)      te.max(A[i, k], axis=[k], where=k < n)      te.max(a, b)

Source: TVM `tir.op` (`comm_reducer`, `sum`, `min`, `max`, `prod`, `all`, `any`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.errors.user_frame import report_as
from relaxscript.ir import tir_functions
from relaxscript.ir.constant_folding import fold_function
from relaxscript.ir.prim import PrimExpr, Var, alike, const
from relaxscript.ir.scalar_functions import FUNCTIONS, infinity, max_value, min_value
from relaxscript.ir.tir import IterVar
from relaxscript.ir.tir_compute import CommReducer, Reduce

from . import element
from .tensor import as_element

__all__ = ["all", "any", "comm_reducer", "max", "min", "prod", "sum"]


def comm_reducer(
    fcombine: Callable[..., Any], fidentity: Callable[..., Any], name: str = "reduce"
) -> Callable[..., Any]:
    """A reduction by a commutative function: `comm_reducer(lambda a, b: a + b, lambda t: 0.0)`.

    For several values combined together `fcombine` takes two tuples and gives one. `fidentity`
    takes their dtypes then, and gives a tuple. What is returned is called `reducer(expr, axis,
    where=None, init=None)`; without an axis, `reducer(a, b)` combines scalars.
    """

    @report_as("te")
    def reducer(
        expr: Any, *further: Any, axis: Any = None, where: Any = None, init: Any = None
    ) -> Any:  # fmt: skip
        if axis is None and further and isinstance(further[0], (IterVar, list, tuple)):
            axis, where, init, *_ = (*further, *(where, init)[len(further) - 1 :])
        if axis is not None:
            return _reduce(fcombine, fidentity, expr, axis, where, init)
        if not further:
            raise OperandError(
                "axis", "is not given", code="RX0103",
                message=f"a reduction by `{name}` goes over axes",
                help=f"make one: `k = te.reduce_axis((0, n))`, and write `te.{name}(x[k], axis=k)`",
            )  # fmt: skip
        result = expr
        for other in further:
            combined = fcombine(*alike(*map(_number_or_element, (result, other))))
            result = fold_function(as_element(combined))
        return result

    reducer.__name__ = reducer.__qualname__ = name
    reducer.__doc__ = f"The values of `expr` combined over `axis`, or two scalars, by `{name}`."
    return reducer


def _number_or_element(value: Any) -> Any:
    """A scalar; a plain number is left as it is, for it takes the dtype of what it meets."""
    return value if isinstance(value, (int, float)) else as_element(value)


def _reduce(
    fcombine: Callable[..., Any], fidentity: Callable[..., Any], expr: Any, axis: Any, where: Any,
    init: Any,
) -> Any:  # fmt: skip
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    _check_axes(axes)
    several = isinstance(expr, (tuple, list))
    source = tuple(map(as_element, expr)) if several else (as_element(expr),)
    dtypes = [e.dtype for e in source]
    combiner = _combiner(fcombine, fidentity, dtypes, several)
    condition = const(True) if where is None else as_element(where)
    if not condition.dtype.is_bool:
        raise OperandError("where", f"is {condition.dtype}", code="RX0502",
                           message="`where` is a condition, a bool")  # fmt: skip
    starts = () if init is None else _values(init, dtypes)
    made = [Reduce.make(combiner, source, axes, condition, k, starts) for k in range(len(source))]
    return tuple(made) if several else made[0]


def _check_axes(axes: Sequence[Any]) -> None:
    for number, axis in enumerate(axes):
        if not isinstance(axis, IterVar) or axis.iter_type != "reduce" or axis.dom is None:
            raise OperandError(
                "axis", "is no axis to reduce over", code="RX0501",
                message=f"axis {number} of the reduction is not made by `te.reduce_axis`",
                help="make one: `k = te.reduce_axis((0, n))`",
            )  # fmt: skip


def _combiner(
    fcombine: Callable[..., Any], fidentity: Callable[..., Any], dtypes: Sequence[DataType],
    several: bool,
) -> CommReducer:  # fmt: skip
    parameters = inspect.signature(fcombine).parameters.values()
    names = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    if len(names) != 2:
        raise OperandError(
            "fcombine", f"takes {len(names)}", code="RX0103",
            message="the function of a reduction takes two values, or two tuples of them",
        )  # fmt: skip
    many = len(dtypes) > 1
    lhs, rhs = (
        tuple(Var(f"{n}{k}" if many else n, d) for k, d in enumerate(dtypes)) for n in names
    )
    result = fcombine(lhs, rhs) if several else fcombine(lhs[0], rhs[0])
    identity = fidentity(*(str(d) for d in dtypes))
    return CommReducer(lhs, rhs, _values(result, dtypes), _values(identity, dtypes))


def _values(made: Any, dtypes: Sequence[DataType]) -> tuple[PrimExpr, ...]:
    """The results of a function, one for each value that is combined; numbers get its dtype."""
    given = made if isinstance(made, (tuple, list)) else (made,)
    if len(given) != len(dtypes):
        raise OperandError(
            "fcombine", f"gives {len(given)}", code="RX0103",
            message=f"{len(dtypes)} values are combined, and {len(given)} come out",
        )  # fmt: skip
    return tuple(
        const(e, d) if isinstance(e, (int, float)) else as_element(e) for e, d in zip(given, dtypes)
    )


def least(dtype: str) -> PrimExpr:
    """The lower bound of all values of a dtype: minus infinity, where there is one."""
    return const(-np.inf, dtype) if _has_infinity(dtype) else min_value(dtype)


def greatest(dtype: str) -> PrimExpr:
    """The upper bound of all values of a dtype: infinity, where there is one."""
    return infinity(dtype) if _has_infinity(dtype) else max_value(dtype)


def _has_infinity(dtype: str) -> bool:
    d = DataType(dtype)
    return d.is_float and bool(np.isinf(np.asarray(np.inf).astype(d.element.numpy)))


sum = comm_reducer(lambda x, y: x + y, lambda t: const(0, t), name="sum")
prod = comm_reducer(lambda x, y: x * y, lambda t: const(1, t), name="prod")
min = comm_reducer(lambda x, y: FUNCTIONS["min"](x, y), greatest, name="min")
max = comm_reducer(lambda x, y: FUNCTIONS["max"](x, y), least, name="max")
_all = comm_reducer(lambda x, y: element.logical_and(x, y), lambda t: const(True), name="all")
_any = comm_reducer(lambda x, y: element.logical_or(x, y), lambda t: const(False), name="any")


def all(*args: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
    """The conjunction of conditions; with `axis`, that of one condition over it."""
    return (
        _all(*args, axis=axis, where=where, init=init)
        if axis is not None
        else tir_functions.all(*args)
    )


def any(*args: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
    """The disjunction of conditions; with `axis`, that of one condition over it."""
    return (
        _any(*args, axis=axis, where=where, init=init)
        if axis is not None
        else tir_functions.any(*args)
    )
