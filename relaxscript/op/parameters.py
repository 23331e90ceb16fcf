"""What an operator takes: its parameters, read from the signature of its meaning.

The annotation of a parameter says of what kind it is; `ANNOTATIONS` is the whole vocabulary.
Whatever is annotated otherwise is an attribute: a compile-time value that is stored with the call.

`Signature` matches what a person wrote with the parameters, by the rules of Python's own calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from relaxscript.dtypes import DataType
from relaxscript.errors import (
    Diagnostic,
    InternalError,
    Label,
    OperandError,
    Span,
    UnplacedError,
    did_you_mean,
)
from relaxscript.ir import prim, relax
from relaxscript.ir.vdevice import VDevice, as_vdevice
from relaxscript.runtime import values

from .spellings import meant_keyword, nearest_dtype

__all__ = [
    "ANNOTATIONS", "DTYPES", "REQUIRED", "SYNONYMS", "ArgumentError", "Axes", "Callee", "DType",
    "DTypeValue", "Device", "Packed", "Parameter", "ResultInfo", "Scalar", "ShapeLike",
    "Signature", "Spread", "Tensor", "Tensors", "Text", "Value", "Values", "VirtualDevice",
    "convert_attribute", "read_parameters",
]  # fmt: skip

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "required"})()

# What later versions of TVM call parameters that describe results.
SYNONYMS: Mapping[str, str] = {"out_ty": "out_sinfo", "ty_args": "sinfo_args", "ty": "struct_info"}

# The data types that are offered for one that there is not.
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip

# What the body of a meaning sees for a parameter annotated by one of these words.
Tensor: TypeAlias = npt.NDArray[Any]
Scalar: TypeAlias = npt.NDArray[Any]  # a tensor, or a prim value that stands for one of rank 0
Tensors: TypeAlias = "tuple[npt.NDArray[Any], ...]"
Values: TypeAlias = "tuple[Any, ...]"
Spread: TypeAlias = "tuple[Any, ...]"  # any number, given as a list
Value: TypeAlias = Any
ShapeLike: TypeAlias = "tuple[int, ...]"
Callee: TypeAlias = Callable[..., Any]
Packed: TypeAlias = Callable[..., Any]
Text: TypeAlias = str
DTypeValue: TypeAlias = DataType  # an operand, where `DType` is an attribute
ResultInfo: TypeAlias = Any
Axes: TypeAlias = "tuple[int, ...]"
DType: TypeAlias = DataType
VirtualDevice: TypeAlias = VDevice  # one of the module's global infos
Device: TypeAlias = VDevice  # a kind and a number

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
    dtype, callee, sinfo and attribute; `default` is REQUIRED where there is none; `wants` says what
    an operand must be.
    """

    name: str
    kind: str
    default: Any = REQUIRED
    keyword_only: bool = False
    wants: str = ""
    annotation: str = ""

    @property
    def is_required(self) -> bool:
        """Whether a call must give it."""
        return self.default is REQUIRED and self.kind != "rest"

    @property
    def is_operand(self) -> bool:
        """Whether it stands among the arguments of the call, not in attributes or `sinfo_args`."""
        return self.kind not in ("attribute", "sinfo")


