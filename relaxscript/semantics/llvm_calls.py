"""Calls of intrinsics of hardware as expressions: those of LLVM by their names, and the others.

`T.call_llvm_pure_intrin("float32", "llvm.fma", a, b, c)`: the name may say dtypes, as in
"llvm.fma.f32", which must be those of the operands. Between the name and the operands, TVM writes
how many operands decide about the dtypes. That number is left out of account.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from relaxscript.errors import did_you_mean, nearest, quantity
from relaxscript.ir import device_expansions, prim
from relaxscript.ir.prim import PrimExpr

from . import tir_errors
from .llvm_intrinsics import KINDS, LANES, NAMED, ROWS, LLVMIntrinsic, suffix_of

__all__ = ["expand_intrinsic"]

_CALLS = ("tir.call_llvm_intrin", "tir.call_llvm_pure_intrin")
_SUFFIX = re.compile(r"((v\d+)?(f|bf|i)\d+|p\d+)(\.((v\d+)?(f|bf|i)\d+|p\d+))*")


def expand_intrinsic(e: prim.Call) -> PrimExpr | None:
    """An expression that means the same as a call; None where the call is not one of these.

    Raises `DiagnosticError` where LLVM has no such intrinsic, or only one for other operands.
    """
    if e.op not in _CALLS:
        return device_expansions.expand_device_call(e)
    name, row, suffix = _find_row(e)
    args = _operands_of(e, row)
    _check(e, row, args)
    if suffix:
        _check_suffix(e, name, row, args, suffix)
    return _expand(e, row, args)


def _find_row(e: prim.Call) -> tuple[str, LLVMIntrinsic, str]:
    """The name that a call calls, its row, and the dtypes in the name."""
    match e.args[:1]:
        case (prim.StringImm(value=name),):
            pass
        case (prim.Call(op="tir.llvm_lookup_intrinsic_id", args=(prim.StringImm(value=name),)),):
            pass
        case _:
            raise tir_errors.invalid(
                "RX0505", "intrinsics of LLVM are called by their names, not by their numbers",
                e.span, 'write the name: `T.call_llvm_pure_intrin("float32", "llvm.fma", a, b, c)`',
            )  # fmt: skip
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        row, suffix = ROWS.get(".".join(parts[:count])), ".".join(parts[count:])
        if row is not None and (not suffix or _SUFFIX.fullmatch(suffix)):
            return name, row, suffix
    near = nearest(name, ROWS)
    raise tir_errors.invalid(
        "RX0505", f"`{name}` is no intrinsic of LLVM that runs on every CPU", e.span,
        did_you_mean(near),
    )  # fmt: skip


def _operands_of(e: prim.Call, row: LLVMIntrinsic) -> list[PrimExpr]:
    args, wanted = list(e.args[1:]), len(row.operands)
    match args[:1]:
        case [prim.IntImm(value=count, dtype=dtype)] if dtype == "uint32":
            if len(args) == wanted + 1 and count <= wanted:
                return args[1:]
    if len(args) != wanted:
        message = f"`{row.name}` takes {quantity(wanted, 'operand')}, not {len(args)}"
        raise tir_errors.invalid("RX0502", message, e.span)
    return args


def _check(e: prim.Call, row: LLVMIntrinsic, args: Sequence[PrimExpr]) -> None:
    """Raise unless the operands, and the result, are of the kinds that the row says."""
    first: dict[str, PrimExpr] = {}
    for word, arg in zip(row.operands, args, strict=True):
        kind, same = KINDS[word], first.setdefault(word, arg)
        literal = isinstance(arg, (prim.IntImm, prim.FloatImm))
        if not kind.accepts(arg.dtype) or (kind.literal and not literal):
            found = f"a value of {arg.dtype}" if kind.literal else arg.dtype
            message = f"`{row.name}` takes {kind.text} here, not {found}"
            raise tir_errors.invalid("RX0502", message, arg.span or e.span)
        if word == "vf" and "e" in first and first["e"].dtype != arg.dtype.element:
            same = first["e"]
        if same.dtype != arg.dtype:
            message = f"the operands of `{row.name}` are {same.dtype} and {arg.dtype}"
            raise tir_errors.invalid("RX0502", message, arg.span or e.span)
    if row.result is not None:
        fits = e.dtype.is_void if row.result == "void" else KINDS[row.result].accepts(e.dtype)
        if not fits:
            text = "nothing (`void`)" if row.result == "void" else KINDS[row.result].text
            message = f"`{row.name}` gives {text}, not {e.dtype}"
            raise tir_errors.invalid("RX0502", message, e.span)
    lanes = {arg.dtype.lanes for word, arg in first.items() if word in LANES}
    if row.result in LANES:
        lanes.add(e.dtype.lanes)
    if len(lanes) > 1:
        dtypes = ", ".join(str(x.dtype) for x in args)
        message = f"`{row.name}` does not give {e.dtype} of {dtypes}, which differ in lanes"
        raise tir_errors.invalid("RX0502", message, e.span)


def _check_suffix(
    e: prim.Call, name: str, row: LLVMIntrinsic, args: Sequence[PrimExpr], suffix: str
) -> None:
    """Raise unless the dtypes in a name are, as far as it says them, those of the call."""
    dtypes = {row.result: e.dtype} if row.result else {}
    dtypes.update(zip(row.operands, (arg.dtype for arg in args), strict=True))
    wanted = [suffix_of(dtypes[word]) for word in row.words if word in NAMED]
    said = suffix.split(".")
    if said != wanted[: len(said)]:
        right = ".".join([row.name, *wanted])
        message = f"`{name}` is called with other dtypes than it says"
        raise tir_errors.invalid("RX0502", message, e.span, f"its name is `{right}` here")


def _expand(e: prim.Call, row: LLVMIntrinsic, args: Sequence[PrimExpr]) -> PrimExpr:
    """The meaning of the operands, each of which is computed once."""
    names: list[tuple[prim.Var, PrimExpr]] = []
    operands: list[PrimExpr] = []
    for arg in args:
        if not isinstance(arg, (prim.Var, prim.Immediate)) and arg.dtype.kind != "handle":
            names.append((prim.Var.make(f"x{len(names)}", arg.dtype), arg))
            operands.append(names[-1][0])
        else:
            operands.append(arg)
    given = [] if row.result is None else [e.dtype]
    made = row.meaning(*given, *operands)
    if row.result != "void" and made.dtype != e.dtype:
        message = f"`{row.name}` gives {made.dtype} here, not {e.dtype}"
        raise tir_errors.invalid("RX0502", message, e.span)
    for var, value in reversed(names):
        made = prim.Let.make(var, value, made)
    return made
