"""What the tests of the parser of PrimFuncs ask of a function."""

from __future__ import annotations

from typing import Any

from relaxscript.ir import prim, tir
from relaxscript.ir.prim import IntImm
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import walk

__all__ = ["block_of", "nodes", "regions"]


def nodes(f: PrimFunc, kind: type) -> list[Any]:
    """The nodes of a kind in a function, outer ones first."""
    return [node for node in walk(f.body) if isinstance(node, kind)]


def block_of(f: PrimFunc, name: str) -> Any:
    """The block of a name."""
    return next(b for b in nodes(f, tir.Block) if b.name_hint == name)


def regions(given: tuple[tir.BufferRegion, ...]) -> list[str]:
    """Regions as text, `A[0:+4, vi]`."""

    def text(e: prim.PrimExpr) -> str:
        match e:
            case IntImm(value=value):
                return str(value)
            case prim.Var(name=name):
                return name
            case prim.Add(a, b):
                return f"{text(a)}+{text(b)}"
            case prim.Mul(a, b):
                return f"{text(a)}*{text(b)}"
        return type(e).__name__

    def part(r: tir.Range) -> str:
        if isinstance(r.extent, IntImm) and r.extent.value == 1:
            return text(r.min)
        return f"{text(r.min)}:+{text(r.extent)}"

    return [f"{r.buffer.name}[{', '.join(part(p) for p in r.region)}]" for r in given]
