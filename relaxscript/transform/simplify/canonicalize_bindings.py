"""CanonicalizeBindings: one name for one value, and no detour to it."""

from __future__ import annotations

from copy import copy

from relaxscript.analysis.repeatable import run_once
from relaxscript.builder import ExprMutator
from relaxscript.builder.mutator import with_parts
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    If,
    MatchCast,
    PrimValue,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import ShapeStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import mentioned, substitute
from relaxscript.op import Trait, traits_of
from relaxscript.sinfo import always_matches, definable_shape_vars
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass
from relaxscript.visitor import ScopedVisitor

from .known_sizes import with_known_sizes
from .told_names import told_names

__all__ = ["CanonicalizeBindings", "canonical_form"]


class CanonicalizeBindings(FunctionPass):
    """Remove names, casts, tuples, branches and shape variables that only repeat what is there.

    Before:

        with R.dataflow():
            y: R.Tensor((m,), "float32") = R.match_cast(x, R.Tensor((m,), "float32"))
            pair = (y, w)
            lv = R.add(pair[0], pair[1])
            gv = lv
            R.output(y, gv)
        if R.const(True):
            z = R.exp(gv)
        else:
            z = gv
        return z

    After, where `x` is a tensor of shape `(n,)`:

        with R.dataflow():
            pair = (x, w)
            gv = R.add(x, w)
            R.output(gv)
        z = R.exp(gv)
        return z

    A variable that is another one goes, if as much is known of both. A `match_cast` goes that is
    sure to pass, and what it binds becomes what is known before it. A field of a tuple that is
    written out is what was put there. A tuple of all fields of another is that one. What leaves
    a dataflow block is bound there by its own name; what is used nowhere else does not leave it.
    A branch whose condition is constant takes the place of the choice. What may fail stays. With
    `keep_failures` variables that a failure may name stay, too, where a run cannot be repeated.

    Source: TVM `relax.transform.CanonicalizeBindings`.
    """

    opt_level = 1

    def __init__(self, *, keep_failures: bool = False) -> None:
        self.keep_failures = keep_failures
        self._once = frozenset[Function]()

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        if not self.keep_failures:
            return super().transform(mod, ctx)
        step = copy(self)
        functions = {mod[name] for name in run_once(mod)}
        step._once = frozenset(f for f in functions if isinstance(f, Function))
        return super(CanonicalizeBindings, step).transform(mod, ctx)

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return canonical_form(func, mod, func in self._once)[0]


def canonical_form(func: Function, mod: IRModule, keep_told: bool = False) -> tuple[Function, bool]:
    """The function in canonical form, and whether it has the same bindings in the same blocks.

    It has them where variables got other names, and nothing else changed. With `keep_told`
    variables that a failure may name keep their names.
    """
    before = func
    while True:
        known = with_known_sizes(func, mod, keep_told)
        told = told_names(known) if keep_told else set[Var]()
        survey = _Survey(told)
        survey.visit(known)
        names = survey.names()
        if not (names or survey.may_simplify):
            return known, known is before
        made = _Canonicalizer(mod, names, survey.freed, told).function(known)
        if not survey.may_simplify:
            # All that changed is names of variables, after which no binding repeats what is there.
            # To find that out by looking once more costs half as much as all before.
            return made, known is before
        if made is func:
            return made, made is before
        func = made


