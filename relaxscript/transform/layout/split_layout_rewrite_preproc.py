"""SplitLayoutRewritePreproc: what brings weights into another layout is a PrimFunc of its own."""

from __future__ import annotations

from typing import NamedTuple

from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    GlobalVar,
    ShapeExpr,
    Tuple,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.stmt_functor import renew_defs
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.tir import (
    Allocate,
    Block,
    BlockRealize,
    Buffer,
    DeclBuffer,
    PrimFunc,
    SeqStmt,
    Stmt,
    handle_var,
)
from relaxscript.ir.walk import rewrite_compounds, walk
from relaxscript.op.calls import call_tir
from relaxscript.semantics.fill_sets import FILLS
from relaxscript.transform.default_schedule.packed_product import LAYOUT_FREE, PREPROCESS
from relaxscript.transform.fuse.function_names import (
    FunctionNames,
    with_free_names,
    without_unused,
)
from relaxscript.transform.fuse.tir_calls import TIRCall, TIRCalls
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass
from relaxscript.transform.prim_func.lower_blocks import is_true

__all__ = ["SplitLayoutRewritePreproc"]


class SplitLayoutRewritePreproc(ModulePass):
    """Make PrimFuncs of those statements that only bring a parameter into another layout.

    Before:

        @T.prim_func(private=True)
        def matmul(A: T.Buffer((64, 64)), B: T.Buffer((64, 64)), C: T.Buffer((64, 64))):
            T.func_attr({"layout_free_buffers": [1]})
            with T.allocate([4, 64, 16], "float32", "global") as panels: ...
                with T.block("panels"):
                    T.block_attr({"meta_schedule_layout_rewrite_preproc": True})
                    ...  # fills the panels from `B`
                ...  # the product of `A` and the panels

        y = R.call_tir(cls.matmul, (x, w), out_sinfo=R.Tensor((64, 64), "float32"))

    After:

        panels = R.call_tir(
            cls.matmul_weight_prepack, (w,), out_sinfo=R.Tensor((4, 64, 16), "float32")
        )
        y = R.call_tir(cls.matmul, (x, panels), out_sinfo=R.Tensor((64, 64), "float32"))

    Where `w` is a constant, `FoldConstant` computes the first call. The annotated block is the
    first statement in the memory that it fills. The parameter that it reads is in
    `layout_free_buffers`, and is read by nothing else. What is left has the name of the PrimFunc
    where that is private and nobody else calls it; then the old one is gone. Otherwise it is
    `matmul_prepacked`.

    Source: TVM `relax.transform.SplitLayoutRewritePreproc`.
    """

    adds_functions = True
    removes_functions = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        splitting = _Preparing(mod)
        made = mod.clone()
        for gvar, func in mod.relax_functions().items():
            new = rewrite_compounds(func, splitting.block)
            if new is not func:
                made[gvar] = new
        done = {name: split for name, split in splitting.splits.items() if split is not None}
        if not done:
            return mod
        for split in done.values():
            made[split.first] = split.prepack
            made[split.second] = split.prepacked
        made = without_unused(made, {name for name in done if mod[name].is_private})
        for name, split in done.items():
            if name in made:  # Variables are those of one function.
                made[split.second] = renew_defs(split.prepacked)
        return with_free_names(made, {done[name].second.name_hint: name for name in done})


class _Prepared(NamedTuple):
    """The two functions in the place of one, their names, and which tensor the first takes."""

    first: GlobalVar
    prepack: PrimFunc
    second: GlobalVar
    prepacked: PrimFunc
    panels: Buffer
    source: int


