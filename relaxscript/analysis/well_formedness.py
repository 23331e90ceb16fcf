"""Well-formedness of programs: the criteria of the spec, then the StructInfos once more.

`well_formed_checker.py` goes through the program, `normal_form.py` looks at how it is nested,
`struct_info_checker.py` derives what is annotated. What they find gets a place in the printed text
of the program: one made by hand or by a pass has no other text. Source: spec "Well-Formedness
Criteria"; TVM `relax.analysis.well_formed`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    InternalError,
    Label,
    Span,
    UnplacedError,
    VMError,
)
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import hooks
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function

from .inplace_use import UseAfterWrite, uses_after_write, writer_name
from .normal_form import normal_form_violations
from .struct_info_checker import struct_info_violations
from .violation import Violation
from .well_formed_checker import WellFormedChecker

__all__ = ["check_well_formed", "diagnose_ill_formed", "ill_formed", "violations", "well_formed"]


def well_formed(obj: IRModule | Function, check_struct_info: bool = True) -> bool:
    """True if a module, or a function alone, is well-formed; `ill_formed` says what is not.

    With `check_struct_info`, StructInfos are derived again and must not contradict what is
    annotated. Impure calls must then be where they may be.
    """
    return not violations(obj, check_struct_info)


def check_well_formed(obj: IRModule | Function, check_struct_info: bool = True) -> bool:
    """As `well_formed`, by the name that newer versions of TVM have for the plain answer."""
    return well_formed(obj, check_struct_info)


def ill_formed(obj: IRModule | Function, check_struct_info: bool = True) -> tuple[Diagnostic, ...]:
    """Everything that keeps a module or function from being well-formed, with its place.

    The places are in the printed text of `obj`. Code RX03nn stands for criterion nn of the spec; a
    function alone is not asked what only a module can break, and what it calls is not known. Where
    all criteria are met, the program must be in normal form (RX0325). Where it is, StructInfos are
    looked at. The cost is that of looking at each node once.
    """
    found = violations(obj, check_struct_info)
    if not found:
        return ()
    places = _places(obj, found)
    return tuple(_diagnostic(violation, at) for violation, at in zip(found, places))


def violations(obj: IRModule | Function, check_struct_info: bool = True) -> list[Violation]:
    """The findings of `ill_formed`, for whoever knows better places than the printed text."""
    if not isinstance(obj, (IRModule, Function)):
        raise TypeError(f"an IRModule or a Function is well-formed or not, {brief(obj)} is neither")
    module = obj if isinstance(obj, IRModule) else None
    checker = WellFormedChecker(module)
    if isinstance(obj, IRModule):
        checker.module(obj)
    else:
        checker.function(obj)
    if checker.found:
        return checker.found
    functions = [obj] if isinstance(obj, Function) else obj.relax_functions().values()
    nested = [violation for function in functions for violation in normal_form_violations(function)]
    if nested or not check_struct_info:
        return nested
    found = struct_info_violations(obj)
    for function in functions:
        found.extend(_use_after_write(reuse) for reuse in uses_after_write(function))
    return found


@contextmanager
def diagnose_ill_formed(obj: IRModule | Function) -> Iterator[None]:
    """Have what is refused inside because `obj` is ill-formed refused as `ill_formed` says it.

    A pass that stumbles over a hand-made program knows neither its text nor what else is wrong with
    it. Costs nothing where nothing is refused.
    """
    try:
        yield
    except REFUSALS as error:
        explain_refusal(obj, error)


REFUSALS = (DiagnosticError, UnplacedError, InternalError, VMError)


def explain_refusal(obj: IRModule | Function, error: BaseException) -> NoReturn:
    """Raise what `diagnose_ill_formed` makes of an error, of the kinds `REFUSALS`."""
    if isinstance(error, DiagnosticError) and not _has_no_place(error, caller_span()):
        raise error
    # Passes bring programs into normal form: that one is not in it is no reason.
    if found := [wrong for wrong in ill_formed(obj) if wrong.code != "RX0325"]:
        raise DiagnosticError(found) from None
    if isinstance(error, UnplacedError):
        raise error.as_diagnostic_error("this call", None) from None
    raise error


def _has_no_place(error: DiagnosticError, caller: Span | None) -> bool:
    """True if nothing is known of where a mistake is but `caller`, who asked."""
    return all(
        found.span in (None, caller) and not found.code.startswith("RX07")
        for found in error.diagnostics
    )


def _use_after_write(found: UseAfterWrite) -> Violation:
    name = found.var.name_hint
    message = f"`{name}` is used after `{writer_name(found.call)}` wrote into it"
    return Violation("RX0403", message, found.var, found.within, "use what the call gives")


def _places(obj: IRModule | Function, found: list[Violation]) -> list[Span | None]:
    wanted = [(violation.node, violation.within) for violation in found]
    try:
        spans: list[Span | None] = hooks.places(obj, wanted)
    except (InternalError, DiagnosticError, UnplacedError, RecursionError):
        # A program may be too ill-formed to be printed, or nested too deeply.
        return [None] * len(wanted)
    return spans


def _diagnostic(violation: Violation, at: Span | None) -> Diagnostic:
    labels = () if at is None else (Label(at, violation.fact or "here"),)
    notes = (violation.fact,) if violation.fact and at is None else ()
    return Diagnostic(violation.code, violation.message, at, labels, notes, violation.help)
