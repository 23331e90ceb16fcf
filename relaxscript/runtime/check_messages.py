"""Messages of failed checks: which part of which value, what it is, what it must be, and why.

    `x.shape[1]` is 7; must be `2 * n` with `n = 4` from `w.shape[0]`, that is 8

Parts of a value that has a name are written as Python would reach them (`t[0].shape[1]`); those of
another value say whose they are ("`shape[1]` of the result of `f`").
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from relaxscript.errors import InternalError, VMError, quantity

from .checks import (
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
)
from .values import is_tensor, kind_of

__all__ = [
    "ValuePath", "argument_count_error", "argument_path", "describe_demand", "describe_loads",
    "describe_variables", "evaluate_dim", "mismatch_error", "origins_of", "part_of",
    "wrong_kind_error",
]  # fmt: skip


def part_of(base: str, part: str) -> str:
    """A part, such as ".shape[0]" or "[1]", of the value that `base` names."""
    if not part:
        return base
    if _is_code(base):
        return f"{base[:-1]}{part}`"
    field, of, whole = base.partition("` of ")
    if of and field.startswith("`["):  # a part of a part
        return f"{field}{part}{of}{whole}"
    return f"`{part.removeprefix('.')}` of {base}"


def _is_code(text: str) -> bool:
    return text[:1] == text[-1:] == "`" and text.count("`") == 2


@dataclass(frozen=True, slots=True)
class ValuePath:
    """The path to a value: `base`, and the fields of tuples that lead to it.

    `argument` is the position of `base` among the arguments of `function`, where it is one.
    """

    base: str
    function: str = ""
    code: str = "RX0605"
    path: str = ""
    argument: int | None = None

    def part(self, part: str) -> str:
        """A part of what is here: ".shape[0]"."""
        return part_of(self.base, self.path + part)

    def dimension(self, check: Check, axis: int) -> str:
        """A dimension of the tensor or shape that is here, or the value of a scalar."""
        match check:
            case TensorCheck():
                return self.part(f".shape[{axis}]")
            case ShapeCheck():
                return self.part(f"[{axis}]")
            case FuncCheck():
                return f"the type of {self}"
        return str(self)

    def length(self) -> str:
        """The number of parts of what is here."""
        whole = str(self)
        return f"`len({whole[1:-1]})`" if _is_code(whole) else f"the length of {whole}"

    def error(self, text: str, notes: Sequence[str] = (), help: str | None = None) -> VMError:
        """The error for what is here."""
        known = [*notes, f"in a call of `{self.function}`"] if self.function else notes
        made = VMError(text, code=self.code, notes=known)
        made.diagnostic = replace(made.diagnostic, help=help)
        made.argument = self.argument
        return made

    def field(self, index: int) -> ValuePath:
        return replace(self, path=f"{self.path}[{index}]")

    def __str__(self) -> str:
        return self.part("")


@lru_cache(maxsize=4096)
def argument_path(name: str, function: str, position: int) -> ValuePath:
    """The path of argument `position` of a call of `function`."""
    return ValuePath(f"`{name}`", function, "RX0601", argument=position)


# -- errors ----------------------------------------------------------------------------------------


def wrong_kind_error(place: ValuePath, check: Check, value: object) -> VMError:
    """The error for a value that is not of the kind that `check` wants."""
    text = f"{place} is {kind_of(value)}; must be {describe(check)}"
    return place.error(text, help=_way_out(check, value))


def _way_out(check: Check, value: object) -> str | None:
    match check:
        case TensorCheck() if isinstance(value, (list, int, float)):
            return "`numpy.array(value, dtype)` makes a tensor"
        case PrimCheck() if is_tensor(value):
            return "a scalar is a plain number; `.item()` takes it out of a tensor"
        case ShapeCheck() if isinstance(value, (tuple, list)):
            return "`relaxscript.runtime.Shape(dims)` makes a shape"
        case FuncCheck(packed=packed) if packed is not False and callable(value):
            return "`relaxscript.PackedFunc(name, function)` makes a packed function"
        case TupleCheck() if isinstance(value, list):
            return "`tuple(values)` makes a tuple"
    return None


def mismatch_error(
    place: ValuePath, text: str, check: Check, value: object, help: str | None = None
) -> VMError:
    """The error for a value of the right kind that differs in `text`."""
    notes = [f"expected {describe(check)}, got {kind_of(value)}"]
    return place.error(text, notes, help)


def argument_count_error(function: str, names: Sequence[str], given: int) -> VMError:
    """The error for a call with a wrong number of arguments."""
    listed = f" ({', '.join(names)})" if names else ""
    takes = quantity(len(names), "argument") + listed
    return VMError(f"`{function}` takes {takes}, got {given}", code="RX0602")


# -- dimensions ------------------------------------------------------------------------------------


def evaluate_dim(dim: Dim, heap: Heap) -> int | float:
    """The size that `dim` demands; raises an ArithmeticError where it divides by zero."""
    match dim:
        case DimConst(value=constant):
            return constant
        case DimExpr(compute=compute):
            return compute(heap)
        case DimAny():
            raise InternalError("a dimension of any size is compared")
    value: int | float | None = heap[dim.slot]
    if value is None:
        raise InternalError(f"the shape variable `{dim.name}` is used before it is bound")
    return value


def describe_demand(dim: Dim, heap: Heap, origins: Origins) -> str:
    """The size that `dim` demands and its origin: "`2 * n` with `n = 4` from ..., that is 8"."""
    match dim:
        case DimConst(value=constant):
            return str(constant)
        case DimAny():
            return "of any size"
        case DimExpr(text=text):
            why = describe_variables(dim, heap, origins)
            return f"`{text}`{why}" + (f", that is {evaluate_dim(dim, heap)}" if why else "")
    return f"`{dim.name} = {heap[dim.slot]}`{describe_variables(dim, heap, origins)}"


class _RecordingHeap(list[Any]):
    """A heap that remembers which slots were read."""

    def __init__(self, heap: Heap) -> None:
        super().__init__(heap)
        self.slots: list[int] = []

    def __getitem__(self, slot: Any) -> Any:
        self.slots.append(slot)
        return super().__getitem__(slot)


def describe_variables(dim: Dim, heap: Heap, origins: Origins) -> str:
    """The values of the variables in `dim` and where they come from: " with `n = 4` from ..."."""
    match dim:
        case DimConst():
            return ""
        case DimExpr(compute=compute):
            reads = _RecordingHeap(heap)
            with suppress(ArithmeticError):  # what was read up to there is what matters
                compute(reads)
            known = ((slot, origins.get(slot)) for slot in dict.fromkeys(reads.slots))
            loads = [DimLoad(s, name[0] if name else f"variable {s}") for s, name in known]
            return describe_loads(loads, heap, origins)
        case DimAny():
            return ""
    origin = origins.get(dim.slot, ("", ""))[1]
    return f" from {origin}" if origin and origin != f"`{dim.name}`" else ""


def describe_loads(loads: Sequence[DimLoad], heap: Heap, origins: Origins) -> str:
    """The values of variables, and where these come from: " with `n = 4` from `w.shape[0]`"."""
    facts = [f"`{v.name} = {heap[v.slot]}`{describe_variables(v, heap, origins)}" for v in loads]
    return f" with {' and '.join(facts)}" if facts else ""


def origins_of(checks: Sequence[Check], names: Sequence[str]) -> dict[int, tuple[str, str]]:
    """The part of a named value that gives each shape variable its value."""
    found: dict[int, tuple[str, str]] = {}
    todo: list[tuple[Check, ValuePath]] = [
        (check, ValuePath(name)) for check, name in zip(checks, names, strict=True)
    ]
    while todo:
        check, place = todo.pop(0)
        match check:
            case TensorCheck(dims=dims) | ShapeCheck(dims=dims):
                for axis, dim in enumerate(dims or ()):
                    if isinstance(dim, DimBind):
                        origin = "" if dim.captured else place.dimension(check, axis)
                        found.setdefault(dim.slot, (dim.name, origin))
            case PrimCheck(value=DimBind(slot=slot, name=name, captured=captured)):
                found.setdefault(slot, (name, "" if captured else str(place)))
            case FuncCheck(binds=binds):
                for dim in binds:
                    origin = "" if dim.captured else place.dimension(check, 0)
                    found.setdefault(dim.slot, (dim.name, origin))
            case TupleCheck(fields=fields):
                todo[:0] = [(field, place.field(i)) for i, field in enumerate(fields)]
    return found
