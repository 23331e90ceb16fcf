"""Accesses of memory in loops, whether iterations depend on each other, and what may fail."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from relaxscript.arith import NO, YES, prove_equal, simplify
from relaxscript.ir import intrinsic as table, prim
from relaxscript.ir.prim import (
    INT64,
    Call,
    Cast,
    Immediate,
    IntImm,
    Let,
    PrimExpr,
    Select,
    StringImm,
    Sub,
    Var,
)
from relaxscript.ir.stmt_functor import inner_statements
from relaxscript.ir.tir import Allocate, AllocateConst, Block, Buffer, PrimFunc, Stmt
from relaxscript.ir.walk import walk
from relaxscript.semantics import scalar

from .known_facts import in_int64

__all__ = ["NOALIAS", "ElementAccess", "Memories", "has_noalias", "is_total"]

# The attribute by which a function promises that its buffers share no memory.
NOALIAS = "tir.noalias"


class ElementAccess(NamedTuple):
    """A load or store of one element."""

    buffer: Buffer
    indices: tuple[PrimExpr, ...]
    is_write: bool = False


def has_noalias(func: PrimFunc) -> bool:
    """True if a function says that its buffers share no memory."""
    return func.attrs is not None and bool(func.attrs.get(NOALIAS))


class Memories:
    """The memory behind the buffers of a function with some body, as far as it is known."""

    def __init__(self, func: PrimFunc, body: Stmt) -> None:
        self.are_apart = has_noalias(func)
        # The pointers to memory that the function itself makes.
        self.own: set[Var] = set()
        statements = [body]
        while statements:
            stmt = statements.pop()
            match stmt:
                case Allocate(buffer_var=var) | AllocateConst(buffer_var=var):
                    self.own.add(var)
                case Block(alloc_buffers=buffers):
                    self.own.update(buffer.data for buffer in buffers)
            statements += inner_statements(stmt)

    def may_overlap(self, a: Buffer, b: Buffer) -> bool:
        """True unless two buffers surely are different memory."""
        if a.data is b.data:
            return True
        return not (self.are_apart or a.data in self.own or b.data in self.own)

    def are_independent(
        self, accesses: Sequence[ElementAccess], var: Var, inner: Collection[Var] = ()
    ) -> bool:
        """True if no iteration of a loop over `var` writes what another one reads or writes.

        `inner` are the variables that are defined in its body. Costs a proof for each write and
        each access of the same memory.
        """
        return all(
            not self.may_overlap(write.buffer, other.buffer) or _are_apart(write, other, var, inner)
            for write in accesses
            if write.is_write
            for other in accesses
        )


def _are_apart(a: ElementAccess, b: ElementAccess, var: Var, inner: Collection[Var]) -> bool:
    """True if two accesses are of different elements where they are in different iterations."""
    if a.buffer is not b.buffer:
        return False
    return any(
        _is_a_difference(i, j, var, inner) for i, j in zip(a.indices, b.indices, strict=True)
    )


def _is_a_difference(i: PrimExpr, j: PrimExpr, var: Var, inner: Collection[Var]) -> bool:
    """True if two indices along one axis differ whenever they are in different iterations."""
    used = {node for index in (i, j) for node in walk(index) if isinstance(node, Var)}
    if not used.isdisjoint(inner):
        return False
    if var not in used:
        return prove_equal(i, j) is NO
    return prove_equal(i, j) is YES and _moves(i, var)


def _moves(index: PrimExpr, var: Var) -> bool:
    """True if an index grows or shrinks by the same from one iteration to the next."""
    wide = Var.make(var.name, INT64)
    here, following = (in_int64(index, {var: value}) for value in (wide, wide + 1))
    step = simplify(Sub.make(following, here))
    return isinstance(step, IntImm) and step.value != 0


_PLAIN = (
    Var, Immediate, Cast, prim.Binary, prim.Comparison, prim.Logic, prim.Not, Select, Let, Call,
    StringImm,
)  # fmt: skip
_DIVISIONS = (prim.Div, prim.Mod, prim.FloorDiv, prim.FloorMod)


def is_total(e: PrimExpr) -> bool:
    """True if a scalar has a value for all operands, and nothing else happens."""
    if isinstance(e, _DIVISIONS) and not e.dtype.is_float:
        return isinstance(e.b, IntImm) and e.b.value != 0
    if isinstance(e, Call):
        return has_lanes(e)
    return isinstance(e, _PLAIN)


def has_lanes(call: Call) -> bool:
    """True if a call is computed for each lane of its operands."""
    row = table.lookup(call.op)
    if row is None or not row.compiled or row.external or not row.is_pure:
        return False
    if row.name in ("tir.if_then_else", "tir.likely"):
        return True
    if row.name == "tir.reinterpret":
        return bool(call.args[0].dtype.bits == call.dtype.bits)
    if row.name == "tir.call_llvm_pure_intrin":
        return isinstance(name := call.args[0], StringImm) and name.value == "llvm.fma"
    return bool(call.args) and scalar.intrinsic(row.name, call.args[0].dtype.element) is not None
