"""What checkers and editors know of `T.`; written by `relaxscript_tests/script/stub.py`.

They read `x: T.Buffer[T.f32, n, 4]` as `Annotated[f32, n, 4]`: any expression may be a dimension,
and `f32` is what a buffer can do. Statements have the types of what the parser makes of them.
"""

# ruff: noqa: E501, RUF022

from builtins import bool as _bool, int as _int, str as _str
from collections.abc import (
    Callable as _Callable,
    Iterator as _Iterator,
    Mapping as _Mapping,
    Sequence as _Sequence,
)
from contextlib import AbstractContextManager as _Scope
from typing import Annotated as Buffer, Any as _Any, Protocol as _Protocol, TypeAlias as _TypeAlias

from relaxscript.dtypes import DataType as _DataType
from relaxscript.ir.module import Target as _Target
from relaxscript.ir.prim import (
    BufferLoad as _BufferLoad,
    PrimExpr as _PrimExpr,
    PrimExprLike as _PrimExprLike,
    Var as _Var,
)
from relaxscript.ir.relax import GlobalVar as _GlobalVar, Op as _Op
from relaxscript.ir.tir import IterVar as _IterVar
from relaxscript.ir.tir_compute import (
    CommReducer as _CommReducer,
    IndexMap as _IndexMap,
    ProducerLoad as _Load,
    Reduce as _Reduce,
)

from .names.relax_typed import dim as dim
from .names.tir_compute import CallEffectKind as CallEffectKind
from .names.tir_nodes import FloatImm as FloatImm, IntImm as IntImm, StringImm as StringImm
from .names.tir_types import StmtForm as _Form
from .parser.entry import prim_func as prim_func, tir_macro as macro

__all__ = [
    "axis",
    "bf16",
    "dim",
    "f8_e4m3fn",
    "f8_e5m2",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "macro",
    "prim_func",
    "u8",
    "u16",
    "u32",
    "u64",
    "CallEffectKind",
    "CommReducer",
    "IterVar",
    "ProducerLoad",
    "Reduce",
    "comm_reducer",
    "index_map",
    "iter_var",
    "bfloat16",
    "bool",
    "boolean",
    "float16",
    "float16x16",
    "float16x32",
    "float16x4",
    "float16x64",
    "float16x8",
    "float32",
    "float32x16",
    "float32x32",
    "float32x4",
    "float32x64",
    "float32x8",
    "float4_e2m1fn",
    "float4_e2m1fnx16",
    "float4_e2m1fnx2",
    "float4_e2m1fnx32",
    "float4_e2m1fnx4",
    "float4_e2m1fnx64",
    "float4_e2m1fnx8",
    "float64",
    "float64x16",
    "float64x32",
    "float64x4",
    "float64x64",
    "float64x8",
    "float8_e4m3fn",
    "float8_e4m3fnx16",
    "float8_e4m3fnx32",
    "float8_e4m3fnx4",
    "float8_e4m3fnx64",
    "float8_e4m3fnx8",
    "float8_e5m2",
    "float8_e5m2x16",
    "float8_e5m2x32",
    "float8_e5m2x4",
    "float8_e5m2x64",
    "float8_e5m2x8",
    "handle",
    "int16",
    "int16x16",
    "int16x32",
    "int16x4",
    "int16x64",
    "int16x8",
    "int32",
    "int32x16",
    "int32x32",
    "int32x4",
    "int32x64",
    "int32x8",
    "int64",
    "int64x16",
    "int64x32",
    "int64x4",
    "int64x64",
    "int64x8",
    "int8",
    "int8x16",
    "int8x32",
    "int8x4",
    "int8x64",
    "int8x8",
    "uint16",
    "uint16x16",
    "uint16x32",
    "uint16x4",
    "uint16x64",
    "uint16x8",
    "uint32",
    "uint32x16",
    "uint32x32",
    "uint32x4",
    "uint32x64",
    "uint32x8",
    "uint64",
    "uint64x16",
    "uint64x32",
    "uint64x4",
    "uint64x64",
    "uint64x8",
    "uint8",
    "uint8x16",
    "uint8x32",
    "uint8x4",
    "uint8x64",
    "uint8x8",
    "void",
    "Assert",
    "Bind",
    "Buffer",
    "Else",
    "If",
    "LetStmt",
    "Range",
    "Then",
    "While",
    "alloc_buffer",
    "allocate",
    "allocate_const",
    "attr",
    "bind",
    "block",
    "block_attr",
    "buffer",
    "buffer_decl",
    "buffer_store",
    "decl_buffer",
    "env_thread",
    "evaluate",
    "func_attr",
    "grid",
    "init",
    "launch_thread",
    "match_buffer",
    "meta_var",
    "parallel",
    "prefetch",
    "reads",
    "realize",
    "sblock",
    "sblock_alloc_buffer",
    "sblock_attr",
    "serial",
    "thread_binding",
    "unroll",
    "vectorized",
    "where",
    "writes",
    "TVMBackendAllocWorkspace",
    "TVMBackendFreeWorkspace",
    "abs",
    "acos",
    "acosh",
    "address_of",
    "anylist_getitem",
    "anylist_resetitem",
    "anylist_setitem_call_cpacked",
    "anylist_setitem_call_packed",
    "asin",
    "asinh",
    "assume",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "call_cpacked",
    "call_cpacked_lowered",
    "call_extern",
    "call_intrin",
    "call_llvm_intrin",
    "call_llvm_pure_intrin",
    "call_packed",
    "call_packed_lowered",
    "call_pure_extern",
    "ceil",
    "ceildiv",
    "clz",
    "copysign",
    "cos",
    "cosh",
    "create_barriers",
    "dp4a",
    "end_profile_intrinsic",
    "erf",
    "exp",
    "exp10",
    "exp2",
    "fabs",
    "floor",
    "floordiv",
    "floormod",
    "fmod",
    "get_active_lane_mask",
    "hypot",
    "if_then_else",
    "ignore_loop_partition",
    "infinity",
    "isfinite",
    "isinf",
    "isnan",
    "isnullptr",
    "ldexp",
    "likely",
    "llvm_lookup_intrinsic_id",
    "log",
    "log10",
    "log1p",
    "log2",
    "lookup_param",
    "make_filled_simdgroup_matrix",
    "max_value",
    "min_value",
    "mma_fill",
    "mma_store",
    "nearbyint",
    "nextafter",
    "popcount",
    "pow",
    "ptx_arrive_barrier",
    "ptx_arrive_barrier_expect_tx",
    "ptx_commit_group",
    "ptx_cp_async",
    "ptx_cp_async_barrier",
    "ptx_cp_async_bulk",
    "ptx_init_barrier_thread_count",
    "ptx_ldmatrix",
    "ptx_mma",
    "ptx_mma_sp",
    "ptx_wait_barrier",
    "ptx_wait_group",
    "q_multiply_shift",
    "q_multiply_shift_per_axis",
    "reinterpret",
    "ret",
    "round",
    "rsqrt",
    "shift_left",
    "shift_right",
    "sigmoid",
    "simdgroup_load",
    "simdgroup_multiply_accumulate",
    "simdgroup_store",
    "sin",
    "sinh",
    "sqrt",
    "start_profile_intrinsic",
    "tan",
    "tanh",
    "trunc",
    "truncdiv",
    "truncmod",
    "tvm_access_ptr",
    "tvm_bmma_sync",
    "tvm_call_cpacked",
    "tvm_call_cpacked_lowered",
    "tvm_call_packed",
    "tvm_call_packed_lowered",
    "tvm_check_return",
    "tvm_fill_fragment",
    "tvm_load_matrix_sync",
    "tvm_mma_sync",
    "tvm_stack_alloca",
    "tvm_stack_make_array",
    "tvm_stack_make_shape",
    "tvm_storage_sync",
    "tvm_store_matrix_sync",
    "tvm_struct_get",
    "tvm_struct_set",
    "tvm_thread_allreduce",
    "tvm_thread_invariant",
    "tvm_throw_last_error",
    "tvm_tuple",
    "tvm_warp_activemask",
    "tvm_warp_shuffle",
    "tvm_warp_shuffle_down",
    "tvm_warp_shuffle_up",
    "type_annotation",
    "undef",
    "vectorcombine",
    "vectorhigh",
    "vectorlow",
    "vscale",
    "EQ",
    "GE",
    "GT",
    "LE",
    "LT",
    "NE",
    "Add",
    "And",
    "Broadcast",
    "BufferLoad",
    "Call",
    "Cast",
    "Div",
    "FloatImm",
    "FloorDiv",
    "FloorMod",
    "IntImm",
    "Let",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "Not",
    "Or",
    "Ptr",
    "Ramp",
    "Select",
    "Shuffle",
    "SizeVar",
    "StringImm",
    "Sub",
    "Var",
    "broadcast",
    "buffer_var",
    "cast",
    "let",
    "max",
    "min",
    "ptr",
    "ramp",
    "target",
    "var",
]

