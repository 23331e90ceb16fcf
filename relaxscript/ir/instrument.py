"""Instruments of passes: what looks on while passes run.

    with PassContext(instruments=[PassTimingInstrument(), WellFormedInstrument()]) as ctx:
        mod = pipeline(mod)
        print(ctx.instruments[0].render())

An instrument is given to a `PassContext` and told of each pass: `info` has the pass's `name` and
`opt_level`. Source: TVM `tvm.ir.instrument`, `relax.ir.instrument.WellFormedInstrument`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from relaxscript.errors import Diagnostic, DiagnosticError

from . import hooks
from .module import IRModule
from .structural_equality import get_first_structural_mismatch

__all__ = [
    "PassInstrument", "PassPrintingInstrument", "PassTimingInstrument", "PrintAfterAll",
    "PrintBeforeAll", "WellFormedInstrument", "pass_instrument",
]  # fmt: skip

C = TypeVar("C", bound=type)


class PassInstrument:
    """The base of instruments; each method may be overridden and does nothing here."""

    def enter_pass_ctx(self) -> None:
        """A context with this instrument is entered."""

    def exit_pass_ctx(self) -> None:
        """The context is left."""

    def should_run(self, mod: IRModule, info: Any) -> bool:
        """True if a pass is to run; False leaves the module as it is."""
        return True

    def run_before_pass(self, mod: IRModule, info: Any) -> None:
        """A pass is about to run on `mod`."""

    def run_after_pass(self, mod: IRModule, info: Any) -> None:
        """A pass has made `mod`."""


_METHODS = (
    "enter_pass_ctx", "exit_pass_ctx", "should_run", "run_before_pass", "run_after_pass",
)  # fmt: skip


def pass_instrument(pi_cls: C | None = None) -> Any:
    """Class decorator: an instrument from a class that has some of the methods of one.

    Raises `TypeError` for what is no class, and for a class with none of the methods.
    """
    if pi_cls is None:
        return pass_instrument
    if not isinstance(pi_cls, type):
        raise TypeError(f"an instrument is made from a class, not from {pi_cls!r}")
    if not any(callable(getattr(pi_cls, name, None)) for name in _METHODS):
        raise TypeError(f"`{pi_cls.__name__}` has none of the methods {', '.join(_METHODS)}")
    says = {"__doc__": pi_cls.__doc__, "__module__": pi_cls.__module__}
    return type(pi_cls.__name__, (pi_cls, PassInstrument), says)


# -- time ------------------------------------------------------------------------------------------


@dataclass
class _Timed:
    """The time that a pass ran, and the passes that it ran."""

    name: str
    start: float
    seconds: float = 0.0
    inner: list[_Timed] = field(default_factory=list)


class PassTimingInstrument(PassInstrument):
    """Takes the wall-clock time of each pass since the context was entered."""

    def __init__(self) -> None:
        self._open: list[_Timed] = []
        self._done: list[_Timed] = []

    def enter_pass_ctx(self) -> None:
        self._open, self._done = [], []

    def run_before_pass(self, mod: IRModule, info: Any) -> None:
        timed = _Timed(info.name, time.perf_counter())
        (self._open[-1].inner if self._open else self._done).append(timed)
        self._open.append(timed)

    def run_after_pass(self, mod: IRModule, info: Any) -> None:
        # A pass that failed was never closed: it ends with the one around it.
        while self._open:
            timed = self._open.pop()
            timed.seconds = time.perf_counter() - timed.start
            if timed.name == info.name:
                break

    def render(self) -> str:
        """A line for each pass: its time in microseconds and its share; passes inside indented."""
        total = sum(timed.seconds for timed in self._done)
        lines = [f"Total time: {total * 1e6:.0f}us"]
        stack = [(timed, 0) for timed in reversed(self._done)]
        while stack:
            timed, depth = stack.pop()
            own = timed.seconds - sum(inner.seconds for inner in timed.inner)
            share = 100 * timed.seconds / total if total else 0.0
            lines.append(
                f"{'  ' * depth}{timed.name}: {timed.seconds * 1e6:.0f}us "
                f"[{own * 1e6:.0f}us itself] ({share:.1f}%)"
            )
            stack.extend((inner, depth + 1) for inner in reversed(timed.inner))
        return "\n".join(lines)


# -- printing --------------------------------------------------------------------------------------


def _print(mod: IRModule, when: str, info: Any) -> None:
    print(f"# {when} {info.name}\n{hooks.script_of(mod)}\n")


class PassPrintingInstrument(PassInstrument):
    """Prints the module before and after the passes of these names."""

    def __init__(
        self, print_before_pass_names: Sequence[str], print_after_pass_names: Sequence[str]
    ) -> None:
        self.print_before_pass_names = _names("print_before_pass_names", print_before_pass_names)
        self.print_after_pass_names = _names("print_after_pass_names", print_after_pass_names)

    def run_before_pass(self, mod: IRModule, info: Any) -> None:
        if info.name in self.print_before_pass_names:
            _print(mod, "before", info)

    def run_after_pass(self, mod: IRModule, info: Any) -> None:
        if info.name in self.print_after_pass_names:
            _print(mod, "after", info)


def _names(what: str, given: Sequence[str]) -> tuple[str, ...]:
    """The names of passes; one alone would be taken apart into letters."""
    if isinstance(given, str):
        raise TypeError(f"`{what}` is a list of names of passes, not {given!r}")
    return tuple(given)


class PrintBeforeAll(PassInstrument):
    """Prints the module before each pass."""

    def run_before_pass(self, mod: IRModule, info: Any) -> None:
        _print(mod, "before", info)


class PrintAfterAll(PassInstrument):
    """Prints the module after each pass."""

    def run_after_pass(self, mod: IRModule, info: Any) -> None:
        _print(mod, "after", info)


# -- verifying -------------------------------------------------------------------------------------


# What these are given need not be well-formed, nor what they give to one another.
_NORMALIZING = ("Normalize", "NormalizeGlobalVar", "ResolveGlobals")


class WellFormedInstrument(PassInstrument):
    """Verifies the module after each pass: it is printed, and what is printed is read again.

    Reading derives every StructInfo anew and applies the criteria of well-formedness, and what was
    read must be the same module. `validate_before_transform` looks at the input of each pass, too.
    With `check_struct_info=False` the comparison is left out. Nothing is asked around the passes
    that make modules well-formed, `Normalize`, `NormalizeGlobalVar` and `ResolveGlobals`.

    Raises `DiagnosticError` that names the pass (RX0706), with what is wrong as its cause.
    """

    def __init__(
        self, check_struct_info: bool = True, validate_before_transform: bool = True
    ) -> None:
        self.check_struct_info = check_struct_info
        self.validate_before_transform = validate_before_transform

    def run_before_pass(self, mod: IRModule, info: Any) -> None:
        if self.validate_before_transform and info.name not in _NORMALIZING:
            self._verify(mod, f"before the pass `{info.name}`")

    def run_after_pass(self, mod: IRModule, info: Any) -> None:
        if info.name not in _NORMALIZING:
            self._verify(mod, f"after the pass `{info.name}`")

    def _verify(self, mod: IRModule, when: str) -> None:
        try:
            again = hooks.parsed(hooks.script_of(mod, show_meta=True))
        except DiagnosticError as error:
            found = error.diagnostics[0]
            message = f"{when} the module is not well-formed: {found.message}"
            raise DiagnosticError(Diagnostic("RX0706", message, found.span)) from error
        mismatch = get_first_structural_mismatch(mod, again) if self.check_struct_info else None
        if mismatch is not None:
            message = f"{when} the module does not read back as it is: {mismatch.reason}"
            raise DiagnosticError(Diagnostic("RX0706", message, None))
