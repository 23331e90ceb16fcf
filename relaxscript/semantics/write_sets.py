"""Write sets of PrimFuncs: the parameters whose memory they may write into."""

from __future__ import annotations

from collections.abc import Iterator

from relaxscript.ir import prim, tir
from relaxscript.ir.node import Node
from relaxscript.ir.prim_func_facts import facts_of
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.stmt_functor import all_parts

__all__ = ["WRITES", "written_params"]

# The attribute with the positions of the parameters that a PrimFunc writes into, where that is
# known of the PrimFuncs that it calls.
WRITES = "relaxscript.writes"


def written_params(func: tir.PrimFunc) -> frozenset[int]:
    """The positions of parameters into whose memory the PrimFunc may write."""
    if func.attrs is not None and WRITES in func.attrs:
        return frozenset(int(i) for i in func.attrs[WRITES])
    facts = facts_of(func)
    if "written" not in facts:
        facts["written"] = _written(func)
    written: frozenset[int] = facts["written"]
    return written


def _written(func: tir.PrimFunc) -> frozenset[int]:
    written: set[Node] = set()
    sources: dict[Node, Node] = {}
    for node in all_parts(func):
        match node:
            case tir.BufferStore(buffer=buffer):
                written.update(_names(buffer))
            case tir.Block(match_buffers=(_, *_) as regions):
                for region in regions:
                    sources.update(dict.fromkeys(_names(region.buffer), region.source.buffer))
            case prim.Call(op=GlobalVar() | "tir.call_extern" | "tir.call_pure_extern", args=args):
                written.update(arg for arg in args if isinstance(arg, prim.Var))
            case prim.Call(op="tir.tvm_stack_make_array", args=(prim.Var() as data, *_)):
                written.add(data)
            case prim.Call(op="tir.address_of", args=(prim.BufferLoad(buffer=buffer),)):
                # Whoever has an address may write there.
                written.update(_names(buffer))
    grown = True
    while grown:
        found = {n for w in written if w in sources for n in _names(sources[w])}
        grown = not found <= written
        written |= found
    return frozenset(
        i
        for i, var in enumerate(func.params)
        if var in written or written & set(_names(func.buffer_map.get(var)))
    )


def _names(buffer: Node | None) -> Iterator[Node]:
    if isinstance(buffer, tir.Buffer):
        yield buffer
        yield buffer.data
