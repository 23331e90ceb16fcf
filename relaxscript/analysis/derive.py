"""Deriving StructInfo: what is known of the value of each kind of expression.

The rules are those of the spec, "Derivation Rules", with their numbers; each expects its operands
in normal form or at least typed. A `Context` supplies what an expression alone does not say: the
signatures of global functions, the variables in scope, and a place for deferred checks.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from relaxscript.arith import NO, UNKNOWN, Facts
from relaxscript.dtypes import DataType
from relaxscript.errors import InternalError, Nature, OperandError, quantity
from relaxscript.ir import hooks
from relaxscript.ir.distributed import placement_mistake
from relaxscript.ir.field_roles import Datum, paired_parts
from relaxscript.ir.known_results import is_closed
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm, PrimExpr, Var as PrimVar
from relaxscript.ir.relax import (
    Call,
    Constant,
    DataflowVar,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    remember_struct_info,
)
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
    equal_at_a_glance,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.op import DeferredCheck, Operator, lookup
from relaxscript.sinfo import (
    check_compatibility,
    definable_shape_vars,
    erase_to_well_defined,
    explain_mismatch,
    facts_in_branch,
    mismatch_fact,
    shape_var_mapping,
    shape_vars,
    struct_info_parts,
    substitute_shape_vars,
    unify_struct_info,
)

from .dimensions import with_readable_dimensions
from .results_by_operands import ResultsByOperands

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

__all__ = [
    "Context",
    "alpha_rename",
    "call_purity",
    "call_result",
    "cast_target",
    "check_argument_count",
    "derive_struct_info",
    "function_struct_info",
    "is_pure_callee",
    "nature_of_misfit",
    "rederive_struct_info",
]  # fmt: skip

OBJECT = ObjectStructInfo()
UNIT = TupleStructInfo(())
INT64 = DataType("int64")


class Context:
    """Context of a derivation: Γ for global names, facts about integers, the deferred checks.

    `shape_scope` holds the shape variables in scope, or is None where scopes are not tracked (then
    nothing is out of scope). `is_visible` says the same of Relax variables. Where they are not
    tracked, what a result says by one is not believed, since it may be the callee's.
    """

    def __init__(
        self,
        module: IRModule | None = None,
        signatures: Mapping[str, StructInfo] | None = None,
        require: Callable[[DeferredCheck], None] | None = None,
    ) -> None:
        self.module = module
        self.signatures = signatures if signatures is not None else {}
        self.facts: Facts | None = None
        self.shape_scope: AbstractSet[PrimVar] | None = None
        self.is_visible: Callable[[Var], bool] = lambda var: False
        self.results: ResultsByOperands | None = ResultsByOperands()
        self._require = require

    @contextmanager
    def branch(self, condition: Expr, taken: bool) -> Iterator[None]:
        """Know in a branch of an `If` that its condition is `taken`, True or False."""
        outer = self.facts
        self.facts = facts_in_branch(self.struct_info(condition), taken, outer)
        try:
            yield
        finally:
            self.facts = outer

    def require(self, deferred: DeferredCheck) -> None:
        """Note a precondition that could not be decided."""
        if self.results is not None:
            self.results.undecided += 1
        if self._require is not None:
            self._require(deferred)

    def struct_info(self, expr: Expr) -> StructInfo:
        """Γ[expr] for variables, and what was derived for every other expression."""
        if expr.__class__ is Call:
            found = expr.known_info
            return derive_struct_info(expr, self) if found is None else found
        if isinstance(expr, GlobalVar):
            return self.signature(expr)
        if isinstance(expr, Var):
            known = expr.struct_info
            return OBJECT if known is None else known
        found = expr.known_info
        return derive_struct_info(expr, self) if found is None else found

    def signature(self, var: GlobalVar) -> StructInfo:
        """The StructInfo of a function of the module (rules 1 and 2).

        It knows no variable of the place where it is: inside of the function itself, its own
        shape variables are told apart from those of the call that runs.
        """
        known = self.signatures.get(var.name_hint)
        if known is None and self.module is not None and var in self.module:
            known = function_struct_info(self.module[var])
        if known is not None:
            return alpha_rename(known, self.shape_scope) if self.shape_scope else known
        raise OperandError(
            "callee", "is not a function of the module", code="RX0101",
            message=f"the module has no function `{var.name_hint}`",
        )  # fmt: skip


_NOTHING = Context()
_NOTHING.results = None  # it is there for all programs, which it would keep alive


def derive_struct_info(expr: Expr, context: Context = _NOTHING) -> StructInfo:
    """The StructInfo of the value of `expr`; raises `OperandError` where operands do not fit."""
    rule = _RULES.get(expr.__class__)
    info = rederive_struct_info(expr, context) if rule is None else rule(expr, context)
    remember_struct_info(expr, info)
    return info


def rederive_struct_info(expr: Expr, context: Context) -> StructInfo:
    """As `derive_struct_info`, but what `expr` itself remembers stays as it is."""
    rule = _RULES.get(type(expr))
    if rule is None:
        raise InternalError(f"there is no derivation rule for {type(expr).__name__}")
    info: StructInfo = rule(expr, context)
    return info


def _constant(expr: Constant, context: Context) -> StructInfo:
    dims = tuple(IntImm.make(INT64, extent) for extent in expr.data.shape)
    return TensorStructInfo.make(ShapeExpr.make(dims), expr.dtype, None, len(dims))


def _prim_value(expr: PrimValue, context: Context) -> StructInfo:
    return PrimStructInfo.make(expr.value.dtype, expr.value)


def _tuple(expr: Tuple, context: Context) -> StructInfo:
    return TupleStructInfo.make(tuple([context.struct_info(f) for f in expr.fields]))


def _shape(expr: ShapeExpr, context: Context) -> StructInfo:
    return ShapeStructInfo.make(expr.values, len(expr.values))


def _if(expr: If, context: Context) -> StructInfo:
    both = context.struct_info(expr.true_branch), context.struct_info(expr.false_branch)
    return unify_struct_info(*both, in_scope=context.shape_scope or ())


def _seq(expr: SeqExpr, context: Context) -> StructInfo:
    inside = {b.var for block in expr.blocks for b in block.bindings}
    info = context.struct_info(expr.body)
    defined = {v for block in expr.blocks for b in block.bindings for v in _defines(b)}
    return erase_to_well_defined(info, lambda v: v not in inside, lambda v: v not in defined)


def _defines(binding: Any) -> list[PrimVar]:
    # A shape variable that a match_cast binds is one that stands alone and is not known before;
    # one that was known before keeps its meaning outside, but erasing it here loses only precision.
    info = getattr(binding, "struct_info", None)
    return definable_shape_vars(info) if info is not None else []


def _tuple_get_item(expr: TupleGetItem, context: Context) -> StructInfo:
    match context.struct_info(expr.tuple_value):
        case TupleStructInfo(fields) if 0 <= expr.index < len(fields):
            return fields[expr.index]
        case TupleStructInfo(fields):
            raise OperandError(
                "tuple", f"has {len(fields)} fields", code="RX0208",
                message=f"the tuple has no field {expr.index}",
            )  # fmt: skip
        case info:
            raise OperandError(
                "tuple", f"is {info.noun}", code="RX0208",
                message="only a tuple can be indexed by a constant",
            )  # fmt: skip


def alpha_rename(info: StructInfo, scope: Container[PrimVar]) -> StructInfo:
    """A function type that binds none of the shape variables in `scope`."""
    params = info.params if isinstance(info, FuncStructInfo) else None
    own = (v for param in params or () for v in definable_shape_vars(param))
    shared = {v: type(v).make(v.name, v.dtype) for v in own if v in scope}
    return substitute_shape_vars(info, shared) if shared else info


def _extern(expr: ExternFunc, context: Context) -> StructInfo:
    return FuncStructInfo.make(None, OBJECT, False, default_derive)


def _op(expr: Op, context: Context) -> StructInfo:
    raise OperandError(
        "operator", "is where a value is needed", code="RX0309",
        message=f"the operator `{expr.name}` may only be called",
    )  # fmt: skip


def _call(expr: Call, context: Context) -> StructInfo:
    if type(expr.op) is Op:
        operator = lookup(expr.op)
        if (
            context.facts is None
            and context.results is not None
            and expr.attrs is operator.default_attrs
            and len(expr.args) == operator.fast_arity
        ):
            return _of_operands_alone(operator, expr, context, context.results)
        return _of_operator(operator, expr, context)
    callee = context.struct_info(expr.op)
    if not isinstance(callee, FuncStructInfo):
        raise OperandError(
            "callee", f"is {callee.noun}", code="RX0201",
            message="only a function can be called",
        )  # fmt: skip
    return with_readable_dimensions(call_result(callee, expr, context))


def _of_operator(operator: Operator, expr: Call, context: Context) -> StructInfo:
    try:
        return with_readable_dimensions(operator.infer(expr, context))
    except OperandError as error:
        error.callee = error.callee or f"R.{operator.script_name}"
        raise


def _of_operands_alone(
    operator: Operator, expr: Call, context: Context, known: ResultsByOperands
) -> StructInfo:
    """The StructInfo of a call that is given tensors and no attributes, where no facts are known.

    Then the operands' StructInfos say all, and layers repeat them. A look-up costs a fifth of what
    a rule does. What is shared is also less to visit for whoever compares, hashes or prints.
    """
    infos: list[StructInfo] = []
    for arg in expr.args:
        # Nearly all operands are variables, which have theirs.
        kind = arg.__class__
        info = arg.struct_info if kind is DataflowVar or kind is Var else None
        infos.append(context.struct_info(arg) if info is None else info)
    found = known.find(operator.name, infos)
    if found is not None:
        return found
    undecided = known.undecided
    info = _of_operator(operator, expr, context)
    # A check that is deferred is noted for each call.
    tensors = all(given.__class__ is TensorStructInfo for given in infos)
    if tensors and known.undecided == undecided:
        return known.note(operator.name, infos, info)
    return info


def call_result(callee: FuncStructInfo, call: Call, context: Context = _NOTHING) -> StructInfo:
    """The StructInfo of what a call of a function with the StructInfo `callee` returns.

    Raises `OperandError` where the arguments do not fit.
    """
    if callee.params is None:
        return _derive_result(call, callee, context)
    return _beta_reduce(call, callee, context)


def check_argument_count(callee: FuncStructInfo, given: int) -> None:
    """Refuse a call with more or fewer arguments than the function has parameters (RX0206)."""
    params = callee.params
    if params is not None and len(params) != given:
        takes = f"takes {quantity(len(params), 'argument')}"
        raise OperandError(
            "callee", takes, code="RX0206", message=f"{{callee}} {takes}, not {given}",
        )  # fmt: skip


def _derive_result(expr: Call, callee: FuncStructInfo, context: Context) -> StructInfo:
    if callable(callee.derive_func):
        return callee.derive_func(expr, context)
    return callee.ret


def _beta_reduce(expr: Call, callee: FuncStructInfo, context: Context) -> StructInfo:
    """Rules 14.2.4 to 14.2.7: the callee's shape variables take the arguments' dimensions."""
    params = callee.params or ()
    check_argument_count(callee, len(expr.args))
    arguments = [context.struct_info(a) for a in expr.args]
    if all(equal_at_a_glance(a, p) and is_closed(p) for a, p in zip(arguments, params)):
        # So it is for most calls of PrimFuncs; to find that out below costs four times as much.
        return _in_scope(callee.ret, callee, {}, context)
    scope = context.shape_scope or ()
    known = None if context.facts is not None or len(scope) > _FEW else context.results
    if known is None or not is_closed(callee.ret):
        return _checked_result(arguments, callee, context)
    # Then the arguments decide whether they fit, and what is returned is the same for all. A
    # PrimFunc that layers repeat is called with the same StructInfos again and again.
    place, operands = frozenset(scope), [callee, *arguments]
    found = known.find(place, operands)
    if found is None:
        undecided = known.undecided
        found = _checked_result(arguments, callee, context)
        if known.undecided == undecided:
            known.note(place, operands, found)
    return found


# The shape variables in scope, of which a set is made for each call: most functions have one.
_FEW = 16


def _checked_result(
    arguments: Sequence[StructInfo], callee: FuncStructInfo, context: Context
) -> StructInfo:
    params = callee.params or ()
    # What is in scope has its value: only the function's own variables stand for the arguments'.
    scope = context.shape_scope or ()
    mapping = shape_var_mapping(params, arguments, scope)
    free: set[PrimExpr] = set()
    errors: list[OperandError] = []
    for position, (param, argument) in enumerate(zip(params, arguments), 1):
        expected = substitute_shape_vars(param, mapping)
        match param:
            case PrimStructInfo(dtype, PrimVar() as var) if (
                var not in mapping and var not in free and var not in scope
            ):
                free.add(var)  # it stands for whatever this argument is
                expected = PrimStructInfo.make(dtype, None)
        answer = check_compatibility(argument, expected, context.facts, in_scope=scope)
        # Sizes that come from an argument that does not fit are no reason to refuse another.
        if answer is NO and (not errors or _never_fits(argument, param, callee, scope)):
            errors.append(OperandError(
                f"argument {position}", mismatch_fact(argument, expected, in_scope=scope),
                code="RX0206", message=f"argument {position} does not fit the function's parameter",
                help=f"the parameter is `{expected!r}`", cast=cast_target(argument, expected),
                nature=nature_of_misfit(argument, expected),
            ))  # fmt: skip
        if answer is UNKNOWN and not errors:
            reason = (
                explain_mismatch(argument, expected, in_scope=scope) or "it cannot be known now"
            )
            context.require(
                DeferredCheck(f"argument {position}", argument, expected, "fits", reason)
            )
    if errors:
        errors[0].others = tuple(errors[1:])
        raise errors[0]
    result = substitute_shape_vars(callee.ret, mapping)
    if result is not callee.ret:
        _require_placements(result)
    return _in_scope(result, callee, mapping, context)


def _require_placements(result: StructInfo) -> None:
    """Refuse sizes with which devices cannot share a distributed tensor of the result."""
    if isinstance(result, TensorStructInfo):
        return
    for part in struct_info_parts(result):
        if isinstance(part, DTensorStructInfo):
            mistake = placement_mistake(part.tensor_sinfo, part.device_mesh, part.placement)
            if mistake is not None:
                raise OperandError(
                    "callee", f"gives `{part!r}`", code="RX0326", message=mistake.message,
                    help="call it with other sizes, or do not cut that axis",
                )  # fmt: skip


def cast_target(given: StructInfo, wanted: StructInfo) -> StructInfo | None:
    """`wanted`, where some value known as `given` may have it, so that a match_cast can succeed."""
    return None if check_compatibility(wanted, given) is NO else wanted


def nature_of_misfit(given: StructInfo, wanted: StructInfo) -> Nature:
    """The nature of a misfit: the values of dimensions, or already the kind, dtype or device."""
    pairs = None if wanted.is_scope else paired_parts(given, wanted)
    if pairs is None:
        return "type"
    rank = None if (sizes := wanted.sizes_role) is None or sizes.one_scalar else sizes.given
    for role in wanted.roles:
        if isinstance(role, Datum) and role.name != rank:
            mine, theirs = getattr(given, role.name), getattr(wanted, role.name)
            if not (role.is_unknown(theirs) or role.same(mine, theirs)):
                return "type"
    differ = [pair for pair in pairs if check_compatibility(*pair) is NO]
    return nature_of_misfit(*differ[0]) if differ else "value"


def _never_fits(
    argument: StructInfo, param: StructInfo, callee: FuncStructInfo, scope: Container[PrimVar]
) -> bool:
    """True if an argument does not fit a parameter, whatever the function's own variables are."""
    own = (v for p in callee.params or () for v in definable_shape_vars(p) if v not in scope)
    unknown = {v: type(v).make(v.name, v.dtype) for v in own}
    anything = substitute_shape_vars(param, unknown, scope)
    return check_compatibility(argument, anything, in_scope=scope) is NO


