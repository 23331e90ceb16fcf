"""Environments of running Relax functions: values of variables and of shape variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from relaxscript.errors import Diagnostic, DiagnosticError, Span
from relaxscript.ir import prim, relax
from relaxscript.ir.module import IRModule
from relaxscript.ir.struct_info import StructInfo
from relaxscript.runtime.builtins import State
from relaxscript.runtime.checks import Check, Dim
from relaxscript.runtime.run_check import match, origins_of
from relaxscript.semantics.checks import Checks
from relaxscript.semantics.make_closure import captured_count

if TYPE_CHECKING:
    from .relax import Interpreter

__all__ = ["RunEnvironment", "SavedScope"]


class _ShapeHeap(list[Any]):
    """The values of shape variables; it grows with their number."""

    def __setitem__(self, slot: Any, value: Any) -> None:
        while len(self) <= slot:
            self.append(None)
        super().__setitem__(slot, value)


class SavedScope(NamedTuple):
    """The state before a SeqExpr was entered."""

    values: dict[relax.Var, Any]
    bound: set[prim.Var]


class RunEnvironment:
    """The scope of a call. `outer` is the scope that a closure captures; it is not changed.

    `held` are the shapes, held by variables, to which the check made last refers.
    """

    def __init__(
        self, interpreter: Interpreter, name: str, outer: RunEnvironment | None = None
    ) -> None:
        self.interpreter = interpreter
        self.name = name
        self.span: Span | None = None  # where the evaluation is
        self.checks = Checks()
        self.heap: list[Any] = _ShapeHeap()
        self.values: dict[relax.Var, Any] = {}
        self.bound: set[prim.Var] = set()
        self.outside: list[SavedScope] = []  # the scopes to come back to
        self.origins: dict[int, tuple[str, str]] = {}
        origins = self.origins  # not `self`: an environment that holds itself holds all its tensors
        self.held: list[Any] = []
        self.state = State(name, self.heap, lambda: origins)
        if outer is not None:
            self._copy(outer)

    @property
    def module(self) -> IRModule:
        """The module whose functions are called."""
        return self.interpreter.module

    def _copy(self, other: RunEnvironment) -> None:
        self.values.update(other.values)
        self.bound.update(other.bound)
        self.checks.slots.update(other.checks.slots)
        self.heap.extend(other.heap)
        # Where captured variables took their values is nothing that a closure knows.
        self.origins.update({slot: (name, "") for slot, (name, _) in other.origins.items()})

    def snapshot(self) -> RunEnvironment:
        """The scope as it is now, values by reference, without variables of dataflow blocks."""
        copy = RunEnvironment(self.interpreter, self.name, self)
        for var in self.values:
            if isinstance(var, relax.DataflowVar):
                del copy.values[var]
        return copy

    def enter_scope(self) -> SavedScope:
        """Save what is known now; `leave_scope` comes back to it."""
        self.outside.append(SavedScope(dict(self.values), set(self.bound)))
        return self.outside[-1]

    def leave_scope(self, scope: SavedScope) -> None:
        """Forget the variables that were bound since `scope`."""
        while self.outside.pop() is not scope:
            pass
        self.values, self.bound = scope

    def lookup(self, var: relax.Var) -> Any:
        """The value of a variable; raises `DiagnosticError` (RX0101) when it is not in scope."""
        if var not in self.values:
            message = f"the variable `{var.name_hint}` is not defined here"
            raise DiagnosticError(Diagnostic("RX0101", message, var.span))
        return self.values[var]

    def kill(self, exprs: Sequence[relax.Expr]) -> None:
        """Let go of the values of variables, which stand for the null object from here on."""
        for values in (self.values, *(scope.values for scope in self.outside)):
            values.update((expr, None) for expr in exprs if expr in values)

    # -- checks ------------------------------------------------------------------------------------

    def signature(self, function: relax.Function) -> tuple[Check, ...]:
        """The checks of parameters; captured shapes that they name count as further arguments."""
        self.held = []
        params = function.params
        positions = {param: index for index, param in enumerate(params)}

        def index_of(var: relax.Var) -> int:
            if var in positions:
                return positions[var]
            self.held.append(self.lookup(var))
            return len(params) + len(self.held) - 1

        infos = [param.struct_info for param in params]
        return self.checks.of_arguments(infos, captured_count(function), self.bound, index_of)

    def check(self, info: StructInfo) -> Check:
        """The check of a value; `held` has the shapes that it refers to."""
        self.held = []

        def index_of(var: relax.Var) -> int:
            self.held.append(self.lookup(var))
            return len(self.held) - 1

        (check,) = self.checks.of([info], self.bound, index_of)
        return check

    def match(self, value: Any, info: StructInfo, where: str, origin: str = "") -> None:
        """Check a value, which binds shape variables; `origin` is where these have theirs from."""
        check = self.check(info)
        match(value, check, self.heap, where, self.held, lambda: self.origins)
        self.note_origins([check], [origin or where])

    def dim(self, e: prim.PrimExpr) -> Dim:
        """A scalar expression over the shape variables that have values."""
        return self.checks.dim(e, self.bound)

    def note_origins(self, checks: Sequence[Check], places: Sequence[str]) -> None:
        """Remember where shape variables took their values, for messages."""
        for slot, origin in origins_of(checks, places).items():
            self.origins.setdefault(slot, origin)
