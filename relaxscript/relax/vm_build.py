"""Names that users know as `relax.vm_build`: compiling programs."""

from __future__ import annotations

from relaxscript.compiler import build
from relaxscript.runtime import Executable, VMExecutable

__all__ = ["Executable", "VMExecutable", "build"]
