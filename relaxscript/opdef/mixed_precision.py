"""Operators in mixed precision: some compute with fewer bits, and add up in more.

Traits say which compute with the lower dtype: always, or if their operands come in it; all others
never do. Those that always do have a rule, `rule(call, out_dtype) -> Call`, for a call whose
operands come in the lower dtype. The result is of `out_dtype` where they have that parameter.
Source: the policies of TVM's `ToMixedPrecision`.
"""

from __future__ import annotations

from relaxscript.dtypes import DataType
from relaxscript.ir.relax import Attrs, Call

__all__ = ["in_dtype_of_operands", "with_out_dtype"]


def with_out_dtype(call: Call, out_dtype: DataType) -> Call:
    """The call whose products are added up in `out_dtype`, which is that of the result."""
    return call.replace(attrs=Attrs({**(call.attrs or {}), "out_dtype": out_dtype}))


def in_dtype_of_operands(call: Call, out_dtype: DataType) -> Call:
    """The call as it is, where the result has the dtype of the operands whatever is asked for."""
    return call
