"""Mistakes in statements of TIR, said by who knows the parts of a statement and no places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import Described, Diagnostic, Edit, Label, Severity, Span, UnplacedError
from relaxscript.ir.prim import PrimExpr, StringImm
from relaxscript.ir.tir import Buffer, BufferRegion

__all__ = ["TIRError", "describe"]


class TIRError(UnplacedError):
    """A statement that cannot be, or that deserves a word (`severity` "warning").

    `part` is the part of the statement to blame ("value", "indices[1]"); `facts` says what is true
    of parts, `places` what is true of what was made before, by its span. `instead` is what to write
    in the place of `part`, in which `{}` stands for the text that is there; `help` may quote it as
    `{instead}`.
    """

    def __init__(
        self, part: str, message: str, *, code: str = "RX0501", help: str | None = None,
        facts: Mapping[str, str] | None = None, places: Sequence[tuple[Span | None, str]] = (),
        instead: str | None = None, severity: Severity = "error",
    ) -> None:  # fmt: skip
        super().__init__(part, message)
        self.part = part
        self.message = message
        self.code = code
        self.help = help
        self.facts = dict(facts or {})
        self.places = tuple(places)
        self.instead = instead
        self.severity: Severity = severity

    def diagnostic(
        self, callee: str, span: Span | None, operands: Mapping[str, Span | None],
        words: Mapping[str, str] | None = None,
    ) -> Diagnostic:  # fmt: skip
        """The diagnostic for a statement at `span`, its parts at `operands`.

        `words` are the parts as the user wrote them. Of several facts those are shown that have a
        place of their own.
        """
        at = operands.get(self.part)
        labels = [
            Label(place, fact)
            for name, fact in self.facts.items()
            if (place := operands.get(name) or (span if len(self.facts) == 1 else None)) is not None
        ]
        labels += [Label(place, text) for place, text in self.places if place is not None]
        instead = self.instead
        if instead is not None:
            instead = instead.replace("{}", (words or {}).get(self.part, self.part))
        help = self.help
        if help is not None and instead is not None:
            help = help.replace("{instead}", instead)
        fix = (Edit(at, instead),) if at is not None and instead is not None else ()
        return Diagnostic(
            self.code, self.message, at or span, tuple(labels), (), help, fix,
            severity=self.severity,
        )  # fmt: skip

    def __str__(self) -> str:
        return f"`{self.part}`: {self.message}" if self.part else self.message


def describe(value: Any) -> str:
    """A value in a few words, for messages."""
    match value:
        case Buffer(name=name):
            return f"the buffer `{name}`"
        case BufferRegion():
            return "a region of a buffer"
        case PrimExpr() if value.dtype.kind == "handle":
            return "a string" if isinstance(value, StringImm) else "an address"
        case Described():
            return value.describe()
        case DataType():
            return f"the dtype `{value}`"
        case PrimExpr():
            return f"a scalar of type {value.dtype}"
        case ModuleType():
            return f"the module `{value.__name__.rpartition('.')[2]}`"
        case None:
            return "`None`"
    return f"a Python {type(value).__name__}"
