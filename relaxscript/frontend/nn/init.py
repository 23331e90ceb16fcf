"""Initial values of parameters: schemes by name, and keys that decide which numbers are drawn.

    values = init.initialize(
        model.state_dict(), {"*.weight": "kaiming_uniform", "*.bias": "zeros"}, key=0
    )
    model.load_state_dict(values)

A key is a number. The same key gives the same bits: nothing is drawn from a state that others
share. The name of a parameter is part of its key, so that the order does not matter.

Source: the initialisers of PyTorch, `torch.nn.init`, for fans, gains and defaults.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from relaxscript.dtypes import DataType, converted
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.prim import IntImm
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.weights.names import listed

from .call_mistakes import tells_arguments

__all__ = [
    "SCHEMES", "Scheme", "calculate_fan", "calculate_gain", "constant", "fold", "initialize",
    "kaiming_normal", "kaiming_uniform", "normal", "ones", "orthogonal", "truncated_normal",
    "uniform", "xavier_normal", "xavier_uniform", "zeros",
]  # fmt: skip

__tracebackhide__ = is_user_error

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Scheme:
    """A way to choose initial values: `scheme(shape, dtype, key=0)` is an array.

    Floats are drawn with 53 bits and rounded once to the dtype. `is_random` says that the values
    depend on the key. Raises `DiagnosticError`: RX0202 for a dtype that holds no such values.
    RX0203 for a shape that the scheme cannot fill, RX0201 for a key that is no number.
    """

    name: str
    draw: Callable[[np.random.Generator, Shape], Array]
    is_random: bool = True

    def __call__(self, shape: Iterable[int], dtype: Any = "float32", *, key: int = 0) -> Array:
        sizes = _sizes(shape)
        element = _dtype(dtype)
        if self.is_random and not element.is_float:
            _refuse("RX0202", f"`{self.name}` draws floats, and the dtype is {element}")
        digest = _digest(_checked_key(key))
        source = np.random.Generator(np.random.Philox(key=np.frombuffer(digest, np.uint64)))
        with np.errstate(all="ignore"):
            try:
                made: Array = converted(self.draw(source, sizes), element.numpy)
            except DiagnosticError:
                raise
            except (TypeError, ValueError) as error:
                _refuse("RX0201", f"`{self.name}` cannot draw with its arguments: {error}")
        return made


# ---------------------------------------------------------------- schemes


def zeros() -> Scheme:
    """All zero."""
    return Scheme("zeros", lambda source, shape: np.zeros(shape), is_random=False)


def ones() -> Scheme:
    """All one."""
    return Scheme("ones", lambda source, shape: np.ones(shape), is_random=False)


def constant(value: float) -> Scheme:
    """All the same value."""
    return Scheme("constant", lambda source, shape: np.full(shape, value), is_random=False)


def uniform(low: float = 0.0, high: float = 1.0) -> Scheme:
    """Evenly distributed in [low, high)."""
    return Scheme("uniform", lambda source, shape: source.uniform(low, high, shape))


def normal(mean: float = 0.0, std: float = 1.0) -> Scheme:
    """Normally distributed."""
    return Scheme("normal", lambda source, shape: source.normal(mean, std, shape))


def truncated_normal(
    mean: float = 0.0, std: float = 1.0, low: float = -2.0, high: float = 2.0
) -> Scheme:
    """Normally distributed among what lies in [low, high].

    `mean` and `std` are those of the whole distribution. Raises `DiagnosticError` (RX0203) where
    the range is more than two `std` away from the mean: hardly anything lies in it.
    """
    if not (low < high and low <= mean + 2 * std and high >= mean - 2 * std):
        _refuse("RX0203", f"hardly anything of the distribution lies between {low} and {high}")

    def draw(source: np.random.Generator, shape: Shape) -> Array:
        made: Array = np.asarray(source.normal(mean, std, shape))
        flat = made.reshape(-1)
        while (outside := np.flatnonzero((flat < low) | (flat > high))).size:
            flat[outside] = source.normal(mean, std, outside.size)
        return made

    return Scheme("truncated_normal", draw)


def xavier_uniform(gain: float = 1.0) -> Scheme:
    """Evenly distributed, of variance `gain² · 2 / (fan_in + fan_out)` (Glorot and Bengio)."""

    def draw(source: np.random.Generator, shape: Shape) -> Array:
        bound = gain * math.sqrt(6.0 / max(1, sum(_fans("xavier_uniform", shape))))
        return source.uniform(-bound, bound, shape)

    return Scheme("xavier_uniform", draw)


def xavier_normal(gain: float = 1.0) -> Scheme:
    """Normally distributed, of variance `gain² · 2 / (fan_in + fan_out)` (Glorot and Bengio)."""

    def draw(source: np.random.Generator, shape: Shape) -> Array:
        std = gain * math.sqrt(2.0 / max(1, sum(_fans("xavier_normal", shape))))
        return source.normal(0.0, std, shape)

    return Scheme("xavier_normal", draw)


def kaiming_uniform(
    a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Scheme:
    """Evenly distributed, of variance `gain² / fan` (He et al.).

    `mode` is "fan_in" or "fan_out", `a` the slope of a leaky ReLU. Of a weight that is stored as
    (inputs, outputs), `fan_in` of the layer is "fan_out" here.
    """
    gain = _kaiming_gain(mode, nonlinearity, a)

    def draw(source: np.random.Generator, shape: Shape) -> Array:
        bound = gain * math.sqrt(3.0 / max(1, _fan("kaiming_uniform", shape, mode)))
        return source.uniform(-bound, bound, shape)

    return Scheme("kaiming_uniform", draw)


def kaiming_normal(
    a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Scheme:
    """Normally distributed, of variance `gain² / fan` (He et al.); see `kaiming_uniform`."""
    gain = _kaiming_gain(mode, nonlinearity, a)

    def draw(source: np.random.Generator, shape: Shape) -> Array:
        std = gain / math.sqrt(max(1, _fan("kaiming_normal", shape, mode)))
        return source.normal(0.0, std, shape)

    return Scheme("kaiming_normal", draw)


def orthogonal(gain: float = 1.0) -> Scheme:
    """A matrix with orthonormal rows or columns, times `gain`; later axes count as columns.

    Its last bits are those of the computer's LAPACK.
    """

    def draw(source: np.random.Generator, shape: Shape) -> Array:
        _fans("orthogonal", shape)
        rows, columns = shape[0], math.prod(shape[1:])
        drawn = source.normal(size=(max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(drawn)
        q = q * np.where(np.diagonal(r) < 0, -1.0, 1.0)  # so that every matrix is as likely
        return gain * (q if rows >= columns else q.T).reshape(shape)

    return Scheme("orthogonal", draw)


SCHEMES: Mapping[str, Callable[[], Scheme]] = {
    make.__name__: make
    for make in (
        zeros, ones, uniform, normal, truncated_normal, xavier_uniform, xavier_normal,
        kaiming_uniform, kaiming_normal, orthogonal,
    )
}  # fmt: skip


# ---------------------------------------------------------------- fans and gains


def calculate_fan(shape: Iterable[int]) -> tuple[int, int]:
    """The inputs and outputs of one element of a layer with a weight of this shape.

    The first axis is that of outputs, the second that of inputs, as in `Linear` and convolutions;
    the others are multiplied. Raises `DiagnosticError` (RX0203) for fewer than two axes.
    """
    return _fans("calculate_fan", _sizes(shape))


def _fans(caller: str, shape: Shape) -> tuple[int, int]:
    if len(shape) < 2:
        _refuse(
            "RX0203",
            f"`{caller}` needs a weight of two or more dimensions, and the shape is {shape}",
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _fan(caller: str, shape: Shape, mode: str) -> int:
    return _fans(caller, shape)[("fan_in", "fan_out").index(mode)]


_GAINS = {
    "linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0), "leaky_relu": math.sqrt(2.0), "selu": 0.75,
}  # fmt: skip


def calculate_gain(nonlinearity: str, a: float = 0.01) -> float:
    """The factor by which a function narrows what goes through it; `a` is a leaky ReLU's slope.

    Raises `DiagnosticError` (RX0703) for a name that is none of these functions.
    """
    if not isinstance(nonlinearity, str) or nonlinearity not in _GAINS:
        _unknown("nonlinearity", nonlinearity, _GAINS)
    gain = _GAINS[nonlinearity]
    return gain / math.sqrt(1 + a * a) if nonlinearity == "leaky_relu" else gain


def _kaiming_gain(mode: str, nonlinearity: str, a: float) -> float:
    if mode not in ("fan_in", "fan_out"):
        _unknown("mode", mode, ("fan_in", "fan_out"))
    return calculate_gain(nonlinearity, a)


# ---------------------------------------------------------------- many parameters


def initialize(
    parameters: Mapping[str, Any] | Iterable[tuple[str, Any]],
    scheme: str | Scheme | Mapping[str, str | Scheme],
    *,
    key: int,
) -> dict[str, Array]:
    """Arrays for parameters by name, as `load_state_dict` and `build(params=)` take them.

    `parameters` are annotations, arrays, or whatever has a shape and a dtype: a `state_dict`, or
    the mapping of which an annotation `R.Tuple(weights)` is made. `scheme` is one for all, or a
    table from patterns of names, `"*.bias"`, to schemes: the first that fits counts. The name of a
    parameter is folded into its key.

    Raises `DiagnosticError`: RX0712 for names that no pattern fits, RX0703 for an unknown scheme.
    What a scheme says of a parameter is said with its name.
    """
    found = _by_name(parameters)
    table = scheme if isinstance(scheme, Mapping) else {"*": scheme}
    for pattern in table:
        if not isinstance(pattern, str):
            _refuse("RX0712", f"a pattern of names is a string, not {brief(pattern)}")
    schemes = [(pattern, _scheme(given)) for pattern, given in table.items()]
    chosen = {
        name: next((s for pattern, s in schemes if fnmatchcase(name, pattern)), None)
        for name in found
    }
    if without := [name for name, one in chosen.items() if one is None]:
        _refuse(
            "RX0712", f"no scheme is given for {listed(without)}", 'add one for `"*"`, the rest'
        )
    made: dict[str, Array] = {}
    for name, one in chosen.items():
        try:
            shape, dtype = _described(found[name])
            assert one is not None
            made[name] = one(shape, dtype, key=fold(key, name))
        except DiagnosticError as error:
            (said,) = error.diagnostics
            _refuse(said.code, f"`{name}`: {said.message}", said.help)
    return made


def _by_name(parameters: Any) -> dict[str, Any]:
    """Parameters as a mapping with strings for names."""
    try:
        found = dict(parameters)
    except (TypeError, ValueError):
        found = {None: parameters}
    if not all(isinstance(name, str) for name in found):
        _refuse(
            "RX0712", f"parameters are given by their names, not as {brief(parameters)}",
            "write for example `model.state_dict()`",
        )  # fmt: skip
    return found


def fold(key: int, name: str) -> int:
    """A key made of a key and a name: other names give other numbers."""
    return int.from_bytes(_digest(_checked_key(key), name), "little")


def _digest(key: int, name: str = "") -> bytes:
    from hashlib import blake2b

    return blake2b(f"{key}/{name}".encode(), digest_size=16).digest()


def _checked_key(key: Any) -> int:
    if not isinstance(key, (int, np.integer)) or isinstance(key, bool):
        _refuse("RX0201", f"a key is an integer, not {type(key).__name__}")
    return int(key)


def _scheme(given: str | Scheme) -> Scheme:
    if isinstance(given, Scheme):
        return given
    if not isinstance(given, str) or given not in SCHEMES:
        _unknown("scheme", given, SCHEMES)
    return SCHEMES[given]()


def _described(value: Any) -> tuple[Any, str]:
    """The shape and dtype of a parameter, an array or an annotation."""
    if isinstance(value, StructInfo):
        if not isinstance(value, TensorStructInfo) or value.dims is None or value.dtype.is_void:
            _refuse("RX0203", f"a shape and a dtype are needed, and it is `{value!r}`")
        return value.dims, value.dtype
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        _refuse("RX0201", f"a value of type {type(value).__name__} has no shape and dtype")
    dtype = value.dtype
    return value.shape, str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def _sizes(shape: Iterable[Any]) -> Shape:
    sizes = [size.value if isinstance(size, IntImm) else size for size in shape]
    for size in sizes:
        if not isinstance(size, (int, np.integer)) or size < 0:
            _refuse("RX0203", f"the sizes of a shape are numbers, and one is `{size}`")
    return tuple(map(int, sizes))


def _dtype(dtype: Any) -> DataType:
    try:
        found = DataType(dtype)
    except (TypeError, ValueError):
        found = None
    if found is None or not found.has_numpy:
        shown = f'"{dtype}"' if isinstance(dtype, str) else brief(dtype)
        _refuse("RX0202", f"{shown} is no dtype of arrays")
    return found


def _unknown(noun: str, name: Any, known: Iterable[str]) -> NoReturn:
    names = list(known)
    near = nearest(name, names) if isinstance(name, str) else None
    help = did_you_mean(near, f"there are {', '.join(names)}", '"')
    shown = f'"{name}"' if isinstance(name, str) else brief(name)
    _refuse("RX0703", f"there is no {noun} {shown}", help)


def _refuse(code: str, message: str, help: str | None = None) -> NoReturn:
    raise DiagnosticError(Diagnostic(code, message, caller_span(), help=help)) from None


for _name in __all__:
    if isinstance(globals()[_name], FunctionType):
        globals()[_name] = tells_arguments(f"nn.init.{_name}")(globals()[_name])
