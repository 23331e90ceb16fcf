"""Relations of the blocks of a scope: those that write what others read."""

from __future__ import annotations

from relaxscript.ir.prim import Var
from relaxscript.ir.tir import Block, BlockRealize

from .tree import FunctionTree

__all__ = ["consumers", "output_blocks", "producers", "reads_of", "siblings", "writes_of"]


def reads_of(block: Block) -> set[Var]:
    """The memory that a block reads, by its addresses."""
    return {region.buffer.data for region in block.reads}


def writes_of(block: Block) -> set[Var]:
    """The memory that a block writes, by its addresses."""
    return {region.buffer.data for region in block.writes}


def siblings(tree: FunctionTree, block: Block) -> list[BlockRealize]:
    """All blocks of the scope that a block is in, in their order."""
    scope = tree.scope_of(tree.realize_of(block))
    return tree.blocks_in(tree.func.body if scope is None else scope)


def producers(tree: FunctionTree, block: Block) -> list[BlockRealize]:
    """The blocks of the scope that write what a block reads."""
    read = reads_of(block)
    return [r for r in siblings(tree, block) if r.block is not block and read & writes_of(r.block)]


def consumers(tree: FunctionTree, block: Block) -> list[BlockRealize]:
    """The blocks of the scope that read what a block writes."""
    written = writes_of(block)
    return [
        r for r in siblings(tree, block) if r.block is not block and written & reads_of(r.block)
    ]


def output_blocks(tree: FunctionTree, scope: Block) -> list[BlockRealize]:
    """The blocks in a scope that write more than what the scope allocates."""
    own = {buffer.data for buffer in scope.alloc_buffers}
    return [r for r in tree.blocks_in(scope) if writes_of(r.block) - own]
