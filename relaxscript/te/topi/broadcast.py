"""Functions of two tensors, element by element; shapes broadcast as in numpy.

Axes are compared from the right: they have one size, or one of them is 1 and is repeated. A scalar
goes with every tensor, and a plain number takes its dtype.

Source: TVM `topi.broadcast`, numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.arith import YES, format_expr, prove_equal
from relaxscript.errors import OperandError
from relaxscript.errors.user_frame import report_as
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, Var
from relaxscript.ir.prim_operators import BUILDERS
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.te.compute import compute, shape_of
from relaxscript.te.tensor import TENSOR_OPERATORS, Tensor, TensorSlice, as_element

__all__ = [
    "add", "bitwise_and", "bitwise_or", "bitwise_xor", "broadcast_to", "divide", "equal",
    "floor_divide", "floor_mod", "greater", "greater_equal", "left_shift", "less", "less_equal",
    "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply",
    "not_equal", "power", "right_shift", "subtract",
]  # fmt: skip

BROADCAST = "broadcast"


def is_one(size: PrimExpr) -> bool:
    """True for an axis that is repeated where another is longer."""
    return isinstance(size, IntImm) and size.value == 1


def broadcast_shapes(callee: str, shapes: Sequence[Sequence[PrimExpr]]) -> list[PrimExpr]:
    """The shape of what broadcasts to a common shape.

    Raises `OperandError` for axes of sizes that differ, or that are not known to be one size.
    """
    ndim = max(map(len, shapes), default=0)
    found: list[PrimExpr] = []
    for axis in range(-ndim, 0):
        sizes = [s[axis] for s in shapes if len(s) >= -axis]
        longest = next((s for s in sizes if not is_one(s)), sizes[0])
        for other in sizes:
            if not is_one(other) and prove_equal(longest, other) is not YES:
                raise OperandError(
                    "shape", f"has {format_expr(other)}", code="RX0203",
                    message=f"`{callee}` cannot broadcast axis {axis}: one tensor has "
                    f"{format_expr(longest)} elements there, another {format_expr(other)}",
                )  # fmt: skip
        found.append(longest)
    return found


def broadcast_indices(tensor: Tensor, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The indices of the element of a tensor that belongs to `indices` of the common shape."""
    own = indices[len(indices) - tensor.ndim :] if tensor.ndim else ()
    return tuple(
        prim.const(0, size.dtype) if is_one(size) else index
        for size, index in zip(tensor.shape, own)
    )


def elementwise(
    callee: str, function: Callable[..., Any], operands: Sequence[Any], name: str,
    tag: str = BROADCAST,
) -> Any:  # fmt: skip
    """The tensor of `function` of the elements of operands, or the scalar where all are scalars."""
    given = [_operand(e) for e in operands]
    tensors = [e for e in given if isinstance(e, Tensor)]
    if not tensors:
        return as_element(function(*given))
    shape = broadcast_shapes(callee, [t.shape for t in tensors])

    def element(*indices: Var) -> Any:
        return function(*(
            e[broadcast_indices(e, indices)] if isinstance(e, Tensor) else e for e in given
        ))  # fmt: skip

    names = [f"ax{axis}" for axis in range(len(shape))]
    return compute(shape, element, name=name, tag=tag, varargs_names=names)


def _operand(value: Any) -> Any:
    """A tensor, or a scalar; a plain number is left as it is, for it has no dtype of its own."""
    if isinstance(value, TensorSlice):
        return value.asobject()
    if isinstance(value, (Tensor, bool, int, float)):
        return value
    return as_element(value)


@report_as("topi")
def broadcast_to(data: Tensor, shape: Sequence[Any]) -> Any:
    """A tensor repeated along axes of size 1, and along further axes before its own."""
    wanted = shape_of(shape)
    common = broadcast_shapes("topi.broadcast_to", [data.shape, wanted])
    if len(common) > len(wanted):
        raise OperandError(
            "shape", f"has {len(wanted)} axes", also={"data": f"has {data.ndim}"}, code="RX0203",
            message="`topi.broadcast_to` gives a tensor at least as many axes as it has",
        )  # fmt: skip
    return compute(
        wanted, lambda *i: data[broadcast_indices(data, i)], name="T_broadcast_to", tag=BROADCAST,
        varargs_names=[f"ax{axis}" for axis in range(len(wanted))],
    )  # fmt: skip


def _binary(name: str, function: Callable[[Any, Any], Any], doc: str) -> Callable[..., Any]:
    @report_as("topi")
    def binary(lhs: Any, rhs: Any) -> Any:
        return elementwise(f"topi.{name}", function, (lhs, rhs), f"T_{name}")

    binary.__name__ = binary.__qualname__ = name
    binary.__doc__ = doc
    return binary


def _logical_xor(a: Any, b: Any) -> PrimExpr:
    return prim.NE(a, b)


add = _binary("add", BUILDERS["+"], "The sums `lhs + rhs`.")
subtract = _binary("subtract", BUILDERS["-"], "The differences `lhs - rhs`.")
multiply = _binary("multiply", BUILDERS["*"], "The products `lhs * rhs`.")
divide = _binary("divide", BUILDERS["/"], "The quotients `lhs / rhs`.")
floor_divide = _binary("floor_divide", FUNCTIONS["floordiv"], "The quotients, rounded down.")
mod = _binary("mod", FUNCTIONS["floormod"], "The remainders, with the sign of `rhs`.")
floor_mod = _binary("floor_mod", FUNCTIONS["floormod"], "The remainders, with the sign of `rhs`.")
maximum = _binary("maximum", FUNCTIONS["max"], "The greater elements.")
minimum = _binary("minimum", FUNCTIONS["min"], "The lesser elements.")
power = _binary("power", FUNCTIONS["pow"], "`lhs` to the power of `rhs`.")
left_shift = _binary("left_shift", FUNCTIONS["shift_left"], "`lhs` shifted left by `rhs` bits.")
right_shift = _binary("right_shift", FUNCTIONS["shift_right"], "`lhs` shifted right.")
bitwise_and = _binary("bitwise_and", FUNCTIONS["bitwise_and"], "The bits that both have.")
bitwise_or = _binary("bitwise_or", FUNCTIONS["bitwise_or"], "The bits that either has.")
bitwise_xor = _binary("bitwise_xor", FUNCTIONS["bitwise_xor"], "The bits that one of them has.")
logical_and = _binary("logical_and", prim.And, "Whether both hold.")
logical_or = _binary("logical_or", prim.Or, "Whether one holds, or both.")
logical_xor = _binary("logical_xor", _logical_xor, "Whether one holds, and not both.")
greater = _binary("greater", BUILDERS[">"], "Whether `lhs > rhs`.")
greater_equal = _binary("greater_equal", BUILDERS[">="], "Whether `lhs >= rhs`.")
less = _binary("less", BUILDERS["<"], "Whether `lhs < rhs`.")
less_equal = _binary("less_equal", BUILDERS["<="], "Whether `lhs <= rhs`.")
equal = _binary("equal", BUILDERS["=="], "Whether `lhs == rhs`.")
not_equal = _binary("not_equal", BUILDERS["!="], "Whether `lhs != rhs`.")

TENSOR_OPERATORS.update({
    "+": add, "-": subtract, "*": multiply, "/": divide, "//": floor_divide, "%": floor_mod,
    "**": power, "<<": left_shift, ">>": right_shift, "&": bitwise_and, "|": bitwise_or,
    "^": bitwise_xor, "<": less, "<=": less_equal, ">": greater, ">=": greater_equal,
})  # fmt: skip
