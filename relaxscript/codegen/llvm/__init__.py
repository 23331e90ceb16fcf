"""From PrimFuncs to native code by LLVM.

Start with `compile_prim_func` in `kernel.py`. `function.py` writes LLVM's text: `statement.py`,
`memory.py` and `expression.py` are one class in three layers over the `ir_writer.py`, tables stand
in `types.py` and `intrinsics.py`. `engine.py` hands the text to LLVM; llvmlite is imported when the
first PrimFunc is compiled, not before.
"""

from __future__ import annotations

from .kernel import Kernel, compile_prim_func

__all__ = ["Kernel", "compile_prim_func"]
