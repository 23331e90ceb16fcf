"""Names that users know as `tvm.ir.attrs`: attributes, and nodes by their keys."""

from __future__ import annotations

from .relax import Attrs, Attrs as DictAttrs
from .type_keys import make_node

__all__ = ["Attrs", "DictAttrs", "make_node"]
