"""Random well-typed programs of Relax: functions and modules that use everything there is.

Well typed by construction: a call is kept only if the operator's own rule accepts it. Dimensions
are symbolic or small, 1 and 0 among them and seldom equal; names collide on purpose; numbers are
small and whole, so that floating-point results are exact wherever the operators are.

`modules()` and `functions()` are hypothesis strategies; `random_module(seed)` needs no hypothesis.
Start reading at `Writer.step`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from relaxscript.builder import BlockBuilder
from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError, OperandError, RelaxWarning
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Call,
    Constant,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    Op,
    PrimValue,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import REGISTRY, ArgumentError, Operator, PlainContext

from .arguments import arguments_for
from .choices import Choices, Seeded, strategy
from .known import (
    alike,
    fields,
    is_computable,
    is_condition,
    is_positive,
    literal,
    same,
    shape_of,
    tensor_info,
    tensor_of,
)
from .packed import FIRST, PAIR, TWICE, TWICE_INTO, register_packed
from .prim_funcs import Dims, elementwise, reduction

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["Writer", "functions", "modules", "random_function", "random_module"]

# Names that collide with one another, with namespaces, with what the printer makes up, with Python.
NAMES = ("x", "y", "lv", "gv", "x", "n", "lv1", "R", "T", "cls", "Module", "main", "x_1", "_",
         "if", "1a", "é", "a.b", "None", "m", "self", "metadata")  # fmt: skip
DIM_NAMES = ("n", "m", "x", "n")
FUNCTION_NAMES = ("f", "main", "g", "x", "f")
PARAM_DTYPES = ("float32", "int32", "float32", "bool", "int64", "float16", "int8", "uint8",
                "float64", "bfloat16")  # fmt: skip
NUMBERS = (0.0, 1.0, -1.0, 2.0, 3.0, 0.5, float("inf"), float("-inf"), float("nan"))
WHOLE = (0.0, 1.0, 2.0, 3.0)
# Operators whose operands are functions or descriptions of results; the writer has its own steps.
SPECIAL = {"callee", "dtype", "sinfo", "text"}


def modules() -> SearchStrategy[IRModule]:
    """A hypothesis strategy of modules with a public function `main`."""
    return strategy(_module)


def functions() -> SearchStrategy[Function]:
    """A hypothesis strategy of functions that call nothing but operators and packed functions."""
    return strategy(_function)


def random_module(seed: int) -> IRModule:
    """The module that a number stands for."""
    return _module(Seeded(seed))


def random_function(seed: int) -> Function:
    """The function that a number stands for."""
    return _function(Seeded(seed))


def _module(choices: Choices) -> IRModule:
    register_packed()
    builder = BlockBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        for number in range(choices.integer(0, 2)):
            name = f"{choices.pick(FUNCTION_NAMES)}_{number}"
            Writer(choices, builder).function(name, private=choices.chance(40))
        Writer(choices, builder).function("main", private=False)
    return builder.finalize()


def _function(choices: Choices) -> Function:
    register_packed()
    builder = BlockBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        Writer(choices, builder, alone=True).function("main", private=False)
    function = builder.finalize()["main"]
    assert isinstance(function, Function)
    return function


class Writer:
    """Writes one function through a builder; `values` and `dims` are what is in scope."""

    names: tuple[str, ...] = NAMES
    dim_names: tuple[str, ...] = DIM_NAMES
    param_dtypes: tuple[str, ...] = PARAM_DTYPES

    def __init__(self, choices: Choices, builder: BlockBuilder, alone: bool = False) -> None:
        self.choices = choices
        self.builder = builder
        self.alone = alone
        self.values: list[Expr] = []
        self.dims: list[prim.Var] = []
        self.depth = 0
        self.pure = not choices.chance(20)

    # ---- functions and scopes

    def function(self, name: str, private: bool) -> None:
        params = self.params()
        self.values = list(params)
        with self.builder.function(name, params, pure=self.pure, private=private):
            self.steps(self.choices.integer(1, 8))
            self.builder.emit_func_output(self.result())

    def result(self) -> Expr:
        if self.choices.chance(15):
            return self.some_tuple()
        return self.choices.pick(self.values[-4:])

    def steps(self, count: int) -> None:
        for _ in range(count):
            if not self.step():
                self.step()

    def step(self) -> bool:
        """Add one binding, block or branch; False when the dice gave nothing that fits."""
        return self.choices.pick(self.kinds())()

    def kinds(self) -> list[Callable[[], bool]]:
        """What can be added here, the more often the likelier."""
        kinds: list[Callable[[], bool]] = [self.operator] * 8
        kinds += [
            self.constant,
            self.make_tuple,
            self.take_field,
            self.cast,
            self.shape,
            self.alias,
        ]
        kinds += [self.pure_packed, self.dps_packed, self.scalar]
        kinds += [self.call_closure] * 3 if self.closures() else []
        if not self.alone:
            kinds += [self.call_tir] * 2
            kinds += [self.call_function] * (3 if self.builder.get().relax_functions() else 0)
        if not self.builder.current_block_is_dataflow():
            kinds += [self.dataflow]
            kinds += [self.branches, self.closure] if self.depth < 2 else []
            kinds += [] if self.pure else [self.impure_packed]
        return kinds

    def dataflow(self) -> bool:
        outside = len(self.values)
        with self.builder.dataflow():
            self.steps(self.choices.integer(1, 5))
            inside = self.values[outside:]
            chosen = self.choices.some(inside[-3:]) or inside[-1:]
            outputs = [self.builder.emit_output(value, self.name()) for value in chosen]
        self.values[outside:] = outputs
        return True

    def branches(self) -> bool:
        condition = self.condition()
        self.depth += 1
        first = self.branch(None)
        second = self.branch(first.struct_info)
        self.depth -= 1
        return self.emit(If(condition, first, second))

    def branch(self, wanted: StructInfo | None) -> SeqExpr:
        """A branch; its value is described by `wanted` where there is such a value."""
        values, dims = len(self.values), len(self.dims)
        self.builder.begin_scope()
        self.steps(self.choices.integer(0, 3))
        fitting = [v for v in self.values if wanted is None or same(v.struct_info, wanted)]
        body = self.choices.pick(fitting[-4:] or self.values[-4:])
        seq = self.builder.end_scope(body)
        del self.values[values:], self.dims[dims:]
        return seq

    def closure(self) -> bool:
        """A local function, which sees everything around it."""
        values, dims = len(self.values), len(self.dims)
        params = self.params()
        self.builder.begin_function("local", params, self.pure)
        self.values += params
        self.depth += 1
        self.steps(self.choices.integer(1, 3))
        self.builder.set_result(self.choices.pick(self.values[-3:]))
        function = self.builder.end_function()
        self.depth -= 1
        del self.values[values:], self.dims[dims:]
        return self.emit(function)

    def condition(self) -> Expr:
        known = [v for v in self.values if is_condition(v.struct_info)]
        if known and self.choices.chance(70):
            return self.choices.pick(known)
        value = self.choices.chance(50)
        if self.choices.chance(30):
            return PrimValue(prim.as_prim(value))
        return Constant(np.array(value))

    # ---- parameters

    def params(self) -> list[Var]:
        return [
            Var(self.name() or "x", self.param_info(0)) for _ in range(self.choices.integer(1, 4))
        ]

    def param_info(self, depth: int) -> StructInfo:
        kind = self.choices.integer(0, 15 if depth == 0 else 12)
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

    def name(self) -> str:
        return "" if self.choices.chance(40) else self.choices.pick(self.names)

    # ---- steps

    def emit(self, expr: Expr) -> bool:
        """Bind an expression if the builder takes it."""
        try:
            var = self.builder.emit(expr, self.name())
        except DiagnosticError:
            return False
        self.values.append(var)
        return True

    def operator(self) -> bool:
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
        fields = [self.choices.pick(self.values) for _ in range(self.choices.integer(0, 3))]
        return Tuple(tuple(fields))

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

    def cast(self) -> bool:
        """A match_cast that says what is known, or names dimensions that were unknown."""
        value = self.choices.pick(self.values)
        info = value.struct_info
        dims: list[prim.Var] = []
        if isinstance(info, TensorStructInfo) and info.ndim >= 0 and self.choices.chance(80):
            dims = [
                prim.Var(self.choices.pick(self.dim_names), prim.INT64) for _ in range(info.ndim)
            ]
            info = tensor_of(dims, info.dtype)
        try:
            self.values.append(self.builder.match_cast(value, info, self.name()))
        except DiagnosticError:
            return False
        self.dims += dims
        return True

    def call_tir(self) -> bool:
        tensors = [v for v in self.values if is_computable(v.struct_info)]
        if not tensors:
            return False
        first = self.choices.pick(tensors)
        info = tensor_info(first.struct_info)
        others = [v for v in tensors if same(v.struct_info, info)]
        operands = [first, *([self.choices.pick(others)] if self.choices.chance(50) else [])]
        dims = self.buffer_dims(info.dims or ())
        # Where the reduced axis is empty nothing would be written, not even a start.
        if info.dims and is_positive(info.dims[-1]) and self.choices.chance(30):
            function, _ = reduction(self.choices, dims, info.dtype)
            operands, result = [first], tensor_of(info.dims[:-1], info.dtype)
        else:
            function = elementwise(self.choices, dims, info.dtype, len(operands))
            result = tensor_of(info.dims or (), info.dtype)
        callee = self.builder.add_func(function, self.choices.pick(("tir", "compute", "x")))
        args = Tuple(tuple(operands))
        return self.emit(Call(Op("relax.call_tir"), (callee, args), None, (result,)))

    def buffer_dims(self, dims: Sequence[prim.PrimExpr]) -> Dims:
        """The dimensions of a PrimFunc's buffers: a variable of its own for what is symbolic."""
        own: dict[Any, prim.Var] = {}
        made: list[prim.PrimExpr] = []
        for dim in dims:
            if isinstance(dim, prim.IntImm):
                made.append(prim.IntImm(prim.INT64, dim.value))
            else:
                made.append(
                    own.setdefault(dim, prim.Var(self.choices.pick(self.dim_names), prim.INT64))
                )
        return tuple(made)

    def call_function(self) -> bool:
        module = self.builder.get()
        callees = [gv for gv, f in module.relax_functions().items() if f.is_pure or not self.pure]
        if not callees:
            return False
        callee: GlobalVar = self.choices.pick(callees)
        return self.call(callee, [param.struct_info for param in module[callee].params])

    def closures(self) -> list[Expr]:
        return [v for v in self.values if isinstance(v.struct_info, FuncStructInfo)]

    def call_closure(self) -> bool:
        callee = self.choices.pick(self.closures())
        info = callee.struct_info
        assert isinstance(info, FuncStructInfo)
        return self.call(callee, info.params or ())

    def call(self, callee: Expr, params: Sequence[StructInfo]) -> bool:
        for _ in range(3):
            extents: dict[prim.Var, int] = {}
            args = tuple([self.argument(param, extents) for param in params])
            if self.emit(Call(callee, args)):
                return True
        return False

    def argument(self, wanted: StructInfo, extents: dict[prim.Var, int]) -> Expr:
        """A value for a parameter: one of the same kind and rank, or a literal that fits."""
        fitting = [v for v in self.values if alike(v.struct_info, wanted)]
        if fitting and self.choices.chance(60):
            return self.choices.pick(fitting)
        return literal(wanted, extents, lambda: self.choices.integer(1, 4))

    def pure_packed(self) -> bool:
        return self.packed(Op("relax.call_pure_packed"))

    def impure_packed(self) -> bool:
        return self.packed(None)

    def packed(self, pure: Op | None) -> bool:
        tensors = [v for v in self.values if isinstance(v.struct_info, TensorStructInfo)]
        if not tensors:
            return False
        x, y = self.choices.pick(tensors), self.choices.pick(tensors)
        name, args, infos = self.choices.pick(
            (
                (TWICE, (x,), (x.struct_info,)),
                (FIRST, (x, y), (x.struct_info,)),
                (FIRST, (x, y), (ObjectStructInfo(),)),
                (PAIR, (x, y), (TupleStructInfo((y.struct_info, x.struct_info)),)),
            )
        )
        callee = ExternFunc(name)
        if pure is None:
            return self.emit(Call(callee, args, None, infos))
        return self.emit(Call(pure, (callee, *args), None, infos))

    def dps_packed(self) -> bool:
        tensors = [v for v in self.values if is_computable(v.struct_info)]
        if not tensors:
            return False
        x = self.choices.pick(tensors)
        call = Op("relax.call_dps_packed")
        return self.emit(Call(call, (ExternFunc(TWICE_INTO), Tuple((x,))), None, (x.struct_info,)))


def _is_plain(operator: Operator, pure: bool) -> bool:
    """Whether the general step can call an operator: it takes values, and prints nothing."""
    return operator.pure and not any(p.kind in SPECIAL for p in operator.parameters)
