"""The form of functions that rules know, and the steps that bring others into it."""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.ir import prim
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.prim import INT64, BufferLoad, Call, PrimExpr
from relaxscript.ir.tir import Buffer, PrimFunc

from .chosen_values import with_chosen_values
from .conditional_ends import with_ends
from .conditional_inits import with_inits
from .distributed_loops import with_distributed_loops
from .expanded_scalars import with_expanded_scalars
from .guarded import Guarded
from .loop_nests import Nest, nests_of
from .loops_of_axes import with_loops_of_axes
from .loops_of_quotients import with_loops_of_quotients
from .neutral_starts import with_neutral_starts
from .open_blocks import with_open_blocks
from .ordered_loops import with_ordered_loops
from .renamed_results import with_renamed_results
from .split_axes import with_split_axes
from .stored_choices import with_stored_choices
from .wide_indices import with_wide_indices

__all__ = ["STEPS", "has_known_form", "in_known_form"]

# The same object comes back from a step that has nothing to do.
STEPS: tuple[Callable[[PrimFunc], PrimFunc | Guarded], ...] = (
    with_open_blocks, with_wide_indices, with_loops_of_quotients, with_split_axes,
    with_loops_of_axes, with_inits, with_ends, with_stored_choices, with_expanded_scalars,
    with_distributed_loops, with_ordered_loops, with_neutral_starts, with_chosen_values,
    with_renamed_results,
)  # fmt: skip

_CHOICE = op_named("tir.if_then_else")


def in_known_form(func: PrimFunc) -> Guarded:
    """A function in the form that rules know, and where it does the same."""
    if has_known_form(func):
        return Guarded(func)
    conditions: list[PrimExpr] = []
    for step in STEPS:
        made = step(func)
        if isinstance(made, Guarded):
            conditions += made.conditions
            made = made.func
        func = made
    return Guarded(func, tuple(conditions))


def has_known_form(func: PrimFunc) -> bool:
    """True if no step has anything to do, which one look shows at most functions.

    Each statement of such a function has loops of its own, which are the indices that it stores at.
    Nothing is stored twice, or added to what has been stored. To ask every step takes a tenth of
    the compilation of a thousand elementwise operators.
    """
    found = nests_of(func)
    stored: set[Buffer] = set()
    for nest in () if found is None else found.nests:
        if nest.store.buffer in stored or not _is_plain(nest):
            return False
        stored.add(nest.store.buffer)
    return found is not None


def _is_plain(nest: Nest) -> bool:
    if not nest.is_of_each_element or any(loop.var.dtype is not INT64 for loop in nest.loops):
        return False
    value, buffer = nest.store.value, nest.store.buffer
    if not isinstance(value, (prim.Binary, prim.Logic)):
        return True
    return not any(_may_be_own(operand, buffer) for operand in (value.a, value.b))


def _may_be_own(operand: PrimExpr, stored: Buffer) -> bool:
    """True if an operand is an element of the buffer that is stored, or chosen by a condition."""
    match operand:
        case BufferLoad(buffer=buffer):
            return buffer is stored
        case Call(op=op):
            return op is _CHOICE
    return isinstance(operand, prim.Select)
