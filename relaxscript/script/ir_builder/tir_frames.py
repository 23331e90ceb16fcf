"""Frames of TIR: PrimFuncs, loops, blocks, branches, and what lasts to the end of a `with`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimType, const
from relaxscript.ir.tir import BlockRealize, For, ForKind, IfThenElse, Range, Stmt, While
from relaxscript.script import tir_forms
from relaxscript.script.parser.tir_block import OpenBlock, folded
from relaxscript.script.parser.tir_loop import LOOPS
from relaxscript.script.tir_types import Form, ScalarType

from .base import Frame, IRBuilder, innermost, refused
from .module_frame import ModuleFrame
from .relax_frames import FunctionFrame
from .tir_writer import TirWriter

__all__ = [
    "BlockFrame", "ChoiceFrame", "HoldingFrame", "InitFrame", "LoopFrame", "PrimFuncFrame",
    "WayFrame", "WhileFrame", "prim_func_frame", "writer",
]  # fmt: skip

LOOP_NAMES = "ijklmn"


class PrimFuncFrame(Frame):
    """`with T.prim_func():`; in a module it needs a name."""

    written = "T.prim_func"

    def __init__(self, is_private: bool) -> None:
        self.is_private = is_private
        self.name = ""
        self.writer = TirWriter()
        self.module: ModuleFrame | None = None

    def open(self, builder: IRBuilder) -> PrimFuncFrame:
        around = builder.frames[-1] if builder.frames else None
        if around is not None and not isinstance(around, ModuleFrame):
            raise refused(
                "RX0104", f"a PrimFunc cannot stand in `{around.written}`",
                "functions stand next to each other in `with I.ir_module():`",
            )  # fmt: skip
        self.module = around
        return self

    def close(self, builder: IRBuilder) -> None:
        if self.module is not None and not self.name:
            raise refused("RX0105", "a function of a module has a name",
                          'give it one: `T.func_name("main")`')  # fmt: skip
        body = folded(self.writer.items)
        function = self.writer.finished(self.name, self.is_private, body)
        if self.module is None:
            builder.finish(function)
        else:
            self.module.define(self.name, function)

    def set_name(self, name: str) -> None:
        if self.name:
            raise refused("RX0302", f"the function is called `{self.name}` already")
        self.name = name

    def set_result(self, ret_type: Any) -> None:
        """The type of what the function returns."""
        if isinstance(ret_type, ScalarType):
            ret_type = PrimType.make(ret_type.dtype)
        if not isinstance(ret_type, PrimType):
            raise refused("RX0108", f"`{ret_type!r}` is not the type of a scalar",
                          "write for example `T.int32`")  # fmt: skip
        self.writer.ret_type = ret_type


class PieceFrame(Frame):
    """Statements outside of any PrimFunc; it ends with its builder."""

    def __init__(self) -> None:
        self.writer = TirWriter()

    def open(self, builder: IRBuilder) -> None:
        """Opened by the first statement."""

    def close(self, builder: IRBuilder) -> None:
        """Never closed."""

    def whole(self) -> Stmt:
        return folded(self.writer.items)


def prim_func_frame(what: str) -> PrimFuncFrame:
    """The PrimFunc that is open; `what` needs one."""
    frame = innermost(PrimFuncFrame)
    if frame is None:
        raise refused("RX0105", f"`{what}` stands in a PrimFunc",
                      "open one: `with T.prim_func():`")  # fmt: skip
    return frame


def writer(what: str) -> TirWriter:
    """Where the next statement of TIR goes; `what` is that statement."""
    builder = IRBuilder.current()
    frame = innermost((PrimFuncFrame, FunctionFrame, ModuleFrame))
    if isinstance(frame, PrimFuncFrame):
        return frame.writer
    if frame is not None:
        raise refused("RX0105", f"`{what}` stands in a PrimFunc, not in `{frame.written}`",
                      "open one: `with T.prim_func():`")  # fmt: skip
    if not builder.finished:
        builder.finish(PieceFrame())
    piece = builder.finished[-1]
    if not isinstance(piece, PieceFrame):
        raise refused("RX0302", "a builder makes one thing, and this is the second",
                      "put several functions in `with I.ir_module():`")  # fmt: skip
    return piece.writer


class _Inside(Frame):
    """A frame that collects the statements inside it."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.written = form.name
        self.writer: TirWriter
        self.outer: Any = None

    def begin(self) -> None:
        """Collect what follows."""
        self.outer = self.writer.begin_items()

    def end(self) -> Stmt:
        """What was collected."""
        return self.writer.end_items(self.outer)

    def abandon(self) -> None:
        if self.outer is not None:
            self.writer.end_items(self.outer)


class LoopFrame(_Inside):
    """`with T.serial(8) as i:`, `with T.grid(2, 3) as (i, j):` and their kin."""

    def open(self, builder: IRBuilder) -> Any:
        self.writer = writer(self.written)
        node = self.writer.node(self.form)
        self.ranges: Sequence[Range] = self.writer.value_of(
            lambda: self.writer.loop_ranges(self.form, node)
        )
        self.extras = self.writer.value_of(lambda: self.writer.loop_extras(self.form, node))
        depth = self.writer.depth
        names = [LOOP_NAMES[(depth + k) % 6] for k in range(len(self.ranges))]
        self.variables = [
            self.writer.loop_variable(name, node, domain)
            for name, domain in zip(names, self.ranges)
        ]
        self.begin()
        self.writer.depth += len(self.ranges) - 1
        grid = self.form.maker is tir_forms.grid
        return tuple(self.variables) if grid and len(names) != 1 else self.variables[0]

    def close(self, builder: IRBuilder) -> None:
        self.writer.depth -= len(self.ranges) - 1
        inner = self.end()
        kind = LOOPS.get(self.form.maker, ForKind.SERIAL)
        annotations, binding = self.extras
        for var, domain in zip(reversed(self.variables), reversed(self.ranges)):
            inner = For.make(var, domain.min, domain.extent, kind, inner, binding, annotations)
        self.writer.add(inner)


