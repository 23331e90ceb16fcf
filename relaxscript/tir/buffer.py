"""Names that users know as `tvm.tir.buffer`: buffers and who produces them."""

from __future__ import annotations

from relaxscript.tir import Buffer, DataProducer, decl_buffer

__all__ = ["Buffer", "DataProducer", "decl_buffer"]
