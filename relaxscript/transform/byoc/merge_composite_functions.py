"""MergeCompositeFunctions: neighbours for the same code generator become one function."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.analysis.mentioned_functions import mentioned_functions
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Function,
    GlobalVar,
    SeqExpr,
    TupleGetItem,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.struct_info import TupleStructInfo
from relaxscript.ir.walk import compounds, mentioned, rewrite_top_down, substitute
from relaxscript.transform.fuse.fuse_ops import holds_back
from relaxscript.transform.fuse.fusion_pattern import codegen_of
from relaxscript.transform.fuse.group_function import GroupFunctions, group_function, is_group
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .allocate_workspace import workspace_size

__all__ = ["MergeCompositeFunctions", "without_unused"]


class MergeCompositeFunctions(ModulePass):
    """Let neighbouring calls of `Composite` functions of one code generator be one function.

    Before:

        lv: R.Tensor((n, 10), "float32") = cls.fused_relax_matmul(x, w)
        gv: R.Tensor((n, 10), "float32") = cls.fused_relax_nn_relu(lv)

    After, where both have names such as "mine.relu":

        @R.function
        def fused_relax_matmul_relax_nn_relu_mine(x: ..., w: ...) -> R.Tensor(("n", 10), "float32"):
            R.func_attr({"Codegen": "mine"})

            @R.function
            def composite(...): ...  # each of the two functions, and its call
            ...

        gv: R.Tensor((n, 10), "float32") = cls.fused_relax_matmul_relax_nn_relu_mine(x, w)

    A call that has no such neighbour becomes a function of its own. No function needs what depends
    on it: each is on one level, and whatever leaves it is used on a later one. Nothing is moved
    past a check or a call that writes. `Composite` functions that nobody calls any more go.

    Raises `DiagnosticError` (RX0709) for a `Composite` name without a dot.

    Source: TVM `relax.transform.MergeCompositeFunctions`.
    """

    adds_functions = True
    removes_functions = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        merging = _Merging(mod)
        changed: dict[GlobalVar, Function] = {}
        for gvar, func in mod.relax_functions().items():
            if not is_group(func):
                made = merging.function(func)
                if made is not func:
                    changed[gvar] = made
        if not changed:
            return mod
        made_module = mod.clone()
        for gvar, func in {**changed, **merging.functions.made}.items():
            made_module[gvar] = func
        return without_unused(made_module, set(merging.composites))


def without_unused(mod: IRModule, names: set[str]) -> IRModule:
    """The module without those of some functions that no function of it names; it is changed."""
    for name in names.difference(*map(mentioned_functions, mod.relax_functions().values())):
        del mod[name]
    return mod


class _Merging:
    """Merges calls in the dataflow blocks of one module; `functions` has what they call then."""

    def __init__(self, mod: IRModule) -> None:
        self.functions = GroupFunctions(mod)
        # The functions of patterns by their names, and the code generator of each.
        self.composites: dict[str, tuple[Function, str]] = {}
        for gvar, func in mod.relax_functions().items():
            attrs = func.attrs or Attrs()
            if "Composite" in attrs and "Codegen" not in attrs:
                codegen = codegen_of(str(attrs["Composite"]), func.span)
                self.composites[gvar.name_hint] = func, codegen

    def function(self, func: Function) -> Function:
        """The function afterwards; itself where there are no such calls."""
        if not self.composites:
            return func
        if not any(node.__class__ is DataflowBlock for node in compounds(func)):
            return func

        def step(node: Node) -> Node | None:
            return self._block(node) if isinstance(node, DataflowBlock) else None

        return rewrite_top_down(func, step)

    def _block(self, block: DataflowBlock) -> DataflowBlock:
        """The block afterwards; itself where there are no such calls."""
        graph = _Levels(block.bindings, [self._codegen(b) for b in block.bindings])
        if not any(graph.codegens):
            return block
        units: list[tuple[tuple[int, int, int], list[Binding]]] = []
        for group in graph.groups():
            bindings = [block.bindings[n] for n in group]
            codegen = graph.codegens[group[0]]
            written = bindings
            if codegen is not None:
                written = self._call(bindings, graph.outputs(group), codegen)
            last = group[-1]
            units.append(((graph.stretches[last], graph.levels[last], last), written))
        if graph.needs_order:
            units.sort(key=lambda unit: unit[0])
        else:
            units.sort(key=lambda unit: unit[0][2])
        made = [binding for _, written in units for binding in written]
        return DataflowBlock.make(tuple(made), span=block.span)

    def _codegen(self, binding: Binding) -> str | None:
        value = binding.value
        if not isinstance(value, Call) or not isinstance(value.op, GlobalVar):
            return None
        found = self.composites.get(value.op.name_hint)
        return None if found is None or binding.__class__ is not VarBinding else found[1]

    def _call(
        self, group: Sequence[Binding], outputs: Sequence[Var], codegen: str
    ) -> list[Binding]:
        """The bindings that take the place of a group."""
        made_function = group_function(group, outputs, {"Codegen": codegen})
        if made_function is None:
            return list(group)
        function, args = made_function
        gvar = self.functions.find(
            function,
            lambda: self.functions.names.unique(f"{self.functions.name(group)}_{codegen}"),
            self._with_local_functions,
        )
        call = Call.make(gvar, args, span=group[-1].value.span)
        span = group[-1].span
        if len(outputs) == 1:
            remember_struct_info(call, outputs[0].struct_info)
            return [VarBinding.make(outputs[0], call, span=span)]
        info = TupleStructInfo.make(tuple([var.struct_info for var in outputs]))
        remember_struct_info(call, info)
        held = DataflowVar.make("lv", info)
        made: list[Binding] = [VarBinding.make(held, call, span=span)]
        for index, var in enumerate(outputs):
            field = TupleGetItem.make(held, index)
            remember_struct_info(field, var.struct_info)
            made.append(VarBinding.make(var, field, span=span))
        return made

    def _with_local_functions(self, function: Function, symbol: str) -> Function:
        """The function with those that it calls inside of it, and with its symbol."""
        body = function.body
        assert isinstance(body, SeqExpr)
        local: dict[str, Binding] = {}
        bindings: list[Binding] = []
        plain: dict[Node, Node] = {}
        for binding in body.blocks[0].bindings:
            value, var = binding.value, binding.var
            if isinstance(var, DataflowVar):
                var = Var.make(var.name_hint, var.struct_info, span=var.span)
                plain[binding.var] = var
            if isinstance(value, Call):
                assert isinstance(value.op, GlobalVar)
                name = value.op.name_hint
                if name not in local:
                    composite, _ = self.composites[name]
                    attrs = (composite.attrs or Attrs()).without("Primitive")
                    inner = copy_with_new_vars(composite.replace(attrs=attrs))
                    local[name] = VarBinding.make(Var.make("composite", inner.struct_info), inner)
                    bindings.append(local[name])
                args = tuple([substitute(arg, plain) for arg in value.args])
                value = Call.make(local[name].var, args, span=value.span)
                remember_struct_info(value, var.struct_info)
            else:
                value = substitute(value, plain)
            bindings.append(VarBinding.make(var, value, span=binding.span))
        blocks = (BindingBlock.make(tuple(bindings)),)
        attrs = function.attrs or Attrs()
        largest = max((workspace_size(b.value) for b in local.values()), default=0)
        if largest:  # they share one
            attrs = attrs.with_item("WorkspaceSize", largest)
        attrs = attrs.with_item("global_symbol", symbol)
        body = body.replace(blocks=blocks, body=substitute(body.body, plain))
        return function.replace(body=body, attrs=attrs)


class _Levels:
    """The levels of the bindings of a block: what uses a value is on its level or a later one.

    Between different code generators, and across a check or a write, it is on a later one. So calls
    of one level that use each other can be one: no way leads out of them and back.
    """

    def __init__(self, bindings: Sequence[Binding], codegens: Sequence[str | None]) -> None:
        self.bindings = bindings
        self.codegens = codegens
        numbers: dict[Var, int] = {}
        self._uses: list[list[int]] = []
        for number, binding in enumerate(bindings):  # a local function may use itself
            self._uses.append([numbers[v] for v in mentioned(binding.value) if v in numbers])
            numbers[binding.var] = number
        self._users: list[list[int]] = [[] for _ in bindings]
        self.stretches: list[int] = []
        stretch = 0
        for number, binding in enumerate(bindings):
            for used in self._uses[number]:
                self._users[used].append(number)
            holds = holds_back(binding) and codegens[number] is None
            stretch += holds
            self.stretches.append(stretch)
            stretch += holds
        self.levels = self._earliest()
        self._push_lonely()
        self.needs_order = False

    def _is_near(self, one: int, other: int) -> bool:
        """True if two bindings may be on one level where one uses the other."""
        codegen = self.codegens[one]
        if codegen != self.codegens[other]:
            return False
        return codegen is None or self.stretches[one] == self.stretches[other]

    def _earliest(self) -> list[int]:
        levels: list[int] = []
        for number, uses in enumerate(self._uses):
            steps = [levels[used] + (not self._is_near(used, number)) for used in uses]
            levels.append(max(steps, default=0))
        return levels

    def _are_joined(self, one: int, other: int) -> bool:
        return (
            self.codegens[one] is not None
            and self._is_near(one, other)
            and self.levels[one] == self.levels[other]
        )

    def _push_lonely(self) -> None:
        """Put calls without neighbours on the level of those that use them, where these may be."""
        for number in reversed(range(len(self.levels))):
            users = self._users[number]
            around = (*users, *self._uses[number])
            if self.codegens[number] is None or not users:
                continue
            if not any(self._are_joined(number, other) for other in around):
                self.levels[number] = min(
                    [self.levels[user] - (not self._is_near(number, user)) for user in users]
                )

    def groups(self) -> list[list[int]]:
        """The bindings that are one, by their numbers, in the order of evaluation."""
        leaders = list(range(len(self.levels)))

        def leader(number: int) -> int:
            while leaders[number] != number:
                leaders[number] = number = leaders[leaders[number]]
            return number

        for number, uses in enumerate(self._uses):
            for used in uses:
                if self._are_joined(used, number):
                    leaders[leader(used)] = leader(number)
        members: dict[int, list[int]] = {}
        for number in range(len(leaders)):
            members.setdefault(leader(number), []).append(number)
        return list(members.values())

    def outputs(self, group: Sequence[int]) -> list[Var]:
        """The variables of a group that others use; its last one where nobody does."""
        inside, found = set(group), list[Var]()
        for number in group:
            outside = [user for user in self._users[number] if user not in inside]
            var = self.bindings[number].var
            if outside or not isinstance(var, DataflowVar):
                found.append(var)
            if any(user < group[-1] for user in outside):
                self.needs_order = True
        return found or [self.bindings[group[-1]].var]
