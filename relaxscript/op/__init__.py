"""The operators of Relax: script, IR, StructInfo and numpy meaning, each defined in one place.

Start with `opdef/operator.py` (what a definition is), then any file of operators. The
registry is complete once this package is imported. `namespace.py` holds the names that `R.` offers;
here they are beside what a compiler needs (`Operator`, `REGISTRY`, `lookup` ...).
"""

from __future__ import annotations

import sys as _sys

from relaxscript.arguments import ArgumentError
from relaxscript.ir import hooks
from relaxscript.opdef import eager
from relaxscript.opdef.composite import CompositeOp
from relaxscript.opdef.context import DeferredCheck, InferContext, PlainContext
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.opdef.operator import (
    REGISTRY,
    Operator,
    lookup,
    operator_named,
    symbols,
    traits_of,
)
from relaxscript.opdef.parameters import Parameter
from relaxscript.opdef.traits import Trait
from relaxscript.opdef.tvm_attributes import tvm_attribute
from relaxscript.opdef.user_operators import offer as _offer

from . import namespace
from .namespace import *  # noqa: F403

SYMBOLS = {operator.symbol: operator for operator in symbols()}
hooks.apply_operator.fill(lambda symbol, *operands: SYMBOLS[symbol](*operands))
hooks.is_eager.fill(eager.is_eager)
hooks.operator_of.fill(lambda name: operator_named(name).op)
hooks.op_attribute_of.fill(tvm_attribute)

__all__ = [
    "REGISTRY", "SYMBOLS", "ArgumentError", "CompositeOp", "DeferredCheck", "InferContext",
    "Operator", "Parameter", "PlainContext", "Trait", "lookup", "operator_named",
    "struct_info_of_leaf", "symbols", "traits_of", "tvm_attribute", *namespace.__all__,
]  # fmt: skip

_offer(_sys.modules[__name__])
