"""Blocks of bindings in normal form: none is empty, and neighbours are of two kinds."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from relaxscript.ir.relax import BindingBlock

__all__ = ["joined_blocks"]


def joined_blocks(blocks: Iterable[BindingBlock]) -> tuple[BindingBlock, ...]:
    """The blocks without those that are empty, each joined with those of its kind before it."""
    made: list[BindingBlock] = []
    for _, group in groupby((block for block in blocks if block.bindings), type):
        first, *others = group
        bindings = (*first.bindings, *(b for block in others for b in block.bindings))
        made.append(first.replace(bindings=bindings) if others else first)
    return tuple(made)
