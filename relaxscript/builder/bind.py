"""Functions with some of their parameters or shape variables bound.

Source: TVM `relax.Function.bind_params` and `bind_symbolic_vars`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from relaxscript.analysis.struct_infos import defined_symbolic_vars
from relaxscript.errors import Diagnostic, DiagnosticError, Label, UnplacedError
from relaxscript.errors.suggest import did_you_mean, nearest
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import walk
from relaxscript.ir.calling import home_of
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm, PrimExpr, Var as PrimVar
from relaxscript.ir.relax import Expr, Function, Var, as_expr
from relaxscript.ir.struct_info import PrimStructInfo
from relaxscript.sinfo import dimensions, struct_info_parts

from .specialize import Specialization, Specializer, evaluates_once, in_normal_form

__all__ = ["bind_params", "bind_symbolic_vars", "home_module"]

V = TypeVar("V", Var, PrimVar)


def home_module(func: Function) -> IRModule | None:
    """The module of which a function was taken as an attribute, where it was."""
    home = home_of(func)
    return None if home is None else home[0]


def bind_params(
    func: Function, binding_map: Mapping[Any, Any], mod: IRModule | None = None
) -> Function:
    """`func` without the parameters of `binding_map`, which have these values.

    See `Function.bind_params`. `mod` is where the functions are that `func` calls.
    """
    given = {
        var: _value(var, value)
        for var, value in _by_variable(
            "bind_params", binding_map, func.params, "parameter", Var
        ).items()
    }
    if not given:
        return func
    mod = home_module(func) if mod is None else mod
    normal = in_normal_form(func, mod)
    steps = _Parameters(given, evaluates_once(normal))
    bound = steps.specializer = Specializer(mod, steps=steps)
    kept = tuple(param for param in normal.params if param not in given)
    try:
        infos = [bound.builder.struct_info(value) for value in given.values()]
        sizes = bound.match(list(given), infos)
        made = bound.function(normal.replace(params=kept))
    except UnplacedError as error:
        raise error.as_diagnostic_error("bind_params", caller_span()) from None
    gone = [v for v in walk.defined_by(func, tuple(given)) if v not in sizes]
    _refuse_undefined("bind_params", made, func, [*gone, *sizes.values()])
    return made


class _Parameters(Specialization):
    """Puts values into the place of parameters in the first lines of a function."""

    specializer: Specializer

    def __init__(self, given: Mapping[Var, Expr], once: bool) -> None:
        self._given = given
        self._once = once

    def begin(self) -> None:
        self.specializer.admit(list(self._given), list(self._given.values()), self._once)


def _value(param: Var, value: Any) -> Expr:
    try:
        return as_expr(value)
    except TypeError:
        raise _mistake(
            "RX0201", f"{brief(value)} cannot be the value of the parameter `{param.name_hint}`",
            help="give an array or an expression", at=param,
        ) from None  # fmt: skip


def bind_symbolic_vars(
    func: Function, binding_map: Mapping[Any, Any], mod: IRModule | None = None
) -> Function:
    """`func` with other sizes in the place of shape variables.

    See `Function.bind_symbolic_vars`. `mod` is where the functions are that `func` calls.
    """
    defined = defined_symbolic_vars(func)
    given = _by_variable("bind_symbolic_vars", binding_map, defined, "shape variable", PrimVar)
    sizes = {var: _size(func, var, value) for var, value in given.items()}
    if all(size is var for var, size in sizes.items()):
        return func
    mod = home_module(func) if mod is None else mod
    bound = Specializer(mod)
    for var, size in sizes.items():
        bound.replace_scalar(var, size)
    made = bound.function(in_normal_form(func, mod))
    _refuse_undefined("bind_symbolic_vars", made, func, sizes.values())
    return made


def _size(func: Function, var: PrimVar, value: Any) -> PrimExpr:
    """The size of a shape variable, of the variable's dtype."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        value = IntImm(var.dtype, int(value))
    if not isinstance(value, PrimExpr):
        raise _mistake(
            "RX0201", f"{brief(value)} cannot be the value of the shape variable `{var.name}`",
            help="give an integer or a scalar expression", at=var,
        )  # fmt: skip
    if value.dtype is not var.dtype:
        raise _mistake(
            "RX0202", f"`{var.name}` is {var.dtype}, and the value for it {value.dtype}",
            help=f'convert it: `T.cast(value, "{var.dtype}")`', at=var,
        )  # fmt: skip
    if isinstance(value, IntImm) and value.value < 0 and _is_dimension(func, var):
        raise _mistake(
            "RX0203", f"`{var.name}` is a dimension, so it cannot be {value.value}",
            help="a dimension is at least zero", at=var,
        )  # fmt: skip
    return value


