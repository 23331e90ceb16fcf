"""The parameters of an operator, read from the signature of its meaning.

The annotation of a parameter says of what kind it is; `ANNOTATIONS` is the whole vocabulary.
Whatever is annotated otherwise is an attribute: a compile-time value that is stored with the call.

`signature_of` gives what matches arguments with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias, get_args

import numpy as np

from relaxscript.arguments import REQUIRED, ArgumentError, Formal, Signature
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim, relax
from relaxscript.ir.distributed import DeviceMesh, Placement, as_placement
from relaxscript.ir.node import Node
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.ir.vdevice import VDevice, as_vdevice
from relaxscript.runtime import values

from .aliases import nearest_dtype

__all__ = [
    "ANNOTATIONS",
    "DTYPES",
    "REQUIRED",
    "SYNONYMS",
    "ArgumentError",
    "Attributes",
    "Axes",
    "Callee",
    "DType",
    "DTypeValue",
    "Device",
    "Floats",
    "Indices",
    "Mesh",
    "MeshPlacement",
    "Packed",
    "Parameter",
    "ResultInfo",
    "Scalar",
    "ShapeLike",
    "Spread",
    "Tensor",
    "Tensors",
    "Text",
    "Value",
    "Values",
    "VirtualDevice",
    "convert_attribute",
    "read_parameters",
    "signature_of",
]  # fmt: skip

# What later versions of TVM call parameters that describe results.
SYNONYMS: Mapping[str, str] = {"out_ty": "out_sinfo", "ty_args": "sinfo_args", "ty": "struct_info"}

# The dtypes that are offered for one that there is not.
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip

# What the body of a meaning sees for a parameter annotated by one of these words. Each is marked
# with its name, for modules that do not postpone annotations.
Tensor: TypeAlias = Annotated[np.ndarray[Any, Any], "Tensor"]
# A tensor, or a scalar that stands for one of rank 0.
Scalar: TypeAlias = Annotated[np.ndarray[Any, Any], "Scalar"]
Tensors: TypeAlias = Annotated[tuple[np.ndarray[Any, Any], ...], "Tensors"]
Values: TypeAlias = Annotated[tuple[Any, ...], "Values"]
# Any number, given as a list.
Spread: TypeAlias = Annotated[tuple[Any, ...], "Spread"]
Value: TypeAlias = Annotated[Any, "Value"]
ShapeLike: TypeAlias = Annotated[tuple[int, ...], "ShapeLike"]
Callee: TypeAlias = Annotated[Callable[..., Any], "Callee"]
Packed: TypeAlias = Annotated[Callable[..., Any], "Packed"]
Text: TypeAlias = Annotated[str, "Text"]
# An operand, where `DType` is an attribute.
DTypeValue: TypeAlias = Annotated[DataType, "DTypeValue"]
ResultInfo: TypeAlias = Annotated[Any, "ResultInfo"]
Axes: TypeAlias = Annotated[tuple[int, ...], "Axes"]
Floats: TypeAlias = Annotated[tuple[float, ...], "Floats"]
DType: TypeAlias = Annotated[DataType, "DType"]
# One of the module's global infos.
VirtualDevice: TypeAlias = Annotated[VDevice, "VirtualDevice"]
# A kind and a number.
Device: TypeAlias = Annotated[VDevice, "Device"]
# Where the element at some indices goes, or a function of these.
Indices: TypeAlias = Annotated[IndexMap, "Indices"]
# Names and values that a script can say; written as a dict.
Attributes: TypeAlias = Annotated[Mapping[str, Any], "Attributes"]
Mesh: TypeAlias = Annotated[DeviceMesh, "Mesh"]
MeshPlacement: TypeAlias = Annotated[Placement, "MeshPlacement"]

# annotation -> (kind of parameter, what the operand must be)
ANNOTATIONS: Mapping[str, tuple[str, str]] = {
    "Tensor": ("operand", "tensor"),
    "Scalar": ("operand", "scalar"),
    "Value": ("operand", "value"),
    "Tensor | None": ("optional", "tensor"),
    "Value | None": ("optional", "value"),
    "Tensors": ("tensors", "tensor"),
    "Values": ("tensors", "value"),
    "Values | None": ("tensors", "value"),
    "Spread | None": ("spread", "value"),
    "ShapeLike": ("shape", "shape"),
    "ShapeLike | None": ("shape", "shape"),
    "Callee": ("callee", "function"),
    "Packed": ("callee", "packed"),
    "ResultInfo": ("sinfo", "sinfo"),
    "Text": ("text", "text"),
    "DTypeValue": ("dtype", "dtype"),
}


class Parameter(NamedTuple):
    """A parameter of an operator.

    `kind` is one of operand, optional (an operand that may be left out), tensors (a tuple of
    operands), rest (any number of operands), spread (the same, given as a list), shape, text,
    dtype, callee, sinfo and attribute. `default` is REQUIRED where there is none. `wants` is the
    kind of value that an operand must be.
    """

    name: str
    kind: str
    default: Any = REQUIRED
    keyword_only: bool = False
    wants: str = ""
    annotation: str = ""

    @property
    def is_required(self) -> bool:
        """True if a call must give it."""
        return self.default is REQUIRED and self.kind != "rest"

    @property
    def is_operand(self) -> bool:
        """True if it is an argument of the call, not an attribute or in `sinfo_args`."""
        return self.kind not in ("attribute", "sinfo")


def read_parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters in the signature of a meaning; `ArgumentError` for one without annotation."""
    code = function.__code__
    words = {name: _word(given) for name, given in _annotations(function).items()}
    count = code.co_argcount
    names = code.co_varnames
    defaults = function.__defaults__ or ()
    given = dict(zip(names[count - len(defaults) : count], defaults))
    found = [_parameter(name, words, given.get(name, REQUIRED)) for name in names[:count]]
    keywords = names[count : count + code.co_kwonlyargcount]
    if code.co_flags & 0x04:  # inspect.CO_VARARGS, without the cost of importing inspect
        rest = names[count + code.co_kwonlyargcount]
        found.append(Parameter(rest, "rest", REQUIRED, False, ANNOTATIONS[words[rest]][1]))
    later = function.__kwdefaults__ or {}
    found += [
        _parameter(name, words, later.get(name, REQUIRED))._replace(keyword_only=True)
        for name in keywords
    ]
    return tuple(found)


