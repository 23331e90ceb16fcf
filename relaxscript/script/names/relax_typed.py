"""Annotations for type checkers and editors: `R.Tensor[R.f32, n, 4]` and its kin of `T.`.

    n = R.dim("n")

    @R.function
    def main(x: R.Tensor[R.f32, n, 4]) -> R.Tensor[R.f32, n * 2, 4]: ...

For them `R.Tensor` is `typing.Annotated` and the dtypes are `typing.Any` (see `relax.pyi`), so that
dimensions may be any expressions; `T.Buffer` is the same, and its dtypes are what a buffer can do
(see `tir.pyi`). For us a dtype is a `DataType`, as good as its name wherever a dtype is expected. A
dimension is a variable.
"""

from __future__ import annotations

from relaxscript.dtypes import DataType
from relaxscript.ir.prim import INT64, Var

from .safe_callables import safe_callables

# The dtypes by their short names.
DTYPES = (
    "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bf16",
    "f8_e4m3fn", "f8_e5m2",
)  # fmt: skip

__all__ = ["dim", *DTYPES]

# fmt: off
bool     = DataType("bool")
i8       = DataType("int8")
i16      = DataType("int16")
i32      = DataType("int32")
i64      = DataType("int64")
u8       = DataType("uint8")
u16      = DataType("uint16")
u32      = DataType("uint32")
u64      = DataType("uint64")
f16      = DataType("float16")
f32      = DataType("float32")
f64      = DataType("float64")
bf16     = DataType("bfloat16")
f8_e4m3fn = DataType("float8_e4m3fn")
f8_e5m2   = DataType("float8_e5m2")
# fmt: on


def dim(name: str) -> Var:
    """A dimension of tensors, known by its name: each function that uses it has one of its own.

    Arithmetic of dimensions is one too: `n * 2`. Raises `ValueError` for what is no name.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"a dimension has a name such as `n`, not {name!r}")
    return Var.make(name, INT64)


safe_callables(dim)
