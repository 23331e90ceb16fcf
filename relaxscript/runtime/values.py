"""Values at run time: what a Relax variable holds while a program runs.

    tensor on the host (cpu:0)      numpy.ndarray (bfloat16 and the small floats by ml_dtypes)
    tensor on any other device      DeviceTensor
    tuple · unit                    tuple · ()
    shape                           Shape, a subclass of tuple
    prim of int64, float64, bool    int, float, bool
    prim of another dtype       Prim
    closure                         Closure
    packed function                 PackedFunc (packed_func.py)
    string · dtype · null       str · DataType · None
    object                          anything else, passed around untouched

Everything in the package may import this file. Start at `kind_of` for the words in which values are
described. See `to_tensor` for the values that users may pass where a tensor is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType
from typing import Any, ClassVar, cast

import numpy as np

from relaxscript.dtypes import DataType, is_masked
from relaxscript.errors import DiagnosticError, VMError, markup, quantity
from relaxscript.format_string import fill

__all__ = [
    "DEVICE_ALIASES", "DEVICE_KINDS", "Closure", "Device", "DeviceTensor", "Prim", "Shape",
    "ShapeTuple", "Tensor", "absent_device", "cpu", "device", "format_value", "format_values",
    "has_method", "is_tensor", "kind_of", "make_prim", "prim_dtype", "prim_value", "tensor_device",
    "tensor_dtype", "to_device", "to_tensor",
]  # fmt: skip

_INT64 = DataType("int64")
_FLOAT64 = DataType("float64")
_BOOL = DataType("bool")
_DLPACK_CPU = 1  # kDLCPU of the DLPack standard


class Shape(tuple[int, ...]):
    """A shape value: the dimensions of a tensor, each an integer >= 0.

    A tuple subclass, so it indexes and compares like one, but never matches where a tuple value is
    wanted. Raises `VMError` for a dimension that is negative or no integer.
    """

    __slots__ = ()

    def __new__(cls, dims: Iterable[int] = ()) -> Shape:
        return super().__new__(cls, [_dimension(dim) for dim in dims])

    @classmethod
    def of_sizes(cls, sizes: Iterable[int]) -> Shape:
        """The shape of dimensions that are known to be ints >= 0."""
        return super().__new__(cls, sizes)

    def __repr__(self) -> str:
        return f"Shape([{', '.join(map(str, self))}])"

    def __reduce__(self) -> tuple[type[Shape], tuple[tuple[int, ...]]]:
        return (Shape, (tuple(self),))


ShapeTuple = Shape  # TVM's name for it


def _dimension(dim: object) -> int:
    if type(dim) is not int:
        if isinstance(dim, (bool, np.bool_)) or not isinstance(dim, (int, np.integer)):
            raise VMError(
                f"a shape consists of integers, got {kind_of(dim)} ({dim!r})", code="RX0608"
            )
        dim = int(dim)
    if dim < 0:
        raise VMError(f"a dimension of a shape cannot be negative, got {dim}", code="RX0608")
    if dim >= 1 << 63:
        raise VMError(f"a dimension of a shape does not fit 64 bits, got {dim}", code="RX0608")
    return dim


class Prim:
    """A scalar whose dtype is not one that Python's own scalars stand for.

    `Prim(5, "int32")`; the value is rounded to a float type's precision and must fit an integer
    type. Values of int64, float64 and bool are plain `int`, `float`, `bool`: `make_prim` chooses.
    Immutable; equal when value and dtype are.
    """

    __slots__ = ("dtype", "value")
    dtype: DataType
    value: int | float

    def __init__(self, value: int | float, dtype: str) -> None:
        name = _prim_type(dtype)
        if name in (_INT64, _FLOAT64, _BOOL):
            plain = {"int64": "int", "float64": "float", "bool": "bool"}[name]
            raise VMError(f"a scalar of {name} is a plain Python {plain}", code="RX0608")
        object.__setattr__(self, "dtype", name)
        object.__setattr__(self, "value", _fit(value, name))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Prim is immutable; `{name}` cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Prim is immutable; `{name}` cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prim):
            return NotImplemented
        return self.dtype is other.dtype and self.value == other.value

    def __hash__(self) -> int:
        return hash((self.dtype, self.value))

    def __repr__(self) -> str:
        return f'Prim({self.value!r}, "{self.dtype}")'

    def __reduce__(self) -> tuple[type[Prim], tuple[int | float, str]]:
        return (Prim, (self.value, str(self.dtype)))

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        if not isinstance(self.value, int):
            raise TypeError(f"{self!r} is no integer")
        return self.value


def _prim_type(dtype: str) -> DataType:
    try:
        name = DataType(dtype)
    except ValueError as error:
        raise VMError(f"a scalar needs a dtype: {error}", code="RX0608") from None
    if name.lanes != 1 or name.kind in ("void", "handle"):
        raise VMError(f'a scalar cannot have the dtype "{name}"', code="RX0608")
    return name


def _fit(value: int | float, dtype: DataType) -> int | float:
    """`value` as `dtype` holds it; raises where an integer type cannot hold it."""
    if dtype.is_float:
        if not isinstance(value, (int, float, np.number)):
            raise VMError(f"{kind_of(value)} is no value of {dtype}", code="RX0608")
        return float(np.asarray(value).astype(dtype.numpy).astype(np.float64))
    if isinstance(value, (float, np.floating)) or not isinstance(value, (int, np.integer)):
        raise VMError(f"{value!r} is no value of {dtype}", code="RX0608")
    whole = int(value)
    low, high = (-(1 << dtype.bits - 1), (1 << dtype.bits - 1) - 1)
    if dtype.kind == "uint":
        low, high = 0, (1 << dtype.bits) - 1
    if not low <= whole <= high:
        raise VMError(f"{whole} does not fit {dtype} ({low} to {high})", code="RX0608")
    return whole


def make_prim(value: int | float | bool, dtype: str) -> int | float | bool | Prim:
    """The scalar `value` of dtype `dtype`, as it is represented at run time."""
    name = _prim_type(dtype)
    if name is _BOOL:
        if value not in (0, 1):
            raise VMError(f"{value!r} is no value of bool", code="RX0608")
        return bool(value)
    if name in (_INT64, _FLOAT64):
        return _fit(value, name)
    return Prim(value, name)


def prim_dtype(value: object) -> DataType | None:
    """The dtype of a scalar, or None when `value` is no scalar.

    A Python int that does not fit 64 bits is no scalar. A numpy scalar is none either (it stands
    for a tensor of rank 0).
    """
    match value:
        case bool():
            return _BOOL
        case int():
            return _INT64 if -(1 << 63) <= value < 1 << 63 else None
        case np.generic():  # numpy.float64 is a subclass of float
            return None
        case float():
            return _FLOAT64
        case Prim():
            return value.dtype
    return None


def prim_value(value: object) -> int | float | bool | None:
    """The number in a scalar, or None when `value` is no scalar."""
    if isinstance(value, Prim):
        return value.value
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        return value
    return None


# Kinds of devices by the numbers that DLPack has for them, and what else they are called.
DEVICE_KINDS = {
    1: "cpu", 2: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", 9: "vpi", 10: "rocm", 12: "ext_dev",
    15: "webgpu", 16: "hexagon",
}  # fmt: skip
DEVICE_ALIASES = {"llvm": "cpu", "c": "cpu", "gpu": "cuda", "nvptx": "cuda", "cl": "opencl"}


class Device:
    """A place where tensors live: a kind and an index, written `cpu:0`. Equal by value.

    Devices of any kind have names; only those of the kind `cpu` `exist`. `llvm`, the target that
    compiles for it, is an alias.
    """

    __slots__ = ("index", "kind")
    kind: str
    index: int
    KINDS: ClassVar[tuple[str, ...]] = ("cpu", "llvm")  # of the devices that exist

    def __init__(self, kind: str, index: int = 0) -> None:
        named = DEVICE_ALIASES.get(kind, kind)
        if named not in DEVICE_KINDS.values():
            known = ", ".join(DEVICE_KINDS.values())
            raise VMError(f"there is no device of kind `{kind}`; known: {known}", code="RX0608")
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
            raise VMError(f"the index of a device is an int, got {kind_of(index)}", code="RX0608")
        if index < 0:
            raise VMError(f"the index of a device cannot be negative, got {index}", code="RX0608")
        self.kind = named
        self.index = int(index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return (self.kind, self.index) == (other.kind, other.index)

    def __hash__(self) -> int:
        return hash((self.kind, self.index))

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"

    def __repr__(self) -> str:
        return f'device("{self}")'

    @property
    def is_host(self) -> bool:
        """True if tensors on this device are plain numpy arrays."""
        return self.index == 0 and self.kind == "cpu"

    @property
    def exist(self) -> bool:
        """True if there is such a device here."""
        return self.kind in self.KINDS

    @property
    def device_type(self) -> int:
        """The number of its kind in DLPack."""
        return next(number for number, kind in DEVICE_KINDS.items() if kind == self.kind)

    @property
    def device_id(self) -> int:
        """TVM's name of `index`."""
        return self.index

    def sync(self, stream: object = None) -> None:
        """Wait until all that was called is done: calls return then, so nothing is left to do."""


