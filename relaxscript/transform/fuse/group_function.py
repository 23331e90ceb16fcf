"""Functions of groups of bindings, whatever these compute."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    Op,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.struct_info import ShapeStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.structural_hashing import structural_hash
from relaxscript.ir.walk import free_vars, rewrite, substitute
from relaxscript.op.calls import call_tir
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf

from .function_names import FunctionNames
from .group_key import DescribedInfos, GroupKey

__all__ = ["GroupFunctions", "group_function", "is_group"]


class GroupFunctions:
    """The functions of groups, one for all groups that are the same: `made` has the new ones."""

    def __init__(self, mod: IRModule) -> None:
        self.made: dict[GlobalVar, Function] = {}
        self.names = FunctionNames(mod)
        # The functions of groups that there are, which are in no other group.
        self.names_of_groups = {
            gvar.name_hint for gvar, func in mod.relax_functions().items() if is_group(func)
        }
        self._known: dict[int, list[tuple[Function, GlobalVar]]] = {}
        # The same by the keys of groups: with the places of the sizes that are passed.
        self._by_key: dict[Hashable, tuple[GlobalVar, list[int]]] = {}
        self._described: DescribedInfos = {}

    def name(self, group: Sequence[Binding]) -> str:
        """A name for the function of a group: that of what it calls."""
        values = [b.value for b in group]
        return self.names.fused([_callee(v) for v in values if isinstance(v, Call)])

    def find_for(
        self, group: Sequence[Binding], attrs: Mapping[str, Any], lifts_constants: bool,
        write: Callable[[Function, str], Function], name: Callable[[], str],
    ) -> tuple[GlobalVar, tuple[Expr, ...]] | None:  # fmt: skip
        """The function of a group by its last value, and the arguments that it is called with.

        None where there is none. Most groups are like one before, and no function is made of them.
        """
        args = tuple(_arguments(group, lifts_constants))
        key = GroupKey(group, args, attrs, self._described)
        known = self._by_key.get(key.key)
        if known is not None:
            gvar, places = known
            shape = ShapeExpr.make(tuple([key.sizes[place] for place in places]))
            return gvar, (*args, shape) if places else args
        made = group_function(group, [group[-1].var], attrs, lifts_constants)
        if made is None:
            return None
        function, given = made
        gvar = self.find(function, name, write)
        passed = given[-1] if len(given) > len(args) else None
        sizes = passed.values if isinstance(passed, ShapeExpr) else ()
        self._by_key[key.key] = gvar, [key.sizes.index(size) for size in sizes]
        return gvar, given

    def find(
        self,
        function: Function,
        name: Callable[[], str],
        write: Callable[[Function, str], Function],
    ) -> GlobalVar:
        """The name of the same function, or where there is none, that of a new one.

        A new one has variables of its own, and a new name; `write` says what becomes of it.
        """
        same = self._known.setdefault(structural_hash(function), [])
        for other, gvar in same:
            if structural_equal(other, function):
                return gvar
        made, unique = copy_with_new_vars(function), name()
        gvar = GlobalVar.make(unique)
        same.append((made, gvar))
        self.made[gvar] = write(made, unique)
        self.names_of_groups.add(unique)
        return gvar


def is_group(func: Function) -> bool:
    """True if a function is what fusion made of a group."""
    return any(key in (func.attrs or Attrs()) for key in ("Primitive", "Composite", "Codegen"))


def _callee(call: Call) -> str:
    """The callee of a call, as a part of a name."""
    callee: Expr = call.op
    if callee == call_tir.op:
        callee = call.args[0]
    if isinstance(callee, GlobalVar):
        return callee.name_hint.removeprefix("fused_")
    return callee.name.replace(".", "_") if isinstance(callee, Op) else "call"


def group_function(
    group: Sequence[Binding],
    outputs: Sequence[Var],
    attrs: Mapping[str, Any],
    lifts_constants: bool = False,
) -> tuple[Function, tuple[Expr, ...]] | None:
    """The function of some bindings, and the arguments that it is called with.

    It returns the value of the only output, or a tuple of them, and shares variables with the
    group. Its place is that of the last value. With `lifts_constants` constants are arguments too.
    Shape variables that no argument tells come last, as a shape. None where the shape of a tensor
    is a variable of Relax, which no parameter can say.
    """
    params = _parameters(group, lifts_constants)
    renamed = {a: p for a, p in params.items() if a is not p and isinstance(a, Var)}
    lifted = {a: p for a, p in params.items() if not isinstance(a, Var)}
    bindings: list[Binding] = []
    results = set(outputs)
    for binding in group:
        value, var = binding.value, binding.var
        if lifted:
            value = rewrite(value, lambda n: lifted.get(n) if isinstance(n, Constant) else None)
        if renamed:
            value = substitute(value, renamed)
        remember_struct_info(value, var.struct_info)
        if var in results or not isinstance(var, DataflowVar):
            kind, name = (Var, "gv") if var in results else (DataflowVar, var.name_hint)
            renamed[var] = kind.make(name, var.struct_info, span=var.span)
            var = renamed[var]
        bindings.append(VarBinding.make(var, value, span=binding.span))
    fields = tuple([renamed[var] for var in outputs])
    if len(fields) > 1:
        held = Tuple.make(fields)
        info = struct_info_of_leaf(held)
        result = Var.make("gv", info)
        bindings.append(VarBinding.make(result, held))
    else:
        result = fields[0]
    body = SeqExpr.make((DataflowBlock.make(tuple(bindings)),), result)
    made = Function.make(
        tuple(params.values()), body, result.struct_info, True, Attrs(dict(attrs)),
        span=group[-1].value.span or group[-1].span,
    )  # fmt: skip
    args = tuple(params)
    free = free_vars(made)
    if any(isinstance(v, Var) for v in free):
        return None
    passed = [v for v in free if isinstance(v, PrimVar)]
    if passed:
        shape = ShapeExpr.make(tuple(passed))
        sizes = Var.make("tir_vars", ShapeStructInfo.make(shape.values, len(passed)))
        made, args = made.replace(params=(*made.params, sizes)), (*args, shape)
    return made, args


def _arguments(group: Sequence[Binding], lifts_constants: bool) -> dict[Expr, None]:
    """All that a group takes from outside, in the order of its first use."""
    found: dict[Expr, None] = {}
    inside: set[Expr] = set()
    for binding in group:
        for operand in _operands(binding.value):
            if operand not in inside and (lifts_constants or operand.__class__ is not Constant):
                found[operand] = None
        inside.add(binding.var)
    return found


def _parameters(group: Sequence[Binding], lifts_constants: bool) -> dict[Expr, Var]:
    """The parameters for all that a group takes from outside, in the order of its first use."""
    params: dict[Expr, Var] = {}
    constants = 0
    for operand in _arguments(group, lifts_constants):
        if isinstance(operand, DataflowVar):
            name, info = operand.name_hint, operand.struct_info
            params[operand] = Var.make(name, info, span=operand.span)
        elif isinstance(operand, Var):
            params[operand] = operand
        else:
            info = struct_info_of_leaf(operand)
            params[operand] = Var.make(f"param_{constants}", info, span=operand.span)
            constants += 1
    return params


def _operands(value: Expr) -> list[Expr]:
    """The variables and constants of a value, in their order."""
    found: list[Expr] = []
    stack: list[Expr] = [value]
    while stack:
        e = stack.pop()
        if isinstance(e, (Var, Constant)):
            found.append(e)
        elif isinstance(e, Call):
            stack += [*reversed(e.args), e.op]
        elif isinstance(e, Tuple):
            stack += reversed(e.fields)
        elif isinstance(e, TupleGetItem):
            stack.append(e.tuple_value)
    return found
