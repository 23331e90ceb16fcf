"""Names of threads of devices, and axes that are made of their parts."""

from __future__ import annotations

from typing import Any

from relaxscript.errors import Span, did_you_mean, nearest
from relaxscript.ir.prim import Var
from relaxscript.ir.tir import IterVar

from .mistake import TIRError, describe
from .operands import INT_DTYPE, domain_bounds, integer_range, range_between

__all__ = ["THREADS", "iter_var", "thread_doubt"]

THREADS = [
    f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx", "vthread", "cthread") for axis in "xyz"
]


def thread_doubt(tag: Any, part: str) -> TIRError | None:
    """A word about an unusual name of a thread; raises `TIRError` for what is no name."""
    if not isinstance(tag, str):
        raise TIRError(
            part, f"the name of a thread is a string, this is {describe(tag)}", code="RX0103",
            help='write for example "threadIdx.x"',
        )  # fmt: skip
    if tag in THREADS or tag in ("vthread", "cthread"):
        return None
    near = nearest(tag, THREADS)
    return TIRError(
        part, f'no GPU has threads named "{tag}"', severity="warning",
        help=did_you_mean(near, f"known are {', '.join(THREADS[:6])}", '"'),
        instead=f'"{near}"' if near else None,
    )  # fmt: skip


def iter_var(
    v: Any, dom: Any, kind: Any, tag: Any, part: str = "axis", span: Span | None = None
) -> IterVar:
    """An axis of a reduction, or the node of a hint; a name stands for a new variable."""
    bounds = None if dom is None else domain_bounds(dom, part, span)
    domain = None if bounds is None else range_between(*bounds, (part, part), span)
    if isinstance(v, str):
        v = Var.make(v, INT_DTYPE if domain is None else domain.extent.dtype)
    if not isinstance(v, Var):
        raise TIRError(part, f"the variable of an axis is needed, this is {describe(v)}")
    if bounds is not None and domain is not None and domain.extent.dtype is not v.dtype:
        domain = integer_range(bounds, v.dtype, part, span)
    if not isinstance(kind, str) or not isinstance(tag, str):
        raise TIRError(part, "the kind and the thread of an axis are strings", code="RX0103")
    return IterVar.make(domain, v, kind, tag)
