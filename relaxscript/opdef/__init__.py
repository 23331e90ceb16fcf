"""The engine of operators: definitions, calls made of them, and the context of their rules.

Whoever has an operator of his own defines it with what is here: `op` makes an operator of a
function on numpy arrays, and words such as `Tensor` say what its parameters take. `infer_rule`,
`compute` and `gradient` of that operator declare its rules; see `user_operators.py`.

    operator.py          an operator: schema, traits, rules
    traits.py            facts that other rooms ask for
    parameters.py        the schema, read from a signature
    call_layout.py       where operands lie in a call
    operands.py          operands as people write them · prim_operands.py  those of scalars
    context.py           what a rule may ask · shapes.py  what rules share
    compute.py           what a compute is asked with · gradient.py  what a gradient is asked with
    families.py          operators that differ only in what they compute
    leaf_struct_info.py  what is known of expressions that need no rule
    eager.py             operators run at once, on numpy arrays
    composite.py         names for compositions of operators
    aliases.py           what other libraries call things
    mixed_precision.py   operators on fewer bits
    format.py            dimensions and shapes in messages
    documentation.py     what `help` shows

    user_operators.py    operators that users define

It knows no operator: these are in `op/`. Start at `operator.py`.
"""

from __future__ import annotations

from relaxscript.errors import OperandError

from .compute import ComputeContext
from .context import DeferredCheck, InferContext
from .families import binary_rule, reduce_info, unary_rule
from .gradient import GradientContext, Gradients
from .operator import Operator
from .parameters import Axes, DType, Floats, Scalar, ShapeLike, Tensor, Tensors, Value, Values
from .shapes import (
    axes_in,
    axis_in,
    broadcast_shapes,
    common_dtype,
    common_vdevice,
    dims_of,
    require_dtype,
    require_equal,
    tensor_of,
)
from .traits import Trait
from .user_operators import op, remove_op

__all__ = [
    "Axes", "ComputeContext", "DType", "DeferredCheck", "Floats", "GradientContext", "Gradients",
    "InferContext", "OperandError", "Operator", "Scalar", "ShapeLike", "Tensor", "Tensors",
    "Trait", "Value", "Values", "axes_in", "axis_in", "binary_rule", "broadcast_shapes",
    "common_dtype", "common_vdevice", "dims_of", "op", "reduce_info", "remove_op", "require_dtype",
    "require_equal", "tensor_of", "unary_rule",
]  # fmt: skip
