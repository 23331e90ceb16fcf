"""Escape analysis: which variables of a function others may write into or keep.

A constant is a new tensor at each evaluation where somebody could write into it or keep it. Where
it is only read, it is the one tensor of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from relaxscript.ir import prim, relax, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.stmt_functor import all_parts
from relaxscript.ir.walk import children, compounds
from relaxscript.op import Trait, lookup, traits_of
from relaxscript.op.device import to_vdevice
from relaxscript.semantics.check_calls import check_of
from relaxscript.sinfo import definable_shape_vars

__all__ = [
    "KernelArgs", "Usage", "is_plain_operator", "usage_of", "written_params",
]  # fmt: skip

# Traits of operators that hand their operands to somebody else.
_HANDING_ON = {Trait.CALLS_OUT, Trait.CALLS_PRIM_FUNC, Trait.CAPTURES}


@dataclass
class Usage:
    """The findings of one walk over a function.

    `escaping` are the variables whose values may be written into or kept by somebody else;
    `symbols` are the packed functions that it names. `matched` are the shape variables that the
    match_casts of its body bind; `gives_back` says whether it gives values back before its end.
    """

    escaping: set[relax.Var] = field(default_factory=set)
    symbols: set[str] = field(default_factory=set)
    matched: dict[prim.Var, None] = field(default_factory=dict)
    gives_back: bool = False


class KernelArgs:
    """Arguments of direct calls of PrimFuncs, each of which is gone through once."""

    def __init__(self, module: IRModule) -> None:
        self._module = module
        self._written: dict[tir.PrimFunc, set[prim.Var]] = {}

    def only_read(self, callee: relax.Expr, args: Sequence[relax.Expr]) -> set[relax.Expr]:
        """The arguments of a direct call of a PrimFunc that it does not write into."""
        module = self._module
        function = (
            module[callee] if isinstance(callee, relax.GlobalVar) and callee in module else None
        )
        if not isinstance(function, tir.PrimFunc):
            return set()
        written = self._written_by(function)
        pairs = list(zip(args, function.params, strict=False))
        return {a for a, p in pairs if p not in written} - {a for a, p in pairs if p in written}

    def _written_by(self, function: tir.PrimFunc) -> set[prim.Var]:
        written = self._written.get(function)
        if written is None:
            # One that calls itself has no code; it is taken for one that writes everywhere.
            self._written[function] = set(function.params)
            written = self._written[function] = written_params(function, self._places)
        return written

    def _places(self, callee: relax.GlobalVar) -> set[int]:
        """The positions of the parameters into which the PrimFunc of a name may write."""
        function = self._module[callee] if callee in self._module else None  # noqa: SIM401
        if not isinstance(function, tir.PrimFunc):
            return set(range(_MOST_PARAMETERS))
        written = self._written_by(function)
        return {i for i, param in enumerate(function.params) if param in written}


# More than a call has arguments.
_MOST_PARAMETERS = 1 << 16


def usage_of(function: relax.Function, kernels: KernelArgs) -> Usage:
    """The uses of the values of a function."""
    found = Usage()
    aliases: dict[relax.Var, list[relax.Var]] = {}  # of what each is another name
    items: set[int] = set()  # of tuples, which are bound
    for node in compounds(function.body):
        match node:
            case relax.VarBinding(value=relax.Call()):
                pass
            case relax.VarBinding(var=var, value=relax.TupleGetItem(relax.Var() as whole) as value):
                aliases.setdefault(var, []).append(whole)
                items.add(id(value))
            case relax.VarBinding(var=var, value=value):
                _note_symbols([value], found)
                aliases.setdefault(var, []).extend(_operands([value]))
            case relax.MatchCast(var=var, value=value, struct_info=info):
                _note_symbols([value], found)
                aliases.setdefault(var, []).extend(_operands([value]))
                found.matched.update(dict.fromkeys(definable_shape_vars(info)))
            case relax.TupleGetItem() if id(node) in items:
                pass
            case relax.Call(op=op, args=args):
                _note_symbols((op, *args), found)
                found.gives_back |= Trait.FREES in traits_of(op)
                found.escaping.update(_escaping_from(node, kernels))
            case relax.Tuple(fields=fields):  # they are found where the tuple is used
                _note_symbols(fields, found)
            case relax.Expr():
                _note_symbols(children(node), found)
                found.escaping.update(_escaping_from(node, kernels))
    _note_symbols([function.body], found)
    _follow(aliases, found.escaping)
    return found


def _follow(aliases: Mapping[relax.Var, list[relax.Var]], escaping: set[relax.Var]) -> None:
    """Add what escapes by another name, as a whole of which a part escapes."""
    waiting = list(escaping)
    while waiting:
        for source in aliases.get(waiting.pop(), ()):
            if source not in escaping:
                escaping.add(source)
                waiting.append(source)


def _note_symbols(nodes: Iterable[Node], found: Usage) -> None:
    for node in nodes:
        if isinstance(node, relax.ExternFunc):
            found.symbols.add(node.global_symbol)


def is_plain_operator(call: relax.Call) -> bool:
    """True if a call only reads its operands: a check, an operator that runs by its meaning."""
    if check_of(call) is not None:
        return True
    if not isinstance(call.op, relax.Op) or call.op == to_vdevice.op:  # which may copy nothing
        return False
    return not lookup(call.op).traits & _HANDING_ON


def written_params(
    function: tir.PrimFunc, callee: Callable[[relax.GlobalVar], set[int]] | None = None
) -> set[prim.Var]:
    """The parameters of a PrimFunc into whose memory it may write.

    `callee` gives the positions of what another PrimFunc writes into.
    """
    own: dict[Node, prim.Var] = {}
    for param, buffer in function.buffer_map.items():
        own[buffer] = own[buffer.data] = param
    written: set[prim.Var] = set()
    local: set[Node] = set()
    for node in all_parts(function):
        match node:
            case tir.Block(alloc_buffers=buffers):
                local.update(part for buffer in buffers for part in (buffer, buffer.data))
            case tir.Allocate(buffer_var=memory):
                local.add(memory)
            case tir.BufferStore(buffer=buffer) if buffer.data in own:
                written.add(own[buffer.data])
            case tir.BufferStore(buffer=buffer) if not {buffer, buffer.data} & local:
                return set(function.params)  # another name of who knows which memory
            case prim.Call(op=relax.GlobalVar() as var, args=args) if callee is not None:
                given = [args[i] for i in callee(var) if i < len(args)]
                if not all(arg in own or arg in local for arg in given):
                    return set(function.params)
                written.update(own[arg] for arg in given if arg in own)
            case prim.Call(op=op, args=args) if not isinstance(op, relax.Op) or _takes_memory(args):
                return set(function.params)
    return written


def _takes_memory(args: Sequence[prim.PrimExpr]) -> bool:
    return any(isinstance(a, prim.Var) and a.dtype.kind == "handle" for a in args)


def _escaping_from(node: relax.Expr, kernels: KernelArgs) -> Iterator[relax.Var]:
    """The variables that an expression hands to somebody else."""
    match node:
        case relax.Call() if is_plain_operator(node):
            pass
        case relax.Call(op=relax.GlobalVar()):
            read = kernels.only_read(node.op, node.args)
            yield from (v for v in _operands(node.args) if v not in read)
        case relax.If(cond=cond):
            yield from (v for v in children(node) if isinstance(v, relax.Var) and v is not cond)
        case _:
            yield from (v for v in children(node) if isinstance(v, relax.Var))
            yield from _operands([c for c in children(node) if isinstance(c, relax.Tuple)])


def _operands(exprs: Sequence[Node]) -> Iterator[relax.Var]:
    """The variables among expressions, those in tuples included."""
    for expr in exprs:
        match expr:
            case relax.Var():
                yield expr
            case relax.Tuple(fields):
                yield from _operands(fields)
