"""Deriving the StructInfo of every value again: it must not contradict what is annotated.

Whatever is only possible is left to the run time. Purity is looked at, too: what is derived of a
function says whether its calls have side effects.
"""

from __future__ import annotations

from relaxscript.arith import NO, YES, Facts
from relaxscript.errors import OperandError
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
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
from relaxscript.sinfo import (
    check_compatibility,
    definable_shape_vars,
    explain_mismatch,
    facts_in_branch,
)

from .derive import Context, call_purity, derived_again
from .purity import claims_purity, impurity
from .violation import Finding

__all__ = ["retyped"]


def retyped(obj: IRModule | Function) -> list[Finding]:
    """What the derivation rules say against a program that meets the criteria."""
    module = obj if isinstance(obj, IRModule) else None
    check = _Retyping(module)
    functions = [obj] if isinstance(obj, Function) else obj.relax_functions().values()
    for function in functions:
        check.function(function)
    return check.found


class _Place:
    """The function and kind of block in which something stands, and what conditions say there."""

    __slots__ = ("dataflow", "facts", "function")

    def __init__(
        self, function: Function, dataflow: bool = False, facts: Facts | None = None
    ) -> None:
        self.function = function
        self.dataflow = dataflow
        self.facts = facts

    @property
    def is_pure(self) -> bool:
        return claims_purity(self.function.is_pure, self.function.attrs)


