"""Names that users know as `tvm.base`: the error that programs raise."""

from __future__ import annotations

from .errors import TVMError

__all__ = ["TVMError"]
