"""Names that users know as `relax.vm`: building and running programs."""

from __future__ import annotations

from .compiler import build
from .runtime import (
    ExecBuilder,
    Executable,
    SpecialReg,
    VirtualMachine,
    VMFuncKind,
    VMInstrumentReturnKind,
)

__all__ = [
    "ExecBuilder", "Executable", "SpecialReg", "VMFuncKind", "VMInstrumentReturnKind",
    "VirtualMachine", "build",
]  # fmt: skip
