"""The bindings of random programs that have effects: in impure functions, outside of dataflow."""

from __future__ import annotations

from relaxscript.ir.relax import Call, ExternFunc, StringImm
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, TensorStructInfo
from relaxscript.op.base import assert_op, print as print_

from .call_steps import UNIT
from .control_steps import COUNTER, ControlSteps
from .packed import APPLY, BUMP, KEEP, NOTE, RECALL, TICK

__all__ = ["EffectSteps"]


class EffectSteps(ControlSteps):
    """Adds calls for their effects."""

    def note(self) -> bool:
        """Log values."""
        args = tuple(self.choices.some(self.values[-6:])[:3])
        return self.emit(Call(ExternFunc(NOTE), args, None, (UNIT,)))

    def bump(self) -> bool:
        """Change a tensor, whatever other names it has."""
        tensors = [v for v in self.values if isinstance(v.struct_info, TensorStructInfo)]
        if not tensors:
            return False
        return self.emit(Call(ExternFunc(BUMP), (self.choices.pick(tensors),), None, (UNIT,)))

    def keep(self) -> bool:
        """Keep a value, or get the one that was kept last."""
        if self.choices.chance(60):
            value = self.choices.pick(self.values)
            return self.emit(Call(ExternFunc(KEEP), (value,), None, (UNIT,)))
        return self.emit(Call(ExternFunc(RECALL), (), None, (ObjectStructInfo(),)))

    def tick(self) -> bool:
        """How many effects there were so far."""
        return self.emit(Call(ExternFunc(TICK), (), None, (COUNTER,)))

    def apply(self) -> bool:
        """A packed function that calls a function of the program."""
        functions = self.closures()
        if not functions:
            return False
        function = self.choices.pick(functions)
        info = function.struct_info
        assert isinstance(info, FuncStructInfo)
        args = tuple([self.argument(param, {}) for param in info.params or ()])
        return self.emit(Call(ExternFunc(APPLY), (function, *args), None, (ObjectStructInfo(),)))

    def output(self) -> bool:
        """Print values, or check a condition that may fail."""
        args = tuple(self.choices.some(self.values[-4:])[:2])
        if self.choices.chance(80):
            return self.emit(Call(print_.op, (StringImm(""), *args)))
        return self.emit(Call(assert_op.op, (self.condition(), StringImm("it failed"))))
