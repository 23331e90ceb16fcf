"""The function of a random program that is being written: what is in scope, and its parameters.

`GeneratorContext` knows no kinds of bindings: these are functions over it, in the other files.
Which of them a program has is said by its `Grammar`; start reading at `programs.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

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
from .struct_info import placed, same, tensor_of

__all__ = [
    "PARAM_DTYPES", "VOID", "GeneratorContext", "Grammar", "Step", "add_function", "add_steps",
    "random_param_info", "random_params",
]  # fmt: skip

# Names that collide with one another, with namespaces, with what the printer makes up, with Python.
NAMES = ("x", "y", "lv", "gv", "x", "n", "lv1", "R", "T", "cls", "Module", "main", "x_1", "_",
         "if", "1a", "é", "a.b", "None", "m", "self", "metadata")  # fmt: skip
DIM_NAMES = ("n", "m", "x", "n")
PARAM_DTYPES = ("float32", "int32", "float32", "bool", "int64", "float16", "int8", "uint8",
                "float64", "bfloat16", "int16", "uint16", "uint32", "uint64", "float8_e4m3fn",
                "float8_e5m2")  # fmt: skip
VOID = DataType("void")


@dataclass(frozen=True)
class Grammar:
    """The parts of which programs are made.

    `steps` gives what can be added at a place, the more often the likelier.
    """

    steps: Callable[[GeneratorContext], list[Step]]
    param_info: Callable[[GeneratorContext, int], StructInfo]
    names: tuple[str, ...] = NAMES
    dim_names: tuple[str, ...] = DIM_NAMES
    param_dtypes: tuple[str, ...] = PARAM_DTYPES


class GeneratorContext:
    """One function that is written through a builder; `values` and `dims` are what is in scope.

    `truth` says more of some values than their StructInfo does. `alone` functions call no others
    of their module.
    """

    def __init__(
        self, grammar: Grammar, choices: Choices, builder: BlockBuilder, alone: bool = False
    ) -> None:
        self.grammar = grammar
        self.choices = choices
        self.builder = builder
        self.alone = alone
        self.values: list[Expr] = []
        self.dims: list[prim.Var] = []
        self.truth: dict[Expr, StructInfo] = {}
        self.depth = 0
        self.pure = not choices.chance(50)

    # ---- scopes

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A scope of its own: what is added inside is gone after it."""
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

    # ---- bindings

    def emit(self, expr: Expr, annotation: StructInfo | None = None) -> bool:
        """Bind an expression if the builder takes it; `annotation` is what its variable says."""
        return self.bind(expr, annotation) is not None

    def bind(self, expr: Expr, annotation: StructInfo | None = None) -> Var | None:
        """Bind an expression, and return its variable; None if the builder does not take it."""
        try:
            if annotation is None:
                var = self.builder.emit(expr, self.name())
            else:
                var = self.builder.bind(expr, self.name(), annotation=annotation)
        except DiagnosticError:
            return None
        self.values.append(var)
        return var

    def values_of(self, info: StructInfo) -> list[Expr]:
        """The values in scope of which exactly this is known."""
        return [v for v in self.values if same(v.struct_info, info)]

    def name(self) -> str:
        """A name for a variable, often none."""
        return "" if self.choices.chance(40) else self.choices.pick(self.grammar.names)

    # ---- dtypes and dimensions

    def dtype(self) -> DataType:
        """One of the dtypes of parameters."""
        return DataType(self.choices.pick(self.grammar.param_dtypes))

    def new_dim(self) -> prim.PrimExpr:
        """A dimension in a place that binds variables."""
        if self.choices.chance(40):
            if self.dims and self.choices.chance(70):
                return self.choices.pick(self.dims)
            self.dims.append(self.fresh_dim())
            return self.dims[-1]
        return prim.IntImm(prim.INT64, self.choices.pick((3, 2, 4, 1, 3, 5, 0)))

    def fresh_dim(self) -> prim.Var:
        """A new variable for a dimension."""
        return prim.Var(self.choices.pick(self.grammar.dim_names), prim.INT64)

    def dim(self) -> prim.PrimExpr:
        """A dimension in a place that only uses variables."""
        if not self.dims or self.choices.chance(40):
            return prim.IntImm(prim.INT64, self.choices.integer(1, 4))
        n = self.choices.pick(self.dims)
        k = self.choices.integer(1, 3)
        m = self.choices.pick(self.dims)
        return self.choices.pick((n, n + k, n * k, n + m, n * m, n // (k + 1), n % (k + 1)))


Step = Callable[[GeneratorContext], bool]


def add_function(cx: GeneratorContext, name: str, private: bool) -> None:
    """Add a function to the module of the builder."""
    params = random_params(cx)
    cx.values = list(params)
    with cx.builder.function(name, params, pure=cx.pure, private=private):
        add_steps(cx, cx.choices.integer(1, 8))
        cx.builder.emit_func_output(_result(cx))


def _result(cx: GeneratorContext) -> Expr:
    """One value, or many: what nobody returns can go wrong unnoticed."""
    if cx.choices.chance(40):
        return Tuple(tuple(cx.choices.some(cx.values)[:6]))
    return cx.choices.pick(cx.values[-4:])


def add_steps(cx: GeneratorContext, count: int) -> None:
    """Add so many bindings, blocks or branches; fewer where the dice give nothing that fits."""
    for _ in range(count):
        if not _add_step(cx):
            _add_step(cx)


def _add_step(cx: GeneratorContext) -> bool:
    return cx.choices.pick(cx.grammar.steps(cx))(cx)


# ---------------------------------------------------------------- parameters


def random_params(cx: GeneratorContext, local: bool = False) -> list[Var]:
    """Parameters; those of a local function may be functions of which there are some."""
    infos = [cx.grammar.param_info(cx, 0) for _ in range(cx.choices.integer(1, 4))]
    known = [v.struct_info for v in cx.values if isinstance(v.struct_info, FuncStructInfo)]
    if local and known and cx.choices.chance(30):
        infos.append(cx.choices.pick(known))
    return [Var(cx.name() or "x", info) for info in infos]


def random_param_info(cx: GeneratorContext, depth: int) -> StructInfo:
    """A description of a parameter, or of one of its fields where `depth` is not 0."""
    kind = cx.choices.integer(0, 18 if depth == 0 else 13)
    match kind:
        case 10:
            return TensorStructInfo(None, cx.dtype(), None, cx.choices.integer(-1, 3))
        case 11:
            dims = [cx.new_dim() for _ in range(cx.choices.integer(0, 2))]
            return ShapeStructInfo(tuple(dims))
        case 12:
            return ShapeStructInfo(None, cx.choices.integer(-1, 2))
        case 13:
            dtype = cx.choices.pick(("int64", "float64", "bool", "int32"))
            return PrimStructInfo(DataType(dtype))
        case 14:
            return PrimStructInfo(DataType("int64"), cx.new_dim())
        case 15:
            count = cx.choices.integer(0, 3)
            return TupleStructInfo(
                tuple([cx.grammar.param_info(cx, depth + 1) for _ in range(count)])
            )
        case 16:
            return ObjectStructInfo()
        case 17:
            return TensorStructInfo(None, VOID, None, cx.choices.integer(-1, 2))
        case 18:
            dims = [cx.new_dim() for _ in range(cx.choices.integer(0, 2))]
            return placed(cx.choices, tensor_of(dims, cx.dtype()))
    rank = cx.choices.pick((2, 1, 2, 3, 0))
    return tensor_of([cx.new_dim() for _ in range(rank)], cx.dtype())
