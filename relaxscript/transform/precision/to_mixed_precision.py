"""ToMixedPrecision: products take float16, and add up in float32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.ir.module import IRModule
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .half_parameters import half_places, with_half_parameters, without_unused_casts
from .half_writer import HalfWriter
from .precision_policy import HALF, SINGLE

__all__ = ["ToMixedPrecision"]


class ToMixedPrecision(ModulePass):
    """Compute what is float32 in float16 where that gains much, in dataflow blocks.

    Before:

        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = R.nn.relu(lv)
            gv = R.matmul(lv1, w)
            R.output(gv)

    After:

        with R.dataflow():
            lv = R.astype(x, "float16")
            lv1 = R.astype(w, "float16")
            lv2 = R.matmul(lv, lv1, out_dtype="float32")
            lv3 = R.astype(lv2, "float16")
            lv4 = R.nn.relu(lv3)
            gv = R.matmul(lv4, lv1, out_dtype="float32")
            R.output(gv)

    What an operator does is said in its own block (`opdef/mixed_precision.py`). Matrix products,
    convolutions and attention always take float16. Most others follow: they compute in float16 if
    all of their operands come in it, and nothing wants the result in float32. All others have the
    dtypes that they had, and so have calls of functions and PrimFuncs, and casts. Nothing changes
    outside of dataflow blocks, nor do the results of blocks and functions.

    Products add up in `out_dtype`, float32 or float16, which is that of their results. An attention
    gives float16. Constants are cast; what reads one with a number too large for float16 is left as
    it is. Parameters that are named in `fp16_input_names` are float16 afterwards. Calls of their
    functions in the module cast what they give; where one is used as a value, that is refused. What
    a function writes into such a parameter is not seen by who calls it.

    What is rounded to float16 is off by one part in 2048 at most. Numbers below 6e-5 are so by up
    to 3e-8, and what is above 65504 becomes infinite. On a processor without float16 of its own
    that saves memory, and no time.

    Raises `DiagnosticError`. RX0703 is for another `out_dtype`, RX0101 for a name that no parameter
    has. RX0103 is for a parameter that is no tensor of float32.
    Source: TVM `relax.transform.ToMixedPrecision`.
    """

    changes_signatures = True
    # Twenty operands and results that are rounded to float16, one after the other.
    tolerance = 20 * 2.0**-11

    def __init__(
        self, out_dtype: str = "float32", fp16_input_names: Sequence[str] | None = None
    ) -> None:
        self.out_dtype = _sum_dtype(out_dtype)
        self.fp16_input_names = tuple(fp16_input_names or ())

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        places = half_places(mod, self.fp16_input_names)
        typed = with_half_parameters(mod, places) if places else mod
        made = typed.clone()
        writer = HalfWriter(typed, self.out_dtype)
        changed = bool(places)
        for var, func in typed.relax_functions().items():
            new = writer.function(func, var.name_hint)
            if var in places:
                new = without_unused_casts(new, len(places[var]))
            if new is not func:
                made[var] = new
                changed = True
        return made if changed else mod

    def call_as_before(
        self, before: IRModule, call: Callable[..., Any], name: str, args: Sequence[Any]
    ) -> Any:
        """Call the function with float16 for the parameters that are named."""
        names = set(self.fp16_input_names)
        given = [
            np.asarray(arg).astype("float16") if param.name_hint in names else arg
            for param, arg in zip(before[name].params, args, strict=True)
        ]
        return call(name, *given)


def _sum_dtype(name: str) -> DataType:
    """The dtype in which products add up; raises `DiagnosticError` for another one."""
    known = (SINGLE, HALF)
    if name not in known:
        help = did_you_mean(nearest(name, known), f"there are {' and '.join(known)}", '"')
        message = f'`ToMixedPrecision` has no out_dtype "{name}"'
        raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))
    return DataType(name)
