"""The context in which a rule of an operator derives StructInfo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from relaxscript.errors import OperandError
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo

from .leaf_struct_info import struct_info_of_leaf

if TYPE_CHECKING:
    from relaxscript.ir.module import IRModule
    from relaxscript.ir.node import Node

__all__ = ["DeferredCheck", "InferContext", "PlainContext"]


class DeferredCheck(NamedTuple):
    """A precondition of a call that is true for some values of the shape variables only.

    `relation` is "equal" (dimension `a` equals `b`), "broadcast" (they are equal, or one of them is
    1) or "inside" (`a` is at most `b`: checked without a warning, as an index is). Derivations of
    more than operators may add others, such as "fits" (a value of StructInfo `a` has StructInfo
    `b`). `operand` is the one at fault, `text` the sentence of the warning. `error` is what would
    be raised if it were never true, with facts about the operands. Lowering puts a check before the
    kernel.
    """

    operand: str
    a: Node
    b: Node
    relation: str
    text: str
    error: OperandError | None = None


class InferContext(Protocol):
    """Questions and reports of a rule that derives StructInfo."""

    @property
    def facts(self) -> Any:
        """The facts about the shape variables, as `arith.Facts`, or None."""

    @property
    def module(self) -> IRModule | None:
        """The module of the call, if there is one."""

    def struct_info(self, expr: Expr) -> StructInfo:
        """The StructInfo of an expression."""

    def require(self, deferred: DeferredCheck) -> None:
        """Take note of what could not be decided."""


class PlainContext:
    """A context without module or facts that collects the deferred checks in `deferred_checks`."""

    def __init__(self, module: IRModule | None = None, facts: Any = None) -> None:
        self.module = module
        self.facts = facts
        self.deferred_checks: list[DeferredCheck] = []

    def struct_info(self, expr: Expr) -> StructInfo:
        """The StructInfo of the expression by itself."""
        return struct_info_of_leaf(expr)

    def require(self, deferred: DeferredCheck) -> None:
        """Keep the deferred check."""
        self.deferred_checks.append(deferred)