class _Canonicalizer(ExprMutator):
    """Goes through one function; `names` are the other names that variables get where defined.

    `told` are those that keep theirs.
    """

    def __init__(
        self, mod: IRModule, names: dict[Var, Var], freed: set[Var], told: set[Var]
    ) -> None:
        super().__init__(mod)
        self.names, self.freed, self.told = names, freed, told
        self._old_names = {new: old for old, new in self.names.items()}

    def binding(self, binding: Binding) -> None:
        new = self.names.get(binding.var)
        if new is not None:
            binding = self._rename(binding, new)
        value = binding.value
        if value is binding.var:  # what it was is bound by this name
            self.changed = True
        elif isinstance(value, If) and (taken := _taken_branch(value)) is not None:
            self._inline(binding, taken)
        elif isinstance(binding, MatchCast):
            self._cast(binding)
        elif (same := self._same_value(value)) is not None:
            self._alias(binding, same)
        elif isinstance(value, Function) and new is not None:  # which may call itself
            super().binding(binding.replace(value=self._replaced.apply(value)))
        else:
            super().binding(binding)

    def _rename(self, binding: Binding, new: Var) -> Binding:
        self.changed = True
        self.replace_var(binding.var, new)
        return with_parts(binding, new, binding.value)

    def replace_var(self, var: Var, by: Expr) -> None:
        super().replace_var(var, by)
        if var in self._old_names:
            super().replace_var(self._old_names[var], by)

    def _cast(self, cast: MatchCast) -> None:
        known, wanted = self.builder.struct_info(cast.value), self._replaced.apply(cast.struct_info)
        if not always_matches(known, wanted, _InScope(self)):
            super().binding(cast)
        elif isinstance(cast.value, Var):
            self._alias(cast, cast.value)
        else:
            self._bind_same(cast, cast.value)

    def _bind_same(self, binding: Binding, value: Expr) -> None:
        """Bind a variable to what certainly is the same value as before."""
        var = binding.var
        info = None if var.struct_info is None else self._replaced.apply(var.struct_info)
        self.rebind(binding.replace(var=self._with_info(var, info)), value)

    def _alias(self, binding: Binding, same: Expr) -> None:
        """Replace a variable by another one that is the same value, if as much is known of it."""
        var = binding.var
        if isinstance(same, Var) and self._stands_for(same, var):
            self.changed = True
            self.replace_var(var, same)
        elif same is not self.original.value or isinstance(binding, MatchCast):
            self._bind_same(binding, same)
        else:
            super().binding(binding)

    def _stands_for(self, same: Var, var: Var) -> bool:
        if same in self.freed or var in self.freed or self._old_names.get(var, var) in self.told:
            return False
        if isinstance(same, DataflowVar) and not isinstance(var, DataflowVar):
            return False
        known = self.builder.struct_info(same)
        if var.struct_info is None or var.struct_info is known:
            return var.struct_info is known
        return structural_equal(self._replaced.apply(var.struct_info), known)

    def _same_value(self, value: Expr) -> Expr | None:
        """A variable that is the value, or the field that it is taken from."""
        match value:
            case Var():
                return value
            case TupleGetItem(tuple_value=Var() as whole, index=index):
                held = self.builder.lookup_binding(whole)
                if isinstance(held, Tuple) and whole not in self.freed:
                    return self._field(held.fields[index], value)
            case Tuple(fields=(Var() as first, *_) as fields):
                return self._whole(value, first, fields)
        return None

    def _field(self, field: Expr, value: TupleGetItem) -> Expr | None:
        """A field as it was put into a tuple, if the tuple says as much of it."""
        if not isinstance(field, Var) or self._visible(field) is None:
            return None
        infos = self.builder.struct_info(field), self.builder.struct_info(value)
        return field if structural_equal(*infos) else None

    def _whole(self, value: Tuple, first: Var, fields: tuple[Expr, ...]) -> Expr | None:
        """The tuple whose fields these are, one by one and all of them."""
        taken = self.builder.lookup_binding(first)
        whole = taken.tuple_value if isinstance(taken, TupleGetItem) else None
        if not isinstance(whole, Var) or self._visible(whole) is None:
            return None
        for index, field in enumerate(fields):
            held = self.builder.lookup_binding(field) if isinstance(field, Var) else None
            if not isinstance(held, TupleGetItem) or held.index != index:
                return None
            if held.tuple_value is not whole:
                return None
        infos = self.builder.struct_info(whole), self.builder.struct_info(value)
        return whole if structural_equal(*infos) else None

    def _visible(self, var: Expr) -> Expr | None:
        """A variable, unless its dataflow block has ended."""
        ended = isinstance(var, DataflowVar) and var not in self.variables
        return None if ended else var

    def _inline(self, binding: Binding, taken: SeqExpr) -> None:
        """Write the bindings of a branch in the place of the choice."""
        self.changed = True
        # What it binds reaches further now, so others must not be the same.
        casts = (b for block in taken.blocks for b in block.bindings if isinstance(b, MatchCast))
        bound = {v for cast in casts for v in definable_shape_vars(cast.struct_info)}
        own = {v: prim.Var.make(v.name, v.dtype) for v in bound if not self.builder.is_in_scope(v)}
        taken = substitute(taken, own)
        for block in taken.blocks:
            if isinstance(block, DataflowBlock):
                self.builder.begin_dataflow()
            for inner in block.bindings:
                self.keep(inner)
            if isinstance(block, DataflowBlock):
                self.builder.end_dataflow(block.span)
        self._bind_same(binding, taken.body)


class _InScope:
    """The shape variables that have values where the builder is."""

    def __init__(self, mutator: ExprMutator) -> None:
        self.builder = mutator.builder

    def __contains__(self, v: object) -> bool:
        return isinstance(v, prim.Var) and self.builder.is_in_scope(v)


