"""Legalisations of the user's own, which take the place of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relaxscript.arith import YES
from relaxscript.builder import BlockBuilder, ExprMutator
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Binding, Call, Expr, Op, Var
from relaxscript.sinfo import is_subtype

__all__ = ["Customizer", "Legalization"]

Legalization = Callable[[BlockBuilder, Call], Expr]


class Customizer(ExprMutator):
    """Puts what users' functions give in the place of operators; `kept` are calls that stay."""

    def __init__(
        self, mod: IRModule, builder: BlockBuilder, customized: Mapping[str, Legalization]
    ) -> None:
        super().__init__(mod, builder)
        self.customized = customized
        self.kept: set[Var] = set()

    def binding(self, binding: Binding) -> None:
        call = binding.value
        legalize = None
        if isinstance(call, Call) and isinstance(call.op, Op):
            legalize = self.customized.get(call.op.name)
        if legalize is None or not isinstance(call, Call):
            super().binding(binding)
            return
        made = legalize(self.builder, call)
        if made is call:
            self.kept.add(binding.var)
            super().binding(binding)
            return
        self._check(call, made, binding)
        self.rebind(binding, made)

    def _check(self, call: Call, made: object, binding: Binding) -> None:
        """Refuse what cannot take the place of a call."""
        if not isinstance(made, Expr):
            raise _refused(
                call, f"gives a Python {type(made).__name__}, not an expression", binding
            )
        before = self._derive_struct_info(call, binding.span)
        after = self._derive_struct_info(made, binding.span)
        context = self.builder.context
        scope = context.shape_scope or ()
        if is_subtype(after, before, context.facts, in_scope=scope) is not YES:
            raise _refused(call, f"gives {after}, where the operator gives {before}", binding)


def _refused(call: Call, fact: str, binding: Binding) -> DiagnosticError:
    assert isinstance(call.op, Op)
    message = f"the legalisation of `{call.op.name}` {fact}"
    return DiagnosticError(Diagnostic("RX0703", message, binding.span))
