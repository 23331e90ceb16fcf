"""RemoveRedundantChecks: what one check has shown is not checked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from relaxscript.arith import YES
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
    MatchCast,
    Op,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.walk import Substitution, walk
from relaxscript.sinfo import always_matches, definable_shape_vars, is_subtype, sizes_taken

from .bindings import BindingRewriter
from .context import PassContext
from .passes import FunctionPass

__all__ = ["RemoveRedundantChecks"]

_KILLS = frozenset(
    {"relax.memory.kill_storage", "relax.memory.kill_tensor", "relax.vm.kill_object"}
)


class RemoveRedundantChecks(FunctionPass):
    """Remove every check that cannot fail where it stands, those of calls and operators included.

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
            known = _with_known_sizes(func)
            made = _Remover(mod, known).function(known)
            if made is func:
                return func
            func = made


def _with_known_sizes(func: Function) -> Function:
    """The function without shape variables that only stand for what is known of a value."""
    casts = [node for node in walk(func) if isinstance(node, MatchCast)]
    params = (p.struct_info for f in walk(func) if isinstance(f, Function) for p in f.params)
    infos = [*(info for info in params if info is not None), *(c.struct_info for c in casts)]
    places = Counter(v for info in infos for v in definable_shape_vars(info))
    sizes = Substitution()
    for cast in casts:
        known = cast.value.struct_info
        fresh = [v for v in definable_shape_vars(cast.struct_info) if places[v] == 1]
        if known is not None and fresh:
            taken = sizes_taken(known, cast.struct_info, fresh)
            for v, e in {v: sizes.apply(e) for v, e in taken.items()}.items():
                sizes[v] = e
    return sizes.apply(func)


class _InScope:
    """The shape variables that have values where the builder stands."""

    def __init__(self, remover: _Remover) -> None:
        self.remover = remover

    def __contains__(self, v: object) -> bool:
        return isinstance(v, prim.Var) and self.remover.builder.is_in_scope(v)


class _Remover(BindingRewriter):
    """Goes through one function; `names` are the names of values that have several."""

    def __init__(self, mod: IRModule, func: Function) -> None:
        super().__init__(mod)
        self.in_scope = _InScope(self)
        self.names: dict[Var, tuple[Var, ...]] = {}
        self.blocks = {
            binding.var: block
            for block in walk(func)
            if isinstance(block, DataflowBlock)
            for binding in block.bindings
        }

    def function(self, func: Function, name: str = "function") -> Function:
        outer = dict(self.names)
        made = super().function(func, name)
        self.names = outer
        return made

    def branch(self, branch: Expr) -> Expr:
        outer = dict(self.names)
        made = super().branch(branch)
        self.names = outer
        return made

    def binding(self, binding: Binding) -> None:
        value = self._renamed(binding.value, self.blocks.get(binding.var))
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
            names = (*self.names.get(value, (value,)), binding.var)
            self.names.update(dict.fromkeys(names, names))

    def result(self, func: Function, value: Expr) -> Expr:
        # What a branch gives keeps its name, since the variable of an If says just what both give.
        made = self._renamed(value, None)
        self.changed = self.changed or made is not value
        return made

    # -- names -------------------------------------------------------------------------------------

    def _renamed(self, value: Expr, block: DataflowBlock | None) -> Expr:
        """The value with better names; as it is where its operator would refuse what they say."""
        if not self.names:
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
            case Call(op=Op(name)) if name in _KILLS:
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
        for name in self._usable(self.names.get(var, ()), block):
            if self._says_more(name, best):
                best = name
        return best

    def _usable(self, names: Sequence[Var], block: DataflowBlock | None) -> Iterator[Var]:
        for name in names:
            if not isinstance(name, DataflowVar) or self.blocks.get(name) is block:
                yield name

    def _says_more(self, a: Var, b: Var) -> bool:
        mine, theirs = self.builder.struct_info(a), self.builder.struct_info(b)
        if is_subtype(mine, theirs, in_scope=self.in_scope) is not YES:
            return False
        return is_subtype(theirs, mine, in_scope=self.in_scope) is not YES
