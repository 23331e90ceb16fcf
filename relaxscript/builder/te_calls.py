"""Calls of PrimFuncs that tensor expressions describe: `bb.call_te(topi.matmul, x, w)`.

The operands become placeholders over dimensions of their own; the function of Python is called
once, with these. Its results and all that they read are one PrimFunc, private to the module.

Source: TVM `relax.BlockBuilder.call_te`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr, Var as PrimVar, as_dimension
from relaxscript.ir.relax import Call, Expr, GlobalVar, PrimValue, ShapeExpr, Tuple, TupleGetItem
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.vdevice import VDevice
from relaxscript.ir.walk import substitute, walk
from relaxscript.op.calls import call_tir
from relaxscript.te import Tensor, placeholder, prim_func_of, topi

__all__ = ["TEArguments", "TEFunction", "call_of", "make_te_function"]

Infer = Callable[[Expr], StructInfo]


class TEArguments:
    """Arguments of Relax as those of tensor expressions.

    `tensors` are the operands with their placeholders; `variables` maps each variable of a
    dimension to the one that stands for it in the PrimFunc.
    """

    def __init__(self, infer: Infer) -> None:
        self.infer = infer
        self.tensors: list[tuple[Expr, Tensor]] = []
        self.variables: dict[PrimVar, PrimVar] = {}
        # Where the first operand is that says so; results are there, too.
        self.vdevice: VDevice | None = None

    def convert(self, value: Any) -> Any:
        """An argument; what is neither an expression nor holds one is left as it is."""
        match value:
            case Expr():
                return self._expression(value)
            case PrimExpr():
                return self.scalar(value)
            case list() | tuple():
                return type(value)(map(self.convert, value))
            case dict():
                return {key: self.convert(item) for key, item in value.items()}
        return value

    def _expression(self, value: Expr) -> Any:
        match value, self.infer(value):
            case ShapeExpr(values), _:
                return [self.scalar(dim) for dim in values]
            case PrimValue(scalar), _:
                return self.scalar(scalar)
            case Tuple(fields), _:
                return tuple(map(self.convert, fields))
            case _, TupleStructInfo(fields):
                count = len(fields)
                return tuple(self.convert(TupleGetItem.make(value, k)) for k in range(count))
            case _, TensorStructInfo(dims=dims) as info if dims is not None:
                return self.tensor(value, info)
            case _, PrimStructInfo(value=scalar) if scalar is not None:
                return self.scalar(scalar)
            case _, ShapeStructInfo(values=values) if values is not None:
                return [self.scalar(dim) for dim in values]
            case _, TensorStructInfo():
                raise OperandError(
                    "args", "has no known shape", code="RX0203",
                    message="a tensor expression is made for operands of known shapes",
                    help='give it one: `R.match_cast(x, R.Tensor(("n", 4), "float32"))`',
                )  # fmt: skip
        raise OperandError(
            "args", "is no operand of a tensor expression", code="RX0203",
            message="a tensor expression takes tensors, shapes, scalars of known value and tuples",
        )  # fmt: skip

    def tensor(self, value: Expr, info: TensorStructInfo) -> Tensor:
        """A placeholder for an operand: A, B, C ..."""
        dims = [self.scalar(dim) for dim in info.dims or ()]
        number = len(self.tensors)
        name = chr(ord("A") + number) if number < 26 else f"A{number}"
        made = placeholder(dims, info.dtype, name)
        self.tensors.append((value, made))
        self.vdevice = self.vdevice or info.vdevice
        return made

    def scalar(self, e: PrimExpr) -> PrimExpr:
        """An expression over the variables of the PrimFunc."""
        for var in walk(e):
            if isinstance(var, PrimVar) and var not in self.variables:
                self.variables[var] = type(var).make(var.name, var.dtype)
        return substitute(e, self.variables) if self.variables else e


class TEFunction(NamedTuple):
    """A PrimFunc, the results of a call of it, and the variables that it takes as scalars."""

    function: PrimFunc
    results: tuple[TensorStructInfo, ...]
    scalars: tuple[PrimVar, ...]
    is_tuple: bool


def make_te_function(
    arguments: TEArguments, made: Any, name: str, attrs: Mapping[str, Any] | None = None
) -> TEFunction:
    """The PrimFunc of what a function of Python gave for some arguments.

    Results have the dimensions of the caller; scalars are the caller's, too. Raises `OperandError`
    for what is no tensor.
    """
    inputs = [tensor for _, tensor in arguments.tensors]
    results = list(made) if isinstance(made, (list, tuple)) else [made]
    for result in results:
        if not isinstance(result, Tensor):
            raise OperandError(
                "func", f"gives {type(result).__name__}", code="RX0203",
                message=f"`{name}` gives a tensor or a list of tensors, "
                f"this is a Python {type(result).__name__}",
            )  # fmt: skip
    outputs = [topi.identity(t) if t in inputs else t for t in results]
    scalars = _unbound([*inputs, *outputs], arguments.variables.values())
    function = prim_func_of([*inputs, *scalars, *outputs], name, private=True, attrs=attrs)
    back = {own: var for var, own in arguments.variables.items()}
    infos = tuple(
        TensorStructInfo.make(
            ShapeExpr.make(tuple(_outside(d, back) for d in t.shape)), t.dtype,
            arguments.vdevice, t.ndim,
        )
        for t in outputs
    )  # fmt: skip
    return TEFunction(
        function, infos, tuple(back[v] for v in scalars), isinstance(made, (list, tuple))
    )


def _outside(dim: PrimExpr, back: Mapping[PrimVar, PrimVar]) -> PrimExpr:
    return as_dimension(substitute(dim, back) if back else dim)


def _unbound(tensors: Sequence[Tensor], known: Iterable[PrimVar]) -> list[PrimVar]:
    """The variables that are no whole dimension of a tensor: the PrimFunc is given their values."""
    bound = {dim for tensor in tensors for dim in tensor.shape if isinstance(dim, PrimVar)}
    return [var for var in known if var not in bound]


def call_of(gvar: GlobalVar, made: TEFunction, args: Sequence[Expr]) -> Call:
    """The call of a PrimFunc that tensor expressions made."""
    operands: tuple[Expr, ...] = (gvar, Tuple.make(tuple(args)))
    if made.scalars:
        operands = (*operands, ShapeExpr.make(tuple(made.scalars)))
    info: StructInfo = TupleStructInfo.make(made.results) if made.is_tuple else made.results[0]
    return Call.make(call_tir.op, operands, None, (info,))
