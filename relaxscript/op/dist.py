"""Operators on distributed tensors, which lie on meshes of devices (`R.DTensor`).

A distributed tensor is one tensor, wherever its parts are: to place it otherwise changes no value.
A program that is run here is one worker, which has all of each. Source: TVM
`relax.op.distributed`.
"""

from __future__ import annotations

import numpy as np

from relaxscript.errors import OperandError
from relaxscript.ir.distributed import Placement, PlacementSpec
from relaxscript.ir.relax import Attrs, Call, Constant, Expr
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    StructInfo,
    TensorStructInfo,
)
from relaxscript.opdef.composite import composite_op
from relaxscript.opdef.context import InferContext, PlainContext
from relaxscript.opdef.distributed import local_view, require_one_mesh
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.opdef.operands import convert_sinfo, wrong_kind
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import (
    Callee,
    Mesh,
    MeshPlacement,
    Parameter,
    ResultInfo,
    ShapeLike,
    Value,
    Values,
)
from relaxscript.opdef.shapes import axis_in
from relaxscript.opdef.traits import Trait

from . import calls, prim_func_calls
from .results import (
    allocate_results,
    arrange_results,
    described_results,
    flat,
    named_results,
    require_allocatable,
    with_one_description,
)
from .shards import own_part, part_of, require_one_device, require_placement, require_workers

__all__ = [
    "annotate_sharding", "call_tir", "call_tir_local_view", "const", "redistribute",
    "redistribute_replica_to_shard",
]  # fmt: skip


@op("dist.annotate_sharding", traits={Trait.VIEW})
def annotate_sharding(value: Value, device_mesh: Mesh, placement: MeshPlacement) -> Value:
    """The tensor itself, which is wanted on a mesh of devices in some placement.

    It says nothing of the result: whoever propagates shardings through a program reads it.
    """
    return value


@annotate_sharding.infer_rule
def _(
    context: InferContext, value: StructInfo, device_mesh: Mesh, placement: MeshPlacement
) -> StructInfo:
    require_placement(context, _whole("value", value), device_mesh, placement)
    return value


@op("dist.redistribute", traits={Trait.VIEW})
def redistribute(value: Value, device_mesh: Mesh, placement: MeshPlacement) -> Value:
    """The same distributed tensor in another placement, or on another mesh.

    A tensor that every worker has, such as a constant, is placed as well.
    """
    return value


@redistribute.infer_rule
def _(
    context: InferContext, value: StructInfo, device_mesh: Mesh, placement: MeshPlacement
) -> StructInfo:
    tensor = _whole("value", value)
    require_placement(context, tensor, device_mesh, placement)
    return DTensorStructInfo.make(tensor, device_mesh, placement)


def _whole(operand: str, info: StructInfo) -> TensorStructInfo:
    """The whole of a tensor, distributed or not."""
    match info:
        case DTensorStructInfo(tensor_sinfo=tensor):
            return tensor
        case TensorStructInfo():
            return info if info.vdevice is None else info.replace(vdevice=None)
    raise wrong_kind(operand, info, "tensor")


@op("dist.redistribute_replica_to_shard")
def redistribute_replica_to_shard(input: Value, num_workers: int, axis: int) -> Value:
    """The part of a worker of a tensor that each worker has, cut evenly along `axis`.

    Of a distributed tensor, which all devices of a mesh with one axis have, it is the same tensor,
    sharded: `R.dist.redistribute`. A worker that runs alone is number 0, and gets the first part.
    """
    return own_part(input, num_workers, axis)


@redistribute_replica_to_shard.infer_rule
def _(context: InferContext, input: StructInfo, num_workers: int, axis: int) -> StructInfo:
    match input:
        case TensorStructInfo():
            return part_of(context, "input", input, num_workers, axis)
        case DTensorStructInfo():
            return _sharded(context, input, num_workers, axis)
    raise wrong_kind("input", input, "tensor")


@redistribute_replica_to_shard.attribute_rule
def _(num_workers: int, axis: int) -> None:
    require_workers(num_workers)


@redistribute_replica_to_shard.normalize_rule
def _(call: Call) -> Call:
    """Of a distributed tensor, which is one tensor and no worker's part, as `redistribute`."""
    info = struct_info_of_leaf(call.args[0])
    if not isinstance(info, DTensorStructInfo):
        return call
    attributes = redistribute_replica_to_shard.attributes(call)
    try:
        made = _sharded(PlainContext(), info, attributes["num_workers"], attributes["axis"])
    except OperandError:
        return call  # said where the call is typed
    attrs = Attrs({"device_mesh": made.device_mesh, "placement": made.placement})
    return Call.make(redistribute.op, call.args, attrs, (), call.arg_spans, span=call.span)


