"""Diagnostics: places in sources, mistakes as data, how they are rendered and raised.

Start reading at `diagnostic.py`; `span.py` is the place, `render.py` the picture, `exceptions.py`
the exceptions. `explain/` has the page of every code, `fixes.py` applies offered corrections, and
`settings.py` makes errors of warnings. Imports nothing of ours, so that every room may use it.
"""

from __future__ import annotations

from . import ipython
from .described import Described
from .diagnostic import Diagnostic, Edit, Label, Nature, Severity
from .exceptions import (
    AdvisedError,
    AdvisedValueError,
    DiagnosticError,
    DiagnosticTypeError,
    DiagnosticValueError,
    InternalError,
    OperandError,
    RelaxWarning,
    Remark,
    TVMError,
    UnplacedError,
    VMError,
    noted_warnings,
    unplaced_error,
    warn,
)
from .explain import CODES, Page, explain, page_of
from .fixes import FixedSource, apply_fixes, fix_source
from .quantity import quantity
from .render import automatic_style, render
from .settings import config, is_strict, shows_progress
from .span import SequentialSpan, Source, Span
from .suggest import did_you_mean, meant_hint, meant_notes, nearest

__all__ = [
    "CODES",
    "AdvisedError",
    "AdvisedValueError",
    "Described",
    "Diagnostic",
    "DiagnosticError",
    "DiagnosticTypeError",
    "DiagnosticValueError",
    "Edit",
    "FixedSource",
    "InternalError",
    "Label",
    "Nature",
    "OperandError",
    "Page",
    "RelaxWarning",
    "Remark",
    "SequentialSpan",
    "Severity",
    "Source",
    "Span",
    "TVMError",
    "UnplacedError",
    "VMError",
    "apply_fixes",
    "automatic_style",
    "config",
    "did_you_mean",
    "explain",
    "fix_source",
    "is_strict",
    "meant_hint",
    "meant_notes",
    "nearest",
    "noted_warnings",
    "page_of",
    "quantity",
    "render",
    "shows_progress",
    "unplaced_error",
    "warn",
]

ipython.register()