class ArgumentError(UnplacedError, TypeError):
    """A call gives too many or too few arguments, or one by a keyword that there is not.

    `parameter` is the parameter that misses its argument or has two; `position` the index of an
    argument too many; `keyword` the word that is not known, and `meant` the one that was probably
    meant. Callers that know places turn it into a diagnostic.
    """

    code = "RX0103"

    def __init__(
        self,
        message: str,
        parameter: str | None = None,
        position: int | None = None,
        keyword: str | None = None,
        help: str | None = None,
        meant: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.parameter = parameter
        self.position = position
        self.keyword = keyword
        self.help = did_you_mean(meant, help)
        self.meant = meant

    def diagnostic(
        self, callee: str, span: Span | None, operands: Mapping[str, Span | None]
    ) -> Diagnostic:
        """The diagnostic, with `span` the place to blame; the message names the callee itself."""
        labels = () if span is None else (Label(span, ""),)
        return Diagnostic(self.code, self.message, span, labels, help=self.help)

    def __str__(self) -> str:
        return f"{self.message}; {self.help}" if self.help else self.message


def read_parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters in the signature of a meaning (whose module postpones annotations)."""
    code = function.__code__
    words = _annotations(function)
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
        if not isinstance(words.get(name), str):
            raise InternalError(
                f"`{name}` of the meaning `{function.__name__}` has no annotation that is postponed"
            )
    return words


def _parameter(name: str, words: Mapping[str, str], default: Any) -> Parameter:
    kind, wants = ANNOTATIONS.get(words[name], ("attribute", ""))
    return Parameter(name, kind, default, False, wants, words[name])


class Signature:
    """The parameters of one callee, ready to be matched with arguments again and again."""

    def __init__(self, callee: str, parameters: Sequence[Parameter]) -> None:
        self.callee = callee
        self.parameters = tuple(parameters)
        self._order = [p.name for p in parameters if p.kind != "rest"]
        self._names = frozenset(self._order)
        self._positional = [p.name for p in parameters if not p.keyword_only and p.kind != "rest"]
        self._rest = next((p.name for p in parameters if p.kind == "rest"), None)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """What each parameter is given, defaults included; raises `ArgumentError`."""
        names = self._positional
        bound: dict[str, Any] = dict(zip(names, args))
        if len(args) > len(names) and self._rest is None:
            raise next(self.misfits(args, kwargs))
        for word, value in kwargs.items():
            name = word if word in self._names else SYNONYMS.get(word, word)
            if name not in self._names or name in bound:
                raise next(self.misfits(args, kwargs))
            bound[name] = value
        if self._rest is not None:
            bound[self._rest] = tuple(args[len(names) :])
        if len(bound) < len(self.parameters):
            for parameter in self.parameters:
                if parameter.name not in bound:
                    if parameter.is_required:
                        raise _missing(self.callee, parameter, self.parameters)
                    bound[parameter.name] = parameter.default
        return bound

    def given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """What those parameters are given that have an argument, whatever else is wrong."""
        words = {w if w in self._names else SYNONYMS.get(w, w): v for w, v in kwargs.items()}
        return words | dict(zip(self._positional, args))

    def misfits(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[ArgumentError]:
        """Each argument that has no parameter of its own; where there is none, what is missing."""
        names = self._positional
        given = set(names[: len(args)])
        stray = len(args) > len(names) and self._rest is None
        if stray:
            yield _too_many(self.callee, len(names), len(args))
        for word in kwargs:
            name = word if word in self._names else SYNONYMS.get(word, word)
            if name not in self._names:
                stray = True
                yield _unknown_keyword(self.callee, name, self._order)
            elif name in given:
                yield _given_twice(self.callee, name)
            given.add(name)
        if stray:
            return  # what is missing may have been meant by what is too much
        for parameter in self.parameters:
            if parameter.is_required and parameter.name not in given and parameter.kind != "rest":
                yield _missing(self.callee, parameter, self.parameters)
                return  # which says how the whole is called


def _given_twice(callee: str, name: str) -> ArgumentError:
    return ArgumentError(
        f"`{callee}` is given `{name}` twice",
        name,
        keyword=name,
        help=f"leave out one of them, in its place or as `{name}=`",
    )


def _unknown_keyword(callee: str, word: str, names: list[str]) -> ArgumentError:
    near = meant_keyword(word, names)
    listed = ", ".join(f"`{name}`" for name in names)
    help = f"its parameters are {listed}" if names else "it has no parameters"
    message = f"`{callee}` has no parameter `{word}`"
    return ArgumentError(message, keyword=word, help=help, meant=near)


def _too_many(callee: str, most: int, given: int) -> ArgumentError:
    arguments = "argument" if most == 1 else "arguments"
    return ArgumentError(f"`{callee}` takes {most} {arguments}, not {given}", position=most)


def _missing(callee: str, missing: Parameter, parameters: Sequence[Parameter]) -> ArgumentError:
    signature = ", ".join(_in_signature(p) for p in parameters)
    return ArgumentError(
        f"`{callee}` misses its argument `{missing.name}`",
        missing.name,
        help=f"it is called as `{callee}({signature})`",
    )


def _in_signature(parameter: Parameter) -> str:
    """The parameter as it stands in a signature."""
    if parameter.kind == "rest":
        return f"*{parameter.name}"
    return parameter.name if parameter.is_required else f"{parameter.name}={parameter.default!r}"


# ---------------------------------------------------------------- attributes


def convert_attribute(parameter: Parameter, value: Any) -> Any:
    """An attribute in the one form in which calls keep it; raises `OperandError` (RX0204)."""
    convert = _CONVERSIONS.get(parameter.annotation)
    return value if convert is None else convert(parameter, value)


def _refused(
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
        raise _refused(parameter, value, "an integer")
    if not -(1 << 63) <= value < 1 << 63:
        raise _refused(parameter, value, "an integer that fits in int64")
    return value


def _integers(parameter: Parameter, value: Any) -> tuple[int, ...]:
    value = _plain(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple([_integer(parameter, item) for item in value])
    if isinstance(value, bool) or not isinstance(value, int):
        raise _refused(parameter, value, "an integer or a list of integers")
    return (_integer(parameter, value),)


def _integer_or_integers(parameter: Parameter, value: Any) -> int | tuple[int, ...]:
    listed = isinstance(value, (list, tuple, np.ndarray)) and np.ndim(np.asarray(value, object)) > 0
    return _integers(parameter, value) if listed else _integers(parameter, value)[0]


def _number(parameter: Parameter, value: Any) -> float:
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _refused(parameter, value, "a number")
    return float(value)


def _truth(parameter: Parameter, value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    value = _plain(value)
    if not isinstance(value, int) or value not in (0, 1):
        raise _refused(parameter, value, "True or False")
    return bool(value)


def _text(parameter: Parameter, value: Any) -> str:
    if isinstance(value, relax.StringImm):
        return value.value
    if not isinstance(value, str):
        raise _refused(parameter, value, "a text")
    return value


def _dtype(parameter: Parameter, value: Any) -> DataType | None:
    if isinstance(value, relax.DataTypeImm):
        value = value.value
    optional = parameter.annotation.endswith(" | None")
    wanted = 'a data type, such as "float32"'
    try:
        found = DataType(value)
    except (ValueError, TypeError):
        near = nearest_dtype(value, DTYPES) if isinstance(value, str) else None
        raise _refused(parameter, value, wanted, f'"{near}"' if near else None) from None
    if found.is_void and optional:
        return None
    if found.is_void or not found.in_relax:
        raise _refused(parameter, str(found), wanted)
    return found


def _vdevice(parameter: Parameter, value: Any) -> VDevice:
    wanted = 'a virtual device, such as "llvm:0"'
    try:
        # "cpu" is another name of the target that compiles for it.
        named = re.sub(r"^cpu(?=:|$)", "llvm", value) if isinstance(value, str) else value
        found = as_vdevice(named)
    except ValueError:
        raise _refused(parameter, value, wanted) from None
    if not isinstance(found, VDevice):
        raise _refused(parameter, value, wanted)
    return found


def _device(parameter: Parameter, value: Any) -> VDevice:
    wanted = 'a device, such as `R.device("cpu", 0)`'
    try:
        # A device of the run time is written as such a text too.
        found = as_vdevice(str(value) if isinstance(value, values.Device) else value)
    except ValueError:
        raise _refused(parameter, value, wanted) from None
    if not isinstance(found, VDevice):
        raise _refused(parameter, value, wanted)
    return found


_Conversion = Callable[[Parameter, Any], Any]


def _or_none(convert: _Conversion) -> _Conversion:
    return lambda parameter, value: None if value is None else convert(parameter, value)


_PLAIN: Mapping[str, _Conversion] = {
    "int": _integer,
    "Axes": _integers,
    "int | Axes": _integer_or_integers,
    "float": _number,
    "bool": _truth,
    "str": _text,
    "DType": _dtype,
    "VirtualDevice": _vdevice,
    "Device": _device,
}
_CONVERSIONS = {
    **_PLAIN,
    **{f"{word} | None": _or_none(convert) for word, convert in _PLAIN.items()},
}
