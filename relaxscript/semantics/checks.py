"""StructInfo as run-time checks: what a value must be, for the interpreter and for compiled code.

A function (or an evaluation of one) has one `Checks`, which numbers its shape variables; the shape
heap holds their values by these numbers. `Checks.of` makes the checks of a signature or match_cast.

Source: spec "Evaluating MatchCast", "Checking Structural Information at the Start and End of a
Function".
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

from relaxscript.arith import NO, evaluate, format_expr
from relaxscript.errors import Diagnostic, DiagnosticError, InternalError
from relaxscript.ir import prim
from relaxscript.ir.module import VDevice
from relaxscript.ir.relax import ShapeExpr, Var
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.walk import free_vars, walk
from relaxscript.runtime import (
    AnyCheck,
    Check,
    Device,
    Dim,
    DimBind,
    DimConst,
    DimExpr,
    DimLoad,
    FuncCheck,
    PrimCheck,
    ShapeCheck,
    TensorCheck,
    TupleCheck,
    device,
)
from relaxscript.runtime.checks import DimAny, Heap
from relaxscript.sinfo import (
    definable_shape_vars,
    explain_mismatch,
    is_subtype,
    shape_var_mapping,
    shape_vars,
    substitute_shape_vars,
)

__all__ = [
    "Checks",
    "CompileDimension",
    "SlotOf",
    "compile_dimension",
    "device_of",
    "function_check",
    "specialize_closure_type",
    "undefined_shape_variable",
    "with_variables",
]  # fmt: skip

SlotOf = Callable[[prim.Var], int]
CompileDimension = Callable[[prim.PrimExpr, SlotOf], Callable[[list[Any]], Any]]
_ShapeSlot = Callable[[Var], int]


def compile_dimension(e: prim.PrimExpr, slot_of: SlotOf) -> Callable[[list[Any]], Any]:
    """`e` as a function of the shape heap, evaluated anew each time."""
    slots = {v: slot_of(v) for v in free_vars(e) if isinstance(v, prim.Var)}
    return lambda heap: evaluate(e, {v: heap[slot] for v, slot in slots.items()})


def undefined_shape_variable(var: prim.Var) -> DiagnosticError:
    """The error for a shape variable that is used where it has no value."""
    message = f"the shape variable `{var.name}` is not defined here"
    return DiagnosticError(Diagnostic("RX0109", message, var.span))


class Checks:
    """The shape variables of one function, numbered, and checks that refer to them.

    With `needed`, the StructInfo is trusted: checks tell kinds of values apart, and these variables
    take their values.
    """

    def __init__(
        self, compute: CompileDimension = compile_dimension, needed: set[prim.Var] | None = None
    ) -> None:
        self.slots: dict[prim.Var, int] = {}
        self.needed = needed
        self._compute = compute

    def slot(self, var: prim.Var) -> int:
        """The number of a shape variable in the heap."""
        return self.slots.setdefault(var, len(self.slots))

    def of(
        self, infos: Sequence[StructInfo | None], bound: set[prim.Var], shape_slot: _ShapeSlot
    ) -> tuple[Check, ...]:
        """Checks of values that are matched together; they bind what is not in `bound` yet.

        The variables that they bind are added to `bound`. `shape_slot` says where a variable that
        holds the shape of a tensor is found (`TensorCheck.shape_slot`). Raises `DiagnosticError`
        where a shape variable has no value.
        """
        known = [info or ObjectStructInfo() for info in infos]
        fresh = {v for info in known for v in definable_shape_vars(info)} - bound
        bound |= fresh
        make = _CheckBuilder if self.needed is None else _KindCheckBuilder
        maker = make(self, fresh, bound, shape_slot)
        return tuple(maker.check(info) for info in known)

    def of_arguments(
        self, infos: Sequence[StructInfo | None], captured: int, bound: set[prim.Var],
        shape_slot: _ShapeSlot,
    ) -> tuple[Check, ...]:  # fmt: skip
        """Checks of arguments, the last of which are `captured`: these bind variables first.

        Where such a variable has its value from is nothing to tell anybody. A PackedFunc may be
        given for a callback, a function whose result is any object, or nothing.
        """
        own = len(infos) - captured
        given = {v for info in infos[own:] if info for v in definable_shape_vars(info)}
        bound |= given
        found = self.of(infos[:own], bound, shape_slot)
        checks = map(_or_callback, infos[:own], found)
        return (*checks, *map(_silent, self.of(infos[own:], bound - given, shape_slot)))

    def dim(self, e: prim.PrimExpr, bound: Container[prim.Var]) -> Dim:
        """A dimension that is computed from variables that have values."""
        match e:
            case prim.IntImm(value=value) | prim.FloatImm(value=value):
                return DimConst(value)
            case prim.Var() if e in bound:
                return DimLoad(self.slot(e), e.name)
        variables = [v for v in free_vars(e) if isinstance(v, prim.Var)]
        for v in variables:
            if v not in bound:
                raise undefined_shape_variable(v)
        compute = self._compute(e, self.slot)
        return DimExpr(compute, format_expr(e), (e, {v: self.slot(v) for v in variables}))


def _silent(check: Check) -> Check:
    """A check that binds variables without a word about where from."""
    match check:
        case TensorCheck(dims=dims) | ShapeCheck(dims=dims):
            return replace(check, dims=dims and tuple(map(_as_captured, dims)))
        case PrimCheck(value=value):
            return replace(check, value=value and _as_captured(value))
        case TupleCheck(fields=fields):
            return TupleCheck(tuple(map(_silent, fields)))
        case FuncCheck(binds=variables):
            return replace(check, binds=tuple(replace(dim, captured=True) for dim in variables))
    return check


def _as_captured(dim: Dim) -> Dim:
    return replace(dim, captured=True) if isinstance(dim, DimBind) else dim


class _CheckBuilder:
    """Makes the checks of values that are matched together."""

    def __init__(
        self, checks: Checks, fresh: set[prim.Var], bound: set[prim.Var], shape_slot: _ShapeSlot
    ) -> None:
        self.checks = checks
        self.fresh = fresh
        self.bound = bound
        self.shape_slot = shape_slot
        self.missing = fresh & (checks.needed or set())

    def check(self, info: StructInfo) -> Check:
        match info:
            case ObjectStructInfo():
                return AnyCheck()
            case TensorStructInfo():
                return self.tensor(info)
            case DTensorStructInfo(tensor_sinfo=tensor):  # here one worker has all of it
                return self.check(tensor)
            case ShapeStructInfo(values=values, ndim=ndim):
                return ShapeCheck(ndim, None if values is None else self.dims(values))
            case PrimStructInfo(dtype=dtype, value=value):
                return PrimCheck(dtype, None if value is None else self.dim(value))
            case TupleStructInfo(fields):
                return TupleCheck(tuple(self.check(field) for field in fields))
            case FuncStructInfo():
                known = {v: self.checks.slot(v) for v in shape_vars(info) if v in self.bound}
                fresh = [v for v in definable_shape_vars(info) if v in self.fresh]
                check = function_check(info, known)
                if not fresh:
                    return check
                binds = tuple(DimBind(self.checks.slot(v), v.name) for v in fresh)
                return with_variables(check, info, known, fresh, binds)
        raise InternalError(f"there is no check for {type(info).__name__}")

    def tensor(self, info: TensorStructInfo) -> TensorCheck:
        dims = self.dims(info.shape.values) if isinstance(info.shape, ShapeExpr) else None
        held = self.shape_slot(info.shape) if isinstance(info.shape, Var) else None
        dtype = None if info.dtype.is_void else info.dtype
        name = info.shape.name_hint if isinstance(info.shape, Var) else ""
        return TensorCheck(dtype, info.ndim, dims, device_of(info.vdevice), held, name)

    def dims(self, values: Sequence[prim.PrimExpr]) -> tuple[Dim, ...]:
        return tuple(self.dim(e) for e in values)

    def dim(self, e: prim.PrimExpr) -> Dim:
        if isinstance(e, prim.Var) and e in self.fresh:
            return DimBind(self.checks.slot(e), e.name)
        return self.checks.dim(e, self.bound)


class _KindCheckBuilder(_CheckBuilder):
    """Makes checks of kinds, in which the variables that are needed take their values."""

    def check(self, info: StructInfo) -> Check:
        match info:
            case TensorStructInfo(dims=values):
                taken = self.binds(values)
                return TensorCheck(ndim=len(taken), dims=taken) if taken else TensorCheck()
            case ShapeStructInfo(values=values):
                taken = self.binds(values)
                return ShapeCheck(len(taken), taken) if taken else ShapeCheck()
            case PrimStructInfo(dtype=dtype, value=value):
                taken = self.binds(None if value is None else (value,))
                return PrimCheck(dtype, taken[0] if taken else None)
            case FuncStructInfo():
                check = super().check(info)
                assert isinstance(check, FuncCheck)
                taken = self.binds(definable_shape_vars(info))
                return replace(check, refusal=None, loads=()) if taken else FuncCheck(check.packed)
        return super().check(info)

    def binds(self, values: Sequence[prim.PrimExpr] | None) -> tuple[Dim, ...]:
        """The dimensions where needed variables first are, else any; none without such."""
        found: list[Dim] = []
        for e in values or ():
            if isinstance(e, prim.Var) and e in self.missing:
                self.missing.remove(e)
                found.append(DimBind(self.checks.slot(e), e.name))
            else:
                found.append(DimAny())
        return tuple(found) if any(isinstance(dim, DimBind) for dim in found) else ()


def device_of(vdevice: VDevice | None) -> Device | None:
    """The device that a virtual device stands for on this computer."""
    return None if vdevice is None else device(vdevice.target.kind, vdevice.vdevice_id)


def function_check(wanted: FuncStructInfo, slots: Mapping[prim.Var, int]) -> FuncCheck:
    """A closure must carry StructInfo that may be a subtype; nothing is asked of a PackedFunc.

    `slots` says where the shape variables that `wanted` takes from outside have their values. What
    a function of Python gives in the place of a closure is checked, where the type has no variable.
    """
    if wanted.params is None:
        return FuncCheck(packed=True, text="a packed function")

    def refusal(info: object, heap: Heap) -> str | None:
        if not isinstance(info, FuncStructInfo):
            return None
        type_ = specialize_closure_type(wanted, {v: heap[slot] for v, slot in slots.items()})
        return None if is_subtype(info, type_) is not NO else explain_mismatch(info, type_)

    loads = tuple(DimLoad(slot, v.name) for v, slot in slots.items())
    text = f"a function of type `{wanted!r}`"
    made_of = wanted, dict(slots), ()
    return FuncCheck(False, refusal, text, loads, made_of=made_of, result=_result_check(wanted))


def _result_check(wanted: FuncStructInfo) -> Check | None:
    """The check of what a function gives whose type has no variable; None for other types."""
    if any(isinstance(node, (prim.Var, Var)) for node in walk(wanted)):
        return None
    (result,) = Checks().of((wanted.ret,), set(), lambda held: 0)
    return result


def _or_callback(info: StructInfo | None, check: Check) -> Check:
    """The check of an argument, which admits a PackedFunc for a callback.

    A PackedFunc says nothing of itself. So it is an argument for a parameter that is a function
    whose result is any object, or nothing. What is cast has to carry its type.
    """
    if not isinstance(check, FuncCheck) or not isinstance(info, FuncStructInfo):
        return check
    result = info.ret
    is_unit = isinstance(result, TupleStructInfo) and not result.fields
    if check.packed is not False or not (is_unit or isinstance(result, ObjectStructInfo)):
        return check
    return replace(check, packed=None)


def with_variables(
    check: FuncCheck, wanted: FuncStructInfo, slots: Mapping[prim.Var, int],
    variables: Sequence[prim.Var], binds: tuple[DimBind, ...],
) -> FuncCheck:  # fmt: skip
    """The check of a closure whose type says what these shape variables are."""
    sizes = _shape_variable_values(wanted, variables)
    made_of = wanted, dict(slots), tuple(variables)
    return replace(check, binds=binds, sizes=sizes, made_of=made_of)


def _shape_variable_values(
    wanted: FuncStructInfo, variables: Sequence[prim.Var]
) -> Callable[[object], list[int | None]]:
    """The shape variables of a type by the run-time structural information of a closure."""

    def sizes(info: object) -> list[int | None]:
        if not isinstance(info, FuncStructInfo):
            return [None] * len(variables)
        found = shape_var_mapping((wanted,), (info,))
        said = (found.get(v) for v in variables)
        return [e.value if isinstance(e, prim.IntImm) else None for e in said]

    return sizes


def specialize_closure_type(info: FuncStructInfo, values: Mapping[prim.Var, int]) -> FuncStructInfo:
    """The type of a closure with the shape variables that it captures replaced by their values."""
    captured = {v: values[v] for v in shape_vars(info) if v in values}
    replaced = substitute_shape_vars(info, captured)
    assert isinstance(replaced, FuncStructInfo)
    return replaced
