"""Structural checks at run time: the spec's "Evaluating MatchCast" and the start and end of a call.

`match` checks one value and `match_arguments` the arguments of a call against checks (pattern.py).
Both first go over everything from left to right: the kind of each value, its data type and rank,
constant dimensions, and variables in binding positions. Only then come the dimensions that are
computed from variables, so a signature means the same in whatever order its parameters stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from relaxscript.errors import InternalError, VMError

from .packed_func import PackedFunc
from .pattern import (
    AnyCheck,
    Check,
    Dim,
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
from .values import (
    Closure,
    Shape,
    is_tensor,
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
    "argument_place",
    "describe",
    "describe_dim",
    "evaluate",
    "match",
    "match_arguments",
    "origins_of",
    "variables",
    "wrong_number",
]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands: `base`, and the fields of tuples that lead to it.

    `argument` is the position of `base` among the arguments, where it is one. `wanted` says in
    words what stands there, where that is more than its check knows.
    """

    base: str
    owner: str = ""
    code: str = "RX0605"
    path: tuple[int, ...] = ()
    argument: int | None = None
    wanted: str = ""

    def describe(self, check: Check) -> str:
        """What must stand here, in words."""
        return self.wanted or describe(check)

    def error(self, text: str, notes: Sequence[str] = ()) -> VMError:
        """What is wrong with the value that stands here."""
        made = VMError(f"{self}: {text}", code=self.code, notes=notes)
        made.argument = self.argument
        return made

    def field(self, index: int) -> _Place:
        return replace(self, path=(*self.path, index))

    @property
    def short(self) -> str:
        return "".join(f"field {i} of " for i in reversed(self.path)) + self.base

    def __str__(self) -> str:
        return self.short + self.owner


_VALUE = -1  # stands in the place of an axis for the value of a prim
_Later = tuple[_Place, int, int | float, Dim, Check, object]


@lru_cache(maxsize=4096)
def argument_place(name: str, function: str, position: int) -> _Place:
    """Where argument `position` of a call of `function` stands."""
    return _Place(f"`{name}`", f" of `{function}`", "RX0601", argument=position)


