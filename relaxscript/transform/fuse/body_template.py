"""The body of a PrimFunc, to be written again with other buffers and sizes.

Most of the cost of joining functions is to write their bodies once more. So a body is gone through
once; what is written then is a list of steps, each of which makes a node of those before it. What
says the same in several places, as the ranges and indices of a block do, is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from relaxscript.ir.node import Node, fields_of
from relaxscript.ir.prim import Call, IntImm, PrimExpr, Var
from relaxscript.ir.relax import Attrs, GlobalVar
from relaxscript.ir.tir import Block, BlockRealize, Buffer, Range, Stmt
from relaxscript.ir.walk import children
from relaxscript.semantics.vector_math import has_definition, has_vector_math

from .tir_calls import TIRSignature

__all__ = ["BodyTemplate", "body_template"]

# What a step calls, and where the operands are.
_Step = tuple[Callable[..., Any] | None, Callable[[Any], Any]]
# The same, with the places of the operands; those that a step makes are negative.
_Steps = list[tuple[Callable[..., Any] | None, list[int]]]


def body_template(signature: TIRSignature) -> BodyTemplate | None:
    """The template of a PrimFunc; None for a body that says more of its root block, or returns."""
    body = signature.func.body
    allocated: tuple[Buffer, ...] = ()
    if isinstance(body, BlockRealize) and not body.block.iter_vars:
        root = body.block
        certain = isinstance(body.predicate, IntImm) and body.predicate.value
        if not certain or root.init or root.match_buffers or root.annotations:
            return None
        body, allocated = root.body, root.alloc_buffers
    template = BodyTemplate(signature, body, allocated)
    return None if template.returns else template


class BodyTemplate:
    """The statements of a PrimFunc, and how to write them again.

    `mentioned` are the functions of the module that they call; `returns` is whether they end the
    function, `is_noalias` whether its buffers are promised to be different memory. `vector_math` is
    whether the functions that they call are those of vector math, None where they call none.
    """

    def __init__(
        self, signature: TIRSignature, body: Stmt, allocated: Sequence[Buffer] = ()
    ) -> None:
        self.body = body
        self.is_noalias = bool((signature.func.attrs or Attrs()).get("tir.noalias"))
        self.mentioned: list[GlobalVar] = []
        self.returns = False
        buffers = signature.buffers
        self._sizes = _sizes_of(signature)
        # What is given comes first: buffers, their addresses, sizes, and names.
        given: list[Node] = [*buffers, *[buffer.data for buffer in buffers], *self._sizes]
        self._places = {id(node): place for place, node in enumerate(given)}
        order = self._order([*allocated, body])
        self.vector_math: bool | None = None
        if any(isinstance(n, Call) and has_definition(n) for n in order):
            self.vector_math = has_vector_math(signature.func)
        blocks = [n for n in order if isinstance(n, Block)]
        self.has_blocks = bool(blocks)
        named: list[Block | Buffer] = [*blocks, *allocated]
        self._names = [n.name_hint if isinstance(n, Block) else n.name for n in named]
        self._own_names = {id(n): len(given) + number for number, n in enumerate(named)}
        self._given = len(given) + len(named)
        self._constants: list[Any] = []
        # Their places, of a number by what it says and of all else by identity.
        self._constant_places: dict[Hashable, int] = {}
        # The places of what several nodes may share, by how it is made.
        self._shared: dict[tuple[Hashable, ...], int] = {}
        # Operands that are made by a step have negative places until all constants are known.
        steps: _Steps = []
        for node in order:
            self._compile(node, steps)
        made = self._given + len(self._constants)
        self._steps: list[_Step] = [
            (make, itemgetter(*[made - 1 - at if at < 0 else at for at in operands]))
            for make, operands in steps
        ]
        places = [self._place(node, steps) for node in (*allocated, body)]
        *self._allocated, self._body = [made - 1 - at if at < 0 else at for at in places]

    def write(
        self, buffers: Sequence[Buffer], sizes: Mapping[Var, PrimExpr], unique: Callable[[str], str]
    ) -> tuple[Stmt, list[Buffer]]:
        """The statements on other buffers, and the new buffers that they need.

        `sizes` has what is in the place of shape variables and scalars; `unique` gives names to
        blocks and buffers.
        """
        slots: list[Any] = [*buffers, *[buffer.data for buffer in buffers]]
        slots += [sizes[var] for var in self._sizes]
        slots += map(unique, self._names)
        slots += self._constants
        append = slots.append
        for make, operands in self._steps:
            append(operands(slots) if make is None else make(*operands(slots)))
        return slots[self._body], [slots[place] for place in self._allocated]

    def _order(self, roots: Sequence[Node]) -> list[Node]:
        """The nodes that are to be made anew, each behind those that it is made of."""
        order: list[Node] = []
        anew: dict[int, bool] = dict.fromkeys(self._places, True)
        stack: list[tuple[Node, bool]] = [(node, False) for node in reversed(roots)]
        while stack:
            node, ready = stack.pop()
            if ready:
                anew[id(node)] = isinstance(node, (Var, Buffer)) or any(
                    anew[id(child)] for child in children(node)
                )
                if anew[id(node)]:
                    order.append(node)
            elif id(node) not in anew:
                anew[id(node)] = False
                self._note(node)
                stack.append((node, True))
                stack += [(child, False) for child in reversed(children(node))]
        return order

    def _note(self, node: Node) -> None:
        if isinstance(node, GlobalVar):
            self.mentioned.append(node)
        elif isinstance(node, Call) and node.op == "tir.ret":
            self.returns = True

    def _compile(self, node: Node, steps: _Steps) -> None:
        """Add the steps that make a node, and those that make the tuples in it."""
        own_name = self._own_names.get(id(node))
        operands = []
        for info in fields_of(type(node)):
            if own_name is not None and info.name in ("name", "name_hint"):
                operands.append(own_name)
            else:
                operands.append(self._place(getattr(node, info.name), steps))
        operands.append(self._constant(node.span))
        if isinstance(node, Range):
            self._places[id(node)] = self._share(type(node).make, operands, steps)
            return
        steps.append((type(node).make, operands))
        self._places[id(node)] = -len(steps)

    def _share(self, make: Callable[..., Any] | None, operands: list[int], steps: _Steps) -> int:
        """The place of what is made of these operands, which is made once."""
        place = self._shared.get((make, *operands))
        if place is None:
            steps.append((make, operands))
            place = self._shared[(make, *operands)] = -len(steps)
        return place

    def _place(self, value: Any, steps: _Steps) -> int:
        """The place of the value of a field when a body is written."""
        if isinstance(value, Node):
            place = self._places.get(id(value))
            return self._constant(value) if place is None else place
        if value.__class__ is tuple and value:
            inner = [self._place(item, steps) for item in value]
            if self._are_constant(inner):
                return self._constant(value)
            if len(inner) == 1:
                return self._share(_single, inner * 2, steps)
            return self._share(None, inner, steps)
        if isinstance(value, Mapping) and value:
            keys = tuple(value)
            inner = [self._place(item, steps) for item in value.values()]
            if self._are_constant(inner):
                return self._constant(value)
            kind = Attrs if isinstance(value, Attrs) else dict
            steps.append((lambda *items: kind(dict(zip(keys, items))), [*inner, inner[-1]]))
            return -len(steps)
        return self._constant(value)

    def _are_constant(self, places: Iterable[int]) -> bool:
        return all(place >= self._given for place in places)

    def _constant(self, value: Any) -> int:
        is_number = value.__class__ is IntImm
        key = (value.dtype, value.value, id(value.span)) if is_number else id(value)
        place = self._constant_places.get(key)
        if place is None:
            place = self._constant_places[key] = self._given + len(self._constants)
            self._constants.append(value)
        return place


def _single(one: Any, _: Any) -> tuple[Any]:
    return (one,)


def _sizes_of(signature: TIRSignature) -> list[Var]:
    """The shape variables and scalars of a PrimFunc."""
    dims = [d for b in signature.buffers for d in b.shape if isinstance(d, Var)]
    return list(dict.fromkeys([*signature.scalars, *dims]))