_Attributes: _TypeAlias = _Mapping[_str, _Any]

class _Elements(_Protocol):
    """A buffer: its elements are read as `x[i, j]` and written by `x[i, j] = value`."""

    @property
    def name(self) -> _str: ...
    @property
    def shape(self) -> tuple[_PrimExpr, ...]: ...
    @property
    def dtype(self) -> _DataType: ...
    @property
    def data(self) -> _Var:
        """The address of its memory."""
    @property
    def strides(self) -> tuple[_PrimExpr, ...]: ...
    @property
    def elem_offset(self) -> _PrimExpr | None: ...
    @property
    def scope(self) -> _str: ...
    @property
    def ndim(self) -> _int: ...
    def __getitem__(self, indices: _Indices) -> _BufferLoad: ...
    def __setitem__(self, indices: _Indices, value: _PrimExprLike) -> None: ...
    def vload(self, begin: _Any, dtype: _str | None = None) -> _PrimExpr:
        """Some elements that lie side by side, as a vector."""
    def vstore(self, begin: _Any, value: _PrimExprLike) -> _PrimExpr:
        """Store a vector to elements that lie side by side."""

class _Scalar(_Var):
    """A scalar: `n: T.int64` is a parameter, `T.int64()` a new variable, `T.int64(x)` a value."""

    def __init__(
        self, expr: _PrimExprLike | _str | None = None, is_size_var: _bool = False
    ) -> None: ...

class _Vars(_Var):
    """A variable, or several, which are unpacked."""

    def __iter__(self) -> _Iterator[_Var]: ...

class _BufferScope(_Elements, _Protocol):
    """A buffer, which `with` may give an end."""

    def __enter__(self) -> _Elements: ...
    def __exit__(self, *error: object) -> None: ...

class _VarScope(_Var):
    """A variable, which `with` may give an end."""

    def __enter__(self) -> _Var: ...
    def __exit__(self, *error: object) -> None: ...

# A dtype is a text, or the class that stands for one here.
_DType: _TypeAlias = _str | type[_Any]
_Indices: _TypeAlias = _PrimExprLike | slice | tuple[_PrimExprLike | slice, ...]

class handle(_Var):
    """An address: `a: T.handle` is a parameter that `T.match_buffer(a, ...)` reads as a buffer."""

    def __init__(
        self,
        dtype: _DType | None = None,
        storage_scope: _str = "global",
        *,
        is_size_var: _bool = False,
    ) -> None: ...

class bool(_Scalar):
    """A scalar that is true or false; in `T.Buffer[T.bool, n]`, buffers of these."""

    shape: tuple[_PrimExpr, ...]
    def __getitem__(self, indices: _Indices) -> _BufferLoad: ...
    def __setitem__(self, indices: _Indices, value: _PrimExprLike) -> None: ...

boolean = bool

class i8(_Elements, _Protocol):
    """Buffers of int8."""

class i16(_Elements, _Protocol):
    """Buffers of int16."""

class i32(_Elements, _Protocol):
    """Buffers of int32."""

class i64(_Elements, _Protocol):
    """Buffers of int64."""

class u8(_Elements, _Protocol):
    """Buffers of uint8."""

class u16(_Elements, _Protocol):
    """Buffers of uint16."""

class u32(_Elements, _Protocol):
    """Buffers of uint32."""

class u64(_Elements, _Protocol):
    """Buffers of uint64."""

class f16(_Elements, _Protocol):
    """Buffers of float16."""

class f32(_Elements, _Protocol):
    """Buffers of float32."""

class f64(_Elements, _Protocol):
    """Buffers of float64."""

class bf16(_Elements, _Protocol):
    """Buffers of bfloat16."""

class f8_e4m3fn(_Elements, _Protocol):
    """Buffers of float8_e4m3fn."""

class f8_e5m2(_Elements, _Protocol):
    """Buffers of float8_e5m2."""

class bfloat16(_Scalar):
    """Scalars of type bfloat16."""

class float16(_Scalar):
    """Scalars of type float16."""

class float16x16(_Scalar):
    """Scalars of type float16x16."""

class float16x32(_Scalar):
    """Scalars of type float16x32."""

class float16x4(_Scalar):
    """Scalars of type float16x4."""

class float16x64(_Scalar):
    """Scalars of type float16x64."""

class float16x8(_Scalar):
    """Scalars of type float16x8."""

class float32(_Scalar):
    """Scalars of type float32."""

class float32x16(_Scalar):
    """Scalars of type float32x16."""

class float32x32(_Scalar):
    """Scalars of type float32x32."""

class float32x4(_Scalar):
    """Scalars of type float32x4."""

class float32x64(_Scalar):
    """Scalars of type float32x64."""

class float32x8(_Scalar):
    """Scalars of type float32x8."""

class float4_e2m1fn(_Scalar):
    """Scalars of type float4_e2m1fn."""

class float4_e2m1fnx16(_Scalar):
    """Scalars of type float4_e2m1fnx16."""

class float4_e2m1fnx2(_Scalar):
    """Scalars of type float4_e2m1fnx2."""