@dataclass(slots=True)
class _Matching:
    """One run of the two steps; `later` holds the dimensions of the second."""

    heap: Heap
    shapes: Sequence[object]
    origins: Callable[[], Origins]
    bound: dict[int, tuple[Dim, int, _Place]]
    later: list[_Later]

    # -- the first step ----------------------------------------------------------------------------

    def first(self, value: object, check: Check, place: _Place) -> None:
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
                _function(value, check, place)

    def fields(self, value: object, check: TupleCheck, place: _Place) -> None:
        if not isinstance(value, tuple) or isinstance(value, Shape):
            raise _refuse(place, check, value)
        if len(value) != len(check.fields):
            raise _refuse(place, check, value)
        for i, (item, field) in enumerate(zip(value, check.fields, strict=True)):
            self.first(item, field, place.field(i))

    def shape(self, value: object, check: ShapeCheck, place: _Place) -> None:
        if not isinstance(value, Shape):
            raise _refuse(place, check, value)
        if check.ndim >= 0 and len(value) != check.ndim:
            wanted = f"expected a shape of {check.ndim} dimensions, got {len(value)}"
            raise _mismatch(place, wanted, check, value)
        if check.dims is not None:
            self.dims(value, check.dims, check, value, place)

    def tensor(self, value: Any, check: TensorCheck, place: _Place) -> None:
        dtype = tensor_dtype(value)
        if dtype is None:
            raise _refuse(place, check, value)
        if check.dtype is not None and dtype != check.dtype:
            wanted = f"expected a tensor of dtype {check.dtype}, got {dtype}"
            hint = f'`.astype("{check.dtype}")` converts an array'
            raise _mismatch(place, wanted, check, value, (hint,))
        shape = value.shape
        if check.ndim >= 0 and len(shape) != check.ndim:
            wanted = f"expected a tensor of rank {check.ndim}, got rank {len(shape)}"
            raise _mismatch(place, wanted, check, value)
        if check.device is not None and tensor_device(value) != check.device:
            wanted = f"expected a tensor on {check.device}, got one on {tensor_device(value)}"
            raise _mismatch(place, wanted, check, value)
        if check.dims is not None:
            self.dims(shape, check.dims, check, value, place)
        if check.shape_slot is not None and self.shapes[check.shape_slot] != shape:
            held = self.shapes[check.shape_slot]
            listed = tuple(held) if isinstance(held, Shape) else kind_of(held)
            raise _mismatch(
                place, f"the shape is {shape}, must equal {listed}", check, value, described=False
            )

    def prim(self, value: object, check: PrimCheck, place: _Place) -> None:
        dtype = prim_dtype(value)
        if dtype is None:
            raise _refuse(place, check, value)
        if dtype != check.dtype:
            wanted = f"expected a prim value of dtype {check.dtype}, got {value!r} of {dtype}"
            hints: tuple[str, ...] = ()
            if check.dtype not in ("int64", "float64", "bool"):
                hints = (f'`relaxscript.runtime.Prim(value, "{check.dtype}")` makes one',)
            raise _mismatch(place, wanted, check, value, hints, described=False)
        number = prim_value(value)
        if check.value is not None and number is not None:
            self.number(number, check.value, check, value, place)

    def number(
        self, number: int | float, dim: Dim, check: Check, value: object, place: _Place
    ) -> None:
        match dim:
            case DimConst(value=constant) if number != constant:
                self.constant(number, dim, _VALUE, check, value, place)
            case DimConst():
                pass
            case DimBind(slot=slot, name=name) if slot not in self.bound:
                if number < 0:
                    text = (
                        f"the value is {number}, but the shape variable `{name}` is never negative"
                    )
                    raise _mismatch(place, text, check, value)
                self.heap[slot] = number
                self.bound[slot] = (dim, _VALUE, place)
            case _:
                self.later.append((place, _VALUE, number, dim, check, value))

    def dims(
        self,
        sizes: Sequence[int],
        dims: tuple[Dim, ...],
        check: Check,
        value: object,
        place: _Place,
    ) -> None:
        if len(sizes) != len(dims):
            noun = "rank" if isinstance(check, TensorCheck) else "number of dimensions"
            wanted = f"expected the {noun} {len(dims)}, got {len(sizes)}"
            raise _mismatch(place, wanted, check, value)
        bound, heap = self.bound, self.heap
        for axis, dim in enumerate(dims):  # type tests, not patterns: every call comes through here
            kind, size = type(dim), sizes[axis]
            if kind is DimConst:
                if size != dim.value:  # type: ignore[union-attr]
                    self.constant(size, dim, axis, check, value, place)
            elif kind is DimBind and dim.slot not in bound:  # type: ignore[union-attr]
                heap[dim.slot] = size  # type: ignore[union-attr]
                bound[dim.slot] = (dim, axis, place)  # type: ignore[union-attr]
            else:
                self.later.append((place, axis, size, dim, check, value))

    def constant(
        self, size: int | float, dim: Dim, axis: int, check: Check, value: object, place: _Place
    ) -> None:
        """Fail: dimension `axis` is not the constant that it must be."""
        wanted = f"{_noun(axis)} is {size}, must equal {describe_dim(dim)}"
        raise _mismatch(place, wanted, check, value)

    # -- the second step ---------------------------------------------------------------------------

    def second(self) -> None:
        for place, axis, size, dim, check, value in self.later:
            wanted = self.computed(dim, place, axis)
            if wanted != size:
                text = f"{_noun(axis)} is {size}, must equal `{describe_dim(dim)}` = {wanted}"
                raise _mismatch(place, text + self.because(dim), check, value)

    def computed(self, dim: Dim, place: _Place, axis: int) -> int | float:
        try:
            return evaluate(dim, self.heap)
        except ArithmeticError as error:
            text = f"`{describe_dim(dim)}` cannot be computed: {error}{self.because(dim)}"
            text = f"{_noun(axis)}: {text}"
            raise place.error(text) from error

    def because(self, dim: Dim) -> str:
        """Where the variables of `dim` got their values, in parentheses."""
        here = {
            slot: (bind.name, "" if bind.captured else f"{_noun(axis)} of {place.short}")
            for slot, (bind, axis, place) in self.bound.items()
            if isinstance(bind, DimBind)
        }
        return variables(dim, self.heap, {**self.origins(), **here})


def _noun(axis: int) -> str:
    return "the value" if axis == _VALUE else f"dimension {axis}"


def evaluate(dim: Dim, heap: Heap) -> int | float:
    """The size that `dim` demands; raises an ArithmeticError where it divides by zero."""
    match dim:
        case DimConst(value=constant):
            return constant
        case DimExpr(compute=compute):
            return compute(heap)
    value: int | float | None = heap[dim.slot]
    if value is None:
        raise InternalError(f"the shape variable `{dim.name}` is used before it is bound")
    return value


class _Reads(list[Any]):
    """A heap that remembers which slots were read."""

    def __init__(self, heap: Heap) -> None:
        super().__init__(heap)
        self.slots: list[int] = []

    def __getitem__(self, slot: Any) -> Any:
        self.slots.append(slot)
        return super().__getitem__(slot)


def variables(dim: Dim, heap: Heap, origins: Origins) -> str:
    """The values of the variables in `dim` and where they come from: " (n = 4 from ...)"."""
    match dim:
        case DimConst():
            return ""
        case DimExpr(compute=compute):
            reads = _Reads(heap)
            with suppress(ArithmeticError):  # what was read up to there is what matters
                compute(reads)
            facts = []
            for slot in dict.fromkeys(reads.slots):
                name, origin = origins.get(slot, (f"variable {slot}", ""))
                facts.append(f"{name} = {heap[slot]}" + (f" from {origin}" if origin else ""))
            return f" ({', '.join(facts)})" if facts else ""
    origin = origins.get(dim.slot, ("", ""))[1]
    return f" (from {origin})" if origin else ""