def _annotations(function: Callable[..., Any]) -> Mapping[str, str]:
    words = function.__annotations__
    code = function.__code__
    named = code.co_argcount + code.co_kwonlyargcount
    for name in code.co_varnames[:named]:
        if words.get(name) is None:
            raise ArgumentError(
                f"the parameter `{name}` of `{function.__name__}` has no annotation", name,
                help="write `Tensor` for a tensor, `int` or so for an attribute",
            )  # fmt: skip
    return words


def _word(annotation: Any) -> str:
    """An annotation as it is written, also where its module does not postpone annotations."""
    if isinstance(annotation, str):
        if "." not in annotation and "[" not in annotation:
            return annotation
        plain = re.sub(r"\b\w+\.", "", annotation)
        return re.sub(r"^Optional\[(.*)\]$", r"\1 | None", plain)
    if annotation is type(None):
        return "None"
    if isinstance(annotation, type):
        return annotation.__name__
    # The words below are `Annotated` with themselves, `Tensor | None` is a union of two.
    said = getattr(annotation, "__metadata__", None)
    parts = get_args(annotation)
    return said[0] if said else " | ".join(map(_word, parts)) or str(annotation)


def _parameter(name: str, words: Mapping[str, str], default: Any) -> Parameter:
    kind, wants = ANNOTATIONS.get(words[name], ("attribute", ""))
    return Parameter(name, kind, default, False, wants, words[name])


def signature_of(callee: str, parameters: Sequence[Parameter]) -> Signature:
    """The signature that matches the arguments of a call with parameters."""
    formals = [
        Formal(
            p.name, p.default, by_position=not p.keyword_only, rest="*" if p.kind == "rest" else ""
        )
        for p in parameters
    ]
    return Signature(callee, formals, synonyms=SYNONYMS)


# ---------------------------------------------------------------- attributes


def convert_attribute(parameter: Parameter, value: Any) -> Any:
    """An attribute in the one form in which calls keep it; raises `OperandError` (RX0204)."""
    convert = _CONVERSIONS.get(parameter.annotation)
    return value if convert is None else convert(parameter, value)


def is_kept(value: Any, held: Any) -> bool:
    """True if `Attrs` hold a value as it was given."""
    if value.__class__ is tuple and held.__class__ is tuple:
        return len(value) == len(held) and all(map(is_kept, value, held))
    return value is held


def _refusal(
    parameter: Parameter, value: Any, wanted: str, meant: str | None = None
) -> OperandError:
    """The error for a value that an attribute cannot be; `meant` is what to write instead."""
    later = isinstance(value, (relax.Expr, prim.PrimExpr))
    shown = "known only when the program runs" if later else repr(value)
    named = parameter.annotation.removesuffix(" | None") in ("DType", "VirtualDevice", "Device")
    return OperandError(
        parameter.name,
        f"is {shown}, not {wanted}",
        message=f"the attribute `{parameter.name}` must be {wanted}",
        code="RX0204",
        help=None if meant is None else f"write `{meant}`",
        nature="value" if isinstance(value, str) and named else "type",
        fix=None if meant is None else {parameter.name: meant},
    )


def _plain(value: Any) -> Any:
    match value:
        case relax.PrimValue(prim.IntImm(value=number) | prim.FloatImm(value=number)):
            return number
        case prim.IntImm(value=number) | prim.FloatImm(value=number):
            return number
        case np.generic():
            return value.item()
        case np.ndarray(ndim=0):
            return value.item()
    return value


# Most values have their one form already: that is found out first.


def _integer(parameter: Parameter, value: Any) -> int:
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _refusal(parameter, value, "an integer")
    if not -(1 << 63) <= value < 1 << 63:
        raise _refusal(parameter, value, "an integer that fits in int64")
    return value


