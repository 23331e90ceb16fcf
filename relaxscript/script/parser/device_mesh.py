"""Meshes of devices by their names: "mesh[0]" is the first one under `mesh` of the module."""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.errors import did_you_mean, nearest
from relaxscript.ir.distributed import DeviceMesh
from relaxscript.script.names.relax_distributed import mesh_name

from .diagnostics import Failed
from .relax_functions.context import RelaxContext

__all__ = ["known_mesh"]


def known_mesh(cx: RelaxContext, value: Any, node: ast.expr) -> Any:
    """The mesh of the module that a string names; anything else is left as it is."""
    if not isinstance(value, str):
        return value
    named = mesh_name(value)
    if named is not None:
        listed = cx.module.global_infos.get(named[0], ())
        found = listed[named[1]] if named[1] < len(listed) else None
        if isinstance(found, DeviceMesh):
            return found
    if cx.module.infos_are_broken:
        raise Failed
    raise _unknown_mesh(cx, value, node)


def _unknown_mesh(cx: RelaxContext, value: str, node: ast.expr) -> Failed:
    """Record a name that is none of the module's meshes."""
    written = "R.device_mesh((2, 2), I.Range(0, 4))"
    if cx.module.is_absent:
        message = f"`{value}` names a mesh of a module, and there is none"
        return cx.error(node, "RX0324", message, help=f"write it out: `{written}`")
    known = [
        f"{key}[{index}]"
        for key, infos in cx.module.global_infos.items()
        for index, info in enumerate(infos)
        if isinstance(info, DeviceMesh)
    ]
    near = nearest(value, known)
    help = f'declare it: `I.module_global_infos({{"mesh": [{written}]}})`'
    if known:
        help = f"the module has {', '.join(f'`{name}`' for name in known)}"
    return cx.error(
        node, "RX0324", f"the module has no mesh `{value}`",
        help=did_you_mean(near and f'"{near}"', help), fix=f'"{near}"' if near else None,
    )  # fmt: skip
