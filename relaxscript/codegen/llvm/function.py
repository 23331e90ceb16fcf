"""From PrimFuncs to the text of an LLVM module.

Every PrimFunc is a function `i32 (ptr details, parameters..., variables...)`: buffers are pointers,
integers and bools i64, floats double. The variables, each i64, are the dimensions, strides and
offsets that the buffers define, in the order of `semantics.prim_func_abi.PrimFuncSignature`. Behind
these are the sizes in bytes of parameters that are plain memory. Who calls has checked that
arguments fit the signature. The result is 0, or the number of a failure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from relaxscript.dtypes import DataType
from relaxscript.errors import Span, VMError, quantity
from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import GlobalVar
from relaxscript.semantics import tir_errors
from relaxscript.semantics.prim_func_abi import (
    BufferParam,
    Extent,
    MemoryParam,
    Param,
    PrimFuncSignature,
)

from .buffer_address import BufferAddress, CodegenOptions
from .context import EmissionRules, FunctionContext
from .counters import begin_timing, end_timing
from .elements import emit_load, i64, size_of, strides_of
from .engine import ModuleParts
from .expression import emit
from .external import emit_external
from .ir_writer import DETAILS, Explain, FailureSites, Value
from .long_rows import NOT_OPTIMISED, is_long_row
from .memory import emit_extent, place_of, terms_of, without_wrapping
from .reductions import emit_reduction
from .statement import emit_body
from .types import register, storage
from .value_ranges import DIMENSION, Interval, limits
from .vector_math import emit_vector_math
from .workspace import is_row_of_calls

__all__ = ["ENTRY", "ModuleText"]

ENTRY = "relaxscript_entry"
# From so many lines on, functions that only call others are an object of their own, which costs a
# millisecond.
LONG = 100
RETURNED, RESULT = DETAILS - 3, DETAILS - 2


class ModuleText:
    """The text of an LLVM module for some PrimFuncs, its entries, and all that they call."""

    def __init__(
        self, options: CodegenOptions, module: IRModule | None, as_written: bool = False
    ) -> None:
        self.options = options
        # Whether LLVM only puts values into registers: loops and addresses are what is written.
        self.as_written = as_written
        self.module = module
        self.sites = FailureSites()
        self.functions: list[str] = []
        # Functions that only call others, of code that is compiled as it is written.
        self.glue: list[str] = []
        self.results: dict[tir.PrimFunc, DataType | None] = {}
        self.entries: dict[tir.PrimFunc, str] = {}
        self._symbols: dict[tir.PrimFunc, str] = {}
        self._open: list[tir.PrimFunc] = []
        # Which functions are glue, and the symbols of those that others call.
        self._of_glue: set[tir.PrimFunc] = set()
        self._called_glue: set[str] = set()
        # The functions that are blocks of others, from what stands behind their names.
        self._shared: dict[str, str] = {}

    def shared_function(self, text: str) -> str:
        """The symbol of a function that gives nothing, by its parameters and its body."""
        symbol = self._shared.get(text)
        if symbol is None:
            symbol = self._shared[text] = f"relaxscript_shared{len(self._shared)}"
            self.functions.append(f"define internal void @{symbol}{text}")
        return symbol

    def add_entries(self, functions: Iterable[tir.PrimFunc]) -> None:
        """Write PrimFuncs that are called from outside."""
        for func in functions:
            self.entries[func] = f"{ENTRY}{len(self.entries) or ''}"
        for func in self.entries:
            self.add(func)

    def add(self, func: tir.PrimFunc, span: Span | None = None) -> str:
        """The symbol of a PrimFunc, which is written unless it is there already."""
        if func in self._open:
            raise tir_errors.invalid("RX0505", "a PrimFunc that calls itself has no code", span)
        if func not in self._symbols:
            symbol = self.entries.get(func, f"relaxscript_f{len(self._symbols)}")
            self._symbols[func] = symbol
            self._open.append(func)
            cx = FunctionContext(self, func, RULES)
            internal = func not in self.entries and not self.as_written
            made = self.functions
            if self.as_written and only_calls(func):
                self._of_glue.add(func)
                made = self.glue
            made.append(function_text(cx, symbol, internal))
            self.results[func] = cx.result
            self._open.pop()
        if func in self._of_glue and self._open and self._open[-1] not in self._of_glue:
            self._called_glue.add(self._symbols[func])
        return self._symbols[func]

    def find(self, var: GlobalVar, span: Span | None) -> tir.PrimFunc:
        """The PrimFunc of a name."""
        module = self.module
        found = module[var] if module is not None and var in module else None
        if not isinstance(found, tir.PrimFunc):
            raise tir_errors.undefined("PrimFunc", var.name_hint, span)
        return found

    def __str__(self) -> str:
        return "\n".join([*self.sites.declarations.values(), *self.functions, *self.glue]) + "\n"

    def parts(self) -> ModuleParts | None:
        """The text in parts, where a function that only calls others is long.

        LLVM takes ten times as long for it as for one that it takes as it stands, and finds little.
        """
        if sum(text.count("\n") for text in self.glue) < LONG:
            return None
        mentioned = {name for text in self.glue for name in _SYMBOL.findall(text)}
        used: list[str] = []
        # A later declaration may be a function that calls what is declared before.
        for text in reversed(self.sites.declarations.values()):
            declared, *others = _SYMBOL.findall(text)
            if declared in mentioned:
                used.append(text)
                mentioned.update(others)
        called = _declarations(self.functions, mentioned)
        glue = "\n".join([*reversed(used), *called, *self.glue]) + "\n"
        called = _declarations(self.glue, self._called_glue)
        text = "\n".join([*self.sites.declarations.values(), *called, *self.functions]) + "\n"
        return ModuleParts(text, glue)


def _declarations(functions: Iterable[str], mentioned: Collection[str]) -> list[str]:
    """The declarations of those functions that are mentioned elsewhere."""
    found = map(_DEFINED.match, functions)
    return [f"declare {one[1]} nounwind" for one in found if one and one[2] in mentioned]


_SYMBOL = re.compile(r"@([\w.]+)")
_DEFINED = re.compile(r"define (i32 @([\w.]+)\(.*\)) nounwind")


def only_calls(func: tir.PrimFunc) -> bool:
    """True for the function that a run of bindings is: a block that calls PrimFuncs."""
    body = func.body
    return isinstance(body, tir.BlockRealize) and is_row_of_calls(body.block)


def _abi(dtype: DataType) -> str:
    return "double" if dtype.is_float else "i64"


def memories(signature: PrimFuncSignature) -> list[int]:
    """The parameters that are plain memory, by their positions."""
    return [i for i, p in enumerate(signature.params) if isinstance(p, MemoryParam)]


def function_text(cx: FunctionContext, symbol: str, internal: bool) -> str:
    """The definition of the function."""
    params = ["ptr noalias %details"]
    for i, param in enumerate(cx.signature.params):
        if isinstance(param, (BufferParam, MemoryParam)):
            params.append(f"ptr %a{i}")
        else:
            params.append(f"{_abi(param.var.dtype)} %a{i}")
    params += [f"i64 %n{i}" for i in range(len(cx.signature.variables))]
    params += [f"i64 %m{i}" for i in memories(cx.signature)]
    for declared in params[1:]:
        type_, _, name = declared.partition(" %")
        cx.asm.types[name] = type_
    begin_variables(cx)
    begin_buffers(cx)
    emit_body(cx, cx.func.body)
    linkage = "internal " if internal else ""
    attributes = f"nounwind {NOT_OPTIMISED}" if is_long_row(cx.func) else "nounwind"
    return cx.asm.text(f"define {linkage}i32 @{symbol}({', '.join(params)}) {attributes}")


def begin_variables(cx: FunctionContext) -> None:
    for i, param in enumerate(cx.signature.params):
        if not isinstance(param, (BufferParam, MemoryParam)):
            dtype = param.var.dtype
            given = Value(_abi(dtype), f"%a{i}")
            name = "fptrunc" if dtype.is_float else "trunc"
            cx.values[param.var] = cx.asm.convert(name, given, register(dtype))
    pairs = zip(cx.signature.variables, cx.signature.sources, strict=True)
    for i, (var, source) in enumerate(pairs):
        given = Value("i64", f"%n{i}")
        if source.kind == "dimension":
            interval = (0, min(DIMENSION[1], limits(var.dtype)[1]))
            limit_dimension(cx, source, given, interval)
            cx.ranges.define(var, interval)
            cx.proofs.define(var, interval)
        cx.values[var] = cx.asm.convert("trunc", given, register(var.dtype))


def limit_dimension(cx: FunctionContext, source: Extent, given: Value, interval: Interval) -> None:
    """Fail for dimensions that no memory can hold: code for indices relies on it."""
    name = cx.signature.params[source.param].name
    beyond = cx.asm.compare("icmp ugt", given, i64(cx, interval[1]))
    cx.asm.fail_if(
        beyond, lambda details: tir_errors.bad_argument(f"argument `{name}` is too large")
    )


def begin_buffers(cx: FunctionContext) -> None:
    for i, param in enumerate(cx.signature.params):
        pointer = Value("ptr", f"%a{i}")
        if isinstance(param, MemoryParam):
            size = Value("i64", f"%m{i}")
            known = cx.proofs.unknown((0, limits(prim.INT64)[1]))
            cx.owners[param.var] = BufferAddress(pointer, DataType("uint8"), (size,), (known,))
        if not isinstance(param, BufferParam):
            continue
        buffer = param.buffer
        storage(buffer.dtype, buffer.span)
        with without_wrapping(cx, lambda details: tir_errors.too_large(cx.signature.name)):
            shape = tuple([emit_extent(cx, e) for e in buffer.shape])
            strides = tuple([emit_extent(cx, e) for e in buffer.strides]) or None
        for e in buffer.shape:
            cx.proofs.fits(e)
        extents = terms_of(cx, buffer.shape)
        cx.define(buffer, BufferAddress(pointer, buffer.dtype, shape, extents, strides))


def emit_return(cx: FunctionContext, value: prim.PrimExpr) -> Value:
    if cx.result not in (None, value.dtype):
        message = f"{value.dtype} is returned here, but {cx.result} elsewhere"
        raise tir_errors.invalid("RX0502", message, value.span)
    cx.result = value.dtype
    number = to_abi(cx, emit(cx, value), value.dtype)
    store_detail(cx, RESULT, number)
    store_detail(cx, RETURNED, i64(cx, 1))
    cx.asm.exit_with(Value("i32", "0"))
    return number


def store_detail(cx: FunctionContext, index: int, value: Value) -> None:
    """Store a word of the details."""
    place = cx.asm.value("ptr", f"getelementptr i64, ptr %details, i64 {index}")
    cx.asm.do(f"store {value}, {place}")


def to_abi(cx: FunctionContext, value: Value, dtype: DataType) -> Value:
    """A number as it is handed over."""
    if dtype.is_float:
        return cx.asm.convert("fpext", value, "double")
    return cx.asm.to_i64(value, dtype)


def from_abi(cx: FunctionContext, value: Value, dtype: DataType) -> Value:
    """A number as it is used."""
    name = "fptrunc" if dtype.is_float else "trunc"
    return cx.asm.convert(name, value, register(dtype))


def emit_function_call(cx: FunctionContext, e: prim.Call, function: GlobalVar) -> Value:
    callee = cx.module.find(function, e.span)
    symbol = cx.module.add(callee, e.span)
    signature = PrimFuncSignature(callee)
    if len(e.args) != len(signature.params):
        raise tir_errors.invalid(
            "RX0502",
            f"`{function.name_hint}` takes {quantity(len(signature.params), 'argument')}, "
            f"not {len(e.args)}",
            e.span,
        )
    places: dict[int, BufferAddress] = {}
    passed = [Value("ptr", "%details")]
    for i, (param, arg) in enumerate(zip(signature.params, e.args, strict=True)):
        passed.append(emit_argument(cx, i, param, arg, places))
    numbers = [extent_of_argument(cx, source, places) for source in signature.sources]
    sizes = [size_of(cx, places[i]) for i in memories(signature)]
    verify_arguments(cx, signature, passed[1:], numbers, places, e.span)
    asm = cx.asm
    store_detail(cx, RESULT, i64(cx, 0))
    text = ", ".join(map(str, [*passed, *numbers, *sizes]))
    start = begin_timing(asm) if cx.options.profile else None
    status = asm.value("i32", f"call i32 @{symbol}({text})")
    if start is not None:
        end_timing(asm, start, function, e.span)
    failed, ahead = asm.name(), asm.name()
    asm.branch(asm.compare("icmp ne", status, asm.number("i32", 0)), failed, ahead)
    asm.begin(failed)
    asm.exit_with(status)
    asm.jump(ahead)
    asm.begin(ahead)
    if e.dtype.kind not in ("void", "handle"):
        require_number(cx, e, function)
    store_detail(cx, RETURNED, i64(cx, 0))
    if e.dtype.kind in ("void", "handle"):
        return i64(cx, 0)
    place = asm.value("ptr", f"getelementptr i64, ptr %details, i64 {RESULT}")
    type_ = _abi(e.dtype)
    return from_abi(cx, asm.value(type_, f"load {type_}, {place}"), e.dtype)


def require_number(cx: FunctionContext, e: prim.Call, function: GlobalVar) -> None:
    """Fail where a function came to its end and was to give a number."""
    place = cx.asm.value("ptr", f"getelementptr i64, ptr %details, i64 {RETURNED}")
    returned = cx.asm.value("i64", f"load i64, {place}")
    missing = cx.asm.compare("icmp eq", returned, i64(cx, 0))
    name, dtype, span = function.name_hint, e.dtype, e.span
    cx.asm.fail_if(missing, lambda details: tir_errors.missing_return(name, dtype, span))


def emit_argument(
    cx: FunctionContext,
    index: int,
    param: Param,
    arg: prim.PrimExpr,
    places: dict[int, BufferAddress],
) -> Value:
    if not isinstance(param, (BufferParam, MemoryParam)):
        if arg.dtype != param.var.dtype:
            message = f"argument `{param.name}` is {arg.dtype}, not {param.var.dtype}"
            raise tir_errors.invalid("RX0502", message, arg.span)
        return to_abi(cx, emit(cx, arg), arg.dtype)
    place = cx.owners.get(arg) if isinstance(arg, prim.Var) else None
    if place is None:
        raise tir_errors.invalid(
            "RX0502", f"argument `{param.name}` is not the pointer of a buffer", arg.span
        )
    places[index] = place
    if isinstance(param, BufferParam):
        check_buffer_argument(cx, param, place, arg)
    elif place.strides is not None:
        raise tir_errors.invalid(
            "RX0505", f"the array behind `{param.name}` is not compact", arg.span
        )
    return place.pointer


def check_buffer_argument(
    cx: FunctionContext, param: BufferParam, place: BufferAddress, arg: prim.PrimExpr
) -> None:
    buffer, name = param.buffer, param.name
    if place.dtype != buffer.dtype:
        message = f"argument `{name}` holds {place.dtype}, not {buffer.dtype}"
        raise tir_errors.invalid("RX0502", message, arg.span)
    if len(place.shape) != buffer.ndim:
        message = (
            f"argument `{name}` has {quantity(len(place.shape), 'dimension')}, not {buffer.ndim}"
        )
        raise tir_errors.invalid("RX0503", message, arg.span)
    if place.strides is not None and not buffer.strides:
        message = f"argument `{name}` is a region with strides, but must be compact"
        raise tir_errors.invalid("RX0505", message, arg.span)


def extent_of_argument(
    cx: FunctionContext, extent: Extent, places: dict[int, BufferAddress]
) -> Value:
    """A dimension, stride or offset of an argument."""
    place = places[extent.param]
    match extent.kind:
        case "dimension":
            return place.shape[extent.axis]
        case "stride":
            return strides_of(cx, place)[extent.axis]
    return i64(cx, 0)


def verify_arguments(
    cx: FunctionContext,
    signature: PrimFuncSignature,
    args: Sequence[Value],
    numbers: Sequence[Value],
    places: dict[int, BufferAddress],
    span: Span | None,
) -> None:
    """Compare what is passed with what the parameters of the callee say."""
    outer = dict(cx.values)
    for param, arg in zip(signature.params, args, strict=True):
        if not isinstance(param, (BufferParam, MemoryParam)):
            cx.values[param.var] = from_abi(cx, arg, param.var.dtype)
    for var, number in zip(signature.variables, numbers, strict=True):
        cx.values[var] = from_abi(cx, number, var.dtype)
    for extent in signature.checks:
        actual = extent_of_argument(cx, extent, places)
        with without_wrapping(
            cx, lambda details: tir_errors.too_large(signature.name).locate(span)
        ):
            expected = emit_extent(cx, extent.expected)
        if actual == expected:
            continue
        cx.asm.fail_if(
            cx.asm.compare("icmp ne", actual, expected),
            explain_mismatch(cx, signature, extent, span),
            [actual, expected],
        )
    cx.values = outer


def explain_mismatch(
    cx: FunctionContext, signature: PrimFuncSignature, extent: Extent, span: Span | None
) -> Explain:
    name = signature.params[extent.param].name

    def explain(details: Sequence[int]) -> VMError:
        message = f"{extent} of argument `{name}` of `{signature.name}` is {details[0]}, "
        return tir_errors.bad_argument(f"{message}not {details[1]}").locate(span)

    return explain


RULES = EmissionRules(
    emit_load, place_of, emit_reduction, emit_external, emit_function_call, emit_vector_math,
    emit_return,
)  # fmt: skip