class float4_e2m1fnx32(_Scalar):
    """Scalars of type float4_e2m1fnx32."""

class float4_e2m1fnx4(_Scalar):
    """Scalars of type float4_e2m1fnx4."""

class float4_e2m1fnx64(_Scalar):
    """Scalars of type float4_e2m1fnx64."""

class float4_e2m1fnx8(_Scalar):
    """Scalars of type float4_e2m1fnx8."""

class float64(_Scalar):
    """Scalars of type float64."""

class float64x16(_Scalar):
    """Scalars of type float64x16."""

class float64x32(_Scalar):
    """Scalars of type float64x32."""

class float64x4(_Scalar):
    """Scalars of type float64x4."""

class float64x64(_Scalar):
    """Scalars of type float64x64."""

class float64x8(_Scalar):
    """Scalars of type float64x8."""

class float8_e4m3fn(_Scalar):
    """Scalars of type float8_e4m3fn."""

class float8_e4m3fnx16(_Scalar):
    """Scalars of type float8_e4m3fnx16."""

class float8_e4m3fnx32(_Scalar):
    """Scalars of type float8_e4m3fnx32."""

class float8_e4m3fnx4(_Scalar):
    """Scalars of type float8_e4m3fnx4."""

class float8_e4m3fnx64(_Scalar):
    """Scalars of type float8_e4m3fnx64."""

class float8_e4m3fnx8(_Scalar):
    """Scalars of type float8_e4m3fnx8."""

class float8_e5m2(_Scalar):
    """Scalars of type float8_e5m2."""

class float8_e5m2x16(_Scalar):
    """Scalars of type float8_e5m2x16."""

class float8_e5m2x32(_Scalar):
    """Scalars of type float8_e5m2x32."""

class float8_e5m2x4(_Scalar):
    """Scalars of type float8_e5m2x4."""

class float8_e5m2x64(_Scalar):
    """Scalars of type float8_e5m2x64."""

class float8_e5m2x8(_Scalar):
    """Scalars of type float8_e5m2x8."""

class int16(_Scalar):
    """Scalars of type int16."""

class int16x16(_Scalar):
    """Scalars of type int16x16."""

class int16x32(_Scalar):
    """Scalars of type int16x32."""

class int16x4(_Scalar):
    """Scalars of type int16x4."""

class int16x64(_Scalar):
    """Scalars of type int16x64."""

class int16x8(_Scalar):
    """Scalars of type int16x8."""

class int32(_Scalar):
    """Scalars of type int32."""

class int32x16(_Scalar):
    """Scalars of type int32x16."""

class int32x32(_Scalar):
    """Scalars of type int32x32."""

class int32x4(_Scalar):
    """Scalars of type int32x4."""

class int32x64(_Scalar):
    """Scalars of type int32x64."""

class int32x8(_Scalar):
    """Scalars of type int32x8."""

class int64(_Scalar):
    """Scalars of type int64."""

class int64x16(_Scalar):
    """Scalars of type int64x16."""

class int64x32(_Scalar):
    """Scalars of type int64x32."""

class int64x4(_Scalar):
    """Scalars of type int64x4."""

class int64x64(_Scalar):
    """Scalars of type int64x64."""

class int64x8(_Scalar):
    """Scalars of type int64x8."""

class int8(_Scalar):
    """Scalars of type int8."""

class int8x16(_Scalar):
    """Scalars of type int8x16."""

class int8x32(_Scalar):
    """Scalars of type int8x32."""

class int8x4(_Scalar):
    """Scalars of type int8x4."""

class int8x64(_Scalar):
    """Scalars of type int8x64."""

class int8x8(_Scalar):
    """Scalars of type int8x8."""

class uint16(_Scalar):
    """Scalars of type uint16."""

class uint16x16(_Scalar):
    """Scalars of type uint16x16."""

class uint16x32(_Scalar):
    """Scalars of type uint16x32."""

class uint16x4(_Scalar):
    """Scalars of type uint16x4."""

class uint16x64(_Scalar):
    """Scalars of type uint16x64."""

class uint16x8(_Scalar):
    """Scalars of type uint16x8."""

class uint32(_Scalar):
    """Scalars of type uint32."""

class uint32x16(_Scalar):
    """Scalars of type uint32x16."""

class uint32x32(_Scalar):
    """Scalars of type uint32x32."""

class uint32x4(_Scalar):
    """Scalars of type uint32x4."""

class uint32x64(_Scalar):
    """Scalars of type uint32x64."""

class uint32x8(_Scalar):
    """Scalars of type uint32x8."""

class uint64(_Scalar):
    """Scalars of type uint64."""

class uint64x16(_Scalar):
    """Scalars of type uint64x16."""

class uint64x32(_Scalar):
    """Scalars of type uint64x32."""

class uint64x4(_Scalar):
    """Scalars of type uint64x4."""

class uint64x64(_Scalar):
    """Scalars of type uint64x64."""

class uint64x8(_Scalar):
    """Scalars of type uint64x8."""

class uint8(_Scalar):
    """Scalars of type uint8."""

class uint8x16(_Scalar):
    """Scalars of type uint8x16."""

class uint8x32(_Scalar):
    """Scalars of type uint8x32."""

class uint8x4(_Scalar):
    """Scalars of type uint8x4."""

class uint8x64(_Scalar):
    """Scalars of type uint8x64."""

class uint8x8(_Scalar):
    """Scalars of type uint8x8."""

class void(_Scalar):
    """Scalars of type void."""

class axis:
    """The axes of a block: the names in `T.axis.`.

    `vi = T.axis.spatial(64, i)` makes an axis: a variable of the block with a domain. It has a value
    for each time that the block runs. `remap` makes several axes of loop variables at once.
    """
    @staticmethod
    def R(dom: _Any, binding: _Any, dtype: _DType = "int32") -> _Var:
        """An axis over which results are accumulated."""
    @staticmethod
    def S(dom: _Any, binding: _Any, dtype: _DType = "int32") -> _Var:
        """An axis whose values may be computed in any order; `dom` is an extent or a range."""
    @staticmethod
    def opaque(dom: _Any, binding: _Any, dtype: _DType = "int32") -> _Var:
        """An axis of which nothing may be assumed."""
    @staticmethod
    def reduce(dom: _Any, binding: _Any, dtype: _DType = "int32") -> _Var:
        """An axis over which results are accumulated."""
    @staticmethod
    def remap(kinds: _str, bindings: _Sequence[_Any], dtype: _DType = "int32") -> _Vars:
        """Axes over the whole range of loops: one letter of `kinds` (S spatial, R reduce) for each."""
    @staticmethod
    def scan(dom: _Any, binding: _Any, dtype: _DType = "int32") -> _Var:
        """An axis whose values build on those before."""
    @staticmethod
    def spatial(dom: _Any, binding: _Any, dtype: _DType = "int32") -> _Var:
        """An axis whose values may be computed in any order; `dom` is an extent or a range."""

def Assert(condition: _Any, message: _str) -> _Scope[None]:
    """Stop with `message` unless `condition` holds: `assert condition, message`."""

