"""Questions about programs; `derive.py` answers what is known of an expression's value."""

from __future__ import annotations

from .derive import Context, call_purity, derive_struct_info, function_struct_info

__all__ = ["Context", "call_purity", "derive_struct_info", "function_struct_info"]
