"""Errors of PrimFuncs, in the same words whether they are evaluated or compiled.

Failures of a run are `VMError`s. A program that has no meaning is refused with a `DiagnosticError`
before anything runs: a store of another dtype, or a buffer that is not defined.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, Span, VMError, quantity
from relaxscript.ir import prim, tir
from relaxscript.ir.intrinsic import Intrinsic, lookup
from relaxscript.ir.tir_compute import ProducerLoad, Reduce

__all__ = [
    "assertion_failed",
    "bad_argument",
    "check_arity",
    "check_assignment",
    "check_axes",
    "check_hint",
    "check_operands",
    "check_rank",
    "check_region",
    "check_store",
    "division_by_zero",
    "does_not_fit",
    "invalid",
    "missing_return",
    "no_value",
    "out_of_bounds",
    "out_of_memory",
    "region_mismatch",
    "too_large",
    "undefined",
    "unsupported_intrinsic",
    "unsupported_statement",
    "wrong_dtypes",
]  # fmt: skip

RUN_TIME = "RX0614"
ASSERTION = "RX0611"
ARGUMENT = "RX0601"


def out_of_bounds(buffer: str, axis: int, index: int, extent: int, span: Span | None) -> VMError:
    """An element outside of a buffer was read or written."""
    message = (
        f"index {index} is outside of dimension {axis} of buffer `{buffer}`, which has "
        f"{extent} elements"
    )
    return VMError(message, code=RUN_TIME, span=span)


def does_not_fit(buffer: str, span: Span | None) -> VMError:
    """A buffer reaches beyond the memory behind it."""
    message = f"buffer `{buffer}` reaches beyond the memory that it is declared over"
    return VMError(message, code=RUN_TIME, span=span)


def region_mismatch(buffer: str, shape: Sequence[int], span: Span | None) -> VMError:
    """A region of a buffer does not have the shape of the buffer that names it."""
    message = f"buffer `{buffer}` does not have the shape of its region, {tuple(shape)}"
    return VMError(message, code=RUN_TIME, span=span)


def division_by_zero(span: Span | None) -> VMError:
    """An integer was divided by zero."""
    return VMError("an integer was divided by zero", code=RUN_TIME, span=span)


def assertion_failed(message: str, span: Span | None) -> VMError:
    """An assertion of the program does not hold."""
    return VMError(message or "an assertion does not hold", code=ASSERTION, span=span)


def out_of_memory(buffer: str, span: Span | None) -> VMError:
    """There is no memory for a buffer."""
    return VMError(f"there is no memory for buffer `{buffer}`", code=RUN_TIME, span=span)


def bad_argument(message: str) -> VMError:
    """An argument is not what the signature says."""
    return VMError(message, code=ARGUMENT)


def too_large(function: str) -> VMError:
    """A dimension that other arguments decide does not fit its dtype."""
    return bad_argument(f"the dimensions of the arguments of `{function}` are too large together")


def invalid(code: str, message: str, span: Span | None, help: str | None = None) -> DiagnosticError:
    """The program has no meaning."""
    return DiagnosticError(Diagnostic(code, message, span, help=help))


def undefined(kind: str, name: str, span: Span | None) -> DiagnosticError:
    """A variable or buffer is used where it is not defined."""
    return invalid("RX0101", f"the {kind} `{name}` is not defined here", span)


def check_arity(e: prim.Call, row: Intrinsic) -> None:
    """Raise unless a call has as many operands as its intrinsic takes, strings where it does."""
    if row.arity is not None and len(e.args) != row.arity:
        message = f"`{row.script_name}` takes {quantity(row.arity, 'operand')}, not {len(e.args)}"
        raise invalid("RX0502", message, e.span)
    for index, name in enumerate(row.parameters):
        arg = e.args[index] if index < len(e.args) else None
        if name in row.texts and not isinstance(arg, prim.StringImm):
            found = "nothing" if arg is None else arg.dtype
            message = f"`{row.script_name}` takes a string as its `{name}`, not {found}"
            raise invalid("RX0502", message, getattr(arg, "span", None) or e.span)


def wrong_dtypes(row: Intrinsic, e: prim.Call) -> DiagnosticError:
    """An intrinsic is called with operands, or for a result, of dtypes that it has not."""
    dtypes = ", ".join(str(arg.dtype) for arg in e.args)
    return invalid("RX0502", f"`{row.script_name}` does not give {e.dtype} of {dtypes}", e.span)


# What to write instead of intrinsics that people reach for, and that no CPU of ours has.
_INSTEAD = {
    "vscale": "vectors of this CPU have a fixed number of lanes: `A[i:i + 4]`",
    "llvm_lookup_intrinsic_id": "numbers differ from LLVM to LLVM, call intrinsics by their names: "
    '`T.call_llvm_pure_intrin("float32", "llvm.fma", a, b, c)`',
}


def unsupported_intrinsic(name: str, what: str, span: Span | None) -> DiagnosticError:
    """An intrinsic that the CPU has not; `what` is "compiled for the CPU" or the like."""
    return invalid("RX0505", f"`{name}` cannot be {what}", span, _INSTEAD.get(name))


def no_value(e: prim.PrimExpr) -> DiagnosticError:
    """A node that has no value where a number is needed."""
    if isinstance(e, ProducerLoad):
        message = "`T.ProducerLoad` reads what a tensor expression produces, and there is none here"
        return invalid("RX0505", message, e.span, "read a buffer: `A[i]`")
    if isinstance(e, Reduce):
        return invalid("RX0505", "`T.Reduce` has no meaning in a dimension", e.span)
    return invalid("RX0501", f"{_callee(e)} gives no number", e.span)


def unsupported_statement(s: tir.Stmt) -> DiagnosticError:
    """A statement that cannot be run on a CPU."""
    return invalid("RX0501", f"`T.{type(s).__name__}` cannot be run", s.span)


def check_hint(s: tir.AttrStmt) -> None:
    """Raise where a hint is none: threads of a GPU."""
    if s.attr_key in ("thread_extent", "virtual_thread"):
        message = "`T.launch_thread` starts threads of a GPU, which the CPU does not have"
        raise invalid("RX0505", message, s.span, "loop over `T.parallel(...)`")


def _callee(e: prim.PrimExpr) -> str:
    """The function of `T.` that makes an expression."""
    row = lookup(e.op) if isinstance(e, prim.Call) else None
    return f"`T.{type(e).__name__ if row is None else row.script_name}`"


def check_operands(e: prim.PrimExpr, operands: Sequence[prim.PrimExpr]) -> None:
    """Raise unless all operands of `e` have one dtype."""
    first = operands[0]
    for other in operands[1:]:
        if other.dtype != first.dtype:
            raise invalid(
                "RX0502",
                f"the operands of {_callee(e)} are {first.dtype} and {other.dtype}",
                e.span,
                'convert one of them with `T.cast(x, "...")`',
            )


def check_store(store: tir.BufferStore) -> None:
    """Raise unless the value has the dtype of what it is stored into."""
    lanes = max((index.dtype.lanes for index in store.indices), default=1)
    expected = store.buffer.dtype.with_lanes(lanes)
    if store.value.dtype != expected:
        raise invalid(
            "RX0502",
            f"a value of {store.value.dtype} is stored into `{store.buffer.name}`, "
            f"which holds {expected}",
            store.span,
            f'convert it with `T.cast(value, "{expected}")`',
        )
    check_rank(store.buffer, store.indices, store.span)


def check_rank(buffer: tir.Buffer, indices: Sequence[prim.PrimExpr], span: Span | None) -> None:
    """Raise unless there is one integer index for each dimension."""
    if len(indices) != buffer.ndim:
        raise invalid(
            "RX0503",
            f"buffer `{buffer.name}` has {quantity(buffer.ndim, 'dimension')}, not {len(indices)}",
            span,
        )
    for index in indices[:-1]:
        if index.dtype.lanes != 1:
            raise invalid(
                "RX0503",
                f"only the last index of buffer `{buffer.name}` may be a vector",
                index.span or span,
            )
    for index in indices:
        if not index.dtype.is_integer:
            raise invalid(
                "RX0503",
                f"an index of buffer `{buffer.name}` is {index.dtype}, not an integer",
                index.span or span,
            )


def check_assignment(var: prim.Var, value: prim.PrimExpr) -> None:
    """Raise unless a variable can stand for a value: one dtype, or integers of any width."""
    if var.dtype is value.dtype:
        return
    both = var.dtype.is_integer and value.dtype.is_integer and var.dtype.lanes == value.dtype.lanes
    if not both and var.dtype != value.dtype:
        raise invalid(
            "RX0502",
            f"`{var.name}` is {var.dtype}, but its value is {value.dtype}",
            value.span or var.span,
        )


def check_region(m: tir.MatchBufferRegion) -> None:
    """Raise unless a buffer can name a region: with no more dimensions, of its dtype."""
    buffer, source, span = m.buffer, m.source.buffer, m.span or m.buffer.span
    if buffer.ndim > len(m.source.region):
        message = f"buffer `{buffer.name}` has more dimensions than its region"
        raise invalid("RX0503", message, span)
    if buffer.dtype != source.dtype:
        message = (
            f"buffer `{buffer.name}` holds {buffer.dtype}, but its region of `{source.name}` "
            f"holds {source.dtype}"
        )
        raise invalid("RX0502", message, span)


def check_axes(s: tir.BlockRealize) -> None:
    """Raise unless a block has one value for each of its axes."""
    block = s.block
    if len(s.iter_values) != len(block.iter_vars):
        raise invalid(
            "RX0504",
            f"block `{block.name_hint}` has {quantity(len(block.iter_vars), 'axis')}, but "
            f"{quantity(len(s.iter_values), 'value')}",
            s.span or block.span,
        )


def missing_return(name: str, dtype: DataType, span: Span | None = None) -> VMError:
    """The error where a function comes to its end and was to give a number."""
    message = f"`{name}` ends without returning the {dtype} that it declares"
    return VMError(message, code="RX0605", span=span)
