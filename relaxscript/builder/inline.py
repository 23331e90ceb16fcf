"""Functions with the bodies of others in the place of their calls.

Source: TVM `relax.Function.inline_functions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from relaxscript.analysis.components import components
from relaxscript.analysis.purity import claims_purity
from relaxscript.arith import YES
from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    UnplacedError,
    did_you_mean,
    nearest,
    warn,
)
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import walk
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.renaming import Renaming
from relaxscript.ir.struct_info import TupleStructInfo
from relaxscript.ir.written_size import MOST_PARTS
from relaxscript.sinfo import check_compatibility, erase_to_well_defined

from .bind import home_module
from .block_builder import BlockBuilder
from .scope import attempt
from .specialize import Specialization, Specializer, evaluates_once, in_normal_form

__all__ = ["inline_functions"]

_DIGITS = re.compile("[0-9]+")


def inline_functions(
    func: Function, function_map: Mapping[Any, Any], mod: IRModule | None = None
) -> Function:
    """`func` with the bodies of the functions of `function_map` in the place of their calls.

    See `Function.inline_functions`. `mod` is where the other functions are that they call.
    """
    given = _by_name(function_map)
    mod = home_module(func) if mod is None else mod
    func = in_normal_form(func, mod)
    needed = _reachable(func, given)
    _warn_of_misspelling(func, given)
    if not needed:
        return func
    sizes: dict[str, int] = {}
    for group in components(needed):
        if len(group) > 1 or group[0] in needed[group[0]]:
            raise _recursion(group, given)
        sizes[group[0]] = _size(given[group[0]], sizes)
    _size(func, sizes)
    bodies: dict[str, _Callee] = {}
    for name in sizes:  # what a function calls comes before it
        callee = in_normal_form(given[name], mod)
        made = _Inliner(bodies, mod).function(callee, name) if needed[name] else callee
        bodies[name] = _Callee(made)
    return _Inliner(bodies, mod).function(func)


class _Callee:
    """A function to inline, and what of it decides where it may be."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.renaming = Renaming(function)
        self.once = evaluates_once(function)
        # Pure, since it says so: who claims no less cannot make the calls that it makes.
        self.is_trusted = function.is_pure and not claims_purity(True, function.attrs)
        # No dataflow block has control flow, and no local function sees a variable of one.
        parts = list(walk.compounds(function.body))
        has_inner_scopes = any(isinstance(part, (If, Function)) for part in parts)
        self.needs_ordinary_block = self.is_trusted or has_inner_scopes
        # Where its own variables are those of parameters and bindings, each gets another one when
        # it is written. A copy beforehand would cost as much as to write it.
        self.is_written_anew = not (
            has_inner_scopes or any(isinstance(part, MatchCast) for part in parts)
        )


def _by_name(given: Mapping[Any, Any]) -> dict[str, Function]:
    if not isinstance(given, Mapping):
        what = "`inline_functions` takes a mapping of names to functions"
        raise DiagnosticError(Diagnostic("RX0201", f"{what}, not {brief(given)}", caller_span()))
    found: dict[str, Function] = {}
    for key, function in given.items():
        name = key.name_hint if isinstance(key, GlobalVar) else key
        if not isinstance(name, str):
            message = f"the keys of `inline_functions` are names or `GlobalVar`s, not {brief(key)}"
            raise DiagnosticError(Diagnostic("RX0201", message, caller_span()))
        if not isinstance(function, Function):
            message = f"only a Relax function can be inlined; `{name}` is {brief(function)}"
            raise DiagnosticError(Diagnostic("RX0201", message, caller_span()))
        if found.setdefault(name, function) is not function:
            message = f"two functions are given for `{name}`"
            help = "give it by its name or by its variable, not by both"
            raise DiagnosticError(Diagnostic("RX0103", message, caller_span(), help=help))
    return found


def _callees(func: Function, given: Mapping[str, object]) -> Iterator[str]:
    """The names of given functions that a function calls, one for each call."""
    for node in walk.compounds(func):
        match node:
            case Call(op=GlobalVar(name)) if name in given:
                yield name


def _reachable(func: Function, given: Mapping[str, Function]) -> dict[str, list[str]]:
    """The given functions that `func` calls, directly or through others; whom each calls."""
    found: dict[str, list[str]] = {}
    waiting = list(_callees(func, given))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = list(_callees(given[name], given))
            waiting += found[name]
    return found


def _warn_of_misspelling(func: Function, given: Mapping[str, Function]) -> None:
    """Warn of a name that is nearly that of a function which is called and not given.

    It is no error: others may call it, to whom the same mapping is given.
    """
    ops = [node.op for node in walk.compounds(func) if isinstance(node, Call)]
    left = {op.name_hint for op in ops if isinstance(op, GlobalVar)} - set(given)
    for name, function in given.items() if left else ():
        near = nearest(name, sorted(left))
        is_its_own = (function.attrs or Attrs()).get("global_symbol") == name
        # Of functions by number each is nearly called as the next.
        if near is not None and not is_its_own and _DIGITS.sub("", name) != _DIGITS.sub("", near):
            message = f"`inline_functions` is given `{name}`, which is not called"
            help = did_you_mean(near)
            warn(Diagnostic("RX0103", message, caller_span(), help=help, severity="warning"))