def _sharded(
    context: InferContext, info: DTensorStructInfo, num_workers: int, axis: int
) -> DTensorStructInfo:
    """A distributed tensor, which is on each device, with `axis` cut along the axis of the mesh."""
    mesh = info.device_mesh
    if mesh.shape != (num_workers,):
        raise OperandError(
            "input",
            f"lies on a mesh of shape {mesh.shape}",
            also={"num_workers": f"is {num_workers}"},
            message="the one axis of the mesh has all workers",
            help="place it with `R.dist.redistribute`",
        )
    if any(spec.axis >= 0 for spec in info.placement.dim_specs):
        raise OperandError(
            "input",
            f'has the placement "{info.placement}"',
            message="each worker has the whole tensor before it takes its part",
            help="place it with `R.dist.redistribute`",
        )
    tensor = info.tensor_sinfo
    placement = Placement((PlacementSpec(axis_in(axis, tensor.ndim, operand="input")),))
    require_placement(context, tensor, mesh, placement, "axis")
    return DTensorStructInfo.make(tensor, mesh, placement)


# ---------------------------------------------------------------- PrimFuncs


@op(
    "dist.call_tir_local_view",
    traits={Trait.CALLS_PRIM_FUNC, Trait.DESTINATION_PASSING, Trait.AS_IS},
)
def call_tir_local_view(
    gvar: Callee, args: Values, out_sinfo: ResultInfo, tir_vars: ShapeLike | None = None
) -> Value:
    """Call a PrimFunc of the module on each device, on its parts of distributed tensors.

    `out_sinfo` describes whole results, of which the PrimFunc writes the part of its device. A
    worker that runs alone is one device: a mesh of more fails.
    """
    require_one_device(out_sinfo if isinstance(out_sinfo, tuple) else (out_sinfo,), None)
    results = allocate_results(out_sinfo)
    gvar(*args, *(tir_vars or ()), *results)
    return arrange_results(out_sinfo, results)


call_tir_local_view.prepare_rule(with_one_description)
call_tir_local_view.normalize_rule(prim_func_calls.with_literal_tuple)


@call_tir_local_view.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    callee = prim_func_calls.prim_func_of(context, call, "R.dist.call_tir_local_view")
    out_sinfo = described_results(context, call)
    require_allocatable(out_sinfo)
    infos = call_tir_local_view.operand_infos(call, context)
    given = prim_func_calls.name_arguments(infos[1])
    if require_one_mesh([("out_sinfo", out_sinfo), *given]) is None and flat(out_sinfo):
        raise OperandError(
            "out_sinfo",
            "describes a tensor of no mesh",
            wanted="a distributed tensor",
            code="RX0201",
            help='write `R.DTensor((n, 64), "float32", "mesh[0]", "S[0]")`, or call `R.call_tir`',
        )
    parts = [(name, local_view(info)) for name, info in given]
    results = named_results(local_view(out_sinfo))
    prim_func_calls.check(context, callee, parts, infos[2], results)
    return out_sinfo


# ---------------------------------------------------------------- by other names


@composite_op("dist.call_tir")
def call_tir(
    func: Callee, args: Values, out_sinfo: ResultInfo, tir_vars: ShapeLike | None = None
) -> Expr:
    """Call a PrimFunc of the module on whole distributed tensors: `R.call_tir` of such."""
    return calls.call_tir.build((func, args, out_sinfo, tir_vars))


@composite_op("dist.const")
def const(value: Value, struct_info: ResultInfo) -> Expr:
    """A constant as a distributed tensor, which `struct_info` places: an `R.dist.redistribute`."""
    (info,) = convert_sinfo(Parameter("struct_info", "sinfo"), struct_info) or (None,)
    if not isinstance(info, DTensorStructInfo):
        raise OperandError(
            "struct_info", "is none of a distributed tensor", code="RX0204",
            help='write for example `R.DTensor((), "float32", "mesh[0]", "R")`',
        )  # fmt: skip
    dtype = None if info.dtype.is_void else info.dtype.numpy
    held = value.data if isinstance(value, Constant) else value
    return redistribute.build((Constant(np.array(held, dtype)), info.device_mesh, info.placement))


for _operator in (
    annotate_sharding, redistribute, redistribute_replica_to_shard, call_tir_local_view,
):  # fmt: skip
    _operator.lacks("gradient", "a program is differentiated before it is distributed")
for _operator in (annotate_sharding, redistribute, redistribute_replica_to_shard):
    _operator.lacks("compute", "devices exchange tensors, which the machine does")
call_tir_local_view.lacks("compute", "it calls a PrimFunc already")
