"""Contexts: patterns that together match a graph, the bindings of a dataflow block.

    with PatternContext() as ctx:
        x, w = wildcard(), wildcard()
        product = is_op("relax.matmul")(x, w)
        relu = is_op("relax.nn.relu")(product)
        product >> relu                     # nobody else uses the product
    found = ctx.match_dfb(block)            # {x: ..., product: the variable bound to it, ...}

Source: TVM `relax.dpl.PatternContext`.
"""

from __future__ import annotations

from typing import Any

from typing_extensions import Self

from relaxscript.ir.relax import DataflowBlock, Expr, Op

from .constraints import Constraints, active_stack, current_constraints, pattern_error
from .graph import BlockGraph, GraphSearch
from .pattern import DFPattern

__all__ = ["PatternContext"]


class PatternContext:
    """Takes the calls, uses and constraints that are written inside of `with`.

    Patterns of calls stand for different bindings each. An `incremental` context begins with all
    that the context around it holds. Raises `DiagnosticError` where there is none.
    """

    def __init__(self, incremental: bool = False) -> None:
        outer = current_constraints() if incremental else None
        if incremental and outer is None:
            raise pattern_error(
                "an incremental context continues the one around it, and there is none",
                "write it inside of `with PatternContext():`",
            )
        self.constraints = Constraints(outer)
        self.constraints.owner = self

    def __enter__(self) -> Self:
        active_stack().append(self.constraints)
        return self

    def __exit__(self, *_: Any) -> None:
        active_stack().remove(self.constraints)

    @staticmethod
    def current() -> PatternContext | None:
        """The innermost context that is open in this thread, or None."""
        found = current_constraints()
        return None if found is None else found.owner

    def match_dfb(self, dfb: DataflowBlock) -> dict[DFPattern, Expr] | None:
        """The variable that each pattern matches in a block, or None where they do not match.

        Of calls it is the variable that is bound to each; of operands that are no variables,
        constants for example, the operand. The first match counts, in the order of the block. Cost:
        linear in the block where each part has an operator, or is connected to one that has. All
        combinations are tried of parts that are not connected, and of wildcards with no operand.
        """
        search = self.search(dfb)
        found = search.first()
        return None if found is None else as_variables(found)

    def search(self, dfb: DataflowBlock) -> GraphSearch:
        """The search for this context in a block."""
        if not isinstance(dfb, DataflowBlock):
            raise pattern_error(
                f"`match_dfb` takes a dataflow block, not a {type(dfb).__name__}",
                "the blocks of a function are `func.body.blocks`",
            )
        if not self.constraints.parts:
            raise pattern_error(
                "the context has no patterns that could match a binding",
                "write calls of patterns, such as `is_op(...)(...)`, inside of `with`",
            )
        return GraphSearch(self.constraints, BlockGraph(dfb.bindings))

    def __repr__(self) -> str:
        lines = [f"    {part!r}" for part in self.constraints.parts]
        for link in self.constraints.links:
            if not link.by_call:
                word = ">>" if link.only else "^"
                lines.append(f"    {link.producer!r} {word} {link.consumer!r}")
        return "\n".join(["PatternContext:", *lines])


def as_variables(memo: dict[DFPattern, Expr]) -> dict[DFPattern, Expr]:
    """The matches of patterns, without the operators that calls name."""
    return {pattern: expr for pattern, expr in memo.items() if not isinstance(expr, Op)}
