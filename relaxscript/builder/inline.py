"""Functions with the bodies of others in the place of their calls.

Source: TVM `relax.Function.inline_functions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from relaxscript.analysis.components import components
from relaxscript.analysis.derive import check_argument_count, function_struct_info
from relaxscript.analysis.purity import claims_purity
from relaxscript.arith import YES
from relaxscript.errors import Diagnostic, DiagnosticError, UnplacedError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import walk
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.struct_info import TupleStructInfo
from relaxscript.sinfo import check_compatibility, erase_to_well_defined

from .bind import home_module
from .block_builder import BlockBuilder
from .specialize import Specializer, evaluates_once, in_normal_form

__all__ = ["inline_functions"]


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
        self.once = evaluates_once(function)
        # Pure, since it says so: who claims no less cannot make the calls that it makes.
        self.is_trusted = function.is_pure and not claims_purity(True, function.attrs)
        # No dataflow block has control flow, and no local function sees a variable of one.
        parts = walk.compounds(function.body)
        self.needs_ordinary_block = self.is_trusted or any(
            isinstance(part, (If, Function)) for part in parts
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


def _callees(func: Function, given: Mapping[str, Function]) -> Iterator[str]:
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
    size = sum(1 for _ in walk.compounds(func)) + sum(sizes[n] for n in _callees(func, sizes))
    if size > walk.MOST_PARTS:
        message = f"with the bodies of its callees the function would have {size:,} parts"
        help = "inline fewer functions at a time"
        raise DiagnosticError(Diagnostic("RX0104", message, func.span or caller_span(), help=help))
    return size


class _Splice(Specializer):
    """Writes the body of a function where a builder stands, with arguments for its parameters."""

    def __init__(self, mod: IRModule, builder: BlockBuilder) -> None:
        super().__init__(mod, builder)
        self._in_block = builder.current_block_is_dataflow()

    def splice(self, callee: _Callee, args: Sequence[Expr]) -> Expr:
        """Write the bindings of the body; what the call gives is a leaf."""
        function = copy_with_new_vars(callee.function)
        check_argument_count(function_struct_info(function), len(args))
        self.match(function.params, [self.builder.struct_info(arg) for arg in args])
        self.admit(function.params, args, callee.once)
        return self._body(function)

    def splice_as_declared(self, callee: _Callee, args: Sequence[Expr]) -> Expr:
        """As `splice`, with no more known of the arguments than the callee says of them."""
        function = copy_with_new_vars(callee.function)
        infos = [param.struct_info for param in function.params]
        given = self.builder.bind_match_cast(Tuple(args), TupleStructInfo(infos), "args")
        for index, param in enumerate(function.params):
            field = TupleGetItem(given, index)
            self.replace_var(param, self.builder.bind(field, param.name_hint, span=param.span))
        return self._body(function)

    def _body(self, function: Function) -> Expr:
        self.visit(function.body)
        assert isinstance(function.body, SeqExpr)
        return self._as_declared(self._substitute(function.body.body), function)

    def _as_declared(self, value: Expr, function: Function) -> Expr:
        """What is returned, behind a match_cast where it may not be what is declared."""
        assert function.ret_struct_info is not None
        builder, context = self.builder, self.builder.context
        scope = context.shape_scope or ()
        declared = self._replaced.apply(function.ret_struct_info)
        declared = erase_to_well_defined(declared, builder.is_visible, scope)
        known = builder.struct_info(value)
        if check_compatibility(known, declared, context.facts, in_scope=scope) is YES:
            return value
        return builder.bind_match_cast(value, declared, span=function.span)

    def _is_spliced(self) -> bool:
        """True where bindings go into the dataflow block that is open."""
        return self._in_block and not self.functions

    def enter(self, node: Node) -> bool | None:
        return (
            None if isinstance(node, DataflowBlock) and self._is_spliced() else super().enter(node)
        )

    def leave(self, node: Node) -> None:
        if not (isinstance(node, DataflowBlock) and self._is_spliced()):
            super().leave(node)

    def kind_of(self, var: Var) -> type[Var]:
        return DataflowVar if self._is_spliced() else type(var)


class _Inliner(Specializer):
    """Writes a function with bodies in the place of calls.

    A dataflow block into which control flow comes is none any more.
    """

    def __init__(self, bodies: Mapping[str, _Callee], mod: IRModule | None) -> None:
        super().__init__(mod)
        self._bodies = bodies
        self._ordinary: set[Node] = set()

    def _callee(self, value: Expr) -> _Callee | None:
        """The function that takes the place of a value; None where the value stays."""
        match value:
            case Call(op=GlobalVar(name)) if name in self._bodies:
                callee, around = self._bodies[name], self.functions[-1]
                trusts = callee.is_trusted and claims_purity(around.is_pure, around.attrs)
                return None if trusts else callee
        return None

    def enter(self, node: Node) -> bool | None:
        if isinstance(node, DataflowBlock):
            callees = (self._callee(binding.value) for binding in node.bindings)
            if any(callee is not None and callee.needs_ordinary_block for callee in callees):
                self._ordinary.add(node)
                return None
        return super().enter(node)

    def leave(self, node: Node) -> None:
        if node not in self._ordinary:
            super().leave(node)

    def kind_of(self, var: Var) -> type[Var]:
        return Var if self.path[-1] in self._ordinary else type(var)

    def binding(self, binding: Binding) -> None:
        callee = self._callee(binding.value)
        if callee is None:
            super().binding(binding)
            return
        assert isinstance(binding.value, Call)
        args = binding.value.args
        try:
            with self.builder.attempt():
                result = _Splice(self.mod, self.builder).splice(callee, args)
        except (UnplacedError, DiagnosticError):
            # For these arguments the body fails where it is checked. When it runs is early enough.
            result = _Splice(self.mod, self.builder).splice_as_declared(callee, args)
        self.change(binding, result)