def _taken_branch(choice: If) -> SeqExpr | None:
    """The branch of a choice whose condition is constant."""
    match choice.cond:
        case Constant(data=data):
            taken = bool(data)
        case PrimValue(value=prim.IntImm(value=number)):
            taken = bool(number)
        case _:
            return None
    branch = choice.true_branch if taken else choice.false_branch
    assert isinstance(branch, SeqExpr)
    return branch


class _Survey(ScopedVisitor):
    """The dataflow blocks of a function: what leaves them, and what is used behind them.

    `freed` are the variables whose memory is given back, of which no other name must be known.
    `may_simplify` says whether a binding may repeat what is there: a name, a cast, a field of a
    tuple that is written out, or the choice of a constant. `told` keep their names.
    """

    def __init__(self, told: set[Var]) -> None:
        super().__init__()
        self.told = told
        self.freed: set[Var] = set()
        self.may_simplify = False
        # The variables that are bound to tuples, and to fields of tuples.
        self._tuples: set[Var] = set()
        self._fields: set[Var] = set()
        # The block that binds each variable of one, those variables that may leave theirs, and
        # whether there may be uses behind it: where none has ended there are none.
        self._home: dict[Var, DataflowBlock] = {}
        self._leaving: list[Var] = []
        self._may_be_behind = False
        # The open blocks of the innermost function, which sees no variable that ends with others.
        self._open_blocks: list[list[DataflowBlock]] = [[]]
        self._used_behind: set[Var] = set()
        # Outputs that are another name of what their block binds.
        self._names: dict[Var, Var] = {}

    def names(self) -> dict[Var, Var]:
        """The variables that get other names, or end with their blocks, and what replaces them."""
        ending = {
            var: DataflowVar.make(var.name_hint, var.struct_info, span=var.span)
            for var in self._leaving
            if var not in self._used_behind
            and not isinstance(var.struct_info, ShapeStructInfo)  # which annotations may use
        }
        renamed = {var: name for var, name in self._names.items() if not {var, name} & self.freed}
        return {**{var: name for var, name in renamed.items() if name not in ending}, **ending}

    def enter(self, node: Node) -> bool | None:
        match node:
            case Binding():
                self._binding(node)
                return None if isinstance(node.value, (If, Function)) else False
            case DataflowBlock():
                self._open_blocks[-1].append(node)
            case Function():
                self._open_blocks.append([])
                self._may_be_behind = bool(self._leaving)
            case If(cond):
                self._use(cond)
                self.may_simplify |= _taken_branch(node) is not None
        return None

    def leave(self, node: Node) -> None:
        if isinstance(node, DataflowBlock):
            self._open_blocks[-1].pop()
            self._may_be_behind = bool(self._leaving)
        elif isinstance(node, Function):
            self._open_blocks.pop()

    def end_scope(self, node: Function | SeqExpr) -> None:
        if isinstance(node, SeqExpr):
            self._use(node.body)

    def _binding(self, binding: Binding) -> None:
        var, value, block = binding.var, binding.value, self.path[-1]
        if value.__class__ is Call:
            self._use(value)
            if Trait.FREES in traits_of(value.op):
                self.freed.update(arg for arg in value.args if isinstance(arg, Var))
        elif not isinstance(value, (If, Function)):
            self._use(value)
            self._look_for_repetition(var, value)
        if binding.__class__ is MatchCast:
            self.may_simplify = True
        if block.__class__ is not DataflowBlock:
            return
        self._home[var] = block
        if var.__class__ is not DataflowVar:
            self._leaving.append(var)
            if isinstance(value, DataflowVar) and isinstance(binding, VarBinding):
                self._name(value, var, block)

    def _look_for_repetition(self, var: Var, value: Expr) -> None:
        """Note whether a value may be one that is there; see `_Canonicalizer._same_value`."""
        match value:
            case Var():
                self.may_simplify = True
            case TupleGetItem(tuple_value=whole):
                self._fields.add(var)
                self.may_simplify |= whole in self._tuples
            case Tuple(fields=fields):
                self._tuples.add(var)
                self.may_simplify |= bool(fields) and fields[0] in self._fields

    def _name(self, value: DataflowVar, var: Var, block: DataflowBlock) -> None:
        infos = value.struct_info, var.struct_info
        kept = value in self._names or value in self.told
        if kept or None in infos or self._home.get(value) is not block:
            return
        if structural_equal(*infos):
            self._names[value] = var

    def _use(self, expr: Expr) -> None:
        if not self._may_be_behind:
            return
        for var in mentioned(expr):
            home = self._home.get(var)
            if home is not None and home not in self._open_blocks[-1]:
                self._used_behind.add(var)
