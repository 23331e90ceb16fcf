"""TopologicalSort: another order of the bindings of dataflow blocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.ir.known_results import is_closed
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import compounds, free_vars, rewrite_compounds, variables
from relaxscript.op import Trait, traits_of
from relaxscript.semantics.prim_funcs import writes_into_operands
from relaxscript.sinfo import definable_shape_vars
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass
from relaxscript.visitor import ScopedVisitor

__all__ = ["TopologicalSort"]

_ORDERS = ("depth-first", "breadth-first")
_DIRECTIONS = ("from-inputs", "from-outputs")


class TopologicalSort(FunctionPass):
    """Bring the bindings of each dataflow block into the order of a search of the graph.

    Before:

        with R.dataflow():
            a = R.exp(x)
            b = R.exp(y)
            c = R.log(a)
            d = R.log(b)
            R.output(c, d)

    After a depth-first search from the inputs:

        with R.dataflow():
            a = R.exp(x)
            c = R.log(a)
            b = R.exp(y)
            d = R.log(b)
            R.output(c, d)

    A search starts from the parameters, or from what the function returns. It takes neighbours in
    the order of the program. Each is taken after all that it needs, or that needs it. What needs
    nothing comes last from the inputs depth-first, and first breadth-first. A block in which a call
    writes into its arguments keeps its order. Since neighbours are taken in the order of the
    program, a second run may give another order.

    Raises `DiagnosticError` (RX0703) for another `order` or `direction`.
    Source: TVM `relax.transform.TopologicalSort`.
    """

    changes_failures = True
    runs_once = True

    def __init__(self, order: str = "depth-first", direction: str = "from-inputs") -> None:
        self.order = _one_of("order", order, _ORDERS)
        self.direction = _one_of("direction", direction, _DIRECTIONS)

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        places: dict[Var, int] = {}
        writers: dict[GlobalVar, bool] = {}
        for node in compounds(func):
            if isinstance(node, Function):
                graph = _Graph(node)
                places |= graph.places(self.order == _ORDERS[0], self.direction == _DIRECTIONS[0])

        def sort(node: Node) -> Node | None:
            if not isinstance(node, DataflowBlock) or _writes_in_place(node, mod, writers):
                return None
            bindings = tuple(sorted(node.bindings, key=lambda binding: places[binding.var]))
            return node if bindings == node.bindings else node.replace(bindings=bindings)

        return rewrite_compounds(func, sort)


def _one_of(name: str, given: str, known: tuple[str, ...]) -> str:
    if given not in known:
        help = did_you_mean(nearest(given, known), f"there are {' and '.join(known)}", '"')
        message = f'`TopologicalSort` has no {name} "{given}"'
        raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))
    return given


def _writes_in_place(block: DataflowBlock, mod: IRModule, writers: dict[GlobalVar, bool]) -> bool:
    """True if a call in a block may write into its arguments; `writers` has what is known."""
    for binding in block.bindings:
        if isinstance(call := binding.value, Call):
            traits = traits_of(call.op)
            if Trait.WRITES_ARGS in traits:
                return True
            if Trait.CALLS_PRIM_FUNC in traits and isinstance(call.args[0], GlobalVar):
                callee = call.args[0]
                if callee not in writers:  # whose calls have as many results as it has
                    function = mod.functions.get(callee)
                    writers[callee] = isinstance(function, PrimFunc) and (
                        writes_into_operands(function, call)
                    )
                if writers[callee]:
                    return True
    return False


_INPUT, _OUTPUT = Var.make("input", None), Var.make("output", None)


class _Graph(ScopedVisitor):
    """The variables of a function that need others, and those that use them.

    A local function needs what it captures; what is inside of it is a graph of its own.
    """

    def __init__(self, func: Function) -> None:
        super().__init__()
        self.needs: dict[Var, list[Var]] = {}
        self.users: dict[Var, list[Var]] = {}
        self._defined: list[Var] = []
        # The variables whose casts give shape variables their values.
        self._binders: dict[Node, Var] = {}
        self._holders: list[Var] = [_OUTPUT]
        for param in func.params:
            self._edge(_INPUT, param)
        self.visit(func.body)
        self._connect_ends()

    def _edge(self, needed: Var, user: Var) -> None:
        self.users.setdefault(needed, []).append(user)
        self.needs.setdefault(user, []).append(needed)

    def _connect_ends(self) -> None:
        """Let what needs nothing start from the inputs, and what nothing needs end there."""
        known = {*self._defined, *self.needs}
        outside = [var for var in self.users if var not in known and var is not _INPUT]
        free = [var for var in self._defined if var not in self.needs]
        unused = [var for var in self._defined if var not in self.users]
        for var in (*outside, *free):
            self._edge(_INPUT, var)
        self.needs[_OUTPUT] = [*unused, *self.needs.get(_OUTPUT, ())]
        for var in unused:
            self.users[var] = [_OUTPUT]

    # -- uses --------------------------------------------------------------------------------------

    def enter(self, node: Node) -> bool | None:
        match node:
            case Binding(var=var, value=value):
                self._holders.append(var)
                self._defined.append(var)
                if isinstance(node, MatchCast):
                    for v in definable_shape_vars(node.struct_info):
                        self._binders.setdefault(v, var)
                    self._use_all(variables(node.struct_info))
                if isinstance(value, Function):
                    self._use_all(free_vars(value))
                    if self._binders:  # else its parameters would bind what is bound here
                        self._use_all(v for v in variables(value) if v in self._binders)
                elif not isinstance(value, If):
                    self._use(value)
                if isinstance(value, If):
                    return None
                self._holders.pop()
                return False
            case If(cond=cond):
                self._use(cond)
        return None

    def leave(self, node: Node) -> None:
        if isinstance(node, Binding):
            self._holders.pop()

    def end_scope(self, node: Function | SeqExpr) -> None:
        if isinstance(node, SeqExpr):
            self._use(node.body)

    def _use(self, expr: Expr) -> None:
        match expr:
            case Var():
                self._use_all([expr])
            case Call(op=op, args=args, sinfo_args=infos):
                for part in (op, *args):
                    self._use(part)
                for info in infos:
                    if not is_closed(info):
                        self._use_all(variables(info))
            case Tuple(fields=fields):
                for field in fields:
                    self._use(field)
            case TupleGetItem(tuple_value=whole):
                self._use(whole)
            case _:
                self._use_all(variables(expr))

    def _use_all(self, used: Iterable[Node]) -> None:
        holder = self._holders[-1]
        for v in used:
            var = self._binders.get(v) if isinstance(v, PrimVar) else v
            if isinstance(var, Var) and var is not holder:
                self._edge(var, holder)

    # -- searching ---------------------------------------------------------------------------------

    def places(self, depth_first: bool, from_inputs: bool) -> dict[Var, int]:
        """The place of each variable that is bound here in the order of the search."""
        ahead, behind = (self.users, self.needs) if from_inputs else (self.needs, self.users)
        waits_for = {var: len(set(others)) for var, others in behind.items()}
        pending, found = deque([_INPUT if from_inputs else _OUTPUT]), dict[Var, int]()
        while pending:
            var = pending.pop() if depth_first else pending.popleft()
            if var in found:
                continue
            found[var] = len(found)
            neighbours = ahead.get(var, [])
            for other in dict.fromkeys(neighbours):
                waits_for[other] -= 1
            ready = [other for other in neighbours if not waits_for[other]]
            # The last on a stack is taken first; from the outputs the result is turned around.
            pending.extend(reversed(ready) if depth_first and from_inputs else ready)
        sign = 1 if from_inputs else -1
        return {var: sign * found[var] for var in self._defined}