def Bind(value: _Any, type_annotation: _Any = None, *, var: _Any = None) -> _VarScope:
    """A scalar variable: `with T.LetStmt(a + b) as c:`, which is `c = a + b` with a visible end."""

def Else() -> _Scope[None]:
    """The branch of the `T.If` around it for a condition that does not hold."""

def If(condition: _Any) -> _Scope[None]:
    """`if condition:` as a scope that holds `with T.Then():` and perhaps `with T.Else():`."""

def LetStmt(value: _Any, type_annotation: _Any = None, *, var: _Any = None) -> _VarScope:
    """A scalar variable: `with T.LetStmt(a + b) as c:`, which is `c = a + b` with a visible end."""

def Range(begin: _Any, end: _Any) -> _Form:
    """The integers `begin <= i < end`, as the domain of an axis."""

def Then() -> _Scope[None]:
    """The branch of the `T.If` around it for a condition that holds."""

def While(condition: _Any) -> _Scope[None]:
    """`while condition:` as a scope."""

def alloc_buffer(
    shape: _Sequence[_Any],
    dtype: _DType = "float32",
    data: _Any = None,
    strides: _Sequence[_Any] | None = None,
    elem_offset: _Any = None,
    scope: _str = "global",
    align: _int = -1,
    offset_factor: _int = 0,
    buffer_type: _str = "default",
    axis_separators: _Sequence[_int] | None = None,
) -> _Elements:
    """A new buffer that lives as long as the block (outside of blocks: the function) runs.

    What it holds before it is written is unspecified: store first. The target "reference" gives
    NaN, the least integer (the largest, where none is negative) or True, so that a mistake is seen.
    Native code begins with zeros where the program was loaded from a file or built for
    "llvm -zero-memory=1".
    """

def allocate(
    extents: _Sequence[_Any],
    dtype: _DType,
    scope: _str = "global",
    condition: _Any = None,
    annotations: _Attributes | None = None,
) -> _VarScope:
    """Memory for as long as the statements after it run; its value is the address."""

def allocate_const(
    data: _Sequence[_Any],
    dtype: _DType,
    extents: _Sequence[_Any],
    annotations: _Attributes | None = None,
) -> _VarScope:
    """Memory that holds constants; its value is the address."""

def attr(node: _Any, attr_key: _str, value: _Any) -> _Scope[None]:
    """A hint for the compiler about the statements after it."""

def bind(value: _Any, type_annotation: _Any = None, *, var: _Any = None) -> _VarScope:
    """A scalar variable: `with T.LetStmt(a + b) as c:`, which is `c = a + b` with a visible end."""

def block(name: _str = "", no_realize: _bool = False) -> _Scope[None]:
    """A unit of computation over its own axes: `with T.block("matmul"):`."""

def block_attr(attrs: _Attributes) -> None:
    """Annotations of a block."""

def buffer(
    shape: _Sequence[_Any],
    dtype: _DType = "float32",
    data: _Any = None,
    strides: _Sequence[_Any] | None = None,
    elem_offset: _Any = None,
    scope: _str = "global",
    align: _int = 0,
    offset_factor: _int = 0,
    buffer_type: _str = "",
    axis_separators: _Sequence[_int] | None = None,
) -> _BufferScope:
    """The same as `decl_buffer`."""

def buffer_decl(*args: _Any, **kwargs: _Any) -> _BufferScope:
    """The same as `decl_buffer`, by its older name."""

def buffer_store(
    buffer: _Any, value: _Any, indices: _Sequence[_Any], predicate: _Any = None
) -> None:
    """`buffer[indices] = value`; with `predicate`, in the lanes where it holds."""

def decl_buffer(
    shape: _Sequence[_Any],
    dtype: _DType = "float32",
    data: _Any = None,
    strides: _Sequence[_Any] | None = None,
    elem_offset: _Any = None,
    scope: _str = "global",
    align: _int = 0,
    offset_factor: _int = 0,
    buffer_type: _str = "",
    axis_separators: _Sequence[_int] | None = None,
) -> _BufferScope:
    """A buffer over the memory at `data`; without `data`, over memory allocated for it."""

def env_thread(thread_tag: _str, dtype: _DType = "int32") -> _Var:
    """The number of a thread, for launches that come later: `tx = T.env_thread("threadIdx.x")`."""

def evaluate(value: _Any) -> None:
    """Compute a value for its effect."""

def func_attr(attrs: _Attributes) -> None:
    """Attributes of the function."""

def grid(*extents: _Any) -> _Iterator[_Vars]:
    """Nested serial loops, one for each extent: `for i, j in T.grid(n, 64)`."""

def init() -> _Scope[None]:
    """The part of a block that runs first wherever its reduction axes start: `with T.init():`."""

def launch_thread(thread: _Any, extent: _Any) -> _VarScope:
    """The statements after it run on `extent` threads of a GPU: `bx = T.launch_thread("blockIdx.x",
    4)`; `thread` is the name of a thread, or a variable that `T.env_thread` gave.
    """

def match_buffer(
    param: _Any,
    shape: _Sequence[_Any] | None = None,
    dtype: _DType = "float32",
    data: _Any = None,
    strides: _Sequence[_Any] | None = None,
    elem_offset: _Any = None,
    scope: _str = "global",
    align: _int = -1,
    offset_factor: _int = 0,
    buffer_type: _str = "default",
    axis_separators: _Sequence[_int] | None = None,
) -> _Elements:
    """The buffer behind a `T.handle` parameter, or in a block another name of a region."""

def meta_var(value: _Any) -> _Any:
    """`x = T.meta_var(e)` makes `x` another name of `e`, without a variable in the program."""

def parallel(
    start: _Any, stop: _Any = None, *, annotations: _Attributes | None = None
) -> _Iterator[_Var]:
    """A loop whose iterations may run at the same time, on several threads."""

def prefetch(buffer: _Any, bounds: _Sequence[_Any]) -> None:
    """A hint that a region of a buffer, a range for each axis or none, will be read soon."""

def reads(*regions: _Any) -> None:
    """The regions of buffers that a block reads; without it they are derived from the body."""

def realize(buffer_slice: _Any, storage_scope: _str, condition: _Any = True) -> _Scope[None]:
    """A region of a buffer exists, in a scope of memory, while the statements after it run."""

def sblock(name: _str = "", no_realize: _bool = False) -> _Scope[None]:
    """A unit of computation over its own axes: `with T.block("matmul"):`."""

def sblock_alloc_buffer(
    shape: _Sequence[_Any],
    dtype: _DType = "float32",
    data: _Any = None,
    strides: _Sequence[_Any] | None = None,
    elem_offset: _Any = None,
    scope: _str = "global",
    align: _int = -1,
    offset_factor: _int = 0,
    buffer_type: _str = "default",
    axis_separators: _Sequence[_int] | None = None,
) -> _Elements:
    """A new buffer that lives as long as the block (outside of blocks: the function) runs.

    What it holds before it is written is unspecified: store first. The target "reference" gives
    NaN, the least integer (the largest, where none is negative) or True, so that a mistake is seen.
    Native code begins with zeros where the program was loaded from a file or built for
    "llvm -zero-memory=1".
    """

