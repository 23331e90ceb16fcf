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
from itertools import takewhile
from typing import Any

from relaxscript.codegen.llvm.ir_writer import FailureSites, Value
from relaxscript.ir import prim
from relaxscript.ir.walk import walk
from relaxscript.runtime.result_blocks import ALIGNMENT
from relaxscript.semantics.prim_func_abi import Extent, ScalarParam

from .arguments import take_arguments
from .context import RAISE, SLOW, EntryContext
from .integers import Integers, Unwritable, i64
from .plan import (
    ArrayFacts,
    Branch,
    Choice,
    Chosen,
    EntryPlan,
    Literal,
    Made,
    Number,
    PlannedCall,
    ShapeValue,
    Step,
    Tensor,
    View,
    chosen_tensors,
    leaves_of,
    uses_of,
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
# So many addresses and sizes of arguments and results: functions of more are left to the machine.
MOST_WORDS = 1 << 12


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
        self.stack: list[_Room] = []
        self.rooms: dict[Tensor, _Room] = {}
        # The order in which tensors were made, and what each step uses.
        self.order: dict[Tensor, int] = {}
        self.used: dict[int, set[Tensor]] = {}
        self.firsts: dict[int, dict[Tensor, Step | None]] = {}
        self.chosen = chosen_tensors(plan, plan.steps)
        # What kernels are given and how long they take, by the numbers of calls; those done by now.
        self.passed: list[list[Tensor | Value]] = []
        self.efforts: list[float | Value] = []
        self.called = 0
        self.has_written = False  # into arguments

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
        for index, facts in enumerate(plan.chosen):
            self.shapes[Chosen(index)] = [self.dimension(e) for e in facts.shape]
        self.passed = [self.kernel_arguments(call) for call in plan.calls]
        for one, other in plan.equal:
            self.integers.doubt(
                "icmp ne", *(self.integers.integer(e, self.values) for e in (one, other))
            )
        self.results_fit(plan.returned)
        self.settle()
        kept = {plan.root(leaf) for leaf in leaves_of(plan.returned)}
        if writes_arguments(plan):
            self.make_all(kept)
        self.run(plan.steps, kept)
        return_results(self)
        if self.words + self.slots > MOST_WORDS:
            raise Unwritable
        return self.text()

    def run(self, steps: Sequence[Step], kept: Set[Tensor]) -> None:
        """The steps of the function, or of a branch; those tensors that are `kept` outlive them.

        Tensors are made before the first step that uses them. What was made before stays.
        """
        uses, begin = list(map(self.uses, steps)), len(self.order)
        last = {tensor: place for place, used in enumerate(uses) for tensor in used}
        first = {tensor: place for place, used in reversed([*enumerate(uses)]) for tensor in used}
        for tensor in sorted(kept, key=_number):
            if isinstance(tensor, Made) and tensor not in self.data and tensor not in first:
                self.make(tensor, kept, None)
        for place, step in enumerate(steps):
            inner = self.of_one_branch(step)
            for tensor in sorted(uses[place], key=_number):
                if isinstance(tensor, Made) and tensor not in self.data:
                    outlives = tensor in kept or first[tensor] < last[tensor]
                    if outlives or tensor not in inner:
                        self.make(tensor, kept, step)
            ending = {tensor for tensor in uses[place] if last[tensor] == place}
            if isinstance(step, Choice):
                self.choose(step)
                ending |= {one for one, _ in step.branches[0].results if one not in last}
            else:
                self.call_kernel(step)
            self.let_go_of(t for t in ending - kept if self.order.get(t, -1) >= begin)

    def uses(self, step: Step) -> set[Tensor]:
        """The tensors that a step uses, found once."""
        found = self.used.get(id(step))
        if found is None:
            found = self.used[id(step)] = uses_of(self.plan, step)
        return found

    def of_one_branch(self, step: Step) -> set[Tensor]:
        """The tensors that are only used in one branch of a step, which then makes them."""
        if not isinstance(step, Choice):
            return set()
        then, otherwise = (self.uses_in(branch).keys() for branch in step.branches)
        condition = step.condition
        root = None if isinstance(condition, Number) else self.plan.root(condition)
        return {tensor for tensor in then ^ otherwise if tensor != root}

    def make_all(self, kept: Set[Tensor]) -> None:
        """Memory for all tensors, ahead of steps that cannot be done again where it is lacking.

        It is held to the end.
        """
        for step in self.plan.steps:
            for tensor in sorted(self.uses(step), key=_number):
                if isinstance(tensor, Made) and tensor not in self.data:
                    self.make(tensor, kept, step)

    def make(self, tensor: Made, kept: Set[Tensor], step: Step | None) -> None:
        """Memory for a tensor, which a step is the first to use, or none."""
        zeros = step is None or self.needs_zeros(tensor, step)
        self.order[tensor] = len(self.order)
        is_object = tensor in kept or tensor in self.chosen
        if is_object or not self.put_on_stack(tensor, zeros):
            make_array(self, tensor, self.sizes[tensor.index], zeros)

    def choose(self, choice: Choice) -> None:
        """An `if`: one branch or the other, and what both give.

        A chosen tensor is an address of elements and a reference to an object, null for none.
        """
        asm, end = self.asm, self.asm.name()
        labels = asm.name(), asm.name()
        asm.branch(self.truth(choice.condition), *labels)
        for chosen, _ in choice.branches[0].results:
            self.room += [f"{place} = alloca ptr" for place in _places(chosen)]
        for label, branch in zip(labels, choice.branches, strict=True):
            begin, alive = len(self.order), len(self.alive)
            asm.begin(label)
            self.run(branch.steps, {self.plan.root(leaf) for _, leaf in branch.results})
            for chosen, leaf in branch.results:
                root = self.plan.root(leaf)
                thing = self.objects.get(root, Value("ptr", "null"))
                self.reference(thing)
                elements, held = _places(chosen)
                asm.do(f"store {self.data[root]}, ptr {elements}")
                asm.do(f"store {thing}, ptr {held}")
            self.let_go_of(self.made_since(begin))
            assert len(self.alive) == alive, "a branch lets go of its own tensors, and of no others"
            asm.jump(end)
        asm.begin(end)
        for chosen, _ in choice.branches[0].results:
            elements, held = _places(chosen)
            self.data[chosen] = asm.value("ptr", f"load ptr, ptr {elements}")
            self.objects[chosen] = asm.value("ptr", f"load ptr, ptr {held}")
            self.order[chosen] = len(self.order)
            self.alive[chosen] = self.hold(self.objects[chosen])

    def needs_zeros(self, tensor: Made, step: Step) -> bool:
        """True unless a step, the first to use a tensor, writes all of its elements."""
        if isinstance(step, PlannedCall):
            return tensor not in step.filled or step.operands.count(tensor) != 1
        condition = step.condition
        if not isinstance(condition, Number) and self.plan.root(condition) == tensor:
            return True
        firsts = [self.uses_in(branch).get(tensor) for branch in step.branches]
        return any(first is None or self.needs_zeros(tensor, first) for first in firsts)

    def uses_in(self, branch: Branch) -> dict[Tensor, Step | None]:
        """The first step of a branch that uses each tensor; None for a mere result."""
        found = self.firsts.get(id(branch))
        if found is None:
            found = {self.plan.root(leaf): None for _, leaf in branch.results}
            for step in reversed(branch.steps):
                found.update(dict.fromkeys(self.uses(step), step))
            self.firsts[id(branch)] = found
        return found

    def truth(self, condition: Tensor | Number) -> Value:
        """The value of a condition."""
        if isinstance(condition, Number):
            number = self.integers.integer(condition.value, self.values)
            return self.asm.compare("icmp ne", number, i64(0))
        element = self.field(self.data[self.plan.root(condition)], 0, "i8")
        return self.asm.compare("icmp ne", element, Value("i8", "0"))

    def made_since(self, begin: int) -> list[Tensor]:
        """The tensors that were made since there were so many."""
        return list(takewhile(lambda t: self.order[t] >= begin, reversed(self.order)))

    def let_go_of(self, tensors: Iterable[Tensor]) -> None:
        """The end of tensors that nothing uses any more."""
        for tensor in sorted(tensors, key=self.order.__getitem__):
            slot, room = self.alive.pop(tensor, None), self.rooms.pop(tensor, None)
            if slot is not None:
                self.forget(slot)
                self.release(self.objects[tensor])
            if room is not None:
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
        self.rooms[tensor] = room
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
        exits, room = self.exit_lines(), [*self.room, *self.held_lines()]
        return "\n".join([
            f"{header} {{", "entry:", *(f"  {line}" for line in room), "  br label %start",
            "start:", *self.asm.lines, *exits, "slow:",
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

    def call_kernel(self, call: PlannedCall) -> None:
        asm, root, place = self.asm, self.plan.root, self.called
        passed = self.passed[place]
        self.called += 1
        self.has_written = self.has_written or writes_arguments(self.plan, [call])
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
        self.unless(raised, RAISE)
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
        asm, zero = self.asm, Value("i32", "0")
        is_failure = asm.compare("icmp ne", status, zero)
        if not self.has_written:
            self.unless(is_failure, SLOW)
            return
        failed, ahead = asm.name(), asm.name()
        asm.branch(is_failure, failed, ahead)
        asm.begin(failed)
        place = Value("i32", str(self.called - 1))
        given = Value("ptr", "%self"), status, place, Value("ptr", "%details")
        self.call("relaxscript_failed", "ptr", *given)
        self.exits.add(RAISE)
        asm.jump(RAISE)
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


def _places(chosen: Chosen) -> tuple[str, str]:
    """The places for the elements and the object of a chosen tensor."""
    return f"%chosen.{chosen.index}.data", f"%chosen.{chosen.index}.object"
