"""Arguments that an operator may take, guessed from its parameters; its own rule has the say."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relaxscript.arguments import REQUIRED
from relaxscript.ir import prim
from relaxscript.ir.distributed import DeviceMesh
from relaxscript.ir.module import Target, VDevice
from relaxscript.ir.relax import Expr, ShapeExpr
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.op import Operator, Parameter

from .choices import Choices

__all__ = ["arguments_for"]

ATTRIBUTE_DTYPES = ("float32", "int32", "float64", "int64", "float16", "bool", "int8", "uint8")

Dim = Callable[[], prim.PrimExpr]


def arguments_for(
    choices: Choices, operator: Operator, values: Sequence[Expr], dim: Dim
) -> dict[str, Any] | None:
    """Arguments by the names of parameters, or None when nothing in scope would do.

    `values` are in scope; `dim` gives a dimension in terms of the variables in scope. The first
    tensor decides what the others should look like. Parameters with a default may be left out.
    """
    return _Guess(choices, values, dim).arguments(operator.parameters)


class _Guess:
    def __init__(self, choices: Choices, values: Sequence[Expr], dim: Dim) -> None:
        self.choices = choices
        self.values = values
        self.dim = dim
        self.first: Expr | None = None
        self.model: TensorStructInfo | None = None

    def arguments(self, parameters: Sequence[Parameter]) -> dict[str, Any] | None:
        given: dict[str, Any] = {}
        # Operands come first: attributes such as an axis depend on them.
        for parameter in sorted(parameters, key=lambda p: not p.is_operand):
            if not parameter.is_required and self.choices.chance(40):
                continue
            found = self.operand(parameter) if parameter.is_operand else self.attribute(parameter)
            if found is not REQUIRED:
                given[parameter.name] = found
            elif parameter.is_required:
                return None
        return given

    def operand(self, parameter: Parameter) -> Any:
        """A value for an operand; REQUIRED where there is none."""
        match parameter.kind:
            case "tensors" if parameter.wants == "value":
                return [self.choices.integer(-2, 3) for _ in range(max(self.rank, 1))]
            case "tensors":
                return self.several(parameter)
            case "shape":
                return self.shape()
        return self.one(parameter.wants)

    def one(self, wants: str) -> Any:
        fitting = [v for v in self.values if _is(v.struct_info, wants)]
        if not fitting:
            return REQUIRED
        model = self.model
        if model is not None and self.choices.chance(90):
            alike = [v for v in fitting if _dtype(v.struct_info) == model.dtype]
            fitting = alike or fitting
            if wants == "tensor" and self.first in fitting and self.choices.chance(50):
                return self.first  # many operands have one shape
        value = self.choices.pick(fitting[-12:])
        if model is None:
            whole = _whole(value.struct_info)
            if isinstance(whole, TensorStructInfo):
                self.first, self.model = value, whole
        return value

    def several(self, parameter: Parameter) -> Any:
        tuples = [v for v in self.values if isinstance(v.struct_info, TupleStructInfo)]
        if tuples and self.choices.chance(20):
            return self.choices.pick(tuples)
        found = [self.one(parameter.wants) for _ in range(self.choices.integer(1, 3))]
        return REQUIRED if REQUIRED in found else found

    def shape(self) -> Any:
        """A shape: of as many elements as the model, or any."""
        shapes = [v for v in self.values if isinstance(v.struct_info, ShapeStructInfo)]
        if shapes and self.choices.chance(20):
            return self.choices.pick(shapes)
        dims = None if self.model is None else self.model.dims
        if dims is None or self.choices.chance(10):
            return ShapeExpr(tuple([self.dim() for _ in range(self.choices.integer(0, 3))]))
        match self.choices.integer(0, 4):
            case 0:
                total = math.prod(dims[1:], start=dims[0]) if dims else prim.const(1, prim.INT64)
                return ShapeExpr((total,))
            case 1:
                return ShapeExpr((prim.const(1, prim.INT64), *dims))
            case 2:
                return ShapeExpr(tuple(self.choices.shuffled(dims)))
            case 3:
                return ShapeExpr((self.dim(), *dims))
        return [-1, *dims[1:]]

    # ---- attributes

    def attribute(self, parameter: Parameter) -> Any:
        annotation = parameter.annotation
        if annotation.endswith(" | None") and self.choices.chance(25):
            return None
        maker = _MAKERS.get(annotation.removesuffix(" | None"))
        return REQUIRED if maker is None else maker(self)

    @property
    def rank(self) -> int:
        return 2 if self.model is None or self.model.ndim < 0 else self.model.ndim

    def integer(self) -> int:
        return self.choices.integer(-self.rank, max(self.rank - 1, 1))

    def axes(self) -> list[int]:
        axes = list(range(self.rank))
        chosen = self.choices.shuffled(axes) if self.choices.chance(50) else self.choices.some(axes)
        return [a - self.rank if self.choices.chance(20) else a for a in chosen]

    def integer_or_axes(self) -> int | list[int]:
        return self.integer() if self.choices.chance(50) else self.axes()

    def number(self) -> float:
        return self.choices.pick((1.0, 0.5, 2.0, 1e-5))

    def truth(self) -> bool:
        return self.choices.chance(50)

    def dtype(self) -> str:
        return self.choices.pick(ATTRIBUTE_DTYPES)

    def index_map(self) -> IndexMap:
        rank = self.choices.integer(0, 3)
        if rank and self.choices.chance(50):
            return IndexMap.from_func(lambda first, *i: (first // 2, *i, first % 2), rank)
        return IndexMap.from_func(lambda *i: i[::-1], rank)

    def device(self) -> VDevice:
        return VDevice(Target("cpu"), self.choices.integer(0, 1))

    def mesh(self) -> DeviceMesh:
        return self.choices.pick((DeviceMesh((2,), (0, 1)), DeviceMesh((1,), (3,))))

    def placement(self) -> str:
        return self.choices.pick(("R", "S[0]", "S[1]"))


_MAKERS: Mapping[str, Callable[[_Guess], Any]] = {
    "int": _Guess.integer,
    "Axes": _Guess.axes,
    "int | Axes": _Guess.integer_or_axes,
    "float": _Guess.number,
    "bool": _Guess.truth,
    "DType": _Guess.dtype,
    "Device": _Guess.device,
    "Indices": _Guess.index_map,
    "Mesh": _Guess.mesh,
    "MeshPlacement": _Guess.placement,
}


def _whole(info: StructInfo) -> StructInfo:
    return info.tensor_sinfo if isinstance(info, DTensorStructInfo) else info


def _is(info: StructInfo, wants: str) -> bool:
    info = _whole(info)
    match wants:
        case "tensor":
            return isinstance(info, TensorStructInfo)
        case "scalar":
            return isinstance(info, (TensorStructInfo, PrimStructInfo))
        case "shape":
            return isinstance(info, ShapeStructInfo)
    return True


def _dtype(info: StructInfo) -> Any:
    info = _whole(info)
    return info.dtype if isinstance(info, (TensorStructInfo, PrimStructInfo)) else None