def _integers(parameter: Parameter, value: Any) -> tuple[int, ...]:
    value = _plain(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple([_integer(parameter, item) for item in value])
    if isinstance(value, bool) or not isinstance(value, int):
        raise _refusal(parameter, value, "an integer or a list of integers")
    return (_integer(parameter, value),)


def _integer_or_integers(parameter: Parameter, value: Any) -> int | tuple[int, ...]:
    listed = isinstance(value, (list, tuple, np.ndarray)) and np.ndim(np.asarray(value, object)) > 0
    return _integers(parameter, value) if listed else _integers(parameter, value)[0]


def _number(parameter: Parameter, value: Any) -> float:
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _refusal(parameter, value, "a number")
    return float(value)


def _numbers(parameter: Parameter, value: Any) -> tuple[float, ...]:
    value = _plain(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple([_number(parameter, item) for item in value])
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _refusal(parameter, value, "a number or a list of numbers")
    return (_number(parameter, value),)


def _truth(parameter: Parameter, value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    value = _plain(value)
    if not isinstance(value, int) or value not in (0, 1):
        raise _refusal(parameter, value, "True or False")
    return bool(value)


def _text(parameter: Parameter, value: Any) -> str:
    if isinstance(value, relax.StringImm):
        return value.value
    if not isinstance(value, str):
        raise _refusal(parameter, value, "a string")
    return value


def _dtype(parameter: Parameter, value: Any) -> DataType | None:
    if isinstance(value, relax.DataTypeImm):
        value = value.value
    optional = parameter.annotation.endswith(" | None")
    wanted = 'a dtype, such as "float32"'
    try:
        found = DataType(value)
    except (ValueError, TypeError):
        near = nearest_dtype(value, DTYPES) if isinstance(value, str) else None
        raise _refusal(parameter, value, wanted, f'"{near}"' if near else None) from None
    if found.is_void and optional:
        return None
    if found.is_void or not found.in_relax:
        raise _refusal(parameter, str(found), wanted)
    return found


def _vdevice(parameter: Parameter, value: Any) -> VDevice:
    wanted = 'a virtual device, such as "llvm:0"'
    try:
        # "cpu" is another name of the target that compiles for it.
        named = re.sub(r"^cpu(?=:|$)", "llvm", value) if isinstance(value, str) else value
        found = as_vdevice(named)
    except ValueError:
        raise _refusal(parameter, value, wanted) from None
    if not isinstance(found, VDevice):
        raise _refusal(parameter, value, wanted)
    return found


def _indices(parameter: Parameter, value: Any) -> IndexMap:
    if isinstance(value, IndexMap):
        return value
    wanted = "a function of indices, such as `lambda i, j: (j, i)`"
    if isinstance(value, Node) or not callable(value):
        raise _refusal(parameter, value, wanted)
    try:
        return IndexMap.from_func(value)
    except TypeError:
        raise _refusal(parameter, value, wanted) from None


def _device(parameter: Parameter, value: Any) -> VDevice:
    wanted = 'a device, such as `R.device("cpu", 0)`'
    try:
        # A device of the run time is written as such a string too.
        found = as_vdevice(str(value) if isinstance(value, values.Device) else value)
    except ValueError:
        raise _refusal(parameter, value, wanted) from None
    if not isinstance(found, VDevice):
        raise _refusal(parameter, value, wanted)
    return found


def _mapping(parameter: Parameter, value: Any) -> relax.Attrs:
    wanted = "a dict of names and of values that a script can say"
    if not isinstance(value, Mapping):
        raise _refusal(parameter, value, wanted)
    try:
        return relax.Attrs(value)
    except TypeError:
        raise _refusal(parameter, value, wanted) from None


def _mesh(parameter: Parameter, value: Any) -> DeviceMesh:
    if isinstance(value, DeviceMesh):
        return value
    raise _refusal(parameter, value, "a mesh of devices, such as `R.device_mesh((2,), [0, 1])`")


def _placement(parameter: Parameter, value: Any) -> Placement:
    wanted = 'a placement, such as "S[0], R"'
    try:
        found = as_placement(value)
    except ValueError:
        raise _refusal(parameter, value, wanted) from None
    if not isinstance(found, Placement):
        raise _refusal(parameter, value, wanted)
    return found


_Conversion = Callable[[Parameter, Any], Any]


def _or_none(convert: _Conversion) -> _Conversion:
    return lambda parameter, value: None if value is None else convert(parameter, value)


_PLAIN: Mapping[str, _Conversion] = {
    "int": _integer,
    "Axes": _integers,
    "int | Axes": _integer_or_integers,
    "float": _number,
    "Floats": _numbers,
    "bool": _truth,
    "str": _text,
    "DType": _dtype,
    "VirtualDevice": _vdevice,
    "Device": _device,
    "Indices": _indices,
    "Attributes": _mapping,
    "Mesh": _mesh,
    "MeshPlacement": _placement,
}
_CONVERSIONS = {
    **_PLAIN,
    **{f"{word} | None": _or_none(convert) for word, convert in _PLAIN.items()},
}
