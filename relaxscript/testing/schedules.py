"""Comparisons for tests of schedules: functions without their names, and traces that are repeated.

Source: TVM `tir.schedule.testing`.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.transform.schedule import Schedule, Trace

__all__ = ["assert_structural_equal_ignore_global_symbol", "verify_trace_roundtrip"]


def assert_structural_equal_ignore_global_symbol(
    func1: PrimFunc | IRModule, func2: PrimFunc | IRModule, map_free_vars: bool = False
) -> None:
    """Raise `StructuralMismatch` unless both are the same, whatever functions are called outside.

    Functions of modules are compared by the names that the modules have for them.
    """
    assert_structural_equal(_without_symbols(func1), _without_symbols(func2), map_free_vars)


def _without_symbols(root: PrimFunc | IRModule) -> PrimFunc | IRModule:
    if isinstance(root, PrimFunc):
        function: PrimFunc = root.without_attr("global_symbol")
        return function
    made = root.clone()
    for var, each in root.functions.items():
        if isinstance(each, PrimFunc):
            made[var] = each.without_attr("global_symbol")
    return made


def verify_trace_roundtrip(
    sch: Schedule,
    mod: PrimFunc | IRModule,
    *,
    debug_mask: str | int = "all",
    text_format: str | Sequence[str] = ("python", "json"),
) -> Schedule:
    """A schedule of `mod` that was given the steps of another one, as text or as data.

    Raises `StructuralMismatch` unless both made the same of it. `text_format` is "python", "json",
    or both, one after the other; `debug_mask` is that of the new schedule.
    """
    formats = [text_format] if isinstance(text_format, str) else text_format
    made = sch
    for each in formats:
        made = Schedule(mod, debug_mask=debug_mask)
        if each == "json":
            Trace.apply_json_to_schedule(sch.trace.as_json(), made)
        elif each == "python":
            exec("\n".join(sch.trace.as_python()), {"sch": made})
        else:
            raise ValueError(f'a trace is written as "python" or "json", not {each!r}')
        assert_structural_equal_ignore_global_symbol(made.mod, sch.mod)
    return made
