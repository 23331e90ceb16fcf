"""Functions whose weights are fetched where they are first used, rather than given."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from relaxscript.ir.node import Node
from relaxscript.ir.prim import Var as ShapeVar
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    MatchCast,
    SeqExpr,
    ShapeExpr,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import ObjectStructInfo, ShapeStructInfo, StructInfo
from relaxscript.ir.walk import Substitution, defined_by, free_vars, rewrite
from relaxscript.sinfo import erase_to_well_defined

from .joined_blocks import joined_blocks
from .weight_bindings import used_by, uses_of

__all__ = ["with_fetched"]

_OBJECT = ObjectStructInfo()


def with_fetched(
    function: Function, inputs: Sequence[Var], weights: Sequence[Var], fetch: Callable[[int], Expr]
) -> Function:
    """The function of `inputs` in which each weight is what `fetch` gives for its position.

    It is fetched before the first binding that uses it, or one of the sizes that it tells. A
    match_cast checks it. That binding is one of the function itself, such as a whole `if`. In a
    dataflow block it is right before it where nothing behind the block needs it.
    """
    return _Fetching(function, inputs, weights, fetch).function()


class _Fetching:
    """Writes one function; `blocks` are those that are written."""

    def __init__(
        self, function: Function, inputs: Sequence[Var], weights: Sequence[Var],
        fetch: Callable[[int], Expr],
    ) -> None:  # fmt: skip
        self._function = function
        self._fetch = fetch
        self._positions = {weight: i for i, weight in enumerate(weights)}
        self._inputs = inputs
        self._told = frozenset(defined_by(function, tuple(inputs)))
        self._known = {*self._told}
        # Which weight tells a variable: itself, or a size that no input tells.
        self._sources: dict[Node, Var] = {}
        for weight in weights:
            for var in defined_by(function, (weight,)):
                if var not in self._known:
                    self._sources.setdefault(var, weight)
        self._sizes = frozenset([v for v in self._sources if isinstance(v, ShapeVar)])
        self._raw: dict[Var, Var] = {}
        self._open: set[Var] = set()
        self._renamed = Substitution()
        self._blocks: list[BindingBlock] = []
        # The bindings that are being written, and those before the dataflow block at hand.
        self._bindings: list[Binding] = []
        self._before: list[Binding] = []
        # The weights that a dataflow block keeps to itself; None outside of such blocks.
        self._inside: Container[Var] | None = None

    def function(self) -> Function:
        body = self._function.body
        assert isinstance(body, SeqExpr)
        inputs = [self._input(param) for param in self._inputs]
        self._end_block()
        last = _last_uses(body)
        for number, block in enumerate(body.blocks):
            is_dataflow = isinstance(block, DataflowBlock)
            self._inside = self._used_inside(block, last, number) if is_dataflow else None
            for binding in block.bindings:
                self._need(uses_of(binding))
                self._bindings.append(self._renamed.apply(binding))
            self._end_block(block)
        self._inside = None
        self._need(used_by(body.body))
        self._end_block()
        known = {*defined_by(self._function, tuple(inputs))}
        result = self._function.ret_struct_info
        if result is not None:
            # What weights told was no variable of a function type, and does not become one.
            result = erase_to_well_defined(result, known, known, leaving=self._sizes)
        made = body.replace(blocks=joined_blocks(self._blocks))
        return self._function.replace(params=tuple(inputs), body=made, ret_struct_info=result)

    def _input(self, param: Var) -> Var:
        """An input; where weights tell its sizes, it is compared with them before all else."""
        info = _info(param)
        used = free_vars(info)
        if self._told.issuperset(used):
            return param
        self._need(used)
        given = Var.make(
            param.name_hint, erase_to_well_defined(info, (), self._told, leaving=self._sizes)
        )
        self._bindings.append(MatchCast.make(param, given, info, span=param.span))
        return given

    def _used_inside(
        self, block: BindingBlock, last: Mapping[Node, int], number: int
    ) -> Container[Var]:
        """The weights that nothing behind a dataflow block needs, nor a function inside of it."""
        outside = {v for v, place in last.items() if place > number}
        for binding in block.bindings:
            if isinstance(binding.value, Function):
                outside |= {*used_by(binding.value)}
        needed, todo = set[Var](), list(outside)
        while todo:
            source = self._sources.get(todo.pop())
            if source is not None and source not in needed:
                needed.add(source)
                todo += free_vars(_info(source))
        return {weight for weight in self._positions if weight not in needed}

    def _need(self, used: Iterable[Node]) -> None:
        """Have fetched what tells these variables."""
        found = {self._sources[v] for v in used if v in self._sources}
        for weight in sorted(found, key=self._positions.__getitem__):
            self._write(weight)

    def _write(self, weight: Var) -> None:
        if weight in self._raw:
            return
        inside = self._inside is not None and weight in self._inside
        written = self._bindings if inside or self._inside is None else self._before
        kind = DataflowVar if inside else Var
        value = self._fetch(self._positions[weight])
        remember_struct_info(value, _OBJECT)
        info = _info(weight)
        var = kind.make(weight.name_hint, info, span=weight.span) if inside else weight
        if inside:
            self._renamed[weight] = var
        if isinstance(info, ObjectStructInfo):
            self._raw[weight] = var
            written.append(VarBinding.make(var, value, span=weight.span))
            return
        raw = self._raw[weight] = kind.make(f"{weight.name_hint}_untyped", _OBJECT)
        written.append(VarBinding.make(raw, value, span=weight.span))
        self._open.add(weight)
        self._tell_sizes(weight, written, kind)
        self._open.remove(weight)
        written.append(MatchCast.make(var, raw, info, span=weight.span))
        self._known |= {*defined_by(self._function, (weight,))}

    def _tell_sizes(self, weight: Var, written: list[Binding], kind: type[Var]) -> None:
        """Have known the sizes that a weight mentions, and does not tell itself."""
        own = {*defined_by(self._function, (weight,))}
        for var in free_vars(_info(weight)):
            source = self._sources.get(var)
            if var in own or var in self._known or source is None:
                continue
            self._write(source)
            if source in self._open:  # two weights that mention sizes of each other
                told = {*defined_by(self._function, (source,))}
                info = _with_known_sizes(_info(source), {*self._known, *told})
                some = kind.make(source.name_hint, info)
                written.append(MatchCast.make(some, self._raw[source], info, span=source.span))
                self._known |= told

    def _end_block(self, block: BindingBlock | None = None) -> None:
        """Close the block at hand, with what is fetched before it."""
        before, bindings = tuple(self._before), tuple(self._bindings)
        self._before, self._bindings = [], []
        if isinstance(block, DataflowBlock):
            made = [BindingBlock.make(before), block.replace(bindings=bindings)]
        else:
            made = [BindingBlock.make((*before, *bindings))]
        self._blocks += made


def _last_uses(body: SeqExpr) -> dict[Node, int]:
    """The numbers of the last blocks that use variables; the result is behind all of them."""
    found: dict[Node, int] = {}
    for number, block in enumerate(body.blocks):
        for binding in block.bindings:
            found.update(dict.fromkeys(uses_of(binding), number))
    found.update(dict.fromkeys(used_by(body.body), len(body.blocks)))
    return found


def _with_known_sizes(info: StructInfo, known: set[Node]) -> StructInfo:
    """The StructInfo with any size in the place of those that are not known."""

    def step(node: Node) -> Node | None:
        if not isinstance(node, (ShapeExpr, ShapeStructInfo)) or node.values is None:
            return None
        sizes = (
            size if known.issuperset(free_vars(size)) else ShapeVar.make("size", size.dtype)
            for size in node.values
        )
        return node.replace(values=tuple(sizes))

    return rewrite(info, step)


def _info(var: Var) -> StructInfo:
    assert var.struct_info is not None
    return var.struct_info