def cpu(dev_id: int = 0) -> Device:
    """The CPU device of that index; `cpu(0)` is the host."""
    return Device("cpu", dev_id)


_DEVICE = re.compile(r"(?P<kind>[A-Za-z_]\w*)(?::(?P<index>\d+)(?::\w+)?)?")


def device(dev_type: str | Device, dev_id: int | None = None) -> Device:
    """The device that a string such as `"cpu"`, `"cpu:1"` or `"llvm:0:global"` names."""
    if isinstance(dev_type, Device):
        return dev_type
    found = _DEVICE.fullmatch(dev_type) if isinstance(dev_type, str) else None
    if found is None:
        named = f'"{dev_type}"' if isinstance(dev_type, str) else kind_of(dev_type)
        text = f'{named} names no device; write a kind and an index, as in "cpu:1"'
        raise VMError(text, code="RX0608")
    return Device(found["kind"], int(found["index"] or 0) if dev_id is None else dev_id)


def absent_device(named: Device) -> VMError:
    """The error for a device that is wanted and of which there is none."""
    known = ", ".join(Device.KINDS)
    return VMError(f"there is no device of kind `{named.kind}` here; known: {known}", code="RX0608")


class DeviceTensor:
    """A tensor on a device other than the host; it wraps the array that holds its elements.

    `.numpy()` copies it to the host. It speaks DLPack: on a CPU of any index, consumers share the
    memory.
    """

    __slots__ = ("__weakref__", "_array", "device")
    device: Device

    def __init__(self, array: np.ndarray[Any, Any], device: Device) -> None:
        self._array = array
        self.device = device

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return cast("np.dtype[Any]", self._array.dtype)

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def data(self) -> np.ndarray[Any, Any]:
        """The elements where they are, not copied: for kernels of this device."""
        return self._array

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy on the host."""
        return self._array.copy()

    def __repr__(self) -> str:
        return f"DeviceTensor(shape={self.shape}, dtype={self.dtype.name}, device={self.device})"

    def _repr_html_(self) -> str:
        return markup.tensor(self.shape, (self.dtype.name, self.device), str(self._array))

    def __dlpack__(self, **options: Any) -> Any:
        # The memory is the host's whatever the index, and that is what the capsule says: consumers
        # know one CPU only and refuse the capsule of another.
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_DLPACK_CPU, self.device.index)


Tensor = np.ndarray | DeviceTensor


class Closure:
    """A function value: a name, what calling it does, and its run-time structural information.

    `info` is opaque here: whoever makes the closure and whoever checks it agree on what it is.
    Compared by identity.
    """

    __slots__ = ("__weakref__", "call", "info", "name")

    def __init__(self, name: str, call: Callable[..., Any], info: object = None) -> None:
        self.name = name
        self.call = call
        self.info = info

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)

    def bind(self, captured: tuple[Any, ...], info: object = None) -> Closure:
        """The closure whose last arguments are `captured`; `info` replaces its own unless None."""
        call = self.call

        def bound(*args: Any, **kwargs: Any) -> Any:
            return call(*args, *captured, **kwargs)

        return Closure(self.name, bound if captured else call, self.info if info is None else info)

    def __repr__(self) -> str:
        return f"<closure {self.name}>"


def closure_behind(value: Any) -> Any:
    """The closure for which a built-in function of ours stands; any other value is itself."""
    if type(value) is BuiltinFunctionType and isinstance(value.__self__, Closure):
        return value.__self__
    return value


_HOST = Device("cpu", 0)
_dtype_of: dict[np.dtype[Any], DataType | None] = {}


def _array_dtype(dtype: np.dtype[Any]) -> DataType | None:
    """The dtype of an array's elements, None for what no tensor holds (objects, text ...)."""
    try:
        return _dtype_of[dtype]
    except KeyError:
        pass
    try:
        found = DataType(dtype.name) if dtype.isnative else None
    except ValueError:
        found = None
    return _dtype_of.setdefault(dtype, found)


