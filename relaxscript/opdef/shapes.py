"""Functions that the rules of operators share: dtypes, devices, dimensions and axes of tensors.

Dimensions are compared by proof. YES goes on, NO is an `OperandError`. UNKNOWN is a `DeferredCheck`
that runs before the kernel. Equal dimensions are recognised at once where they are one object or
one number, by far the common case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relaxscript.arith import NO, YES, only_solution, prove, prove_equal, simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import INT64, IntImm, PrimExpr
from relaxscript.ir.relax import Expr, ShapeExpr, Var
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal

from .context import DeferredCheck, InferContext
from .format import dim_text, shape_fact

if TYPE_CHECKING:
    from relaxscript.ir.module import VDevice

__all__ = [
    "ONE", "VOID", "ZERO", "Dims", "axes_in", "axis_in", "broadcast_dim", "broadcast_dims",
    "broadcast_shapes", "common_dtype", "common_vdevice", "dims_of", "factors", "is_accepted",
    "number", "obviously_inside", "of_shape", "product", "product_of", "require_dtype",
    "require_equal", "require_inside", "require_result_dtype", "require_spread", "same_dim",
    "same_dims", "tensor_of",
]  # fmt: skip

VOID = DataType("void")
ZERO = IntImm.make(INT64, 0)
ONE = IntImm.make(INT64, 1)

Dims = tuple[PrimExpr, ...]


def number(value: int) -> PrimExpr:
    """A dimension that is a number."""
    return IntImm.make(INT64, value)


# ---------------------------------------------------------------- dtypes and devices


def common_dtype(operands: dict[str, TensorStructInfo]) -> DataType:
    """The dtype of operands that must share one; void where it is not known of all of them.

    Raises `OperandError` (RX0202) naming the first that differs.
    """
    first = ""
    known = VOID
    missing = False
    for name, info in operands.items():
        if info.dtype is VOID:
            missing = True
        elif known is VOID:
            first, known = name, info.dtype
        elif info.dtype is not known:
            raise _differing_dtypes(first, known, name, info.dtype)
    return VOID if missing else known


def _differing_dtypes(first: str, a: DataType, second: str, b: DataType) -> OperandError:
    return OperandError(
        second,
        f"has dtype {b}",
        also={first: f"has dtype {a}"},
        code="RX0202",
        help=f'write `R.astype({second}, "{a}")`',
        fix={second: f'R.astype({{}}, "{a}")'},
    )


def require_dtype(operand: str, dtype: DataType, accepted: str, *, of_prim: bool = False) -> None:
    """Refuse a dtype that is not among the `accepted` ones, a key of `_DTYPES` (RX0202)."""
    if is_accepted(dtype, accepted):
        return
    _, what, suggestion = _DTYPES[accepted]
    if of_prim:  # which `R.astype` does not take
        fact = f"is a scalar of {dtype}"
        raise OperandError(operand, fact, code="RX0202", help=f"it takes {what}")
    raise OperandError(
        operand,
        f"has dtype {dtype}",
        code="RX0202",
        help=f'it takes {what}: write `R.astype({operand}, "{suggestion}")`',
        fix={operand: f'R.astype({{}}, "{suggestion}")'},
    )


def require_result_dtype(attribute: str, dtype: DataType, accepted: str) -> None:
    """As `require_dtype`, for the dtype that an attribute asks for."""
    if is_accepted(dtype, accepted):
        return
    _, what, suggestion = _DTYPES[accepted]
    raise OperandError(
        attribute,
        f"is {dtype}",
        message=f"the result holds {what}",
        code="RX0202",
        help=f'write for example `{attribute}="{suggestion}"`',
    )


def is_accepted(dtype: DataType, accepted: str) -> bool:
    """True if a dtype is among the `accepted` ones, or may be."""
    return dtype is VOID or dtype.kind in _DTYPES[accepted][0]


_DTYPES = {
    "any": (("float", "bfloat", "int", "uint", "bool"), "numbers", "float32"),
    "number": (("float", "bfloat", "int", "uint"), "numbers, not bools", "float32"),
    "float": (("float", "bfloat"), "floating-point numbers", "float32"),
    "bits": (("int", "uint", "bool"), "integers and bools", "int64"),
    "integer": (("int", "uint"), "integers", "int64"),
    "bool": (("bool",), "bools", "bool"),
}


def common_vdevice(operands: dict[str, TensorStructInfo]) -> VDevice | None:
    """The virtual device of operands, from whichever says one.

    Raises `OperandError` (RX0203) for operands on different devices.
    """
    found: VDevice | None = None
    where = ""
    for name, info in operands.items():
        device = info.vdevice
        if device is None or device is found:
            continue
        if found is None:
            found, where = device, name
        elif not structural_equal(found, device):
            raise OperandError(
                name,
                f"is on {device.short}",
                also={where: f"is on {found.short}"},
                message="the operands are on different devices",
                help="put the operands on one device",
                nature="type",
            )
    return found


# ---------------------------------------------------------------- dimensions


def dims_of(info: TensorStructInfo) -> Dims | None:
    """The dimensions of a tensor where known, also by way of the variable that holds them."""
    dims = info.dims
    if dims is not None or info.shape is None:
        return dims
    return _dims_of_shape(info.shape)


def _dims_of_shape(shape: Expr) -> Dims | None:
    held = shape.struct_info
    return held.values if isinstance(held, ShapeStructInfo) else None


def tensor_of(
    dims: Sequence[PrimExpr] | None,
    dtype: DataType,
    vdevice: VDevice | None = None,
    ndim: int = -1,
) -> TensorStructInfo:
    """The StructInfo of a tensor with these dimensions, or of rank `ndim` where they are None."""
    if dims is None and ndim != 0:
        return TensorStructInfo.make(None, dtype, vdevice, ndim)
    dims = dims or ()
    return TensorStructInfo.make(ShapeExpr.make(tuple(dims)), dtype, vdevice, len(dims))


def of_shape(shape: Expr, known: ShapeStructInfo, like: TensorStructInfo) -> TensorStructInfo:
    """A tensor as `like`, of the shape that an operand holds; no dimension is below 0 (RX0204)."""
    for dim in known.values or ():
        if isinstance(dim, IntImm) and dim.value < 0:
            raise OperandError(
                "shape",
                f"has the dimension {dim.value}",
                message="a tensor has no dimension below 0",
                code="RX0204",
            )
    if known.values is not None:
        return tensor_of(known.values, like.dtype, like.vdevice)
    if isinstance(shape, Var):
        return TensorStructInfo.make(shape, like.dtype, like.vdevice, known.ndim)
    return tensor_of(None, like.dtype, like.vdevice, known.ndim)


def same_dim(a: PrimExpr, b: PrimExpr) -> bool:
    """True if two dimensions are obviously equal: one object, or one number."""
    return a is b or (a.__class__ is IntImm and b.__class__ is IntImm and a.value == b.value)


def same_dims(a: Dims, b: Dims) -> bool:
    """True if two shapes are obviously equal."""
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if x is not y and not (
            x.__class__ is IntImm and y.__class__ is IntImm and x.value == y.value
        ):
            return False
    return True


def require_equal(
    context: InferContext, a: PrimExpr, b: PrimExpr, error: OperandError, text: str
) -> None:
    """Raise `error` where `a` never equals `b`; defer the check where it depends on values."""
    if same_dim(a, b):
        return
    answer = prove_equal(a, b, context.facts)
    if answer is NO:
        raise error
    if answer is not YES:
        text = _with_solution(context, a, b, error, text)
        context.require(DeferredCheck(error.operand, a, b, "equal", text, error))


def _with_solution(
    context: InferContext, a: PrimExpr, b: PrimExpr, error: OperandError, text: str
) -> str:
    """The sentence with the only value for which it is no mistake; raises `error` if that is 0."""
    written = prim.Var, IntImm  # `n` and 4 say it themselves
    only = None
    if not (isinstance(a, written) and isinstance(b, written)):
        only = only_solution(a, b, context.facts)
    if only is None:
        return text
    name, value = only
    if value == 0 and not any(same_dim(side, ZERO) for side in (a, b)):
        error.help = f"they are equal only if {name} = 0"
        raise error
    return f"{text}; it holds only if {name} = {value}"


def obviously_inside(a: PrimExpr, b: PrimExpr) -> bool:
    """True if `a` is at most `b` and both are numbers: then a rule need not word the mistake."""
    return a.__class__ is IntImm and b.__class__ is IntImm and a.value <= b.value


def require_inside(
    context: InferContext, a: PrimExpr, b: PrimExpr, error: OperandError, text: str
) -> None:
    """Raise `error` where `a` is never at most `b`; defer the check where it is not known."""
    answer = prove(prim.LE.make(a, b), context.facts)
    if answer is NO:
        raise error
    if answer is not YES:
        context.require(DeferredCheck(error.operand, a, b, "inside", text, error))


def product(dims: Sequence[PrimExpr]) -> PrimExpr:
    """The number of elements of a shape, simplified."""
    return product_of(*factors(dims))


def factors(dims: Sequence[PrimExpr]) -> tuple[int, list[PrimExpr]]:
    """A product taken apart: the number in it, and the expressions that are no numbers."""
    constant = 1
    symbolic: list[PrimExpr] = []
    stack = list(reversed(dims))
    while stack:
        dim = stack.pop()
        if isinstance(dim, IntImm):
            constant *= dim.value
        elif isinstance(dim, prim.Mul):
            stack += [dim.b, dim.a]
        else:
            symbolic.append(dim)
    return constant, symbolic


def product_of(constant: int, symbolic: Sequence[PrimExpr]) -> PrimExpr:
    """The product of a number and some expressions, as simple as it can be said."""
    if constant == 0 or not symbolic:
        return number(constant)
    total = symbolic[0]
    for factor in symbolic[1:]:
        total = prim.Mul.make(total, factor)
    if constant != 1:
        total = prim.Mul.make(total, number(constant))
    plain = all(isinstance(factor, prim.Var) for factor in symbolic)
    return total if plain else simplify(total)


# ---------------------------------------------------------------- broadcasting


def broadcast_shapes(
    context: InferContext, operands: dict[str, TensorStructInfo]
) -> tuple[Dims | None, int]:
    """The dimensions of operands broadcast to each other, as numpy does, and their rank.

    Dimensions are None where one is not known; the rank is then the largest, or -1.
    """
    infos = list(operands.values())
    known = [dims_of(info) for info in infos]
    ranks = [info.ndim if dims is None else len(dims) for info, dims in zip(infos, known)]
    rank = -1 if -1 in ranks else max(ranks)
    names = list(operands)
    result, where = known[0], names[0]
    for name, dims in zip(names[1:], known[1:]):
        if result is None or dims is None:
            return None, rank
        plain = _obvious(result, dims)
        if plain is not None:
            where = where if len(result) > len(dims) else name
            result = plain
            continue
        error = OperandError(
            name,
            shape_fact(operands[name], dims),
            also={where: shape_fact(operands[where], known[names.index(where)])},
            help="shapes are compared from the right: dimensions are equal, or one of them is 1",
        )
        result = broadcast_dims(context, result, dims, error)
        where = where if result is None or len(result) > len(dims) else name
    return result, rank


def _obvious(a: Dims, b: Dims) -> Dims | None:
    """Two shapes broadcast to each other where no proof is needed; None where one is."""
    if len(a) < len(b):
        a, b = b, a
    skip = len(a) - len(b)
    found = list(a)
    for index, dim in enumerate(b, skip):
        if same_dim(found[index], dim) or same_dim(dim, ONE):
            continue
        if not same_dim(found[index], ONE):
            return None
        found[index] = dim
    return tuple(found)


def broadcast_dims(context: InferContext, a: Dims, b: Dims, error: OperandError) -> Dims | None:
    """Two shapes broadcast to each other, or None where a dimension depends on values.

    Raises `error` where they never go together.
    """
    if len(a) < len(b):
        a, b = b, a
    skip = len(a) - len(b)
    tail = [broadcast_dim(context, x, y, error) for x, y in zip(a[skip:], b)]
    known = [dim for dim in tail if dim is not None]
    return (*a[:skip], *known) if len(known) == len(tail) else None


def broadcast_dim(
    context: InferContext, a: PrimExpr, b: PrimExpr, error: OperandError, text: str = ""
) -> PrimExpr | None:
    """Two dimensions broadcast to each other, or None where it depends on values.

    Raises `error` where they never go together; `text` is the sentence for the warning.
    """
    if same_dim(a, b) or same_dim(b, ONE):
        return a
    if same_dim(a, ONE):
        return b
    facts = context.facts
    answer = prove_equal(a, b, facts)
    if answer is YES:
        return a
    a_is_one, b_is_one = prove_equal(a, ONE, facts), prove_equal(b, ONE, facts)
    if a_is_one is YES:
        return b
    if b_is_one is YES:
        return a
    if answer is NO and a_is_one is NO and b_is_one is NO:
        raise error
    text = text or f"`{dim_text(a)}` and `{dim_text(b)}` must be equal, or one of them 1"
    context.require(DeferredCheck(error.operand, a, b, "broadcast", text, error))
    # Where the program is right, a dimension that is never 1 is that of the result.
    if a_is_one is NO:
        return a
    return b if b_is_one is NO else None


def require_spread(context: InferContext, a: PrimExpr, b: PrimExpr, error: OperandError) -> None:
    """Require that `a` is `b` or 1, so that it can be repeated to be `b`; else raise `error`."""
    if same_dim(a, b) or same_dim(a, ONE):
        return
    facts = context.facts
    answer = prove_equal(a, b, facts)
    is_one = prove_equal(a, ONE, facts)
    if answer is YES or is_one is YES:
        return
    if answer is NO and is_one is NO:
        raise error
    text = f"`{dim_text(a)}` must be `{dim_text(b)}`, or 1"
    if is_one is NO:
        context.require(DeferredCheck(error.operand, a, b, "equal", text, error))
        return
    # (a - b) * (a - 1) == 0 says it of any two integers.
    either = prim.Mul.make(prim.Sub.make(a, b), prim.Sub.make(a, ONE))
    context.require(DeferredCheck(error.operand, either, ZERO, "equal", text, error))


# ---------------------------------------------------------------- axes


def axis_in(
    axis: int, rank: int, attribute: str = "axis", operand: str = "x", extra: int = 0
) -> int:
    """An axis counted from 0; a negative one counts from the end. `rank` -1 leaves it as it is.

    `extra` axes more than the operand has are allowed. Raises `OperandError` (RX0204).
    """
    if rank < 0:
        return axis
    total = rank + extra
    if not -total <= axis < total:
        raise OperandError(
            attribute,
            f"is {axis}",
            also={operand: f"has rank {rank}"},
            message=f"there is no axis {axis}",
            code="RX0204",
            help=_axis_help(total),
        )
    return axis + total if axis < 0 else axis


def _axis_help(total: int) -> str | None:
    if total == 0:
        return "a tensor of rank 0 has no axes"
    return f"the axes are 0 to {total - 1}, or -{total} to -1 counted from the end"


def axes_in(
    axes: Sequence[int], rank: int, attribute: str = "axis", operand: str = "x", extra: int = 0
) -> tuple[int, ...]:
    """Axes counted from 0, in their order; raises `OperandError` (RX0204) for one given twice."""
    found = tuple(axis_in(axis, rank, attribute, operand, extra) for axis in axes)
    if len(set(found)) == len(found):
        return found
    twice = next(axis for index, axis in enumerate(found) if axis in found[:index])
    listed = [axis for axis, counted in zip(axes, found) if counted == twice]
    same = " and ".join(str(axis) for axis in dict.fromkeys(listed))
    raise OperandError(
        attribute,
        f"names axis {twice} twice, as {same}" if len(set(listed)) > 1 else f"names {same} twice",
        also={operand: f"has {quantity(rank, 'axis')}"} if rank >= 0 else {},
        message=f"axis {twice} is given more than once",
        code="RX0204",
    )
