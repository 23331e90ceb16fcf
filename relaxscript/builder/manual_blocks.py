"""Binding blocks that are begun and ended by calls, each apart from what is around it.

Source: TVM `BlockBuilder._begin_binding_block`, by which visitors and mutators write blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.errors import OperandError
from relaxscript.ir.relax import BindingBlock, DataflowBlock

from .scope import append_block, close_block, drop_scope, open_block

if TYPE_CHECKING:
    from .block_builder import BlockBuilder

__all__ = ["begin_binding_block", "begin_dataflow_block", "end_block"]


def begin_binding_block(builder: BlockBuilder) -> None:
    """Begin a block; outside of functions, a scope with it."""
    is_first = not builder.has_open_scope
    if is_first:
        builder.begin_scope()
    builder.current_scope.around.append((open_block(builder, dataflow=False), is_first))


def begin_dataflow_block(builder: BlockBuilder) -> None:
    """Begin a dataflow block."""
    begin_binding_block(builder)
    builder.current_scope.dataflow = True


def end_block(builder: BlockBuilder) -> BindingBlock:
    """The block that was begun last; earlier ones of another kind stay in what is around it."""
    with builder.blame_caller():
        if not builder.has_open_scope or not builder.current_scope.around:
            raise OperandError(
                "block", "is not there", code="RX0105", message="no block was begun",
                help="begin it: `bb._begin_dataflow_block()`",
            )  # fmt: skip
    scope = builder.current_scope
    empty = (DataflowBlock if scope.dataflow else BindingBlock).make(())
    around, is_first = scope.around.pop()
    made = close_block(builder, around, None)
    for other in made[:-1]:
        append_block(builder, other)
    if is_first:
        drop_scope(builder)
    return made[-1] if made else empty
