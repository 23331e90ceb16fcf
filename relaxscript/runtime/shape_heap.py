"""Shapes in lowered programs: a heap of integers that builtins fill, compare with, and read.

`VMShapeLower` writes every check and every computed shape of a function out as calls of these. A
dimension is a pair of a code and a value: what to do with it, and a number or a slot of the heap.

    heap = alloc_shape_heap(state, size, *names)
    check_tensor_info(x, ndim, dtype, device, *words)    kind, rank, data type, device
    match_shape(x, heap, ndim, *pairs, *words)           stores or compares dimensions
    make_shape(heap, ndim, *pairs) · make_prim_value(heap, how, value, dtype)

The words of a check say what a message says: the value ("`x`"), the function whose argument it is,
the code of the diagnostic, and what is wanted ("a tensor of shape (n, 4)"); those of a match say
last what gives the slots their values. Source: TVM's `vm.builtin.*` for names, codes and order; our
functions take words where TVM's take the text of a context.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np

from relaxscript.errors import VMError

from .check import AnyCheck, Check, match, variables
from .check_words import part_of
from .pattern import (
    Dim,
    DimBind,
    DimConst,
    DimExpr,
    DimLoad,
    FuncCheck,
    PrimCheck,
    ShapeCheck,
    TensorCheck,
    TupleCheck,
)
from .values import (
    Shape,
    device as device_of,
    make_prim,
    prim_value,
)

__all__ = [
    "BUILTINS",
    "MakeShapeCode",
    "MatchShapeCode",
    "ShapeHeap",
    "make_prim_value",
    "make_shape",
]

BUILTINS: dict[str, Callable[..., Any]] = {}


class MatchShapeCode(IntEnum):
    """What `match_shape` does with a dimension."""

    ASSERT_EQUAL_TO_IMM = 0
    STORE_TO_HEAP = 1
    NO_OP = 2
    ASSERT_EQUAL_TO_LOAD = 3


class MakeShapeCode(IntEnum):
    """Where `make_shape` takes a dimension from."""

    USE_IMM = 0
    LOAD_SHAPE = 1


_EQUAL, _STORE, _SKIP, _LOAD = MatchShapeCode
_USE = MakeShapeCode.USE_IMM


class ShapeHeap(np.ndarray[Any, Any]):
    """The shape variables of one call, an int64 tensor; `names` says what each slot holds.

    `log` remembers which part of what gave a slot its value, for messages.
    """

    names: tuple[str, ...]
    log: list[tuple[int, str, str]]

    def __array_finalize__(self, obj: Any) -> None:
        self.names = getattr(obj, "names", ())
        self.log = getattr(obj, "log", [])

    def origins(self) -> dict[int, tuple[str, str]]:
        """Where each slot got its value."""
        return {
            slot: (self.names[slot], part_of(place, part))
            for slot, part, place in reversed(self.log)
        }


def _builtin(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        BUILTINS[f"vm.builtin.{name}"] = function
        return function

    return register


@_builtin("alloc_shape_heap")
def alloc_shape_heap(state: object, size: int, *names: str) -> ShapeHeap:
    """A heap of `size` slots, which hold what `names` say."""
    heap = np.zeros(size, np.int64).view(ShapeHeap)
    heap.names, heap.log = names, []
    return heap


# -- kinds of values -------------------------------------------------------------------------------


def _check(value: Any, check: Check, place: str, owner: str, code: str, wanted: str) -> None:
    match(value, check, [], place, owner=owner, code=code, wanted=wanted)


@lru_cache(maxsize=4096)
def _tensor_check(ndim: int, dtype: str, where: str) -> TensorCheck:
    known = None if dtype == "void" else dtype
    return TensorCheck(known, ndim, None, device_of(where) if where else None)


@_builtin("check_tensor_info")
def check_tensor_info(value: Any, ndim: int, dtype: str, where: str, *words: str) -> None:
    """A tensor; rank -1, data type "void" and device "" leave these open."""
    _check(value, _tensor_check(ndim, str(dtype), where), *words)


@_builtin("check_shape_info")
def check_shape_info(value: Any, ndim: int, *words: str) -> None:
    """A shape of `ndim` dimensions, -1 for any number."""
    _check(value, ShapeCheck(ndim), *words)


@_builtin("check_prim_value_info")
def check_prim_value_info(value: Any, dtype: str, *words: str) -> None:
    """A prim value of a data type."""
    _check(value, PrimCheck(str(dtype)), *words)


@_builtin("check_tuple_info")
def check_tuple_info(value: Any, size: int, *words: str) -> None:
    """A tuple of `size` fields."""
    _check(value, TupleCheck((AnyCheck(),) * size), *words)


@_builtin("check_func_info")
def check_func_info(value: Any, *words: Any) -> Any:
    """A function, of the type that a check behind the words knows; gives the function.

    Between them may stand the values of the shape variables to which that type refers.
    """
    *sizes, check = words[4:] or (FuncCheck(),)
    match(value, check, list(*sizes), words[0], (), dict, *words[1:4])
    return value


# -- dimensions ------------------------------------------------------------------------------------


@_builtin("match_shape")
def match_shape(value: Any, heap: ShapeHeap, ndim: int, *rest: Any) -> None:
    """Store the dimensions of a tensor or shape, or compare them, as `ndim` pairs say."""
    *_, origin = words = rest[-5:]
    sizes: Sequence[int] = value if type(value) is Shape else value.shape
    for axis in range(ndim):
        how, wanted, size = rest[2 * axis], rest[2 * axis + 1], sizes[axis]
        if how == _STORE:
            heap[wanted] = size
            part = f"[{axis}]" if type(value) is Shape else f".shape[{axis}]"
            heap.log.append((wanted, part, origin))
        elif (how == _EQUAL and size != wanted) or (how == _LOAD and size != heap[wanted]):
            pairs = zip(_pairs(rest[:-5]), sizes, strict=True)
            dims = tuple(_dim(*pair, heap, size) for pair, size in pairs)
            known = (ndim, dims)
            check = ShapeCheck(*known) if type(value) is Shape else TensorCheck(None, *known)
            match(value, check, list(heap), words[0], (), heap.origins, *words[1:4])


def _pairs(flat: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _dim(how: int, value: Any, heap: ShapeHeap, size: int | float) -> Dim:
    """What is wanted of a dimension that is `size` now."""
    match how:
        case MatchShapeCode.NO_OP:
            return DimConst(size)
        case MatchShapeCode.STORE_TO_HEAP:
            return DimBind(value, heap.names[value])
        case MatchShapeCode.ASSERT_EQUAL_TO_LOAD:
            name = heap.names[value]
            return DimLoad(value, name) if name.isidentifier() else _computed(value, heap)
    number = prim_value(value)
    return DimConst(value if number is None else number)


def _computed(slot: int, heap: ShapeHeap) -> DimExpr:
    """What was computed from other slots: these are read, so that a message can name them."""
    text = heap.names[slot]
    words = set(re.findall(r"\w+", text))
    used = [i for i, name in enumerate(heap.names) if name in words]

    def compute(values: Sequence[int]) -> int:
        for i in used:
            values[i]
        return int(heap[slot])

    return DimExpr(compute, text)


@_builtin("match_prim_value")
def match_prim_value(value: Any, heap: ShapeHeap, how: int, wanted: Any, *words: str) -> None:
    """Store a prim value in the heap, or compare it."""
    number = prim_value(value)
    stores = how == _STORE
    if stores and number is not None and number >= 0:  # as every variable of a shape is
        heap[wanted] = number
        heap.log.append((wanted, "", words[4]))
        return
    if stores or number != (heap[wanted] if how == _LOAD else prim_value(wanted)):
        dtype = getattr(value, "dtype", None) or {int: "int64", bool: "bool"}.get(type(value))
        check = PrimCheck(str(dtype or "float64"), _dim(how, wanted, heap, 0))
        match(value, check, list(heap), words[0], (), heap.origins, *words[1:4])


@_builtin("match_shape_value")
def match_shape_value(value: Any, shape: Any, *words: str) -> None:
    """A tensor whose shape is the value of a variable."""
    place, owner, code, wanted, name = words
    check = TensorCheck(shape_slot=0, shape_name=name)
    match(value, check, [], place, (shape,), owner=owner, code=code, wanted=wanted)


def make_shape(heap: ShapeHeap, ndim: int, *flat: Any) -> Shape:
    """The shape of numbers and of slots of the heap."""
    pairs = _pairs(flat)
    sizes = [value if how == _USE else int(heap[value]) for how, value in pairs]
    for axis, (size, (_, value)) in enumerate(zip(sizes, pairs, strict=True)):
        if size < 0:  # only of a slot: a number that is negative is refused when it is written
            why = variables(_dim(_LOAD, value, heap, size), list(heap), heap.origins())
            text = f"dimension {axis} of a shape, `{heap.names[value]}`, is {size}{why}"
            raise VMError(text, code="RX0605")
    return Shape.of_sizes(sizes)


def make_prim_value(heap: ShapeHeap, how: int, value: int, dtype: str) -> Any:
    """A number, or what a slot of the heap holds, as a prim value."""
    return make_prim(value if how == _USE else int(heap[value]), dtype)
