"""Packed functions: Python callables and C functions that Relax programs call by name.

The registry maps names to `PackedFunc`s for the whole process. A program looks a name up when the
call is evaluated, not when it is loaded. So functions may be registered, replaced and removed at
any time and from any thread.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeVar, overload

import numpy as np

from relaxscript.errors import VMError, meant_notes, nearest
from relaxscript.errors.exceptions import is_user_error

from .dlpack import DLTensor, dl_tensor
from .forks import lock_across_forks
from .values import Closure, DeviceTensor, Prim, kind_of

__all__ = [
    "PackedFunc",
    "convert",
    "get_global_func",
    "list_global_func_names",
    "register_func",
    "register_global_func",
    "remove_global_func",
]

__tracebackhide__ = is_user_error

F = TypeVar("F", bound=Callable[..., Any])


class PackedFunc:
    """A function outside the program: a name and what calling it does.

    It is called with run-time values (see values.py) and returns one; a destination-passing one
    writes into the arrays it is given and returns None. Compared by identity: looking a name up
    twice gives the same object.
    """

    __slots__ = ("__weakref__", "function", "name")
    name: str
    function: Callable[..., Any]

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise VMError(
                f"`{name}` cannot be a packed function: {kind_of(function)} cannot be called",
                code="RX0610",
            )
        self.name = name
        self.function = function.function if isinstance(function, PackedFunc) else function

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    def __repr__(self) -> str:
        return f"<packed function {self.name}>"

    @classmethod
    def from_ctypes(cls, name: str, function: Any) -> PackedFunc:
        """A C function (of `ctypes.CDLL`) as a packed function.

        Tensors are passed as pointers to their elements in C order, integers and bools as int64_t,
        floats as double. `Prim`s are passed in their own width, strings as `char const *`, the null
        object as NULL; declared `argtypes` win, and with `POINTER(DLTensor)` among them a tensor is
        passed as DLPack has it (dlpack.py). A tensor whose elements are not in C order is passed as
        a copy and written back. But a `DLTensor` says its strides. The result is that of `restype`,
        None where that is None or `c_int`: ctypes takes every undeclared function to return an int.
        """
        return cls(name, _CFunction(name, function))


class _CFunction:
    """Calls a C function with run-time values."""

    def __init__(self, name: str, function: Any) -> None:
        self.name = name
        self.function = function

    def __call__(self, *args: Any) -> Any:
        declared = self.function.argtypes or ()
        copies: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        passed = [
            self.passed(arg, declared[i] if i < len(declared) else None, copies)
            for i, arg in enumerate(args)
        ]
        result = self.function(*passed)
        for array, copy in copies:
            if array.flags.writeable:
                array[...] = copy
        return None if self.function.restype in (None, ctypes.c_int) else result

    def passed(self, arg: Any, declared: Any, copies: list[Any]) -> Any:
        """`arg` as the C function takes it; copies that must be written back go to `copies`."""
        match arg:
            case np.ndarray() | DeviceTensor():
                return self.tensor(arg, declared, copies)
            case None:
                return None
            case str():
                return arg.encode() if declared else ctypes.c_char_p(arg.encode())
            case Prim() if declared is None:
                return _C_TYPES[arg.dtype.numpy.name](arg.value) if _fits_c(arg) else arg.value
            case Prim():
                return arg.value
            case bool() | int() if declared is None:
                return ctypes.c_int64(arg)
            case float() if declared is None:
                return ctypes.c_double(arg)
            case bool() | int() | float():
                return arg
        raise VMError(
            f"`{self.name}` is a C function and cannot take {kind_of(arg)}", code="RX0610"
        )

    def tensor(self, arg: np.ndarray[Any, Any] | DeviceTensor, declared: Any, copies: Any) -> Any:
        """A tensor as a pointer to its elements, as a `DLTensor`, or as what checks it itself."""
        array = arg.data if isinstance(arg, DeviceTensor) else arg
        element = _element(declared)
        if element is DLTensor and all(step % array.itemsize == 0 for step in array.strides):
            return ctypes.pointer(dl_tensor(arg))
        if not array.flags.c_contiguous or element is DLTensor:
            copies.append((array, np.ascontiguousarray(array)))
            array = copies[-1][1]
        if element is DLTensor:
            return ctypes.pointer(dl_tensor(array))
        if element is not None and not _holds(element, array):
            text = f"`{self.name}` takes a pointer to {element.__name__}, got {kind_of(arg)}"
            raise VMError(text, code="RX0610")
        if element is None and declared not in (None, ctypes.c_void_p):
            return array  # `numpy.ctypeslib.ndpointer`, a class that checks what it is given
        return array.ctypes.data_as(declared or ctypes.c_void_p)


def _element(declared: Any) -> Any:
    """The type that a declared pointer points to; None for other types."""
    return getattr(declared, "_type_", None) if _is_pointer(declared) else None


def _is_pointer(declared: Any) -> bool:
    return isinstance(declared, type) and issubclass(declared, ctypes._Pointer)


def _holds(element: Any, array: np.ndarray[Any, Any]) -> bool:
    """True if memory of C's type `element` may be that of the array.

    `char` is any memory, a struct its declarer's affair, and an extension of numpy's types any of
    the same size.
    """
    try:
        wanted = np.dtype(element)
    except (TypeError, ValueError, NotImplementedError):
        return True
    if wanted.kind not in "iubf":
        return True
    alike = (wanted.kind == "f") == (array.dtype.kind == "f") or array.dtype.isbuiltin != 1
    return bool(alike and wanted.itemsize == array.itemsize)


_C_TYPES: dict[str, Any] = {
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
}


def _fits_c(arg: Prim) -> bool:
    if arg.dtype not in _C_TYPES:
        raise VMError(f"C has no type for {kind_of(arg)}", code="RX0610")
    return True


_lock = lock_across_forks()
_functions: dict[str, PackedFunc] = {}  # read without the lock: a lookup is one atomic step


@overload
def register_func(func_name: F, f: None = None, override: bool = False) -> F: ...
@overload
def register_func(func_name: str, f: F, override: bool = False) -> F: ...
@overload
def register_func(func_name: str, f: None = None, override: bool = False) -> Callable[[F], F]: ...
def register_func(func_name: Any, f: Any = None, override: bool = False) -> Any:
    """Register a callable under a name, so that `R.call_packed(name, ...)` finds it.

    `register_func("my.add", f)`, or as a decorator `@register_func("my.add")`, or bare
    `@register_func`, which takes the function's own name. The function comes back unchanged.
    Raises `VMError` when the name is taken and `override` is false.
    """
    if callable(func_name) and not isinstance(func_name, str):
        name = getattr(func_name, "__name__", None) or getattr(func_name, "name", None)
        if name is None:
            raise VMError(
                f'{kind_of(func_name)} has no name of its own; write `register_func("a.name", f)`',
                code="RX0610",
            )
        return _register(name, func_name, override)
    _require_name(func_name)
    if f is None:
        return lambda function: _register(func_name, function, override)
    return _register(func_name, f, override)


register_global_func = register_func  # TVM's name for it since 0.21


def convert(value: Any) -> Any:
    """A value of Python as a program has it: a function as a `PackedFunc`, a list as a tuple.

    What is a value of programs already is itself. TVM's name.
    """
    if isinstance(value, list):
        return tuple(map(convert, value))
    if callable(value) and not isinstance(value, (PackedFunc, Closure, type)):
        return PackedFunc(getattr(value, "__name__", type(value).__name__), value)
    return value


def _require_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        got = "an empty string" if name == "" else kind_of(name)
        raise VMError(f"the name of a packed function is a string, got {got}", code="RX0610")


def _register(name: str, function: F, override: bool) -> F:
    entry = function if isinstance(function, PackedFunc) else PackedFunc(name, function)
    with _lock:
        if name in _functions and not override:
            raise VMError(
                f"a packed function `{name}` is registered already; `override=True` replaces it",
                code="RX0610",
            )
        _functions[name] = entry
    return function


@overload
def get_global_func(name: str, allow_missing: Literal[False] = False) -> PackedFunc: ...
@overload
def get_global_func(name: str, allow_missing: bool) -> PackedFunc | None: ...
def get_global_func(name: str, allow_missing: bool = False) -> PackedFunc | None:
    """The packed function registered as `name`.

    The functions that every program may call, `vm.builtin.…`, are among them. Raises `VMError`,
    offering the nearest name, when there is none; gives None instead when `allow_missing` is true.
    """
    try:
        found = _functions.get(name)
    except TypeError:  # no key of a dictionary at all
        found = None
    if found is None and isinstance(name, str) and name.startswith("vm.builtin."):
        found = _builtin(name)
    if found is None and not (allow_missing and isinstance(name, str)):
        _require_name(name)
        raise missing_function_error(name)
    return found


@cache
def _builtin(name: str) -> PackedFunc | None:
    """A function that every program may call; it is no entry of the registry."""
    from .builtins import BUILTINS
    from .kv_cache.packed import CACHE_FUNCTIONS
    from .sampling import SAMPLING_FUNCTIONS

    found = BUILTINS.get(name) or CACHE_FUNCTIONS.get(name) or SAMPLING_FUNCTIONS.get(name)
    return None if found is None else PackedFunc(name, found)


def missing_function_error(name: str, others: tuple[str, ...] = ()) -> VMError:
    """The error that says that no packed function `name` exists, offering the nearest name."""
    near = nearest(name, [*list_global_func_names(), *others])
    notes = meant_notes(near)
    notes.append(f'`@relaxscript.register_func("{name}")` registers a Python function')
    return VMError(f"there is no packed function `{name}`", code="RX0603", notes=notes)


def list_global_func_names() -> list[str]:
    """The names of all registered packed functions, sorted."""
    with _lock:
        return sorted(_functions)


def remove_global_func(name: str) -> None:
    """Forget the packed function `name`; raises `VMError` when there is none."""
    _require_name(name)
    with _lock:
        found = _functions.pop(name, None)
    if found is None:
        raise missing_function_error(name)
