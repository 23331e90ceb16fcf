"""Deriving the StructInfo of every value again: it must not contradict what is annotated.

Whatever is only possible is left to the run time. Purity is looked at, too: what is derived of a
function says whether its calls have side effects.
"""

from __future__ import annotations

from relaxscript.arith import NO, YES, Facts
from relaxscript.errors import OperandError
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    Expr,
    Function,
    If,
    MatchCast,
    PrimValue,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    PrimStructInfo,
    StructInfo,
    TensorStructInfo,
)
from relaxscript.op import ArgumentError
from relaxscript.sinfo import check_compatibility, explain_mismatch, facts_in_branch
from relaxscript.visitor import ScopedVisitor

from .derive import Context, call_purity, rederive_struct_info
from .purity import claims_purity, impurity
from .violation import Violation

__all__ = ["struct_info_violations"]


def struct_info_violations(
    obj: IRModule | Function, module: IRModule | None = None
) -> list[Violation]:
    """The objections of the derivation rules to a program that meets the criteria.

    A function may be looked at as one of `module`, which says what it calls.
    """
    module = obj if isinstance(obj, IRModule) else module
    checker = _StructInfoChecker(module)
    functions = [obj] if isinstance(obj, Function) else obj.relax_functions().values()
    for function in functions:
        checker.visit(function)
    return checker.found