class BlockFrame(_Inside):
    """`with T.block("name"):`."""

    def open(self, builder: IRBuilder) -> BlockFrame:
        self.writer = writer(self.written)
        if not isinstance(self.form.arguments["name"], str):
            raise refused("RX0504", "the name of a block is a text")
        self.around = self.writer.block
        self.writer.block = OpenBlock(self.form.arguments["name"])
        self.begin()
        return self

    def close(self, builder: IRBuilder) -> None:
        opened = self.writer.block
        block = self.writer.closed(opened, self.end(), None)
        self.writer.block = self.around
        if self.form.arguments["no_realize"]:
            self.writer.add(block)
            return
        self.writer.has_blocks = True
        predicate = const(1, prim.BOOL) if opened.predicate is None else opened.predicate
        self.writer.add(BlockRealize.make(tuple(opened.iter_values), predicate, block))

    def abandon(self) -> None:
        super().abandon()
        self.writer.block = self.around


class InitFrame(_Inside):
    """`with T.init():` in a block."""

    def open(self, builder: IRBuilder) -> None:
        self.writer = writer(self.written)
        if self.writer.block is self.writer.root:
            raise refused("RX0504", "`T.init` stands in a block",
                          'open one: `with T.block("name"):`')  # fmt: skip
        if self.writer.block.init is not None:
            raise refused("RX0504", "this block has an `init` already")
        self.begin()

    def close(self, builder: IRBuilder) -> None:
        self.writer.block.init = self.end()


class WhileFrame(_Inside):
    """`with T.While(condition):`."""

    def open(self, builder: IRBuilder) -> None:
        self.writer = writer(self.written)
        node = self.writer.node(self.form)
        self.condition = self.writer.value_of(
            lambda: self.writer.condition(self.form.arguments["condition"], node)
        )
        self.begin()

    def close(self, builder: IRBuilder) -> None:
        self.writer.add(While.make(self.condition, self.end()))


class ChoiceFrame(_Inside):
    """`with T.If(condition):` with `T.Then()` and perhaps `T.Else()` inside."""

    def open(self, builder: IRBuilder) -> None:
        self.writer = writer(self.written)
        node = self.writer.node(self.form)
        self.condition = self.writer.value_of(
            lambda: self.writer.condition(self.form.arguments["condition"], node)
        )
        self.ways: dict[str, Stmt] = {}
        self.begin()

    def close(self, builder: IRBuilder) -> None:
        stray = self.writer.items
        if stray:
            raise refused("RX0501", "`T.If` holds `T.Then` and `T.Else` only",
                          "write `with T.Then():`")  # fmt: skip
        if "T.Then" not in self.ways:
            raise refused("RX0501", "`T.If` needs `T.Then`", "write `with T.Then():` inside it")
        self.end()
        made = IfThenElse.make(self.condition, self.ways["T.Then"], self.ways.get("T.Else"))
        self.writer.add(made)


class WayFrame(_Inside):
    """`with T.Then():` and `with T.Else():`."""

    def open(self, builder: IRBuilder) -> None:
        around = builder.frames[-1] if builder.frames else None
        if not isinstance(around, ChoiceFrame):
            raise refused("RX0501", f"`{self.written}` stands directly in `T.If`",
                          "write `with T.If(condition):` around it")  # fmt: skip
        if self.written in around.ways:
            raise refused("RX0501", f"`T.If` has two `{self.written}`")
        self.choice, self.writer = around, around.writer
        self.begin()

    def close(self, builder: IRBuilder) -> None:
        self.choice.ways[self.written] = self.end()


class HoldingFrame(_Inside):
    """What a statement begins lasts to the end of the `with`: memory, a variable, an assertion."""

    def open(self, builder: IRBuilder) -> Any:
        self.writer = writer(self.written)
        self.begin()
        try:
            return self.begun()
        except BaseException:
            self.abandon()
            raise

    def begun(self) -> Any:
        maker = self.form.maker
        if maker is tir_forms.launch_thread:
            node = self.writer.node(self.form)
            return self.writer.value_of(lambda: self.writer.launch(self.form, node))
        if maker in self.writer.effects:
            self.writer.effect_of(self.form)
            return None
        if maker is tir_forms.decl_buffer:
            return self.writer.buffer_of(self.form, "buffer")
        if maker is tir_forms.LetStmt:
            return self.writer.value_of(self.variable)
        name = ast.Name("memory")
        node = self.writer.node(self.form)
        return self.writer.value_of(
            lambda: self.writer.bind_memory(name, self.form, node, ast.Pass())
        )

    def variable(self) -> Any:
        """The variable of `T.LetStmt`: a given one, or a new one."""
        node = self.writer.node(self.form)
        value, var = self.form.arguments["value"], self.form.arguments["var"]
        declared = self.form.arguments["type_annotation"]
        e = (
            self.writer.fitted(value, node, declared.dtype, node, "is declared")
            if isinstance(declared, ScalarType)
            else self.writer.scalar(value, node)
        )
        if not isinstance(var, prim.Var):
            var = prim.Var.make("x", e.dtype)
        self.writer.open_let(var, e, None)
        return var

    def close(self, builder: IRBuilder) -> None:
        self.writer.add(self.end())
