"""Questions about PrimFuncs and their parts, by the names of `tvm.tir.analysis`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from relaxscript.errors import Diagnostic
from relaxscript.errors.exceptions import DiagnosticValueError
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node, traversal_of
from relaxscript.ir.prim import (
    Binary,
    BufferLoad,
    Call,
    Comparison,
    IntImm,
    Let,
    Logic,
    Not,
    PrimExpr,
    Select,
    Var,
)
from relaxscript.ir.relax import Op
from relaxscript.ir.stmt_functor import parts_of_tir
from relaxscript.ir.tir import (
    Allocate,
    AllocateConst,
    Block,
    BlockRealize,
    Buffer,
    BufferRegion,
    BufferStore,
    For,
    IfThenElse,
    LetStmt,
    PrimFunc,
    Range,
    Stmt,
)
from relaxscript.ir.walk import free_vars, walk
from relaxscript.tir_builder.access import AccessRegions, access_regions

__all__ = [
    "calculate_allocated_bytes", "estimate_tir_flops", "expr_deep_equal",
    "get_block_access_region", "get_block_read_write_region", "undefined_vars", "verify_ssa",
    "verify_well_formed",
]  # fmt: skip


def expr_deep_equal(lhs: PrimExpr, rhs: PrimExpr) -> bool:
    """True if two scalars are written alike, of the same variables.

    Variables that are defined inside count as themselves, other than for `structural_equal`.
    Source: TVM `tir.analysis.expr_deep_equal`.
    """
    seen: set[tuple[int, int]] = set()
    stack: list[tuple[Any, Any]] = [(lhs, rhs)]
    while stack:
        a, b = stack.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        if type(a) is not type(b):
            return False
        if isinstance(a, tuple):
            if len(a) != len(b):
                return False
            stack += zip(a, b)
        elif not isinstance(a, Node):
            if a != b:
                return False
        elif a.keeps_identity:
            return False
        else:
            seen.add((id(a), id(b)))
            stack += [(getattr(a, f.name), getattr(b, f.name)) for f in traversal_of(type(a))]
    return True


def undefined_vars(node: Stmt | PrimExpr, defs: Sequence[Var] | None = None) -> list[Var]:
    """The variables of scalars and addresses that nothing inside defines, but for `defs`.

    They come in the order of their first use. Those of buffers, such as `A.data` and the sizes of
    `A`, are among them. Source: TVM `tir.analysis.undefined_vars`.
    """
    known = set(defs or ())
    return [v for v in free_vars(node) if isinstance(v, Var) and v not in known]


# ---------------------------------------------------------------- well-formedness


def verify_ssa(func: PrimFunc) -> bool:
    """True if a PrimFunc defines each of its variables in one place.

    Source: TVM `tir.analysis.verify_ssa`.
    """
    return _defined_twice(func) is None


def _defined_twice(func: PrimFunc) -> Var | None:
    """A variable that is defined in two places, if there is one."""
    defined = set(func.params)
    for node in walk(func.body):
        for var in _definitions(node):
            if var in defined:
                return var
            defined.add(var)
    return None


def _definitions(node: Node) -> Iterator[Var]:
    match node:
        case LetStmt(var=var) | Let(var=var) | For(loop_var=var):
            yield var
        case Allocate(buffer_var=var) | AllocateConst(buffer_var=var):
            yield var
        case Block(iter_vars=axes, alloc_buffers=buffers):
            yield from [axis.var for axis in axes]
            yield from [buffer.data for buffer in buffers]


def verify_well_formed(obj: PrimFunc | IRModule, assert_mode: bool = True) -> bool:
    """True if PrimFuncs define what they use, once, and blocks use no variables of loops outside.

    Of a module all PrimFuncs are looked at. With `assert_mode` the first thing that is wrong is
    raised as `DiagnosticError`. RX0302 is a variable that is defined twice or by nothing, RX0504
    one that a block may not use. Source: TVM `tir.analysis.verify_well_formed`.
    """
    if not isinstance(obj, (PrimFunc, IRModule)):
        raise TypeError(f"`verify_well_formed` takes a PrimFunc or a module, not {brief(obj)}")
    functions = [obj] if isinstance(obj, PrimFunc) else [*obj.functions.values()]
    for function in functions:
        found = _first_problem(function) if isinstance(function, PrimFunc) else None
        if found is not None:
            if assert_mode:
                raise DiagnosticValueError(found)
            return False
    return True


def _first_problem(func: PrimFunc) -> Diagnostic | None:
    free = [v for v in free_vars(func) if isinstance(v, (Var, Buffer))]
    if free:
        one = free[0]
        return Diagnostic(
            "RX0302", f"nothing defines `{one.name}`, which the PrimFunc uses", one.span,
            help=f"make `{one.name}` a parameter, or define it around its use",
        )  # fmt: skip
    twice = _defined_twice(func)
    if twice is not None:
        return Diagnostic(
            "RX0302", f"the PrimFunc defines `{twice.name}` twice", twice.span,
            help="`tir.transform.ConvertSSA()` gives each definition a variable of its own",
        )  # fmt: skip
    return _outer_loop(func)


def _outer_loop(func: PrimFunc) -> Diagnostic | None:
    """A variable of a loop that a block inside uses."""
    # The number of blocks around each loop; the block around all others is none.
    loops: dict[Node, int] = {}
    stack: list[tuple[Node, int, str]] = [(func.body, 0, "")]
    seen: set[tuple[int, int]] = set()
    while stack:
        node, depth, name = stack.pop()
        if (id(node), depth) in seen:
            continue
        seen.add((id(node), depth))
        if isinstance(node, Var) and loops.get(node, depth) < depth:
            return Diagnostic(
                "RX0504",
                f"the block `{name}` uses `{node.name}`, the variable of a loop outside of it",
                node.span,
                help=f'bind it to an axis: `T.axis.spatial(extent, {node.name})`',
            )  # fmt: skip
        if isinstance(node, For):
            loops[node.loop_var] = depth
        if isinstance(node, BlockRealize):
            stack += [(part, depth, name) for part in (*node.iter_values, node.predicate)]
            stack.append((node.block, depth + 1 if loops else 0, node.block.name_hint))
            continue
        stack += [(part, depth, name) for part in parts_of_tir(node)]
    return None


# ---------------------------------------------------------------- accesses and memory


def get_block_access_region(
    block: Block, buffer_var_map: Mapping[Var, Buffer]
) -> list[list[BufferRegion]]:
    """The regions that a block reads, those that it writes, and those that its addresses hide.

    `buffer_var_map` has the buffers around by their addresses. Source: TVM
    `tir.analysis.get_block_access_region`.
    """
    found = _accesses(block, buffer_var_map)
    return [[*found.reads], [*found.writes], [_whole(buffer) for buffer in found.hidden]]


def get_block_read_write_region(
    block: Block, buffer_var_map: Mapping[Var, Buffer]
) -> list[list[BufferRegion]]:
    """The regions that a block reads, and those that it writes; what an address hides is both.

    Source: TVM `tir.analysis.get_block_read_write_region`.
    """
    reads, writes, hidden = get_block_access_region(block, buffer_var_map)
    return [[*reads, *hidden], [*writes, *hidden]]


def _accesses(block: Block, buffer_var_map: Mapping[Var, Buffer]) -> AccessRegions:
    parts = [part for part in (block.init, block.body) if part is not None]
    matched = {match.buffer: match.source for match in block.match_buffers}
    return access_regions(
        parts, block.alloc_buffers, matched, buffer_var_map.values(), block.init is not None
    )


def _whole(buffer: Buffer) -> BufferRegion:
    return BufferRegion(buffer, tuple([Range(0, dim) for dim in buffer.shape]))


def calculate_allocated_bytes(func_or_mod: PrimFunc | IRModule) -> dict[str, dict[str, int]]:
    """The bytes that PrimFuncs allocate at one time at most, for each function and storage scope.

    What has no known size is left out. A PrimFunc alone is called "main". Source: TVM
    `tir.analysis.calculate_allocated_bytes`.
    """
    if isinstance(func_or_mod, PrimFunc):
        return {"main": _allocated(func_or_mod)}
    if not isinstance(func_or_mod, IRModule):
        raise TypeError(
            f"`calculate_allocated_bytes` takes a PrimFunc or a module, not {brief(func_or_mod)}"
        )
    return {
        gvar.name_hint: _allocated(function)
        for gvar, function in func_or_mod.functions.items()
        if isinstance(function, PrimFunc)
    }


def _allocated(func: PrimFunc) -> dict[str, int]:
    most: dict[str, int] = {}
    present: dict[str, int] = {}
    stack: list[tuple[Node, bool]] = [(func.body, False)]
    while stack:
        node, ends = stack.pop()
        for scope, size in _sizes(node):
            present[scope] = present.get(scope, 0) + (-size if ends else size)
            most[scope] = max(most.get(scope, 0), present[scope])
        if not ends:
            stack.append((node, True))
            stack += [(part, False) for part in parts_of_tir(node) if isinstance(part, Stmt)]
    return most


def _sizes(node: Node) -> Iterator[tuple[str, int]]:
    """The storage scopes and sizes of what a statement allocates."""
    match node:
        case Allocate(buffer_var=var, dtype=dtype, extents=dims):
            scope = "" if var.type_annotation is None else var.type_annotation.storage_scope
            found = [(scope or "global", dtype, dims)]
        case Block(alloc_buffers=buffers):
            found = [(str(b.scope), b.dtype, b.shape) for b in buffers]
        case _:
            return
    for name, dtype, extents in found:
        size = dtype.itemsize
        for extent in extents:
            if not isinstance(extent, IntImm):
                break
            size *= extent.value
        else:
            yield name, size


# ---------------------------------------------------------------- operations


def estimate_tir_flops(stmt_or_mod: Stmt | IRModule) -> float:
    """The operations on values that a statement makes, or that the PrimFuncs of a module make.

    Arithmetic and comparisons count as one each, functions such as `exp` and indices as none. Of
    branches the larger one counts, and a loop whose extent is no number counts once. Source: TVM
    `tir.analysis.estimate_tir_flops`.
    """
    if isinstance(stmt_or_mod, IRModule):
        functions = stmt_or_mod.functions.values()
        return sum((_count(f.body) for f in functions if isinstance(f, PrimFunc)), 0.0)
    if not isinstance(stmt_or_mod, Stmt):
        raise TypeError(
            f"`estimate_tir_flops` takes a statement or a module, not {brief(stmt_or_mod)}"
        )
    return _count(stmt_or_mod)


def _count(root: Stmt | PrimExpr) -> float:
    counts: dict[int, float] = {}
    stack: list[tuple[Stmt | PrimExpr, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        parts = _counted_parts(node)
        if ready:
            counts[id(node)] = _combined(node, [counts[id(part)] for part in parts])
        elif id(node) not in counts:
            stack.append((node, True))
            stack += [(part, False) for part in parts]
    return counts[id(root)]


def _counted_parts(node: Stmt | PrimExpr) -> list[Stmt | PrimExpr]:
    """The parts of a node in which operations on values are: no indices and no sizes."""
    match node:
        case BufferStore(value=value):
            return [value]
        case BufferLoad():
            return []
        case For(body=body) | Allocate(body=body) | AllocateConst(body=body):
            return [body]
        case BlockRealize(block=block):
            return [part for part in (block.init, block.body) if part is not None]
        case Call(op=Op(name="tir.if_then_else"), args=args):
            return [*args]
    return [*parts_of_tir(node)]


def _combined(node: Stmt | PrimExpr, counts: Sequence[float]) -> float:
    """The operations of a node, from those of its parts."""
    match node:
        case For(extent=IntImm(value=extent)):
            return max(extent, 0) * counts[0]
        case IfThenElse() | Select() | Call(op=Op(name="tir.if_then_else")):
            return counts[0] + max(counts[1:])
        case Binary() | Comparison() | Logic() | Not():
            return 1 + sum(counts)
    return sum(counts, 0.0)