class _StructInfoChecker(ScopedVisitor):
    """Looks at everything in a function after its parts."""

    def __init__(self, module: IRModule | None) -> None:
        super().__init__()
        self.found: list[Violation] = []
        self._context = Context(module)
        self._alone = module is None
        self._context.shape_scope = self.shape_vars
        # What is known around each function and branch that is open.
        self._outer_facts: list[Facts | None] = []
        # Expressions of which nothing can be derived; what holds them fails for no other reason.
        self._failed: set[int] = set()
        # A binding asks again what was derived of its value just before.
        self._derived_last: tuple[Expr | None, StructInfo] = (None, ObjectStructInfo())

    def begin_scope(self, node: Function | SeqExpr) -> None:
        if isinstance(node, Function):  # which may be called elsewhere than where it is
            self._with_facts(None)

    def end_scope(self, node: Function | SeqExpr) -> None:
        if isinstance(node, Function):
            self._look_at(node)
            self._context.facts = self._outer_facts.pop()

    def begin_branch(self, choice: If, taken: bool) -> None:
        facts, condition = self._context.facts, choice.cond
        if isinstance(condition, (Var, PrimValue)):
            facts = facts_in_branch(self._context.struct_info(condition), taken, facts)
        self._with_facts(facts)

    def end_branch(self, choice: If, taken: bool) -> None:
        self._context.facts = self._outer_facts.pop()

    def _with_facts(self, facts: Facts | None) -> None:
        self._outer_facts.append(self._context.facts)
        self._context.facts = facts

    def leave(self, node: Node) -> None:
        if not isinstance(node, Function):
            self._look_at(node)

    @property
    def _is_in_pure_function(self) -> bool:
        function = self.functions[-1]
        return claims_purity(function.is_pure, function.attrs)

    def _look_at(self, node: Node) -> None:
        if self._failed and any(id(part) in self._failed for part in _parts(node)):
            self._fail(node)
            return
        try:
            match node:
                case Call():
                    self._call(node)
                case TupleGetItem() | Tuple():
                    self._rederive(node)
                case If(cond):
                    self._condition(cond, node)
                case Binding():
                    self._binding(node)
                case Function(body=body, ret_struct_info=StructInfo() as declared):
                    given = self._context.struct_info(body)
                    result, within = (
                        (body.body, body) if isinstance(body, SeqExpr) else (body, node)
                    )
                    self._fits(
                        given, declared, "the result", "the return annotation", result, within
                    )
        except (OperandError, ArgumentError) as error:
            # Of a function alone it is not known what its module has.
            if not (self._alone and error.code == "RX0101"):
                self.found.append(_failure(error, node))
            self._fail(node)

    def _fail(self, node: Node) -> None:
        if isinstance(node, Expr) and not isinstance(node, Function):
            self._failed.add(id(node))

    def _rederive(self, expr: Expr) -> StructInfo:
        """The StructInfo of an expression by the rules now, whatever was said of it before."""
        if expr.known_info is None:
            return self._context.struct_info(expr)
        if self._derived_last[0] is not expr:
            self._derived_last = (expr, rederive_struct_info(expr, self._context))
        return self._derived_last[1]

    def _call(self, call: Call) -> None:
        self._rederive(call)
        pure = self.in_dataflow or self._is_in_pure_function
        if pure and not call_purity(call, self._context):
            code, message, help = impurity(call, self.in_dataflow, self._context)
            self.found.append(Violation(code, message, call, None, help))

    def _condition(self, cond: Expr, within: Node) -> None:
        match self._context.struct_info(cond):
            case TensorStructInfo(dtype=dtype, ndim=rank) if dtype in ("bool", "void") and rank < 1:
                pass
            case PrimStructInfo(dtype=dtype) if dtype.is_bool:
                pass
            case info:
                message = "the condition of `if` must be a bool scalar"
                violation = Violation("RX0201", message, cond, within, fact=f"is `{info!r}`")
                self.found.append(violation)

    def _binding(self, binding: Binding) -> None:
        annotated = binding.var.struct_info
        if annotated is None:
            message = f"nothing is known of the variable `{binding.var.name_hint}`"
            self.found.append(Violation("RX0205", message, binding.var, binding, "type it"))
            return
        if isinstance(binding, MatchCast):
            self._cast(binding, annotated)
            return
        if isinstance(binding.value, (Call, Tuple, TupleGetItem)):
            given = self._rederive(binding.value)
        else:
            given = self._context.struct_info(binding.value)
        self._fits(given, annotated, "the value", "the annotation", binding.value, binding)

    def _cast(self, binding: MatchCast, annotated: StructInfo) -> None:
        """Rule 11.3.4: what is checked says all that is annotated."""
        given = binding.struct_info
        if check_compatibility(given, annotated) is not YES:
            message = "the value does not fit the annotation"
            fact = explain_mismatch(given, annotated) or ""
            self.found.append(Violation("RX0205", message, binding.value, binding, fact=fact))

    def _fits(
        self, given: StructInfo, wanted: StructInfo, what: str, declared: str, node: Node,
        within: Node,
    ) -> None:  # fmt: skip
        facts = self._context.facts
        if check_compatibility(given, wanted, facts) is NO:
            message = f"{what} does not fit {declared}"
            fact = explain_mismatch(given, wanted, facts) or ""
            self.found.append(Violation("RX0205", message, node, within, fact=fact))


def _failure(error: OperandError | ArgumentError, node: Node) -> Violation:
    if isinstance(error, ArgumentError):
        return Violation(error.code, error.message, node, None, error.help)
    callee = error.callee or "the function"
    message = error.diagnostic(callee, None, {}).message
    fact = "; ".join(f"`{name}` {fact}" for name, fact in error.facts.items())
    return Violation(error.code, message, node, None, error.help, fact)


def _parts(node: Node) -> tuple[Node, ...]:
    """The parts of a node that are evaluated, in order; annotations are not."""
    match node:
        case Call(op, args):
            return (op, *args)
        case Tuple(fields):
            return fields
        case TupleGetItem(value):
            return (value,)
        case If(cond, true_branch, false_branch):
            return (cond, true_branch, false_branch)
        case Function(body=body):
            return (body,)
        case SeqExpr(blocks, body):
            return (*blocks, body)
        case BindingBlock(bindings):
            return bindings
        case Binding() as binding:
            return (binding.value,)
    return ()
