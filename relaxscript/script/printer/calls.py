"""Calls of Relax: operators by their signature, functions, closures and PackedFuncs."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from relaxscript.arguments import REQUIRED
from relaxscript.dtypes import DataType
from relaxscript.errors import UnplacedError
from relaxscript.ir.module import VDevice
from relaxscript.ir.prim import Immediate
from relaxscript.ir.relax import Call, Expr, ExternFunc, Op, ShapeExpr, StringImm
from relaxscript.ir.struct_info import StructInfo, TupleStructInfo
from relaxscript.op import REGISTRY, Operator, Parameter
from relaxscript.op.base import compute_prim_value
from relaxscript.script.syntax import DIM_DTYPE

from . import tree
from .annotations import AnnotationPrinter, vdevice_call
from .session import Session

__all__ = ["CallPrinter"]


class CallPrinter(AnnotationPrinter, ABC):
    """Adds calls; the printer of functions says how an operand is written."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        # Operators that take nothing but that many tensors, with their names as syntax.
        self._plain: dict[Op, tuple[int, ast.expr]] = {}
        # The statements that must come before the one that is being written.
        self.pending: list[ast.stmt] = []

    @abstractmethod
    def expression(self, e: Expr) -> ast.expr:
        """An operand."""

    @abstractmethod
    def named_first(self, e: Expr, made: ast.expr) -> ast.expr:
        """A name for an operand that is evaluated before the statements that are pending."""

    def in_order(
        self, operands: Iterable[Expr | None], write: Callable[[int], ast.expr]
    ) -> list[ast.expr]:
        """What is written of operands, from left to right.

        Where one of them needs statements of its own, those before it are bound before these.
        """
        made: list[ast.expr] = []
        seen: list[Expr | None] = []
        for index, e in enumerate(operands):
            before = len(self.pending)
            new = write(index)
            if len(self.pending) > before and index:
                self.pending, later = self.pending[:before], self.pending[before:]
                made = [m if x is None else self.named_first(x, m) for x, m in zip(seen, made)]
                self.pending += later
            made.append(new)
            seen.append(e)
        return made

    def operands(self, exprs: Sequence[Expr]) -> list[ast.expr]:
        """Operands, in the order in which they are evaluated."""
        return self.in_order(exprs, lambda index: self.expression(exprs[index]))

    # call = operator "(" arguments ")" | function "(" operands ")"
    def call_expression(self, e: Any) -> ast.expr:
        op = e.op
        if op.__class__ is Op:
            plain = self._plain.get(op) or self._find_plain(op)
            if plain[0] == len(e.args) and not e.attrs and not e.sinfo_args:
                return ast.Call(plain[1], self.operands(e.args), [])
            return self.operator_call(e)
        if isinstance(op, ExternFunc):
            return self.packed_call(e, op)
        callee, *args = self.operands((op, *e.args))
        return tree.call(callee, args, **self.extras(e))

    def _find_plain(self, op: Op) -> tuple[int, ast.expr]:
        operator = REGISTRY.get(op.name)
        arity = -1
        if operator is not None and all(p.kind == "operand" for p in operator.parameters):
            arity = len(operator.parameters)
        word = self.member_of_relax(op.name.removeprefix("relax."))
        if self.session.record:
            self.session.at(op, word)
        found = self._plain[op] = (arity, word)
        return found

    def operator_call(self, e: Call) -> ast.expr:
        """`R.op(operands, attribute=value)`."""
        op = e.op
        word = self._plain[op][1]  # type: ignore[index]
        operator = REGISTRY.get(op.name)  # type: ignore[attr-defined]
        if op == compute_prim_value.op:
            match e.args:
                # `R.prim_value` of a literal is a PrimValue, so such a call is written as it is.
                case (ShapeExpr(values=(value,)),) if not isinstance(value, Immediate):
                    written = self.scalar(value, DIM_DTYPE)
                    return tree.call(self.member_of_relax("prim_value"), [written])
        if operator is not None:
            try:
                return self.arguments_of(operator, e, word)
            except UnplacedError:  # it does not fit the operator: it is written as it is
                pass
        return tree.call(word, self.operands(e.args), **self.extras(e))

    def arguments_of(self, operator: Operator, e: Call, word: ast.expr) -> ast.expr:
        """Operands by position until one is left out, the rest by name."""
        given: list[tuple[Parameter, Any, bool]] = []
        by_position = True
        for parameter, value in operator.arguments(e):
            if parameter.kind == "rest":
                given += [(parameter, item, True) for item in value]
                continue
            if parameter.kind in ("attribute", "sinfo") or parameter.keyword_only:
                by_position = False
            if _is_default(parameter, value):
                by_position = False
                continue
            given.append((parameter, value, by_position))
        exprs = [v if isinstance(v, Expr) else None for _, v, _ in given]
        made = self.in_order(exprs, lambda index: self.argument(*given[index][:2]))
        args = [m for m, (_, _, positional) in zip(made, given) if positional]
        keywords = {p.name: m for m, (p, _, positional) in zip(made, given) if not positional}
        return tree.call(word, args, **keywords)

    def argument(self, parameter: Parameter, value: Any) -> ast.expr:
        """What one parameter is given."""
        match value:
            case ExternFunc(global_symbol) if parameter.wants == "packed":
                return tree.constant(global_symbol)
            case StringImm(text) if parameter.kind == "text":
                return tree.constant(text)
            case DataType():
                return tree.constant(str(value))
            case Expr():
                return self.expression(value)
            # A list of one stands for that one, so a tuple of one is written as a tuple.
            case TupleStructInfo(infos) if parameter.name == "out_sinfo" and len(infos) != 1:
                return tree.items([self.annotation(info) for info in infos])
            case tuple() if parameter.kind == "sinfo":
                return tree.items([self.annotation(info) for info in value])
            case VDevice() if parameter.annotation == "VirtualDevice":
                return self.vdevice(value)
            case VDevice() if parameter.annotation == "Device":
                return self.device(value)
            case tuple() if parameter.kind == "tensors":
                return tree.items(self.operands(value), ast.Tuple)
        return self.value(value)

    def device(self, device: VDevice) -> ast.expr:
        """A device: `R.device("cpu", 1)`."""
        if device.target.attrs or device.memory_scope != "global":
            return vdevice_call(self.session, device)
        kind = "cpu" if device.target.kind == "llvm" else device.target.kind
        place = [tree.constant(kind), tree.number(device.vdevice_id)]
        return tree.call(self.member_of_relax("device"), place)

    def packed_call(self, e: Call, callee: ExternFunc) -> ast.expr:
        """`R.call_packed("name", x, sinfo_args=...)`."""
        word = self.member_of_relax("call_packed")
        args = [tree.constant(callee.global_symbol), *self.operands(e.args)]
        return tree.call(word, args, **self.extras(e))

    def extras(self, e: Call) -> dict[str, ast.expr]:
        """Attributes and StructInfo arguments of a call without a signature."""
        words = {name: self.value(value) for name, value in (e.attrs or {}).items()}
        infos: tuple[StructInfo, ...] = e.sinfo_args
        if len(infos) == 1:
            words["sinfo_args"] = self.annotation(infos[0])
        elif infos:
            words["sinfo_args"] = tree.items([self.annotation(i) for i in infos], ast.Tuple)
        return words


def _is_default(parameter: Parameter, value: Any) -> bool:
    """Whether an argument may be left out."""
    default = parameter.default
    if default is REQUIRED:
        return value is None and not parameter.is_required
    if isinstance(value, StringImm) and parameter.kind == "text":
        value = value.value
    if value is default:
        return True
    return type(value) is type(default) and bool(value == default)
