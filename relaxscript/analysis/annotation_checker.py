"""The criteria of well-formedness that are about annotations: 4-6, 10, 14-17, 19, 20, 22, 24, 26.

What does not depend on the place is asked once for each StructInfo, however often it occurs in the
program.
"""

from __future__ import annotations

from collections.abc import Iterable, Set as AbstractSet
from typing import Protocol

from relaxscript.dtypes import DataType
from relaxscript.ir.distributed import placement_mistake
from relaxscript.ir.field_roles import parts_of
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import Expr, ShapeExpr, Var
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
)
from relaxscript.ir.vdevice import VDevice
from relaxscript.sinfo import (
    definable_shape_vars,
    dimensions,
    free_shape_vars,
    same_vdevice,
    scalar_variables,
    struct_info_parts,
)

__all__ = ["AnnotationChecker"]

_NUMBERS = ("int", "uint", "float", "bfloat", "bool")
_MESSAGES = {
    4: "the return annotation uses `{}`, which is not in scope at the definition",
    6: "`{}` is a whole dimension of no parameter, so no argument says what it is",
}


class _Note(Protocol):
    def __call__(
        self, number: int, message: str, node: Node, within: Node | None = None,
        help: str | None = None,
    ) -> None: ...  # fmt: skip


class AnnotationChecker:
    """Notes what is wrong with the StructInfos that occur in a program."""

    def __init__(self, module: IRModule | None, note: _Note) -> None:
        self._note = note
        infos = None if module is None else module.global_infos.get("vdevice", ())
        self._listed: Iterable[object] | None = infos
        self._devices: dict[VDevice, bool] = {}
        # Free shape variables and Relax variables of what was looked at; it lives with the program.
        self._known: dict[int, tuple[list[PrimVar], list[Var]]] = {}
        # Shape variables that were told to be unbound, for whoever keeps the scope to take.
        self.unbound: list[PrimVar] = []

    def check(
        self, info: StructInfo, within: Node, scope: AbstractSet[PrimVar],
        unbound: int | None = None,
    ) -> list[Var]:  # fmt: skip
        """Look at `info`, which is in `within`; the Relax variables that hold its shapes.

        `unbound` is the criterion that a shape variable outside of `scope` breaks here; by default
        that of the kind of annotation in which it occurs.
        """
        known = self._known.get(id(info))
        if known is None:
            relax_vars: list[Var] = []
            for part in struct_info_parts(info):
                self._alone(part, within, relax_vars)
            known = self._known[id(info)] = (free_shape_vars(info), relax_vars)
        for v in known[0]:
            if v not in scope:
                part = _part_with(info, v)
                number = unbound or part.unbound
                message = _MESSAGES.get(number, "`{}` is used before it is bound")
                self._note(number, message.format(v.name), part, within)
                self.unbound.append(v)
        return known[1]

    def _alone(self, info: StructInfo, within: Node, relax_vars: list[Var]) -> None:
        match info:
            case TensorStructInfo():
                self._tensor(info, within, relax_vars)
                if info.vdevice is not None and not self._is_listed(info.vdevice):
                    device = f"{info.vdevice.target}:{info.vdevice.vdevice_id}"
                    message = f"the module does not list the device `{device}`"
                    help = 'list it in `global_infos` under "vdevice"'
                    self._note(24, message, info, within, help)
                self._dtype(info.dtype, info, within)
            case ShapeStructInfo(values=tuple(values), ndim=ndim) if ndim != len(values):
                self._rank(ndim, len(values), info, within)
            case PrimStructInfo(dtype, value):
                if dtype.kind not in _NUMBERS:
                    self._note(19, f'a scalar is a number, not "{dtype}"', info, within)
                else:
                    self._dtype(dtype, info, within)
                if value is not None and value.dtype is not dtype:
                    message = f"the value is {value.dtype}, the scalar {dtype}"
                    self._note(22, message, info, within, "give the value alone")
            case DTensorStructInfo(tensor, mesh, placement):
                mistake = placement_mistake(tensor, mesh, placement)
                if mistake is not None:
                    self._note(26, mistake.message, info, within, mistake.help)
            case FuncStructInfo(params=tuple(), derive_func=derive) if derive is not None:
                message = "a function has `params` or `derive_func`, not both"
                self._note(17, message, info, within, "leave one of them out")

    def _tensor(self, info: TensorStructInfo, within: Node, relax_vars: list[Var]) -> None:
        match info.shape:
            case None:
                return
            case ShapeExpr(values):
                if info.ndim != len(values):
                    self._rank(info.ndim, len(values), info, within)
            case Var() as var:
                relax_vars.append(var)
                match var.struct_info:
                    case ShapeStructInfo(ndim=rank):
                        if -1 not in (rank, info.ndim) and rank != info.ndim:
                            self._rank(info.ndim, rank, info, within)
                    case None:
                        pass
                    case other:
                        message = f"`{var.name_hint}` is `{other!r}`, not a shape"
                        self._note(14, message, info, within)
            case Expr() as shape:
                kind = type(shape).__name__
                message = f"a shape is a ShapeExpr or a Var, not a {kind}"
                self._note(14, message, info, within, "bind it to a variable first")

    def _rank(self, ndim: int, count: int, info: StructInfo, within: Node) -> None:
        message = f"`ndim` is {ndim}, and the shape has {count} dimensions"
        self._note(10, message, info, within, "leave `ndim` out")

    def _dtype(self, dtype: DataType, info: StructInfo, within: Node) -> None:
        if not (dtype.is_void or dtype.in_relax):
            self._note(20, f'Relax has no dtype "{dtype}"', info, within)

    def _is_listed(self, device: VDevice) -> bool:
        if self._listed is None:
            return True
        found = self._devices.get(device)
        if found is None:
            listed = (d for d in self._listed if isinstance(d, VDevice))
            found = self._devices[device] = any(same_vdevice(device, d) for d in listed)
        return found


def _part_with(info: StructInfo, v: PrimVar) -> StructInfo:
    """The part of `info` in which `v` occurs free; it does occur there."""
    stack = [(info, frozenset[PrimVar]())]
    while stack:
        part, own = stack.pop()
        if v not in own and any(v in scalar_variables(e) for e in dimensions(part)):
            return part
        if isinstance(part, FuncStructInfo):
            own = own.union(*(definable_shape_vars(p) for p in part.params or ()))
        stack.extend((p, own) for p in reversed(parts_of(part)))
    return info