def _is_dimension(func: Function, var: PrimVar) -> bool:
    parts = (part for p in func.params for part in struct_info_parts(p.struct_info))
    return any(
        var in walk.variables(size)
        for part in parts
        if not isinstance(part, PrimStructInfo)
        for size in dimensions(part)
    )


def _by_variable(
    caller: str, given: Mapping[Any, Any], known: Iterable[V], noun: str, kind: type[V]
) -> dict[V, Any]:
    """The values that are given by name or variable, in the order of the variables."""
    if not isinstance(given, Mapping):
        what = f"`{caller}` takes a mapping of {noun}s to values"
        raise _mistake("RX0201", f"{what}, not {brief(given)}")
    variables = list(known)
    found: dict[V, Any] = {}
    for key, value in given.items():
        var = key if isinstance(key, kind) else _named(caller, key, variables, noun)
        if var not in variables:
            raise _mistake(
                "RX0101", f"`{_name(var)}` is no {noun} of the function",
                help=_offer(_name(var), variables, noun),
            )  # fmt: skip
        if var in found:
            raise _mistake(
                "RX0103", f"the {noun} `{_name(var)}` is given twice",
                help="give it by its name or by its variable, not by both", at=var,
            )  # fmt: skip
        found[var] = value
    return {var: found[var] for var in variables if var in found}


def _named(caller: str, name: Any, variables: Sequence[V], noun: str) -> V:
    if not isinstance(name, str):
        what = f"the keys of `{caller}` are names or variables"
        raise _mistake("RX0201", f"{what}, not {brief(name)}")
    alike = [var for var in variables if _name(var) == name]
    if len(alike) > 1:
        raise _mistake(
            "RX0101", f"{len(alike)} {noun}s of the function are called `{name}`",
            help="give the variable itself as the key", at=alike[0],
        )  # fmt: skip
    if not alike:
        raise _mistake(
            "RX0101", f"the function has no {noun} `{name}`", help=_offer(name, variables, noun)
        )
    return alike[0]


def _name(var: Var | PrimVar) -> str:
    return var.name


def _offer(name: str, variables: Sequence[V], noun: str) -> str:
    names = [_name(var) for var in variables]
    every = ", ".join(f"`{n}`" for n in names) if names else "none"
    return did_you_mean(nearest(name, names), f"its {noun}s are {every}")


def _refuse_undefined(caller: str, made: Function, func: Function, sizes: Iterable[Node]) -> None:
    """Refuse a result that uses shape variables which nothing defines in it.

    These can be variables that nothing replaces any more, and those of what replaces others.
    """
    suspects = {v for size in sizes for v in walk.variables(size) if isinstance(v, PrimVar)}
    if suspects <= set(walk.defined_by(made, made.params)):
        return
    before = set(walk.free_vars(func))
    for var in walk.free_vars(made):
        if isinstance(var, PrimVar) and var not in before:
            raise _mistake(
                "RX0109", f"nothing defines `{var.name}` in the function that `{caller}` makes",
                help=f"bind `{var.name}` as well, or give a value that does not mention it",
            )  # fmt: skip


def _mistake(
    code: str, message: str, help: str | None = None, at: Node | None = None
) -> DiagnosticError:
    """A mistake of who binds, with the place of the variable that it is about."""
    span = None if at is None else at.span
    labels = () if span is None else (Label(span, "it is declared here"),)
    return DiagnosticError(Diagnostic(code, message, caller_span(), labels, help=help))
