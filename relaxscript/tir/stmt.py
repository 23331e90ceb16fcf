"""Names that users know as `tvm.tir.stmt`: statements and regions of buffers."""

from __future__ import annotations

from relaxscript.tir import (
    Allocate,
    AllocateConst,
    AssertStmt,
    AttrStmt,
    Block,
    BlockRealize,
    BufferRealize,
    BufferRegion,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    ForKind,
    IfThenElse,
    LetStmt,
    MatchBufferRegion,
    Prefetch,
    SeqStmt,
    Stmt,
    While,
)

__all__ = [
    "Allocate", "AllocateConst", "AssertStmt", "AttrStmt", "Block", "BlockRealize", "BufferRealize",
    "BufferRegion", "BufferStore", "DeclBuffer", "Evaluate", "For", "ForKind", "IfThenElse",
    "LetStmt", "MatchBufferRegion", "Prefetch", "SeqStmt", "Stmt", "While",
]  # fmt: skip
