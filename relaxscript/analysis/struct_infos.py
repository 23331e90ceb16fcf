"""Questions about StructInfos by the names of TVM, and the shape variables of functions.

What they answer is said once, in `relaxscript.sinfo`; here are TVM's names, orders and defaults.
Source: TVM `relax.analysis`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from relaxscript import sinfo as rules
from relaxscript.errors import UnplacedError
from relaxscript.errors.article import article
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import walk
from relaxscript.ir.field_types import brief
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm, PrimExpr, Var as PrimVar, as_prim
from relaxscript.ir.relax import Call, Expr, ExternFunc, Function, GlobalVar, Op, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
)
from relaxscript.ir.structural_equality import structural_equal, structural_hash
from relaxscript.ir.types import Type
from relaxscript.op.base import shape_of

from .derive import Context, call_result

__all__ = [
    "collect_non_negative_expressions",
    "definable_tir_vars_in_struct_info",
    "defined_symbolic_vars",
    "derive_call_ret_struct_info",
    "erase_to_well_defined",
    "free_symbolic_vars",
    "get_shape_of",
    "get_static_type",
    "require_type",
    "struct_info_base_check",
    "struct_info_lca",
    "tir_vars_in_struct_info",
]  # fmt: skip


def require_type(what: str, value: object, kind: type) -> None:
    """Raise `TypeError` unless an argument, which `what` names, is of this kind."""
    if not isinstance(value, kind):
        name = kind.__name__
        raise TypeError(f"`{what}` must be {article(name)} {name}, not {brief(value)}")


def _require_map(
    what: str, given: Mapping[Any, Any] | None, key: type, value: type
) -> dict[Any, Any]:
    """A mapping of variables to what they stand for; raises `TypeError` for anything else."""
    if given is None:
        return {}
    require_type(what, given, Mapping)
    found = {
        v: as_prim(e) if value is PrimExpr and isinstance(e, int) else e for v, e in given.items()
    }
    for variable, meaning in found.items():
        require_type(f"a key of {what}", variable, key)
        require_type(f"{what}[{variable!r}]", meaning, value)
    return found


def struct_info_base_check(base: StructInfo, derived: StructInfo) -> rules.BaseCheckResult:
    """The distance of `base` from describing each value that `derived` describes, in four steps."""
    require_type("struct_info_base_check.base", base, StructInfo)
    require_type("struct_info_base_check.derived", derived, StructInfo)
    return rules.struct_info_base_check(base, derived)


def get_static_type(sinfo: StructInfo) -> Type:
    """The traditional type of what has `sinfo`: ranks, dtypes and structure, no expressions."""
    require_type("get_static_type.sinfo", sinfo, StructInfo)
    return rules.erase_struct_info(sinfo)


def erase_to_well_defined(
    sinfo: StructInfo,
    shape_var_map: Mapping[PrimVar, PrimExpr | int] | None = None,
    var_map: Mapping[Var, Expr] | None = None,
) -> StructInfo:
    """`sinfo` where only the variables of the maps are known, and stand for what the maps say.

    Shapes and values that use any other variable are forgotten; rank, dtype and device stay.
    Variables that a function type binds in its own parameters are known inside it. Raises
    `TypeError` for maps of anything else, `ValueError` for a shape of another rank.
    """
    require_type("erase_to_well_defined.sinfo", sinfo, StructInfo)
    sizes = _require_map("erase_to_well_defined.shape_var_map", shape_var_map, PrimVar, PrimExpr)
    values = _require_map("erase_to_well_defined.var_map", var_map, Var, Expr)
    for var, value in values.items():
        if isinstance(var.struct_info, ShapeStructInfo):
            what = f"the StructInfo of erase_to_well_defined.var_map[{var!r}]"
            require_type(what, value.struct_info, ShapeStructInfo)
    known = rules.erase_to_well_defined(sinfo, values, sizes)
    free = rules.free_shape_vars(known)
    known = rules.substitute_shape_vars(known, {v: sizes[v] for v in free})
    return rules.substitute_held_shapes(known, values)


def struct_info_lca(lhs: StructInfo, rhs: StructInfo) -> StructInfo:
    """The least common ancestor: what is known of a value that has one or the other."""
    require_type("struct_info_lca.lhs", lhs, StructInfo)
    require_type("struct_info_lca.rhs", rhs, StructInfo)
    return rules.unify_struct_info(lhs, rhs)


def get_shape_of(expr: Expr) -> Expr:
    """The shape of a tensor: what its StructInfo says of it, else a call of `R.shape_of`.

    Raises `TypeError` for an expression that is no tensor.
    """
    require_type("get_shape_of.expr", expr, Expr)
    match expr.struct_info:
        case TensorStructInfo(shape=Expr() as shape):
            return shape
        case TensorStructInfo():
            return Call(shape_of.op, (expr,))
        case info:
            raise TypeError(f"`get_shape_of.expr` must be a tensor, not {info!r}")


class _Builder(Protocol):
    context: Context


def derive_call_ret_struct_info(
    func_sinfo: FuncStructInfo, call: Call, ctx: Context | _Builder | None = None
) -> StructInfo:
    """The StructInfo of the result of `call`, a call of a function that has `func_sinfo`.

    `ctx` is the block builder, or context, in which the call is: it knows the variables in
    scope. Raises `DiagnosticError` where the arguments do not fit the parameters.
    """
    require_type("derive_call_ret_struct_info.func_sinfo", func_sinfo, FuncStructInfo)
    require_type("derive_call_ret_struct_info.call", call, Call)
    context = Context() if ctx is None else getattr(ctx, "context", ctx)
    if not isinstance(context, Context):
        what = "`derive_call_ret_struct_info.ctx` must be a Context or a BlockBuilder"
        raise TypeError(f"{what}, not {brief(ctx)}")
    try:
        return call_result(func_sinfo, call, context)
    except UnplacedError as error:
        raise error.as_diagnostic_error(_callee(call.op), call.span or caller_span()) from None


def _callee(op: Expr) -> str:
    match op:
        case Op(name) | Var(name_hint=name) | GlobalVar(name) | ExternFunc(name):
            return name
    return "the function"


def tir_vars_in_struct_info(sinfo: StructInfo) -> list[PrimVar]:
    """All shape variables in `sinfo`, each once, in the order of their appearance."""
    require_type("tir_vars_in_struct_info.sinfo", sinfo, StructInfo)
    return rules.shape_vars(sinfo)


def definable_tir_vars_in_struct_info(sinfo: StructInfo) -> list[PrimVar]:
    """The shape variables that stand alone in `sinfo`, so that a value of it says what they are."""
    require_type("definable_tir_vars_in_struct_info.sinfo", sinfo, StructInfo)
    return rules.definable_shape_vars(sinfo)


def collect_non_negative_expressions(sinfo: StructInfo) -> list[PrimExpr]:
    """The dimensions in `sinfo`, each once: no size is negative.

    Numbers are left out, and so are the values of Prims, which may be negative.
    """
    require_type("collect_non_negative_expressions.sinfo", sinfo, StructInfo)
    found: dict[int, list[PrimExpr]] = {}
    result: list[PrimExpr] = []
    for part in rules.struct_info_parts(sinfo):
        for size in () if isinstance(part, PrimStructInfo) else rules.dimensions(part):
            if isinstance(size, IntImm):
                continue
            alike = found.setdefault(structural_hash(size), [])
            if not any(structural_equal(size, other) for other in alike):
                alike.append(size)
                result.append(size)
    return result


def defined_symbolic_vars(func: Function) -> list[PrimVar]:
    """The shape variables that parameters and `match_cast`s in a function define, each once."""
    require_type("defined_symbolic_vars.func", func, Function)
    return _scalars(walk.bound_vars(func))


def free_symbolic_vars(func: Function) -> list[PrimVar]:
    """The shape variables that a function uses and does not define, in order of appearance."""
    require_type("free_symbolic_vars.func", func, Function)
    return _scalars(walk.free_vars(func))


def _scalars(variables: Iterable[Node]) -> list[PrimVar]:
    return [v for v in variables if isinstance(v, PrimVar)]
