"""From Relax to bytecode of the virtual machine.

`codegen(module, kernels)` in `module.py` is the front door. `function.py` emits one function and
`calls.py` its calls; `program.py` holds what functions share, `registers.py` says which registers
are free, `usage.py` what functions do with their variables, and `scalars.py` turns dimensions into
Python functions.
"""

from __future__ import annotations

from .module import codegen
from .program import Kernel

__all__ = ["Kernel", "codegen"]
