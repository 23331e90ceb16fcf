"""FuseOps: calls that are computed together become one function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.analysis import OpPattern
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Function,
    GlobalVar,
    If,
    MatchCast,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import compounds, mentioned, rewrite_top_down, variables
from relaxscript.op import Trait, traits_of
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .annotate_tir_op_pattern import annotated_pattern
from .dominators import DataflowGraph
from .fused_function import FusedFunctions
from .grouping import group_bindings
from .tir_calls import TIRCall, TIRCalls

__all__ = ["FuseOps", "holds_back"]

_MOST = 256


class FuseOps(ModulePass):
    """Let the calls of PrimFuncs in dataflow blocks that go together be one private function each.

    Before:

        lv = R.call_tir(cls.matmul, (x, w), out_sinfo=R.Tensor((n, 10), "float32"))
        lv1 = R.call_tir(cls.add, (lv, b), out_sinfo=R.Tensor((n, 10), "float32"))
        gv = R.call_tir(cls.relu, (lv1,), out_sinfo=R.Tensor((n, 10), "float32"))

    After:

        @R.function(private=True)
        def fused_matmul_add_relu(x: ..., w: ..., b: ...) -> R.Tensor(("n", 10), "float32"):
            R.func_attr({"Primitive": True})
            with R.dataflow():
                lv = R.call_tir(cls.matmul, (x, w), ...)
                ...

        gv: R.Tensor((n, 10), "float32") = cls.fused_matmul_add_relu(x, w, b)

    What goes together is decided by the attribute `op_pattern` of the PrimFuncs, which
    `AnnotateTIROpPattern` sets. A product takes the elementwise computations behind it, a
    reduction those before it. `FuseTIR` makes one PrimFunc of each function.

    Nothing is moved past a check or a call that writes into its arguments. `fuse_opt_level` 0
    fuses nothing; -1 stands for the level of the context. No function has more bindings than
    `relax.FuseOps.max_depth` (256) of the context's `config`. A function with the attribute
    `Primitive` or `Codegen` stays as it is.

    Source: TVM `relax.transform.FuseOps`.
    """

    adds_functions = True

    def __init__(self, fuse_opt_level: int = -1) -> None:
        super().__init__()
        self.fuse_opt_level = fuse_opt_level

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        level = ctx.opt_level if self.fuse_opt_level < 0 else self.fuse_opt_level
        if level == 0:
            return mod
        fusing = _Fusing(mod, ctx.config.get("relax.FuseOps.max_depth", _MOST))
        changed: dict[GlobalVar, Function] = {}
        for gvar, func in mod.relax_functions().items():
            attrs = func.attrs or Attrs()
            if attrs.get("Primitive") or "Codegen" in attrs:
                continue
            made = fusing.function(func)
            if made is not func:
                changed[gvar] = made
        if not changed:
            return mod
        made_module = mod.clone()
        for gvar, func in {**changed, **fusing.functions.made}.items():
            made_module[gvar] = func
        return made_module


class _Fusing:
    """Fuses the dataflow blocks of one module; `functions` has what they call then."""

    def __init__(self, mod: IRModule, max_depth: int) -> None:
        self.calls = TIRCalls(mod)
        self.functions = FusedFunctions(mod)
        self._max_depth = max_depth
        self._patterns: dict[str, OpPattern] = {}

    def function(self, func: Function) -> Function:
        """The function afterwards; itself where nothing goes together."""
        if not any(node.__class__ is DataflowBlock for node in compounds(func)):
            return func

        def step(node: Node) -> Node | None:
            if isinstance(node, DataflowBlock):
                return self._block(node)
            if isinstance(node, Binding) and not isinstance(node.value, (If, Function)):
                return node  # there is nothing to look for
            return None

        return rewrite_top_down(func, step)

    def _block(self, block: DataflowBlock) -> DataflowBlock:
        """The block afterwards; itself where nothing goes together."""
        graph, calls = self._graph(block.bindings)
        groups = group_bindings(graph, self._max_depth)
        members = [group for group in groups if sum(n in calls for n in group) > 1]
        if not members:
            return block
        written: list[Binding | None] = list(block.bindings)
        for group in members:
            inside = {block.bindings[n].var for n in group if n in calls}
            # A field of a tuple from elsewhere is taken where it was.
            group = [n for n in group if n in calls or _tuple_of(block.bindings[n]) in inside]
            for number in group:
                written[number] = None
            pairs = [(block.bindings[number], calls.get(number)) for number in group]
            written[group[-1]] = self.functions.call(pairs)
        return DataflowBlock.make(tuple([b for b in written if b is not None]), span=block.span)

    def _graph(self, bindings: Sequence[Binding]) -> tuple[DataflowGraph, dict[int, TIRCall]]:
        """The bindings of a block as a graph, and what they call, by their numbers."""
        graph, calls = DataflowGraph(), dict[int, TIRCall]()
        # The numbers of variables, and how many bindings before each let nothing pass.
        numbers: dict[Node, int] = {}
        stretches: list[int] = []
        stretch = 0
        for binding in bindings:
            value, var = binding.value, binding.var
            call = self.calls.match(value) if binding.__class__ is VarBinding else None
            used: Sequence[Node]
            pattern = OpPattern.OPAQUE
            if call is not None and _says_the_same(var.struct_info, call.result):
                pattern, used = self._pattern(call.gvar), call.args
            elif (tuple_var := _tuple_of(binding)) is not None:
                pattern, used = OpPattern.INJECTIVE, (tuple_var,)
                if tuple_var not in numbers or numbers[tuple_var] not in calls:
                    pattern = OpPattern.OPAQUE
            else:
                call, used = None, _used(binding)
            passes = call is not None or not holds_back(binding)
            if not passes:
                stretch += 1
            number = graph.add(pattern)
            stretches.append(stretch)
            for before in [numbers[v] for v in used if v in numbers]:
                graph.use(before, number)
                if stretches[before] != stretch:
                    graph.escapes[before] = True
            if not passes:
                stretch += 1
            if call is not None and pattern != OpPattern.OPAQUE:
                calls[number] = call
            numbers[var] = number
            graph.escapes[number] = not isinstance(var, DataflowVar)
        return graph, calls

    def _pattern(self, gvar: GlobalVar) -> OpPattern:
        found = self._patterns.get(gvar.name_hint)
        if found is None:
            signature = self.calls.signature(gvar)
            assert signature is not None, "the call fits"
            found = self._patterns[gvar.name_hint] = annotated_pattern(signature.func)
        return found


def _tuple_of(binding: Binding) -> Node | None:
    """The variable of which a binding takes a field."""
    value = binding.value
    if value.__class__ is TupleGetItem and binding.__class__ is VarBinding:
        held: Any = value.tuple_value
        return held if isinstance(held, Var) else None
    return None


def _says_the_same(info: StructInfo | None, result: StructInfo) -> bool:
    return info is result or (info is not None and structural_equal(info, result))


def _used(binding: Binding) -> Sequence[Node]:
    """The variables that a binding uses which is no call to be fused."""
    used: list[Node] = [*mentioned(binding.value)]
    if isinstance(binding, MatchCast):
        used += variables(binding.struct_info)
    return used


def holds_back(binding: Binding) -> bool:
    """True for a check, and for a call that is checked or changes what others read."""
    if isinstance(binding, MatchCast):
        return True
    if isinstance(binding.value, Call):
        traits = traits_of(binding.value.op)
        return Trait.CALLS_PRIM_FUNC in traits or Trait.WRITES_ARGS in traits
    return False
