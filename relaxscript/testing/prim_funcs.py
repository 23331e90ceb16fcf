"""Random PrimFuncs: loops over the elements of buffers, plain or in blocks, and reductions.

All arithmetic is exact for small integers, floating-point types included, so that executors
can be compared bit by bit. Start reading at `elementwise`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.relax import Attrs
from relaxscript.ir.scalar_functions import max_value, min_value
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferRegion,
    BufferStore,
    For,
    ForKind,
    IfThenElse,
    IterVar,
    LetStmt,
    PrimFunc,
    Range,
    Stmt,
    handle_var,
)

from .generate.choices import Choices, Seeded, strategy

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["DTYPES", "Dims", "elementwise", "prim_funcs", "random_prim_func", "reduction"]

# The dtypes in which PrimFuncs compute.
DTYPES = ("float32", "int32", "int64", "float64", "int8", "uint8", "float16")
KINDS = (ForKind.SERIAL, ForKind.PARALLEL, ForKind.VECTORIZED, ForKind.UNROLLED)
NAMES = ("x", "y", "out", "x", "T", "n", "i", "compute")
TRUE = prim.IntImm(prim.BOOL, 1)

Dims = tuple[prim.PrimExpr, ...]
Indices = tuple[prim.PrimExpr, ...]
Body = Callable[[Indices], Stmt]


def prim_funcs() -> SearchStrategy[PrimFunc]:
    """A hypothesis strategy of PrimFuncs whose last parameter is the result."""
    return strategy(_prim_func)


def random_prim_func(seed: int) -> PrimFunc:
    """The PrimFunc of a seed."""
    return _prim_func(Seeded(seed))


def _prim_func(choices: Choices) -> PrimFunc:
    rank = choices.integer(0, 3)
    n = prim.Var("n", prim.INT64)
    extents = (_dim(2), _dim(3), n, _dim(1), _dim(5))
    dims: Dims = tuple([choices.pick(extents) for _ in range(rank)])
    dtype = DataType(choices.pick(DTYPES))
    if rank and choices.chance(30):
        function, _ = reduction(choices, dims, dtype)
    else:
        function = elementwise(choices, dims, dtype, choices.integer(1, 2))
    return function if choices.chance(20) else function.with_attr("global_symbol", "compute")


def _dim(extent: int) -> prim.PrimExpr:
    return prim.IntImm(prim.INT64, extent)


def elementwise(choices: Choices, dims: Dims, dtype: DataType, inputs: int) -> PrimFunc:
    """Every element of the result is computed from the same elements of `inputs` operands."""
    operands = [_buffer(choices, dims, dtype) for _ in range(inputs)]
    result = _buffer(choices, dims, dtype)

    def body(indices: Indices) -> Stmt:
        loads = [prim.BufferLoad(operand, indices) for operand in operands]
        value = expression(choices, loads, dtype, choices.integer(0, 3))
        return _store(choices, result, value, indices, loads)

    if choices.chance(50):
        nest = _in_root(_nest(choices, dims, body, operands, result))
    else:
        nest = _loops(choices, dims, body)
    return _function(choices, [*operands, result], nest)


def reduction(choices: Choices, dims: Dims, dtype: DataType) -> tuple[PrimFunc, Dims]:
    """The last axis of one operand is summed, or its largest or smallest element found."""
    operand = _buffer(choices, dims, dtype)
    result = _buffer(choices, dims[:-1], dtype)
    make, start = choices.pick(
        (
            (prim.Add, prim.const(0, dtype)),
            (prim.Max, min_value(dtype)),
            (prim.Min, max_value(dtype)),
        )
    )

    def set_up(indices: Indices) -> Stmt:
        return BufferStore(result, start, indices[:-1])

    def body(indices: Indices) -> Stmt:
        before = prim.BufferLoad(result, indices[:-1])
        value = make(before, prim.BufferLoad(operand, indices))
        return BufferStore(result, value, indices[:-1])

    nest = _in_root(_nest(choices, dims, body, [operand], result, set_up))
    return _function(choices, [operand, result], nest), dims[:-1]


def _function(choices: Choices, buffers: Sequence[Buffer], body: Stmt) -> PrimFunc:
    params = tuple([handle_var(choices.pick((buffer.name, "h"))) for buffer in buffers])
    attrs = Attrs({"tir.noalias": True}) if choices.chance(30) else Attrs()
    return PrimFunc(params, body, None, dict(zip(params, buffers)), attrs)


def _buffer(choices: Choices, dims: Dims, dtype: DataType) -> Buffer:
    return Buffer(choices.pick(NAMES), dims, dtype)


# ---------------------------------------------------------------- loops


def _loop_vars(choices: Choices, dims: Dims) -> tuple[prim.Var, ...]:
    names = ("i", "j", "k", "i", "ax0")
    return tuple([prim.Var(choices.pick(names), _index_dtype(choices, dim)) for dim in dims])


def _index_dtype(choices: Choices, dim: prim.PrimExpr) -> DataType:
    """A literal extent may be counted in either of two widths."""
    if isinstance(dim, prim.IntImm) and choices.chance(50):
        return prim.INT32
    return prim.INT64


def _extent(dim: prim.PrimExpr, dtype: DataType) -> prim.PrimExpr:
    return prim.const(dim.value, dtype) if isinstance(dim, prim.IntImm) else dim


def _loops(
    choices: Choices, dims: Dims, body: Body, loop_vars: tuple[prim.Var, ...] | None = None
) -> Stmt:
    """A loop for each dimension, the last innermost."""
    indices = loop_vars or _loop_vars(choices, dims)
    nest = body(indices)
    for dim, index in reversed(list(zip(dims, indices))):
        kind = choices.pick(KINDS) if choices.chance(25) else ForKind.SERIAL
        if kind == ForKind.VECTORIZED and not isinstance(dim, prim.IntImm):
            kind = ForKind.PARALLEL
        start = prim.const(0, index.dtype)
        nest = For(index, start, _extent(dim, index.dtype), kind, nest)
    return nest


def _nest(
    choices: Choices, dims: Dims, body: Body, operands: Sequence[Buffer], result: Buffer,
    set_up: Body | None = None,
) -> Stmt:  # fmt: skip
    """Loops around one block; with `set_up`, which becomes its init, the last axis is reduced."""
    loops = _loop_vars(choices, dims)
    axes = tuple([prim.Var(f"v{loop.name}", loop.dtype) for loop in loops])
    kinds = ["spatial"] * len(dims)
    if set_up is not None:
        kinds[-1] = "reduce"
    zero = [prim.const(0, axis.dtype) for axis in axes]
    domains = [
        Range.from_min_extent(z, _extent(d, axis.dtype)) for z, d, axis in zip(zero, dims, axes)
    ]
    written = axes[:-1] if set_up is not None else axes
    block = Block(
        tuple([IterVar(dom, axis, kind) for dom, axis, kind in zip(domains, axes, kinds)]),
        tuple([_point(operand, axes) for operand in operands]),
        (_point(result, written),),
        choices.pick(("compute", "update", "x")),
        body(axes),
        None if set_up is None else set_up(axes),
    )
    realize = BlockRealize(loops, TRUE, block)
    if set_up is not None:
        # The axis that is reduced must run in order.
        inner = For(loops[-1], zero[-1], domains[-1].extent, ForKind.SERIAL, realize)
        return _loops(choices, dims[:-1], lambda _: inner, loops[:-1])
    return _loops(choices, dims, lambda _: realize, loops)


def _in_root(body: Stmt) -> Stmt:
    """The block around all blocks of a PrimFunc; it is written only where it says more."""
    return BlockRealize((), TRUE, Block((), (), (), "root", body))


def _point(buffer: Buffer, indices: Indices) -> BufferRegion:
    return BufferRegion(
        buffer, tuple([Range.from_min_extent(i, prim.const(1, i.dtype)) for i in indices])
    )


def _store(
    choices: Choices,
    buffer: Buffer,
    value: prim.PrimExpr,
    indices: Indices,
    loads: Sequence[prim.PrimExpr],
) -> Stmt:
    """A store, now and then behind a scalar variable or an `if`."""
    store: Stmt = BufferStore(buffer, value, indices)
    if choices.chance(20):
        scalar = prim.Var(choices.pick(("v", "x", "t")), buffer.dtype)
        store = LetStmt(scalar, value, BufferStore(buffer, scalar, indices))
    if choices.chance(20):
        condition = prim.LT(loads[0], prim.const(2, buffer.dtype))
        other = BufferStore(buffer, loads[-1], indices)
        store = IfThenElse(condition, store, other)
    return store


# ---------------------------------------------------------------- scalar expressions


def expression(
    choices: Choices, leaves: Sequence[prim.PrimExpr], dtype: DataType, depth: int
) -> prim.PrimExpr:
    """A value of `dtype` computed from `leaves` of `dtype` and small numbers."""
    if depth == 0:
        if choices.chance(25):
            return prim.const(choices.integer(0, 3), dtype)
        return choices.pick(leaves)
    a = expression(choices, leaves, dtype, depth - 1)
    b = expression(choices, leaves, dtype, choices.integer(0, depth - 1))
    match choices.integer(0, 6):
        case 5:
            compare = choices.pick((prim.LT, prim.LE, prim.EQ, prim.NE, prim.GE, prim.GT))
            return prim.Select(compare(a, b), a, b)
        case 6 if not dtype.is_float:
            divide = choices.pick((prim.FloorDiv, prim.FloorMod))
            return divide(a, prim.const(choices.integer(1, 3), dtype))
    make: type[prim.Binary] = choices.pick((prim.Add, prim.Mul, prim.Max, prim.Min, prim.Sub))
    return make(a, b)