def match(
    value: object,
    check: Check,
    heap: Heap,
    where: str,
    shapes: Sequence[object] = (),
    origins: Callable[[], Origins] = dict,
    owner: str = "",
    code: str = "RX0605",
    wanted: str = "",
) -> None:
    """Check `value` as a MatchCast does, binding shape variables in the heap.

    `where` names the value in the message, `shapes` holds what a `shape_slot` indexes and `origins`
    tells, when asked, where variables bound earlier came from; `owner` says whose the value is, and
    `wanted` what it must be, if that is not `check` alone. Raises `VMError` of that `code`.
    """
    if type(check) is TensorCheck and type(value) is np.ndarray and _fits(value, check, heap):
        return
    matching = _Matching(heap, shapes, origins, {}, [])
    matching.first(value, check, _Place(where, owner, code, wanted=wanted))
    if matching.later:
        matching.second()


def _fits(value: np.ndarray[Any, Any], check: TensorCheck, heap: Heap) -> bool:
    """Whether an array is what is wanted at first sight, and there is nothing to bind."""
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
        raise wrong_number(function, names, len(values))
    matching = _Matching(heap, values, origins, {}, [])
    for i, (value, check, name) in enumerate(zip(values, checks, names, strict=True)):
        if type(check) is not AnyCheck:
            matching.first(value, check, argument_place(name, function, i))
    if matching.later:
        matching.second()


def wrong_number(function: str, names: Sequence[str], given: int) -> VMError:
    """The error for a call with a wrong number of arguments."""
    listed = f" ({', '.join(names)})" if names else ""
    noun = "argument" if len(names) == 1 else "arguments"
    return VMError(f"`{function}` takes {len(names)} {noun}{listed}, got {given}", code="RX0602")


def origins_of(checks: Sequence[Check], names: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Which place among values of these names gives each shape variable its value."""
    found: dict[int, tuple[str, str]] = {}
    todo: list[tuple[Check, _Place]] = [
        (check, _Place(name)) for check, name in zip(checks, names, strict=True)
    ]
    while todo:
        check, place = todo.pop(0)
        match check:
            case TensorCheck(dims=dims) | ShapeCheck(dims=dims):
                for axis, dim in enumerate(dims or ()):
                    if isinstance(dim, DimBind):
                        found.setdefault(dim.slot, (dim.name, f"dimension {axis} of {place}"))
            case PrimCheck(value=DimBind(slot=slot, name=name, captured=captured)):
                found.setdefault(slot, (name, "" if captured else f"the value of {place}"))
            case TupleCheck(fields=fields):
                todo[:0] = [(field, place.field(i)) for i, field in enumerate(fields)]
    return found


def _function(value: object, check: FuncCheck, place: _Place) -> None:
    match value:
        case Closure() if check.packed is not True:
            if check.accepts is not None and not check.accepts(value.info):
                wanted = f"expected {check.text}, got {kind_of(value)} of another type"
                hints = (f"its type is `{value.info!r}`",)
                raise _mismatch(place, wanted, check, value, hints, described=False)
        case PackedFunc() if check.packed is not False:
            pass
        case _:
            raise _refuse(place, check, value)


def _refuse(place: _Place, check: Check, value: object) -> VMError:
    """The error for a value that is not of the kind that `check` wants."""
    hint = ""
    if isinstance(check, TensorCheck) and isinstance(value, (list, int, float)):
        hint = "; `numpy.array(value, dtype)` makes one"
    if isinstance(check, PrimCheck) and is_tensor(value):
        hint = "; a prim value is a plain number, not a tensor (`.item()` takes it out)"
    if isinstance(check, ShapeCheck) and isinstance(value, (tuple, list)):
        hint = "; `relaxscript.runtime.Shape(dims)` makes one"
    if isinstance(check, FuncCheck) and check.packed is not False and callable(value):
        hint = "; `relaxscript.PackedFunc(name, function)` makes one"
    if isinstance(check, TupleCheck) and isinstance(value, list):
        hint = "; `tuple(values)` makes one"
    wanted = f"expected {place.describe(check)}, got {kind_of(value)}{hint}"
    return place.error(wanted)


def _mismatch(
    place: _Place,
    text: str,
    check: Check,
    value: object,
    hints: tuple[str, ...] = (),
    described: bool = True,
) -> VMError:
    """The error for a value of the right kind that differs in `text`."""
    notes = list(hints)
    if described:
        notes.append(f"expected {place.describe(check)}, got {kind_of(value)}")
    return place.error(text, notes)
