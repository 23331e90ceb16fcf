"""What passes over parameters are made with, for the laws of all passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript import transform
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import Call, StringImm, Var
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.struct_info import ObjectStructInfo, StructInfo, TensorStructInfo
from relaxscript.ir.walk import walk
from relaxscript.testing.programs import random_module
from relaxscript.transform import Pass
from relaxscript_tests.transform.pass_case import Case

__all__ = ["PARAMS"]


def without_sizes(mod: IRModule, inputs: Sequence[Any]) -> Pass:
    """Of the tensors of known sizes that `main` is given, only the ranks are known."""
    params = mod["main"].params

    def info_of(param: Var) -> StructInfo | None:
        info = param.struct_info
        if param not in params or not isinstance(info, TensorStructInfo):
            return None
        known = all(isinstance(dim, IntImm) for dim in info.dims or ())
        return TensorStructInfo(None, info.dtype, info.vdevice, info.ndim) if known else None

    return transform.UpdateParamStructInfo(info_of)


def with_weights(seed: int) -> IRModule:
    """A random module whose `main` says that its parameters after the first are weights.

    Where it is used as a value it says nothing.
    """
    made = random_module(seed)
    main = made.get_global_var("main")
    called = [node for f in made.functions.values() for node in walk(f) if isinstance(node, Call)]
    uses = [use for f in made.functions.values() for use in walk(f) if use is main]
    if len(uses) <= sum(call.op is main for call in {*called}):
        count = min(seed % 2, len(made[main].params))
        made[main] = made[main].with_attr("num_input", count)
    return made


def twins(seed: int) -> IRModule:
    """Such a module, in which a function `other` is as `main`."""
    made = with_weights(seed)
    if made["main"].attrs and "num_input" in made["main"].attrs:
        made["other"] = copy_with_new_vars(made["main"]).with_attr("global_symbol", "other")
    return made


def lifted(seed: int) -> IRModule:
    """A random module with a function that transforms the weights of `main`."""
    return transform.LiftTransformParams()(with_weights(seed))


def lazy_of_a_loader() -> Pass:
    """What fetches and stores by functions of other names, which are given an object first."""
    loader = Var("loader", ObjectStructInfo())
    return transform.LazyTransformParams("load", "save", [loader], [loader, StringImm("weights")])


PARAMS: Mapping[str, Sequence[Case]] = {
    "LazyGetInput": [
        Case("weights", lambda mod, inputs: transform.LazyGetInput(), with_weights),
    ],
    "LazySetOutput": [
        Case("weights", lambda mod, inputs: transform.LazySetOutput(), with_weights),
    ],
    "LazyTransformParams": [
        Case("", lambda mod, inputs: transform.LazyTransformParams(), lifted),
        Case("given", lambda mod, inputs: lazy_of_a_loader(), lifted),
    ],
    "LiftTransformParams": [
        Case("weights", lambda mod, inputs: transform.LiftTransformParams(), with_weights),
        Case("shared", lambda mod, inputs: transform.LiftTransformParams(True), twins),
    ],
    "UpdateParamStructInfo": [Case("without_sizes", without_sizes)],
}
