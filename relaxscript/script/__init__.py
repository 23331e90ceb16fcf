"""The script language: what `I.`, `R.` and `T.` mean, parsing, and printing.

from relaxscript.script import ir as I, relax as R, tir as T
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.ir.hooks import further_sections as _further_sections
from relaxscript.opdef.operator import Operator as _Operator

from . import ir, printer, relax, tir, tir as tirx
from .parser.entry import from_source, ir_module
from .printer.show import showing

if not TYPE_CHECKING:
    from relaxscript.errors.absent_modules import answer_for as _answer_for
    from relaxscript.errors.not_built import of_script as __getattr__  # noqa: F401

    _answer_for(__path__)

__all__ = ["from_source", "ir", "ir_module", "printer", "relax", "showing", "tir", "tirx"]


@_further_sections.fill
def _sections_of_page(operator: _Operator) -> list[str]:
    from .pages.operator_page import further_sections

    return further_sections(operator)
