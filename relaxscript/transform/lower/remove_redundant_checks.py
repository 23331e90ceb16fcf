"""RemoveRedundantChecks: what one check has shown is not checked again."""

from __future__ import annotations

from collections.abc import Iterator

from relaxscript.arith import YES
from relaxscript.builder import ExprMutator
from relaxscript.errors import DiagnosticError, OperandError
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    If,
    MatchCast,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.walk import Substitution, compounds, post_order
from relaxscript.op import Trait, traits_of
from relaxscript.sinfo import always_matches, is_subtype
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass
from relaxscript.transform.simplify.known_sizes import with_known_sizes

__all__ = ["RemoveRedundantChecks"]

# How many names of one value are thought of where none of them says as much as another.
_MOST_NAMES = 8


class RemoveRedundantChecks(FunctionPass):
    """Remove every check that cannot fail where it is, those of calls and operators included.

    Before:

        y: R.Tensor((n, 4), "float32") = R.match_cast(x, R.Tensor((n, 4), "float32"))
        z: R.Tensor((m, 4), "float32") = R.match_cast(x, R.Tensor((m, 4), "float32"))
        a: R.Tensor("float32", ndim=2) = cls.callee(x)

    After:

        y: R.Tensor((n, 4), "float32") = R.match_cast(x, R.Tensor((n, 4), "float32"))
        z: R.Tensor((n, 4), "float32") = y
        a: R.Tensor("float32", ndim=2) = cls.callee(y)

    A value that has several names goes, from where they are known, by the one of which most is
    known; so code generation sees what was shown before, in operands and arguments as well. A shape
    variable that is sure to equal an expression is replaced by it. A check that may fail stays, in
    dataflow blocks too. Source: spec "Proving Shapes Equivalent and Eliminating Dynamic Checks".
    """

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        while True:
            known = with_known_sizes(func, mod)
            made = _Remover(mod, known).function(known)
            if made is func:
                return func
            func = _with_known_choices(made)


def _with_known_choices(func: Function) -> Function:
    """The function with all that branches say known of the variables that they are bound to.

    Where a check in a branch has gone, the branch may say more than it did.
    """
    known = Substitution()
    for node in post_order(func):
        if not (isinstance(node, VarBinding) and isinstance(node.value, If)):
            continue
        derived, info = known.apply(node.value).struct_info, node.var.struct_info
        if derived is None or info is None:
            continue
        if is_subtype(derived, info) is YES and is_subtype(info, derived) is not YES:
            known[node.var] = node.var.replace(struct_info=derived)
    return known.apply(func)


class _InScope:
    """The shape variables that have values where the builder is."""

    def __init__(self, remover: _Remover) -> None:
        self.remover = remover

    def __contains__(self, v: object) -> bool:
        return isinstance(v, prim.Var) and self.remover.builder.is_in_scope(v)


