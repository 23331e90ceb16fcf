"""Passes made by decorators, with which no checker has a quarrel."""

from __future__ import annotations

import relaxscript as rx
from relaxscript.transform import (
    PassContext,
    dataflowblock_pass,
    function_pass,
    module_pass,
)

__all__ = ["nothing", "nothing_of_blocks", "nothing_of_functions"]


@module_pass(opt_level=0, name="Nothing")
def nothing(mod: rx.IRModule, ctx: PassContext) -> rx.IRModule:
    return mod


@function_pass
def nothing_of_functions(func: rx.Function, mod: rx.IRModule, ctx: PassContext) -> rx.Function:
    return func


@dataflowblock_pass(opt_level=0)
def nothing_of_blocks(
    block: rx.DataflowBlock, mod: rx.IRModule, ctx: PassContext
) -> rx.DataflowBlock:
    return block
