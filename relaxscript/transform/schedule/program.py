"""The module that a schedule works on, and the blocks and loops in it that have names."""

from __future__ import annotations

from typing import Any, NamedTuple

from relaxscript.analysis.prim_funcs import verify_ssa
from relaxscript.errors import did_you_mean, nearest
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var
from relaxscript.ir.tir import Block, Buffer, For, PrimFunc
from relaxscript.ir.walk import free_vars
from relaxscript.transform.prim_func.convert_ssa import ConvertSSA

from .mistakes import refuse
from .random_variables import BlockRV, LoopRV
from .tree import Change, FunctionTree

__all__ = ["ScheduledModule"]


class _Snapshot(NamedTuple):
    functions: dict[str, PrimFunc]
    blocks: dict[BlockRV, tuple[str, Block]]
    loops: dict[LoopRV, tuple[str, Var]]


class ScheduledModule:
    """The PrimFuncs of a module as they are by now."""

    def __init__(self, mod: IRModule) -> None:
        self.given = mod
        found = {g.name_hint: f for g, f in mod.functions.items() if isinstance(f, PrimFunc)}
        if any(not verify_ssa(f) for f in found.values()):
            mod = ConvertSSA()(mod)
            found = {g.name_hint: f for g, f in mod.functions.items() if isinstance(f, PrimFunc)}
        self.functions: dict[str, PrimFunc] = found
        self.blocks: dict[BlockRV, tuple[str, Block]] = {}
        self.loops: dict[LoopRV, tuple[str, Var]] = {}
        self._trees: dict[str, FunctionTree] = {}
        self._module: IRModule | None = None

    def module(self) -> IRModule:
        """The module with the functions as they are by now."""
        if self._module is None:
            self._module = self.given.clone()
            for name, function in self.functions.items():
                if self.given[name] is not function:
                    self._module[name] = function
        return self._module

    def copy(self) -> ScheduledModule:
        """The same program, with the same blocks and loops, that changes by itself."""
        made = ScheduledModule.__new__(ScheduledModule)
        made.given, made._module, made._trees = self.given, None, dict(self._trees)
        made.restore(self.snapshot())
        return made

    def snapshot(self) -> _Snapshot:
        """All that steps change."""
        return _Snapshot(dict(self.functions), dict(self.blocks), dict(self.loops))

    def restore(self, snapshot: _Snapshot) -> None:
        """Make what was changed since a snapshot undone."""
        self.functions = dict(snapshot.functions)
        self.blocks = dict(snapshot.blocks)
        self.loops = dict(snapshot.loops)
        self._module = None

    def function_named(self, name: str | None) -> str:
        """The name of a function: of the only one, or "main", where none is given."""
        if name is None:
            if len(self.functions) == 1:
                return next(iter(self.functions))
            name = "main"
        if name in self.functions:
            return name
        near = nearest(name, self.functions) if isinstance(name, str) else None
        known = ", ".join(f"`{n}`" for n in self.functions)
        raise refuse(
            f"the module has no PrimFunc {name!r}", (),
            did_you_mean(near, f"there are {known}; `sch.work_on` chooses one" if known else None),
        )  # fmt: skip

    def tree(self, name: str) -> FunctionTree:
        """The places of the blocks and loops of a function."""
        name = self.function_named(name)
        known = self._trees.get(name)
        if known is None or known.func is not self.functions[name]:
            known = self._trees[name] = FunctionTree(self.functions[name])
        return known

    def change(self, name: str, change: Change) -> None:
        """A function as a step has made it; blocks that have names are followed."""
        before = {id(node) for node in free_vars(self.functions[name])}
        for node in free_vars(change.func):
            if id(node) not in before and isinstance(node, (Var, Buffer)):
                raise refuse(
                    f"a block would use `{node.name}` where it has no value",
                    [(node, f"`{node.name}` has a value in a part of the program only")],
                    "write its value into the block",
                )  # fmt: skip
        self.functions[name] = change.func
        self._module = None
        for variable, (function, block) in self.blocks.items():
            if function == name:
                while id(block) in change.blocks:
                    block = change.blocks[id(block)]
                self.blocks[variable] = (function, block)

    # ------------------------------------------------------------ names

    def new_block(self, function: str, block: Block) -> BlockRV:
        """A name for a block."""
        made = BlockRV(block.name_hint)
        self.blocks[made] = (function, block)
        return made

    def new_loop(self, function: str, loop: Var) -> LoopRV:
        """A name for a loop."""
        made = LoopRV(loop.name)
        self.loops[made] = (function, loop)
        return made

    def forget(self, variable: Any) -> None:
        """A name that means nothing any more."""
        self.blocks.pop(variable, None)
        self.loops.pop(variable, None)

    def block(self, variable: BlockRV) -> tuple[str, Block]:
        """The function and the node of a block."""
        if variable not in self.blocks:
            raise refuse("this block belongs to another schedule", (), "ask `sch.get_block`")
        function, block = self.blocks[variable]
        if not self.tree(function).has(block):
            raise refuse(
                f"the block `{block.name_hint}` is no longer there: a step removed it",
                [(block, "the block as it was")], "use it before that step",
            )  # fmt: skip
        return function, block

    def loop(self, variable: LoopRV) -> tuple[str, For]:
        """The function and the node of a loop."""
        if variable not in self.loops:
            raise refuse("this loop belongs to another schedule", (), "ask `sch.get_loops`")
        function, loop = self.loops[variable]
        found = self.tree(function).loops.get(loop)
        if found is None:
            raise refuse(
                f"the loop `{loop.name}` is no longer there: a step made others of it", (),
                "use what `split` and `fuse` return, or ask `sch.get_loops` again",
            )  # fmt: skip
        return function, found
