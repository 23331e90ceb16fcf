"""FuseOpsByPattern: what patterns match becomes functions with a name."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from relaxscript.analysis import get_var2val
from relaxscript.dpl.matcher import Match, Matcher
from relaxscript.dpl.pattern import (
    CallPattern,
    ConstantPattern,
    TupleGetItemPattern,
    TuplePattern,
    UnorderedTuplePattern,
)
from relaxscript.errors.exceptions import add_note
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.walk import compounds, mentioned, rewrite_top_down
from relaxscript.transform.pass_infra.checked_arguments import checks_arguments
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.function_names import global_var_named
from relaxscript.transform.pass_infra.passes import ModulePass

from .fuse_ops import holds_back
from .fusion_pattern import FusionPattern, PatternCheckContext, as_fusion_pattern, codegen_of
from .group_function import GroupFunctions, is_group

__all__ = ["FuseOpsByPattern"]

# The patterns whose values are computed in the function; what others match is an operand of it.
_COMPUTED = (
    CallPattern, ConstantPattern, TupleGetItemPattern, TuplePattern, UnorderedTuplePattern,
)  # fmt: skip


class FuseOpsByPattern(ModulePass):
    """Let what each pattern matches in dataflow blocks be one private function with its name.

    Before:

        lv = R.matmul(x, w)
        gv = R.nn.relu(lv)

    After, with the pattern `("mine.matmul_relu", relu of matmul)`:

        @R.function(private=True)
        def fused_relax_matmul_relax_nn_relu(x: ..., w: ...) -> R.Tensor(("n", 10), "float32"):
            R.func_attr({"Composite": "mine.matmul_relu", "Primitive": True})
            with R.dataflow():
                lv = R.matmul(x, w)
                gv = R.nn.relu(lv)
                R.output(gv)
            return gv

        gv: R.Tensor((n, 10), "float32") = cls.fused_relax_matmul_relax_nn_relu(x, w)

    `patterns` are `FusionPattern`s, or tuples of their arguments. Earlier patterns win, and of one
    pattern earlier bindings. A match is left alone where a value inside is used outside too. With
    `bind_constants=False` constants become arguments. With `annotate_codegen` the function is a
    local one in a public function, which has the attribute `Codegen`: what the name of the pattern
    begins with. `entry_functions` are the functions to look into, all unless they are named;
    what is such a function already stays as it is.

    Raises `DiagnosticError`: RX0709 for what is no fusion pattern, and with `annotate_codegen` for
    a name without a dot; RX0703 for a function that is not there.

    Source: TVM `relax.transform.FuseOpsByPattern`.
    """

    adds_functions = True

    @checks_arguments("patterns")
    def __init__(
        self,
        patterns: Iterable[FusionPattern | tuple[Any, ...]],
        bind_constants: bool = True,
        annotate_codegen: bool = False,
        entry_functions: Sequence[str] | None = None,
    ) -> None:
        super().__init__()
        self.patterns = tuple(map(as_fusion_pattern, patterns))
        self.bind_constants = bind_constants
        self.annotate_codegen = annotate_codegen
        self.entry_functions = tuple(entry_functions or ())
        if annotate_codegen:
            for pattern in self.patterns:
                codegen_of(pattern.name)

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        named = [global_var_named(mod, n, self.info.name, True) for n in self.entry_functions]
        functions = mod.relax_functions()
        entries = [gvar for gvar in named or functions if not is_group(functions[gvar])]
        made, grouped = mod, GroupFunctions(mod)
        for pattern in self.patterns:
            for gvar in entries:
                before = made[gvar]
                partition = _Partition(
                    before, pattern, grouped, not self.bind_constants, self.annotate_codegen
                )
                after = partition.function()
                if after is not before:
                    made = mod.clone() if made is mod else made
                    made[gvar] = after
        for gvar, function in grouped.made.items():
            made[gvar] = function
        return made


class _Partition:
    """The matches of one pattern in a function, each as a call of a function of its own."""

    def __init__(
        self,
        func: Function,
        fusion: FusionPattern,
        functions: GroupFunctions,
        lifts_constants: bool,
        annotates_codegen: bool,
    ) -> None:
        self.func = func
        self.fusion = fusion
        self.functions = functions
        self._lifts_constants = lifts_constants
        self._annotates_codegen = annotates_codegen
        self._values = get_var2val(func)
        self._matcher = Matcher(self._values)

    @cached_property
    def _bound(self) -> dict[Expr, Var]:
        return {value: var for var, value in self._values.items() if not isinstance(value, Var)}

    @cached_property
    def _usages(self) -> dict[Var, list[Var]]:
        usages: dict[Var, list[Var]] = {var: [] for var in self._values}
        for user, value in self._values.items():
            for used in mentioned(value):
                usages.setdefault(used, []).append(user)
        return usages

    def function(self) -> Function:
        """The function afterwards; itself where nothing matches."""
        if not any(node.__class__ is DataflowBlock for node in compounds(self.func)):
            return self.func

        def step(node: Node) -> Node | None:
            if isinstance(node, DataflowBlock):
                return self._block(node)
            if isinstance(node, Binding) and not isinstance(node.value, (If, Function)):
                return node  # there is nothing to look for
            return None

        return rewrite_top_down(self.func, step)

    def _block(self, block: DataflowBlock) -> DataflowBlock:
        """The block afterwards; itself where nothing matches."""
        graph = _Block(block, self.functions.names_of_groups)
        written: list[Binding | None] = list(block.bindings)
        for number, binding in enumerate(block.bindings):
            if binding.var not in graph.numbers:
                continue
            match = self._matcher.match(self.fusion.pattern, binding.value)
            group = None if match is None else self._group(match, number, graph)
            if match is None or group is None or not graph.can_be_one(group):
                continue
            found = self._annotated(match)
            members = [block.bindings[n] for n in group]
            if not self._is_wanted(members, found):
                continue
            call = self._call(members, found)
            if call is None:
                continue
            for member in group:
                written[member] = None
            graph.taken.update(group)
            written[number] = call
        if not graph.taken:
            return block
        return DataflowBlock.make(tuple([b for b in written if b is not None]), span=block.span)

    def _annotated(self, match: Match) -> dict[str, Expr]:
        """The expressions that the parts of the pattern with names met."""
        if not self.fusion.annotation_patterns:
            return {}
        met = match.as_met()
        return {k: met[part] for k, part in self.fusion.annotation_patterns.items() if part in met}

    def _group(self, match: Match, root: int, graph: _Block) -> list[int] | None:
        """The numbers of the bindings that a match computes, in their order."""
        members = {root}
        for part, expr in match.memo.items():
            if not isinstance(part, _COMPUTED):
                continue
            value = match.resolve(expr)
            var = self._bound.get(value)
            number = None if var is None else graph.numbers.get(var)
            if number is not None:
                members.add(number)
            elif isinstance(value, (Call, Tuple, TupleGetItem)) and var is not None:
                return None  # it is computed outside of the block
        return sorted(members)

    def _is_wanted(self, members: Sequence[Binding], found: dict[str, Expr]) -> bool:
        if self.fusion.check is None:
            return True
        context = PatternCheckContext(
            members[-1].value, found, {b.var: b.value for b in members}, self._usages, self._bound
        )
        with self._naming("check", members[-1]):
            return bool(self.fusion.check(context))

    @contextmanager
    def _naming(self, part: str, last: Binding) -> Iterator[None]:
        """Have what a user's function raises say whose it is, and of which binding."""
        try:
            yield
        except Exception as error:
            whose = f'the {part} of the fusion pattern "{self.fusion.name}"'
            add_note(error, f"{whose} failed on `{last.var.name_hint}`")
            raise

    def _call(self, members: Sequence[Binding], found: dict[str, Expr]) -> Binding | None:
        """The call in the place of a group, bound to its last variable; None for no function."""
        attrs: dict[str, Any] = {"Composite": self.fusion.name, "Primitive": True}
        last = members[-1]
        if self.fusion.attrs_getter is not None:
            with self._naming("attrs_getter", last):
                attrs.update(self.fusion.attrs_getter(found))
        made = self.functions.find_for(
            members, attrs, self._lifts_constants, self._written, lambda: self._name(members)
        )
        if made is None:
            return None
        gvar, args = made
        call = Call.make(gvar, args, span=last.value.span)
        remember_struct_info(call, last.var.struct_info)
        return VarBinding.make(last.var, call, span=last.span)

    def _name(self, members: Sequence[Binding]) -> str:
        name = self.functions.name(members)
        if not self._annotates_codegen:
            return name
        return self.functions.names.unique(f"{name}_{codegen_of(self.fusion.name)}")

    def _written(self, function: Function, name: str) -> Function:
        """The function of a group, or one of a code generator around it."""
        if not self._annotates_codegen:
            return function
        return _around(function, codegen_of(self.fusion.name), name)


