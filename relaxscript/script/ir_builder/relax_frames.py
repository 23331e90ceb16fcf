"""Frames of Relax: functions, dataflow blocks, branches; all bindings go through a BlockBuilder."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from relaxscript.builder import BlockBuilder
from relaxscript.builder.scope import OpenSeqExpr
from relaxscript.builder.te_calls import te_call
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    Expr,
    Function,
    GlobalVar,
    If,
    LeafExpr,
    SeqExpr,
    Tuple,
    Var,
    VarBinding,
    as_expr,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import Substitution
from relaxscript.script.names.annotations import AnnotationError, as_struct_info

from .base import Frame, IRBuilder, builder_error, innermost, with_names
from .module_frame import ModuleFrame

__all__ = [
    "BlockFrame",
    "BranchFrame",
    "FunctionFrame",
    "IfFrame",
    "function_frame",
    "struct_info_of",
]


class FunctionFrame(Frame):
    """`with R.function():`; it needs a result, and in a module a name."""

    written = "R.function"
    writer: BlockBuilder  # while the frame is open

    def __init__(self, is_pure: bool, is_private: bool) -> None:
        self.is_pure = is_pure
        self.is_private = is_private
        self.name = ""
        self.attrs: dict[str, Any] = {}
        self.ret_struct_info: StructInfo | None = None
        self.module: ModuleFrame | None = None
        # The variables of dataflow blocks that left them, by what they were inside.
        self.replaced = Substitution()
        # What variables are called, where this is not how they were made.
        self.names: dict[Any, str] = {}
        self.has_value = False

    def open(self, builder: IRBuilder) -> FunctionFrame:
        around = builder.frames[-1] if builder.frames else None
        if around is not None and not isinstance(around, ModuleFrame):
            raise builder_error(
                "RX0104", f"a function is not allowed in `{around.written}`",
                "functions are defined next to each other in `with I.ir_module():`",
            )  # fmt: skip
        self.module = around
        self.writer = BlockBuilder()
        if around is not None:
            self.writer.share_signatures(around.signatures)
        self.writer.begin_function("", (), self.is_pure)
        return self

    def close(self, builder: IRBuilder) -> None:
        function = with_names(self.end_function(), self.names)
        if self.module is None:
            builder.finish(function)
        else:
            self.module.define(self.name, function)

    def end_function(self) -> Function:
        if self.module is not None and not self.name:
            raise builder_error("RX0105", "a function of a module has a name",
                                'give it one: `R.func_name("main")`')  # fmt: skip
        if not self.has_value:
            named = f"the function `{self.name}`" if self.name else "the function"
            raise builder_error("RX0105", f"{named} has no result",
                                "give it one: `R.func_ret_value(value)`")  # fmt: skip
        attrs = dict(self.attrs)
        if self.name and not self.is_private:
            attrs.setdefault("global_symbol", self.name)
        with self.writer.blame_caller():
            function = self.writer.end_function(self.ret_struct_info)
        return function.replace(attrs=Attrs(attrs)) if attrs else function

    def set_name(self, name: str) -> None:
        if self.name:
            raise builder_error("RX0302", f"the function is called `{self.name}` already")
        self.name = name

    def add_attrs(self, attrs: Mapping[str, Any]) -> None:
        for key, value in attrs.items():
            if key in self.attrs:
                raise builder_error("RX0302", f"the function has the attribute `{key}` already")
            if key == "global_symbol" and self.is_private:
                raise builder_error("RX0313", "a private function has no global symbol")
            self.attrs[key] = value

    def add_parameter(self, name: str, info: Any) -> Var:
        if not self.writer.current_scope.is_empty:
            raise builder_error("RX0105", "parameters come before the first binding")
        param = Var(name, struct_info_of(info))
        self.writer.add_parameters([param])
        return param

    def emit(self, value: Any, info: Any) -> Var:
        """A value bound to a new variable."""
        self.check_open()
        with self.writer.blame_caller():
            declared = None if info is None else struct_info_of(info)
            return self.writer.bind(self.operand(value), annotation=declared)

    def cast(self, value: Any, info: Any) -> Var:
        """A value that is checked at run time."""
        self.check_open()
        return self.writer.match_cast(self.operand(value), struct_info_of(info))

    def call_te(self, func: Any, *args: Any, **kwargs: Any) -> Call:
        """The call of a PrimFunc that a function of tensor expressions describes."""
        self.check_open()
        if self.module is None:
            raise builder_error(
                "RX0105", "`R.emit_te` makes a PrimFunc, and a function on its own has no place "
                "for it", "write the function in `with I.ir_module():`",
            )  # fmt: skip
        with self.writer.blame_caller():
            return te_call(self.writer, self._add_func, func, *args, **kwargs)

    def _add_func(self, func: PrimFunc, name: str) -> GlobalVar:
        """A function for the module around; one that is there already is shared."""
        assert self.module is not None, "who calls has asked for it"
        return self.module.add(func, name, self.name)

    def emit_binding(self, binding: Any) -> Var:
        """A binding as it is."""
        self.check_open()
        self.writer.emit_normalized(self.replaced.apply(binding))
        var: Var = binding.var
        return var

    def operand(self, value: Any) -> Expr:
        """A value outside of dataflow blocks: what left them is another variable there."""
        return self.replaced.apply(_expression(value))

    def check_open(self) -> None:
        if self.has_value:
            raise builder_error("RX0105", "nothing can follow the result of a function",
                                "call `R.func_ret_value` once, at the end")  # fmt: skip

    def set_value(self, value: Any) -> None:
        self.check_open()
        if not isinstance(IRBuilder.current().frames[-1], FunctionFrame):
            raise builder_error(
                "RX0105", f"a function cannot return inside "
                f"`{IRBuilder.current().frames[-1].written}`",
            )  # fmt: skip
        with self.writer.blame_caller():
            self.writer.set_result(self.operand(value))
        self.has_value = True

    def rename(self, value: Any, name: str) -> None:
        self.names[value] = name
        left = self.replaced.get(value)
        if left is not None:
            self.names[left] = name

    def name_of(self, var: Var) -> str:
        """The name of a variable in the function."""
        return self.names.get(var, var.name_hint)


class BlockFrame(Frame):
    """`with R.dataflow() as df:`; `df.output_vars` are, after it, the variables that left it."""

    written = "R.dataflow"

    def __init__(self) -> None:
        self.outputs: list[Var] = []
        self.output_vars: tuple[Var, ...] = ()
        self.function: FunctionFrame | None = None
        self.ended = False

    def open(self, builder: IRBuilder) -> BlockFrame:
        self.function = function_frame("R.dataflow")
        if self.function.writer.current_block_is_dataflow():
            raise builder_error("RX0104", "a dataflow block is not allowed inside another")
        self.function.check_open()
        self.function.writer.begin_dataflow()
        return self

    def output(self, *given: Any) -> None:
        """The variables that can be used after the block."""
        if self.function is None:
            raise builder_error("RX0105", f"`{self.written}` is not open",
                                "call `output` inside `with R.dataflow() as df:`")  # fmt: skip
        if self.ended:
            raise builder_error("RX0107", "the block has its `R.output` already",
                                "name all variables that leave the block in one")  # fmt: skip
        bound = [binding.var for binding in self.function.writer.current_scope.bindings]
        for var in given:
            if not isinstance(var, Var):
                raise builder_error("RX0104", "`R.output` takes variables that the block bound")
            if not any(var is known for known in bound):
                raise builder_error(
                    "RX0107", f"`{self.function.name_of(var)}` is not bound in this dataflow block",
                    "what was bound before is visible after the block anyway",
                )  # fmt: skip
        self.outputs = list(dict.fromkeys(given))
        self.ended = True

    def close(self, builder: IRBuilder) -> None:
        assert self.function is not None
        left = {var: Var.make(self.function.name_of(var), var.struct_info) for var in self.outputs}
        self.function.writer.current_scope.substitute(Substitution(left))
        for var, other in left.items():
            self.function.replaced[var] = other
        self.output_vars = tuple(left.values())
        self.function.writer.end_dataflow()


class IfFrame(Frame):
    """`with R.If(condition) as choice:` with `R.Then()` and `R.Else()`; `choice.var` is its value.

    The value of a branch is what its last binding binds.
    """

    written = "R.If"

    def __init__(self, condition: Any) -> None:
        self.condition = condition
        self.branches: dict[str, SeqExpr] = {}
        self.var: Var | None = None
        self.name = ""
        self.function: FunctionFrame | None = None

    def open(self, builder: IRBuilder) -> IfFrame:
        self.function = function_frame("R.If")
        self.function.check_open()
        if self.function.writer.current_block_is_dataflow():
            raise builder_error("RX0307", "`R.If` is not allowed in a dataflow block",
                                "end the block first, or use `R.where`")  # fmt: skip
        with self.function.writer.blame_caller():
            self.condition = self.function.writer.operand(self.function.operand(self.condition))
            self.function.writer.check_condition(self.condition)
        return self

    def close(self, builder: IRBuilder) -> None:
        assert self.function is not None
        for branch in ("R.Then", "R.Else"):
            if branch not in self.branches:
                raise builder_error("RX0106", f"`R.If` needs `{branch}`",
                                    f"write `with {branch}():` inside it")  # fmt: skip
        choice = If.make(self.condition, self.branches["R.Then"], self.branches["R.Else"])
        with self.function.writer.blame_caller():
            self.var = self.function.writer.bind(choice, self.name)


class BranchFrame(Frame):
    """`with R.Then():` and `with R.Else():`."""

    def __init__(self, written: str) -> None:
        self.written = written
        self.choice: IfFrame | None = None
        self.began = False
        self.known = ExitStack()

    def open(self, builder: IRBuilder) -> BranchFrame:
        around = builder.frames[-1] if builder.frames else None
        if not isinstance(around, IfFrame):
            raise builder_error("RX0106", f"`{self.written}` belongs directly in `R.If`",
                                "write `with R.If(condition):` around it")  # fmt: skip
        if self.written in around.branches:
            raise builder_error("RX0106", f"`R.If` has two `{self.written}`")
        self.choice = around
        writer = function_frame(self.written).writer
        self.known.enter_context(writer.context.branch(around.condition, self.written == "R.Then"))
        writer.begin_scope()
        return self

    def close(self, builder: IRBuilder) -> None:
        assert self.choice is not None
        function = function_frame(self.written)
        writer = function.writer
        branch = writer.current_scope
        last = branch.last_binding
        if last is None:
            raise builder_error("RX0106", f"`{self.written}` binds no value",
                                "end it with `R.emit(value)`")  # fmt: skip
        self.choice.name = self.choice.name or function.name_of(last.var)
        self.choice.branches[self.written] = writer.end_scope(_branch_value(branch, last))
        self.known.close()

    def abandon(self) -> None:
        self.known.close()


def struct_info_of(value: Any) -> StructInfo:
    """The StructInfo of an annotation; raises `DiagnosticError` for what is none."""
    try:
        return as_struct_info(value)
    except AnnotationError as error:
        raise builder_error(error.code, error.message, error.help) from None


def function_frame(what: str) -> FunctionFrame:
    """The function that is open; `what` needs one."""
    frame = innermost(FunctionFrame)
    if frame is None:
        raise builder_error("RX0105", f"`{what}` belongs in a Relax function",
                            "open one: `with R.function():`")  # fmt: skip
    return frame


def _expression(value: Any) -> Expr:
    """A value as an expression; raises `DiagnosticError` for what is none."""
    try:
        return as_expr(value)
    except TypeError:
        message = f"a Python {type(value).__name__} is no value of a Relax function"
        raise builder_error("RX0201", message) from None


def _branch_value(branch: OpenSeqExpr, last: Binding) -> Expr:
    """The value of a branch: what its last binding binds; a leaf stands for itself."""
    if isinstance(last, VarBinding) and _is_leaf(last.value):
        branch.bindings.pop()
        return last.value
    return last.var


def _is_leaf(expr: Expr) -> bool:
    if isinstance(expr, Tuple):
        return all(_is_leaf(field) for field in expr.fields)
    return isinstance(expr, LeafExpr)
