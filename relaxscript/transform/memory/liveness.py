"""After which binding nothing looks at a value any more.

Variables that may stand for one value, or for a value and what is inside it, are a group. It lives
until the last use of any of them. A tensor that is cut out of a storage keeps the storage's group
alive, not the other way round. Start at `ends_of_lifetimes`, or at `Lifetimes` for one function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    Op,
    PrimValue,
    SeqExpr,
    StringImm,
    Tuple,
    Var,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.walk import compounds, free_vars, mentioned
from relaxscript.op import Trait, lookup, traits_of
from relaxscript.op.inplace import call_tir_inplace
from relaxscript.op.results import NEW, inplace_indices

from .kernels import Kernels

__all__ = ["Lifetimes", "bindings_of", "ends_of_lifetimes", "may_hold_memory"]

_CALLING = {Trait.CALLS_OUT, Trait.CALLS_PRIM_FUNC, Trait.CAPTURES}
# Operands that mention no variable of Relax.
_NAMES_NONE = frozenset({Constant, DataTypeImm, ExternFunc, GlobalVar, Op, PrimValue, StringImm})


def ends_of_lifetimes(func: Function, mod: IRModule) -> dict[Var, list[Var]]:
    """For the variable of a binding, the variables that can be given back right behind it.

    They are in the order of their bindings; those of local functions are among them.
    """
    ends: dict[Var, list[Var]] = {}
    kernels = Kernels(mod)
    for node in compounds(func):
        if isinstance(node, Function):
            ends.update(Lifetimes(node, kernels).ends())
    return ends


def may_hold_memory(info: StructInfo | None) -> bool:
    """True if values may be or have tensors or objects, which have memory."""
    if info.__class__ is TensorStructInfo:  # as most are
        return True
    if isinstance(info, TupleStructInfo):
        return any(map(may_hold_memory, info.fields))
    return info is None or info.has_memory


def _may_keep_others(info: StructInfo | None) -> bool:
    """True if a value may be something into which others are put."""
    if info.__class__ is TensorStructInfo:  # as most are
        return False
    if isinstance(info, TupleStructInfo):
        return any(map(_may_keep_others, info.fields))
    return info is None or isinstance(info, (ObjectStructInfo, FuncStructInfo))


def _variables_with_memory(exprs: Iterable[Expr]) -> list[Var]:
    """The variables in expressions whose values may have memory."""
    found: list[Var] = []
    for expr in exprs:
        if expr.__class__ not in _NAMES_NONE:
            found += [v for v in mentioned(expr) if may_hold_memory(v.struct_info)]
    return found


def bindings_of(seq: SeqExpr) -> Iterator[Binding]:
    """The bindings of a scope, without those of branches and local functions in it."""
    for block in seq.blocks:
        yield from block.bindings


class Lifetimes:
    """The groups of one function, local functions left out.

    `scopes` says of each variable how deep it is bound, and where.
    """

    def __init__(self, func: Function, kernels: Kernels) -> None:
        self.kernels = kernels
        self.parents: dict[Var, Var] = {}
        self.scopes: dict[Var, tuple[int, SeqExpr]] = {}
        self.seqs: list[SeqExpr] = []
        self.storages: list[tuple[Var, Var]] = []  # tensors, and the storages they are cut from
        self.handed_on: list[Var] = []  # to who may keep them, or by who may have kept them
        self.kept = _variables_with_memory(
            [_result(func.body)]
        )  # somebody has them when the function ends
        self.killed: list[Var] = []  # by the function itself
        self._visit(func.body, 0)

    # -- groups ------------------------------------------------------------------------------------

    def group(self, var: Var) -> Var:
        """The variable that stands for the group of a variable."""
        root = var
        if var not in self.parents:  # as most are, alone in their group
            return var
        while (parent := self.parents.get(root, root)) is not root:
            root = parent
        while (parent := self.parents.get(var, root)) is not root:
            self.parents[var], var = root, parent
        return root

    def _join(self, members: Iterable[Var]) -> None:
        """Put variables into one group; what is bound outside of the function is kept."""
        listed = list(members)
        self.kept += [var for var in listed if var not in self.scopes]
        for other in listed[1:]:
            first, second = self.group(listed[0]), self.group(other)
            if first is not second:
                self.parents[second] = first

    def _visit(self, expr: Expr, depth: int) -> None:
        if not isinstance(expr, SeqExpr):
            return
        self.seqs.append(expr)
        for binding in bindings_of(expr):
            self.scopes[binding.var] = (depth, expr)
            self._bind(binding.var, binding.value, depth)

    def _bind(self, var: Var, value: Expr, depth: int) -> None:
        match value:
            case If(true_branch=yes, false_branch=no):
                self._visit(yes, depth + 1)
                self._visit(no, depth + 1)
                self._join([var, *_variables_with_memory([_result(yes), _result(no)])])
            case Call(op=Op()):
                self._operator(var, value)
            case Call(op=GlobalVar() as callee, args=args) if self.kernels.find(callee):
                self._give(callee, args, var)
            case Call(op=callee, args=args):
                self.handed_on += [var, *_variables_with_memory([callee, *args])]
                self._join_handed_on(var, [callee, *args])
            case Function():
                self.killed += _killed(value)
                captured = [v for v in _free(value) if may_hold_memory(v.struct_info)]
                self.handed_on += captured
                self._join([var, *captured])
            case Constant() | GlobalVar() | ExternFunc():
                self.kept.append(var)
            case _:
                self._join([var, *_variables_with_memory([value])])

    def _operator(self, var: Var, call: Call) -> None:
        operator = lookup(call.op)  # type: ignore[arg-type]
        traits = operator.traits
        if Trait.FREES in traits:
            self.killed += _variables_with_memory(call.args)
        calls = not traits.isdisjoint(_CALLING)
        if Trait.CALLS_PRIM_FUNC in traits:
            self._give(call.args[0], call.args[1:], var)
        elif calls:
            self.handed_on += [var, *_variables_with_memory(call.args)]
        if operator is call_tir_inplace and isinstance(call.args[1], Tuple):
            written = [call.args[1].fields[i] for i in inplace_indices(call) if i != NEW]
            self._join([var, *_variables_with_memory(written)])
        elif Trait.VIEW in traits or Trait.WRITES_ARGS in traits:
            self._join([var, *_variables_with_memory(call.args)])
        elif Trait.DESTINATION_PASSING in traits:  # what it writes into is new
            self._join_handed_on(None, call.args)
        elif Trait.IN_STORAGE in traits:
            self.storages += [(var, storage) for storage in _variables_with_memory(call.args[:1])]
        elif calls or self._gives_operands(var, traits):
            self.handed_on += [var, *_variables_with_memory(call.args)]
            self._join_handed_on(var, call.args)
        elif Trait.IMPURE in traits:  # its effect may be that it keeps them
            self.handed_on += _variables_with_memory(call.args)

    def _gives_operands(self, result: Var, traits: frozenset[Trait]) -> bool:
        """True if the result of an operator may be an operand, which nobody makes a new tensor."""
        is_own = Trait.ALLOCATES in traits or not may_hold_memory(result.struct_info)
        return Trait.AS_IS in traits and not is_own

    def _join_handed_on(self, result: Var | None, args: Sequence[Expr]) -> None:
        """A function may return what it is given, and put one of its arguments into another."""
        given = _variables_with_memory(args)
        if any(_may_keep_others(v.struct_info) for v in given):
            self._join(given)
        if result is not None and may_hold_memory(result.struct_info):
            self._join([result, *given])

    def _give(self, callee: Expr, args: Sequence[Expr], result: Var) -> None:
        """Give a PrimFunc its arguments, and what becomes the result; it may give them others."""
        if self.kernels.hands_on(callee):
            self.handed_on += [result, *_variables_with_memory(args)]

    @cached_property
    def uses(self) -> list[tuple[SeqExpr, Binding, list[Var]]]:
        """The bindings with their scopes, and the variables that the value of each mentions."""
        bindings = [(seq, binding) for seq in self.seqs for binding in bindings_of(seq)]
        return [(seq, binding, mentioned(binding.value)) for seq, binding in bindings]

    # -- ends --------------------------------------------------------------------------------------

    def ends(self) -> dict[Var, list[Var]]:
        """For the variable of a binding, those that end behind it."""
        homes = self.homes()
        last = self.last_uses(homes)
        ends: dict[Var, list[Var]] = {}
        lasting = self.lasting()
        for var, (_, seq) in self.scopes.items():
            root = self.group(var)
            if root not in lasting and homes[root] is seq and may_hold_memory(var.struct_info):
                ends.setdefault(last[root], []).append(var)
        return ends

    def homes(self) -> dict[Var, SeqExpr]:
        """The scope of each group: the outermost that binds one of its variables."""
        homes: dict[Var, tuple[int, SeqExpr]] = {}
        for var, place in self.scopes.items():
            root = self.group(var)
            known = homes.get(root)
            if known is None or place[0] < known[0]:
                homes[root] = place
        return {root: seq for root, (_, seq) in homes.items()}

    def last_uses(self, homes: Mapping[Var, SeqExpr]) -> dict[Var, Var]:
        """For each group, the variable of the last binding of its scope that needs it."""
        needs = self._needs
        last: dict[Var, Var] = {}
        for seq, binding, used in self.uses:
            for var in (binding.var, *used):
                for root in needs(self.group(var)):
                    if homes.get(root) is seq:
                        last[root] = binding.var
        return last

    def lasting(self) -> set[Var]:
        """The groups that the function does not end: somebody has them, or it kills them itself."""
        lasting = {root for v in self.kept for root in self._needs(self.group(v))}
        lasting.update(self.group(v) for v in self.killed)
        return lasting

    @cached_property
    def _needs(self) -> Callable[[Var], Collection[Var]]:
        """A function from a group to the groups that live as long: itself and its storages."""
        direct: dict[Var, set[Var]] = {}
        for tensor, storage in self.storages:
            direct.setdefault(self.group(tensor), set()).add(self.group(storage))

        def needs(root: Var) -> Collection[Var]:
            if root not in direct:  # as most are, in no storage
                return (root,)
            found, pending = {root}, [root]
            while pending:
                new = direct.get(pending.pop(), set()) - found
                found |= new
                pending += new
            return found

        return needs


def _result(expr: Expr) -> Expr:
    return expr.body if isinstance(expr, SeqExpr) else expr


def _free(func: Function) -> list[Var]:
    return [v for v in free_vars(func) if isinstance(v, Var)]


def _killed(func: Function) -> list[Var]:
    """The variables that a local function kills, of those around it too."""
    calls = [node for node in compounds(func) if isinstance(node, Call)]
    kills = [call for call in calls if Trait.FREES in traits_of(call.op)]
    return [v for call in kills for v in _variables_with_memory(call.args)]
