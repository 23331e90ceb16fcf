"""Functions of groups of bindings, one for all groups that differ in names only."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from relaxscript.errors import SequentialSpan, Span
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import traversal_of
from relaxscript.ir.prim import IntImm, PrimExpr, Var as PrimVar
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import (
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.walk import free_vars, substitute
from relaxscript.op.calls import call_tir
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf

from .function_names import FunctionNames
from .tir_calls import TIRCall

__all__ = ["FusedFunctions", "Member"]

# A binding and what it calls; None for one that takes a field of a tuple.
Member = tuple[Binding, TIRCall | None]

_PRIMITIVE = Attrs({"Primitive": True})


class FusedFunctions:
    """The functions of groups: `made` has the new ones of a module."""

    def __init__(self, mod: IRModule) -> None:
        self.made: dict[GlobalVar, Function] = {}
        self._names = FunctionNames(mod)
        self._known: dict[Hashable, GlobalVar] = {}

    def call(self, group: Sequence[Member]) -> Binding:
        """The binding that takes the place of a group: its last variable is a call."""
        key = _GroupKey(group)
        gvar = self._known.get(key.key)
        if gvar is None:
            parts = [call.gvar.name_hint for _, call in group if call is not None]
            gvar = GlobalVar.make(self._names.fused(parts))
            self.made[gvar] = _function(group, key)
            self._known[key.key] = gvar
        last = group[-1][0]
        args: list[Expr] = [*key.params]
        if key.passed:
            args.append(ShapeExpr.make(tuple(key.passed)))
        call = Call.make(gvar, tuple(args), span=_place_of(group))
        remember_struct_info(call, key.result)
        return VarBinding.make(last.var, call, span=last.span)


def _place_of(group: Sequence[Member]) -> Span | None:
    """The places of all that a group computes; it stands where its last value does, if anywhere."""
    spans = [binding.value.span or binding.span for binding, _ in group]
    known = [span for span in spans if span is not None]
    is_several = spans[-1] is not None and len(known) > 1
    return SequentialSpan(known) if is_several else group[-1][0].value.span


class _GroupKey:
    """The key of the function of a group: all that decides about it.

    `params` are what the group takes from outside, and `result` is the StructInfo of its value.
    `passed` are the shape variables that no shape of the parameters tells.
    """

    def __init__(self, group: Sequence[Member]) -> None:
        self.params: dict[Expr, int] = {}
        self._numbers: dict[PrimVar, int] = {}
        self._told: set[PrimVar] = set()
        # By identity, with the StructInfo, so that no other gets its place in memory.
        self._tokens: dict[int, tuple[Hashable, StructInfo]] = {}
        inside: dict[Expr, int] = {}
        parts: list[Hashable] = []
        for number, (binding, call) in enumerate(group):
            value = binding.value
            if call is None:
                assert isinstance(value, TupleGetItem)
                parts.append((inside[value.tuple_value], value.index))
            else:
                parts.append(call.gvar.name_hint)
                parts += [self._operand(arg, inside) for arg in call.args]
                parts.append(self._token(call.result))
                parts += [self._scalar(e) for e in call.integers]
            inside[binding.var] = number
        self.key = tuple(parts)
        self.passed = [var for var in self._numbers if var not in self._told]
        self.result = _result_of(group)

    def _operand(self, arg: Expr, inside: dict[Expr, int]) -> Hashable:
        number = inside.get(arg)
        if number is not None:
            return number
        if isinstance(arg, Constant) and not arg.data.ndim:  # which stays where it is
            return "scalar", arg.data.dtype, arg.data.tobytes()
        if arg in self.params:
            return "param", self.params[arg]
        self.params[arg] = len(self.params)
        info = struct_info_of_leaf(arg)
        assert isinstance(info, TensorStructInfo), "the call fits"
        self._told.update([d for d in info.dims or () if isinstance(d, PrimVar)])
        return "param", self._token(info)

    def _token(self, info: StructInfo) -> Hashable:
        known = self._tokens.get(id(info))
        if known is not None:
            return known[0]
        token: Hashable
        if isinstance(info, TensorStructInfo):
            dims = tuple([self._scalar(dim) for dim in info.dims or ()])
            token = info.dtype, dims, info.vdevice
        else:
            assert isinstance(info, TupleStructInfo)
            token = tuple([self._token(field) for field in info.fields])
        self._tokens[id(info)] = token, info
        return token

    def _scalar(self, e: PrimExpr) -> Hashable:
        if e.__class__ is IntImm:
            return e.value
        if isinstance(e, PrimVar):
            return "var", e.dtype, self._numbers.setdefault(e, len(self._numbers))
        parts = [getattr(e, field.name) for field in traversal_of(type(e))]
        inner = [self._scalar(p) if isinstance(p, PrimExpr) else p for p in parts]
        return (type(e).__name__, e.dtype, *inner)


def _result_of(group: Sequence[Member]) -> StructInfo:
    """The StructInfo of the value of a group."""
    binding, call = group[-1]
    if call is not None:
        return call.result
    value = binding.value
    assert isinstance(value, TupleGetItem)
    held = next(made.result for b, made in group if made and b.var is value.tuple_value)
    assert isinstance(held, TupleStructInfo)
    return held.fields[value.index]


def _function(group: Sequence[Member], key: _GroupKey) -> Function:
    """The function of a group, with shape variables of its own."""
    own = _Renewed()
    params: dict[Expr, Var] = {}
    constants = 0
    for arg in key.params:
        if isinstance(arg, Var):
            name = arg.name_hint
        else:
            name, constants = f"param_{constants}", constants + 1
        params[arg] = Var.make(name, own.struct_info(struct_info_of_leaf(arg)), span=arg.span)
    given = [*params.values()]
    if key.passed:
        sizes = tuple([own.size(var) for var in key.passed])
        given.append(Var.make("tir_vars", ShapeStructInfo.make(sizes, len(sizes))))
    variables: dict[Expr, Var] = {**params}
    bindings: list[Binding] = []
    for binding, call in group:
        last = binding is group[-1][0]
        value = binding.value
        if call is None:
            assert isinstance(value, TupleGetItem)
            held = variables[value.tuple_value]
            made: Expr = TupleGetItem.make(held, value.index, span=value.span)
            assert isinstance(held.struct_info, TupleStructInfo)
            info = held.struct_info.fields[value.index]
        else:
            info = own.struct_info(call.result)
            operands: tuple[Expr, ...] = (
                call.gvar, Tuple.make(tuple([variables.get(arg, arg) for arg in call.args]))
            )  # fmt: skip
            if call.integers:
                operands = *operands, ShapeExpr.make(tuple(map(own.size, call.integers)))
            made = Call.make(call_tir.op, operands, None, (info,), span=value.span)
        remember_struct_info(made, info)
        kind, name = (Var, "gv") if last else (DataflowVar, binding.var.name_hint)
        var = variables[binding.var] = kind.make(name, info, span=binding.var.span)
        bindings.append(VarBinding.make(var, made, span=binding.span))
    body = SeqExpr.make((DataflowBlock.make(tuple(bindings)),), bindings[-1].var)
    return Function.make(tuple(given), body, bindings[-1].var.struct_info, True, _PRIMITIVE)


class _Renewed:
    """StructInfos and sizes with new shape variables in the place of those of another function."""

    def __init__(self) -> None:
        self._variables: dict[PrimVar, PrimVar] = {}
        # By identity, with what it was made of, so that no other gets its place in memory.
        self._infos: dict[int, tuple[StructInfo, StructInfo]] = {}

    def struct_info(self, info: StructInfo) -> StructInfo:
        """The same of a tensor, or of a tuple of tensors."""
        known = self._infos.get(id(info))
        if known is None:
            known = self._infos[id(info)] = self._renew(info), info
        return known[0]

    def _renew(self, info: StructInfo) -> StructInfo:
        if isinstance(info, TupleStructInfo):
            return TupleStructInfo.make(tuple([self.struct_info(f) for f in info.fields]))
        assert isinstance(info, TensorStructInfo)
        before = info.dims or ()
        dims = tuple([self.size(dim) for dim in before])
        if all(new is old for new, old in zip(dims, before)):
            return info
        return TensorStructInfo.make(ShapeExpr.make(dims), info.dtype, info.vdevice, info.ndim)

    def size(self, e: PrimExpr) -> PrimExpr:
        """The same size."""
        if e.__class__ is IntImm:
            return e
        if isinstance(e, PrimVar):
            own = self._variables.get(e)
            if own is None:
                own = type(e).make(e.name, e.dtype, e.type_annotation, span=e.span)
                self._variables[e] = own
            return own
        for var in free_vars(e):
            if isinstance(var, PrimVar):
                self.size(var)
        return substitute(e, self._variables)
