"""The tests of arguments in an entry, by tables; where they fit, dimensions and numbers are known.

Arrays are tested first, by one call for all of a row of arguments (`argument_tests.py`). Then come
the numbers, shapes and tuples among them. The fields of a tuple are a row like that of arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.codegen.llvm.ir_writer import Value
from relaxscript.ir import prim

from .argument_tests import IS_CONSTANT, IS_KNOWN, IS_NEW, NO_ARRAY
from .builtin import ALIGNED_COMPACT, WRITEABLE
from .context import EntryContext
from .integers import i64
from .plan import (
    PYTHON_NUMBERS,
    Given,
    Param,
    Scalar,
    ShapeValue,
    Tensor,
    chosen_tensors,
    leaves_of,
    uses_of,
    written_tensors,
)

__all__ = ["take_arguments"]

# The shared functions that test numbers, and how the values are kept in 64 bits.
_INT, _FLOAT, _BOOL = (
    ("relaxscript_int", "i64"), ("relaxscript_float", "double"), ("relaxscript_bool", "i64"),
)  # fmt: skip


def take_arguments(cx: EntryContext) -> None:
    """Test the arguments; those that do not fit at first sight go the slow way."""
    taker = _Taker(cx)
    taker.row(Value("ptr", "%args"), "i64 %count, ptr %names", cx.plan.params)
    cx.words += taker.slots
    cx.room.append(f"%sizes = alloca [{max(taker.slots, 1)} x i64]")
    for expected, found in taker.demands:
        if expected.dtype.is_integer:
            cx.integers.doubt("icmp ne", found, cx.integers.integer(expected, cx.values))


class _Taker:
    """Writes the tests. `places` are the slots of variables, `demands` what numbers must be."""

    def __init__(self, cx: EntryContext) -> None:
        self.cx = cx
        self.rows = self.slots = 0
        self.places: dict[prim.Var, int] = {}
        self.demands: list[tuple[prim.PrimExpr, Value]] = []
        plan = cx.plan
        self.written = written_tensors(plan)
        self.used = set[Tensor]().union(*(uses_of(plan, step) for step in plan.steps))
        # Tensors that are handed on as objects.
        self.handed = {*leaves_of(plan.returned), *chosen_tensors(plan, plan.steps)}

    def row(self, things: Value, count_and_names: str, params: Sequence[Param]) -> None:
        """The test of arguments, or of the fields of a tuple, in the order of `params`."""
        cx, number = self.cx, self.rows
        self.rows += 1
        words, slots = [f"i64 {len(params)}"], dict[tuple[int, int], int]()
        for place, param in enumerate(params):
            words += self.words(place, param, slots) if isinstance(param, Given) else [NO_ARRAY]
        table, data = f"{cx.symbol}.table.{number}", f"%data.{number}"
        content = f"[{len(words)} x i64] [{', '.join(words)}]"
        cx.asm.sites.declare(table, f"@{table} = private constant {content}")
        cx.words += len(params)
        cx.room.append(f"{data} = alloca [{max(len(params), 1)} x ptr]")
        cx.declare("relaxscript_take", "i1", "ptr, i64, ptr, ptr, ptr, ptr")
        given = f"{things}, {count_and_names}, ptr @{table}, ptr {data}, ptr %sizes"
        cx.require(cx.asm.value("i1", f"call i1 @relaxscript_take({given})"))
        for place, param in enumerate(params):
            if isinstance(param, Given):
                self.array(place, param, slots, things, data)
        for place, param in enumerate(params):
            if not isinstance(param, Given):
                self.other(param, cx.word(data, place, "ptr"))

    def words(self, place: int, param: Given, slots: dict[tuple[int, int], int]) -> list[str]:
        """The words of the table for an array; `slots` are where its sizes are kept."""
        facts = self.cx.plan.given[param.index]
        flags = ALIGNED_COMPACT | (WRITEABLE if param in self.written else 0)
        words = [
            f"ptrtoint ({self.cx.dtype(facts.dtype)} to i64)",
            f"{flags}",
            f"{len(facts.shape)}",
        ]
        for axis, size in enumerate(facts.shape):
            if isinstance(size, prim.IntImm):
                words += [f"{IS_CONSTANT}", f"{size.value}"]
            elif isinstance(size, prim.Var) and size in self.places:
                words += [f"{IS_KNOWN}", f"{self.places[size]}"]
            else:
                slot = slots[place, axis] = self.new_slot(size)
                words += [f"{IS_NEW}", f"{slot}"]
        return [f"i64 {word}" for word in words]

    def new_slot(self, value: prim.PrimExpr) -> int:
        """A slot for a number that a parameter brings."""
        if isinstance(value, prim.Var):
            self.places.setdefault(value, self.slots)
        self.slots += 1
        return self.slots - 1

    def array(
        self, place: int, param: Given, slots: dict[tuple[int, int], int], things: Value, data: str
    ) -> None:
        """Note the elements, the object and the sizes of an array that fits."""
        cx, shape = self.cx, list[Value]()
        if param in self.used:
            cx.data[param] = cx.word(data, place, "ptr")
        if param in self.handed:
            cx.objects[param] = cx.word(things.text, place, "ptr")
        for axis, size in enumerate(cx.plan.given[param.index].shape):
            slot = slots.get((place, axis))
            if slot is not None:
                shape.append(self.bring(size, slot, "i64"))
            elif isinstance(size, prim.IntImm):
                shape.append(i64(size.value))
            else:
                assert isinstance(size, prim.Var), "other sizes have slots"
                shape.append(cx.values[size])
        cx.shapes[param] = shape

    def bring(self, expected: prim.PrimExpr, slot: int, type_: str) -> Value:
        """The number in a slot, which is the value of a variable or must be that of `expected`."""
        cx = self.cx
        found = cx.word("%sizes", slot, type_)
        if isinstance(expected, prim.Var):
            cx.values.setdefault(expected, found)
        self.demands.append((expected, found))
        return found

    def other(self, param: Param, thing: Value) -> None:
        """The test of an argument that is no array."""
        cx = self.cx
        match param:
            case Scalar(value=value, is_size=is_size):
                dtype = value.dtype
                test, type_ = _BOOL if dtype.is_bool else _FLOAT if dtype.is_float else _INT
                slot = self.new_slot(value)
                if dtype not in PYTHON_NUMBERS:
                    held = cx.symbol_value(f"relaxscript.prim_dtype.{dtype}")
                    thing = cx.call("relaxscript_prim", "ptr", thing, held)
                    cx.require(cx.asm.compare("icmp ne", thing, Value("ptr", "null")))
                cx.require(cx.call(test, "i1", thing, self.slot_place(slot)))
                found = self.bring(value, slot, type_)
                if is_size:
                    cx.integers.doubt("icmp slt", found, i64(0))
            case ShapeValue(dims):
                slots = list(map(self.new_slot, dims))
                place = self.slot_place(slots[0] if slots else 0)
                cx.require(cx.call("relaxscript_shape", "i1", thing, i64(len(dims)), place))
                for dim, slot in zip(dims, slots, strict=True):
                    self.bring(dim, slot, "i64")
            case tuple():
                fields = cx.call("relaxscript_fields", "ptr", thing, i64(len(param)))
                cx.require(cx.asm.compare("icmp ne", fields, Value("ptr", "null")))
                self.row(fields, f"i64 {len(param)}, ptr null", param)

    def slot_place(self, slot: int) -> Value:
        return self.cx.asm.value("ptr", f"getelementptr i64, ptr %sizes, i64 {slot}")
