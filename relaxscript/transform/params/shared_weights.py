"""The values that functions of the same weights compute alike of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript.errors import Diagnostic, DiagnosticError, Label
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Var as ShapeVar
from relaxscript.ir.relax import Binding, GlobalVar, MatchCast, Var
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, StructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.structural_hashing import structural_hash
from relaxscript.ir.walk import Substitution, defined_by

from .lifted_functions import Handed, Split, handed_over
from .weight_bindings import WeightBindings

__all__ = ["split_together"]

Works = Mapping[GlobalVar, WeightBindings]


def split_together(works: Works) -> dict[GlobalVar, Split]:
    """The splits of functions for one function of their weights, that of the first.

    What is computed ahead is what all of them compute, in the order of the first. Each is handed
    what any of them needs. Raises `DiagnosticError` (RX0712) where their weights differ.
    """
    require_same_weights(works)
    first = next(iter(works.values()))
    alike = [_Alike(first, work) for work in works.values()]
    common = set(first.ahead).intersection(*(each.variables.values() for each in alike))
    for each in alike:
        each.work.keep(own for own, theirs in each.variables.items() if theirs in common)
    wanted: set[Node] = set()
    needed = [each.work.needed() for each in alike]
    while True:
        found = wanted.union(*(each.of_first(n) for each, n in zip(alike, needed, strict=True)))
        if len(found) == len(wanted):
            break
        wanted = found
        needed = [each.work.needed(each.of_own(wanted)) for each in alike]
    variables = handed_over(first, wanted).variables
    told = {
        each.sizes.get(size, size)
        for each, own in zip(alike, needed, strict=True)
        for size in handed_over(each.work, own).sizes
    }
    sizes = [size for size in first.sizes if size in told]
    return {
        var: Split(each.work, each.handed(sizes, variables), own)
        for var, each, own in zip(works, alike, needed, strict=True)
    }


class _Alike:
    """The variables of a function that stand for the same as some of the first function."""

    def __init__(self, first: WeightBindings, work: WeightBindings) -> None:
        self.work = work
        self.variables: dict[Var, Var] = {}
        self.sizes: dict[Node, Node] = {}
        self._renamed = Substitution()
        self._weights = dict(zip(work.weights, first.weights, strict=True))
        own, theirs = (defined_by(w.function, w.weights) for w in (work, first))
        for mine, other in zip(own, theirs, strict=True):
            self._renamed[mine] = other
            if isinstance(mine, ShapeVar):
                self.sizes[mine] = other
        if work is first:
            self.variables = {var: var for var in first.ahead}
            self.sizes = {size: size for size in first.sizes}
        else:
            self._match(first)
        self._of_first: dict[Node, Node] = dict(self.sizes)
        for mine, other in (*self._weights.items(), *self.variables.items()):
            self._of_first[mine] = other
        self._of_own = {other: mine for mine, other in self._of_first.items()}

    def _match(self, first: WeightBindings) -> None:
        known: dict[int, list[Binding]] = {}
        for binding in first.ahead.values():
            known.setdefault(structural_hash(binding.value), []).append(binding)
        for var, binding in self.work.ahead.items():
            value = self._renamed.apply(binding.value)
            for other in known.get(structural_hash(value), ()):
                if self._is_same(binding, other):
                    self.variables[var] = other.var
                    self._renamed[var] = other.var
                    known[structural_hash(value)].remove(other)
                    break

    def _is_same(self, binding: Binding, other: Binding) -> bool:
        if type(binding) is not type(other):
            return False
        pairs = [(binding.value, other.value), (binding.var.struct_info, other.var.struct_info)]
        if isinstance(binding, MatchCast) and isinstance(other, MatchCast):
            # One that defines sizes is left to each function.
            pairs.append((binding.struct_info, other.struct_info))
        return all(structural_equal(self._renamed.apply(a), b) for a, b in pairs if a is not None)

    def of_first(self, variables: set[Node]) -> set[Node]:
        """The variables of the first function that these stand for, as far as there are any."""
        return {self._of_first[v] for v in variables if v in self._of_first}

    def of_own(self, variables: set[Node]) -> set[Node]:
        """The variables of this function for those of the first."""
        return {self._of_own[v] for v in variables if v in self._of_own}

    def handed(self, sizes: list[ShapeVar], variables: tuple[Var, ...]) -> Handed:
        """The values that this function is handed, by its own variables."""
        own = self._of_own
        return Handed(
            tuple([own[size] for size in sizes]),  # type: ignore[misc]
            tuple([own[var] for var in variables]),  # type: ignore[misc]
        )


def require_same_weights(works: Works) -> None:
    """Refuse functions of other weights than the first has, in number or in what they are."""
    (name, first), *others = works.items()
    for other, work in others:
        differing = [
            (mine, theirs)
            for mine, theirs in zip(work.weights, first.weights)
            if not structural_equal(_as_params([mine]), _as_params([theirs]))
        ]
        fact = at = label = None
        if len(work.weights) != len(first.weights):
            fact = f"it has {len(work.weights)} of them, and that has {len(first.weights)}"
        elif differing:
            mine, theirs = differing[0]
            at, label = mine.span, theirs.span
            fact = f"`{mine.name_hint}` is {mine.struct_info}, not {theirs.struct_info}"
        elif not structural_equal(_as_params(work.weights), _as_params(first.weights)):
            fact = "their sizes agree in another way"
        if fact is not None:
            message = f"`{other.name_hint}` has other weights than `{name.name_hint}`: {fact}"
            labels = () if label is None else (Label(label, "is another"),)
            help = "give the functions that are to share a transform the same weights"
            at = at or work.function.span
            raise DiagnosticError(Diagnostic("RX0712", message, at, labels, help=help))


def _as_params(weights: Sequence[Var]) -> StructInfo:
    """A function type of the weights, which are the same up to the names of sizes."""
    infos = tuple([w.struct_info for w in weights if w.struct_info is not None])
    return FuncStructInfo(infos, ObjectStructInfo())
