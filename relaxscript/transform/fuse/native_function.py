"""The PrimFunc that calls others one after the other, on what it is given and memory of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var as PrimVar
from relaxscript.ir.relax import Attrs, Expr, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferRegion,
    Evaluate,
    PrimFunc,
    Range,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.walk import free_vars, substitute
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.semantics.write_sets import WRITES
from relaxscript.transform.default_schedule.apply_default_schedule import SCHEDULE

from .tir_calls import TIRCall

__all__ = ["CallRow", "write_native_function"]


class CallRow(NamedTuple):
    """Calls one after the other; `given` and `results` are the tensors of each, by numbers.

    What a call is given from outside is an expression. `infos` are the tensors that are made.
    """

    calls: Sequence[TIRCall]
    given: Sequence[Sequence[int | Expr]]
    results: Sequence[Sequence[int]]
    infos: Sequence[TensorStructInfo]
    spans: Sequence[Any]


def write_native_function(
    row: CallRow, wanted: Sequence[int]
) -> tuple[PrimFunc, tuple[Expr, ...], tuple[PrimExpr, ...]]:
    """The PrimFunc that makes the tensors that are `wanted`, and what a call of it is given.

    These are the tensors from outside, in their order, and the integers that no shape of them says.
    """
    return _Writer(row).write(wanted)


class _Writer:
    """Writes one function; `sizes` are its own variables for those of the calls."""

    def __init__(self, row: CallRow) -> None:
        self.row = row
        self.sizes: dict[PrimVar, PrimVar] = {}
        self.names: dict[str, int] = {}
        self.inputs: dict[object, tuple[Expr, Buffer]] = {}
        self.tensors: dict[int, Buffer] = {}

    def write(
        self, wanted: Sequence[int]
    ) -> tuple[PrimFunc, tuple[Expr, ...], tuple[PrimExpr, ...]]:
        row = self.row
        for given in row.given:
            for operand in given:
                if not isinstance(operand, int):
                    self._input(operand)
        defined = {v for _, buffer in self.inputs.values() for v in buffer.shape}
        for number, info in enumerate(row.infos):
            self.tensors[number] = self._buffer(f"t{number}", info)
        statements = tuple(self._statements())
        scalars = [(old, new) for old, new in self.sizes.items() if new not in defined]
        outputs = [self.tensors[number] for number in wanted]
        buffers = [*(buffer for _, buffer in self.inputs.values()), *outputs]
        handles = {PrimVar(buffer.name, DataType("handle")): buffer for buffer in buffers}
        own = [buffer for n, buffer in self.tensors.items() if n not in set(wanted)]
        body: Stmt = SeqStmt(statements)
        read = tuple([_whole(buffer) for _, buffer in self.inputs.values()])
        written = tuple([_whole(buffer) for buffer in outputs])
        block = Block((), read, written, "root", body, None, tuple(own), (), Attrs())
        places = tuple(range(len(self.inputs), len(buffers)))
        attrs = Attrs({"tir.is_scheduled": True, SCHEDULE: "calls", WRITES: places})
        function = PrimFunc(
            (*handles, *(new for _, new in scalars)),
            BlockRealize((), prim.const(True), block),
            None,
            handles,
            attrs,
        )
        inputs = tuple([expr for expr, _ in self.inputs.values()])
        return function, inputs, tuple([old for old, _ in scalars])

    def _input(self, operand: Expr) -> Buffer:
        key: object = operand if isinstance(operand, Var) else id(operand)
        if key not in self.inputs:
            info = struct_info_of_leaf(operand)
            assert isinstance(info, TensorStructInfo), "operands of a call that fits are tensors"
            name = operand.name_hint if isinstance(operand, Var) else "constant"
            self.inputs[key] = operand, self._buffer(name, info)
        return self.inputs[key][1]

    def _buffer(self, name: str, info: TensorStructInfo) -> Buffer:
        shape = tuple([self._own(dim) for dim in info.dims or ()])
        return Buffer(self._unique(name), shape, info.dtype)

    def _unique(self, name: str) -> str:
        count = self.names[name] = self.names.get(name, 0) + 1
        return name if count == 1 else self._unique(f"{name}_{count - 1}")

    def _own(self, size: PrimExpr) -> PrimExpr:
        """A size in the variables of this function."""
        if isinstance(size, prim.IntImm):
            return size
        for var in free_vars(size):
            if isinstance(var, PrimVar) and var not in self.sizes:
                self.sizes[var] = PrimVar(self._unique(var.name), var.dtype)
        made: PrimExpr = substitute(size, self._mapping())
        return made

    def _mapping(self) -> Mapping[PrimVar, PrimExpr]:
        return self.sizes

    def _statements(self) -> Iterator[Stmt]:
        row = self.row
        rows = zip(row.calls, row.given, row.results, row.spans, strict=True)
        for call, given, results, span in rows:
            operands = [
                self.tensors[arg] if isinstance(arg, int) else self._input(arg) for arg in given
            ]
            tensors = iter([*operands, *(self.tensors[number] for number in results)])
            integers = iter([self._own(size) for size in call.integers])
            func = call.signature.func
            args = tuple([
                next(tensors).data if param in func.buffer_map else next(integers)
                for param in func.params
            ])  # fmt: skip
            called = prim.Call.make(DataType("void"), call.gvar, args, span=span)
            yield Evaluate.make(called, span=span)


def _whole(buffer: Buffer) -> BufferRegion:
    """All elements of a buffer."""
    return BufferRegion(
        buffer, tuple([Range(prim.const(0, dim.dtype), dim) for dim in buffer.shape])
    )
