"""Calls of packed functions from PrimFuncs: `T.call_packed("my.log", A, n)`.

The function is looked up by its name each time. It gets numbers, strings, and arrays over the
memory of buffers, into which it may write while the call lasts. A buffer is written in the call as
TVM writes it, with its address and its shape:
`T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(4, 4), ...)`. The result is an int32, where
None is 0. When the function fails, the error names it and the line of the call.

`PackedCall` hands over the operands of one call as a flat list of words. Each executor fills the
words in its own way.
"""

from __future__ import annotations

import ctypes
import gc
import operator
import weakref
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import VMError
from relaxscript.ir import hooks, prim
from relaxscript.runtime import get_global_func
from relaxscript.runtime.coercion import call_packed
from relaxscript.runtime.values import kind_of

from . import scalar, tir_errors

__all__ = ["PackedCall"]

hooks.packed_func_named.fill(get_global_func)


class _Operand(NamedTuple):
    """An operand as it is put together from the words: a string, a number, or an array."""

    kind: str
    text: str = ""
    dtype: DataType = DataType("int64")
    ndim: int = 0


class PackedCall:
    """A call of a packed function; `words` are the scalars and addresses that it needs."""

    def __init__(self, e: prim.Call) -> None:
        name = e.args[0]
        assert isinstance(name, prim.StringImm)  # `check_arity` has seen to it
        self.name = name.value
        self.span = e.span
        self.words: list[prim.PrimExpr] = []
        self.operands = [self._operand(arg) for arg in e.args[1:]]

    def _operand(self, e: prim.PrimExpr) -> _Operand:
        match e:
            case prim.StringImm(value=text):
                return _Operand("text", text)
            case prim.Call(op="tir.tvm_stack_make_array", args=args) if len(args) == 6:
                return self._array(e, *args)
        numeric = e.dtype.is_integer or e.dtype.is_float or e.dtype.is_bool
        if not numeric or e.dtype.lanes != 1:
            message = f"a packed function cannot take values of {e.dtype}"
            raise tir_errors.invalid("RX0505", message, e.span or self.span)
        self.words.append(e)
        return _Operand("number", dtype=e.dtype)

    def _array(self, e: prim.Call, data: Any, shape: Any, strides: Any, *more: Any) -> _Operand:
        _, element, offset = more
        known = isinstance(shape, prim.Call) and shape.op == "tir.tvm_stack_make_shape"
        plain = all(isinstance(x, prim.IntImm) and x.value == 0 for x in (strides, offset))
        if not known or not plain:
            message = "a packed function takes arrays that are compact and begin at their address"
            raise tir_errors.invalid("RX0505", message, e.span or self.span)
        self.words += [data, *shape.args]
        return _Operand("array", dtype=element.dtype, ndim=len(shape.args))

    def __call__(self, words: Sequence[Any]) -> int:
        """Call the function; the words are Python's numbers, addresses among them.

        Raises `VMError`: RX0603 where nothing has that name, and RX0604 for what it raised. It is
        RX0614 for a result that is no integer and for arrays that it keeps.
        """
        try:
            function = get_global_func(self.name).function
            rest, lent = iter(words), list[weakref.ref[Any]]()
            args = [self._make_operand(operand, rest, lent) for operand in self.operands]
            result = self._int32(call_packed(self.name, function, args))
            args.clear()
            self._require_returned(lent)
            return result
        except VMError as error:
            error.locate(self.span)
            raise

    def _int32(self, result: Any) -> int:
        """The result of the function as the PrimFunc gets it."""
        if result is None:
            return 0
        try:
            number = operator.index(result)
        except TypeError:
            text = f"`{self.name}` returned {kind_of(result)}, but a PrimFunc gets an int32 or None"
            raise VMError(text, code="RX0614") from None
        return scalar.wrapping(DataType("int32"))(number)

    def _require_returned(self, lent: list[weakref.ref[Any]]) -> None:
        """Refuse that something still holds an array: its memory may be gone soon."""
        if any(array() is not None for array in lent):
            gc.collect()  # a cycle of garbage holds nothing
        if any(array() is not None for array in lent):
            text = f"`{self.name}` keeps an array over the memory of the PrimFunc that called it"
            raise VMError(text, code="RX0614", notes=["`array.copy()` may be kept"])

    def _make_operand(
        self, operand: _Operand, words: Iterator[Any], lent: list[weakref.ref[Any]]
    ) -> Any:
        match operand.kind:
            case "text":
                return operand.text
            case "number":
                return next(words)
        address, shape = next(words), tuple(next(words) for _ in range(operand.ndim))
        dtype = operand.dtype.numpy
        size = prod(shape) * dtype.itemsize
        if size <= 0:
            return np.empty(shape, dtype)
        memory = (ctypes.c_char * size).from_address(address)
        whole = np.frombuffer(memory, dtype)
        lent.append(weakref.ref(whole))
        return whole.reshape(shape)  # this and all its views hold `whole`
