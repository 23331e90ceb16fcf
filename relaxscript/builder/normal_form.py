"""Normal form and typing: how an expression becomes a binding.

The criteria are those of the spec, "Normal Form" 1-5: operands are leaves, branches and bodies are
SeqExprs, blocks are consolidated, and calls of operators satisfy their own rules.
"""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.analysis.derive import cast_target, is_pure_callee, nature_of_misfit
from relaxscript.analysis.normal_form import is_normal
from relaxscript.analysis.purity import impurity
from relaxscript.arith import NO, UNKNOWN, YES
from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, OperandError, Remark, Span
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    If,
    LeafExpr,
    MatchCast,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import rewrite_top_down
from relaxscript.op import DeferredCheck, Trait, lookup
from relaxscript.sinfo import (
    check_compatibility,
    definable_shape_vars,
    erase_to_well_defined,
    explain_mismatch,
    explain_never,
)

from .scope import ScopeStack, no_open_function

__all__ = [
    "Normalizer", "info_behind_block", "is_left_to_run_time", "is_simple", "operands_of",
    "same_info", "with_operands",
]  # fmt: skip

BOOL = DataType("bool")
_VARIABLES = frozenset({DataflowVar, Var})


class Normalizer(ScopeStack):
    """Appends bindings to the current scope; raises `OperandError`, for callers to place."""

    def set_result(self, expr: Expr, span: Span | None = None) -> None:
        """The value that the function returns, and where it is."""
        self._frames[-1].result = self.operand(expr)
        self._frames[-1].result_span = span

    def bind(
        self, expr: Expr, name_hint: str = "", span: Span | None = None,
        annotation: StructInfo | Callable[[], StructInfo] | None = None, outlives: bool = False,
        likely: StructInfo | None = None,
    ) -> Var:  # fmt: skip
        """`emit` for callers that place blame themselves: raises `OperandError`.

        `annotation` is the declared StructInfo: it must be compatible, and wins (rule 11.2.3).
        Where the value's own is the same as `likely`, it is that one too, and is not looked at.
        """
        scope = self.current_scope
        expr = self._normalize_call(expr) if expr.__class__ is Call else self.normal(expr)
        info = expr.known_info if expr.__class__ is Call else None
        if info is None:
            info = self._derive(expr)
        if annotation is not None and (likely is None or not same_info(info, likely)):
            wanted = annotation if isinstance(annotation, StructInfo) else annotation()
            self.check_fits(info, wanted, "the value", "the annotation", "RX0205")
            info = wanted
        if scope.dataflow and not outlives:
            var: Var = DataflowVar.make(name_hint or self.get_unique_name("lv"), info, span=span)
        else:
            if scope.dataflow:
                info = info_behind_block(info)
            var = Var.make(name_hint or self.get_unique_name("gv"), info, span=span)
        binding = VarBinding.make(var, expr, span=span)
        scope.bindings.append(binding)
        scope.vars.append(var)
        self._log.append(binding)
        return var

    def _derive(self, expr: Expr) -> StructInfo:
        """The StructInfo of a value; of one that is ill-typed, where that may be, what it says."""
        try:
            return self.context.struct_info(expr)
        except OperandError:
            if self.check_types:
                raise
        infos = expr.sinfo_args if isinstance(expr, Call) else ()
        if len(infos) == 1:
            return infos[0]
        return TupleStructInfo.make(infos) if infos else ObjectStructInfo()

    def bind_match_cast(
        self, value: Expr, struct_info: StructInfo, name_hint: str = "", span: Span | None = None,
        outlives: bool = False, cast_span: Span | None = None,
        annotation: StructInfo | None = None,
    ) -> Var:  # fmt: skip
        """`match_cast` for callers that place blame themselves (rule 11.3).

        `annotation` is the declared StructInfo: whatever passes the check has it, and it wins.
        """
        value = self.operand(value)
        known = self.struct_info(value)
        reason = explain_never(known, struct_info, self.context.facts, in_scope=self._shape_scope)
        if reason is not None:
            self._defer_check(DeferredCheck("value", known, struct_info, "never", reason))
        dataflow = self.current_block_is_dataflow() and not outlives
        kind = DataflowVar if dataflow else Var
        name = name_hint or self.get_unique_name("lv" if dataflow else "gv")
        info = annotation or struct_info
        if annotation is not None:
            self._check_declared(struct_info, annotation)
        if outlives:
            info = info_behind_block(info)
        var = kind.make(name, info, span=span)
        self._append(MatchCast.make(var, value, struct_info, span=cast_span or span))
        self._define_shape_vars(struct_info)
        return var

    def _check_declared(self, struct_info: StructInfo, annotation: StructInfo) -> None:
        """Rule 11.3.4: what is checked says all that is declared; nothing else would check it."""
        if not self.check_types:
            return
        facts, scope = self.context.facts, {*self._shape_scope, *definable_shape_vars(struct_info)}
        if check_compatibility(struct_info, annotation, facts, in_scope=scope) is not YES:
            reason = explain_mismatch(struct_info, annotation, facts, in_scope=scope)
            fact = Remark(reason) if reason else f"is {struct_info.noun}"
            raise OperandError(
                "the value", fact, code="RX0205",
                message="the value does not fit the annotation",
                help=f"it is `{struct_info!r}`, declared as `{annotation!r}`",
                nature=nature_of_misfit(struct_info, annotation),
            )  # fmt: skip

    def emit_function(self, var: Var, function: Function) -> None:
        """Bind a local function to a variable that its own body may mention."""
        self._append(VarBinding.make(var, function, span=var.span))

    def emit_normalized(self, binding: Binding) -> None:
        """Append a binding as it is; it must be in normal form and typed."""
        if not self._scopes:
            raise no_open_function()
        if not isinstance(binding, Binding):
            message = f"{binding!r} is no binding"
            help = "write for example `VarBinding(var, value)`"
            raise DiagnosticError(Diagnostic("RX0201", message, caller_span(), help=help))
        # As `_append` does: most bindings of most passes come by here.
        scope = self._scopes[-1]
        scope.bindings.append(binding)
        scope.vars.append(binding.var)
        self._log.append(binding)
        if isinstance(binding, MatchCast):
            self._define_shape_vars(binding.struct_info)

    def _append(self, binding: Binding) -> None:
        scope = self.current_scope
        scope.bindings.append(binding)
        scope.vars.append(binding.var)
        self._log.append(binding)

    def check_fits(
        self, given: StructInfo, wanted: StructInfo, operand: str, declared: str, code: str
    ) -> None:
        """Raise when a value cannot fit its declaration; note a deferred check when it may not."""
        if given is wanted or not self.check_types:
            return
        facts, scope = self.context.facts, self._shape_scope
        answer = check_compatibility(given, wanted, facts, in_scope=scope)
        if answer is NO:
            reason = explain_mismatch(given, wanted, facts, in_scope=scope)
            fact = Remark(reason) if reason else f"is {given.noun}"
            raise OperandError(
                operand, fact, code=code, message=f"{operand} does not fit {declared}",
                help=f"it is `{given!r}`, declared as `{wanted!r}`",
                cast=cast_target(given, wanted), nature=nature_of_misfit(given, wanted),
            )  # fmt: skip
        if answer is UNKNOWN:
            reason = (
                explain_mismatch(given, wanted, facts, in_scope=scope) or "it cannot be known now"
            )
            self._defer_check(DeferredCheck(operand, given, wanted, "fits", reason))

    # ---- normal form

    def normal(self, expr: Expr) -> Expr:
        """The expression in normal form; operands that are not leaves are bound to variables.

        A SeqExpr is flattened into the current scope; branches and bodies become SeqExprs.
        """
        match expr:
            case Call():
                return self._normalize_call(expr)
            case Tuple():
                return _normalize_tuple(self, expr)
            case LeafExpr():
                return expr
            case TupleGetItem():
                value = self.operand(expr.tuple_value)
                if isinstance(value, Tuple) and 0 <= expr.index < len(value.fields):
                    return value.fields[expr.index]
                return expr.replace(tuple_value=value)
            case If():
                return self._normalize_if(expr)
            case SeqExpr():
                return self._flatten(expr)
            case Function():
                return self._normalize_function(expr)
        return expr

    def operand(self, expr: Expr, name_hint: str = "") -> Expr:
        """The expression as a leaf: itself when it is one, else the variable it is bound to."""
        if isinstance(expr, LeafExpr) and type(expr) is not Tuple:
            return expr
        normal = self.normal(expr)
        if isinstance(normal, LeafExpr):
            return normal
        return self.bind(normal, name_hint, span=expr.span)

    def _normalize_call(self, call: Call) -> Call:
        args, op = call.args, call.op
        if type(op) is not Op and not is_simple(op):
            # The callee is evaluated before its arguments (spec, Evaluating Expressions, 12.2).
            (op,) = _bound_inside(self, (op,)) if _is_nested(op) else (op,)
            op = self.operand(op)
            call = call.replace(op=op)
        for arg in args:
            # Nearly all operands are variables.
            if arg.__class__ not in _VARIABLES and not (is_simple(arg) or _is_flat(arg)):
                if any(_is_nested(a) for a in args) or len(set(map(id, args))) < len(args):
                    args = _bound_inside(self, args)
                args = tuple([self.operand(a) for a in args])
                if any(a is not b for a, b in zip(args, call.args)):
                    call = call.replace(args=args)
                break
        if type(op) is Op:
            operator = lookup(op)
            normalize = operator.normalize
            if normalize is not None:
                made = normalize(call)
                if made is not call:
                    call = made.replace(args=tuple([self.operand(a) for a in made.args]))
            pure = operator.pure
            self.writes_in_place |= Trait.WRITES_ARGS in operator.traits
        else:
            # To look the callee up where nobody asks would cost as much as all the rest.
            pure = not _requires_purity(self) or _is_pure(self, op)
        if not pure:
            self._check_purity(call)
        return call

    def _check_purity(self, call: Call) -> None:
        if _requires_purity(self):
            in_dataflow = self.current_block_is_dataflow()
            code, message, help = impurity(call, in_dataflow, self.context)
            raise OperandError("callee", "has side effects", code=code, help=help, message=message)

    def _normalize_if(self, expr: If) -> If:
        if self.check_well_formed and self.current_block_is_dataflow():
            raise OperandError(
                "if", "is control flow", code="RX0307",
                message="`if` is not allowed in a dataflow block",
                help="move it out of the dataflow block",
            )  # fmt: skip
        cond = self.operand(expr.cond)
        self.check_condition(cond)
        with self.context.branch(cond, True):
            true_branch = self._branch(expr.true_branch)
        with self.context.branch(cond, False):
            false_branch = self._branch(expr.false_branch)
        return expr.replace(cond=cond, true_branch=true_branch, false_branch=false_branch)

    def check_condition(self, cond: Expr) -> None:
        """The condition of `If` must be a Bool scalar: a tensor of rank 0, or a Prim."""
        match self.struct_info(cond):
            case TensorStructInfo(dtype=dtype, ndim=rank) if dtype in ("bool", "void") and rank < 1:
                return
            case PrimStructInfo(dtype=dtype) if dtype is BOOL:
                return
            case info:
                help = _instead_of_condition(info)
                compared = help is not None and help.startswith("compare")
                raise OperandError(
                    "condition", f"is `{info!r}`", code="RX0201",
                    message="the condition of `if` must be a bool scalar", help=help,
                    fix={"condition": "{} != 0"} if compared else None,
                )  # fmt: skip

    def _branch(self, expr: Expr) -> SeqExpr:
        if isinstance(expr, SeqExpr) and (
            expr in self._finished or (expr.known_info is not None and is_normal(expr))
        ):
            return expr
        self.begin_scope()
        return self.end_scope(self.operand(expr), span=expr.span)

    def _flatten(self, seq: SeqExpr) -> Expr:
        for block in seq.blocks:
            self._enter_block(block)
        return self.normal(self._with_typed(seq.body))

    def _enter_block(self, block: BindingBlock) -> None:
        inside = self.current_block_is_dataflow()
        enters = isinstance(block, DataflowBlock) and not inside
        if inside and not isinstance(block, DataflowBlock):
            raise OperandError(
                "block", "is no dataflow block", code="RX0325",
                message="an ordinary binding block is not allowed inside a dataflow block",
                help="move it out of the dataflow block",
            )  # fmt: skip
        if enters:
            self.begin_dataflow()
        for binding in block.bindings:
            self._emit_again(binding)
        if enters:
            self.end_dataflow()

    def _emit_again(self, binding: Binding) -> None:
        """Append a binding of a hand-built program, typing its variable where that is needed."""
        value, var = self.normal(self._with_typed(binding.value)), binding.var
        if var.struct_info is None:
            # Nodes are frozen, so a variable that is described takes its place from here on.
            cast = isinstance(binding, MatchCast)
            info = binding.struct_info if cast else self.struct_info(value)
            typed = type(var).make(var.name_hint, info, span=var.span)
            self._typed[var], var = typed, typed
        self.emit_normalized(binding.replace(var=var, value=value))

    def _with_typed(self, expr: Expr) -> Expr:
        """The expression with the variables that `_emit_again` described."""
        return rewrite_top_down(expr, self._typed.get) if self._typed else expr

    def _normalize_function(self, function: Function) -> Function:
        if function.ret_struct_info is not None and (
            function.body in self._finished or is_normal(function)
        ):
            return function
        self.begin_function("local", function.params, function.is_pure, function.attrs)
        try:
            self.set_result(self.normal(function.body))
            return self.end_function(function.ret_struct_info, span=function.span)
        except BaseException:
            self.abandon_function()
            raise


