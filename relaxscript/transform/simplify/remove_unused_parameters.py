"""RemoveUnusedParameters: private functions take no more than they read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar

from relaxscript.analysis.derive import Context
from relaxscript.analysis.struct_infos import free_symbolic_vars
from relaxscript.builder import ExprMutator
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Binding, Call, Expr, Function, GlobalVar, PrimValue, Var
from relaxscript.ir.struct_info import PrimStructInfo
from relaxscript.ir.walk import free_vars, mentioned, variables
from relaxscript.opdef.operands import compute_operand
from relaxscript.sinfo import (
    ProvableArguments,
    definable_shape_vars,
    free_shape_vars,
    scalar_variables,
    shape_var_mapping,
    shape_vars,
)
from relaxscript.transform.normalize.normalize import normalize_module
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .private_calls import Calls, CallSite, function_of, infos_of, private_calls, with_calls

__all__ = ["RemoveUnusedParameters"]


class RemoveUnusedParameters(ModulePass):
    """Remove parameters that a private function does not read, and the arguments of its calls.

    Before:

        @R.function(private=True)
        def scaled(x: R.Tensor((4,), "float32"), y: R.Tensor(("n",), "float32")):
            n = T.int64()
            z = R.multiply(x, R.const(2, "float32"))
            return (z, R.shape([n]))

        @R.function
        def main(x: R.Tensor((4,), "float32"), y: R.Tensor((8,), "float32")):
            z = cls.scaled(x, y)
            return z

    After:

        @R.function(private=True)
        def scaled(x: R.Tensor((4,), "float32"), param_n: R.Prim(value="n")):
            n = T.int64()
            z = R.multiply(x, R.const(2, "float32"))
            return (z, R.shape([n]))

        @R.function
        def main(x: R.Tensor((4,), "float32"), y: R.Tensor((8,), "float32")):
            z = cls.scaled(x, R.prim_value(8))
            return z

    A shape variable that only such a parameter defined is passed by itself, behind the others. What
    is only handed to parameters that nobody reads is not read either, so chains and recursion
    settle at once. A parameter stays where the check of some argument may fail, or would not be
    made of another one. Functions that are used as values, and those with `num_input`, stay.

    Source: TVM `relax.transform.RemoveUnusedParameters`, which drops checks as well.
    """

    changes_signatures = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        if not any(function.is_private for function in mod.relax_functions().values()):
            return mod
        made = normal = normalize_module(mod, check_well_formed=False)
        # Where a parameter is gone, others may be read by nobody any more.
        while (smaller := _without_unread(made)) is not made:
            made = smaller
        return mod if made is normal else made


def _without_unread(mod: IRModule) -> IRModule:
    """The module without the parameters that nothing needs; `mod` itself where there are none."""
    calls = private_calls(mod)
    dropped = _unread(mod, calls)
    if not dropped:
        return mod
    needed = _Needed(mod, calls, dropped)
    made = mod.clone()
    for name, places in dropped.items():
        function = function_of(mod, name)
        added = tuple([_scalar_param(var) for var in needed.by_function[name]])
        made[name] = function.replace(params=(*_kept(function.params, places), *added))
    callers = {site.caller for name in dropped for site in calls[name]}
    for name in callers:
        made[name] = _Caller(made, needed).function(function_of(made, name), name)
    return made


class _Caller(ExprMutator):
    """Writes calls that give what functions take now."""

    def __init__(self, mod: IRModule, needed: _Needed) -> None:
        super().__init__(mod)
        self.needed = needed

    def binding(self, binding: Binding) -> None:
        call = binding.value
        # What is known of arguments is known of those that there were.
        made = self.needed.call(call) if isinstance(call, Call) else None
        if made is None:
            super().binding(binding)
        else:
            self.replace_value(binding, made)


E = TypeVar("E", bound=Expr)


def _kept(values: tuple[E, ...], dropped: Collection[int]) -> tuple[E, ...]:
    return tuple([value for i, value in enumerate(values) if i not in dropped])


def _scalar_param(var: prim.Var) -> Var:
    return Var.make(f"param_{var.name}", PrimStructInfo(value=var))


def _scalar_argument(value: PrimExpr) -> Expr:
    """A number, or a call that computes one, to which normal form gives a binding."""
    is_number = isinstance(value, prim.Immediate)
    return PrimValue.make(value) if is_number else compute_operand(value)


# ---------------------------------------------------------------- which parameters go


def _unread(mod: IRModule, calls: Calls) -> dict[str, set[int]]:
    """The positions of parameters that may go, by function; those without any are left out."""
    context = Context(mod)
    unread: dict[str, set[int]] = {}
    for name, sites in calls.items():
        function = function_of(mod, name)
        if function.params:
            unread[name] = _not_read_itself(function, calls)
        if unread.get(name):  # else nothing depends on what it is given
            unread[name] &= _sure_to_fit(function, sites, context)
    places = {
        name: {param: index for index, param in enumerate(function_of(mod, name).params)}
        for name in unread
    }
    # What goes to a parameter that stays is read by whoever hands it on.
    todo = [
        (name, index)
        for name, found in unread.items()
        for index in places[name].values()
        if index not in found
    ]
    while todo:
        name, index = todo.pop()
        for site in calls[name]:
            for var in mentioned(site.call.args[index]) if site.caller in unread else ():
                place = places[site.caller].get(var)
                if place in unread[site.caller]:
                    unread[site.caller].remove(place)
                    todo.append((site.caller, place))
    return {name: found for name, found in unread.items() if found}


def _not_read_itself(function: Function, calls: Calls) -> set[int]:
    """The positions of parameters that a function hands on to such functions at most."""

    def without_args(call: Call) -> Call | None:
        is_one = isinstance(call.op, GlobalVar) and call.op.name_hint in calls
        return call.replace(args=(), arg_spans=()) if is_one else None

    read = set(free_vars(with_calls(function, without_args).body))
    infos = infos_of(function.params)
    if function.ret_struct_info is not None:
        read.update(variables(function.ret_struct_info))
    for info in infos:
        read.update(v for v in variables(info) if isinstance(v, Var))
    found = {index for index, param in enumerate(function.params) if param not in read}
    return found - _needed_scalars(function, found, read)


def _needed_scalars(function: Function, unread: set[int], read: set[Node]) -> set[int]:
    """Those unread parameters that are a shape variable which is needed: what else to pass for it?

    It is not needed where a parameter that is read defines it as well.
    """
    infos = infos_of(function.params)
    found: dict[int, prim.Var] = {}
    for index in unread:
        match infos[index]:
            case PrimStructInfo(value=prim.Var() as var):
                found[index] = var
    if not found:
        return set()
    others = [info for index, info in enumerate(infos) if index not in found]
    used = {*read, *free_vars(function.body), *(v for info in others for v in shape_vars(info))}
    defined = {
        var
        for index, info in enumerate(infos)
        if index not in unread and not isinstance(info, PrimStructInfo)
        for var in definable_shape_vars(info)
    }
    return {index for index, var in found.items() if var in used and var not in defined}


def _sure_to_fit(function: Function, sites: Collection[CallSite], context: Context) -> set[int]:
    """The positions of parameters without which no check is lost that some call may fail."""
    infos = infos_of(function.params)
    provable = ProvableArguments(infos)
    sure = set(range(len(infos)))
    for site in sites:
        args = [context.struct_info(arg) for arg in site.call.args]
        in_scope = {var for arg in args for var in free_shape_vars(arg)}
        sure.intersection_update(provable.of(args, in_scope))
    # What one parameter says of a variable is checked of the others.
    doubtful = {var for i, info in enumerate(infos) if i not in sure for var in shape_vars(info)}
    return {i for i in sure if doubtful.isdisjoint(shape_vars(infos[i]))}


# ---------------------------------------------------------------- what is passed instead


class _Needed:
    """The shape variables that functions need and the parameters left to them do not define."""

    def __init__(self, mod: IRModule, calls: Calls, dropped: Mapping[str, Collection[int]]) -> None:
        self.dropped = dropped
        self.by_function: dict[str, dict[prim.Var, None]] = {}
        self._infos = {name: infos_of(function_of(mod, name).params) for name in dropped}
        self._context = Context(mod)
        self._lost: dict[str, set[prim.Var]] = {}
        for name in dropped:
            self._look_at(name, function_of(mod, name))
        self._hand_on(calls)

    def _look_at(self, name: str, function: Function) -> None:
        left = _kept(function.params, self.dropped[name])
        smaller = with_calls(function, self._shorter).replace(params=left)
        infos = self._infos[name]
        kept = {var for p in infos_of(left) for var in definable_shape_vars(p)}
        self._lost[name] = {v for info in infos for v in definable_shape_vars(info)} - kept
        free = free_symbolic_vars(smaller)
        self.by_function[name] = dict.fromkeys([v for v in free if v in self._lost[name]])

    def _shorter(self, call: Call) -> Call | None:
        """A call without the arguments that go."""
        dropped = self._dropped_of(call)
        if dropped is None:
            return None
        return call.replace(args=_kept(call.args, dropped), arg_spans=())

    def _dropped_of(self, call: Call) -> Collection[int] | None:
        return self.dropped.get(call.op.name_hint) if isinstance(call.op, GlobalVar) else None

    def _hand_on(self, calls: Calls) -> None:
        """A function needs what it passes to those that need something."""
        todo = [(name, var) for name, found in self.by_function.items() for var in found]
        while todo:
            name, var = todo.pop()
            for site in calls[name]:
                if site.caller not in self.dropped:
                    continue
                found = self.by_function[site.caller]
                for each in scalar_variables(self._values(name, site.call)[var]):
                    if each in self._lost[site.caller] and each not in found:
                        found[each] = None
                        todo.append((site.caller, each))

    def _values(self, name: str, call: Call) -> Mapping[prim.Var, PrimExpr]:
        """The values of the shape variables of a function in one call."""
        args = [self._context.struct_info(arg) for arg in call.args]
        return shape_var_mapping(self._infos[name], args)

    def call(self, call: Call) -> Call | None:
        """The call without the arguments that go, and with the variables that are needed."""
        shorter = self._shorter(call)
        if shorter is None:
            return None
        name = call.op.name_hint  # type: ignore[attr-defined]
        wanted = self.by_function[name]
        values = self._values(name, call) if wanted else {}
        added = tuple([_scalar_argument(values[var]) for var in wanted])
        made: Call = shorter.replace(args=(*shorter.args, *added))
        return made
