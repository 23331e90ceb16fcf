"""Checkpoints: what is computed anew when a gradient needs it, instead of being kept.

From a value that `R.grad.start_checkpoint` marks, what follows is computed anew, up to what
`R.grad.end_checkpoint` marks. The values that are marked are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.builder import BlockBuilder
from relaxscript.builder.mutator import with_parts
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.relax import Binding, Call, DataflowVar, Expr, Function, Var, VarBinding
from relaxscript.ir.walk import Substitution, mentioned
from relaxscript.op import grad

__all__ = ["Checkpoints", "marked_by"]

_START, _END = grad.start_checkpoint.op, grad.end_checkpoint.op


def marked_by(value: Expr) -> Expr | None:
    """The value that a call marks, to begin or end a checkpoint; None for no such call."""
    return value.args[0] if isinstance(value, Call) and value.op in (_START, _END) else None


def _begins(value: Expr) -> bool:
    return isinstance(value, Call) and value.op == _START


class Checkpoints:
    """The marks of a function, and what stands for its values in gradients.

    The bindings are those of a function in normal form. They are written without the marks.
    """

    def __init__(self, bindings: Sequence[Binding], builder: BlockBuilder) -> None:
        self._builder = builder
        # What is inside of a checkpoint: what begins one, and what is computed from that.
        self._inside: set[Var] = set()
        # What stands for a variable in the function, in what is computed anew and in gradients.
        self._kept, self._anew, self._known = Substitution(), Substitution(), Substitution()
        # What is computed anew and is not written yet, by its variable.
        self._pending: dict[Var, Binding] = {}
        if any(marked_by(binding.value) is not None for binding in bindings):
            _require_closed(bindings)
            for binding in bindings:
                self._enter(binding)

    # -- reading -----------------------------------------------------------------------------------

    def _enter(self, binding: Binding) -> None:
        var, value = binding.var, binding.value
        marked = marked_by(value)
        if isinstance(marked, Var):
            self._enter_mark(binding, marked)
        elif not isinstance(value, Function) and not self._inside.isdisjoint(mentioned(value)):
            # A local function is kept, as a variable inside of it is bound once.
            self._inside.add(var)
            self._anew[var] = self._known[var] = self._await(var, binding)

    def _enter_mark(self, binding: Binding, marked: Var) -> None:
        var = binding.var
        kept = self._kept.get(marked, marked)
        if isinstance(var, DataflowVar):
            self._kept[var] = kept
        else:
            kept = var  # a result of the block, which stays
        self._anew[var] = self._known[var] = kept
        if _begins(binding.value):
            self._inside.add(var)
            if marked in self._inside:
                self._anew[var], self._known[var] = self._anew.get(marked), self._known.get(marked)
            else:
                # What is equal is computed once by later passes: this makes it something else.
                apart = Call.make(_END, (kept,), None, ())
                self._anew[var] = self._await(var, VarBinding.make(var, apart, span=binding.span))

    def _await(self, var: Var, binding: Binding) -> Var:
        name = self._builder.get_unique_name(f"{var.name_hint}_cp")
        new = DataflowVar.make(name, var.struct_info, span=var.span)
        self._pending[new] = binding
        return new

    # -- what others ask ---------------------------------------------------------------------------

    def kept(self, expr: Expr) -> Expr:
        """An expression of the function over what is marked, not over marks."""
        return self._replaced(expr, self._kept)

    def known(self, expr: Expr) -> Expr:
        """An expression of the function as gradients know it: over what is computed anew."""
        return self._replaced(expr, self._known)

    def _replaced(self, expr: Expr, by: Substitution) -> Expr:
        if not by or not any(by.get(var) is not None for var in mentioned(expr)):
            return expr
        return by.apply(expr)

    def before_use(self, var: Var) -> None:
        """Write what is computed anew before what mentions it, with all that it needs."""
        needed = [var]
        while needed:
            new = needed[-1]
            binding = self._pending.get(new)
            if binding is None:
                needed.pop()
                continue
            value = self._value(new, binding)
            inner = [v for v in mentioned(value) if v in self._pending]
            if inner:
                needed += reversed(inner)
                continue
            needed.pop()
            del self._pending[new]
            self._write(with_parts(binding, new, value))

    def _value(self, new: Var, binding: Binding) -> Expr:
        """The value of what is computed anew; of what is marked, it is written as it is."""
        is_kept = marked_by(binding.value) is not None
        return binding.value if is_kept else self._replaced(binding.value, self._anew)

    def _write(self, binding: Binding) -> None:
        self._builder.struct_info(self._builder.normal(binding.value))
        self._builder.emit_normalized(binding)


def _require_closed(bindings: Sequence[Binding]) -> None:
    """Refuse a checkpoint that begins and that nothing ends."""
    ends: set[Var] = set()
    for binding in reversed(bindings):
        value = binding.value
        if _begins(value) and binding.var not in ends:
            message = f"the checkpoint that begins with `{binding.var.name_hint}` is not closed"
            help = "mark the last value that is computed anew: `R.grad.end_checkpoint(y)`"
            raise DiagnosticError(Diagnostic("RX0713", message, value.span, help=help))
        if marked_by(value) is not None or binding.var in ends:
            ends.update(mentioned(value))
