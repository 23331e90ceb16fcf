"""Short names to build programs by hand, for tests of the printer."""

from __future__ import annotations

import textwrap
from typing import Any

from relaxscript.ir import prim, relax, tir
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.script.printer.module import script

__all__ = [
    "add", "block_of", "body_of", "call", "comes_back", "function", "int32", "int64", "loop",
    "prim_func",
    "region", "sequence", "tensor", "text",
]  # fmt: skip


def text(expected: str) -> str:
    """A golden text, written indented in a test."""
    return textwrap.dedent(expected).strip("\n")


def body_of(root: Any, **options: Any) -> str:
    """The statements of a printed function, without its header, dedented."""
    printed = script(root, **{"line_width": 100, **options}).split("\n")
    header = next(i for i, line in enumerate(printed) if line.startswith("def "))
    while not printed[header].endswith(":"):
        header += 1
    return textwrap.dedent("\n".join(printed[header + 1 :]))


def comes_back(root: Any, **options: Any) -> None:
    """The script is parsed to the same program, which prints the same text."""
    written = script(root, show_meta=True, **options)
    read = from_source(written)
    assert_structural_equal(read, root)
    assert script(read, show_meta=True, **options) == written


def tensor(*dims: Any, dtype: str = "float32") -> TensorStructInfo:
    return TensorStructInfo(dims, dtype)


def call(name: str, *args: Any, attrs: Any = None, sinfo_args: Any = ()) -> relax.Call:
    """A call of the operator `R.<name>`."""
    return relax.Call(relax.Op(f"relax.{name}"), args, attrs, sinfo_args)


def add(a: Any, b: Any) -> relax.Call:
    return call("add", a, b)


def sequence(*bindings: Any, result: Any) -> relax.SeqExpr:
    """A SeqExpr of one block; bindings are nodes or pairs of variable and value."""
    nodes = [relax.VarBinding(*b) if isinstance(b, tuple) else b for b in bindings]
    return relax.SeqExpr([relax.BindingBlock(nodes)] if nodes else [], result)


def function(params: Any, *bindings: Any, result: Any, ret: Any = None, **more: Any) -> Any:
    """A public function `main`."""
    body = sequence(*bindings, result=result)
    return relax.Function(params, body, ret, attrs={"global_symbol": "main"}, **more)


def int32(value: int) -> prim.IntImm:
    return prim.IntImm("int32", value)


def int64(value: int) -> prim.IntImm:
    return prim.IntImm("int64", value)


def loop(var: prim.Var, extent: Any, body: tir.Stmt, kind: str = "serial", **more: Any) -> tir.For:
    """A loop from zero."""
    extent = int32(extent) if isinstance(extent, int) else extent
    low = more.pop("min", prim.IntImm(extent.dtype, 0))
    return tir.For(var, low, extent, kind, body, **more)


def region(buffer: tir.Buffer, *ranges: Any) -> tir.BufferRegion:
    """A region of pairs (min, extent), or of single elements."""
    made = [
        tir.Range.from_min_extent(*(r if isinstance(r, tuple) else (r, int32(1)))) for r in ranges
    ]
    return tir.BufferRegion(buffer, made)


def block_of(
    axes: Any, body: tir.Stmt, name: str = "block", predicate: Any = True, **more: Any
) -> tir.BlockRealize:
    """A block; `axes` are (variable, min, extent, kind, value)."""
    iter_vars = [
        tir.IterVar(tir.Range.from_min_extent(low, size), var, kind)
        for var, low, size, kind, _ in axes
    ]
    reads, writes = more.pop("reads", ()), more.pop("writes", ())
    block = tir.Block(iter_vars, reads, writes, name, body, **more)
    return tir.BlockRealize([axis[-1] for axis in axes], predicate, block)


def prim_func(body: tir.Stmt, *params: Any, **more: Any) -> tir.PrimFunc:
    """A public PrimFunc `main`; parameters are buffers or variables."""
    pairs = [
        (tir.handle_var(f"{p.name}_handle"), p) if isinstance(p, tir.Buffer) else (p, None)
        for p in params
    ]
    buffers = {var: buffer for var, buffer in pairs if buffer is not None}
    attrs = more.pop("attrs", {"global_symbol": "main"})
    return tir.PrimFunc([var for var, _ in pairs], body, more.pop("ret", None), buffers, attrs)
