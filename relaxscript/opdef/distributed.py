"""Operators on distributed tensors: the rule of the operator for the whole tensors, and placement.

An operator means the same wherever the parts of its operands lie. So the result is what its own
rule says of the whole tensors. It lies on the mesh of the operands: an axis of a result is sharded
as the operand's axis is of which it is an image. The compute of the operator says that: `y[i, j]`
that reads `x[j, i]`, and nothing else of `x`. What is no image is there on each device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from relaxscript.arith import YES, prove_equal
from relaxscript.errors import OperandError
from relaxscript.ir.distributed import DeviceMesh, Placement, PlacementSpec, shard_counts
from relaxscript.ir.field_roles import parts_of, with_parts
from relaxscript.ir.prim import Var, const
from relaxscript.ir.relax import Call, Constant, Expr, ShapeExpr, Tuple, TupleGetItem
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir_compute import ProducerLoad
from relaxscript.ir.walk import walk

from .compute import ComputeContext
from .context import DeferredCheck, InferContext
from .tensor_expressions import te
from .traits import Trait

if TYPE_CHECKING:
    from .operator import Operator

__all__ = [
    "DistributedOperand", "global_view", "infer_distributed", "local_view", "require_one_mesh",
]  # fmt: skip


class DistributedOperand(OperandError):
    """A distributed tensor where the rule of an operator takes a tensor."""


def global_view(info: StructInfo) -> StructInfo:
    """A StructInfo with the whole of each distributed tensor in its place."""
    if isinstance(info, DTensorStructInfo):
        return info.tensor_sinfo
    if isinstance(info, TupleStructInfo):
        return with_parts(info, [global_view(part) for part in parts_of(info)])
    return info


def local_view(info: StructInfo) -> StructInfo:
    """A StructInfo with the part of one device in the place of each distributed tensor."""
    if isinstance(info, TupleStructInfo):
        return with_parts(info, [local_view(part) for part in parts_of(info)])
    if not isinstance(info, DTensorStructInfo):
        return info
    tensor = info.tensor_sinfo
    if tensor.dims is None:
        return tensor
    dims = list(tensor.dims)
    for axis, count in shard_counts(info.device_mesh, info.placement).items():
        dims[axis] = dims[axis] // const(count, dims[axis].dtype)
    shape = ShapeExpr.make(tuple(dims))
    return TensorStructInfo.make(shape, tensor.dtype, tensor.vdevice, len(dims), span=tensor.span)


def require_one_mesh(operands: Sequence[tuple[str, StructInfo]]) -> DeviceMesh | None:
    """The mesh of all tensors among operands, by name; None where none is distributed.

    Raises `OperandError` where two meshes are mixed, or distributed tensors with others.
    """
    tensors = [found for name, info in operands for found in _tensors(name, info)]
    placed = [(name, info) for name, info in tensors if isinstance(info, DTensorStructInfo)]
    if not placed:
        return None
    first, known = placed[0]
    mesh = known.device_mesh
    for name, info in tensors:
        if isinstance(info, TensorStructInfo):
            raise OperandError(
                name,
                "is a tensor of no mesh",
                also={first: "is a distributed tensor"},
                message="distributed tensors do not go together with others",
                code="RX0201",
                help=f"place it: `R.dist.redistribute({name}, device_mesh, placement)`",
            )
        if isinstance(info, DTensorStructInfo) and info.device_mesh != mesh:
            raise OperandError(
                name,
                f"lies on the mesh {info.device_mesh}",
                also={first: f"lies on the mesh {mesh}"},
                message="distributed tensors of several meshes do not go together",
                help=f"place one of them otherwise: `R.dist.redistribute({name}, ...)`",
            )
    return mesh


def _tensors(name: str, info: StructInfo) -> Iterator[tuple[str, StructInfo]]:
    if isinstance(info, TupleStructInfo):
        for index, field in enumerate(info.fields):
            yield from _tensors(f"{name}[{index}]", field)
    elif isinstance(info, (TensorStructInfo, DTensorStructInfo)):
        yield name, info


class _WholeTensors:
    """A context in which distributed tensors are the whole tensors that they are."""

    def __init__(self, context: InferContext) -> None:
        self._context = context
        self.facts = context.facts
        self.module = context.module

    def struct_info(self, expr: Expr) -> StructInfo:
        return global_view(self._context.struct_info(expr))

    def require(self, deferred: DeferredCheck) -> None:
        self._context.require(deferred)


def infer_distributed(operator: Operator, call: Call, context: InferContext) -> StructInfo:
    """The StructInfo of a call with distributed tensors among its operands.

    Raises `OperandError` as the rule of the operator does, and for meshes that are mixed.
    """
    named = list(zip(operator.operand_names(call), call.args))
    if Trait.OWN_TENSORS in operator.traits:
        name = next(n for n, e in named if isinstance(context.struct_info(e), DTensorStructInfo))
        raise OperandError(
            name, "is a distributed tensor", wanted="a worker's own tensor", code="RX0201"
        )
    # What is constant is on each device.
    infos = [(name, context.struct_info(e)) for name, e in named if not isinstance(e, Constant)]
    mesh = require_one_mesh(infos)
    assert mesh is not None
    whole = _WholeTensors(context)
    result = operator.infer(call, whole)
    images = _images(operator, call, context, whole, result)
    return _placed(result, mesh, iter(images), context)


# ---------------------------------------------------------------- placement of results


class _Source(NamedTuple):
    """An axis of an operand: the placeholder that stands for it, and where the operand lies."""

    tensor: te.Tensor
    placement: Placement | None


# For each result: the operands' placements with the axis of the result that each axis is of.
_Images = list[tuple[Placement, dict[int, int]]]


def _placed(
    info: StructInfo, mesh: DeviceMesh, images: Iterator[_Images], context: InferContext
) -> StructInfo:
    """A result on the mesh; results are in the order of `images`."""
    if isinstance(info, TupleStructInfo):
        return with_parts(info, [_placed(f, mesh, images, context) for f in info.fields])
    if not isinstance(info, TensorStructInfo):
        return info
    return DTensorStructInfo.make(info, mesh, _placement(mesh, next(images, [])))


def _placement(mesh: DeviceMesh, images: _Images) -> Placement:
    """The placement of a result: each axis of the mesh shards what the first operand says."""
    taken: dict[int, int] = {}
    specs = []
    for place in range(len(mesh.shape)):
        chosen = -1
        for number, (placement, axes) in enumerate(images):
            axis = axes.get(placement.dim_specs[place].axis, -1)
            if axis >= 0 and taken.setdefault(axis, number) == number:
                chosen = axis
                break
        specs.append(PlacementSpec(chosen))
    return Placement(tuple(specs))


def _images(
    operator: Operator, call: Call, context: InferContext, whole: _WholeTensors, result: StructInfo
) -> list[_Images]:
    """For each tensor of a result, the axes of operands that are axes of it; none if not known."""
    compute = operator.rules.get("compute")
    if compute is None or not _is_known(result):
        return []
    sources: list[_Source] = []
    given = [
        None if value is None else _argument(value, context, sources)
        for parameter, value in operator.arguments(call)
        if parameter.is_operand
    ]
    if any(value is _UNKNOWN for value in given):
        return []
    made = compute(ComputeContext(result), *given, **operator.attributes(call))
    if made is None:
        return []
    outputs = list(made) if isinstance(made, (list, tuple)) else [made]
    placed = {id(s.tensor): s.placement for s in sources if s.placement is not None}
    return [_images_in(output, placed, context) for output in outputs]


def _images_in(output: te.Tensor, placed: dict[int, Placement], context: InferContext) -> _Images:
    found: dict[int, dict[int, int]] = {key: {} for key in placed}
    for (tensor, axis), image in _axes(output, {}).items():
        if id(tensor) not in placed or image is None:
            continue
        if prove_equal(tensor.shape[axis], output.shape[image], context.facts) is YES:
            found[id(tensor)][axis] = image
    return [(placed[key], axes) for key, axes in found.items()]


_Axes = dict[tuple["te.Tensor", int], "int | None"]


def _axes(tensor: te.Tensor, known: dict[te.Tensor, _Axes]) -> _Axes:
    """The axes of placeholders that a tensor is made of: each with the axis that is its image.

    None where there is no such, or not everywhere in the tensor.
    """
    found = known.get(tensor)
    if found is not None:
        return found
    found = known[tensor] = {}
    if isinstance(tensor.op, te.PlaceholderOp):
        found.update({(tensor, axis): axis for axis in range(tensor.ndim)})
    elif isinstance(tensor.op, te.ComputeOp):
        places = {axis.var: place for place, axis in enumerate(tensor.op.axis)}
        for load in walk(tensor.op.body[tensor.value_index]):
            if isinstance(load, ProducerLoad) and isinstance(load.producer, te.Tensor):
                for source, through in _axes(load.producer, known).items():
                    index = None if through is None else load.indices[through]
                    image = places.get(index) if isinstance(index, Var) else None
                    found[source] = image if found.get(source, image) == image else None
    else:
        for inner in tensor.op.input_tensors:
            found.update(dict.fromkeys(_axes(inner, known)))
    return found


# ---------------------------------------------------------------- operands of computes

_UNKNOWN: Any = object()


def _is_known(info: StructInfo) -> bool:
    match info:
        case TensorStructInfo():
            return info.dims is not None and not info.dtype.is_void
        case TupleStructInfo(fields):
            return all(map(_is_known, fields))
    return False


def _argument(value: Any, context: InferContext, sources: list[_Source]) -> Any:
    """An operand as its compute takes it, `_UNKNOWN` where too little is known of it."""
    if isinstance(value, tuple):
        return _several([_argument(item, context, sources) for item in value])
    if isinstance(value, Tuple):
        return _several([_argument(item, context, sources) for item in value.fields])
    info = context.struct_info(value)
    placement = info.placement if isinstance(info, DTensorStructInfo) else None
    match global_view(info):
        case TensorStructInfo(dims=tuple(dims), dtype=dtype) if not dtype.is_void:
            made = te.placeholder(dims, dtype, f"x{len(sources)}")
            sources.append(_Source(made, placement))
            return made
        case TupleStructInfo(fields):
            items = [TupleGetItem.make(value, index) for index in range(len(fields))]
            return _several([_argument(item, context, sources) for item in items])
        case PrimStructInfo(value=scalar) if scalar is not None:
            return scalar
        case ShapeStructInfo(values=tuple(values)):
            return list(values)
    return _UNKNOWN


def _several(items: list[Any]) -> Any:
    return _UNKNOWN if any(item is _UNKNOWN for item in items) else tuple(items)
