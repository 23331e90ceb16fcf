"""Names that users know as `tvm.ir.global_info`: what a module says of its devices."""

from __future__ import annotations

from .vdevice import DummyGlobalInfo, GlobalInfo, VDevice

__all__ = ["DummyGlobalInfo", "GlobalInfo", "VDevice"]
