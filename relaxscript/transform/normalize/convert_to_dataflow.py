"""ConvertToDataflow: runs of pure bindings become dataflow blocks."""

from __future__ import annotations

from functools import partial

from relaxscript.analysis.call_graph import detect_recursion, is_pure
from relaxscript.analysis.derive import Context, call_purity
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    If,
    Op,
    SeqExpr,
    Var,
)
from relaxscript.ir.walk import compounds, rewrite_compounds, variables
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass
from relaxscript.transform.simplify.canonicalize_bindings import canonical_form

__all__ = ["ConvertToDataflow"]


class ConvertToDataflow(ModulePass):
    """Put runs of at least `min_size` pure bindings into dataflow blocks, which are then canonical.

    Before:

        a = R.exp(x)
        b = R.log(a)
        _ = R.print(b, format="{}")
        c = R.exp(b)
        return c

    After:

        with R.dataflow():
            a = R.exp(x)
            b = R.log(a)
            R.output(b)
        _ = R.print(b, format="{}")
        c = R.exp(b)
        return c

    Calls without effects, casts, tuples, constants and local functions are such bindings. Choices
    and recursive calls are none. A block that is next to a run becomes part of it, and counts.
    Branches and local functions have runs of their own. `CanonicalizeBindings` follows, by which
    what is used nowhere else ends with its block. In a dataflow block, what may fail is no longer
    sure to be kept by passes that follow.

    Source: TVM `relax.transform.ConvertToDataflow`.
    """

    def __init__(self, min_size: int = 2) -> None:
        self.min_size = min_size

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        groups = {v.name_hint: group for group in detect_recursion(mod) for v in group}
        made = mod.clone()
        for var, func in mod.relax_functions().items():
            callers = frozenset(v.name_hint for v in groups.get(var.name_hint, ()))
            made[var] = self._convert(func, mod, callers)
        same = all(made[var] is func for var, func in mod.functions.items())
        return mod if same else made

    def _convert(self, func: Function, mod: IRModule, callers: frozenset[str]) -> Function:
        """The function with runs in blocks; `callers` are those with which it recurs."""
        while True:
            admits = _Admission(func, mod, callers)
            made = rewrite_compounds(func, partial(self._step, admits=admits))
            func, same_blocks = canonical_form(made, mod)
            if same_blocks:  # with the same bindings there are the same runs
                return func

    def _step(self, node: Node, admits: _Admission) -> Node | None:
        if not isinstance(node, SeqExpr):
            return None
        blocks = _with_runs(node.blocks, self.min_size, admits)
        return None if _are_same(blocks, node.blocks) else node.replace(blocks=blocks)


class _Admission:
    """The bindings that may be in a dataflow block: no effects, choices or recursive calls."""

    def __init__(self, func: Function, mod: IRModule, callers: frozenset[str]) -> None:
        self._context = Context(mod)
        self._callers = callers
        # Other names of functions, and local functions that call themselves.
        self._names: dict[Expr, Expr] = {}
        self._recursive: set[Expr] = set()
        for node in compounds(func):
            if isinstance(node, Binding):
                var, value = node.var, node.value
                if isinstance(value, (Var, GlobalVar)):
                    self._names[var] = self._names.get(value, value)
                elif isinstance(value, Function) and var in variables(value.body):
                    self._recursive.add(var)

    def __call__(self, binding: Binding) -> bool:
        value = binding.value
        if isinstance(value, Call):
            if isinstance(value.op, Op):
                return call_purity(value, self._context)
            if self._is_recursive(self._names.get(value.op, value.op)):
                return False
        return not isinstance(value, If) and is_pure(value, self._context)

    def _is_recursive(self, callee: Expr) -> bool:
        if isinstance(callee, GlobalVar):
            return callee.name_hint in self._callers
        return callee in self._recursive


def _with_runs(
    blocks: tuple[BindingBlock, ...], min_size: int, admits: _Admission
) -> tuple[BindingBlock, ...]:
    """The blocks of a sequence, runs of pure bindings among them as dataflow blocks."""
    made: list[BindingBlock] = []
    run: list[BindingBlock] = []  # the blocks, or parts of blocks, of the run at hand

    def end_run() -> None:
        if run and sum(len(part.bindings) for part in run) >= min_size:
            run[:] = [_joined(DataflowBlock, run)]
        for part in run:
            _append(made, part)
        run.clear()

    for block in blocks:
        if isinstance(block, DataflowBlock):
            run.append(block)
            continue
        for part, pure in _split(block, admits):
            if pure:
                run.append(part)
            else:
                end_run()
                _append(made, part)
    end_run()
    return tuple(made)


def _are_same(made: tuple[BindingBlock, ...], blocks: tuple[BindingBlock, ...]) -> bool:
    """True if blocks are of the same kinds, and hold the same bindings."""
    return len(made) == len(blocks) and all(
        type(a) is type(b) and a.bindings == b.bindings for a, b in zip(made, blocks, strict=True)
    )


def _append(made: list[BindingBlock], block: BindingBlock) -> None:
    """Add a block; neighbours of a kind are one."""
    if made and type(made[-1]) is type(block):
        block = _joined(type(block), [made.pop(), block])
    made.append(block)


def _joined(kind: type[BindingBlock], parts: list[BindingBlock]) -> BindingBlock:
    if len(parts) == 1 and type(parts[0]) is kind:
        return parts[0]
    bindings = tuple([binding for part in parts for binding in part.bindings])
    return kind.make(bindings, span=parts[0].span)


def _split(block: BindingBlock, admits: _Admission) -> list[tuple[BindingBlock, bool]]:
    """An ordinary block in parts, each of bindings for a dataflow block only or of others."""
    kinds = [admits(binding) for binding in block.bindings]
    if len(set(kinds)) == 1:
        return [(block, kinds[0])]
    parts: list[tuple[list[Binding], bool]] = []
    for binding, kind in zip(block.bindings, kinds, strict=True):
        if not parts or parts[-1][1] != kind:
            parts.append(([], kind))
        parts[-1][0].append(binding)
    return [(block.replace(bindings=tuple(bindings)), kind) for bindings, kind in parts]
