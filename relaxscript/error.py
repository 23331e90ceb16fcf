"""Names that users know as `tvm.error`: what is raised."""

from __future__ import annotations

from .errors import DiagnosticError, InternalError, TVMError

__all__ = ["DiagnosticError", "InternalError", "TVMError"]
