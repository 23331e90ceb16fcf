"""Who is to blame: places in sources, mistakes as data, how they are shown and raised.

Start reading at `diagnostic.py`; `span.py` is the place, `render.py` the picture, `exceptions.py`
what is raised, `explain/` the page of every code, `fixes.py` applies offered corrections, and
`settings.py` makes errors of warnings. Imports nothing of ours, so that every room may use it.
"""

from __future__ import annotations

from . import ipython
from .described import Described
from .diagnostic import Diagnostic, Edit, Label, Nature, Severity, nearest
from .exceptions import (
    DiagnosticError,
    DiagnosticTypeError,
    DiagnosticValueError,
    InternalError,
    OperandError,
    RelaxWarning,
    TVMError,
    UnplacedError,
    VMError,
    unplaced,
    warn,
)
from .explain import CODES, Page, explain, page_of
from .fixes import Mended, apply_fixes, mended
from .render import automatic_style, render
from .settings import config, is_strict
from .span import Source, Span

__all__ = [
    "CODES",
    "Described",
    "Diagnostic",
    "DiagnosticError",
    "DiagnosticTypeError",
    "DiagnosticValueError",
    "Edit",
    "InternalError",
    "Label",
    "Mended",
    "Nature",
    "OperandError",
    "Page",
    "RelaxWarning",
    "Severity",
    "Source",
    "Span",
    "TVMError",
    "UnplacedError",
    "VMError",
    "apply_fixes",
    "automatic_style",
    "config",
    "explain",
    "is_strict",
    "mended",
    "nearest",
    "page_of",
    "render",
    "unplaced",
    "warn",
]

ipython.register()
