"""The steps of a schedule as data, which can be printed as Python and done again.

    def apply_trace(sch: tir.Schedule) -> None:
        b0 = sch.get_block(name="C", func_name="main")
        l1, l2 = sch.get_loops(block=b0)
        l3, l4 = sch.split(loop=l1, factors=[None, 8])

Source: TVM `tir.schedule.trace` and `tir.schedule.instruction` (names).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from relaxscript.arith import format_expr
from relaxscript.ir.prim import FloatImm, IntImm, PrimExpr, StringImm

from .mistakes import refuse
from .random_variables import BlockRV, LoopRV

if TYPE_CHECKING:
    from .schedule import Schedule

__all__ = ["Instruction", "InstructionKind", "ScheduleTrace"]

# Steps that only look; without a use of what they give they can be left out.
_LOOKING = frozenset({
    "get_block", "get_child_blocks", "get_consumers", "get_loops", "get_output_blocks",
    "get_producers",
})  # fmt: skip
# The parameters whose values are written one after the other, without their name.
_SPREAD = frozenset({"loops", "ordered_loops"})
_ALWAYS_ONE = frozenset({
    "cache_read", "cache_write", "decompose_reduction", "fuse", "get_block", "rfactor",
})  # fmt: skip


class InstructionKind(NamedTuple):
    """The sort of a step: `Split` for `sch.split`."""

    name: str

    @property
    def is_pure(self) -> bool:
        """True if it changes nothing."""
        return any(self.name == _kind_of(method) for method in _LOOKING)


def _kind_of(method: str) -> str:
    return "".join(word.capitalize() for word in method.split("_"))


class Instruction:
    """A step of a schedule: a method, its arguments by name, and the blocks and loops it gave."""

    __slots__ = ("arguments", "method", "outputs")

    def __init__(
        self, method: str, arguments: Mapping[str, Any], outputs: Sequence[BlockRV | LoopRV]
    ) -> None:
        self.method = method
        self.arguments = dict(arguments)
        self.outputs = tuple(outputs)

    @property
    def kind(self) -> InstructionKind:
        """The sort of the step."""
        return InstructionKind(_kind_of(self.method))

    @property
    def inputs(self) -> list[Any]:
        """The blocks and loops that it is given."""
        return [*_variables(list(self.arguments.values()))]

    @property
    def attrs(self) -> list[Any]:
        """Its other arguments."""
        return [value for value in self.arguments.values() if not [*_variables(value)]]

    @property
    def gives_one(self) -> bool:
        """True if the method gives a block or loop itself, not a list of some."""
        return self.method in _ALWAYS_ONE

    def with_variables(self, of: Callable[[Any], Any]) -> dict[str, Any]:
        """The arguments, with others in the place of blocks and loops."""
        return {name: _mapped(value, of) for name, value in self.arguments.items()}


def _variables(value: Any) -> Iterator[Any]:
    if isinstance(value, (BlockRV, LoopRV)):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _variables(item)


def _mapped(value: Any, of: Callable[[Any], Any]) -> Any:
    if isinstance(value, (BlockRV, LoopRV)):
        return of(value)
    if isinstance(value, (list, tuple)):
        return [_mapped(item, of) for item in value]
    return value


class ScheduleTrace:
    """The steps of a schedule in their order.

    Source: TVM `tir.schedule.Trace`.
    """

    def __init__(
        self, insts: Sequence[Instruction] = (), decisions: Mapping[Instruction, Any] | None = None
    ) -> None:
        self.insts = list(insts)
        self.decisions = dict(decisions or {})

    def __len__(self) -> int:
        return len(self.insts)

    def append(self, inst: Instruction, decision: Any = None) -> None:
        """Add a step at the end."""
        self.insts.append(inst)
        if decision is not None:
            self.decisions[inst] = decision

    def pop(self) -> Instruction | None:
        """Take the last step away; None where there is none."""
        return self.insts.pop() if self.insts else None

    def get_decision(self, inst: Instruction) -> Any:
        """The decision of a step; nothing is left to chance here, so None."""
        return self.decisions.get(inst)

    def apply_to_schedule(self, sch: Schedule, remove_postproc: bool = False) -> None:
        """Do the steps again, with another schedule; it checks each of them.

        There are no postprocessing steps, so `remove_postproc` changes nothing.
        """
        known: dict[Any, Any] = {}
        for inst in self.insts:
            arguments = inst.with_variables(known.__getitem__)
            spread = [x for name in arguments if name in _SPREAD for x in arguments[name]]
            named = {n: v for n, v in arguments.items() if n not in _SPREAD}
            found = getattr(sch, inst.method)(*spread, **named)
            made = [] if found is None else found if isinstance(found, list) else [found]
            if len(made) != len(inst.outputs):
                raise refuse(
                    f"`sch.{inst.method}` gives {len(made)} here, where the trace has "
                    f"{len(inst.outputs)}", (), "apply a trace to the program it was made for",
                )  # fmt: skip
            known.update(zip(inst.outputs, made))

    def simplified(self, remove_postproc: bool = False) -> ScheduleTrace:
        """The trace without steps that only look for what is not used."""
        used: set[Any] = set()
        kept: list[Instruction] = []
        for inst in reversed(self.insts):
            if inst.method in _LOOKING and not used.intersection(inst.outputs):
                continue
            used.update(inst.inputs)
            kept.insert(0, inst)
        return ScheduleTrace(kept, {i: d for i, d in self.decisions.items() if i in kept})

    # ------------------------------------------------------------ as text and data

    def as_python(self, remove_postproc: bool = False) -> list[str]:
        """The steps as lines of Python."""
        names: dict[Any, str] = {}
        lines = []
        for inst in self.insts:
            text = _call(inst, names)
            for output in inst.outputs:
                letter = "b" if isinstance(output, BlockRV) else "l"
                names[output] = f"{letter}{len(names)}"
            given = ", ".join(names[output] for output in inst.outputs)
            if len(inst.outputs) == 1 and not inst.gives_one:
                given += ","
            lines.append(f"{given} = {text}" if given else text)
        return lines

    def __str__(self) -> str:
        body = self.as_python() or ["pass"]
        head = ["# from relaxscript import tir", "def apply_trace(sch: tir.Schedule) -> None:"]
        return "\n".join([*head, *(f"  {line}" for line in body)])

    __repr__ = __str__

    def show(self, style: str | None = None, black_format: bool = False) -> None:
        """Print the steps as Python; the text is the same in every `style`."""
        print(self)

    def as_json(self, remove_postproc: bool = False) -> list[Any]:
        """The steps as lists, dicts, strings and numbers, for `apply_json_to_schedule`."""
        names: dict[Any, str] = {}
        insts = []
        for inst in self.insts:
            arguments = {name: _plain(value, names) for name, value in inst.arguments.items()}
            for output in inst.outputs:
                names[output] = f"{'b' if isinstance(output, BlockRV) else 'l'}{len(names)}"
            insts.append([inst.method, arguments, [names[output] for output in inst.outputs]])
        return [insts, []]

    @staticmethod
    def apply_json_to_schedule(json_obj: Any, sch: Schedule) -> None:
        """Do the steps that `as_json` wrote, or a text of them, with a schedule.

        Only methods of schedules that steps are made of are called. Raises `ScheduleError` for
        anything else.
        """
        from .schedule import STEPS

        variables: dict[str, BlockRV | LoopRV] = {}
        insts = []
        try:
            data = json.loads(json_obj) if isinstance(json_obj, str) else json_obj
            for method, arguments, outputs in data[0]:
                if method not in STEPS:
                    raise refuse(f"`{method}` is no step of a schedule")
                read = {name: _read(value, variables) for name, value in arguments.items()}
                for name in outputs:
                    variables[name] = BlockRV() if name.startswith("b") else LoopRV()
                insts.append(Instruction(method, read, [variables[name] for name in outputs]))
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            if isinstance(error, SyntaxError):
                raise
            raise refuse(
                "these are no steps of a schedule", (), "`sch.trace.as_json()` writes them"
            ) from error
        ScheduleTrace(insts).apply_to_schedule(sch)


def _call(inst: Instruction, names: Mapping[Any, str]) -> str:
    parts = []
    for name, value in inst.arguments.items():
        if name in _SPREAD:
            parts += [_text(item, names) for item in value]
        else:
            parts.append(f"{name}={_text(value, names)}")
    return f"sch.{inst.method}({', '.join(parts)})"


def _text(value: Any, names: Mapping[Any, str]) -> str:
    match value:
        case BlockRV() | LoopRV():
            return names.get(value, "_")
        case list() | tuple():
            return f"[{', '.join(_text(item, names) for item in value)}]"
        case StringImm() | IntImm() | FloatImm():
            return _text(value.value, names)
        case PrimExpr():
            return format_expr(value)
        case str():
            return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _plain(value: Any, names: Mapping[Any, str]) -> Any:
    match value:
        case BlockRV() | LoopRV():
            return {"rv": names[value]}
        case list() | tuple():
            return [_plain(item, names) for item in value]
        case StringImm() | IntImm() | FloatImm():
            return value.value
        case PrimExpr():
            raise refuse(f"`{format_expr(value)}` is no number, and JSON has no other scalars")
    return value


def _read(value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, dict) and "rv" in value:
        return variables[value["rv"]]
    return [_read(item, variables) for item in value] if isinstance(value, list) else value
