"""Packed functions that every program may call: what bytecode does beside its four instructions.

They have TVM's names where TVM has them. A function that needs the shape heap takes the
state of the running call first (`vm_state()` in bytecode); checks and dimensions reach it as
constants:

    vm.builtin.match_cast(state, value, check, where, *shapes)   checks, binds, gives the value
    vm.builtin.make_shape(state, dims) · make_prim_value(state, dim, dtype)
    vm.builtin.make_closure(function, *captured) · closure_info(closure, info)
    vm.builtin.invoke_closure(function, *args)                   enters bytecode without recursion
    vm.builtin.constant(value)                                   a constant that may be written to
    vm.builtin.null_value()                                      also lets go of a register's value
    vm.builtin.alloc_storage(size, device, dtype)                bytes, which a machine may pool
    vm.builtin.memory_manager.clear()                            lets go of what the pool keeps
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import VMError
from relaxscript.errors.exceptions import is_user_error

from .packed_func import PackedFunc, get_global_func
from .run_check import (
    Check,
    Dim,
    DimConst,
    DimLoad,
    Heap,
    Origins,
    describe_dim,
    describe_variables,
    evaluate_dim,
    match,
)
from .values import (
    Closure,
    Device,
    DeviceTensor,
    Shape,
    cpu,
    device,
    format_values,
    is_tensor,
    kind_of,
    make_prim,
    tensor_dtype,
    to_device,
)

__all__ = [
    "BUILTINS", "INVOKE_CLOSURE", "MAKE_CLOSURE", "MATCH_ARGUMENTS", "MATCH_CAST", "MATCH_RESULT",
    "State", "allocating", "read_if_cond",
]  # fmt: skip

__tracebackhide__ = is_user_error

INVOKE_CLOSURE = "vm.builtin.invoke_closure"
MAKE_CLOSURE = "vm.builtin.make_closure"
MATCH_CAST = "vm.builtin.match_cast"
# The checks that the machine makes when it enters a function and when it leaves it.
MATCH_ARGUMENTS, MATCH_RESULT = "vm.builtin.match_arguments", "vm.builtin.match_result"
BUILTINS: dict[str, Callable[..., Any]] = {}
_HOST = cpu()


class State:
    """The state of a running call of a bytecode function, for builtins."""

    __slots__ = ("function", "heap", "origins")

    def __init__(self, function: str, heap: Heap, origins: Callable[[], Origins]) -> None:
        self.function = function
        self.heap = heap
        self.origins = origins


def _builtin(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        BUILTINS[name] = function
        return function

    return register


def _wrong(name: str, text: str) -> VMError:
    return VMError(f"`{name}`: {text}", code="RX0606")


# -- shapes and scalars ------------------------------------------------------------------------


@_builtin("vm.builtin.make_shape")
def make_shape(*args: Any) -> Shape:
    """A shape of integers, or from `(state, dims)` of dimensions that variables determine."""
    if not args or not isinstance(args[0], State):
        return Shape(args)
    state, dims = args
    heap, sizes = state.heap, []
    for axis, dim in enumerate(dims):  # type tests, not patterns: kernels wait for this
        kind = type(dim)
        size = heap[dim.slot] if kind is DimLoad else dim.value if kind is DimConst else None
        if type(size) is not int or size < 0:
            size = _dimension(dim, axis, state)
        sizes.append(size)
    return Shape.of_sizes(sizes)


def _dimension(dim: Dim, axis: int, state: State) -> int:
    size = _compute_dim(dim, state, f"dimension {axis} of a shape")
    if size < 0:
        why = describe_variables(dim, state.heap, state.origins())
        raise VMError(
            f"dimension {axis} of a shape, `{describe_dim(dim)}`, is {size}{why}", code="RX0605"
        )
    return int(size)


def _compute_dim(dim: Dim, state: State, noun: str) -> int | float:
    try:
        return evaluate_dim(dim, state.heap)
    except ArithmeticError as error:
        why = describe_variables(dim, state.heap, state.origins())
        raise VMError(
            f"{noun}, `{describe_dim(dim)}`, cannot be computed{why}: {error}", code="RX0605"
        ) from error


@_builtin("vm.builtin.make_prim_value")
def make_prim_value(state: State, dim: Dim, dtype: Any) -> Any:
    """The scalar that `dim` computes from shape variables."""
    return make_prim(_compute_dim(dim, state, "a scalar"), dtype)


@_builtin(MATCH_CAST)
def match_cast(state: State, value: Any, check: Check, where: str, *shapes: Any) -> Any:
    """Check a value and bind shape variables (spec, Evaluating MatchCast); gives the value."""
    match(value, check, state.heap, where, shapes, state.origins)
    return value


@_builtin(MATCH_ARGUMENTS)
def match_arguments(state: State, *values: Any) -> tuple[Any, ...]:
    """The arguments of a call: the machine checked them when the function was entered."""
    return values


@_builtin(MATCH_RESULT)
def match_result(state: State, value: Any) -> Any:
    """The result of a function: the machine checks it when the function is left."""
    return value


@_builtin("vm.builtin.shape_of")
def shape_of(tensor: Any) -> Shape:
    """The shape of a tensor."""
    return Shape(_tensor("vm.builtin.shape_of", tensor).shape)


@_builtin("vm.builtin.tensor_to_shape")
def tensor_to_shape(tensor: Any) -> Shape:
    """The shape whose dimensions are the elements of an integer tensor of rank 1."""
    name = "vm.builtin.tensor_to_shape"
    array = _host(_tensor(name, tensor))
    dtype = tensor_dtype(array)
    if array.ndim != 1 or dtype is None or not dtype.is_integer:
        raise _wrong(name, f"expected a tensor of integers of rank 1, got {kind_of(tensor)}")
    return Shape(int(i) for i in array)


@_builtin("relax.run.shape_to_tensor")
def shape_to_tensor(shape: Any) -> Any:
    """An int64 tensor of rank 1 with the dimensions of a shape."""
    return np.array(_shape("relax.run.shape_to_tensor", shape), dtype=np.int64)


# -- tuples and other values -----------------------------------------------------------------------


@_builtin("vm.builtin.make_tuple")
def make_tuple(*fields: Any) -> tuple[Any, ...]:
    """A tuple of the values."""
    return fields


@_builtin("vm.builtin.tuple_getitem")
def tuple_getitem(value: Any, index: int) -> Any:
    """Field `index` of a tuple."""
    name = "vm.builtin.tuple_getitem"
    if not isinstance(value, tuple) or isinstance(value, Shape):
        raise _wrong(name, f"expected a tuple, got {kind_of(value)}")
    if not 0 <= index < len(value):
        raise _wrong(name, f"{kind_of(value)} has no field {index}")
    return value[index]


@_builtin("vm.builtin.copy")
def copy(value: Any) -> Any:
    """The value itself: moves it from register to register."""
    return value


@_builtin("vm.builtin.null_value")
def null_value() -> None:
    """The null object; written into a register it also lets go of what was there."""


@_builtin("vm.builtin.constant")
def constant(value: Any) -> Any:
    """A constant as a new value that may be written to (spec: evaluating `Constant` makes one)."""
    match value:
        case np.ndarray():
            return value.copy()
        case DeviceTensor():
            return DeviceTensor(value.numpy(), value.device)
        case Shape():
            return value
        case tuple():
            return tuple(map(constant, value))
    return value


# -- functions -------------------------------------------------------------------------------------


@_builtin(MAKE_CLOSURE)
def make_closure(function: Any, *captured: Any) -> Closure:
    """A closure of `function` whose last arguments are the captured values."""
    if not isinstance(function, Closure):
        raise _wrong("vm.builtin.make_closure", f"expected a closure, got {kind_of(function)}")
    return function.bind(captured)


@_builtin("vm.builtin.closure_info")
def closure_info(closure: Any, info: Any) -> Closure:
    """The same closure with other run-time structural information."""
    if not isinstance(closure, Closure):
        raise _wrong("vm.builtin.closure_info", f"expected a closure, got {kind_of(closure)}")
    return closure.bind((), info)


@_builtin(INVOKE_CLOSURE)
def invoke_closure(function: Any, *args: Any) -> Any:
    """Call a closure or a packed function that is known as a value only."""
    if isinstance(function, State):  # TVM passes the state of the machine first
        function, *rest = args
        return invoke_closure(function, *rest)
    if not isinstance(function, (Closure, PackedFunc)):
        raise VMError(f"{kind_of(function)} cannot be called", code="RX0613")
    return function(*args)


@_builtin("vm.builtin.call_tir_dyn")
def call_tir_dyn(function: Any, *args: Any) -> None:
    """Call a kernel with tensors and the dimensions of the last argument, a shape."""
    *tensors, shape = args
    invoke_closure(function, *tensors, *_shape("vm.builtin.call_tir_dyn", shape))


@_builtin("vm.builtin.read_if_cond")
def read_if_cond(condition: Any) -> bool:
    """The truth of a condition: a Bool scalar, as a tensor of rank 0 or a scalar."""
    match condition:
        case bool():
            return condition
        case np.ndarray() | DeviceTensor() if condition.dtype == np.bool_ and condition.ndim == 0:
            return bool(_host(condition))
    raise VMError(
        f"the condition of an `if` must be a Bool scalar, got {kind_of(condition)}", code="RX0605"
    )


# -- tensors ---------------------------------------------------------------------------------------


@_builtin("vm.builtin.alloc_tensor")
def alloc_tensor(shape: Any, dtype: Any, where: Any = _HOST, *last: Any) -> Any:
    """A new tensor of zeros: what a callee does not write is the same on every run.

    Or, from `(storage, offset, shape, dtype)`, the tensor that begins there in a storage.
    """
    if type(shape) is np.ndarray and len(last) == 1:
        return _tensor_in_storage(shape, dtype, where, last[0])
    sizes = _shape("vm.builtin.alloc_tensor", shape)
    try:
        array = np.zeros(sizes, (dtype if type(dtype) is DataType else DataType(dtype)).numpy)
    except (MemoryError, ValueError) as error:
        raise VMError(
            f"cannot allocate a tensor of shape {tuple(sizes)} and dtype {dtype}: {error}",
            code="RX0606",
        ) from error
    if where is _HOST:
        return array
    place = device(where)
    return array if place.is_host else DeviceTensor(array, place)


def _tensor_in_storage(storage: Any, offset: Any, shape: Any, dtype: Any) -> Any:
    name = "vm.builtin.alloc_tensor"
    sizes, kind = _shape(name, shape), DataType(dtype)
    needed = math.prod(sizes) * kind.itemsize
    if type(offset) is not int or offset < 0 or offset + needed > storage.nbytes:
        text = f"{needed} bytes from {offset} on are not in a storage of {storage.nbytes} bytes"
        raise _wrong(name, text)
    return storage[offset : offset + needed].view(kind.numpy).reshape(sizes)


@_builtin("vm.builtin.alloc_storage")
def alloc_storage(*args: Any) -> Any:
    """A storage for as many elements as a tensor of a shape has: zero bytes on the host.

    Takes the shape, the index of a device, a dtype and a scope; a machine with a pool uses
    storages again: `allocating`.
    """
    return _new_storage(lambda count: np.zeros(count, np.uint8), *args)


def allocating(allocate: Callable[[int], Any]) -> Callable[..., Any]:
    """`vm.builtin.alloc_storage` on memory that `allocate` gives, by the number of bytes."""
    return lambda *args: _new_storage(allocate, *args)


def _new_storage(allocate: Callable[[int], Any], *args: Any) -> Any:
    name = "vm.builtin.alloc_storage"
    given = args[1:] if args and isinstance(args[0], State) else args  # TVM passes the state first
    if not 3 <= len(given) <= 4:
        raise _wrong(name, f"expected a shape, a device, a dtype and a scope, got {len(given)}")
    count = math.prod(_shape(name, given[0])) * DataType(given[2]).itemsize
    try:
        return allocate(count)
    except (MemoryError, OverflowError, ValueError) as error:
        text = f"cannot allocate a storage of {count} bytes: {error}"
        raise VMError(text, code="RX0606") from error


@_builtin("vm.builtin.reshape")
def reshape(tensor: Any, shape: Any) -> Any:
    """The tensor with another shape of the same size; shares memory where that is possible."""
    name = "vm.builtin.reshape"
    sizes = _shape(name, shape)
    _tensor(name, tensor)
    array = tensor.data if isinstance(tensor, DeviceTensor) else tensor
    if array.size != int(np.prod(sizes, dtype=object)):
        raise _wrong(name, f"{kind_of(tensor)} cannot take the shape {tuple(sizes)}")
    result = array.reshape(sizes)
    return DeviceTensor(result, tensor.device) if isinstance(tensor, DeviceTensor) else result


@_builtin("vm.builtin.to_device")
def move(value: Any, where: str | Device) -> Any:
    """A tensor copied to a device; itself when it is there already; of a tuple each field."""
    if type(value) is tuple:
        return tuple(move(field, where) for field in value)
    return to_device(_tensor("vm.builtin.to_device", value), device(where))


@_builtin("vm.builtin.memory_manager.clear")
def clear_memory() -> tuple[()]:
    """Let go of the memory that the pool of the machine keeps; here there is none."""
    return ()


# -- talking ---------------------------------------------------------------------------------------


@_builtin("relax.run.print")
def run_print(form: str, *values: Any) -> None:
    """Print values to standard output, in the places of `form` if it is not empty."""
    print(format_values(form, values))


@_builtin("relax.run.assert_op")
def assert_op(condition: Any, form: str = "", *values: Any) -> None:
    """Fail, with the message that `form` makes of the values, unless the Bool scalar is true."""
    name = "relax.run.assert_op"
    if not (isinstance(condition, bool) or (is_tensor(condition) and condition.ndim == 0)):
        raise _wrong(name, f"the condition must be a Bool scalar, got {kind_of(condition)}")
    if not read_if_cond(condition):
        text = format_values(form, values)
        raise VMError("Assertion Failed" + (f": {text}" if text else ""), code="RX0611")


@_builtin("vm.builtin.invoke_debug_func")
def invoke_debug_func(state: Any, name: str, line: str, *args: Any) -> Any:
    """Call the packed function `name` with the line that it is for, and then `args`.

    Gives the state, an object that keeps such calls in their order.
    """
    get_global_func(name).function(line, *args)
    return state


@_builtin("vm.builtin.debug_print")
def debug_print(line: str, tensor: Any) -> None:
    """Print a tensor with the line that it is for."""
    found = _tensor("vm.builtin.debug_print", tensor)
    about = f"shape = {tuple(found.shape)}, dtype = {tensor_dtype(found)}"
    print(f"{line}: {about}, data =\n{format_values('', (found,))}")


def _tensor(name: str, value: Any) -> Any:
    if not is_tensor(value):
        raise _wrong(name, f"expected a tensor, got {kind_of(value)}")
    return value


def _shape(name: str, value: Any) -> Shape:
    if not isinstance(value, Shape):
        raise _wrong(name, f"expected a shape, got {kind_of(value)}")
    return value


def _host(value: Any) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = value.data if isinstance(value, DeviceTensor) else value
    return array