def tensor_dtype(value: object) -> DataType | None:
    """The dtype of a tensor's elements, or None when `value` is no tensor."""
    if type(value) is np.ndarray or type(value) is DeviceTensor:
        return _array_dtype(value.dtype)
    if isinstance(value, np.ndarray) and not is_masked(value):
        return _array_dtype(value.dtype)
    return None


def is_tensor(value: object) -> bool:
    """True if `value` is a tensor: an array (on any device) whose elements a tensor may hold."""
    return tensor_dtype(value) is not None


def tensor_device(value: np.ndarray[Any, Any] | DeviceTensor) -> Device:
    """The device on which a tensor is."""
    return value.device if isinstance(value, DeviceTensor) else _HOST


def to_device(value: np.ndarray[Any, Any] | DeviceTensor, target: Device) -> Any:
    """A copy of the tensor on `target`; the tensor itself when it is there already."""
    if tensor_device(value) == target:
        return value
    if not target.exist:
        raise absent_device(target)
    array = value.numpy() if isinstance(value, DeviceTensor) else value.copy()
    return array if target.is_host else DeviceTensor(array, target)


def has_method(value: object, protocol: str) -> bool:
    """True if an object has a method; one that fails when it is asked has none."""
    try:
        return hasattr(value, protocol)
    except RecursionError:
        raise
    except Exception:
        return False


