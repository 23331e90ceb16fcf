"""VMShapeLower: checks and shapes written out."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.arith import YES
from relaxscript.builder import ExprMutator
from relaxscript.errors import Span
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm, PrimExpr, Var as ShapeVar
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import ObjectStructInfo, StructInfo, TupleStructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.op.base import compute_prim_value
from relaxscript.runtime.builtins import BUILTINS, INVOKE_CLOSURE
from relaxscript.semantics.check_calls import check_of, match_arguments, match_cast, match_result
from relaxscript.semantics.error_context import (
    name_of_matched,
    name_of_result,
    span_of_binding,
    span_of_result,
    span_of_signature,
)
from relaxscript.sinfo import (
    always_matches,
    definable_shape_vars,
    erase_to_well_defined,
    free_shape_vars,
    is_subtype,
)
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .compute_prim_value import HOST_FUNC
from .remove_unused_checks import TRUST_STRUCT_INFO

__all__ = ["LOWERED", "VMShapeLower"]

# The attribute of a function whose checks are all written out.
LOWERED = "relax.shapes_lowered"


class VMShapeLower(FunctionPass):
    """Write checks of arguments, match_casts and results out as calls, and bind computed shapes.

    Before:

        @R.function
        def main(x: R.Tensor(("n",), "float32"), y: R.Object):
            n = T.int64()
            z = R.match_cast(y, R.Tensor((n, n), "float32"))
            w = R.reshape(z, R.shape([n * n]))
            return w

    After:

        @R.function
        def main(x: R.Tensor(("n",), "float32"), y: R.Object):
            n = T.int64()
            R.func_attr({"relax.force_pure": True, "relax.shapes_lowered": True})
            _ = R.call_builtin_with_ctx(
                "vm.builtin.match_arguments", (x, y),
                sinfo_args=R.Tuple(R.Tensor((n,), "float32"), R.Object),
            )
            z = R.match_cast(y, R.Tensor((n, n), "float32"))
            _ = R.call_builtin_with_ctx(
                "vm.builtin.match_cast", (z, R.str("`y`")),
                sinfo_args=R.Tensor((n, n), "float32"),
            )
            shape: R.Shape([n * n]) = R.shape([n * n])
            w = R.reshape(z, shape)
            return w

    A check is one call, however much it asks for; all that it asks for is its StructInfo. What is
    known to hold is not checked. In the function afterwards, StructInfo by itself is not checked:
    a `R.match_cast` only says what is known from there on. What a function from outside gives is
    checked where it is called. Shapes that come in a row are computed once. Local functions are
    lifted before, so that all their parameters are checked, captured ones too.

    With `emit_err_ctx=False` messages do not say which value it is that does not fit.

    Source: RFC "shape lowering"; TVM `relax.transform.VMShapeLower`.
    """

    changes_signatures = True
    adds_functions = True
    required = ("ToNonDataflow", "LambdaLift", "RemovePurityChecking", "CallTIRRewrite")

    def __init__(self, *, emit_err_ctx: bool = True) -> None:
        self.emit_err_ctx = emit_err_ctx

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        if (func.attrs or Attrs()).get(LOWERED):
            return func
        return _Lowering(mod, self.emit_err_ctx).function(func)


_Shapes = dict[tuple[PrimExpr | int, ...], Var]


class _Lowering(ExprMutator):
    """Lowers one function. `bound` are the shape variables that have values by now."""

    def __init__(self, mod: IRModule, with_words: bool) -> None:
        super().__init__(mod)
        self.with_words = with_words
        self.bound: set[ShapeVar] = set()
        self.trusts = False
        self.shapes: _Shapes = {}  # those at hand in this scope
        # What there was around each open function and branch.
        self.outer: list[tuple[set[ShapeVar], _Shapes, bool]] = []

    # -- functions ---------------------------------------------------------------------------------

    def attributes(self, func: Function) -> Attrs:
        return (func.attrs or Attrs()).with_item(LOWERED, True)

    def begin(self, func: Function) -> None:
        self._save()
        self.shapes, self.trusts = {}, bool((func.attrs or Attrs()).get(TRUST_STRUCT_INFO))
        infos = [param.struct_info for param in func.params]
        self.bound.update(v for info in infos for v in definable_shape_vars(info))
        if infos:
            span = span_of_signature(func)
            wanted = TupleStructInfo.make(tuple(infos))
            self._emit_check(match_arguments(func.params, wanted, span), wanted, span)

    def result(self, func: Function, value: Expr) -> Expr:
        returned, declared = self._leaf(value, value.span), func.ret_struct_info
        if declared is not None and not self.trusts and not self._is_known(value, declared):
            span = span_of_result(func)
            self._emit_check(match_result(returned, declared, span), declared, span)
        return returned

    def branch_result(self, choice: If, value: Expr) -> Expr:
        return self._leaf(value, value.span)

    def end_scope(self, node: Function | SeqExpr) -> None:
        super().end_scope(node)
        if isinstance(node, Function):
            self._restore()

    def begin_branch(self, choice: If, taken: bool) -> None:
        super().begin_branch(choice, taken)
        self._save()

    def end_branch(self, choice: If, taken: bool) -> None:
        super().end_branch(choice, taken)
        self._restore()

    def _save(self) -> None:
        self.outer.append((set(self.bound), dict(self.shapes), self.trusts))

    def _restore(self) -> None:
        self.bound, self.shapes, self.trusts = self.outer.pop()

    # -- bindings ----------------------------------------------------------------------------------

    def binding(self, binding: Binding) -> None:
        span, value = span_of_binding(binding), binding.value
        lowered = self._value(value, span)
        if isinstance(binding, MatchCast):
            self._cast(binding, lowered, span)
            return
        if lowered is value:
            self.keep(binding)
        else:
            self.rebind(binding, lowered)
        if _is_builtin(value) and not isinstance(
            known := self._struct_info_of(value), ObjectStructInfo
        ):
            words = name_of_result(binding, lambda var: None)
            self._check(binding.var, words, self._in_scope(known), span)
        var, promised = binding.var, binding.var.struct_info
        if promised is None or self.trusts or self._is_known(value, promised):
            return
        if not _is_computed(value, self.mod):
            self._check(var, f"`{var.name_hint}`", self._in_scope(promised), span)

    def _cast(self, binding: MatchCast, value: Expr, span: Span | None) -> None:
        info = binding.struct_info
        known, facts = self.builder.struct_info(binding.value), self.builder.context.facts
        self.keep(binding if value is binding.value else binding.replace(value=value))
        if not always_matches(known, info, self.bound, facts):
            self.bound.update(definable_shape_vars(info))
            self._check(binding.var, name_of_matched(binding), info, span)

    def _check(self, value: Expr, words: str, info: StructInfo, span: Span | None) -> None:
        said = words if self.with_words else "the value"
        self._emit_check(match_cast(value, said, info, span), info, span)

    def _emit_check(self, check: Call, info: StructInfo, span: Span | None) -> None:
        """Write a check, which is in normal form, and of which nothing is to be derived."""
        self.changed = True
        remember_struct_info(check, info)
        self.builder.emit_normalized(VarBinding.make(Var.make("_", info), check, span=span))

    def _is_known(self, value: Expr, wanted: StructInfo) -> bool:
        """True if a value needs no check."""
        if isinstance(wanted, ObjectStructInfo) or check_of(value) is not None:
            return True
        known, facts = self._struct_info_of(value), self.builder.context.facts
        return known is wanted or is_subtype(known, wanted, facts, in_scope=self.bound) is YES

    def _struct_info_of(self, value: Expr) -> StructInfo:
        return self.builder.struct_info(value)

    def _in_scope(self, info: StructInfo) -> StructInfo:
        """`info` without what refers to shape variables that have no value here."""
        bound = self.bound
        if all(v in bound for v in free_shape_vars(info)):
            return info
        return erase_to_well_defined(info, lambda v: True, lambda v: v in bound)

    # -- shapes ------------------------------------------------------------------------------------

    def _value(self, value: Expr, span: Span | None) -> Expr:
        """The value of a binding, the shapes in it bound to variables before it."""
        match value:
            case Call(args=args) if not _have_shapes(args) or value.op == compute_prim_value.op:
                return value
            case Call(args=args):
                lowered = self._leaves(args, span)
                return value if lowered is args else value.replace(args=lowered)
            case TupleGetItem(tuple_value=inner):
                leaf = self._leaf(inner, span)
                return value if leaf is inner else value.replace(tuple_value=leaf)
            case Tuple():
                return self._leaf(value, span)
            case ShapeExpr(values) if not _is_constant(values):
                return self._shape(values, span)
        return value

    def _leaves(self, values: tuple[Expr, ...], span: Span | None) -> tuple[Expr, ...]:
        lowered = tuple([self._leaf(value, span) for value in values])
        changed = any(a is not b for a, b in zip(lowered, values, strict=True))
        return lowered if changed else values

    def _leaf(self, value: Expr, span: Span | None) -> Expr:
        """An operand, its shapes bound to variables before it."""
        match value:
            case ShapeExpr(values) if not _is_constant(values):
                return self._shape(values, span)
            case Tuple(fields):
                lowered = self._leaves(fields, span)
                return value if lowered is fields else value.replace(fields=lowered)
        return value

    def _shape(self, values: Sequence[PrimExpr], span: Span | None) -> Var:
        """A variable that holds a shape; kernels in a row mostly ask for the same."""
        key = tuple(e.value if isinstance(e, IntImm) else e for e in values)
        if key not in self.shapes:
            made = ShapeExpr.make(tuple(values), span=span)
            self.shapes[key] = self.emit(made, "shape", span)
        return self.shapes[key]


def _is_computed(value: Expr, mod: IRModule) -> bool:
    """True if a PrimFunc was made to compute just what the variable of a value says."""
    match value:
        case Call(op=GlobalVar() as callee) if callee in mod:
            function = mod[callee]
            attrs = function.attrs if isinstance(function, PrimFunc) else None
            return bool((attrs or Attrs()).get(HOST_FUNC))
    return False


def _is_builtin(value: Expr) -> bool:
    """True for a call of a function of the machine, whose result nobody else checks."""
    match value:
        case Call(op=ExternFunc(name), sinfo_args=(info,)):
            is_unit = isinstance(info, TupleStructInfo) and not info.fields
            return name in BUILTINS and name != INVOKE_CLOSURE and not is_unit
    return False


def _have_shapes(values: Sequence[Expr]) -> bool:
    """True if there are shapes among operands, or tuples, in which there may be some."""
    return not _SHAPES.isdisjoint([value.__class__ for value in values])


_SHAPES = frozenset({ShapeExpr, Tuple})


def _is_constant(values: Sequence[PrimExpr]) -> bool:
    return all(isinstance(e, IntImm) for e in values)