class _Preparing:
    """Splits the PrimFuncs of one module; `splits` are None where they stay."""

    def __init__(self, mod: IRModule) -> None:
        self.splits: dict[str, _Prepared | None] = {}
        self._calls = TIRCalls(mod)
        self._names = FunctionNames(mod)

    def block(self, node: Node) -> Node | None:
        """A block of bindings in which layouts are made by calls of their own."""
        if not isinstance(node, BindingBlock):
            return None
        kind = DataflowVar if isinstance(node, DataflowBlock) else Var
        bindings: list[Binding] = []
        for binding in node.bindings:
            bindings += self._bindings(binding, kind) or [binding]
        same = len(bindings) == len(node.bindings)
        return None if same else node.replace(bindings=tuple(bindings))

    def _bindings(self, binding: Binding, kind: type[Var]) -> list[Binding] | None:
        call = self._calls.match(binding.value) if isinstance(binding, VarBinding) else None
        split = None if call is None else self._split(call)
        if call is None or split is None:
            return None
        old = binding.value
        assert isinstance(old, Call)
        args = list(call.args)
        info = TensorStructInfo(ShapeExpr.make(split.panels.shape), split.panels.dtype)
        held = Tuple.make((args[split.source],))
        packing = Call.make(call_tir.op, (split.first, held), None, (info,), span=old.span)
        remember_struct_info(packing, info)
        var = kind.make(split.panels.name, info, span=binding.var.span)
        args[split.source] = var
        using = old.replace(args=(split.second, Tuple.make(tuple(args)), *old.args[2:]))
        remember_struct_info(using, call.result)
        return [VarBinding.make(var, packing, span=binding.span), binding.replace(value=using)]

    def _split(self, call: TIRCall) -> _Prepared | None:
        name = call.gvar.name_hint
        if name not in self.splits:
            self.splits[name] = self._new(name, call.signature.func)
        return self.splits[name]

    def _new(self, name: str, func: PrimFunc) -> _Prepared | None:
        found = _preparation(func)
        if found is None:
            return None
        panels, source, fill, rest = found
        attrs = func.attrs
        for known in ("global_symbol", "op_pattern", LAYOUT_FREE):
            attrs = attrs.without(known)
        params = [handle_var(f"{buffer.name}_handle") for buffer in (source, panels)]
        own = attrs.without(FILLS)
        prepack = PrimFunc(tuple(params), fill, None, dict(zip(params, (source, panels))), own)
        given = handle_var(f"{panels.name}_handle")
        old = next(param for param, buffer in func.buffer_map.items() if buffer is source)
        buffers = {given if p is old else p: b for p, b in func.buffer_map.items()}
        prepacked = func.replace(
            params=tuple([given if p is old else p for p in func.params]), body=rest,
            buffer_map={**buffers, given: panels}, attrs=attrs or None, param_spans=(),
        )  # fmt: skip
        tensors = [param for param in func.params if param in func.buffer_map]
        return _Prepared(
            GlobalVar.make(self._names.unique(f"{name}_weight_prepack")), renew_defs(prepack),
            GlobalVar.make(self._names.unique(f"{name}_prepacked")), prepacked,
            panels, tensors.index(old),
        )  # fmt: skip


def _preparation(func: PrimFunc) -> tuple[Buffer, Buffer, Stmt, Stmt] | None:
    """The buffer that is filled, its source, the statement that fills it, and the rest."""
    match func.body:
        case Allocate(body=DeclBuffer(buffer=panels, body=SeqStmt(seq=(first, *rest)))) as memory:
            if memory.buffer_var is not panels.data:
                return None
        case _:
            return None
    block = _annotated(first)
    if block is None or not all(isinstance(extent, IntImm) for extent in panels.shape):
        return None
    source = _source(func, block, panels)
    left: Stmt = SeqStmt.make(tuple(rest)) if len(rest) > 1 else rest[0]
    if source is None or not {source, source.data}.isdisjoint(walk(left)):
        return None
    return panels, source, block.body, left


def _annotated(stmt: Stmt) -> Block | None:
    """The block without axes that says of itself that it only changes a layout."""
    match stmt:
        case BlockRealize(block=Block(iter_vars=(), init=None, alloc_buffers=()) as block):
            marked = block.annotations.get(PREPROCESS) and not block.match_buffers
            return block if marked and is_true(stmt.predicate) else None
    return None


def _source(func: PrimFunc, block: Block, panels: Buffer) -> Buffer | None:
    """The one parameter that a block reads, which may lie in any way, if it fills the panels."""
    read, written = ({region.buffer for region in x} for x in (block.reads, block.writes))
    indices = () if func.attrs is None else func.attrs.get(LAYOUT_FREE, ())
    free = [func.buffer_map.get(func.params[int(i)]) for i in indices if int(i) < len(func.params)]
    if written != {panels} or len(read) != 1:
        return None
    (source,) = read
    return source if source in free else None
