"""From lowered Relax to bytecode of the virtual machine: calls, `if` and results.

`codegen(module, kernels)` in `module.py` is the front door; `require_lowered.py` refuses what a
pipeline left to be lowered. `function.py` emits one function and `calls.py` its calls. `program.py`
holds what functions share, and `registers.py` allocates registers. `escape.py` finds variables that
others may write into; `scalars.py` turns dimensions into Python functions.
"""

from __future__ import annotations

from .module import codegen
from .program import Kernel

__all__ = ["Kernel", "codegen"]
