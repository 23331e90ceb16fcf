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
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, Var
from relaxscript.ir.tir import Buffer
from relaxscript.te import element
from relaxscript.te.compute import compute, shape_of
from relaxscript.te.tensor import TENSOR_OPERATORS, Tensor, TensorSlice, as_element

from .operands import topi_function
from .tag import BROADCAST

__all__ = [
    "add", "bitwise_and", "bitwise_or", "bitwise_xor", "broadcast_to", "divide", "equal",
    "floor_divide", "floor_mod", "greater", "greater_equal", "left_shift", "less", "less_equal",
    "log_add_exp", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "mod",
    "multiply", "not_equal", "power", "right_shift", "subtract",
]  # fmt: skip


def is_one(size: PrimExpr) -> bool:
    """True for an axis that is repeated where another is longer."""
    return isinstance(size, IntImm) and size.value == 1


def broadcast_shapes(
    callee: str, shapes: Sequence[Sequence[PrimExpr]], names: Sequence[str] = ()
) -> list[PrimExpr]:
    """The shape of what broadcasts to a common shape; `names` are those of the tensors.

    Raises `OperandError` for axes of sizes that differ, or that are not known to be one size.
    """
    ndim = max(map(len, shapes), default=0)
    found: list[PrimExpr] = []
    words = [f"`{name}`" for name in names] or ["one tensor", *["another"] * len(shapes)]
    for axis in range(-ndim, 0):
        sizes = [(s[axis], word) for s, word in zip(shapes, words) if len(s) >= -axis]
        longest, word = next((given for given in sizes if not is_one(given[0])), sizes[0])
        for size, other in sizes:
            if not is_one(size) and prove_equal(longest, size) is not YES:
                raise OperandError(
                    "shape", f"has {format_expr(size)}", code="RX0203",
                    message=f"`{callee}` cannot broadcast axis {axis}: {word} has "
                    f"{format_expr(longest)} elements there, {other} has {format_expr(size)}",
                )  # fmt: skip
        found.append(longest)
    return found


def repeated(index: PrimExpr, size: PrimExpr, common: PrimExpr) -> PrimExpr:
    """The index of an axis of `size` that is `common` elements long, or 1 and repeated."""
    if is_one(common):
        return index
    if is_one(size):
        return prim.const(0, size.dtype)
    if prove_equal(size, common) is YES:
        return index
    return prim.Min(index, size - 1)  # one of the two, which only the run shows


def broadcast_indices(
    tensor: Tensor | Buffer, indices: Sequence[Any], shape: Sequence[PrimExpr]
) -> tuple[Any, ...]:
    """The indices of the element of a tensor that belongs to `indices` of the common `shape`."""
    skip = len(indices) - tensor.ndim
    places = zip(indices[skip:], tensor.shape, shape[skip:])
    return tuple(repeated(index, size, common) for index, size, common in places)


def elementwise(
    callee: str, function: Callable[..., Any], operands: Sequence[Any], name: str,
    tag: str = BROADCAST,
) -> Any:  # fmt: skip
    """The tensor of `function` of the elements of operands, or the scalar where all are scalars."""
    given = [_operand(e) for e in operands]
    tensors = [e for e in given if isinstance(e, Tensor)]
    if not tensors:
        return as_element(function(*given))
    shape = broadcast_shapes(callee, [t.shape for t in tensors], [t.name for t in tensors])
    return elements(shape, function, given, name, tag)


def elements(
    shape: Sequence[PrimExpr], function: Callable[..., Any], operands: Sequence[Any], name: str,
    tag: str = BROADCAST,
) -> Any:  # fmt: skip
    """The tensor of a shape whose elements are `function` of those of operands broadcast to it."""

    def at(*indices: Var) -> Any:
        return function(*(
            e[broadcast_indices(e, indices, shape)] if isinstance(e, Tensor) else e
            for e in operands
        ))  # fmt: skip

    names = [f"ax{axis}" for axis in range(len(shape))]
    return compute(shape, at, name=name, tag=tag, varargs_names=names)