def _in_scope(
    info: StructInfo, callee: FuncStructInfo, mapping: Mapping[PrimVar, PrimExpr], context: Context
) -> StructInfo:
    if isinstance(info, ObjectStructInfo) or info is UNIT:
        return info
    known: set[PrimVar] = {v for e in mapping.values() for v in _vars(e)}
    if context.shape_scope is not None:
        known |= context.shape_scope
    foreign = {v for p in callee.params or () for v in shape_vars(p)} - known
    scope = context.shape_scope

    def visible(v: PrimVar) -> bool:
        return v in known or (scope is None and v not in foreign)

    return erase_to_well_defined(info, context.is_visible, visible)


def _vars(e: PrimExpr) -> list[PrimVar]:
    if isinstance(e, PrimVar):
        return [e]
    return shape_vars(PrimStructInfo.make(e.dtype, e)) if not isinstance(e, IntImm) else []


def _function(expr: Function, context: Context) -> StructInfo:
    result = expr.ret_struct_info
    if result is None:
        result = context.struct_info(expr.body)
    params = tuple([p.struct_info or OBJECT for p in expr.params])
    return FuncStructInfo.make(params, result, expr.is_pure)


def _prim_func(expr: PrimFunc, context: Context) -> StructInfo:
    """Rule 16: tensors for buffers, scalars for the rest, impure; the result is unit.

    A PrimFunc that declares a scalar result gives that.
    """
    params: list[StructInfo] = []
    for var in expr.params:
        buffer = expr.buffer_map.get(var)
        if buffer is None:
            params.append(PrimStructInfo.make(var.dtype, var))
        else:
            shape = ShapeExpr.make(buffer.shape)
            params.append(TensorStructInfo.make(shape, buffer.dtype, None, len(buffer.shape)))
    dtype = expr.returned_dtype
    result = UNIT if dtype is None else PrimStructInfo.make(dtype)
    return FuncStructInfo.make(tuple(params), result, False)