def _may_be_fused(binding: Binding, grouped: Container[str]) -> bool:
    value = binding.value
    if isinstance(value, Call) and isinstance(value.op, GlobalVar):
        return value.op.name_hint not in grouped and binding.__class__ is VarBinding
    return binding.__class__ is VarBinding and isinstance(
        value, (Call, Tuple, TupleGetItem, Constant)
    )


class _Block:
    """A dataflow block: the numbers of its bindings, and who uses what. `taken` are in groups."""

    def __init__(self, block: DataflowBlock, grouped: Container[str]) -> None:
        self.bindings = block.bindings
        self.numbers = {b.var: n for n, b in enumerate(block.bindings) if _may_be_fused(b, grouped)}
        self.taken: set[int] = set()

    @cached_property
    def _users(self) -> Mapping[Var, list[int]]:
        users: dict[Var, list[int]] = {}
        for number, binding in enumerate(self.bindings):
            for used in mentioned(binding.value):
                users.setdefault(used, []).append(number)
        return users

    @cached_property
    def _held_back(self) -> list[int]:
        """For each binding how many checks and writes there are before it."""
        counts = [0]
        for binding in self.bindings:
            counts.append(counts[-1] + holds_back(binding))
        return counts

    def can_be_one(self, group: Sequence[int]) -> bool:
        """True if all bindings are free, and only the last one's value is used outside.

        Nothing is moved past a check or a call that writes.
        """
        if not self.taken.isdisjoint(group):
            return False
        inside = set(group)
        for number in group[:-1]:
            var = self.bindings[number].var
            if not isinstance(var, DataflowVar) or not inside.issuperset(self._users.get(var, ())):
                return False
        if len(group) == 1:
            return True
        between = self._held_back[group[-1] + 1] - self._held_back[group[0]]
        return between == sum(holds_back(self.bindings[number]) for number in group)


def _around(function: Function, codegen: str, symbol: str) -> Function:
    """The public function of a code generator that calls a function inside of it."""
    attrs = (function.attrs or Attrs()).without("Primitive")
    inner = copy_with_new_vars(function.replace(attrs=attrs))
    outer = copy_with_new_vars(function)
    local = Var.make("composite", inner.struct_info)
    result = Var.make("gv", outer.ret_struct_info)
    call = Call.make(local, outer.params)
    remember_struct_info(call, result.struct_info)
    block = BindingBlock.make((VarBinding.make(local, inner), VarBinding.make(result, call)))
    body = SeqExpr.make((block,), result)
    said: dict[str, Any] = {"Codegen": codegen}
    if "WorkspaceSize" in attrs:
        said["WorkspaceSize"] = attrs["WorkspaceSize"]
    attrs = Attrs({**said, "global_symbol": symbol})
    return Function.make(outer.params, body, outer.ret_struct_info, True, attrs, span=function.span)
