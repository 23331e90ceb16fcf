"""Names that users know as `relax.vm`: building and running programs."""

from __future__ import annotations

from .compiler import build
from .runtime import (
    BenchmarkResult,
    ExecBuilder,
    Executable,
    Report,
    SpecialReg,
    Stepper,
    VirtualMachine,
    VMExecutable,
    VMFuncKind,
    VMInstrumentReturnKind,
)

__all__ = [
    "BenchmarkResult", "ExecBuilder", "Executable", "Report", "SpecialReg", "Stepper",
    "VMExecutable", "VMFuncKind", "VMInstrumentReturnKind", "VirtualMachine", "build",
]  # fmt: skip