def sblock_attr(attrs: _Attributes) -> None:
    """Annotations of a block."""

def serial(
    start: _Any, stop: _Any = None, *, annotations: _Attributes | None = None
) -> _Iterator[_Var]:
    """A loop over `start <= i < stop` (or `0 <= i < start`), one iteration after the other."""

def thread_binding(
    start: _Any,
    stop: _Any = None,
    thread: _str | None = None,
    *,
    annotations: _Attributes | None = None,
) -> _Iterator[_Var]:
    """A loop whose iterations are the threads of a device: `T.thread_binding(4, "threadIdx.x")`."""

def unroll(
    start: _Any, stop: _Any = None, *, annotations: _Attributes | None = None
) -> _Iterator[_Var]:
    """A loop whose iterations are written out one after the other."""

def vectorized(
    start: _Any, stop: _Any = None, *, annotations: _Attributes | None = None
) -> _Iterator[_Var]:
    """A loop whose iterations may run as lanes of vector instructions."""

def where(predicate: _Any) -> None:
    """The block runs only where `predicate` holds."""

def writes(*regions: _Any) -> None:
    """The regions of buffers that a block writes; without it they are derived from the body."""

def CommReducer(
    lhs: _Sequence[_Var],
    rhs: _Sequence[_Var],
    result: _Sequence[_PrimExpr],
    identity_element: _Sequence[_PrimExpr],
) -> _CommReducer:
    """A function that combines values, by its variables; usually made by `T.comm_reducer`."""

def IterVar(dom: _Any, var: _Any, iter_type: _str, thread_tag: _str = "") -> _IterVar:
    """The same as `T.iter_var`, in the order of the node's fields."""

def ProducerLoad(producer: _Elements, indices: _Sequence[_PrimExprLike]) -> _Load:
    """The element of what a tensor expression produces."""

def Reduce(
    combiner: _CommReducer,
    src: _Sequence[_PrimExpr],
    rdom: _Sequence[_IterVar],
    condition: _PrimExprLike,
    value_index: _int,
    init: _Sequence[_PrimExpr] | None = None,
) -> _Reduce:
    """The values of `src` combined over some axes, where `condition` holds."""

def comm_reducer(combiner: _Callable[..., _Any], identity: _Sequence[_PrimExpr]) -> _CommReducer:
    """A function that combines values: `T.comm_reducer(lambda x, y: x + y, [T.float32(0)])`.

    For several values combined together the function takes those of the left side first, and gives
    a tuple.
    """

def index_map(
    mapping: _Callable[..., _Any],
    *,
    inverse_index_map: _Callable[..., _Any] | _IndexMap | None = None,
    index_dtype: _DType = "int64",
) -> _IndexMap:
    """A change of layout: `T.index_map(lambda i, j: (i // 16, j, i % 16))`."""

def iter_var(v: _Any, dom: _Any, iter_type: _str, thread_tag: _str) -> _IterVar:
    """An axis: of a `T.Reduce`, or as the node of `T.attr`."""

