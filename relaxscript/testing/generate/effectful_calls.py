"""The bindings of random programs that have effects: in impure functions, outside of dataflow."""

from __future__ import annotations

from relaxscript.ir.relax import Call, ExternFunc, StringImm
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, TensorStructInfo
from relaxscript.op.base import assert_op, print as print_

from .calls import UNIT, argument_for, closures
from .context import GeneratorContext
from .control_flow import COUNTER, condition
from .packed_funcs import APPLY, BUMP, KEEP, NOTE, RECALL, TICK

__all__ = ["emit_apply", "emit_bump", "emit_keep", "emit_note", "emit_output", "emit_tick"]


def emit_note(cx: GeneratorContext) -> bool:
    """Log values."""
    args = tuple(cx.choices.some(cx.values[-6:])[:3])
    return cx.emit(Call(ExternFunc(NOTE), args, None, (UNIT,)))


def emit_bump(cx: GeneratorContext) -> bool:
    """Change a tensor, whatever other names it has."""
    tensors = [v for v in cx.values if isinstance(v.struct_info, TensorStructInfo)]
    if not tensors:
        return False
    return cx.emit(Call(ExternFunc(BUMP), (cx.choices.pick(tensors),), None, (UNIT,)))


def emit_keep(cx: GeneratorContext) -> bool:
    """Keep a value, or get the one that was kept last."""
    if cx.choices.chance(60):
        value = cx.choices.pick(cx.values)
        return cx.emit(Call(ExternFunc(KEEP), (value,), None, (UNIT,)))
    return cx.emit(Call(ExternFunc(RECALL), (), None, (ObjectStructInfo(),)))


def emit_tick(cx: GeneratorContext) -> bool:
    """Ask for the number of effects so far."""
    return cx.emit(Call(ExternFunc(TICK), (), None, (COUNTER,)))


def emit_apply(cx: GeneratorContext) -> bool:
    """A packed function that calls a function of the program."""
    functions = closures(cx)
    if not functions:
        return False
    function = cx.choices.pick(functions)
    info = function.struct_info
    assert isinstance(info, FuncStructInfo)
    args = tuple([argument_for(cx, param, {}) for param in info.params or ()])
    return cx.emit(Call(ExternFunc(APPLY), (function, *args), None, (ObjectStructInfo(),)))


def emit_output(cx: GeneratorContext) -> bool:
    """Print values, or check a condition that may fail."""
    args = tuple(cx.choices.some(cx.values[-4:])[:2])
    if cx.choices.chance(80):
        return cx.emit(Call(print_.op, (StringImm(""), *args)))
    return cx.emit(Call(assert_op.op, (condition(cx), StringImm("it failed"))))