def function_struct_info(function: Expr) -> StructInfo:
    """The StructInfo of a function of a module: Relax function, PrimFunc or ExternFunc."""
    found: StructInfo | None = function.known_info
    return derive_struct_info(function) if found is None else found


def call_purity(call: Call, context: Context = _NOTHING) -> bool:
    """True if a call has no side effects (spec, "Checking Purity")."""
    if type(call.op) is Op:
        return lookup(call.op).pure
    return is_pure_callee(context.struct_info(call.op))


def is_pure_callee(info: StructInfo) -> bool:
    """True if calls of what is known by a StructInfo have no side effects."""
    return isinstance(info, FuncStructInfo) and info.params is not None and info.purity


def _global_var(expr: GlobalVar, context: Context) -> StructInfo:
    return context.signature(expr)


_RULES: dict[type, Callable[[Any, Context], StructInfo]] = {
    Call: _call,
    Constant: _constant,
    DataTypeImm: lambda e, c: OBJECT,
    ExternFunc: _extern,
    Function: _function,
    GlobalVar: _global_var,
    If: _if,
    Op: _op,
    PrimFunc: _prim_func,
    PrimValue: _prim_value,
    SeqExpr: _seq,
    ShapeExpr: _shape,
    StringImm: lambda e, c: OBJECT,
    Tuple: _tuple,
    TupleGetItem: _tuple_get_item,
}


hooks.struct_info_of.fill(derive_struct_info)
