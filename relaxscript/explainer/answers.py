"""Answers about a program: its explanation, and what is known of the calls of a profile."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from relaxscript.arith import format_expr
from relaxscript.codegen.roof import measured_roof
from relaxscript.errors import Span
from relaxscript.ir.instrument import PassInstrument
from relaxscript.ir.module import IRModule, Target
from relaxscript.runtime.debug.explanation import Amount, Explanation, KernelRow, check_dims
from relaxscript.runtime.debug.profiler import Amounts
from relaxscript.transform.pass_infra.context import PassContext, PassInfo

from .kernels import AFTER, BEFORE
from .program import KernelCall, ProgramCalls

__all__ = ["Answers"]


class Answers:
    """Answers about a program for a target, of which `lower` makes the lowered module.

    `context` is the one in which the program was built.
    """

    def __init__(self, target: Target, lower: Callable[[], IRModule], context: PassContext) -> None:
        stages = Stages()
        with with_instruments(context, stages):
            lowered = lower()
            self.program = ProgramCalls(lowered, stages.modules)
        self._target = target

    def explanation(self, func_name: str | None, dims: Mapping[str, object]) -> Explanation:
        """The explanation of what a function calls, or of all; raises `VMError` for wrong sizes."""
        program = self.program
        reached = None if func_name is None else program.reached_from(func_name)
        calls = [call for call in program.calls if reached is None or call.function in reached]
        names = {var.name: None for call in calls for var in call.variables()}
        sizes = check_dims(dims, [*names])
        rows = _joined_rows([_row(call, sizes) for call in calls])
        known = any(row.moved is not None and row.flops is not None for row in rows)
        roof = measured_roof() if known else None
        return Explanation(rows, str(self._target), sizes, roof, names)

    def amounts(
        self, func_name: str, args: Sequence[Any]
    ) -> Callable[[str, Span | None, Any], Amounts]:
        """A function that says what is known of the calls in one call of a function.

        The arguments of a kernel tell, where they are known. Elsewhere the sizes tell that the
        arguments of the function have.
        """
        program = self.program
        dims = program.dims_of(func_name, args)

        def amounts(name: str, span: Span | None, given: Any) -> Amounts:
            if given is None:
                found = program.amounts_at(name, span, dims)
            else:
                found = program.amounts_for(name, given)
            if found.read is None or found.written is None:
                return None, found.flops, None
            moved, flops = found.read + found.written, found.flops
            if flops is None:
                return moved, None, None
            return moved, flops, measured_roof().seconds(moved, flops, found.itemsize)

        return amounts


def with_instruments(context: PassContext, *instruments: PassInstrument) -> PassContext:
    """A context with other instruments."""
    made = copy.copy(context)
    made.instruments = instruments
    return made


class Stages(PassInstrument):
    """Keeps the module before and after some passes, each for the first time that it runs."""

    def __init__(self) -> None:
        self.modules: dict[str, IRModule] = {}

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        if info.name in BEFORE:
            self.modules.setdefault(f"before {info.name}", mod)

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        if info.name in AFTER:
            self.modules.setdefault(f"after {info.name}", mod)


def _row(call: KernelCall, dims: Mapping[str, int]) -> KernelRow:
    found = zip(call.facts, call.amounts(dims))
    read, written, flops = [None if e is None else Amount(format_expr(e), n) for e, n in found]
    spans = () if call.span is None else call.span.spans
    return KernelRow(
        call.function, call.name, call.kind, 1, call.operators, spans, call.pattern,
        call.schedule, call.reason, read, written, flops, call.itemsize,
    )  # fmt: skip


def _joined_rows(rows: Iterable[KernelRow]) -> list[KernelRow]:
    """One row for all calls of a kernel in a function that are on values of the same sizes."""
    found: dict[Any, list[KernelRow]] = {}
    for row in rows:
        key = row.function, row.name, row.bytes_read, row.bytes_written, row.flops
        found.setdefault(key, []).append(row)
    return [_joined(same) for same in found.values()]


def _joined(rows: Sequence[KernelRow]) -> KernelRow:
    first = rows[0]
    if len(rows) == 1:
        return first
    spans = tuple(dict.fromkeys([span for row in rows for span in row.spans]))
    values = {name: getattr(first, name) for name in KernelRow.__dataclass_fields__}
    return KernelRow(**{**values, "calls": len(rows), "spans": spans})