def EQ(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a == b`"""

def GE(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a >= b`"""

def GT(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a > b`"""

def LE(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a <= b`"""

def LT(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a < b`"""

def NE(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a != b`"""

def Add(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a + b`"""

def And(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a and b`; both are evaluated"""

def Broadcast(value: _PrimExprLike, lanes: _int) -> _PrimExpr:
    """The vector of `lanes` copies of a scalar."""

def BufferLoad(
    buffer: _Elements, indices: _Sequence[_PrimExprLike], predicate: _PrimExpr | None = None
) -> _PrimExpr:
    """The element of a buffer at some indices; with `predicate`, only the lanes where it holds."""

def Call(dtype: _DType, op: _str | _Op | _GlobalVar, args: _Sequence[_PrimExprLike]) -> _PrimExpr:
    """A call of an intrinsic by its name ("tir.exp") or of a function of the module."""

def Cast(dtype: _DType, value: _PrimExprLike) -> _PrimExpr:
    """`value` converted to `dtype`, as a node even where nothing changes."""

def Div(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a / b`; of integers, rounded towards zero as in C"""

def FloorDiv(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a // b`"""

def FloorMod(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a % b`"""

def Let(expr: _PrimExprLike, where: _Mapping[_Var, _PrimExprLike]) -> _PrimExpr:
    """`expr` with variables standing for values: `T.Let(x * x, where={x: a + b})`."""

def Max(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """the greater of two"""

def Min(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """the lesser of two"""

def Mod(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """the remainder of `T.Div`"""

def Mul(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a * b`"""

def Not(a: _PrimExprLike) -> _PrimExpr:
    """`not a`."""

def Or(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a or b`; both are evaluated"""

def Ptr(dtype: _DType, storage_scope: _str = "global", is_size_var: _bool = False) -> _Var:
    """A new variable that holds the address of elements of `dtype`."""

def Ramp(base: _PrimExprLike, stride: _PrimExprLike, lanes: _int) -> _PrimExpr:
    """The vector `base, base + stride, ...` of `lanes` elements."""

def Select(
    condition: _PrimExprLike, true_value: _PrimExprLike, false_value: _PrimExprLike
) -> _PrimExpr:
    """One of two values by a condition; both are evaluated, unlike those of `T.if_then_else`."""

def Shuffle(vectors: _Sequence[_PrimExpr], indices: _Sequence[_PrimExprLike]) -> _PrimExpr:
    """Elements of the concatenation of some vectors, chosen by constant indices."""

def SizeVar(name: _str, dtype: _DType = "int32") -> _Var:
    """A new variable of a name that is never negative."""

def Sub(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """`a - b`"""

def Var(name: _str, dtype: _DType = "int32") -> _Var:
    """A new variable of a name."""

def broadcast(value: _PrimExprLike, lanes: _int) -> _PrimExpr:
    """The vector of `lanes` copies of a scalar."""

def buffer_var(dtype: _DType, storage_scope: _str = "global") -> _Var:
    """The same as `ptr`, by its older name."""

def cast(value: _PrimExprLike, dtype: _DType) -> _PrimExpr:
    """`value` converted to `dtype` with C's rules; a literal is converted on the spot."""

def let(v: _Var, value: _PrimExprLike, body: _PrimExprLike) -> _PrimExpr:
    """`body` with `v` standing for `value`."""

def max(a: _PrimExprLike, b: _PrimExprLike, *more: _PrimExprLike) -> _PrimExpr:
    """The greatest of two or more scalars."""

def min(a: _PrimExprLike, b: _PrimExprLike, *more: _PrimExprLike) -> _PrimExpr:
    """The least of two or more scalars."""

def ptr(dtype: _DType, storage_scope: _str = "global", is_size_var: _bool = False) -> _Var:
    """A new variable that holds the address of elements of `dtype`."""

def ramp(base: _PrimExprLike, stride: _PrimExprLike, lanes: _int) -> _PrimExpr:
    """The vector `base, base + stride, ...` of `lanes` elements."""

def target(target_config: _str | _Mapping[_str, _Any]) -> _Target:
    """A target of code generation as the value of an attribute: its string, or a mapping."""

def var(dtype: _DType, name: _str = "") -> _Var:
    """A new variable; `n = T.var("int32")` names it."""

def TVMBackendAllocWorkspace(
    device_type: _Any, device_id: _Any, nbytes: _Any, dtype_code_hint: _Any, dtype_bits_hint: _Any
) -> _PrimExpr:
    """A call of `tir.TVMBackendAllocWorkspace`, for which no code is made here."""

def TVMBackendFreeWorkspace(device_type: _Any, device_id: _Any, ptr: _Any) -> _PrimExpr:
    """A call of `tir.TVMBackendFreeWorkspace`, for which no code is made here."""

def abs(x: _PrimExprLike) -> _PrimExpr:
    """The absolute value: `tir.fabs` of floats, a Select of signed integers."""

def acos(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.acos`; each operand is a floating-point number."""

def acosh(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.acosh`; each operand is a floating-point number."""

def address_of(obj: _Any) -> _PrimExpr:
    """A call of `tir.address_of`."""

def anylist_getitem(list_handle: _Any, index: _Any) -> _PrimExpr:
    """A call of `tir.anylist_getitem`, for which no code is made here."""

def anylist_resetitem(list_handle: _Any, index: _Any) -> _PrimExpr:
    """A call of `tir.anylist_resetitem`, for which no code is made here."""

def anylist_setitem_call_cpacked(
    list_handle: _Any, index: _Any, func_name: _Any, *args: _Any
) -> _PrimExpr:
    """A call of `tir.anylist_setitem_call_cpacked`, for which no code is made here."""

def anylist_setitem_call_packed(
    list_handle: _Any, index: _Any, func_name: _Any, *args: _Any
) -> _PrimExpr:
    """A call of `tir.anylist_setitem_call_packed`, for which no code is made here."""

def asin(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.asin`; each operand is a floating-point number."""

def asinh(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.asinh`; each operand is a floating-point number."""

def assume(cond: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.assume`; each operand is anything."""

def atan(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.atan`; each operand is a floating-point number."""

def atan2(a: _PrimExprLike, b: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.atan2`; each operand is a floating-point number."""

def atanh(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.atanh`; each operand is a floating-point number."""

def bitwise_and(a: _PrimExprLike, b: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.bitwise_and`; each operand is an integer or a bool."""

def bitwise_not(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.bitwise_not`; each operand is an integer or a bool."""

def bitwise_or(a: _PrimExprLike, b: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.bitwise_or`; each operand is an integer or a bool."""

def bitwise_xor(a: _PrimExprLike, b: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.bitwise_xor`; each operand is an integer or a bool."""

def call_cpacked(*args: _Any) -> _PrimExpr:
    """A call of a packed function of C by its symbol, the first operand."""

def call_cpacked_lowered(func_name: _Any, *args: _Any) -> _PrimExpr:
    """A call of `tir.call_cpacked_lowered`, for which no code is made here."""

def call_extern(dtype: _DType | None, func_name: _Any, *args: _Any) -> _PrimExpr:
    """A call of `tir.call_extern`."""

def call_intrin(dtype: _DType, func_name: _str, *args: _Any) -> _PrimExpr:
    """A call of an intrinsic by its name ("tir.exp"); raises `OperandError` for unknown names."""

def call_llvm_intrin(dtype: _DType | None, llvm_intrin_name: _Any, *args: _Any) -> _PrimExpr:
    """A call of `tir.call_llvm_intrin`."""

def call_llvm_pure_intrin(dtype: _DType | None, llvm_intrin_name: _Any, *args: _Any) -> _PrimExpr:
    """A call of `tir.call_llvm_pure_intrin`."""

def call_packed(*args: _Any) -> _PrimExpr:
    """A call of a packed function by its name, the first operand; others may be buffers."""

def call_packed_lowered(func_name: _Any, *args: _Any) -> _PrimExpr:
    """A call of `tir.call_packed_lowered`, for which no code is made here."""

def call_pure_extern(dtype: _DType | None, func_name: _Any, *args: _Any) -> _PrimExpr:
    """A call of `tir.call_pure_extern`."""

def ceil(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.ceil`; each operand is a floating-point number."""

def ceildiv(lhs: _PrimExprLike, rhs: _PrimExprLike) -> _PrimExpr:
    """Division rounding up: `(lhs + rhs - 1) // rhs`, which is so for positive `rhs`."""

def clz(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.clz`; each operand is an integer."""

def copysign(a: _PrimExprLike, b: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.copysign`; each operand is a floating-point number."""

def cos(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.cos`; each operand is a floating-point number."""

def cosh(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.cosh`; each operand is a floating-point number."""

def create_barriers(barrier_count: _Any) -> _PrimExpr:
    """A call of `tir.create_barriers`, for which no code is made here."""

def dp4a(vec1: _Any, vec2: _Any, acc: _Any = 0) -> _PrimExpr:
    """A call of `tir.dp4a`."""

def end_profile_intrinsic(id: _Any) -> _PrimExpr:
    """A call of `tir.end_profile_intrinsic`, for which no code is made here."""

def erf(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.erf`; each operand is a floating-point number."""

def exp(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.exp`; each operand is a floating-point number."""

def exp10(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.exp10`; each operand is a floating-point number."""

def exp2(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.exp2`; each operand is a floating-point number."""

def fabs(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.fabs`; each operand is a floating-point number."""

def floor(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.floor`; each operand is a floating-point number."""

def floordiv(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """A `FloorDiv` of two scalars in their common dtype."""

def floormod(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """A `FloorMod` of two scalars in their common dtype."""

def fmod(a: _PrimExprLike, b: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.fmod`; each operand is a floating-point number."""

def get_active_lane_mask(dtype: _DType | None, base: _Any, limit: _Any) -> _PrimExpr:
    """A call of `tir.get_active_lane_mask`."""

def hypot(a: _PrimExprLike, b: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.hypot`; each operand is a floating-point number."""

def if_then_else(
    cond: _PrimExprLike, t: _PrimExprLike, f: _PrimExprLike, *, dtype: _str | None = None
) -> _PrimExpr:
    """`t` or `f` by a condition; only the one that is chosen is evaluated."""

def ignore_loop_partition(predicate: _Any) -> _PrimExpr:
    """A call of `tir.ignore_loop_partition`."""

def infinity(dtype: _DType) -> _PrimExpr:
    """Plus infinity; raises `OperandError` for a dtype that has none."""

def isfinite(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.isfinite`; each operand is a floating-point number."""

def isinf(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.isinf`; each operand is a floating-point number."""

def isnan(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.isnan`; each operand is a floating-point number."""

def isnullptr(val: _Any) -> _PrimExpr:
    """A call of `tir.isnullptr`."""

def ldexp(x1: _PrimExprLike, x2: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.ldexp`; each operand is a floating-point number."""

def likely(cond: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.likely`; each operand is anything."""

def llvm_lookup_intrinsic_id(name: _Any) -> _PrimExpr:
    """A call of `tir.llvm_lookup_intrinsic_id`, for which no code is made here."""

def log(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.log`; each operand is a floating-point number."""

def log10(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.log10`; each operand is a floating-point number."""

def log1p(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.log1p`; each operand is a floating-point number."""

def log2(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.log2`; each operand is a floating-point number."""

def lookup_param(param_name: _Any) -> _PrimExpr:
    """A call of `tir.lookup_param`, for which no code is made here."""

def make_filled_simdgroup_matrix(
    d: _Any, index: _Any, value: _Any, col: _Any = 8, row: _Any = 8
) -> _PrimExpr:
    """A call of `tir.make_filled_simdgroup_matrix`, for which no code is made here."""

def max_value(dtype: _DType) -> _PrimExpr:
    """The greatest finite value of a dtype."""

def min_value(dtype: _DType) -> _PrimExpr:
    """The least finite value of a dtype."""

def mma_fill(dtype: _DType | None, local_size: _Any, local_ptr: _Any, offset: _Any) -> _PrimExpr:
    """A call of `tir.mma_fill`, for which no code is made here."""

def mma_store(
    dtype: _DType | None,
    m: _Any,
    n: _Any,
    dst_ptr: _Any,
    src_ptr: _Any,
    src_offset: _Any,
    dst_stride: _Any,
) -> _PrimExpr:
    """A call of `tir.mma_store`, for which no code is made here."""

def nearbyint(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.nearbyint`; each operand is a floating-point number."""

def nextafter(a: _PrimExprLike, b: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.nextafter`; each operand is a floating-point number."""

def popcount(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.popcount`; each operand is an integer."""

def pow(a: _PrimExprLike, b: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.pow`; each operand is a number."""

def ptx_arrive_barrier(barrier_id: _Any) -> _PrimExpr:
    """A call of `tir.ptx_arrive_barrier`, for which no code is made here."""

def ptx_arrive_barrier_expect_tx(barrier_id: _Any, byte_count: _Any) -> _PrimExpr:
    """A call of `tir.ptx_arrive_barrier_expect_tx`, for which no code is made here."""

def ptx_commit_group() -> _PrimExpr:
    """A call of `tir.ptx_commit_group`, for which no code is made here."""

def ptx_cp_async(
    dtype: _DType | None,
    shared_ptr: _Any,
    shared_offset: _Any,
    global_ptr: _Any,
    global_offset: _Any,
    bytes: _Any,
    predicate: _Any = None,
) -> _PrimExpr:
    """A call of `tir.ptx_cp_async`, for which no code is made here."""

def ptx_cp_async_barrier(barrier_id: _Any) -> _PrimExpr:
    """A call of `tir.ptx_cp_async_barrier`, for which no code is made here."""

def ptx_cp_async_bulk(
    dtype: _DType | None,
    shared_ptr: _Any,
    shared_offset: _Any,
    global_ptr: _Any,
    global_offset: _Any,
    bytes: _Any,
    barrier_id: _Any,
) -> _PrimExpr:
    """A call of `tir.ptx_cp_async_bulk`, for which no code is made here."""

def ptx_init_barrier_thread_count(barrier_id: _Any, thread_count: _Any) -> _PrimExpr:
    """A call of `tir.ptx_init_barrier_thread_count`, for which no code is made here."""

def ptx_ldmatrix(
    dtype: _DType | None,
    trans: _Any,
    num: _Any,
    type: _Any,
    local_ptr: _Any,
    local_offset: _Any,
    smem_ptr: _Any,
    smem_offset: _Any,
) -> _PrimExpr:
    """A call of `tir.ptx_ldmatrix`, for which no code is made here."""

def ptx_mma(
    dtype: _DType | None,
    shape: _Any,
    A_layout: _Any,
    B_layout: _Any,
    A_dtype: _DType | None,
    B_dtype: _DType | None,
    C_dtype: _DType | None,
    multiplicand_a: _Any,
    a_index: _Any,
    multiplicand_b: _Any,
    b_index: _Any,
    accumulator: _Any,
    c_index: _Any,
    saturate: _Any,
    operator: _Any = None,
) -> _PrimExpr:
    """A call of `tir.ptx_mma`, for which no code is made here."""

def ptx_mma_sp(
    dtype: _DType | None,
    shape: _Any,
    A_layout: _Any,
    B_layout: _Any,
    A_dtype: _DType | None,
    B_dtype: _DType | None,
    C_dtype: _DType | None,
    multiplicand_a: _Any,
    a_index: _Any,
    multiplicand_b: _Any,
    b_index: _Any,
    accumulator: _Any,
    c_index: _Any,
    metadata: _Any,
    meta_index: _Any,
    sparse_selector: _Any,
    saturate: _Any,
) -> _PrimExpr:
    """A call of `tir.ptx_mma_sp`, for which no code is made here."""

def ptx_wait_barrier(barrier_id: _Any) -> _PrimExpr:
    """A call of `tir.ptx_wait_barrier`, for which no code is made here."""

def ptx_wait_group(num: _Any) -> _PrimExpr:
    """A call of `tir.ptx_wait_group`, for which no code is made here."""

def q_multiply_shift(x: _Any, y: _Any, q: _Any, s: _Any) -> _PrimExpr:
    """A call of `tir.q_multiply_shift`."""

def q_multiply_shift_per_axis(
    x: _Any,
    y: _Any,
    ls: _Any,
    rs: _Any,
    q: _Any,
    is_lshift_required: _Any,
    is_rshift_required: _Any,
) -> _PrimExpr:
    """A call of `tir.q_multiply_shift_per_axis`."""

def reinterpret(dtype: _DType, value: _PrimExprLike) -> _PrimExpr:
    """The value of `dtype` with the same bits; one that has the dtype is itself."""

def ret(val: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.ret`; each operand is anything."""

def round(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.round`; each operand is a floating-point number."""

def rsqrt(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.rsqrt`; each operand is a floating-point number."""

def shift_left(a: _PrimExprLike, b: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.shift_left`; each operand is an integer."""

def shift_right(a: _PrimExprLike, b: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.shift_right`; each operand is an integer."""

def sigmoid(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.sigmoid`; each operand is a floating-point number."""

def simdgroup_load(
    d: _Any,
    index: _Any,
    ptr: _Any,
    stride: _Any,
    col: _Any = 8,
    row: _Any = 8,
    transpose_matrix: _Any = False,
) -> _PrimExpr:
    """A call of `tir.simdgroup_load`, for which no code is made here."""

def simdgroup_multiply_accumulate(
    d: _Any, index_d: _Any, a: _Any, index_a: _Any, b: _Any, index_b: _Any, c: _Any, index_c: _Any
) -> _PrimExpr:
    """A call of `tir.simdgroup_multiply_accumulate`, for which no code is made here."""

def simdgroup_store(
    d: _Any,
    index: _Any,
    ptr: _Any,
    stride: _Any,
    col: _Any = 8,
    row: _Any = 8,
    transpose_matrix: _Any = False,
) -> _PrimExpr:
    """A call of `tir.simdgroup_store`, for which no code is made here."""

def sin(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.sin`; each operand is a floating-point number."""

def sinh(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.sinh`; each operand is a floating-point number."""

def sqrt(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.sqrt`; each operand is a floating-point number."""

def start_profile_intrinsic(id: _Any) -> _PrimExpr:
    """A call of `tir.start_profile_intrinsic`, for which no code is made here."""

def tan(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.tan`; each operand is a floating-point number."""

def tanh(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.tanh`; each operand is a floating-point number."""

def trunc(x: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.trunc`; each operand is a floating-point number."""

def truncdiv(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """A `Div` of two scalars in their common dtype."""

def truncmod(a: _PrimExprLike, b: _PrimExprLike) -> _PrimExpr:
    """A `Mod` of two scalars in their common dtype."""

def tvm_access_ptr(ptype: _Any, data: _Any, offset: _Any, extent: _Any, rw_mask: _Any) -> _PrimExpr:
    """A call of `tir.tvm_access_ptr`, for which no code is made here."""

def tvm_bmma_sync(
    fragment_d: _Any,
    index_d: _Any,
    fragment_a: _Any,
    index_a: _Any,
    fragment_b: _Any,
    index_b: _Any,
    fragment_c: _Any,
    index_c: _Any,
) -> _PrimExpr:
    """A call of `tir.tvm_bmma_sync`, for which no code is made here."""

def tvm_call_cpacked(func_name: _Any, *args: _Any) -> _PrimExpr:
    """A call of `tir.tvm_call_cpacked`."""

def tvm_call_cpacked_lowered(func_name: _Any, *args: _Any) -> _PrimExpr:
    """A call of `tir.tvm_call_cpacked_lowered`, for which no code is made here."""

def tvm_call_packed(func_name: _Any, *args: _Any) -> _PrimExpr:
    """A call of `tir.tvm_call_packed`."""

def tvm_call_packed_lowered(func_name: _Any, *args: _Any) -> _PrimExpr:
    """A call of `tir.tvm_call_packed_lowered`, for which no code is made here."""

def tvm_check_return(expected: _Any, return_unexpected: _Any, nested_call: _Any) -> _PrimExpr:
    """A call of `tir.tvm_check_return`, for which no code is made here."""

def tvm_fill_fragment(
    fragment: _Any, m: _Any, n: _Any, k: _Any, index: _Any, value: _Any
) -> _PrimExpr:
    """A call of `tir.tvm_fill_fragment`, for which no code is made here."""

def tvm_load_matrix_sync(
    fragment: _Any,
    m: _Any,
    n: _Any,
    k: _Any,
    index: _Any,
    buffer_ptr: _Any,
    stride: _Any,
    layout: _Any,
) -> _PrimExpr:
    """A call of `tir.tvm_load_matrix_sync`, for which no code is made here."""

def tvm_mma_sync(
    fragment_d: _Any,
    index_d: _Any,
    fragment_a: _Any,
    index_a: _Any,
    fragment_b: _Any,
    index_b: _Any,
    fragment_c: _Any,
    index_c: _Any,
) -> _PrimExpr:
    """A call of `tir.tvm_mma_sync`, for which no code is made here."""

def tvm_stack_alloca(dtype_str: _Any, num: _Any) -> _PrimExpr:
    """A call of `tir.tvm_stack_alloca`, for which no code is made here."""

def tvm_stack_make_array(
    data: _Any, shape: _Any, strides: _Any, ndim: _Any, arr_dtype: _DType | None, elem_offset: _Any
) -> _PrimExpr:
    """A call of `tir.tvm_stack_make_array`, for which no code is made here."""

def tvm_stack_make_shape(*args: _Any) -> _PrimExpr:
    """A call of `tir.tvm_stack_make_shape`, for which no code is made here."""

def tvm_storage_sync(storage_scope: _Any, *args: _Any) -> _PrimExpr:
    """A call of `tir.tvm_storage_sync`, for which no code is made here."""

def tvm_store_matrix_sync(
    fragment: _Any,
    m: _Any,
    n: _Any,
    k: _Any,
    index: _Any,
    buffer_ptr: _Any,
    stride: _Any,
    layout: _Any,
) -> _PrimExpr:
    """A call of `tir.tvm_store_matrix_sync`, for which no code is made here."""

def tvm_struct_get(arr: _Any, index: _Any, field: _Any, dtype: _DType | None) -> _PrimExpr:
    """A call of `tir.tvm_struct_get`, for which no code is made here."""

def tvm_struct_set(arr: _Any, index: _Any, field: _Any, value: _Any) -> _PrimExpr:
    """A call of `tir.tvm_struct_set`, for which no code is made here."""

def tvm_thread_allreduce(*args: _Any) -> _PrimExpr:
    """A call of `tir.tvm_thread_allreduce`, for which no code is made here."""

def tvm_thread_invariant(cond: _PrimExprLike, *, dtype: _DType | None = None) -> _PrimExpr:
    """A call of `tir.tvm_thread_invariant`; each operand is anything."""

def tvm_throw_last_error() -> _PrimExpr:
    """A call of `tir.tvm_throw_last_error`, for which no code is made here."""

def tvm_tuple(*args: _Any) -> _PrimExpr:
    """A call of `tir.tvm_tuple`, for which no code is made here."""

def tvm_warp_activemask() -> _PrimExpr:
    """A call of `tir.tvm_warp_activemask`, for which no code is made here."""

def tvm_warp_shuffle(
    mask: _Any, value: _Any, warp_id: _Any, width: _Any, warp_size: _Any
) -> _PrimExpr:
    """A call of `tir.tvm_warp_shuffle`, for which no code is made here."""

def tvm_warp_shuffle_down(
    mask: _Any, value: _Any, offset: _Any, width: _Any, warp_size: _Any
) -> _PrimExpr:
    """A call of `tir.tvm_warp_shuffle_down`, for which no code is made here."""

def tvm_warp_shuffle_up(
    mask: _Any, value: _Any, offset: _Any, width: _Any, warp_size: _Any
) -> _PrimExpr:
    """A call of `tir.tvm_warp_shuffle_up`, for which no code is made here."""

def type_annotation(dtype: _DType | None) -> _PrimExpr:
    """A call of `tir.type_annotation`, for which no code is made here."""

def undef() -> _PrimExpr:
    """A call of `tir.undef`."""

def vectorcombine(dtype: _DType | None, vec1: _Any, vec2: _Any) -> _PrimExpr:
    """A call of `tir.vectorcombine`."""

def vectorhigh(dtype: _DType | None, vec: _Any) -> _PrimExpr:
    """A call of `tir.vectorhigh`."""

def vectorlow(dtype: _DType | None, vec: _Any) -> _PrimExpr:
    """A call of `tir.vectorlow`."""

def vscale() -> _PrimExpr:
    """A call of `tir.vscale`, for which no code is made here."""
