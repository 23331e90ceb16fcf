"""AlterOpImpl: other PrimFuncs for operators, on buffers in layouts of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relaxscript.builder import BlockBuilder
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.transform.pass_infra.checked_arguments import checks_arguments
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .implementation_swapper import Implementation, ImplementationSwapper

__all__ = ["AlterOpImpl"]

_Separators = Mapping[str, Sequence[Sequence[int]] | None]


class AlterOpImpl(ModulePass):
    """Call other PrimFuncs for operators, and bring the tensors into the layouts of their buffers.

    The PrimFuncs to replace name their operator by the attribute "operator_name". `op_impl_map` has
    the new ones by that. Before:

        lv = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((14,), "float32"))

    After, with `{"relax.exp": exp_2d}` and `{"relax.exp": [lambda i: (i // 4, i % 4)] * 2}`:

        lv = R.layout_transform(x, lambda i: (i // 4, i % 4))
        lv1 = R.call_tir(cls.relax_exp_replacement, (lv,), out_sinfo=R.Tensor((4, 4), "float32"))
        lv2 = R.layout_transform(lv1, lambda i, j: (i * 4 + j,))
        lv = R.call_tir(cls.remove_pad, (lv2,), out_sinfo=R.Tensor((14,), "float32"))

    `op_buffer_transforms` has an index map for each parameter of the new PrimFunc, results last.
    That is an IndexMap, or a function of indices. None leaves a tensor as it is. Scalar constants
    stay, too.
    Where a map leaves places free, operands are padded by zeros; a PrimFunc `remove_pad` takes what
    is beyond the result. `op_buffer_axis_separators` and `op_buffer_input_axis_separators` have for
    each parameter the separators that its `R.layout_transform` is given. The old PrimFuncs stay.

    Raises `DiagnosticError` (RX0103) for arguments that do not fit each other. At the call it is
    raised for a PrimFunc of another number of parameters (RX0703). So it is for maps that fit no
    tensor there, or have no inverse (RX0204).

    Source: TVM `relax.transform.AlterOpImpl`.
    """

    adds_functions = True

    @checks_arguments("op_buffer_transforms")
    def __init__(
        self,
        op_impl_map: Mapping[str, PrimFunc],
        op_buffer_transforms: Mapping[str, Sequence[IndexMap | Callable[..., Any] | None]],
        op_buffer_axis_separators: _Separators,
        op_buffer_input_axis_separators: _Separators,
    ) -> None:
        super().__init__()
        self._implementations = {
            name: _implementation(
                name, func, op_buffer_transforms.get(name),
                op_buffer_axis_separators.get(name), op_buffer_input_axis_separators.get(name),
            )
            for name, func in op_impl_map.items()
        }  # fmt: skip

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        builder = BlockBuilder(mod)
        swapper = ImplementationSwapper(mod, builder, self._implementations)
        changed = False
        for gvar, func in mod.relax_functions().items():
            made = swapper.function(func, gvar.name_hint)
            if made is not func:
                builder.update_func(gvar, made)
                changed = True
        return builder.get() if changed else mod


def _implementation(
    name: str, func: PrimFunc, transforms: object, separators: Sequence[Sequence[int]] | None,
    input_separators: Sequence[Sequence[int]] | None,
) -> Implementation:  # fmt: skip
    count = len(func.params)
    if transforms is not None and not isinstance(transforms, (list, tuple)):
        raise _refused(f"the index maps of `{name}` are a list, not {brief(transforms)}")
    maps = [_index_map(name, transform) for transform in transforms or ()]
    for noun, given in (
        ("index maps", maps), ("separators", separators), ("input separators", input_separators),
    ):  # fmt: skip
        if given and len(given) != count:
            raise _refused(
                f"`{name}` has {len(given)} {noun}, and its PrimFunc has {count} parameters",
                "give one for each parameter, the results last, or none at all",
            )
    nothing = (None,) * count
    return Implementation(
        func, tuple(maps) or nothing, tuple(separators or nothing),
        tuple(input_separators or nothing),
    )  # fmt: skip


def _index_map(name: str, transform: object) -> IndexMap | None:
    """The index map that an entry stands for; its separators are given apart from it."""
    if isinstance(transform, (tuple, list)) and transform:
        transform = transform[0]
    if transform is None or isinstance(transform, IndexMap):
        return transform
    if not callable(transform):
        raise _refused(
            f"`{name}` has {brief(transform)} where an index map is to be",
            "give a function of indices, `lambda i, j: (j, i)`, or an IndexMap",
        )
    try:
        return IndexMap.from_func_with_separators(transform)[0]
    except TypeError as error:
        raise _refused(f"the index map of `{name}` cannot be made: {error}") from None


def _refused(message: str, help: str | None = None) -> DiagnosticError:
    return DiagnosticError(Diagnostic("RX0103", message, caller_span(), help=help))