def info_behind_block(info: StructInfo) -> StructInfo:
    """The StructInfo of a value after its dataflow block: no variable of the block is in it."""
    return erase_to_well_defined(info, lambda var: not isinstance(var, DataflowVar), None)


def is_left_to_run_time(
    builder: ScopeStack, declared: StructInfo, infos: tuple[StructInfo, ...]
) -> bool:
    """True if for each of `infos` it is checked when the program runs whether it is as declared."""
    facts, scope = builder.context.facts, builder.context.shape_scope or ()
    answers = (check_compatibility(info, declared, facts, in_scope=scope) for info in infos)
    return all(answer is UNKNOWN for answer in answers)


def _is_pure(builder: Normalizer, op: Expr) -> bool:
    """True for callees without side effects, and for what is refused when the call is typed."""
    callee = builder.struct_info(op)
    return not isinstance(callee, FuncStructInfo) or is_pure_callee(callee)


def _requires_purity(builder: Normalizer) -> bool:
    """True where no impure call may be."""
    in_pure = bool(builder._frames) and builder._frames[-1].checks_purity
    return builder.check_well_formed and (in_pure or builder.current_block_is_dataflow())


def is_simple(expr: Expr) -> bool:
    return isinstance(expr, LeafExpr) and type(expr) is not Tuple