def _operand(value: Any) -> Any:
    """A tensor, or a scalar; a plain number is left as it is, for it has no dtype of its own."""
    if isinstance(value, TensorSlice):
        return value.asobject()
    if isinstance(value, (Tensor, bool, int, float)):
        return value
    return as_element(value)


@topi_function
def broadcast_to(data: Tensor, shape: Sequence[Any]) -> Any:
    """A tensor repeated along axes of size 1, and along further axes before its own."""
    wanted = shape_of(shape)
    common = broadcast_shapes("topi.broadcast_to", [data.shape, wanted], [data.name, "shape"])
    if len(common) > len(wanted):
        raise OperandError(
            "shape", f"has {len(wanted)} axes", also={"data": f"has {data.ndim}"}, code="RX0203",
            message="`topi.broadcast_to` gives a tensor at least as many axes as it has",
        )  # fmt: skip
    return compute(
        wanted, lambda *i: data[broadcast_indices(data, i, wanted)], name="T_broadcast_to",
        tag=BROADCAST, varargs_names=[f"ax{axis}" for axis in range(len(wanted))],
    )  # fmt: skip


def _binary(name: str, function: Callable[[Any, Any], Any], doc: str) -> Callable[..., Any]:
    @topi_function
    def binary(lhs: Any, rhs: Any) -> Any:
        return elementwise(f"topi.{name}", function, (lhs, rhs), f"T_{name}")

    binary.__name__ = binary.__qualname__ = name
    binary.__doc__ = doc
    return binary


add = _binary("add", element.add, "The sums `lhs + rhs`.")
subtract = _binary("subtract", element.subtract, "The differences `lhs - rhs`.")
multiply = _binary("multiply", element.multiply, "The products `lhs * rhs`.")
divide = _binary("divide", element.divide, "The quotients; of integers rounded towards zero.")
floor_divide = _binary("floor_divide", element.floor_divide, "The quotients, rounded down.")
mod = _binary("mod", element.mod, "The remainders, with the sign of `lhs`.")
floor_mod = _binary("floor_mod", element.floor_mod, "The remainders, with the sign of `rhs`.")
maximum = _binary("maximum", element.maximum, "The greater elements; NaN where one is.")
minimum = _binary("minimum", element.minimum, "The lesser elements; NaN where one is.")
power = _binary("power", element.power, "`lhs` to the power of `rhs`.")
log_add_exp = _binary("log_add_exp", element.log_add_exp, "`log(exp(lhs) + exp(rhs))`.")
left_shift = _binary("left_shift", element.left_shift, "`lhs` shifted left by `rhs` bits.")
right_shift = _binary("right_shift", element.right_shift, "`lhs` shifted right; the sign stays.")
bitwise_and = _binary("bitwise_and", element.bitwise_and, "The bits that both have.")
bitwise_or = _binary("bitwise_or", element.bitwise_or, "The bits that either has.")
bitwise_xor = _binary("bitwise_xor", element.bitwise_xor, "The bits that one of them has.")
logical_and = _binary("logical_and", element.logical_and, "Whether both hold.")
logical_or = _binary("logical_or", element.logical_or, "Whether one holds, or both.")
logical_xor = _binary("logical_xor", element.logical_xor, "Whether one holds, and not both.")
greater = _binary("greater", element.greater, "Whether `lhs > rhs`.")
greater_equal = _binary("greater_equal", element.greater_equal, "Whether `lhs >= rhs`.")
less = _binary("less", element.less, "Whether `lhs < rhs`.")
less_equal = _binary("less_equal", element.less_equal, "Whether `lhs <= rhs`.")
equal = _binary("equal", element.equal, "Whether `lhs == rhs`.")
not_equal = _binary("not_equal", element.not_equal, "Whether `lhs != rhs`.")

TENSOR_OPERATORS.update({
    "+": add, "-": subtract, "*": multiply, "/": divide, "//": floor_divide, "%": floor_mod,
    "**": power, "<<": left_shift, ">>": right_shift, "&": bitwise_and, "|": bitwise_or,
    "^": bitwise_xor, "<": less, "<=": less_equal, ">": greater, ">=": greater_equal,
})  # fmt: skip
