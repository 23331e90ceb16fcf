"""Calls of PrimFuncs: which buffer each argument is, and what the shape variables are.

A call fits where every dimension is known to be the one that the PrimFunc has. Whatever is checked
only when it runs is no such call, and nobody takes it apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from relaxscript.arith import YES, prove_equal
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm, PrimExpr, Var as PrimVar
from relaxscript.ir.relax import Call, Constant, Expr, GlobalVar, ShapeExpr, Tuple, Var
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.tir import Buffer, PrimFunc
from relaxscript.ir.walk import free_vars, substitute
from relaxscript.op.calls import call_tir
from relaxscript.op.inplace import call_tir_inplace
from relaxscript.op.results import NEW, inplace_indices
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf

__all__ = ["TIRCall", "TIRCalls", "TIRSignature", "tensors_of"]

_CALL_TIR = call_tir.op
_ALL_NEW = (NEW,)
Sizes = Mapping[PrimVar, PrimExpr]


class TIRSignature(NamedTuple):
    """The buffers and the scalars of a PrimFunc, each in their order."""

    func: PrimFunc
    buffers: tuple[Buffer, ...]
    scalars: tuple[PrimVar, ...]


class TIRCall(NamedTuple):
    """A call that fits: its tensors, its results, and what the PrimFunc's shape variables are.

    `indices` has for each result the argument that it is written into, or -1 for a new tensor.
    """

    gvar: GlobalVar
    signature: TIRSignature
    args: tuple[Expr, ...]
    result: StructInfo
    sizes: Mapping[PrimVar, PrimExpr]
    integers: tuple[PrimExpr, ...]
    indices: tuple[int, ...]


class TIRCalls:
    """The calls of the PrimFuncs of a module."""

    def __init__(self, mod: IRModule) -> None:
        self._mod = mod
        self._signatures: dict[str, TIRSignature | None] = {}
        # The sizes of calls without integers, by the PrimFunc and the identities of what is known
        # of the tensors, which is held beside them. Most calls are on tensors like those of others.
        self._sizes: dict[tuple[Hashable, ...], tuple[Sequence[object], Sizes | None]] = {}

    def signature(self, gvar: GlobalVar) -> TIRSignature | None:
        """The buffers and scalars of a PrimFunc; None for all else, and for strided buffers."""
        name = gvar.name_hint
        if name not in self._signatures:
            func = self._mod.functions.get(gvar)
            found = _signature(func) if isinstance(func, PrimFunc) else None
            self._signatures[name] = found
        return self._signatures[name]

    def match(self, value: Expr, in_place: bool = False) -> TIRCall | None:
        """A `call_tir` that fits, and where `in_place` a `call_tir_inplace`; None for all else."""
        if value.__class__ is not Call:
            return None
        is_new = value.op is _CALL_TIR or value.op == _CALL_TIR
        if not (is_new or (in_place and value.op == call_tir_inplace.op)):
            return None
        gvar, held, *rest = value.args
        if not isinstance(gvar, GlobalVar) or not isinstance(held, Tuple):
            return None
        signature = self.signature(gvar)
        result = _result_of(value)
        results = tensors_of(result)
        integers = _integers(rest)
        if signature is None or results is None or integers is None:
            return None
        infos = [_tensor_info(arg) for arg in held.fields]
        if is_new:
            indices = _ALL_NEW if len(results) == 1 else (NEW,) * len(results)
            infos += results
        else:
            indices = inplace_indices(value)
            for index, info in zip(indices, results):
                if index == NEW:
                    infos.append(info)
                elif not _are_alike(infos[index], info):
                    return None
        sizes = self._sizes_of(gvar.name_hint, signature, infos, integers)
        if sizes is None:
            return None
        return TIRCall(gvar, signature, held.fields, result, sizes, integers, indices)

    def _sizes_of(
        self, name: str, signature: TIRSignature,
        infos: Sequence[TensorStructInfo | None], integers: Sequence[PrimExpr],
    ) -> Sizes | None:  # fmt: skip
        """The sizes of a call for the variables of a PrimFunc; None where they are not certain."""
        if integers:
            return _match(signature, infos, integers)
        key = name, *map(id, infos)
        known = self._sizes.get(key)
        if known is None:
            known = self._sizes[key] = infos, _match(signature, infos, integers)
        return known[1]


def _signature(func: PrimFunc) -> TIRSignature | None:
    buffers = tuple([func.buffer_map[p] for p in func.params if p in func.buffer_map])
    scalars = tuple([p for p in func.params if p not in func.buffer_map])
    if func.ret_type is not None or any(p.dtype.kind == "handle" for p in scalars):
        return None
    if not all(map(_is_plain, buffers)) or len({b.data for b in buffers}) < len(buffers):
        return None
    return TIRSignature(func, buffers, scalars)


def _is_plain(buffer: Buffer) -> bool:
    """True if a buffer is compact memory of its own, which any other can be in the place of."""
    offset = buffer.elem_offset
    return (
        not buffer.strides
        and (offset is None or (isinstance(offset, IntImm) and offset.value == 0))
        and str(buffer.scope) == "global"
        and buffer.buffer_type == "default"
        and not buffer.axis_separators
    )


def _result_of(call: Call) -> StructInfo:
    infos = call.sinfo_args
    return infos[0] if len(infos) == 1 else TupleStructInfo.make(infos)


def tensors_of(result: StructInfo | None) -> list[TensorStructInfo] | None:
    """The tensors of a result, one or a tuple of them; None for anything else."""
    if isinstance(result, TensorStructInfo):
        return [result]
    if not isinstance(result, TupleStructInfo):
        return None
    tensors = [field for field in result.fields if isinstance(field, TensorStructInfo)]
    return tensors if len(tensors) == len(result.fields) else None


def _tensor_info(arg: Expr) -> TensorStructInfo | None:
    info: StructInfo | None = None
    if isinstance(arg, Var):
        info = arg.struct_info
    elif isinstance(arg, Constant):
        info = struct_info_of_leaf(arg)
    return info if isinstance(info, TensorStructInfo) else None


def _integers(rest: Sequence[Expr]) -> tuple[PrimExpr, ...] | None:
    if not rest:
        return ()
    shape = rest[0]
    return shape.values if isinstance(shape, ShapeExpr) and len(rest) == 1 else None


def _match(
    signature: TIRSignature, infos: Sequence[TensorStructInfo | None], integers: Sequence[PrimExpr]
) -> dict[PrimVar, PrimExpr] | None:
    """The sizes of a call for the variables of a PrimFunc; None where they are not certain."""
    if len(infos) != len(signature.buffers) or len(integers) != len(signature.scalars):
        return None
    sizes: dict[PrimVar, PrimExpr] = dict(zip(signature.scalars, integers))
    later: list[tuple[PrimExpr, PrimExpr]] = []
    places = []
    for buffer, info in zip(signature.buffers, infos):
        if info is None or info.dims is None or info.dtype is not buffer.dtype:
            return None
        if not _match_dims(buffer.shape, info.dims, sizes, later):
            return None
        places.append(info.vdevice)
    if any(own.dtype is not size.dtype for own, size in sizes.items()):
        return None
    if later and not all(_is_same(own, dim, sizes) for own, dim in later):
        return None
    return None if any(place is not places[0] for place in places) else sizes


def _match_dims(
    shape: Sequence[PrimExpr], dims: Sequence[PrimExpr], sizes: dict[PrimVar, PrimExpr],
    later: list[tuple[PrimExpr, PrimExpr]],
) -> bool:  # fmt: skip
    """Note what variables are, and what is compared later; False for sizes that differ."""
    if len(dims) != len(shape):
        return False
    for own, dim in zip(shape, dims):
        if own is dim and own.__class__ is IntImm:
            continue
        if own.__class__ is IntImm and dim.__class__ is IntImm:
            if own.value != dim.value:
                return False
        elif isinstance(own, PrimVar) and sizes.setdefault(own, dim) is dim:
            continue
        else:
            later.append((own, dim))
    return True


def _are_alike(one: TensorStructInfo | None, other: TensorStructInfo) -> bool:
    """True if two tensors certainly have the same shape and dtype."""
    if one is None or one.dims is None or other.dims is None or one.dtype is not other.dtype:
        return False
    if len(one.dims) != len(other.dims):
        return False
    return all(a is b or prove_equal(a, b) is YES for a, b in zip(one.dims, other.dims))


def _is_same(own: PrimExpr, dim: PrimExpr, sizes: Sizes) -> bool:
    known = sizes.get(own) if isinstance(own, PrimVar) else None
    if known is None:
        if any(var not in sizes for var in free_vars(own)):
            return False
        known = substitute(own, sizes)
    return known is dim or prove_equal(known, dim) is YES
