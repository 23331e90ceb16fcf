"""What passes on precision are asked on: programs, and the parameters that become float16."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript import transform
from relaxscript.ir.module import IRModule
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import walk
from relaxscript.transform import Pass
from relaxscript_tests.transform.algebra.product_programs import products_module
from relaxscript_tests.transform.pass_case import Case

__all__ = ["PRECISIONS"]


def _first_half(mod: IRModule, inputs: Sequence[Any]) -> Pass:
    """The first tensor of float32 that `main` is given, as float16, where nobody calls `main`.

    None where it may write into it.
    """
    main = next(var for var in mod.functions if var.name_hint == "main")
    functions = mod.relax_functions()
    named = any(node is main for func in mod.functions.values() for node in walk(func))
    others = {
        p.name_hint for var, func in functions.items() if var is not main for p in func.params
    }
    names = [
        param.name_hint
        for param in functions[main].params
        if isinstance(info := param.struct_info, TensorStructInfo)
        and info.dtype == "float32"
        and param.name_hint not in others
    ]
    is_free = not named and functions[main].is_pure
    return transform.ToMixedPrecision(fp16_input_names=names[:1] if is_free else [])


PRECISIONS: Mapping[str, Sequence[Case]] = {
    "ToMixedPrecision": [
        Case("half", lambda mod, inputs: transform.ToMixedPrecision("float16")),
        Case("named", _first_half),
        Case("products", lambda mod, inputs: transform.ToMixedPrecision(), products_module),
    ],
}