def _is_flat(expr: Expr) -> bool:
    """True for a tuple of simple fields, as which a call of a PrimFunc has its arguments."""
    return type(expr) is Tuple and all(map(is_simple, expr.fields))


def _is_nested(expr: Expr) -> bool:
    """True if an operand of a call has operands that must be bound first."""
    return any(not is_simple(inner) for inner in operands_of(expr))


def _bound_inside(builder: Normalizer, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Operands of operands are bound innermost first, however deep they nest.

    One expression that occurs in several places is one value.
    """
    done: dict[int, Expr] = {}
    pending = list(reversed(args))
    while pending:
        expr = pending[-1]
        inner = [e for e in operands_of(expr) if id(e) not in done and not is_simple(e)]
        if inner:
            pending.extend(reversed(inner))
            continue
        pending.pop()
        if id(expr) not in done and not is_simple(expr):
            done[id(expr)] = builder.operand(with_operands(expr, done))
    return tuple([done.get(id(a), a) for a in args])


def _normalize_tuple(builder: Normalizer, expr: Tuple) -> Expr:
    fields = expr.fields
    if not all(map(is_simple, fields)):
        fields = tuple([builder.operand(f) for f in _bound_inside(builder, fields)])
    if all(a is b for a, b in zip(fields, expr.fields)):
        return expr
    return expr.replace(fields=fields)


def operands_of(expr: Expr) -> tuple[Expr, ...]:
    """The operands in the order in which they are evaluated; an operator is none."""
    match expr:
        case Call(op=Op()):
            return expr.args
        case Call():
            return (expr.op, *expr.args)
        case Tuple():
            return expr.fields
        case TupleGetItem():
            return (expr.tuple_value,)
    return ()


def with_operands(expr: Expr, done: dict[int, Expr]) -> Expr:
    """The expression over the leaves that its operands were bound to."""
    operands = tuple([done.get(id(e), e) for e in operands_of(expr)])
    match expr:
        case Call(op=Op()):
            return expr.replace(args=operands)
        case Call():
            return expr.replace(op=operands[0], args=operands[1:])
        case Tuple():
            return expr.replace(fields=operands)
        case TupleGetItem():
            return expr.replace(tuple_value=operands[0])
    return expr


def same_info(info: StructInfo, other: StructInfo) -> bool:
    """True if two StructInfos are one; quick for tensors with simple dimensions."""
    if info.__class__ is not TensorStructInfo or other.__class__ is not TensorStructInfo:
        return structural_equal(info, other)
    mine, theirs = info.dims, other.dims
    if mine is None or theirs is None:
        return structural_equal(info, other)
    if info.dtype is not other.dtype or info.vdevice is not other.vdevice:
        return False
    for x, y in zip(mine, theirs):
        if x is not y:
            if x.__class__ is not IntImm or y.__class__ is not IntImm:
                return structural_equal(info, other)
            if x.value != y.value or x.dtype is not y.dtype:
                return False
    return len(mine) == len(theirs)


def _instead_of_condition(info: StructInfo) -> str | None:
    """The help where something else than one truth decides."""
    match info:
        case TensorStructInfo(dtype=dtype, ndim=ndim) if ndim > 0 and dtype is BOOL:
            return "choose element by element: `R.where(condition, a, b)`"
        case PrimStructInfo() | TensorStructInfo(ndim=0):
            return "compare it: `condition != 0`"
    return None
