"""Scalar intrinsics: the named functions that scalar expressions call, as one table.

`INTRINSICS` maps the name of the operator of a `prim.Call` ("tir.exp") to an `Intrinsic`: the
operator itself, its parameters, the dtype of its result, its effect, whether code can be made
for it. The Python functions that build
such calls, under their names in scripts, are in `scalar_functions.py`; what an intrinsic computes
for given numbers is said in `semantics/scalar.py`.

Source: TVM `tir.op` for names, order of parameters and results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from relaxscript.dtypes import DataType

from .device_intrinsics import DeviceIntrinsic, device_intrinsics
from .node import Node
from .prim import PrimExpr
from .relax import Op

__all__ = [
    "ANYTHING",
    "BITS",
    "FLOATS",
    "FUSED",
    "INTEGERS",
    "INTRINSICS",
    "NUMBERS",
    "Effect",
    "Intrinsic",
    "lookup",
    "op_named",
]

FLOATS = "a floating-point number"
INTEGERS = "an integer"
BITS = "an integer or a bool"
NUMBERS = "a number"
ANYTHING = "anything"

_TAKES: dict[str, Callable[[DataType], bool]] = {
    FLOATS: lambda t: t.is_float,
    INTEGERS: lambda t: t.is_integer,
    BITS: lambda t: t.is_integer or t.is_bool,
    NUMBERS: lambda t: t.is_integer or t.is_float,
    ANYTHING: lambda t: True,
}


class Effect:
    """The effects of evaluating a call besides giving its value."""

    PURE = "pure"
    READ = "read"
    UPDATE = "update"
    CONTROL = "control"


@dataclass(frozen=True)
class Intrinsic:
    """One row of the table.

    `parameters` are the names of the operands, `rest` tells that more may follow. `takes` is the
    kind of numbers it is for. `result` is "operand" (the dtype of the first operand of the common
    type) or the name of the operand whose dtype it has. It may also be "given" (said by the call)
    or the name of a dtype. Operands in `texts` are literal strings; `defaults` are the values of
    the last ones, which may be left out (None: they are no part of the call then). `numpy` names
    the function of numpy with the same meaning, where there is one. `compiled` tells whether the
    interpreter evaluates it and the code generator makes code for it; an intrinsic that is not is
    known only so that programs with it can be read, printed and transformed. An `external` one is
    about C functions and addresses, so what it means depends on who runs the program.
    """

    name: str
    parameters: tuple[str, ...]
    takes: str = FLOATS
    result: str = "operand"
    effect: str = Effect.PURE
    numpy: str | None = None
    rest: bool = False
    compiled: bool = True
    external: bool = False
    texts: frozenset[str] = frozenset()
    defaults: tuple[int | bool | None, ...] = ()
    op: Op = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "op", Op.make(self.name))

    @property
    def script_name(self) -> str:
        """The name after `T.` in a script."""
        return self.name.removeprefix("tir.")

    @property
    def arity(self) -> int | None:
        """The number of operands, or None when it may differ from call to call."""
        return None if self.rest or None in self.defaults else len(self.parameters)

    @property
    def is_typed(self) -> bool:
        """True if a call says the dtype of its result, as its first argument."""
        return self.result == "given"

    @property
    def is_pure(self) -> bool:
        return self.effect == Effect.PURE

    def accepts(self, dtype: DataType) -> bool:
        """True if operands of `dtype` are of the kind that it is for."""
        return _TAKES[self.takes](dtype)

    def result_dtype(self, args: Sequence[PrimExpr]) -> DataType:
        """The dtype of a call; raises `TypeError` where only the call itself can say it."""
        match self.result:
            case "operand":
                return args[1 if self.name == "tir.if_then_else" else 0].dtype
            case "given":
                raise TypeError(f"the dtype of a call of {self.name} is given in the call")
        if self.result in self.parameters:
            return args[self.parameters.index(self.result)].dtype
        lanes = args[0].dtype.lanes if args and self.takes != ANYTHING else 1
        result = DataType(self.result)
        return result if lanes <= 1 or result.is_void else result.with_lanes(lanes)


def _rows() -> list[Intrinsic]:
    def unary(names: dict[str, str | None], takes: str = FLOATS, result: str = "operand") -> None:
        rows.extend(Intrinsic(f"tir.{n}", ("x",), takes, result, numpy=f) for n, f in names.items())

    def binary(names: dict[str, str | None], takes: str = FLOATS) -> None:
        rows.extend(Intrinsic(f"tir.{n}", ("a", "b"), takes, numpy=f) for n, f in names.items())

    rows: list[Intrinsic] = []
    unary({
        "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
        "atan": "arctan", "atanh": "arctanh", "ceil": "ceil", "cos": "cos", "cosh": "cosh",
        "erf": None, "exp": "exp", "exp10": None, "exp2": "exp2", "fabs": "fabs", "floor": "floor",
        "log": "log", "log10": "log10", "log1p": "log1p", "log2": "log2", "nearbyint": "rint",
        "round": None, "rsqrt": None, "sigmoid": None, "sin": "sin", "sinh": "sinh",
        "sqrt": "sqrt", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
    })  # fmt: skip
    unary({"isfinite": "isfinite", "isinf": "isinf", "isnan": "isnan"}, result="bool")
    unary({"popcount": None}, INTEGERS)
    unary({"clz": None}, INTEGERS, "int32")
    unary({"bitwise_not": "invert"}, BITS)
    binary({"atan2": "arctan2", "copysign": "copysign", "fmod": "fmod", "hypot": "hypot",
            "nextafter": "nextafter"})  # fmt: skip
    binary({"pow": "power"}, NUMBERS)
    binary({"shift_left": "left_shift", "shift_right": "right_shift"}, INTEGERS)
    binary(
        {"bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor"},
        BITS,
    )
    rows += [
        Intrinsic("tir.ldexp", ("x1", "x2"), numpy="ldexp"),
        Intrinsic("tir.if_then_else", ("cond", "t", "f"), ANYTHING),
        Intrinsic("tir.likely", ("cond",), ANYTHING),
        Intrinsic("tir.tvm_thread_invariant", ("cond",), ANYTHING),
        Intrinsic("tir.assume", ("cond",), ANYTHING, "bool", Effect.UPDATE),
        Intrinsic("tir.reinterpret", ("value",), ANYTHING, "given"),
        Intrinsic("tir.ret", ("val",), ANYTHING, "operand", Effect.CONTROL),
    ]
    return rows + [_from(line) for line in device_intrinsics()]


def _from(line: DeviceIntrinsic) -> Intrinsic:
    """The row of an intrinsic of hardware or of a run time."""
    return Intrinsic(
        f"tir.{line.name}", line.parameters, ANYTHING, line.result,
        Effect.PURE if line.pure else Effect.UPDATE, rest=line.rest, compiled=line.compiled,
        external=line.external, texts=line.texts, defaults=line.defaults,
    )  # fmt: skip


INTRINSICS: dict[str, Intrinsic] = {row.name: row for row in _rows()}

# The product of two floats and a sum, rounded once. Scripts have no name for it but LLVM's.
FUSED = "llvm.fma"
_UNNAMED = {FUSED: Intrinsic(FUSED, ("a", "b", "c"))}


_ALL = INTRINSICS | _UNNAMED


def op_named(name: str) -> Op:
    """The operator of a name; an unknown name is one too, for which no code can be made."""
    row = _ALL.get(name)
    return Op.make(name) if row is None else row.op


def lookup(op: Node) -> Intrinsic | None:
    """The intrinsic that a call calls; None for a function of the module or an unknown name."""
    return _ALL.get(op.name) if isinstance(op, Op) else None
