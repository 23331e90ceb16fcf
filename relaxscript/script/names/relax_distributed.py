"""Tensors on several devices in scripts: `R.DTensor`, and the meshes of a module.

I.module_global_infos({"mesh": [R.device_mesh((2, 2), I.Range(0, 4))]})

x: R.DTensor((128, 128), "float32", "mesh[0]", "S[0], R")
"""

from __future__ import annotations

import re
from typing import Any

from relaxscript.ir.distributed import DeviceMesh, Placement, as_placement, placement_mistake
from relaxscript.ir.struct_info import DTensorStructInfo, StructInfo, TensorStructInfo

from .annotations import AnnotationError, AnnotationForm, Tensor
from .safe_callables import safe_callables

__all__ = ["DTensor", "device_mesh"]


def device_mesh(shape: Any, device_ids: Any) -> DeviceMesh:
    """The mesh of devices of a shape; their numbers are listed, or a range: `I.Range(0, 4)`."""
    return DeviceMesh(shape, device_ids)


# Where nothing is said, the one device of a mesh without axes.
ONE_DEVICE = DeviceMesh((), (0,))


def mesh_name(value: str) -> tuple[str, int] | None:
    """The key of a module's global infos and the index that "mesh[0]" names."""
    found = re.fullmatch(r"\s*(\w+)\s*\[\s*([0-9]{1,9})\s*\]\s*", value)
    return None if found is None else (found[1], int(found[2]))


def _mesh_being_built(name: str) -> DeviceMesh | None:
    """The mesh of a name in the module that an `IRBuilder` around the caller builds."""
    from relaxscript.script.ir_builder.base import IRBuilder, innermost
    from relaxscript.script.ir_builder.module_frame import ModuleFrame

    frame = innermost(ModuleFrame) if IRBuilder.is_in_scope() else None
    key, index = mesh_name(name) or ("", 0)
    listed = () if frame is None else frame.global_infos.get(key, ())
    found = listed[index] if index < len(listed) else None
    return found if isinstance(found, DeviceMesh) else None


def _mesh(value: Any) -> DeviceMesh:
    if isinstance(value, DeviceMesh):
        return value
    if isinstance(value, str):
        built = _mesh_being_built(value)
        if built is not None:
            return built
        message = f'"{value}" names a mesh of a module, and there is none'
        help = "write it out: `R.device_mesh((2, 2), I.Range(0, 4))`"
        raise AnnotationError(message, "device_mesh", help, code="RX0324")
    raise AnnotationError(
        f"`{value!r}` is not a mesh of devices", "device_mesh",
        'write "mesh[0]", the first of the module\'s, or `R.device_mesh((2, 2), I.Range(0, 4))`',
    )  # fmt: skip


def _placement(value: Any) -> Placement:
    try:
        found = as_placement(value)
    except ValueError as error:
        help = getattr(error, "help", None)
        message = str(getattr(error, "message", error))
        raise AnnotationError(message, "placement", help) from None
    if not isinstance(found, Placement):
        raise AnnotationError(
            f"`{value!r}` is not a placement", "placement", 'write for example `"S[0], R"`'
        )
    return found


def _dtensor(
    shape: Any = None, dtype: Any = None, device_mesh: Any = ONE_DEVICE, placement: Any = "", *,
    ndim: Any = -1,
) -> StructInfo:  # fmt: skip
    given = {} if ndim == -1 else {"ndim": ndim}
    tensor = Tensor.bind((shape, dtype), given)
    assert isinstance(tensor, TensorStructInfo)
    mesh, placed = _mesh(device_mesh), _placement(placement)
    mistake = placement_mistake(tensor, mesh, placed)
    if mistake is not None:
        raise AnnotationError(
            mistake.message, "placement", mistake.help, mistake.fix, code="RX0326"
        )
    return DTensorStructInfo.make(tensor, mesh, placed)


DTensor = AnnotationForm(
    "DTensor", DTensorStructInfo, _dtensor,
    """A tensor on a mesh of devices: `R.DTensor((n, 4), "float32", "mesh[0]", "S[0], R")`.

    Shape and dtype are those of the whole tensor. For each axis of the mesh, the placement says
    which axis of the tensor is cut (`S[0]`), or that each device has all of it (`R`).
    """,
    part=TensorStructInfo,
)  # fmt: skip

safe_callables(DTensor, device_mesh)