def to_tensor(value: Any) -> Any:
    """The tensor that a user's value stands for, sharing its memory where that is possible.

    Takes arrays and `DeviceTensor`s as they are, and numpy scalars as tensors of rank 0. Objects
    that speak DLPack or have `__array__` (tensors of torch, jax ...) are converted. Arrays in
    foreign byte order are converted. Raises `VMError` for anything else: Python numbers are
    scalars, lists nothing.
    """
    match value:
        case np.ndarray():
            return _to_plain_array(value)
        case DeviceTensor():
            return value
        case np.generic():
            return _to_plain_array(np.asarray(value))
        case Closure() | Prim() | Shape() | type():
            pass
        case _ if has_method(value, "__dlpack__") or has_method(value, "__array__"):
            return _to_plain_array(_import_tensor(value))
    hint = ""
    if isinstance(value, (list, tuple, int, float)) and not isinstance(value, Shape):
        hint = "; `numpy.array(value, dtype)` makes one"
    raise VMError(f"expected a tensor, got {kind_of(value)}{hint}", code="RX0608")


def _to_plain_array(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`array` as a base-class ndarray in native byte order."""
    if type(array) is not np.ndarray:
        if is_masked(array):
            raise VMError(
                "a masked array is no tensor; `array.filled(value)` makes it one", code="RX0608"
            )
        array = np.asarray(array)
    if _array_dtype(array.dtype) is None:
        if not array.dtype.isnative:
            return _to_plain_array(array.astype(array.dtype.newbyteorder("=")))
        raise VMError(
            f"an array of {array.dtype} is no tensor: its elements have no dtype of Relax",
            code="RX0608",
        )
    return array


def _import_tensor(value: Any) -> np.ndarray[Any, Any]:
    """A tensor of another library as an ndarray, by DLPack, else by `__array__`."""
    failure: Exception | None = None
    for protocol, accept in (("__dlpack__", np.from_dlpack), ("__array__", np.asarray)):
        try:
            if has_method(value, protocol):
                return cast("np.ndarray[Any, Any]", accept(value))
        except Exception as error:
            failure = failure or error
    # What knows `__array__` alone says itself why it has none.
    usual = "is it on the host, without gradients, and of a dtype numpy has?"
    advice = f" ({usual})" if has_method(value, "__dlpack__") else ""
    said = failure.diagnostics[0].message if isinstance(failure, DiagnosticError) else failure
    raise VMError(
        f"cannot take {kind_of(value)} as a tensor: {said}{advice}", code="RX0608"
    ) from failure


def kind_of(value: object) -> str:
    """The description of `value` in messages: "a tensor of shape (2, 3) and dtype float32"."""
    match value:
        case None:
            return "None (the null object)"
        case DeviceTensor() | np.ndarray():
            where = f" on {value.device}" if isinstance(value, DeviceTensor) else ""
            noun = "a tensor" if is_tensor(value) else "an array"
            noun = "a masked array" if is_masked(value) else noun
            return f"{noun} of shape {tuple(value.shape)} and dtype {_dtype_words(value)}{where}"
        case np.generic():
            return f"a numpy scalar of dtype {value.dtype.name}"
        case Shape():
            return f"the shape {tuple(value)}"
        case tuple():
            return f"a tuple of {len(value)}" if value else "the empty tuple"
        case list():
            return f"a list of {len(value)}"
        case bool():
            return "a bool"
        case int():
            return "an int" if prim_dtype(value) else "an int that does not fit 64 bits"
    return _kind_of_others(value)


def _kind_of_others(value: object) -> str:
    match value:
        case float():
            return "a float"
        case Prim():
            return f"{'an' if value.dtype[0] == 'i' else 'a'} {value.dtype} scalar"
        case DataType():
            return f"the dtype {value}"
        case str():
            return "a string"
        case Closure():
            return f"a closure (`{value.name}`)"
    name = type(value).__name__
    if name == "PackedFunc":
        return f"a packed function (`{getattr(value, 'name', '?')}`)"
    return f"an object of class {name}"


def _dtype_words(value: np.ndarray[Any, Any] | DeviceTensor) -> str:
    if not value.dtype.isnative:
        return f"{value.dtype.name} in foreign byte order"
    return str(value.dtype.name)


def format_values(form: str, values: Iterable[object]) -> str:
    """Format values as `R.print` and `R.assert_op` write them (see `format_string`).

    Without a format their texts come one after the other. Numbers (scalars and tensors of
    rank 0) take what numbers take, as in `"{:.2f}"`. Raises `VMError` (RX0606) for a format that
    does not go with the values.
    """
    shown = list(values)
    if not form:
        return " ".join(map(format_value, shown))
    try:
        return fill(form, len(shown), lambda position, spec: _in_format(shown[position], spec))
    except (ValueError, OverflowError) as error:
        noun = quantity(len(shown), "value")
        text = f"the format {form!r} does not go with {noun}: {error}"
        raise VMError(text, code="RX0606") from error


def _in_format(value: object, spec: str) -> str:
    """The text of a value, or, where the format asks for more, the number it is."""
    if not spec:
        return format_value(value)
    number = prim_value(value)
    if isinstance(value, (np.ndarray, DeviceTensor)) and value.ndim == 0:
        number = (value.data if isinstance(value, DeviceTensor) else value).item()
    return format(format_value(value) if number is None else number, spec)


def format_value(value: object) -> str:
    """A value as `R.print` writes it."""
    match value:
        case DeviceTensor():
            return str(value.numpy())
        case Shape():
            return str(tuple(value))
        case tuple():
            inner = ", ".join(map(format_value, value))
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        case Prim():
            return str(value.value)
    return str(value)
