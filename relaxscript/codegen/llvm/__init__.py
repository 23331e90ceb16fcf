"""From PrimFuncs to native code by LLVM.

Start with `compile_prim_func` in `kernel.py`. `function.py` writes LLVM IR. `statement.py`,
`memory.py` and `expression.py` are functions over one context, `context.py`, which holds the
`ir_writer.py`. Tables are in `types.py` and `intrinsics.py`. `engine.py` hands the IR to LLVM;
llvmlite is imported when the first PrimFunc is compiled, not before.
"""

from __future__ import annotations

from .kernel import Kernel, compile_prim_func, compile_prim_funcs

__all__ = ["Kernel", "compile_prim_func", "compile_prim_funcs"]
