"""Results of an entry, made and returned: arrays, views, numbers, shapes and tuples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relaxscript.codegen.llvm.ir_writer import Value

from .builtin import DATA
from .context import MEMORY, EntryContext
from .plan import Given, Made, Number, Returned, ShapeValue, View, leaves_of

__all__ = ["make_array", "return_results"]

# How Python makes its scalars.
_SCALARS = {
    "int64": "PyLong_FromLongLong", "float64": "PyFloat_FromDouble", "bool": "PyBool_FromLong",
}  # fmt: skip


def make_array(cx: EntryContext, tensor: Made, size: Value, zeros: bool) -> None:
    """A new array of so many bytes; the slow way says what fails."""
    index, sizes = tensor.index, cx.shapes[tensor]
    dims = cx.row(f"dims.{index}", sizes)
    given = (
        cx.dtype(cx.plan.made[index].dtype), Value("i32", str(len(sizes))), dims, size,
        Value("i1", str(int(zeros))),
    )  # fmt: skip
    made = cx.call("relaxscript_result", "ptr", *given)
    cx.unless(cx.asm.compare("icmp eq", made, Value("ptr", "null")), MEMORY)
    cx.objects[tensor], cx.data[tensor] = made, cx.field(made, DATA, "ptr")
    cx.alive[tensor] = cx.hold(made)


def return_results(cx: EntryContext) -> None:
    """Return what is to be returned; all that can fail is done before anything is handed over."""
    returned = cx.plan.returned
    leaves = list(leaves_of(returned))
    handed = set(leaves)
    for leaf in dict.fromkeys(leaves):
        if isinstance(leaf, View):
            cx.objects[leaf] = cx.or_raise(_view(cx, leaf))
    others: list[Value] = []
    for part in _others(returned):
        others.append(cx.or_raise(_new(cx, part, len(others))))
    for tensor in cx.alive:
        if tensor not in handed:
            cx.release(cx.objects[tensor])
    for leaf in leaves:
        if isinstance(leaf, Given) or leaf not in handed:
            cx.reference(cx.objects[leaf])
        handed.discard(leaf)
    cx.asm.do(f"ret {_fill(cx, returned, iter(others))}")


def _others(returned: Any) -> Iterator[tuple[Any, ...] | Number | ShapeValue]:
    """The parts of a value that are no tensors; tuples come before their fields."""
    if isinstance(returned, (tuple, Number, ShapeValue)):
        yield returned
    for field in returned if isinstance(returned, tuple) else ():
        yield from _others(field)


def _new(cx: EntryContext, part: tuple[Any, ...] | Number | ShapeValue, place: int) -> Value:
    """A number, a shape, or a tuple without its fields; null where memory is lacking."""
    match part:
        case Number(value):
            return cx.call(_SCALARS[value.dtype], "ptr", cx.integers.integer(value, cx.values))
        case ShapeValue(dims):
            sizes = [cx.integers.integer(dim, cx.values) for dim in dims]
            place_of_sizes = cx.row(f"shape.{place}", sizes)
            return cx.call(
                "relaxscript_new_shape", "ptr", Value("i64", str(len(dims))), place_of_sizes
            )
    return cx.call("PyTuple_New", "ptr", Value("i64", str(len(part))))


def _view(cx: EntryContext, view: View) -> Value:
    """An array over the elements of another."""
    root, facts = cx.plan.views[view.index]
    sizes = cx.shapes[view]
    dims = cx.row(f"view.{view.index}", sizes)
    rank = Value("i32", str(len(sizes)))
    return cx.call(
        "relaxscript_view", "ptr", cx.dtype(facts.dtype), rank, dims, cx.data[root],
        cx.objects[root],
    )  # fmt: skip


def _fill(cx: EntryContext, returned: Returned, others: Iterator[Value]) -> Value:
    """The value that is returned; its references are in the tuples."""
    if returned is None:
        nothing = cx.symbol_value("relaxscript.none")
        cx.reference(nothing)
        return nothing
    if isinstance(returned, (Number, ShapeValue)):
        return next(others)
    if not isinstance(returned, tuple):
        return cx.objects[returned]
    here = next(others)
    cx.declare("PyTuple_SetItem", "i32", "ptr, i64, ptr")
    for i, field in enumerate(returned):
        value = _fill(cx, field, others)
        cx.asm.do(f"call i32 @PyTuple_SetItem({here}, i64 {i}, {value})")
    return here
