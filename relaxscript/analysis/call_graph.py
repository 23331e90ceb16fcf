"""Questions about functions and modules, by TVM's names: variables, calls, recursion.

Source: TVM `relax.analysis`. Each looks at every node once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import walk
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)

from .components import components
from .derive import Context, call_purity
from .struct_infos import require_type

__all__ = [
    "all_global_vars", "all_vars", "bound_vars", "computable_at_compile_time",
    "contains_impure_call", "detect_recursion", "free_vars", "get_var2val", "is_pure",
    "name_to_binding", "post_order_visit", "udchain", "used_vars",
]  # fmt: skip

# -- variables -------------------------------------------------------------------------------------


def bound_vars(expr: Expr) -> list[Var]:
    """The Relax variables that parameters and bindings in `expr` define, in that order."""
    require_type("bound_vars.expr", expr, Expr)
    return _relax_vars(walk.bound_vars(expr))


def free_vars(expr: Expr) -> list[Var]:
    """The Relax variables that `expr` uses and does not define, in order of appearance."""
    require_type("free_vars.expr", expr, Expr)
    return _relax_vars(walk.free_vars(expr))


def all_vars(expr: Expr) -> list[Var]:
    """All Relax variables in `expr`, defined or used, each once, in order of appearance."""
    require_type("all_vars.expr", expr, Expr)
    return _relax_vars(walk.variables(expr))


def used_vars(expr: Expr) -> list[Var]:
    """The Relax variables that are values in `expr`, each once: all but those only defined."""
    require_type("used_vars.expr", expr, Expr)
    found = {expr: None} if isinstance(expr, Var) else dict[Var, None]()
    for node in walk.compounds(expr):
        found |= {part: None for part in values_in(node) if isinstance(part, Var)}
    return list(found)


def values_in(node: Node) -> Iterable[Expr]:
    """The expressions directly in a node whose values it uses, in the order of evaluation."""
    match node:
        case Binding(value=value):
            return (value,)
        case Call(op=op, args=args):
            return (op, *args)
        case Tuple(fields=fields):
            return fields
        case TupleGetItem(tuple_value=value):
            return (value,)
        case If(cond=cond, true_branch=yes, false_branch=no):
            return (cond, yes, no)
        case SeqExpr(body=body) | Function(body=body):
            return (body,)
    return ()


def _relax_vars(variables: Iterable[Node]) -> list[Var]:
    return [v for v in variables if isinstance(v, Var)]


def all_global_vars(expr: Expr) -> list[GlobalVar]:
    """The functions of the module that `expr` mentions, each once."""
    require_type("all_global_vars.expr", expr, Expr)
    nodes = _outside_types(expr) if isinstance(expr, Function) else walk.walk(expr)
    found = (node for node in nodes if isinstance(node, GlobalVar))
    names: dict[str, GlobalVar] = {}
    for var in found:
        names.setdefault(var.name_hint, var)
    return list(names.values())


def _outside_types(function: Function) -> Iterator[Node]:
    """The leaves of a function, and what is in shapes and attributes; types mention no functions.

    These are most of a program.
    """
    for node in walk.compounds(function):
        if isinstance(node, Binding) and isinstance(node.value, Call):
            continue  # the call comes by itself
        for part in values_in(node):
            if isinstance(part, (ShapeExpr, PrimValue)):
                yield from walk.walk(part)
            else:
                yield part
        if isinstance(node, (Call, Function)) and node.attrs:
            for held in walk.nodes_in(node.attrs):
                yield from walk.walk(held)


def post_order_visit(expr: Expr, fvisit: Callable[[Expr], object]) -> None:
    """Call `fvisit` with every expression in `expr` once, operands first, `expr` last.

    Shapes in annotations are expressions, too.
    """
    require_type("post_order_visit.expr", expr, Expr)
    for node in walk.post_order(expr):
        if isinstance(node, Expr):
            fvisit(node)


# -- bindings --------------------------------------------------------------------------------------


def _bindings(func: Function) -> Iterator[Binding]:
    """All bindings of a function, those of branches and local functions included, in order."""
    return (node for node in walk.compounds(func) if isinstance(node, Binding))


def get_var2val(func: Function) -> dict[Var, Expr]:
    """The value of each variable of a function; a `match_cast` gives no value of its own."""
    require_type("get_var2val.func", func, Function)
    return {b.var: b.value for b in _bindings(func) if isinstance(b, VarBinding)}


def name_to_binding(func: Function) -> dict[str, list[Binding]]:
    """The bindings of a function by the names of their variables, which need not be unique."""
    require_type("name_to_binding.func", func, Function)
    found: dict[str, list[Binding]] = {}
    for binding in _bindings(func):
        found.setdefault(binding.var.name_hint, []).append(binding)
    return found


def udchain(dfb: DataflowBlock) -> dict[Var, list[Var]]:
    """For each variable of a dataflow block, the variables whose values use it.

    What the block takes from outside is a key as well; what nothing uses has an empty list.
    """
    require_type("udchain.dfb", dfb, DataflowBlock)
    users: dict[Var, list[Var]] = {}
    for binding in dfb.bindings:
        for used in _relax_vars(walk.free_vars(binding)):
            users.setdefault(used, []).append(binding.var)
        users.setdefault(binding.var, [])
    return users


def computable_at_compile_time(func: Function, *, module: IRModule | None = None) -> list[Var]:
    """The variables that are known before the inputs are: they depend on parameters only.

    The attribute `num_input` says how many of the first parameters are inputs; without it all are.
    The parameters after these come first, then what pure bindings make of them and of constants.
    A call of a function of the module counts as pure only where `module` says so.
    """
    require_type("computable_at_compile_time.func", func, Function)
    count = (func.attrs or Attrs()).get("num_input", len(func.params))
    context = Context(module)
    known: dict[Node, None] = {}
    for param in func.params[count:]:
        known.update(dict.fromkeys(walk.defined_by(func, (param,))))
    # Variables of which all that is known is made of what is known: each is asked until it is one.
    settled: set[Node] = set()
    for binding in _bindings_of_scope(func):
        value = binding.value
        if _is_known(value, known, settled) and is_pure(value, context):
            cast = (binding.struct_info,) if isinstance(binding, MatchCast) else ()
            for v in walk.defined_by(binding, (binding.var, *cast)):
                known.setdefault(v)
    return _relax_vars(known)


def _is_known(value: Expr, known: Mapping[Node, None], settled: set[Node]) -> bool:
    """True if all that a value uses is `known`, and what is said of that too."""
    if isinstance(value, TupleGetItem):  # so that all weights of a model are not gone through
        value = value.tuple_value
    if not isinstance(value, Var):
        return all(v in known for v in walk.free_vars(value))
    if value not in settled and all(v in known for v in walk.free_vars(value)):
        settled.add(value)
    return value in settled


def _bindings_of_scope(func: Function) -> list[Binding]:
    """The bindings of a function itself, in order, without those of branches and functions."""
    blocks = getattr(func.body, "blocks", ())
    return [binding for block in blocks for binding in block.bindings]


# -- calls -----------------------------------------------------------------------------------------


def contains_impure_call(
    expr: Expr, own_name: Var | GlobalVar | None = None, *, module: IRModule | None = None
) -> bool:
    """True if evaluating `expr`, or the body of the function `expr`, calls something impure.

    Local functions count where they are called, not where they are defined. Calls of `own_name`,
    the function that is being looked at, do not count. What functions of the module are is read in
    `module`. Raises `DiagnosticError` for one that is not there.
    """
    require_type("contains_impure_call.expr", expr, Expr)
    context = Context(module)
    calls = _calls(expr.body if isinstance(expr, Function) else expr)
    others = [call for call in calls if not _is_same(call.op, own_name)]
    for call in others:
        if _is_unknown(call.op, context):
            name = call.op.name_hint if isinstance(call.op, GlobalVar) else ""
            raise DiagnosticError(
                Diagnostic(
                    "RX0101", f"nothing is known of the function `{name}`",
                    call.span or caller_span(),
                    help="say what it is: `contains_impure_call(expr, module=mod)`",
                )
            )  # fmt: skip
    return not all(call_purity(call, context) for call in others)


def is_pure(expr: Expr, context: Context, otherwise: bool = False) -> bool:
    """True if evaluating `expr` calls nothing impure; `otherwise` decides on unknown functions."""
    return all(
        otherwise if _is_unknown(call.op, context) else call_purity(call, context)
        for call in _calls(expr)
    )


def _is_unknown(callee: Expr, context: Context) -> bool:
    return isinstance(callee, GlobalVar) and (
        context.module is None or callee not in context.module
    )


def _is_same(callee: Expr, own: Var | GlobalVar | None) -> bool:
    if isinstance(callee, GlobalVar) and isinstance(own, GlobalVar):
        return callee.name_hint == own.name_hint
    return callee is own


def _calls(root: Expr) -> Iterator[Call]:
    """The calls in an expression, without those in the bodies of local functions."""
    compounds = walk.compounds(root, without=Function)
    return (node for node in compounds if isinstance(node, Call))


def detect_recursion(mod: IRModule) -> list[list[GlobalVar]]:
    """The groups of functions that call each other, and each function that calls itself alone.

    To mention a function counts as calling it. Functions that are in no group are not recursive.
    """
    require_type("detect_recursion.mod", mod, IRModule)
    graph = {
        var: [mod.get_global_var(v.name_hint) for v in all_global_vars(function) if v in mod]
        for var, function in mod.functions.items()
    }
    groups = components(graph)
    return [group for group in groups if len(group) > 1 or group[0] in graph[group[0]]]
