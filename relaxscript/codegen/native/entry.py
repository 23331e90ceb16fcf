"""The text of an entry: the code behind a built-in function that follows an `EntryPlan`.

    ptr entry(ptr self, ptr args, i64 count, ptr names)

It tests the arguments, makes tensors, calls kernels and returns. It takes arrays of numpy
itself, compact and aligned, of exactly the dtype and shape that are wanted. Those that are written
must be writeable. All else goes the slow way before anything has happened: the machine converts the
arguments, or says what is wrong with them. So both ways take and refuse the same. A kernel that
fails is explained by Python.

Arithmetic of dimensions that leaves 64 bits goes the slow way as well: there it has no bounds.

Nothing in the text depends on the process: objects and functions are external symbols.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from relaxscript.codegen.llvm.ir_writer import FailureSites, Value
from relaxscript.ir import prim
from relaxscript.ir.walk import walk
from relaxscript.runtime.result_blocks import ALIGNMENT
from relaxscript.semantics.prim_func_abi import Extent, ScalarParam

from .arguments import take_arguments
from .context import EntryContext
from .integers import Integers, Unwritable, i64
from .plan import (
    ArrayFacts,
    EntryPlan,
    Literal,
    Made,
    Number,
    PlannedCall,
    ShapeValue,
    Tensor,
    View,
    leaves_of,
    writes_arguments,
)
from .results import make_array, return_results

__all__ = ["Unwritable", "write_entry"]

# Work above which Python's lock is released during a kernel, in bytes that it goes through. A core
# goes through 10 in a nanosecond, or fewer, and an innermost statement takes at least as long: this
# is work of about 20 microseconds or more. Letting other threads run costs 0.05 microseconds where
# there are none. Where there are, they wait for a time that is short beside the 5 milliseconds
# after which Python itself switches threads.
GRAIN = 200_000
ROUND = 10  # of an innermost statement, in the same measure


# So many bytes of tensors between kernels are on the stack: Python's threads have 32 KiB at least.
MOST_ON_STACK = 1 << 14


def write_entry(plan: EntryPlan, symbol: str, sites: FailureSites) -> str:
    """The function `symbol`; what it refers to is declared in `sites`.

    Raises `Unwritable` where the plan cannot be followed by code.
    """
    return _EntryWriter(plan, symbol, sites).write()


@dataclass
class _Room:
    """Room on the stack, and the tensor that is there."""

    name: str
    size: int
    tensor: Made | None = None


class _EntryWriter(EntryContext):
    """Writes one entry, in the order in which it runs."""

    def __init__(self, plan: EntryPlan, symbol: str, sites: FailureSites) -> None:
        super().__init__(plan, symbol, sites)
        self.sizes: list[Value] = []  # of the results, in bytes
        self.in_place = writes_arguments(plan)
        self.stack: list[_Room] = []
        self.efforts: list[float | Value] = []  # of the calls

    # ------------------------------------------------------------ the whole

    def write(self) -> str:
        plan = self.plan
        take_arguments(self)
        for index, facts in enumerate(plan.made):
            self.shapes[Made(index)] = [self.dimension(e) for e in facts.shape]
        for index, data in enumerate(plan.constants):
            self.shapes[Literal(index)] = [i64(size) for size in data.shape]
            self.data[Literal(index)] = self.symbol_value(f"{self.symbol}.constant.{index}")
        self.sizes = [self.size(index, facts) for index, facts in enumerate(plan.made)]
        for index, (_, facts) in enumerate(plan.views):
            self.shapes[View(index)] = [self.dimension(e) for e in facts.shape]
        passed = [self.kernel_arguments(call) for call in plan.calls]
        for one, other in plan.equal:
            self.integers.doubt(
                "icmp ne", *(self.integers.integer(e, self.values) for e in (one, other))
            )
        self.results_fit(plan.returned)
        self.settle()
        self.run(passed)
        return_results(self)
        return self.text()

    def run(self, passed: Sequence[Sequence[Tensor | Value]]) -> None:
        """The calls one after the other; tensors are made before the first that uses them."""
        plan = self.plan
        uses = [
            {plan.root(operand) for operand in call.operands if not isinstance(operand, Number)}
            for call in plan.calls
        ]
        returned = {plan.root(leaf) for leaf in leaves_of(plan.returned)}
        for tensor in sorted(returned.difference(*uses), key=_number):
            if isinstance(tensor, Made):
                make_array(self, tensor, self.sizes[tensor.index], zeros=True)
        last = {tensor: place for place, used in enumerate(uses) for tensor in used}
        for place, call in enumerate(plan.calls):
            for tensor in sorted(uses[place], key=_number):
                if isinstance(tensor, Made) and tensor not in self.data:
                    alone = call.operands.count(tensor) == 1
                    zeros = tensor not in call.filled or not alone
                    if tensor in returned or not self.put_on_stack(tensor, zeros):
                        make_array(self, tensor, self.sizes[tensor.index], zeros)
            self.call_kernel(place, call, passed[place])
            ending = {tensor for tensor in uses[place] if last[tensor] == place}
            self.let_go_of(ending - returned)

    def let_go_of(self, tensors: Set[Tensor]) -> None:
        """The end of tensors that nothing uses any more."""
        for tensor in [tensor for tensor in self.alive if tensor in tensors]:
            self.release(self.objects[tensor])
            self.alive.remove(tensor)
        for room in self.stack:
            if room.tensor in tensors:
                room.tensor = None

    def put_on_stack(self, tensor: Made, zeros: bool) -> bool:
        """Give a small tensor, which is not returned, memory on the stack; False without any."""
        size = self.sizes[tensor.index]
        if size.text.startswith("%"):
            return False
        needed = int(size.text)
        fitting = [r for r in self.stack if r.tensor is None and r.size >= needed]
        if not fitting:
            if needed > MOST_ON_STACK - sum(room.size for room in self.stack):
                return False
            name = f"%stack.{len(self.stack)}"
            self.room.append(f"{name} = alloca [{max(needed, 1)} x i8], align {ALIGNMENT}")
            fitting = [_Room(name, needed)]
            self.stack += fitting
        room = min(fitting, key=lambda room: room.size)
        room.tensor = tensor
        self.data[tensor] = Value("ptr", room.name)
        if zeros:
            self.declare("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1")
            given = f"{self.data[tensor]}, i8 0, {size}, i1 false"
            self.asm.do(f"call void @llvm.memset.p0.i64({given})")
        return True

    def text(self) -> str:
        given = "ptr %self, ptr %args, i64 %count, ptr %names"
        header = f"define ptr @{self.symbol}({given}) nounwind"
        self.declare("relaxscript_slowly", "ptr", "ptr, ptr, i64, ptr")
        return "\n".join([
            f"{header} {{", "entry:", *(f"  {line}" for line in self.room), "  br label %start",
            "start:", *self.asm.lines, "slow:",
            f"  %answer = call ptr @relaxscript_slowly({given})", "  ret ptr %answer", "}",
        ])  # fmt: skip

    # ------------------------------------------------------------ tests

    def results_fit(self, returned: Any) -> None:
        """Compute the numbers that are returned, ahead: nothing has happened where they are odd."""
        match returned:
            case tuple():
                for field in returned:
                    self.results_fit(field)
            case ShapeValue(dims):
                for dim in dims:
                    self.dimension(dim)
            case Number(value):
                self.integers.integer(value, self.values)

    def dimension(self, e: prim.PrimExpr) -> Value:
        """A dimension of a result, which is not negative."""
        found = self.integers.integer(e, self.values)
        if not isinstance(e, (prim.Var, prim.IntImm)) or found.text.startswith("-"):
            self.integers.doubt("icmp slt", found, i64(0))
        return found

    # ------------------------------------------------------------ the kernel

    def kernel_arguments(self, call: PlannedCall) -> list[Tensor | Value]:
        """The operands of a kernel after the details: tensors, numbers, then its variables."""
        signature = call.kernel.signature
        values: dict[prim.Var, Value] = {}
        passed: list[Tensor | Value] = []
        for param, operand in zip(signature.params, call.operands, strict=True):
            if isinstance(operand, Number):
                assert isinstance(param, ScalarParam)
                number = self.integers.integer(operand.value, self.values)
                self.integers.limit(number, param.var.dtype)
                values[param.var] = number
                passed.append(number)
            else:
                passed.append(operand)
        for var, source in zip(signature.variables, signature.sources, strict=True):
            values[var] = self.extent(call, source)
            self.integers.limit(values[var], var.dtype)
            passed.append(values[var])
        for check in signature.checks:
            expected = self.integers.integer(check.expected, values)
            self.integers.doubt("icmp ne", self.extent(call, check), expected)
        self.efforts.append(self.effort(call, values))
        return passed

    def extent(self, call: PlannedCall, extent: Extent) -> Value:
        """A dimension of what is passed; what is compact has no offset."""
        operand = call.operands[extent.param]
        if extent.kind == "dimension" and not isinstance(operand, Number):
            return self.shapes[operand][extent.axis]
        return i64(0)

    def call_kernel(
        self, place: int, call: PlannedCall, passed: Sequence[Tensor | Value]
    ) -> None:  # fmt: skip
        asm, root = self.asm, self.plan.root
        given = [p if isinstance(p, Value) else self.data[root(p)] for p in passed]
        operands = [Value("ptr", "%details"), *given]
        name = f"{self.symbol}.kernel.{place}"
        self.declare(name, "i32", ", ".join(operand.type for operand in operands))
        text = f"call i32 @{name}({', '.join(map(str, operands))})"
        size = self.efforts[place]
        if isinstance(size, float) and size <= GRAIN:
            self.explain(asm.value("i32", text))
            return
        large = Value("i1", "1")
        if isinstance(size, Value):
            large = asm.compare("fcmp ogt", size, Value("double", f"{GRAIN:.1f}"))
        self.declare("relaxscript_unlock", "ptr", "i1")
        self.declare("relaxscript_lock", "i1", "ptr")
        thread = asm.value("ptr", f"call ptr @relaxscript_unlock({large})")
        status = asm.value("i32", text)
        raised = asm.value("i1", f"call i1 @relaxscript_lock({thread})")
        stop, ahead = asm.name(), asm.name()
        asm.branch(raised, stop, ahead)
        asm.begin(stop)
        self.drop()
        asm.do("ret ptr null")
        asm.begin(ahead)
        self.explain(status)

    def effort(self, call: PlannedCall, values: Mapping[prim.Var, Value]) -> float | Value:
        """The work of a kernel, in bytes that it goes through; a double where it is not known."""
        if call.rounds is None:
            return math.inf
        parts = [
            (self.plan.facts(tensor).dtype.itemsize, self.shapes[tensor])
            for tensor in dict.fromkeys(o for o in call.operands if not isinstance(o, Number))
        ]
        guesses = Integers(self.asm)  # whose doubts nobody needs to settle
        try:
            for times, extents in call.rounds:
                known = [guesses.integer(e, with_zeros(values, e)) for e in extents]
                parts.append((ROUND * times, known))
        except Unwritable:
            return math.inf
        return self.sum_of_products(parts)

    def sum_of_products(self, parts: Iterable[tuple[int, Sequence[Value]]]) -> float | Value:
        """The sum of numbers times sizes, as a double where a size is not known."""
        total, found = 0.0, None
        for factor, sizes in parts:
            number = math.prod([factor, *(int(s.text) for s in sizes if s.text[0] != "%")])
            unknown = [size for size in sizes if size.text[0] == "%"]
            if not unknown:
                total += number
                continue
            product = Value("double", f"{number:.1f}")
            for size in unknown:
                size = self.asm.convert("sitofp", size, "double")
                product = self.asm.operation("fmul", product, size)
            found = product if found is None else self.asm.operation("fadd", found, product)
        if found is None:
            return total
        return self.asm.operation("fadd", found, Value("double", f"{total:.1f}"))

    def explain(self, status: Value) -> None:
        """The end of a call whose kernel fails.

        The machine runs the same again and says what is wrong, also of the source before it was
        optimised. What was written into arguments must not be written twice: it stays as it is.
        """
        asm = self.asm
        failed, ahead = asm.name(), asm.name()
        asm.branch(asm.compare("icmp ne", status, Value("i32", "0")), failed, ahead)
        asm.begin(failed)
        self.drop()
        if self.in_place:
            self.declare("relaxscript_failed", "ptr", "ptr, i32, ptr")
            call = f"call ptr @relaxscript_failed(ptr %self, {status}, ptr %details)"
            asm.do(f"ret {asm.value('ptr', call)}")
        else:
            asm.jump("slow")
        asm.begin(ahead)

    def size(self, index: int, facts: ArrayFacts) -> Value:
        """The number of bytes of a result."""
        size = i64(facts.dtype.itemsize)
        for one in self.shapes[Made(index)]:
            size = self.integers.exact("mul", size, one)
        return size


def with_zeros(values: Mapping[prim.Var, Value], e: prim.PrimExpr) -> dict[prim.Var, Value]:
    """The values of variables, zeros for those that loops have."""
    used = {node for node in walk(e) if isinstance(node, prim.Var)}
    return {var: values.get(var, i64(0)) for var in used}


def _number(tensor: Tensor) -> int:
    return tensor.index
