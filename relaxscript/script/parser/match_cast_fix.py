"""The `R.match_cast` that settles what cannot be decided now: as a help line, and as a fix.

    y = cls.g(x)        becomes        y = cls.g(R.match_cast(x, R.Tensor((4,), "float32")))

Dimensions that only the callee knows are declared before the statement.
"""

from __future__ import annotations

import ast
from collections.abc import Container
from types import ModuleType

from relaxscript.errors import Edit, Source, Span
from relaxscript.ir.prim import PrimExpr, Var as PrimVar
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.walk import free_vars
from relaxscript.sinfo import definable_shape_vars, free_shape_vars, substitute_shape_vars

from .environment import Environment

__all__ = ["MatchCastFix"]

_HOMES = {"relaxscript.script.relax": "R", "relaxscript.script.tir": "T"}


class MatchCastFix:
    """Writes casts in the words of one script."""

    def __init__(self, source: Source, environment: Environment) -> None:
        self.source = source
        self.environment = environment

    def with_cast(
        self, operand: ast.expr, wanted: str | StructInfo, known: Container[PrimVar],
        taken: Container[str], statement: ast.stmt | None,
    ) -> tuple[str | None, tuple[Edit, ...]]:  # fmt: skip
        """Help, and the edits, that give `operand` the StructInfo `wanted` by a match_cast.

        A StructInfo that the script has written already is given as its source. `known` are the
        shape variables in scope, `taken` the names that mean something; `statement` has `operand`
        in it. The help is None where no cast can be written.
        """
        relax, tir = (self._name_of(home) for home in _HOMES)
        if relax is None or isinstance(operand, ast.Starred):
            return None, ()
        declared: list[str] = []
        if isinstance(wanted, StructInfo):
            found = _with_own_names(wanted, known, taken)
            if found is None or (found[1] and tir is None):
                return None, ()
            wanted, declared = _text(found[0], relax), found[1]
        at = self.source.span(operand)
        bare = isinstance(operand, ast.Tuple) and _is_several(at.text)
        before, after = f"{relax}.match_cast({'(' * bare}", f"{')' * bare}, {wanted})"
        cast = f"{before}{at.text}{after}"
        # Two insertions, since what is between them may have a fix of its own.
        edits = [self._insert(at.start, before), self._insert(at.end, after)]
        help = f"write `{' '.join(cast.split())}`"
        if declared:
            lines = [f"{name} = {tir}.int64()" for name in declared]
            line = None if statement is None else self._line_before(statement, lines)
            help = f"write `{lines[0]}`, and then `{' '.join(cast.split())}`"
            edits = [] if line is None else [line, *edits]
        return help, tuple(edits)

    def _name_of(self, home: str) -> str | None:
        """By which name the script knows a namespace of ours: one that it uses, if there is one."""
        seen = self.environment.seen().items()
        known = [n for n, v in seen if isinstance(v, ModuleType) and v.__name__ == home]
        known.sort(key=lambda name: name != _HOMES[home])
        used = (name for name in known if f"{name}." in self.source.text)
        return next(used, known[0] if known else None)

    def _line_before(self, statement: ast.stmt, lines: list[str]) -> Edit | None:
        """The edit that puts lines before a statement that begins a line of its own."""
        whole = self.source.span(statement)
        indent = self.source.line(whole.line)[: whole.column - 1]
        if indent.strip():
            return None
        text = "".join(f"{line}\n{indent}" for line in lines)
        return self._insert(whole.start, text)

    def _insert(self, at: tuple[int, int], text: str) -> Edit:
        return Edit(Span(self.source, *at, *at), text)


def _is_several(text: str) -> bool:
    """True if an expression would be several arguments of a call: a tuple without parentheses."""
    match ast.parse(f"f({text})", mode="eval").body:
        case ast.Call(args=[_]):
            return False
    return True


def _with_own_names(
    wanted: StructInfo, known: Container[PrimVar], taken: Container[str]
) -> tuple[StructInfo, list[str]] | None:
    """`wanted` with names of its own for variables that are not known, and these names.

    None where it has no meaning here: a variable stands for a shape, or a dimension is computed.
    """
    new = [v for v in free_shape_vars(wanted) if v not in known]
    shapes = [v for v in free_vars(wanted) if isinstance(v, Var)]
    if shapes or any(v not in definable_shape_vars(wanted) for v in new):
        return None
    mapping: dict[PrimVar, PrimExpr] = {}
    names: list[str] = []
    for v in new:
        name, number = v.name, 0
        while name in taken or name in names:
            number += 1
            name = f"{v.name}_{number}"
        names.append(name)
        mapping[v] = PrimVar.make(name, v.dtype)
    return substitute_shape_vars(wanted, mapping), names


def _text(info: StructInfo, relax: str) -> str:
    """An annotation as a script writes it, dimensions in quotes."""
    from relaxscript.script.printer.module import Printer

    return Printer(relax_prefix=relax, line_width=1000).signature(info)
