"""The builder of PrimFuncs: what the parser, frames, tensor expressions and passes make them with.

    >>> from relaxscript import tir
    >>> from relaxscript.tir_builder import TIRBuilder
    >>> tb = TIRBuilder("relu")
    >>> n = tir.Var("n", "int64")
    >>> x = tb.param_buffer("x", (n, 64))
    >>> y = tb.param_buffer("y", (n, 64))
    >>> with tb.grid(n, 64) as (i, j), tb.block("relu") as b:
    ...     vi, vj = b.remap("SS", [i, j])
    ...     tb.store(y, (vi, vj), tir.max(x[vi, vj], 0.0))
    >>> print(tb.finish().script())
    # from relaxscript.script import tir as T
    <BLANKLINE>
    <BLANKLINE>
    @T.prim_func
    def relu(x: T.Buffer(("n", 64), "float32"), y: T.Buffer(("n", 64), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 64):
            with T.block("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(x[vi, vj])
                T.writes(y[vi, vj])
                y[vi, vj] = T.max(x[vi, vj], T.float32(0.0))

Start reading at `builder.py`. `scope.py` is what `with` opens, `block.py` a block that is being
made. `operands.py` is what the parts of statements become, `access.py` what a block reads and
writes. `mistake.py` is what is wrong, by the name of a part: whoever knows places makes a
diagnostic of it.
"""

from __future__ import annotations

from .block import AXIS_KINDS, OpenBlock, attributes, in_root
from .buffer import BUFFER_PARTS, make_buffer
from .builder import TIRBuilder
from .element import indices_of, region_of
from .mistake import TIRError, describe
from .scope import Opener, Scope, sequence_of
from .thread import THREADS, iter_var

__all__ = [
    "AXIS_KINDS", "BUFFER_PARTS", "THREADS", "OpenBlock", "Opener", "Scope", "TIRBuilder",
    "TIRError", "attributes", "describe", "in_root", "indices_of",
    "iter_var", "make_buffer", "region_of", "sequence_of",
]  # fmt: skip
