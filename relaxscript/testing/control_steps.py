"""The bindings of random programs that decide what runs: blocks, branches, functions, recursion.

Recursion terminates: a function that calls itself counts down from a small number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim
from relaxscript.ir.relax import (
    Attrs,
    Call,
    Constant,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    PrimValue,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo
from relaxscript.ir.walk import substitute
from relaxscript.op.binary import minimum, subtract
from relaxscript.op.comparison import less_equal
from relaxscript.sinfo import definable_shape_vars

from .call_steps import CallSteps
from .known import is_condition, same, tensor_of

__all__ = ["ControlSteps"]

DEPTH = 3  # how deep a recursion goes at most
COUNTER = tensor_of((), DataType("int64"))


class ControlSteps(CallSteps):
    """Adds blocks, branches and local functions."""

    def dataflow(self) -> bool:
        outside = len(self.values)
        with self.builder.dataflow():
            self.steps(self.choices.integer(1, 5))
            inside = self.values[outside:]
            chosen = self.choices.some(inside[-3:]) or inside[-1:]
            outputs = [self.builder.emit_output(value, self.name()) for value in chosen]
        self.values[outside:] = outputs
        return True

    # ---- branches

    def branches(self) -> bool:
        condition = self.condition()
        first = self.branch(None)
        second = self.branch(first.struct_info)
        return self.emit(If(condition, first, second))

    def branch(self, wanted: StructInfo | None) -> SeqExpr:
        """A branch; its value is described by `wanted` where there is such a value."""
        self.builder.begin_scope()
        with self.scope():
            self.steps(self.choices.integer(0, 3))
            fitting = [v for v in self.values if wanted is None or same(v.struct_info, wanted)]
            body = self.choices.pick(fitting[-4:] or self.values[-4:])
            return self.builder.end_scope(body)

    def condition(self) -> Expr:
        known = [v for v in self.values if is_condition(v.struct_info)]
        if known and self.choices.chance(70):
            return self.choices.pick(known)
        value = self.choices.chance(50)
        if self.choices.chance(30):
            return PrimValue(prim.as_prim(value))
        return Constant(np.array(value))

    # ---- local functions

    def purity(self) -> bool:
        """Whether a local function is pure: always in a pure function."""
        return self.pure or self.choices.chance(40)

    def closure(self) -> bool:
        """A local function, which sees everything around it."""
        pure = self.purity()
        with self.local_scope(pure):
            params = self.params(local=True)
            self.builder.begin_function("local", params, pure)
            self.values += params
            self.steps(self.choices.integer(1, 3))
            self.builder.set_result(self.choices.pick(self.values[-3:]))
            function = self.builder.end_function()
        return self.emit(function)

    def choice_of_functions(self) -> bool:
        """Two functions of one type, of which a tuple or an `if` gives one, which is called."""
        functions = self.closures()
        if not functions:
            return False
        first = self.choices.pick(functions)
        others = [f for f in self.fitting(first.struct_info) if f is not first]
        second = self.choices.pick(others) if others else self.like(first)
        if second is None:
            return False
        if self.choices.chance(50) or self.builder.current_block_is_dataflow():
            pair = self.bound(Tuple((first, second, *self.choices.some(self.values)[:1])))
            place = self.choices.integer(0, 1)
            chosen = None if pair is None else self.bound(TupleGetItem(pair, place))
        else:
            chosen = self.bound(If(self.condition(), self.alone_in(first), self.alone_in(second)))
        info = None if chosen is None else chosen.struct_info
        if chosen is None or not isinstance(info, FuncStructInfo):
            return False
        return self.call(chosen, info.params or ())

    def alone_in(self, value: Expr) -> SeqExpr:
        """A branch that only has a value."""
        self.builder.begin_scope()
        return self.builder.end_scope(value)

    def like(self, known: Expr) -> Var | None:
        """A new local function of the type of another: it calls that one, or gives an argument."""
        info = known.struct_info
        assert isinstance(info, FuncStructInfo)
        if isinstance(known, DataflowVar):
            return None
        params = self.copied(info.params or ())
        with self.local_scope(info.purity):
            self.builder.begin_function("local", params, info.purity)
            try:
                self.values += params
                self.steps(self.choices.integer(0, 1))
                fitting = self.fitting(info.ret)
                result = (
                    self.choices.pick(fitting)
                    if fitting
                    else self.builder.emit(Call(known, tuple(params)), self.name())
                )
                self.builder.set_result(result)
                function = self.builder.end_function()
            except DiagnosticError:
                self.builder.abandon_function()
                return None
        return self.bound(function)

    def copied(self, infos: Sequence[StructInfo]) -> list[Var]:
        """Parameters of these descriptions, with shape variables of their own."""
        defined = {v for info in infos for v in definable_shape_vars(info)} - set(self.dims)
        own = {v: prim.Var(v.name, v.dtype) for v in defined}
        return [Var(self.name() or "x", substitute(info, own)) for info in infos]

    # ---- recursion

    def loop(self) -> bool:
        """A local function that calls itself, and a call of it."""
        pure = self.purity()
        with self.local_scope(pure):
            params = self.counting_params()
            result = self.choices.pick(params[1:]).struct_info
            infos = tuple([param.struct_info for param in params])
            known = FuncStructInfo(infos, result, pure)
            inside = self.builder.current_block_is_dataflow()
            itself = (DataflowVar if inside else Var)(self.name() or "loop", known)
            function = self.counting(params, result, pure, itself)
        if function is None:
            return False
        self.builder.emit_function(itself, function)
        self.values.append(itself)
        return self.call(itself, infos)

    def family(self, names: Sequence[str]) -> None:
        """Functions of the module that call each other in turn, the last one the first."""
        pure = self.pure
        params = self.counting_params()
        place = self.choices.integer(1, len(params) - 1)
        infos = tuple([param.struct_info for param in params])
        known = FuncStructInfo(infos, infos[place], pure)
        self.builder.signatures.update(dict.fromkeys(names, known))
        members: dict[str, Function] = {}
        for name, following in zip(names, [*names[1:], names[0]], strict=True):
            self.values, self.dims = [], []
            own = self.copied(infos)
            self.dims = [v for p in own for v in definable_shape_vars(p.struct_info)]
            attrs = Attrs({"global_symbol": name})
            made = self.counting(own, own[place].struct_info, pure, GlobalVar(following), attrs)
            if made is not None:
                members[name] = made
        for name in names:
            del self.builder.signatures[name]
        if len(members) == len(names):
            for name, function in members.items():
                self.builder.add_func(function, name)

    def counting_params(self) -> list[Var]:
        """Parameters, the first of which says how often a function calls itself yet."""
        return [Var(self.name() or "k", COUNTER), *self.params()]

    def counting(
        self, params: list[Var], result: StructInfo, pure: bool, itself: Expr,
        attrs: Attrs | None = None,
    ) -> Function | None:  # fmt: skip
        """A function that calls `itself` as long as its first parameter is positive."""
        self.builder.begin_function("loop", params, pure, attrs)
        try:
            self.values += params
            zero, one, most = [Constant(np.array(i, "int64")) for i in (0, 1, DEPTH)]
            count = self.builder.emit(Call(minimum.op, (params[0], most)))
            done = self.builder.emit(Call(less_equal.op, (count, zero)))
            self.builder.begin_scope()
            with self.scope():
                self.steps(self.choices.integer(0, 2))
                last = self.builder.end_scope(self.choices.pick(self.fitting(result)))
            self.builder.begin_scope()
            with self.scope():
                self.steps(self.choices.integer(0, 2))
                less = self.builder.emit(Call(subtract.op, (count, one)))
                given = [self.choices.pick(self.fitting(p.struct_info)) for p in params[1:]]
                again = self.builder.emit(Call(itself, (less, *given)), self.name())
                self.values.append(again)
                self.steps(self.choices.integer(0, 2))
                more = self.builder.end_scope(self.choices.pick(self.fitting(result)))
            self.builder.set_result(self.builder.emit(If(done, last, more), self.name()))
            return self.builder.end_function(result)
        except DiagnosticError:
            self.builder.abandon_function()
            return None