def _recursion(group: list[str], given: Mapping[str, Function]) -> DiagnosticError:
    names = " and ".join(f"`{name}`" for name in sorted(group))
    calls = "call each other" if len(group) > 1 else "calls itself"
    return DiagnosticError(
        Diagnostic(
            "RX0103", f"{names} {calls}, so the body never ends when it is inlined",
            given[group[0]].span or caller_span(),
            help=f"leave {names} out of the functions to inline",
        )
    )  # fmt: skip


def _size(func: Function, sizes: Mapping[str, int]) -> int:
    """The parts of a function after inlining; refuses what would be no program for anybody."""
    size = len(list(walk.compounds(func))) + sum(sizes[name] for name in _callees(func, sizes))
    if size > MOST_PARTS:
        message = f"with the bodies of its callees the function would have {size:,} parts"
        help = "inline fewer functions at a time"
        raise DiagnosticError(Diagnostic("RX0104", message, func.span or caller_span(), help=help))
    return size


class _Splice(Specialization):
    """The body of a function where a builder is, with arguments for its parameters.

    Into an open dataflow block go variables of the block.
    """

    def __init__(self, mod: IRModule, builder: BlockBuilder, callee: _Callee) -> None:
        self._builder = builder
        self._in_block = builder.current_block_is_dataflow()
        self._once = callee.once
        self._is_copy = not callee.is_written_anew
        self._function = callee.renaming.copy() if self._is_copy else callee.function
        self._specializer = Specializer(mod, builder, self)
        if not self._is_copy:
            for old, new in callee.renaming.new_scalars().items():
                self._specializer.replace_scalar(old, new)

    def write(self, args: Sequence[Expr]) -> Expr:
        """Write the bindings of the body; what the call gives is a leaf."""
        params = self._function.params
        self._specializer.match(params, [self._builder.struct_info(arg) for arg in args])
        self._specializer.admit(params, args, self._once)
        return self._result()

    def write_as_declared(self, args: Sequence[Expr]) -> Expr:
        """As `write`, with no more known of the arguments than the callee says of them."""
        params = self._function.params
        applied = self._specializer.applied
        infos = TupleStructInfo.make(tuple(applied(param.struct_info) for param in params))
        given = self._builder.bind_match_cast(Tuple.make(tuple(args)), infos, "args")
        for index, param in enumerate(params):
            field = TupleGetItem.make(given, index)
            value = self._builder.bind(field, param.name_hint, span=param.span)
            self._specializer.replace_var(param, value)
        return self._result()

    def _result(self) -> Expr:
        """The returned value, behind a match_cast where it may not be what is declared."""
        function, builder, context = self._function, self._builder, self._builder.context
        value = self._specializer.result_of(function.body)
        assert function.ret_struct_info is not None
        scope = context.shape_scope or ()
        declared = self._specializer.applied(function.ret_struct_info)
        declared = erase_to_well_defined(declared, builder.is_visible, scope)
        known = builder.struct_info(value)
        if check_compatibility(known, declared, context.facts, in_scope=scope) is YES:
            return value
        return builder.bind_match_cast(value, declared, span=function.span)

    def _is_spliced(self) -> bool:
        """True where bindings go into the dataflow block that is open."""
        return self._in_block and not self._specializer.functions

    def dissolves(self, block: DataflowBlock) -> bool:
        return self._is_spliced()

    def variable(self, var: Var) -> Var:
        kind = DataflowVar if self._is_spliced() else type(var)
        if self._is_copy and kind is type(var):
            return var
        return kind.make(var.name_hint, var.struct_info, span=var.span)


class _Inliner(Specialization):
    """Bodies in the place of calls.

    A dataflow block into which control flow comes is none any more.
    """

    def __init__(self, bodies: Mapping[str, _Callee], mod: IRModule | None) -> None:
        self._bodies = bodies
        self._specializer = Specializer(mod, steps=self)
        self._dissolved: dict[Node, bool] = {}

    def function(self, func: Function, name: str = "function") -> Function:
        """The function with bodies in the place of calls; `func` itself where there are none."""
        return self._specializer.function(func, name)

    def _callee(self, value: Expr) -> _Callee | None:
        """The function that takes the place of a value; None where the value stays."""
        match value:
            case Call(op=GlobalVar(name)) if name in self._bodies:
                callee, around = self._bodies[name], self._specializer.functions[-1]
                trusts = callee.is_trusted and claims_purity(around.is_pure, around.attrs)
                return None if trusts else callee
        return None

    def dissolves(self, block: DataflowBlock) -> bool:
        if block not in self._dissolved:
            callees = (self._callee(binding.value) for binding in block.bindings)
            self._dissolved[block] = any(
                callee is not None and callee.needs_ordinary_block for callee in callees
            )
        return self._dissolved[block]

    def variable(self, var: Var) -> Var:
        if type(var) is Var or not self._dissolved.get(self._specializer.path[-1]):
            return var
        return Var.make(var.name_hint, var.struct_info, span=var.span)

    def replacement(self, binding: Binding) -> Expr | None:
        callee = self._callee(binding.value)
        if callee is None:
            return None
        assert isinstance(binding.value, Call)
        args, mod, builder = binding.value.args, self._specializer.mod, self._specializer.builder
        try:
            with attempt(builder):
                return _Splice(mod, builder, callee).write(args)
        except (UnplacedError, DiagnosticError):
            # For these arguments the body fails where it is checked. When it runs is early enough.
            return _Splice(mod, builder, callee).write_as_declared(args)
