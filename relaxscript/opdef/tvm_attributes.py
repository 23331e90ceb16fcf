"""TVM's attributes of operators that follow from their definitions here, by their keys.

    FPurity                True where it has no side effects
    FInferStructInfo       (call, builder) -> the StructInfo of the result
    FNormalize             (builder, call) -> the normal form of the call
    FLegalize              (builder, call) -> the call of the PrimFunc that computes it
    FInferMixedPrecision   (call, out_dtype) -> the call on operands of a lower dtype
    TMixedPrecisionPolicy  0: always computes in the lower dtype, 1: as its operands do, 2: never
    TCallEffectKind        of an operator of TIR, as `T.CallEffectKind` numbers them
    TScriptPrinterName     of an operator of TIR, its name in scripts

The rules for layouts and gradients are called in other ways here than TVM does. So an operator has
no `FRelaxInferLayout` and no `FPrimalGradient`; passes ask its `rules`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.ir import hooks
from relaxscript.ir.intrinsic import INTRINSICS, Effect, Intrinsic

from .operator import REGISTRY, Operator
from .traits import Trait

__all__ = ["tvm_attribute"]

_EFFECTS = {Effect.PURE: 1, Effect.READ: 2, Effect.UPDATE: 3, Effect.CONTROL: 6}


def tvm_attribute(op_name: str, attr_key: str) -> Any:
    """The attribute of a key, None where the definition of the operator says nothing of it."""
    operator, row = REGISTRY.get(op_name), INTRINSICS.get(op_name)
    if operator is not None and attr_key in _OF_OPERATORS:
        return _OF_OPERATORS[attr_key](operator)
    if row is not None and attr_key in _OF_INTRINSICS:
        return _OF_INTRINSICS[attr_key](row)
    return None


def _infer(operator: Operator) -> Any:
    if not operator.has_rule:
        return None
    return lambda call, builder: operator.infer(call, builder.context)


def _normalize(operator: Operator) -> Any:
    if "normalize" not in operator.rules:
        return None
    return lambda builder, call: operator.normalize(call)


def _legalize(operator: Operator) -> Any:
    if "compute" not in operator.rules:
        return None
    return lambda builder, call: hooks.legalize_call(builder, call)


def _policy(operator: Operator) -> int:
    traits = operator.traits
    return 0 if Trait.MIXED_ALWAYS in traits else 1 if Trait.MIXED_FOLLOW in traits else 2


_OF_OPERATORS: dict[str, Callable[[Operator], Any]] = {
    "FPurity": lambda operator: operator.pure,
    "FInferStructInfo": _infer,
    "FNormalize": _normalize,
    "FLegalize": _legalize,
    "FInferMixedPrecision": lambda operator: operator.rules.get("mixed_precision"),
    "TMixedPrecisionPolicy": _policy,
}
_OF_INTRINSICS: dict[str, Callable[[Intrinsic], Any]] = {
    "TCallEffectKind": lambda row: _EFFECTS[row.effect],
    "TScriptPrinterName": lambda row: row.script_name,
}
