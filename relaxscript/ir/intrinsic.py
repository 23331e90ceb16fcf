"""Scalar intrinsics: the named functions that scalar expressions call, as one table.

`INTRINSICS` maps the name in a `prim.Call` ("tir.exp") to an `Intrinsic`: its parameters, the data
type of its result, its effect, whether code can be made for it. The Python functions that build
such calls, under their names in scripts, stand in `scalar_functions.py`; what an intrinsic computes
for given numbers is said in `interpreter/scalar.py`.

Source: TVM `tir.op` for names, order of parameters and results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relaxscript.dtypes import DataType

from .node import Node
from .prim import PrimExpr

__all__ = [
    "ANYTHING",
    "BITS",
    "FLOATS",
    "INTEGERS",
    "INTRINSICS",
    "NUMBERS",
    "Effect",
    "Intrinsic",
    "lookup",
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
    """What evaluating a call may do besides giving its value."""

    PURE = "pure"
    READ = "read"
    UPDATE = "update"
    CONTROL = "control"


@dataclass(frozen=True)
class Intrinsic:
    """One row of the table.

    `parameters` are the names of the operands, `rest` tells that more may follow. `takes` is the
    kind of numbers it is for. `result` is "operand" (the data type of the first operand that has
    the common type), "given" (said by the call) or the name of a data type. `numpy` names the
    function of numpy with the same meaning, where there is one. `compiled` tells whether the
    interpreter evaluates it and the code generator makes code for it; an intrinsic that is not is
    known only so that programs with it can be read, printed and transformed.
    """

    name: str
    parameters: tuple[str, ...]
    takes: str = FLOATS
    result: str = "operand"
    effect: str = Effect.PURE
    numpy: str | None = None
    rest: bool = False
    compiled: bool = True

    @property
    def script_name(self) -> str:
        """What stands after `T.` in a script."""
        return self.name.removeprefix("tir.")

    @property
    def arity(self) -> int | None:
        """The number of operands, or None when any number may follow the named ones."""
        return None if self.rest else len(self.parameters)

    @property
    def is_pure(self) -> bool:
        return self.effect == Effect.PURE

    def accepts(self, dtype: DataType) -> bool:
        """Whether operands of `dtype` are of the kind that it is for."""
        return _TAKES[self.takes](dtype)

    def result_dtype(self, args: Sequence[PrimExpr]) -> DataType:
        """The data type of a call; raises `TypeError` where only the call itself can say it."""
        match self.result:
            case "operand":
                return args[1 if self.name == "tir.if_then_else" else 0].dtype
            case "given":
                raise TypeError(f"the data type of a call of {self.name} stands in the call")
        lanes = args[0].dtype.lanes if args else 1
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
    return rows + _known_only()


# Names that programs for other devices or for TVM's own run time use: calls of them are read,
# printed and transformed like any other.
_LOW_LEVEL = """
    TVMBackendAllocWorkspace TVMBackendFreeWorkspace anylist_getitem anylist_resetitem
    anylist_setitem_call_cpacked anylist_setitem_call_packed call_cpacked_lowered
    call_packed_lowered create_barriers dp4a end_profile_intrinsic get_active_lane_mask
    ignore_loop_partition lookup_param make_filled_simdgroup_matrix mma_fill mma_store
    ptx_arrive_barrier ptx_arrive_barrier_expect_tx ptx_commit_group ptx_cp_async
    ptx_cp_async_barrier ptx_cp_async_bulk ptx_init_barrier_thread_count ptx_ldmatrix ptx_mma
    ptx_mma_sp ptx_wait_barrier ptx_wait_group q_multiply_shift q_multiply_shift_per_axis
    simdgroup_load simdgroup_multiply_accumulate simdgroup_store start_profile_intrinsic
    tvm_access_ptr tvm_bmma_sync tvm_call_cpacked_lowered tvm_call_packed_lowered tvm_check_return
    tvm_fill_fragment tvm_load_matrix_sync tvm_mma_sync tvm_stack_alloca tvm_stack_make_array
    tvm_stack_make_shape tvm_storage_sync tvm_store_matrix_sync tvm_struct_get tvm_struct_set
    tvm_thread_allreduce tvm_throw_last_error tvm_tuple tvm_warp_activemask tvm_warp_shuffle
    tvm_warp_shuffle_down tvm_warp_shuffle_up undef vectorcombine vectorhigh vectorlow vscale
"""

_RESULTS_OF_LOW_LEVEL = {
    "start_profile_intrinsic": "void", "end_profile_intrinsic": "void", "vscale": "int32",
    "tvm_throw_last_error": "handle", "tvm_tuple": "handle", "tvm_stack_alloca": "handle",
    "tvm_stack_make_array": "handle", "tvm_stack_make_shape": "handle", "undef": "given",
    "tvm_storage_sync": "int32", "tvm_struct_set": "int32", "q_multiply_shift": "int32",
    "q_multiply_shift_per_axis": "int32",
}  # fmt: skip


def _known_only() -> list[Intrinsic]:
    def row(
        name: str,
        parameters: tuple[str, ...] = (),
        result: str = "given",
        effect: str = Effect.UPDATE,
        rest: bool = True,
    ) -> Intrinsic:
        return Intrinsic(
            f"tir.{name}", parameters, ANYTHING, result, effect, rest=rest, compiled=False
        )

    return [
        row("call_extern", ("func_name",)),
        row("call_pure_extern", ("func_name",), effect=Effect.PURE),
        row("call_llvm_intrin", ("llvm_intrin_name",)),
        row("call_llvm_pure_intrin", ("llvm_intrin_name",), effect=Effect.PURE),
        row("tvm_call_packed", ("func_name",), "int32"),
        row("tvm_call_cpacked", ("func_name",), "int32"),
        row("address_of", ("obj",), "handle", Effect.PURE, rest=False),
        row("isnullptr", ("val",), "bool", Effect.PURE, rest=False),
        *(row(name, (), _RESULTS_OF_LOW_LEVEL.get(name, "given")) for name in _LOW_LEVEL.split()),
    ]


INTRINSICS: dict[str, Intrinsic] = {row.name: row for row in _rows()}


def lookup(op: str | Node) -> Intrinsic | None:
    """The intrinsic that a call calls; None for a function of the module or an unknown name."""
    return INTRINSICS.get(op) if isinstance(op, str) else None
