"""Scripts written as calls of Python: frames that are opened by `with`, closed by its end.

    from relaxscript.script.ir_builder import IRBuilder, ir as I, relax as R, tir as T

    with IRBuilder() as ib:
        with I.ir_module():
            with R.function():
                R.func_name("main")
                x = R.arg("x", R.Tensor((2, 3), "float32"))
                y = R.emit(R.add(x, x))
                IRBuilder.name("y", y)
                R.func_ret_value(y)
    mod = ib.get()

What is made is what the decorators make of the same program: Relax goes through the BlockBuilder,
TIR through the rules of the parser. Mistakes raise `DiagnosticError` at the line of the caller.
Start reading at `base.py`.

Source: TVM `tvm.script.ir_builder` for names, parameters and nesting.
"""

from __future__ import annotations

from . import ir, relax, tir
from .base import Frame, IRBuilder

__all__ = ["Frame", "IRBuilder", "ir", "relax", "tir"]
