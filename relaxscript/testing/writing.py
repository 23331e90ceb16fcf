"""The scope of a random program that is being written: what is in it, its names, its parameters.

`Writing` is the part of the writer of random programs that knows no kinds of bindings; start
reading at `programs.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from relaxscript.builder import BlockBuilder
from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim
from relaxscript.ir.relax import DataflowVar, Expr, Tuple, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)

from .choices import Choices
from .known import same, tensor_of

__all__ = ["PARAM_DTYPES", "VOID", "Writing"]

# Names that collide with one another, with namespaces, with what the printer makes up, with Python.
NAMES = ("x", "y", "lv", "gv", "x", "n", "lv1", "R", "T", "cls", "Module", "main", "x_1", "_",
         "if", "1a", "é", "a.b", "None", "m", "self", "metadata")  # fmt: skip
DIM_NAMES = ("n", "m", "x", "n")
PARAM_DTYPES = ("float32", "int32", "float32", "bool", "int64", "float16", "int8", "uint8",
                "float64", "bfloat16", "int16", "uint16", "uint32", "uint64", "float8_e4m3fn",
                "float8_e5m2")  # fmt: skip
VOID = DataType("void")


class Writing(ABC):
    """One function that is written through a builder; `values` and `dims` are what is in scope.

    `truth` says more of some values than their StructInfo does.
    """

    names: tuple[str, ...] = NAMES
    dim_names: tuple[str, ...] = DIM_NAMES
    param_dtypes: tuple[str, ...] = PARAM_DTYPES

    def __init__(self, choices: Choices, builder: BlockBuilder, alone: bool = False) -> None:
        self.choices = choices
        self.builder = builder
        self.alone = alone
        self.values: list[Expr] = []
        self.dims: list[prim.Var] = []
        self.truth: dict[Expr, StructInfo] = {}
        self.depth = 0
        self.pure = not choices.chance(50)

    # ---- functions and scopes

    def function(self, name: str, private: bool) -> None:
        params = self.params()
        self.values = list(params)
        with self.builder.function(name, params, pure=self.pure, private=private):
            self.steps(self.choices.integer(1, 8))
            self.builder.emit_func_output(self.result())

    def result(self) -> Expr:
        """One value, or many: what nobody returns can go wrong unnoticed."""
        if self.choices.chance(40):
            return Tuple(tuple(self.choices.some(self.values)[:6]))
        return self.choices.pick(self.values[-4:])

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is added to the scope inside is gone after it."""
        values, dims = len(self.values), len(self.dims)
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            del self.values[values:], self.dims[dims:]

    @contextmanager
    def local_scope(self, pure: bool) -> Iterator[None]:
        """The scope of a local function, which sees no variables of a dataflow block around it."""
        outer, was_pure = self.values, self.pure
        self.values = [v for v in outer if not isinstance(v, DataflowVar)]
        self.pure = pure
        try:
            with self.scope():
                yield
        finally:
            self.values, self.pure = outer, was_pure

    def steps(self, count: int) -> None:
        for _ in range(count):
            if not self.step():
                self.step()

    def step(self) -> bool:
        """Add one binding, block or branch; False when the dice gave nothing that fits."""
        return self.choices.pick(self.kinds())()

    @abstractmethod
    def kinds(self) -> list[Callable[[], bool]]:
        """What can be added here, the more often the likelier."""

    def emit(self, expr: Expr, annotation: StructInfo | None = None) -> bool:
        """Bind an expression if the builder takes it; `annotation` is what its variable says."""
        return self.bound(expr, annotation) is not None

    def bound(self, expr: Expr, annotation: StructInfo | None = None) -> Var | None:
        """The variable to which an expression is bound, None if the builder does not take it."""
        try:
            if annotation is None:
                var = self.builder.emit(expr, self.name())
            else:
                var = self.builder.bind(expr, self.name(), annotation=annotation)
        except DiagnosticError:
            return None
        self.values.append(var)
        return var

    def fitting(self, info: StructInfo) -> list[Expr]:
        """The values in scope of which exactly this is known."""
        return [v for v in self.values if same(v.struct_info, info)]

    def name(self) -> str:
        return "" if self.choices.chance(40) else self.choices.pick(self.names)

    # ---- parameters

    def params(self, local: bool = False) -> list[Var]:
        """Parameters; those of a local function may be functions of which there are some."""
        infos = [self.param_info(0) for _ in range(self.choices.integer(1, 4))]
        known = [v.struct_info for v in self.values if isinstance(v.struct_info, FuncStructInfo)]
        if local and known and self.choices.chance(30):
            infos.append(self.choices.pick(known))
        return [Var(self.name() or "x", info) for info in infos]

    def param_info(self, depth: int) -> StructInfo:
        kind = self.choices.integer(0, 17 if depth == 0 else 13)
        match kind:
            case 10:
                return TensorStructInfo(None, self.dtype(), None, self.choices.integer(-1, 3))
            case 11:
                dims = [self.new_dim() for _ in range(self.choices.integer(0, 2))]
                return ShapeStructInfo(tuple(dims))
            case 12:
                return ShapeStructInfo(None, self.choices.integer(-1, 2))
            case 13:
                dtype = self.choices.pick(("int64", "float64", "bool", "int32"))
                return PrimStructInfo(DataType(dtype))
            case 14:
                return PrimStructInfo(DataType("int64"), self.new_dim())
            case 15:
                count = self.choices.integer(0, 3)
                return TupleStructInfo(tuple([self.param_info(depth + 1) for _ in range(count)]))
            case 16:
                return ObjectStructInfo()
            case 17:
                return TensorStructInfo(None, VOID, None, self.choices.integer(-1, 2))
        rank = self.choices.pick((2, 1, 2, 3, 0))
        return tensor_of([self.new_dim() for _ in range(rank)], self.dtype())

    def dtype(self) -> DataType:
        return DataType(self.choices.pick(self.param_dtypes))

    def new_dim(self) -> prim.PrimExpr:
        """A dimension in a place that binds variables."""
        if self.choices.chance(40):
            if self.dims and self.choices.chance(70):
                return self.choices.pick(self.dims)
            self.dims.append(self.fresh_dim())
            return self.dims[-1]
        return prim.IntImm(prim.INT64, self.choices.pick((3, 2, 4, 1, 3, 5, 0)))

    def fresh_dim(self) -> prim.Var:
        return prim.Var(self.choices.pick(self.dim_names), prim.INT64)

    def dim(self) -> prim.PrimExpr:
        """A dimension in a place that only uses variables."""
        if not self.dims or self.choices.chance(40):
            return prim.IntImm(prim.INT64, self.choices.integer(1, 4))
        n = self.choices.pick(self.dims)
        k = self.choices.integer(1, 3)
        m = self.choices.pick(self.dims)
        return self.choices.pick((n, n + k, n * k, n + m, n * m, n // (k + 1), n % (k + 1)))