class _Retyping:
    """Looks at everything in a function after its parts."""

    def __init__(self, module: IRModule | None) -> None:
        self.found: list[Finding] = []
        self._context = Context(module)
        self._alone = module is None
        # The shape variables in scope; for each open function and SeqExpr, those that it brought.
        self._shapes: set[PrimVar] = set()
        self._brought: list[list[PrimVar]] = []
        self._context.shape_scope = self._shapes
        # Expressions of which nothing can be derived; what holds them fails for no other reason.
        self._failed: set[int] = set()
        # A binding asks again what was derived of its value just before.
        self._derived_last: tuple[Expr | None, StructInfo] = (None, ObjectStructInfo())

    def function(self, root: Function) -> None:
        stack: list[tuple[Node, _Place, bool]] = [(root, _Place(root), False)]
        while stack:
            node, place, ready = stack.pop()
            if ready:
                self._look_at(node, place)
                self._leave(node)
                continue
            stack.append((node, place, True))
            inside = place
            match node:
                case Function(params):
                    inside = _Place(node)
                    self._brought.append([])
                    self._bring(*(p.struct_info for p in params if p.struct_info is not None))
                case SeqExpr():
                    self._brought.append([])
                case DataflowBlock():
                    inside = _Place(place.function, True, place.facts)
                case If(cond, true_branch, false_branch):
                    for branch, taken in ((false_branch, False), (true_branch, True)):
                        stack.append((branch, self._in_branch(cond, taken, place), False))
                    stack.append((cond, place, False))
                    continue
            # Leaves have no parts, and nothing is asked of them.
            parts = [part for part in _parts(node) if part.__class__ not in _LEAVES]
            stack.extend([(part, inside, False) for part in reversed(parts)])

    def _in_branch(self, condition: Expr, taken: bool, place: _Place) -> _Place:
        if not isinstance(condition, (Var, PrimValue)):
            return place
        known = self._context.struct_info(condition)
        facts = facts_in_branch(known, taken, place.facts)
        return _Place(place.function, place.dataflow, facts)

    def _bring(self, *infos: StructInfo) -> None:
        """Bind the shape variables that stand alone in annotations of a signature or a cast."""
        for v in (v for info in infos for v in definable_shape_vars(info)):
            if v not in self._shapes:
                self._shapes.add(v)
                self._brought[-1].append(v)

    def _leave(self, node: Node) -> None:
        match node:
            case Function() | SeqExpr():
                self._shapes.difference_update(self._brought.pop())
            case MatchCast(struct_info=info):
                self._bring(info)

    def _look_at(self, node: Node, place: _Place) -> None:
        if self._failed and any(id(part) in self._failed for part in _parts(node)):
            self._fail(node)
            return
        # A function may be called elsewhere than where it stands.
        self._context.facts = None if isinstance(node, Function) else place.facts
        try:
            match node:
                case Call():
                    self._call(node, place)
                case TupleGetItem() | Tuple():
                    self._derived(node)
                case If(cond):
                    self._condition(cond, node)
                case Binding():
                    self._binding(node)
                case Function(body=body, ret_struct_info=StructInfo() as declared):
                    given = self._context.struct_info(body)
                    result, within = (
                        (body.body, body) if isinstance(body, SeqExpr) else (body, node)
                    )
                    self._fits(given, declared, "the result", "the declared result", result, within)
        except (OperandError, ArgumentError) as error:
            # Of a function alone it is not known what its module has.
            if not (self._alone and error.code == "RX0101"):
                self.found.append(_failure(error, node))
            self._fail(node)

    def _fail(self, node: Node) -> None:
        if isinstance(node, Expr) and not isinstance(node, Function):
            self._failed.add(id(node))

    def _derived(self, expr: Expr) -> StructInfo:
        """What the rules say of an expression now, whatever was said of it before."""
        if expr.known_info is None:
            return self._context.struct_info(expr)
        if self._derived_last[0] is not expr:
            self._derived_last = (expr, derived_again(expr, self._context))
        return self._derived_last[1]

    def _call(self, call: Call, place: _Place) -> None:
        self._derived(call)
        if (place.dataflow or place.is_pure) and not call_purity(call, self._context):
            code, message, help = impurity(call, place.dataflow, self._context)
            self.found.append(Finding(code, message, call, None, help))

    def _condition(self, cond: Expr, within: Node) -> None:
        match self._context.struct_info(cond):
            case TensorStructInfo(dtype=dtype, ndim=rank) if dtype in ("bool", "void") and rank < 1:
                pass
            case PrimStructInfo(dtype=dtype) if dtype.is_bool:
                pass
            case info:
                message = "the condition of `if` must be a bool scalar"
                finding = Finding("RX0201", message, cond, within, fact=f"is `{info!r}`")
                self.found.append(finding)

    def _binding(self, binding: Binding) -> None:
        annotated = binding.var.struct_info
        if annotated is None:
            message = f"nothing is known of the variable `{binding.var.name_hint}`"
            self.found.append(Finding("RX0205", message, binding.var, binding, "type it"))
            return
        if isinstance(binding, MatchCast):
            self._cast(binding, annotated)
            return
        if isinstance(binding.value, (Call, Tuple, TupleGetItem)):
            given = self._derived(binding.value)
        else:
            given = self._context.struct_info(binding.value)
        self._fits(given, annotated, "the value", "the annotation", binding.value, binding)

    def _cast(self, binding: MatchCast, annotated: StructInfo) -> None:
        """Rule 11.3.4: what is checked says all that is annotated."""
        given = binding.struct_info
        if check_compatibility(given, annotated) is not YES:
            message = "the value does not fit the annotation"
            fact = explain_mismatch(given, annotated) or ""
            self.found.append(Finding("RX0205", message, binding.value, binding, fact=fact))

    def _fits(
        self, given: StructInfo, wanted: StructInfo, what: str, declared: str, node: Node,
        within: Node,
    ) -> None:  # fmt: skip
        facts = self._context.facts
        if check_compatibility(given, wanted, facts) is NO:
            message = f"{what} does not fit {declared}"
            fact = explain_mismatch(given, wanted, facts) or ""
            self.found.append(Finding("RX0205", message, node, within, fact=fact))


def _failure(error: OperandError | ArgumentError, node: Node) -> Finding:
    if isinstance(error, ArgumentError):
        return Finding(error.code, error.message, node, None, error.help)
    callee = error.callee or "the function"
    message = error.diagnostic(callee, None, {}).message
    fact = "; ".join(f"`{name}` {fact}" for name, fact in error.facts.items())
    return Finding(error.code, message, node, None, error.help, fact)


_LEAVES = frozenset({
    Var, DataflowVar, GlobalVar, Constant, ShapeExpr, PrimValue, StringImm, DataTypeImm, Op,
    ExternFunc,
})  # fmt: skip


def _parts(node: Node) -> tuple[Node, ...]:
    """What is evaluated inside a node, in order; annotations are not."""
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
