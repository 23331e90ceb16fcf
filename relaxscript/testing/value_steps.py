"""The bindings of random programs that make values: operators, constants, tuples, match_casts."""

from __future__ import annotations

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError, OperandError
from relaxscript.ir import prim
from relaxscript.ir.relax import Call, Constant, Expr, PrimValue, Tuple, TupleGetItem, Var
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import REGISTRY, ArgumentError, Operator, PlainContext, base
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.manipulate import permute_dims

from .arguments import arguments_for
from .known import fields, shape_of, tensor_of
from .writing import VOID, Writing

__all__ = ["ValueSteps"]

NUMBERS = (0.0, 1.0, -1.0, 2.0, 3.0, 0.5, float("inf"), float("-inf"), float("nan"))
WHOLE = (0.0, 1.0, 2.0, 3.0)
# Operators whose operands are functions or descriptions of results; the writer has its own steps.
SPECIAL = {"callee", "dtype", "sinfo", "text"}


class ValueSteps(Writing):
    """Adds bindings of values."""

    def operator(self) -> bool:
        """A call of an operator, of a few the first that takes what there is."""
        return any(self.some_operator() for _ in range(4))

    def some_operator(self) -> bool:
        operators = [op for _, op in sorted(REGISTRY.items()) if _is_plain(op, self.pure)]
        operator = self.choices.pick(operators)
        arguments = arguments_for(self.choices, operator, self.values, self.dim)
        if arguments is None:
            return False
        try:
            call = operator.build((), arguments)
            context = PlainContext(self.builder.get())
            operator.infer(call, context)
        except (OperandError, ArgumentError):
            return False
        # What depends on dimensions may fail when it runs; that is tried only now and then.
        if context.obligations and not self.choices.chance(3):
            return False
        return self.emit(call)

    def product(self) -> bool:
        """A matrix times its transpose: two operands that go together are seldom in scope."""
        matrices = [
            v for v in self.values if isinstance(v.struct_info, TensorStructInfo)
            and v.struct_info.ndim == 2 and v.struct_info.dtype.kind in ("int", "uint", "float")
        ]  # fmt: skip
        if not matrices:
            return False
        matrix = self.choices.pick(matrices)
        turned = self.bound(permute_dims.build((matrix,), {}))
        if turned is None:
            return False
        return self.emit(matmul.build((matrix, turned), {}))

    def constant(self) -> bool:
        dtype = self.dtype()
        shape = [self.choices.integer(0, 3) for _ in range(self.choices.pick((0, 1, 2)))]
        count = int(np.prod(shape))
        options = NUMBERS if dtype.is_float else WHOLE
        numbers = [self.choices.pick(options) for _ in range(min(count, 4))]
        data = np.resize(np.array(numbers or [0.0]), count).astype(dtype.numpy)
        self.values.append(Constant(data.reshape(shape)))
        return self.choices.chance(50) or self.emit(self.values[-1])

    def make_tuple(self) -> bool:
        return self.emit(self.some_tuple())

    def some_tuple(self) -> Tuple:
        chosen = [self.choices.pick(self.values) for _ in range(self.choices.integer(0, 3))]
        return Tuple(tuple(chosen))

    def take_field(self) -> bool:
        tuples = [v for v in self.values if fields(v.struct_info)]
        if not tuples:
            return False
        value = self.choices.pick(tuples)
        index = self.choices.integer(0, len(fields(value.struct_info)) - 1)
        return self.emit(TupleGetItem(value, index))

    def alias(self) -> bool:
        return self.emit(self.choices.pick(self.values))

    def shape(self) -> bool:
        return self.emit(shape_of([self.dim() for _ in range(self.choices.integer(0, 3))]))

    def scalar(self) -> bool:
        dtype = DataType(self.choices.pick(("int64", "float64", "bool", "int32", "float32")))
        number = self.choices.integer(0, 1 if dtype.is_bool else 5)
        return self.emit(PrimValue(prim.const(number, dtype)))

    # ---- what is known of values

    def forget(self) -> bool:
        """Bind a value to a variable that says less of it than is known."""
        value = self.choices.pick(self.values)
        info = value.struct_info
        var = self.bound(value, self.weaker(info))
        if var is None:
            return False
        self.truth[var] = self.truth.get(value, info)
        return True

    def weaker(self, info: StructInfo) -> StructInfo:
        """Some of what a StructInfo says."""
        if self.choices.chance(25):
            return ObjectStructInfo()
        match info:
            case TensorStructInfo(dtype=dtype, vdevice=device, ndim=ndim):
                kept = VOID if self.choices.chance(30) else dtype
                return TensorStructInfo(None, kept, device, self.choices.pick((ndim, -1)))
            case ShapeStructInfo(ndim=ndim):
                return ShapeStructInfo(None, self.choices.pick((ndim, -1)))
            case PrimStructInfo(dtype=dtype):
                return PrimStructInfo(dtype)
            case TupleStructInfo(known):
                return TupleStructInfo(tuple([self.weaker(field) for field in known]))
        return info

    def cast(self) -> bool:
        """A match_cast that says what is known, or names dimensions that were unknown."""
        value = self.choices.pick(self.values)
        found: list[prim.Var] = []
        info = self.matched(self.truth.get(value, value.struct_info), found)
        try:
            self.values.append(self.builder.match_cast(value, info, self.name()))
        except DiagnosticError:
            return False
        self.dims += found
        return True

    def matched(self, info: StructInfo, found: list[prim.Var]) -> StructInfo:
        """What a value of `info` can be matched against; `found` gets the new shape variables."""
        if self.choices.chance(15):
            return info
        match info:
            case TensorStructInfo(dtype=dtype, ndim=ndim) if ndim >= 0 and not dtype.is_void:
                return tensor_of([self.matched_dim(found) for _ in range(ndim)], dtype)
            case ShapeStructInfo(ndim=ndim) if ndim >= 0:
                return ShapeStructInfo(tuple([self.matched_dim(found) for _ in range(ndim)]))
            case PrimStructInfo(dtype=DataType("int64")):
                return PrimStructInfo(prim.INT64, self.matched_dim(found))
            case TupleStructInfo(known):
                return TupleStructInfo(tuple([self.matched(field, found) for field in known]))
        return info

    def matched_dim(self, found: list[prim.Var]) -> prim.PrimExpr:
        """A new variable, or now and then something that may or may not be the same."""
        if self.choices.chance(5):
            return self.dim()
        found.append(self.fresh_dim())
        return found[-1]

    def held_cast(self) -> bool:
        """A match_cast of a tensor to a shape that a variable holds, its own as a rule."""
        tensors = [v for v in self.values if isinstance(v.struct_info, TensorStructInfo)]
        if not tensors:
            return False
        value = self.choices.pick(tensors)
        if self.choices.chance(80) and not self.emit(Call(base.shape_of.op, (value,))):
            return False
        shapes = [v for v in self.values if _holds_shape(v)]
        info = value.struct_info
        assert isinstance(info, TensorStructInfo)
        if not shapes:
            return False
        wanted = TensorStructInfo(shapes[-1], info.dtype, info.vdevice)
        try:
            self.values.append(self.builder.match_cast(value, wanted, self.name()))
        except DiagnosticError:
            return False
        return True


def _holds_shape(value: Expr) -> bool:
    return isinstance(value, Var) and isinstance(value.struct_info, ShapeStructInfo)


def _is_plain(operator: Operator, pure: bool) -> bool:
    """Whether the general step can call an operator: it takes values, and prints nothing."""
    return operator.pure and not any(p.kind in SPECIAL for p in operator.parameters)
