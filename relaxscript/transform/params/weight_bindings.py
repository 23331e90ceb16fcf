"""The bindings of a function that can be computed before its inputs are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from relaxscript.analysis.call_graph import computable_at_compile_time
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Var as ShapeVar
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    If,
    LeafExpr,
    MatchCast,
    SeqExpr,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo
from relaxscript.ir.walk import children, compounds, defined_by, free_vars
from relaxscript.op.builtin import stop_lift_params
from relaxscript.sinfo import struct_info_parts

__all__ = ["WeightBindings", "used_by", "uses_of"]


class WeightBindings:
    """The part of a function that depends on its weights only, and what the rest needs of it.

    `ahead` are the bindings of dataflow blocks that can be computed ahead, and elsewhere names and
    fields. Those that compute nothing are `free`: names, tuples, constants and local functions.
    Where the inputs are known, these are written again rather than handed over. `sizes` are the
    shape variables that are known ahead. What functions are is read in the module.
    """

    def __init__(self, function: Function, count: int, mod: IRModule) -> None:
        self.function = function
        self.inputs, self.weights = function.params[:count], function.params[count:]
        self.ahead: dict[Var, Binding] = {}
        self.free: set[Var] = set()
        known = dict.fromkeys(defined_by(function, self.weights))
        # Weights whose sizes are not known without the inputs are handed over, and used there.
        self.open = [w for w in self.weights if not _info_variables(w) <= known.keys()]
        for weight in self.open:
            del known[weight]
        computable = {*computable_at_compile_time(function, module=mod)}
        for binding in _movable(function):
            if binding.var in computable and _is_known(binding, known):
                self.ahead[binding.var] = binding
                if _computes_nothing(binding, self.free):
                    self.free.add(binding.var)
                cast = (binding.struct_info,) if isinstance(binding, MatchCast) else ()
                known |= dict.fromkeys(defined_by(binding, (binding.var, *cast)))
        self.sizes = [v for v in known if isinstance(v, ShapeVar)]

    @property
    def lifted(self) -> list[Var]:
        """The variables that are computed ahead, in order."""
        return [var for var in self.ahead if var not in self.free]

    def keep(self, variables: Iterable[Var]) -> None:
        """Compute ahead no more than these variables."""
        kept = {*variables}
        self.ahead = {var: binding for var, binding in self.ahead.items() if var in kept}
        self.free &= kept
        self.sizes = [*dict.fromkeys(self._sizes_ahead())]

    def _sizes_ahead(self) -> Iterator[ShapeVar]:
        casts = [b for b in self.ahead.values() if isinstance(b, MatchCast)]
        found = [defined_by(self.function, self.weights)]
        found += [defined_by(cast, (cast.struct_info,)) for cast in casts]
        return (v for group in found for v in group if isinstance(v, ShapeVar))

    def written_ahead(self) -> tuple[list[Binding], set[Node]]:
        """The bindings that are computed ahead, with the `free` ones among them that they use.

        Beside them, the variables that they use.
        """
        used, written = set[Node](), list[Binding]()
        for var, binding in reversed(self.ahead.items()):
            if var in used or var not in self.free:
                written.append(binding)
                used |= uses_of(binding)
        return written[::-1], used

    def needed(self, given: Iterable[Node] = ()) -> set[Node]:
        """The variables that the rest uses, directly or by what is `free`; and those of `given`.

        What is known of a variable counts as used with it.
        """
        body = self.function.body
        assert isinstance(body, SeqExpr)
        found: set[Node] = {*given, *self.open, *used_by(body.body)}
        for param in self.inputs:
            found |= _info_variables(param)
        if self.function.ret_struct_info is not None:
            found.update(free_vars(self.function.ret_struct_info))
        for block in body.blocks:
            for binding in block.bindings:
                if binding.var not in self.ahead:
                    found |= uses_of(binding)
        for var, binding in reversed(self.ahead.items()):
            if var in found:
                found |= uses_of(binding) if var in self.free else _info_variables(var)
        for weight in reversed(self.weights):
            if weight in found:
                found |= _info_variables(weight)
        return found


def _movable(function: Function) -> Iterator[Binding]:
    """The bindings of dataflow blocks, and those elsewhere that compute nothing and cannot fail."""
    assert isinstance(function.body, SeqExpr)
    for block in function.body.blocks:
        for binding in block.bindings:
            is_plain = isinstance(binding.value, (TupleGetItem, LeafExpr))
            if isinstance(block, DataflowBlock) or (
                is_plain and not isinstance(binding, MatchCast)
            ):
                yield binding


def _is_known(binding: Binding, known: dict[Node, None]) -> bool:
    """True if what a binding uses is known, and if its value may be handed over."""
    value, info = binding.value, binding.var.struct_info
    if isinstance(value, Call) and value.op is stop_lift_params.op:
        return False
    own = {*defined_by(binding, (binding.struct_info,))} if isinstance(binding, MatchCast) else ()
    if not all(v in known or v in own for v in uses_of(binding)):
        return False
    return isinstance(value, Function) or not _holds_functions(info)


def _holds_functions(info: StructInfo | None) -> bool:
    return info is None or any(isinstance(p, FuncStructInfo) for p in struct_info_parts(info))


def _computes_nothing(binding: Binding, free: set[Var]) -> bool:
    """True for another name, a tuple of values and its fields, a constant, and a local function."""
    if isinstance(binding, MatchCast):
        return False
    if isinstance(binding.value, TupleGetItem):
        return binding.value.tuple_value in free
    return isinstance(binding.value, (LeafExpr, Function))


def uses_of(binding: Binding) -> set[Node]:
    """The variables that a binding uses, in its value or in what is said of it."""
    found = {*used_by(binding.value), *_info_variables(binding.var)}
    if isinstance(binding, MatchCast):
        found.update(free_vars(binding.struct_info))
    return found


def used_by(value: Expr) -> Iterable[Node]:
    """The variables that are written in a value; what is known of these is not gone through."""
    if isinstance(value, (If, Function, SeqExpr)):
        return {*free_vars(value), *_sizes_of_local_functions(value)}
    found: dict[Node, None] = {}
    stack: list[Node] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, (Var, ShapeVar)):
            found[node] = None
        elif not isinstance(node, (Constant, GlobalVar)):
            stack += children(node)
    return found


def _sizes_of_local_functions(value: Expr) -> Iterator[Node]:
    """The sizes in what local functions say of their parameters.

    Some may be sizes of the function around them. Without it, the parameters would define them.
    """
    for part in compounds(value):
        if isinstance(part, Function):
            for param in part.params:
                yield from _info_variables(param)


def _info_variables(var: Var) -> set[Node]:
    """The variables in what is known of a variable."""
    return set() if var.struct_info is None else {*free_vars(var.struct_info)}