class _Remover(ExprMutator):
    """Goes through one function.

    A value that has several names goes by the `first` of them; `names` are those of its names of
    which most is known, so that no other says as much. `before` has what to restore in `names`
    where a branch or function ends.
    """

    def __init__(self, mod: IRModule, func: Function) -> None:
        super().__init__(mod)
        self.in_scope = _InScope(self)
        self.first: dict[Var, Var] = {}
        self.names: dict[Var, tuple[Var, ...]] = {}
        self.before: list[tuple[Var, tuple[Var, ...]]] = []
        self.outside: list[int] = []  # how long that was where each open branch began
        self.blocks = {
            binding.var: block
            for block in compounds(func)
            if isinstance(block, DataflowBlock)
            for binding in block.bindings
        }

    def begin(self, func: Function) -> None:
        self.outside.append(len(self.before))

    def end_scope(self, node: Function | SeqExpr) -> None:
        super().end_scope(node)
        if isinstance(node, Function):
            self._forget_names(self.outside.pop())

    def begin_branch(self, choice: If, taken: bool) -> None:
        super().begin_branch(choice, taken)
        self.outside.append(len(self.before))

    def end_branch(self, choice: If, taken: bool) -> None:
        super().end_branch(choice, taken)
        self._forget_names(self.outside.pop())

    def binding(self, binding: Binding) -> None:
        block = self.blocks.get(binding.var)
        value = self._rename(binding.value, block)
        info = binding.struct_info if isinstance(binding, MatchCast) else None
        known = self.builder.struct_info(value)
        if info is not None and always_matches(known, info, self.in_scope):
            self.rebind(binding, value)
        elif value is binding.value:
            self.keep(binding)
        elif info is not None:
            self.changed = True
            self.keep(binding.replace(value=value))
        else:
            self.rebind(binding, value)
        if isinstance(value, Var):
            self._add_name(value, binding.var, block)

    def result(self, func: Function, value: Expr) -> Expr:
        # What a branch gives keeps its name, since the variable of an If says just what both give.
        return self._rename(value, None)

    # -- names -------------------------------------------------------------------------------------

    def _rename(self, value: Expr, block: DataflowBlock | None) -> Expr:
        """The value with better names; as it is where its operator would refuse what they say."""
        if not self.first:
            return value
        made = self._with_better_names(value, block)
        if made is value or not isinstance(made, Call):
            return made
        try:
            self.builder.struct_info(made)
        except (DiagnosticError, OperandError):  # fails when it runs, if it runs
            return value
        return made

    def _with_better_names(self, value: Expr, block: DataflowBlock | None) -> Expr:
        match value:
            case Var():
                return self._best(value, block)
            case Call(op=op) if Trait.FREES in traits_of(op):
                return value
            case Call(op=op, args=args):
                callee = self._best(op, block) if isinstance(op, Var) else op
                given = self._each(args, block)
                if callee is not op or given is not args:
                    return Call.make(callee, given, value.attrs, value.sinfo_args, span=value.span)
            case Tuple(fields):
                renamed = self._each(fields, block)
                return value if renamed is fields else value.replace(fields=renamed)
            case TupleGetItem(tuple_value=inner):
                renamed_inner = self._with_better_names(inner, block)
                if renamed_inner is not inner:
                    return value.replace(tuple_value=renamed_inner)
        return value

    def _each(self, exprs: tuple[Expr, ...], block: DataflowBlock | None) -> tuple[Expr, ...]:
        made = tuple(self._with_better_names(expr, block) for expr in exprs)
        return made if any(a is not b for a, b in zip(made, exprs, strict=True)) else exprs

    def _best(self, var: Var, block: DataflowBlock | None) -> Var:
        """The name of the same value of which most is known."""
        best = var
        for name in self._usable(self.first.get(var), block):
            if self._says_as_much(name, best) and not self._says_as_much(best, name):
                best = name
        return best

    def _usable(self, first: Var | None, block: DataflowBlock | None) -> Iterator[Var]:
        for name in () if first is None else self.names.get(first, (first,)):
            if not isinstance(name, DataflowVar) or self.blocks.get(name) is block:
                yield name

    def _add_name(self, value: Var, name: Var, block: DataflowBlock | None) -> None:
        """One more name of a value; it stands for those that say no more and do not live longer."""
        first = self.first[name] = self.first.setdefault(value, value)
        known = list(self._usable(first, block))
        if any(self._stands_for(other, name) for other in known):
            return
        names = [*(other for other in known if not self._stands_for(name, other)), name]
        self.before.append((first, self.names.get(first, (first,))))
        self.names[first] = tuple(names[:_MOST_NAMES])

    def _forget_names(self, outside: int) -> None:
        """Return to what was known of values before the branch or function that ends here."""
        while len(self.before) > outside:
            first, names = self.before.pop()
            self.names[first] = names

    def _stands_for(self, a: Var, b: Var) -> bool:
        lives_longer = not isinstance(a, DataflowVar) or isinstance(b, DataflowVar)
        return lives_longer and self._says_as_much(a, b)

    def _says_as_much(self, a: Var, b: Var) -> bool:
        mine, theirs = self.builder.struct_info(a), self.builder.struct_info(b)
        return is_subtype(mine, theirs, in_scope=self.in_scope) is YES
