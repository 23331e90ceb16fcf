"""`Schedule`: loops and blocks of PrimFuncs changed step by step, each step checked before.

    sch = tir.Schedule(Matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    j_outer, j_inner = sch.split(j, factors=[None, 8])
    sch.reorder(i, j_outer, k, j_inner)
    sch.vectorize(j_inner)
    sch.mod.show()

A step that would change what the program computes is refused with what forbids it: blocks, buffers
and loops. It leaves the schedule as it was. Order of execution decides about rounding only
where `reorder` exchanges loops over which one sum is made.

Source: TVM `tir.Schedule` (names, parameters and defaults).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from relaxscript.errors import did_you_mean, nearest, not_built
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import PrimExpr, as_prim
from relaxscript.ir.tir import Block, BlockRealize, Buffer, For, ForKind, PrimFunc

from . import (
    caching,
    inline,
    loop_kinds,
    loop_partition as partitions,
    loops as loop_steps,
    moves,
    pad_einsum as padding_steps,
    reductions,
    relations,
    rfactor as partial_sums,
)
from .mistakes import ScheduleError, refuse
from .program import ScheduledModule
from .random_variables import BlockRV, LoopRV
from .trace import Instruction, ScheduleTrace
from .tree import FunctionTree

__all__ = ["STEPS", "Schedule"]

F = TypeVar("F", bound=Callable[..., Any])

# The methods of a schedule that a trace consists of.
STEPS: set[str] = set()


def _step(method: F) -> F:
    """A method that is noted in the trace, or changes nothing where it is refused."""
    signature = inspect.signature(method)
    several = [p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL]
    STEPS.add(method.__name__)

    @functools.wraps(method)
    def noted(self: Schedule, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        arguments = {name: value for name, value in bound.arguments.items() if name != "self"}
        if arguments.get("func_name", self) is None:
            arguments["func_name"] = self._function(None)
        before = self.program.snapshot()
        steps = len(self.trace.insts)
        try:
            for name, value in arguments.items():
                if isinstance(value, str) and name in ("block", "block_or_loop"):
                    arguments[name] = self.get_block(value)
                elif isinstance(value, Buffer):
                    arguments[name] = value.name
                elif name == "consumer_blocks" and isinstance(value, (list, tuple)):
                    arguments[name] = [
                        self.get_block(user) if isinstance(user, str) else user for user in value
                    ]
            spread = [x for name in several for x in arguments[name]]
            named = {n: v for n, v in arguments.items() if n not in several}
            found = method(self, *spread, **named)
        except BaseException as error:
            self.program.restore(before)
            del self.trace.insts[steps:]
            if isinstance(error, ScheduleError) and self.error_render_level != "detail":
                raise error.shortened(self.error_render_level == "fast") from None
            raise
        made = [] if found is None else found if isinstance(found, list) else [found]
        self.trace.append(Instruction(method.__name__, arguments, made))
        return found

    return noted  # type: ignore[return-value]


class Schedule:
    """Steps that change the loops and blocks of a module, or of one PrimFunc.

    `mod` is not changed; `sch.mod` is the program as it is by now. What `seed`, `debug_mask` and
    `enable_check` say in TVM is always done here: every step is checked. `error_render_level` is
    "detail", "fast" for messages of one sentence, or "none".

    Raises `ScheduleError` for a step that would change the meaning. Source: TVM `tir.Schedule`.
    """

    def __init__(
        self, mod: PrimFunc | IRModule, *, seed: int | None = None,
        debug_mask: str | int = "none", error_render_level: str = "detail",
        enable_check: bool = True,
    ) -> None:  # fmt: skip
        if isinstance(mod, PrimFunc):
            mod = IRModule({"main": mod})
        if not isinstance(mod, IRModule):
            raise TypeError(f"`tir.Schedule` takes a module or a PrimFunc, not {brief(mod)}")
        if error_render_level not in ("detail", "fast", "none"):
            raise ValueError(
                f'`error_render_level` is "detail", "fast" or "none", not {error_render_level!r}'
            )
        self.error_render_level = error_render_level
        self.program = ScheduledModule(mod)
        self.trace = ScheduleTrace()
        self.working_on: str | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Refuse a step that TVM has and that is not built, with what to use instead."""
            words = not_built.of_schedule(name) or f"a schedule has no step `{name}`"
            raise AttributeError(words, name=name, obj=self)

    def __repr__(self) -> str:
        names = ", ".join(var.name_hint for var in self.mod.get_global_vars())
        return f"<Schedule of {names}>"

    # ------------------------------------------------------------ what there is

    @property
    def mod(self) -> IRModule:
        """The program as the steps so far have made it."""
        return self.program.module()

    @property
    def func_working_on(self) -> Any:
        """The name of the function that steps are about; None for "main", or the only one."""
        return None if self.working_on is None else self.mod.get_global_var(self.working_on)

    def work_on(self, func_name: str) -> None:
        """Say which function the next steps are about."""
        self.program.tree(func_name)
        self.working_on = func_name

    def copy(self) -> Schedule:
        """A schedule that goes on from here by itself; blocks and loops are of both."""
        made = Schedule.__new__(Schedule)
        made.program = self.program.copy()
        made.error_render_level = self.error_render_level
        made.trace = ScheduleTrace(self.trace.insts, self.trace.decisions)
        made.working_on = self.working_on
        return made

    def show(self, *args: Any, **kwargs: Any) -> None:
        """Print the program, and the steps that made it."""
        self.mod.show(*args, **kwargs)
        self.trace.show()

    def get(self, rand_var_or_sref: BlockRV | LoopRV | PrimExpr | int) -> Any:
        """The node of a block or loop; a number is itself."""
        match rand_var_or_sref:
            case BlockRV():
                return self.program.block(rand_var_or_sref)[1]
            case LoopRV():
                return self.program.loop(rand_var_or_sref)[1]
            case PrimExpr() | int():
                return as_prim(rand_var_or_sref)
        raise refuse(f"`sch.get` takes a block or a loop, not {brief(rand_var_or_sref)}")

    def remove_rv(self, rand_var: BlockRV | LoopRV) -> None:
        """Forget a block or loop; the program keeps it."""
        self.get(rand_var)
        self.program.forget(rand_var)

    # ------------------------------------------------------------ blocks and loops

    @_step
    def get_block(self, name: str, func_name: str | None = None) -> BlockRV:
        """The block of a name, in the function that is worked on unless `func_name` says another.

        Raises `ScheduleError` where no block has the name, or several have it.
        """
        function = self._function(func_name)
        tree = self.program.tree(function)
        found = [r.block for r in tree.realizes if r.block.name_hint == name]
        if len(found) == 1:
            return self.program.new_block(function, found[0])
        if found:
            raise refuse(
                f"`{function}` has {len(found)} blocks `{name}`",
                [(block, "one of them") for block in found],
                "give them names of their own, or ask `sch.get_child_blocks`",
            )  # fmt: skip
        names = [r.block.name_hint for r in tree.realizes]
        near = nearest(name, names) if isinstance(name, str) else None
        known = ", ".join(f"`{known}`" for known in names)
        raise refuse(
            f"`{function}` has no block {name!r}", [(tree.func, "the function")],
            did_you_mean(near, f"there are {known}" if names else "it has no blocks"),
        )  # fmt: skip

    get_sblock = get_block

    @_step
    def get_loops(self, block: BlockRV | str) -> list[LoopRV]:
        """The loops around a block up to the next block, the outermost first."""
        function, node, tree = self._block(block)
        return self._new_loops(function, tree.loops_of(tree.realize_of(node)))

    @_step
    def get_child_blocks(self, block_or_loop: BlockRV | LoopRV) -> list[BlockRV]:
        """The blocks directly in a block or loop."""
        function, node, tree = self._either(block_or_loop)
        return self._new_blocks(function, tree.blocks_in(node))

    @_step
    def get_producers(self, block: BlockRV | str) -> list[BlockRV]:
        """The blocks that write, in the same scope, what a block reads."""
        function, node, tree = self._block(block)
        return self._new_blocks(function, relations.producers(tree, node))

    @_step
    def get_consumers(self, block: BlockRV | str) -> list[BlockRV]:
        """The blocks that read, in the same scope, what a block writes."""
        function, node, tree = self._block(block)
        return self._new_blocks(function, relations.consumers(tree, node))

    @_step
    def get_output_blocks(self, scope_block: BlockRV | str) -> list[BlockRV]:
        """The blocks in a block that write what exists outside of it."""
        if isinstance(scope_block, str):
            scope_block = self.get_block(scope_block)
        function, node, tree = self._block(scope_block)
        return self._new_blocks(function, relations.output_blocks(tree, node))

    # ------------------------------------------------------------ loops

    @_step
    def split(
        self, loop: LoopRV, factors: Sequence[PrimExpr | int | None],
        preserve_unit_iters: bool = True, disable_predication: bool = False,
    ) -> list[LoopRV]:  # fmt: skip
        """A loop as several in each other, `factors` their iterations, from the outermost on.

            for i in range(n):        for i_0, i_1 in T.grid((n + 7) // 8, 8):
                with T.block("b"):        with T.block("b"):
                    vi = T.axis.spatial(n, i)     →     vi = T.axis.spatial(n, i_0 * 8 + i_1)
                                                        T.where(i_0 * 8 + i_1 < n)

        None stands for as many as are needed. There is no `T.where` where `arith` proves that the
        factors divide. With `preserve_unit_iters=False` a loop of one iteration is not named in
        blocks. With `disable_predication` factors that need a condition are refused.
        """
        function, node, tree = self._loop(loop)
        change, variables = loop_steps.split(
            tree, node, _factors(factors, node), preserve_unit_iters, not disable_predication
        )
        self.program.change(function, change)
        return [self.program.new_loop(function, var) for var in variables]

    @_step
    def fuse(self, *loops: LoopRV, preserve_unit_iters: bool = True) -> LoopRV:
        """Loops that are directly in each other as one, in which they run in the same order.

        for i, j in T.grid(n, 64):             for i_j_fused in range(n * 64):
            with T.block("b"):                     with T.block("b"):
                vi = T.axis.spatial(n, i)      →       vi = T.axis.spatial(n, i_j_fused // 64)
                vj = T.axis.spatial(64, j)             vj = T.axis.spatial(64, i_j_fused % 64)
        """
        function, nodes, tree = self._loops(loops)
        change, variable = loop_steps.fuse(tree, nodes, preserve_unit_iters)
        self.program.change(function, change)
        return self.program.new_loop(function, variable)

    @_step
    def loop_partition(
        self, loop: LoopRV, factors: Sequence[PrimExpr | int | None],
        preserve_unit_iters: bool = True,
    ) -> list[LoopRV]:  # fmt: skip
        """A loop as several, one after the other, `factors` their iterations.

            for i in range(20):            for i0 in range(16):
                with T.block("b"):             with T.block("b_i0"): ...
                    ...            →       for i1 in range(16, 20):
                                               with T.block("b_i1"): ...

        None stands for as many as are left over; without it these are a last loop. No condition is
        added. The blocks are new ones, which `get_child_blocks` of each loop gives. A sum over the
        loop has to begin before (`decompose_reduction`).
        """
        function, node, tree = self._loop(loop)
        change, variables = partitions.loop_partition(
            tree, node, _factors(factors, node), preserve_unit_iters
        )
        self.program.change(function, change)
        return [self.program.new_loop(function, var) for var in variables]

    @_step
    def reorder(self, *ordered_loops: LoopRV) -> None:
        """Loops that are in each other in the given order, in the places that they have together.

        Refused where iterations that must keep their order would not. Loops over which one sum is
        made may be exchanged: that only changes how floating-point numbers are rounded.
        """
        function, nodes, tree = self._loops(ordered_loops)
        if nodes:
            self.program.change(function, loop_steps.reorder(tree, nodes))

    @_step
    def parallel(self, loop: LoopRV) -> None:
        """Let the iterations of a loop run at the same time; at present they run in order.

        Refused where an iteration may touch what another one writes.
        """
        self._mark(loop, ForKind.PARALLEL)

    @_step
    def vectorize(self, loop: LoopRV) -> None:
        """Let the iterations of a loop run as the lanes of vectors.

        Refused where an iteration may touch what another one writes.
        """
        self._mark(loop, ForKind.VECTORIZED)

    @_step
    def unroll(self, loop: LoopRV) -> None:
        """Write the body of a loop once for each iteration."""
        self._mark(loop, ForKind.UNROLLED)

    def _mark(self, loop: LoopRV, kind: str) -> None:
        function, node, tree = self._loop(loop)
        self.program.change(function, loop_kinds.mark(tree, node, kind))

    @_step
    def bind(self, loop: LoopRV, thread_axis: str) -> None:
        """Bind a loop to threads of a device, "threadIdx.x"; on the CPU they run in order.

        Refused where an iteration may touch what another one writes. Threads of one block,
        "threadIdx.x", may add to one sum.
        """
        function, node, tree = self._loop(loop)
        self.program.change(function, loop_kinds.bind(tree, node, thread_axis))

    # ------------------------------------------------------------ blocks that move

    @_step
    def compute_inline(self, block: BlockRV | str) -> None:
        """Write what an elementwise block computes where it is read; the block goes away.

        A[vi] = X[vi] + 1.0
        B[vi] = A[vi] * 2.0        →        B[vi] = (X[vi] + 1.0) * 2.0
        """
        function, node, tree = self._block(block)
        self.program.change(function, inline.compute_inline(tree, node))

    @_step
    def reverse_compute_inline(self, block: BlockRV | str) -> None:
        """Compute an elementwise block in the one block that it reads; the block goes away."""
        function, node, tree = self._block(block)
        self.program.change(function, inline.reverse_compute_inline(tree, node))

    @_step
    def compute_at(
        self, block: BlockRV | str, loop: LoopRV, preserve_unit_loops: bool = False,
        index: int = -1,
    ) -> None:  # fmt: skip
        """Move a block into a loop of its consumers; each iteration computes what it reads.

            for i in range(64):                for i in range(64):
                A[i] = X[i] + 1.0        →         A[i] = X[i] + 1.0
            for i in range(64):                    B[i] = A[i] * 2.0
                B[i] = A[i] * 2.0

        For `index` -1 the block is put as late as is right, for -2 as early. Other numbers are
        those of the statement that comes after it. Loops of one iteration are left out unless
        `preserve_unit_loops` is set.
        """
        function, node, tree = self._block(block)
        target = self._loop_of(function, loop)
        made = moves.compute_at(tree, node, target, preserve_unit_loops, index)
        self.program.change(function, made)

    @_step
    def reverse_compute_at(
        self, block: BlockRV | str, loop: LoopRV, preserve_unit_loops: bool = False,
        index: int = -1,
    ) -> None:  # fmt: skip
        """Move a block into a loop of its producers; each iteration uses what it has computed.

        The parameters are those of `compute_at`.
        """
        function, node, tree = self._block(block)
        target = self._loop_of(function, loop)
        made = moves.reverse_compute_at(tree, node, target, preserve_unit_loops, index)
        self.program.change(function, made)

    @_step
    def cache_read(
        self, block: BlockRV | str, read_buffer_index: int | str | Buffer, storage_scope: str,
        consumer_blocks: Sequence[BlockRV | str] | None = None,
    ) -> BlockRV:  # fmt: skip
        """Copy a buffer that a block reads before it is read, and give the block that copies.

        The buffer is given by its number among those that are read, or by its name.
        `consumer_blocks` read the copy; without them all blocks of the scope do.
        """
        function, node, tree = self._block(block)
        users = [self._block(user)[1] for user in consumer_blocks or ()]
        change, made = caching.cache_read(tree, node, read_buffer_index, storage_scope, users)
        self.program.change(function, change)
        return self.program.new_block(function, made)

    @_step
    def cache_write(
        self, block: BlockRV | str, write_buffer_index: int | str | Buffer, storage_scope: str,
        consumer_blocks: Sequence[BlockRV | str] | None = None,
    ) -> BlockRV:  # fmt: skip
        """Let a block write another buffer, and give the block that copies it after.

        `consumer_blocks` read the other buffer; without them they read the copy.
        """
        function, node, tree = self._block(block)
        users = [self._block(user)[1] for user in consumer_blocks or ()]
        change, made = caching.cache_write(tree, node, write_buffer_index, storage_scope, users)
        self.program.change(function, change)
        return self.program.new_block(function, made)

    @_step
    def decompose_reduction(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """Begin a sum in a block of its own, in loops before `loop`, and give that block.

        for i, k in T.grid(8, 16):            for i in range(8):
            with T.block("b"):                    with T.block("b_init"): ...
                with T.init(): ...        →       for k in range(16):
                ...                                   with T.block("b_update"): ...
        """
        function, node, tree = self._block(block)
        target = self._loop_of(function, loop)
        change, made = reductions.decompose_reduction(tree, node, target)
        self.program.change(function, change)
        return self.program.new_block(function, made)

    @_step
    def rfactor(self, loop: LoopRV, factor_axis: int) -> BlockRV:
        """Give each iteration of a loop over which a sum is made an accumulator of its own.

            for i, k_0, k_1 in T.grid(4, 8, 16):      for i, k_0, k_1 in T.grid(4, 8, 16):
                with T.block("b"): ...          →         with T.block("b_rf"): ...
                                                      for i, k_0 in T.grid(4, 8):
                                                          with T.block("b"): ...

        The accumulators are elements of a new buffer, along its dimension `factor_axis`. The block
        of the partial sums is returned. Floating-point sums are rounded in another order.
        """
        function, node, tree = self._loop(loop)
        change, made = partial_sums.rfactor(tree, node, factor_axis)
        self.program.change(function, change)
        return self.program.new_block(function, made)

    @_step
    def pad_einsum(self, block: BlockRV | str, padding: Sequence[int]) -> None:
        """Let a sum of products go through multiples of `padding`, a number for each axis.

        What it reads is copied before, with zeros in what is more, and what it writes after. Sums
        of floating-point numbers keep their bits: only zeros are added.
        """
        function, node, tree = self._block(block)
        self.program.change(function, padding_steps.pad_einsum(tree, node, padding))

    # ------------------------------------------------------------ annotations

    @_step
    def annotate(self, block_or_loop: BlockRV | LoopRV, ann_key: str, ann_val: Any) -> None:
        """Annotate a block or loop: with a string, a number, or a list or dict of them."""
        function, node, tree = self._either(block_or_loop)
        self.program.change(function, loop_kinds.annotate(tree, node, ann_key, ann_val))

    @_step
    def unannotate(self, block_or_loop: BlockRV | LoopRV, ann_key: str) -> None:
        """Remove an annotation of a block or loop."""
        function, node, tree = self._either(block_or_loop)
        self.program.change(function, loop_kinds.unannotate(tree, node, ann_key))

    # ------------------------------------------------------------ arguments

    def _function(self, name: str | None) -> str:
        return self.program.function_named(self.working_on if name is None else name)

    def _block(self, block: Any) -> tuple[str, Block, FunctionTree]:
        if not isinstance(block, BlockRV):
            raise refuse(
                f"a block is wanted, not {_described(block)}", (), '`sch.get_block("C")` gives one'
            )
        function, node = self.program.block(block)
        return function, node, self.program.tree(function)

    def _loop(self, loop: Any) -> tuple[str, For, FunctionTree]:
        if not isinstance(loop, LoopRV):
            raise refuse(
                f"a loop is wanted, not {_described(loop)}", (),
                "`sch.get_loops(block)` gives those around a block",
            )  # fmt: skip
        function, node = self.program.loop(loop)
        return function, node, self.program.tree(function)

    def _loop_of(self, function: str, loop: Any) -> For:
        """A loop in a function."""
        where, node, _ = self._loop(loop)
        if where != function:
            raise refuse("the loop and the block are of several functions", [(node, "the loop")])
        return node

    def _either(self, target: Any) -> tuple[str, Any, FunctionTree]:
        return self._loop(target) if isinstance(target, LoopRV) else self._block(target)

    def _loops(self, loops: Sequence[Any]) -> tuple[str, list[For], FunctionTree]:
        found = [self._loop(loop) for loop in loops]
        functions = {function for function, _, _ in found}
        if len(functions) > 1:
            raise refuse("the loops are of several functions", [(n, "one") for _, n, _ in found])
        if not found:
            function = self._function(None)
            return function, [], self.program.tree(function)
        return found[0][0], [node for _, node, _ in found], found[0][2]

    def _new_blocks(self, function: str, realizes: Sequence[BlockRealize]) -> list[BlockRV]:
        return [self.program.new_block(function, realize.block) for realize in realizes]

    def _new_loops(self, function: str, nodes: Sequence[For]) -> list[LoopRV]:
        return [self.program.new_loop(function, node.loop_var) for node in nodes]


def _described(value: Any) -> str:
    names = {LoopRV: "a loop", BlockRV: "a block", list: "a list"}
    return names.get(type(value)) or brief(value)


def _factors(values: Any, loop: For) -> list[PrimExpr | None]:
    """The iterations of the parts of a loop."""
    if not isinstance(values, (list, tuple)):
        raise refuse(f"`factors` is a list of numbers, not {brief(values)}", [(loop, "here")])
    return [None if value is None else _factor(value, loop) for value in values]


def _factor(value: Any, loop: For) -> PrimExpr:
    """The iterations of a part of a loop."""
    if isinstance(value, bool) or not isinstance(value, (int, PrimExpr)):
        raise refuse(f"a factor is a number or None, not {brief(value)}", [(loop, "the loop")])
    made = as_prim(value)
    if not made.dtype.is_integer:
        raise refuse(f"a factor is an integer, not {made.dtype}", [(loop, "the loop")])
    return made
