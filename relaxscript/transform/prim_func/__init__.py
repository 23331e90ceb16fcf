"""Passes over PrimFuncs, by the names of `tvm.tir.transform`.

rewriter.py        statements rewritten with what is known around them.
simplify.py        indices, sizes and conditions by arithmetic.
remove_no_op.py    statements without effect.
convert_ssa.py     each variable defined once.
lower_init_block.py  the init of a block as a condition in its body.
annotate.py        attributes of functions, and passes made of functions.
"""

from __future__ import annotations

from .annotate import AnnotateEntryFunc, Apply, BindTarget, Filter
from .convert_ssa import ConvertSSA
from .lower_init_block import LowerInitBlock
from .remove_no_op import RemoveNoOp
from .simplify import Simplify

__all__ = [
    "AnnotateEntryFunc", "Apply", "BindTarget", "ConvertSSA", "Filter", "LowerInitBlock",
    "RemoveNoOp", "Simplify",
]  # fmt: skip
