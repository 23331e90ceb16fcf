"""The ways in which the iterations of a loop run, and annotations of loops and blocks."""

from __future__ import annotations

from typing import Any

from relaxscript.errors import did_you_mean, nearest
from relaxscript.ir.prim import INT32, Var
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import Block, For, ForKind, IterVar
from relaxscript.ir.walk import walk
from relaxscript.tir_builder.thread import THREADS

from .independence import shared_elements
from .loops import places_of, told
from .mistakes import refuse
from .tree import Change, FunctionTree, StatementMap

__all__ = ["annotate", "bind", "mark", "unannotate"]


def mark(tree: FunctionTree, loop: For, kind: str) -> Change:
    """A loop of another kind: parallel, vectorized or unrolled."""
    if kind != ForKind.UNROLLED:
        _check_independent(tree, loop, f"be {kind}", False)
    return _replaced(tree, loop, loop.replace(kind=kind, thread_binding=None))


def bind(tree: FunctionTree, loop: For, thread: Any) -> Change:
    """A loop over the threads of a device."""
    if thread not in (*THREADS, "vthread", "cthread"):
        near = nearest(thread, THREADS) if isinstance(thread, str) else None
        raise refuse(
            f"there are no threads {thread!r}", [(loop, "the loop")],
            did_you_mean(near, f"known are {', '.join(THREADS[:6])}", '"'),
        )  # fmt: skip
    for other in (*tree.above(loop), *_loops_in(loop)):
        if isinstance(other, For) and _thread_of(other) == thread and other is not loop:
            raise refuse(
                f"the loop `{other.loop_var.name}` is bound to `{thread}` already, and one is in "
                "the other",
                [(other, f"is bound to `{thread}`"), (loop, "the loop")],
                "bind it to another axis of the threads",
            )  # fmt: skip
    _check_independent(tree, loop, f"be bound to `{thread}`", thread.startswith("threadIdx"))
    axis = IterVar(None, Var("", INT32), "ThreadIndex", thread)
    return _replaced(tree, loop, loop.replace(kind=ForKind.THREAD_BINDING, thread_binding=axis))


def _loops_in(loop: For) -> list[For]:
    return [part for part in walk(loop.body) if isinstance(part, For)]


def _thread_of(loop: For) -> str | None:
    return None if loop.thread_binding is None else loop.thread_binding.thread_tag


def _check_independent(tree: FunctionTree, loop: For, what: str, sums: bool) -> None:
    """Refuse unless each iteration of a loop may run without the others."""
    found = shared_elements(tree, loop, sums)
    if found is not None:
        raise refuse(
            f"the iterations of the loop `{loop.loop_var.name}` depend on each other, so it cannot "
            f"{what}: {told(found)}",
            [*places_of(found), (loop, f"the loop `{loop.loop_var.name}`")],
            "`sch.rfactor` gives each iteration an accumulator of its own"
            if found.is_accumulation
            else None,
        )  # fmt: skip


def _replaced(tree: FunctionTree, old: For, new: For) -> Change:
    changes = StatementMap()
    changes.put(old, new)
    return tree.rewritten(changes)


# ---------------------------------------------------------------- annotations


def annotate(tree: FunctionTree, target: Block | For, key: str, value: Any) -> Change:
    """A loop or block with an annotation, in the place of one of this name."""
    if not isinstance(key, str) or not key:
        raise refuse(f"an annotation has a name, not {key!r}", [(target, "here")])
    try:
        made = Attrs({**target.annotations, key: value})
    except TypeError as error:
        raise refuse(f"`{key}`: {error}", [(target, "here")]) from None
    return _annotated(tree, target, made)


def unannotate(tree: FunctionTree, target: Block | For, key: str) -> Change:
    """A loop or block without an annotation."""
    if key not in target.annotations:
        near = nearest(key, target.annotations) if isinstance(key, str) else None
        name = target.loop_var.name if isinstance(target, For) else target.name_hint
        raise refuse(
            f"`{name}` has no annotation {key!r}", [(target, "here")],
            did_you_mean(near, "there are none", '"') if near else None,
        )  # fmt: skip
    left = {name: value for name, value in target.annotations.items() if name != key}
    return _annotated(tree, target, Attrs(left))


def _annotated(tree: FunctionTree, target: Block | For, annotations: Attrs) -> Change:
    changes = StatementMap()
    made = target.replace(annotations=annotations)
    changes.put(target, made)
    if isinstance(target, Block) and isinstance(made, Block):
        changes.follow(target, made)
    return tree.rewritten(changes)
