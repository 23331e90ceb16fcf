"""The context in which one PrimFunc is written as LLVM IR: values, buffers, proofs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.errors import Span
from relaxscript.ir import prim, tir
from relaxscript.ir.intrinsic import Intrinsic
from relaxscript.ir.node import Node
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir_compute import Reduce
from relaxscript.semantics.prim_func_abi import PrimFuncSignature
from relaxscript.semantics.vector_math import has_vector_math

from .buffer_address import BufferAddress, CodegenOptions
from .index_sum import IndexSum
from .ir_writer import Explain, FunctionWriter, Value
from .proofs import Proofs
from .value_ranges import ValueRanges

if TYPE_CHECKING:
    from .function import ModuleText

__all__ = ["EmissionRules", "FunctionContext"]


class EmissionRules(NamedTuple):
    """Functions by which expressions use memory, loops and other functions."""

    load: Callable[[FunctionContext, prim.BufferLoad], Value]
    place: Callable[[FunctionContext, tir.Buffer, Span | None], BufferAddress]
    reduction: Callable[[FunctionContext, Reduce], Value]
    external: Callable[[FunctionContext, prim.Call, str], Value]
    call_function: Callable[[FunctionContext, prim.Call, GlobalVar], Value]
    math: Callable[[FunctionContext, prim.Call, Intrinsic], Value]
    returning: Callable[[FunctionContext, prim.PrimExpr], Value]


class FunctionContext:
    """One PrimFunc that is being written; `result` is the dtype of what it returns, if any."""

    def __init__(self, module: ModuleText, func: tir.PrimFunc, rules: EmissionRules) -> None:
        self.module = module
        self.func = func
        self.rules = rules
        self.options: CodegenOptions = module.options
        self.signature = PrimFuncSignature(func)
        self.result: DataType | None = None
        # Whether functions such as exp are those of `semantics/vector_math/`.
        self.vector_math = has_vector_math(func)
        # So many calls of them there are of each width, once they are counted.
        self.math_calls: Counter[int] | None = None
        self.asm = FunctionWriter(module.sites, module.as_written)
        # A sum is written where it is used: an address has no use for it as one number.
        self.values: dict[Node, Value | IndexSum] = {}
        self.ranges = ValueRanges()
        self.proofs = Proofs()
        # How a sum or product of integers fails, where it may not wrap.
        self.wraps: Explain | None = None
        self.places: dict[tir.Buffer, BufferAddress] = {}
        # The views that were declared so far, and what their buffers stood for before.
        self.declared: list[tuple[tir.Buffer, BufferAddress | None]] = []
        # The first buffer over each pointer, and where the memory behind a pointer begins.
        self.owners: dict[prim.Var, BufferAddress] = {}
        # The buffers that were given memory where they were declared, by its pointer.
        self.declared_memory: dict[prim.Var, tir.Buffer] = {}
        self.stack_bytes = 0
        # How often unrolled loops repeat what is being written.
        self.copies = 1

    @contextmanager
    def scope(self, *conditions: prim.PrimExpr, unless: bool = False) -> Iterator[None]:
        """A scope where the conditions hold, or `unless`, do not; its views end with it."""
        before = len(self.declared)
        with self.proofs.scope(*conditions, unless=unless):
            yield
        while len(self.declared) > before:
            buffer, outer = self.declared.pop()
            del self.places[buffer]
            if outer is not None:
                self.places[buffer] = outer

    def declare(self, buffer: tir.Buffer, place: BufferAddress) -> None:
        """Bind a buffer to an address until the scope ends."""
        self.declared.append((buffer, self.places.get(buffer)))
        self.places[buffer] = place

    def define(self, buffer: tir.Buffer, place: BufferAddress) -> None:
        """Bind a buffer, and its pointer, to an address."""
        self.places[buffer] = place
        self.owners[buffer.data] = place
