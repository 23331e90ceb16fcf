"""Structural checks at run time: the spec's "Evaluating MatchCast" and the start and end of a call.

`match` checks one value and `match_arguments` the arguments of a call against checks (checks.py).
Both first go over everything from left to right: the kind of each value, its dtype and rank,
constant dimensions, and variables in binding positions. Only then come the dimensions that are
computed from variables. So a signature means the same in whatever order its parameters are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import VMError
from relaxscript.errors.exceptions import is_user_error

from .check_messages import (
    ValuePath,
    argument_count_error,
    argument_path,
    describe_demand,
    describe_loads,
    describe_variables,
    evaluate_dim,
    mismatch_error,
    origins_of,
    wrong_kind_error,
)
from .checks import (
    AnyCheck,
    Check,
    Dim,
    DimAny,
    DimBind,
    DimConst,
    DimExpr,
    DimLoad,
    FuncCheck,
    Heap,
    Origins,
    PrimCheck,
    ShapeCheck,
    TensorCheck,
    TupleCheck,
    describe,
    describe_dim,
)
from .packed_func import PackedFunc
from .values import (
    Closure,
    Prim,
    Shape,
    kind_of,
    prim_dtype,
    prim_value,
    tensor_device,
    tensor_dtype,
)

__all__ = [
    "AnyCheck",
    "Check",
    "Dim",
    "DimBind",
    "DimConst",
    "DimExpr",
    "DimLoad",
    "FuncCheck",
    "Heap",
    "Origins",
    "PrimCheck",
    "ShapeCheck",
    "TensorCheck",
    "TupleCheck",
    "argument_count_error",
    "argument_path",
    "describe",
    "describe_dim",
    "describe_variables",
    "evaluate_dim",
    "match",
    "match_arguments",
    "origins_of",
]

__tracebackhide__ = is_user_error


_VALUE = -1  # takes the place of an axis for the value of a prim
_Later = tuple[ValuePath, int, int | float, Dim, Check, object]


@dataclass(slots=True)
class _Matcher:
    """One run of the two steps; `later` holds the dimensions of the second."""

    heap: Heap
    shapes: Sequence[object]
    origins: Callable[[], Origins]
    bound: dict[int, tuple[Dim, int, Check, ValuePath]] = field(default_factory=dict)
    later: list[_Later] = field(default_factory=list)
    functions: list[tuple[Closure, FuncCheck, ValuePath]] = field(default_factory=list)

    # -- the first step ----------------------------------------------------------------------------

    def check_structure(self, value: object, check: Check, place: ValuePath) -> None:
        match check:
            case TensorCheck():
                self.tensor(value, check, place)
            case TupleCheck():
                self.fields(value, check, place)
            case ShapeCheck():
                self.shape(value, check, place)
            case PrimCheck():
                self.prim(value, check, place)
            case FuncCheck():
                self.function(value, check, place)

    def fields(self, value: object, check: TupleCheck, place: ValuePath) -> None:
        if not isinstance(value, tuple) or isinstance(value, Shape):
            raise wrong_kind_error(place, check, value)
        if len(value) != len(check.fields):
            raise place.error(f"{place.length()} is {len(value)}; must be {len(check.fields)}")
        for i, (item, part) in enumerate(zip(value, check.fields, strict=True)):
            self.check_structure(item, part, place.field(i))

    def shape(self, value: object, check: ShapeCheck, place: ValuePath) -> None:
        if not isinstance(value, Shape):
            raise wrong_kind_error(place, check, value)
        ndim = check.ndim if check.dims is None else len(check.dims)
        if ndim >= 0 and len(value) != ndim:
            raise mismatch_error(
                place, f"{place.length()} is {len(value)}; must be {ndim}", check, value
            )
        if check.dims is not None:
            self.dims(value, check.dims, check, value, place)

    def tensor(self, value: Any, check: TensorCheck, place: ValuePath) -> None:
        dtype = tensor_dtype(value)
        if dtype is None:
            raise wrong_kind_error(place, check, value)
        if check.dtype is not None and dtype != check.dtype:
            text = f"{place.part('.dtype')} is {dtype}; must be {check.dtype}"
            converts = f'`.astype("{check.dtype}")` converts an array'
            help = converts if DataType(check.dtype).has_numpy else "no array has that dtype"
            raise mismatch_error(place, text, check, value, help)
        shape = value.shape
        ndim = check.ndim if check.dims is None else len(check.dims)
        if ndim >= 0 and len(shape) != ndim:
            text = f"{place.part('.ndim')} is {len(shape)}; must be {ndim}"
            raise mismatch_error(place, text, check, value)
        if check.device is not None and tensor_device(value) != check.device:
            text = f"{place} is on {tensor_device(value)}; must be on {check.device}"
            raise mismatch_error(place, text, check, value)
        if check.dims is not None:
            self.dims(shape, check.dims, check, value, place)
        if check.shape_slot is not None and self.shapes[check.shape_slot] != shape:
            held = self.shapes[check.shape_slot]
            listed = tuple(held) if isinstance(held, Shape) else kind_of(held)
            text = f"{place.part('.shape')} is {shape}; must be `{check.shape_name} = {listed}`"
            raise mismatch_error(place, text, check, value)

    def prim(self, value: object, check: PrimCheck, place: ValuePath) -> None:
        dtype = prim_dtype(value)
        if dtype is None:
            raise wrong_kind_error(place, check, value)
        if dtype != check.dtype:
            given = value.value if isinstance(value, Prim) else value
            text = f"{place} is {given!r} of dtype {dtype}; must be of dtype {check.dtype}"
            help = None
            if check.dtype not in ("int64", "float64", "bool"):
                help = f'`relaxscript.runtime.Prim(value, "{check.dtype}")` makes one'
            raise place.error(text, help=help)
        number = prim_value(value)
        if check.value is not None and number is not None:
            self.number(number, check.value, check, value, place)

    def number(
        self, number: int | float, dim: Dim, check: Check, value: object, place: ValuePath
    ) -> None:
        match dim:
            case DimConst(value=constant) if number != constant:
                raise self.wrong(number, dim, _VALUE, check, value, place)
            case DimConst():
                pass
            case DimBind(slot=slot, name=name) if slot not in self.bound:
                if number < 0:
                    text = f"{place} is {number}; must be at least 0 to be the value of `{name}`"
                    raise place.error(text)
                self.heap[slot] = number
                self.bound[slot] = (dim, _VALUE, check, place)
            case _:
                self.later.append((place, _VALUE, number, dim, check, value))

    def dims(
        self,
        sizes: Sequence[int],
        dims: tuple[Dim, ...],
        check: Check,
        value: object,
        place: ValuePath,
    ) -> None:
        bound, heap = self.bound, self.heap
        for axis, dim in enumerate(dims):  # type tests, not patterns: every call comes through here
            kind, size = type(dim), sizes[axis]
            if kind is DimConst:
                if size != dim.value:  # type: ignore[union-attr]
                    raise self.wrong(size, dim, axis, check, value, place)
            elif kind is DimBind and dim.slot not in bound:  # type: ignore[union-attr]
                heap[dim.slot] = size  # type: ignore[union-attr]
                bound[dim.slot] = (dim, axis, check, place)  # type: ignore[union-attr]
            elif kind is not DimAny:
                self.later.append((place, axis, size, dim, check, value))

    def function(self, value: object, check: FuncCheck, place: ValuePath) -> None:
        match value:
            case Closure() if check.packed is not True:
                self.type(value, check, place)
                if check.refusal is not None:
                    self.functions.append((value, check, place))
            case PackedFunc() if check.packed is not False:
                pass
            case _:
                raise wrong_kind_error(place, check, value)

    def type(self, closure: Closure, check: FuncCheck, place: ValuePath) -> None:
        """Take the values of variables from the type of a closure."""
        sizes = check.sizes(closure.info) if check.sizes is not None else ()
        for dim, size in zip(check.binds, sizes, strict=False):
            if dim.slot in self.bound:
                continue
            if size is None:
                text = (
                    f"{place} is {kind_of(closure)}, whose type does not say what `{dim.name}` is"
                )
                raise place.error(text, [f"its type is `{closure.info!r}`"])
            self.heap[dim.slot] = size
            self.bound[dim.slot] = (dim, _VALUE, check, place)

    # -- the second step ---------------------------------------------------------------------------

    def check_dimensions(self) -> None:
        for place, axis, size, dim, check, value in self.later:
            if self.computed(dim, check, place, axis) != size:
                raise self.wrong(size, dim, axis, check, value, place)
        for closure, wanted, place in self.functions:
            reason = wanted.refusal and wanted.refusal(closure.info, self.heap)
            if reason:
                given = describe_loads(wanted.loads, self.heap, self.known())
                text = f"{place} is {kind_of(closure)} that does not fit{given}: {reason}"
                notes = [f"expected {describe(wanted)}", f"its type is `{closure.info!r}`"]
                raise place.error(text, notes)

    def computed(self, dim: Dim, check: Check, place: ValuePath, axis: int) -> int | float:
        try:
            return evaluate_dim(dim, self.heap)
        except ArithmeticError as error:
            why = describe_variables(dim, self.heap, self.known())
            text = f"must be `{describe_dim(dim)}`, which cannot be computed{why}: {error}"
            raise place.error(f"{place.dimension(check, axis)} {text}") from error

    def wrong(
        self, size: int | float, dim: Dim, axis: int, check: Check, value: object, place: ValuePath
    ) -> VMError:
        """The error for a dimension that is not what it must be."""
        words = describe_demand(dim, self.heap, self.known())
        text = f"{place.dimension(check, axis)} is {size}; must be {words}"
        return mismatch_error(place, text, check, value)

    def known(self) -> Origins:
        """The origins of the values of the variables."""
        here = {
            slot: (bind.name, "" if bind.captured else place.dimension(check, axis))
            for slot, (bind, axis, check, place) in self.bound.items()
            if isinstance(bind, DimBind)
        }
        return {**self.origins(), **here}


def match(
    value: object,
    check: Check,
    heap: Heap,
    where: str,
    shapes: Sequence[object] = (),
    origins: Callable[[], Origins] = dict,
) -> None:
    """Check `value` as a MatchCast does, binding shape variables in the heap.

    `where` names the value in the message, and `shapes` holds what a `shape_slot` indexes.
    `origins` tells, when asked, where variables bound earlier came from. Raises `VMError` (RX0605).
    """
    if type(check) is TensorCheck and type(value) is np.ndarray and _fits(value, check, heap):
        return
    matching = _Matcher(heap, shapes, origins)
    matching.check_structure(value, check, ValuePath(where))
    if matching.later or matching.functions:
        matching.check_dimensions()


def _fits(value: np.ndarray[Any, Any], check: TensorCheck, heap: Heap) -> bool:
    """True if an array is what is wanted at first sight, and there is nothing to bind."""
    dims, shape = check.dims, value.shape
    if dims is None or len(dims) != len(shape) or tensor_dtype(value) != check.dtype:
        return False
    if check.device is not None or check.shape_slot is not None:
        return False
    for axis, dim in enumerate(dims):  # type tests: results of all packed functions come here
        kind = type(dim)
        wanted = heap[dim.slot] if kind is DimLoad else dim.value if kind is DimConst else None  # type: ignore[union-attr]
        if shape[axis] != wanted:
            return False
    return True


def match_arguments(
    values: Sequence[object],
    checks: Sequence[Check],
    heap: Heap,
    names: Sequence[str],
    function: str,
    origins: Callable[[], Origins] = dict,
) -> None:
    """Check the arguments of a call of `function`, as the spec has it for the start of a function.

    `shape_slot`s index the arguments themselves; `origins` is as in `match`. Raises `VMError`, also
    for a wrong number.
    """
    if len(values) != len(checks):
        raise argument_count_error(function, names, len(values))
    matching = _Matcher(heap, values, origins)
    for i, (value, check, name) in enumerate(zip(values, checks, names, strict=True)):
        if type(check) is not AnyCheck:
            matching.check_structure(value, check, argument_path(name, function, i))
    if matching.later or matching.functions:
        matching.check_dimensions()
