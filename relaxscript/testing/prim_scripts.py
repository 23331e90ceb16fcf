"""Random PrimFuncs for printers and parsers: every statement and scalar expression, odd names.

They are well typed, but nobody need run them. Start reading at `PrimFuncWriter.statement`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relaxscript.dtypes import DataType
from relaxscript.ir import prim, tir
from relaxscript.ir.buffer_access import StorageScope
from relaxscript.ir.intrinsic import INTRINSICS, Effect, Intrinsic
from relaxscript.ir.relax import Attrs
from relaxscript.tir_builder.index_bounds import out_of_bounds_indices

from .generate.choices import Choices, Seeded
from .generate.literals import TEXTS, scalar_of

__all__ = ["PrimFuncWriter", "random_prim_script"]

NAMES = (
    "x", "y", "x", "i", "n", "A", "R", "T", "I", "cls", "Module", "main", "x_1", "i_1", "range",
    "if", "lambda", "float", "grid", "_", "1", "a b", "\u00e9", "data", "max", "s", "local",
)  # fmt: skip
DTYPES = ("int32", "float32", "int64", "float16", "int8", "uint8", "float64", "bfloat16", "uint64")
# Those whose operands are all of one dtype, that of the result.
CALLS = tuple(
    row for row in INTRINSICS.values()
    if row.effect == Effect.PURE and row.result == "operand" and row.parameters and row.compiled
    and row.name != "tir.if_then_else"
)  # fmt: skip
COMPARISONS = (prim.LT, prim.LE, prim.EQ, prim.NE, prim.GE, prim.GT)
KINDS = (tir.ForKind.SERIAL, tir.ForKind.SERIAL, tir.ForKind.PARALLEL, tir.ForKind.UNROLLED)
TRUE = prim.IntImm(prim.BOOL, 1)


def random_prim_script(seed: int) -> tir.PrimFunc:
    """The PrimFunc of a seed."""
    return PrimFuncWriter(Seeded(seed)).function()


class PrimFuncWriter:
    """Writes one PrimFunc; `scalars` and `buffers` are what is in scope."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.scalars: list[prim.Var] = []
        self.buffers: list[tir.Buffer] = []

    def function(self) -> tir.PrimFunc:
        choices = self.choices
        scalars = [self.var(self.dtype()) for _ in range(choices.integer(0, 2))]
        dims = [prim.Var(self.name(), choices.pick((prim.INT64, prim.INT32))) for _ in range(2)]
        self.scalars = [*scalars]
        buffers = [self.new_buffer(dims) for _ in range(choices.integer(1, 3))]
        self.buffers = list(buffers)
        self.scalars += {v: v for b in buffers for v in b.shape if isinstance(v, prim.Var)}
        handles = [tir.handle_var(choices.pick((b.name, self.name()))) for b in buffers]
        attrs = Attrs({"tir.noalias": True, "n": scalar_of(choices)} if choices.chance(30) else {})
        params = (*handles, *scalars)
        body = self.statement(3)
        if choices.chance(70):
            body = tir.BlockRealize((), TRUE, tir.Block((), (), (), "root", body))
        made = tir.PrimFunc(params, body, None, dict(zip(handles, buffers)), attrs)
        if not out_of_bounds_indices(made, {}):
            return made
        # Behind an assertion nothing is certain, so the index is left to the run.
        guarded = tir.AssertStmt(TRUE, prim.StringImm("guarded"), body)
        return made.replace(body=guarded)

    def name(self) -> str:
        return self.choices.pick(NAMES)

    def dtype(self) -> DataType:
        return DataType(self.choices.pick(DTYPES))

    def var(self, dtype: DataType) -> prim.Var:
        return prim.Var(self.name(), dtype)

    def new_buffer(self, dims: Sequence[prim.Var] = ()) -> tir.Buffer:
        options = [prim.const(4, "int64"), prim.const(8, "int32"), prim.const(1, "int64"), *dims]
        shape = tuple([self.choices.pick(options) for _ in range(self.choices.integer(0, 3))])
        return tir.Buffer(self.name(), shape, self.dtype())

    # ---- statements

    def statement(self, depth: int) -> tir.Stmt:
        """A statement, at most `depth` others deep."""
        leaves: list[Callable[[], tir.Stmt]] = [self.store, self.store, self.evaluate]
        if not depth:
            return self.choices.pick(leaves)()
        scopes: list[Callable[[int], tir.Stmt]] = [
            self.loop, self.loop, self.grid, self.sequence, self.sequence, self.branch, self.let,
            self.loop_while, self.assertion, self.allocation, self.attribute, self.block,
        ]  # fmt: skip
        if self.choices.chance(20):
            return self.choices.pick(leaves)()
        return self.choices.pick(scopes)(depth - 1)

    def inside(self, depth: int, *scalars: prim.Var, buffer: tir.Buffer | None = None) -> tir.Stmt:
        """A statement that sees more than there is outside."""
        known, buffers = list(self.scalars), list(self.buffers)
        self.scalars += scalars
        self.buffers += [] if buffer is None else [buffer]
        made = self.statement(depth)
        self.scalars, self.buffers = known, buffers
        return made

    def store(self) -> tir.Stmt:
        buffer = self.choices.pick(self.buffers)
        value = self.scalar(buffer.dtype, 2)
        return tir.BufferStore(buffer, value, self.indices(buffer))

    def evaluate(self) -> tir.Stmt:
        return tir.Evaluate(self.scalar(self.dtype(), 2))

    def sequence(self, depth: int) -> tir.Stmt:
        count = self.choices.integer(2, 3)
        return tir.SeqStmt(tuple([self.statement(depth) for _ in range(count)]))

    def loop(self, depth: int) -> tir.Stmt:
        dtype = self.choices.pick((prim.INT32, prim.INT64))
        var = self.var(dtype)
        start = prim.const(self.choices.pick((0, 0, 2)), dtype)
        extent = self.choices.pick((prim.const(8, dtype), self.scalar(dtype, 1)))
        notes = {"a": scalar_of(self.choices), "b": self.choices.pick(TEXTS)}
        annotations = Attrs(notes if self.choices.chance(20) else {})
        kind = self.choices.pick(KINDS)
        return tir.For(var, start, extent, kind, self.inside(depth, var), None, annotations)

    def grid(self, depth: int) -> tir.Stmt:
        """Loops right inside of one another."""
        loops = [self.var(prim.INT32) for _ in range(self.choices.integer(2, 3))]
        body = self.inside(depth, *loops)
        for var in reversed(loops):
            zero, extent = prim.const(0, "int32"), prim.const(self.choices.pick((4, 8)), "int32")
            body = tir.For(var, zero, extent, tir.ForKind.SERIAL, body)
        return body

    def branch(self, depth: int) -> tir.Stmt:
        other = self.statement(depth) if self.choices.chance(50) else None
        return tir.IfThenElse(self.condition(1), self.statement(depth), other)

    def let(self, depth: int) -> tir.Stmt:
        var = self.var(self.choices.pick((self.dtype(), prim.BOOL)))
        return tir.LetStmt(var, self.scalar(var.dtype, 2), self.inside(depth, var))

    def loop_while(self, depth: int) -> tir.Stmt:
        return tir.While(self.condition(1), self.statement(depth))

    def assertion(self, depth: int) -> tir.Stmt:
        text = prim.StringImm(self.choices.pick(TEXTS))
        return tir.AssertStmt(self.condition(1), text, self.statement(depth))

    def attribute(self, depth: int) -> tir.Stmt:
        node = self.choices.pick((self.choices.pick(TEXTS), prim.const(0, "int32")))
        value = self.choices.pick((prim.const(1, "int32"), prim.StringImm("v")))
        return tir.AttrStmt(node, self.choices.pick(("key", "a b")), value, self.statement(depth))

    def allocation(self, depth: int) -> tir.Stmt:
        dtype = self.dtype()
        pointer = prim.PointerType(prim.PrimType(dtype), self.choices.pick(("global", "shared")))
        data = prim.Var(self.name(), DataType("handle"), pointer)
        extent = prim.const(8, "int32")
        buffer = tir.Buffer(
            self.name(), (extent,), dtype, data, scope=StorageScope(pointer.storage_scope)
        )
        inner = tir.DeclBuffer(buffer, self.inside(depth, buffer=buffer))
        return tir.Allocate(data, dtype, (extent,), TRUE, inner)

    def block(self, depth: int) -> tir.Stmt:
        """Loops around a block whose axes follow them or are computed."""
        count = self.choices.integer(0, 2)
        loops = [self.var(self.choices.pick((prim.INT32, prim.INT64))) for _ in range(count)]
        axes = [self.var(loop.dtype) for loop in loops]
        extents = [prim.const(self.choices.pick((4, 8)), loop.dtype) for loop in loops]
        zeros = [prim.const(0, loop.dtype) for loop in loops]
        kinds = [self.choices.pick(("spatial", "reduce")) for _ in loops]
        values = [v if self.choices.chance(70) else v + v for v in loops]
        made = [
            tir.IterVar(tir.Range(zero, extent), axis, kind)
            for zero, extent, axis, kind in zip(zeros, extents, axes, kinds)
        ]
        local = self.new_buffer() if self.choices.chance(30) else None
        body = self.inside(depth, *axes, buffer=local)
        reads = tuple([self.region(b, axes) for b in self.choices.some(self.buffers)[:2]])
        writes = tuple([self.region(b, axes) for b in self.choices.some(self.buffers)[:2]])
        block = tir.Block(
            tuple(made), reads, writes, self.choices.pick(("b", "if", "", "a b")), body,
            None, () if local is None else (local,), (),
            Attrs({"k": scalar_of(self.choices)} if self.choices.chance(20) else {}),
        )  # fmt: skip
        nest: tir.Stmt = tir.BlockRealize(tuple(values), self.predicate(loops), block)
        for var, zero, extent in reversed(list(zip(loops, zeros, extents))):
            nest = tir.For(var, zero, extent, tir.ForKind.SERIAL, nest)
        return nest

    def predicate(self, loops: Sequence[prim.Var]) -> prim.PrimExpr:
        if not loops or self.choices.chance(80):
            return TRUE
        return prim.LT(loops[0], prim.const(3, loops[0].dtype))

    def region(self, buffer: tir.Buffer, axes: Sequence[prim.Var]) -> tir.BufferRegion:
        ranges = []
        for dim in buffer.shape:
            whole = tir.Range(prim.const(0, dim.dtype), dim)
            points = [tir.Range.from_min_extent(axis, prim.const(1, axis.dtype)) for axis in axes]
            ranges.append(self.choices.pick((whole, *points)))
        return tir.BufferRegion(buffer, tuple(ranges))

    # ---- scalars

    def indices(self, buffer: tir.Buffer) -> tuple[prim.PrimExpr, ...]:
        known = [v for v in self.scalars if v.dtype in (prim.INT32, prim.INT64)]
        zeros = [prim.const(0, "int32"), prim.const(0, "int64")]
        return tuple([self.choices.pick((*zeros, *known)) for _ in buffer.shape])

    def scalar(self, dtype: DataType, depth: int) -> prim.PrimExpr:
        """An expression of a dtype."""
        if dtype.is_bool:
            return self.condition(depth)
        if not depth or self.choices.chance(25):
            return self.leaf(dtype)
        a, b = self.scalar(dtype, depth - 1), self.scalar(dtype, depth - 1)
        match self.choices.integer(0, 8):
            case 0:
                return prim.Select(self.condition(depth - 1), a, b)
            case 1:
                return prim.Cast(dtype, self.scalar(self.dtype(), depth - 1))
            case 2:
                var = self.var(dtype)
                self.scalars.append(var)
                body = self.scalar(dtype, depth - 1)
                self.scalars.pop()
                return prim.Let(var, a, body)
            case 3 | 4:
                return self.call(dtype, depth)
            case 5:
                nonzero = prim.const(self.choices.pick((1, 2, 3)), dtype)
                makers = (prim.FloorDiv, prim.FloorMod, prim.Div)
                whole = (*makers, prim.Mod)
                return self.choices.pick(makers if dtype.is_float else whole)(a, nonzero)
        return self.choices.pick((prim.Add, prim.Sub, prim.Mul, prim.Max, prim.Min))(a, b)

    def leaf(self, dtype: DataType) -> prim.PrimExpr:
        scalars = [v for v in self.scalars if v.dtype == dtype]
        loads = [b for b in self.buffers if b.dtype == dtype]
        if scalars and self.choices.chance(50):
            return self.choices.pick(scalars)
        if loads and self.choices.chance(60):
            buffer = self.choices.pick(loads)
            return prim.BufferLoad(buffer, self.indices(buffer))
        return scalar_of(self.choices, dtype)

    def call(self, dtype: DataType, depth: int) -> prim.PrimExpr:
        fitting = [row for row in CALLS if row.accepts(dtype)]
        row: Intrinsic = self.choices.pick(fitting)
        args = tuple([self.scalar(dtype, depth - 1) for _ in row.parameters])
        return prim.Call(dtype, row.op, args)

    def condition(self, depth: int) -> prim.PrimExpr:
        known = [v for v in self.scalars if v.dtype.is_bool]
        match self.choices.integer(0, 5 if depth else 2):
            case 0 if known:
                return self.choices.pick(known)
            case 3:
                return prim.Not(self.condition(depth - 1))
            case 4 | 5:
                make = self.choices.pick((prim.And, prim.Or))
                return make(self.condition(depth - 1), self.condition(depth - 1))
        dtype = self.dtype()
        a, b = self.scalar(dtype, max(depth - 1, 0)), self.scalar(dtype, max(depth - 1, 0))
        return self.choices.pick(COMPARISONS)(a, b)
