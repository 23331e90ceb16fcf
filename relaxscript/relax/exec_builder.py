"""Names that users know as `relax.exec_builder`: bytecode by hand."""

from __future__ import annotations

from relaxscript.runtime import ExecBuilder, SpecialReg, VMFuncKind

__all__ = ["ExecBuilder", "SpecialReg", "VMFuncKind"]
