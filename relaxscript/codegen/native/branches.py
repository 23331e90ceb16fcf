"""The branches of an `if` in a plan, and the value that is one of theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .plan import Branch, Choice, Chosen, Made, Number, PlannedCall, Step, Tensor
from .plan_draft import TENSORS, PlanDraft, Unplanned, are_equal

__all__ = ["BranchDraft", "add_choice"]


class BranchDraft(NamedTuple):
    """A branch that was read: its steps, its value, and the numbers of the tensors it makes."""

    steps: tuple[Step, ...]
    value: Any
    made: range


def add_choice(
    draft: PlanDraft, condition: Tensor | Number, then: BranchDraft, otherwise: BranchDraft
) -> Any:
    """Add an `if` to the steps of a draft; its value is the result.

    Where both branches make a tensor of one dtype and shape it is one tensor. Other values must be
    equal, or tensors that are alike, of which one is chosen.
    """
    same = _same_tensors(draft, then, otherwise)
    if same:
        draft.views[:] = [(same.get(root, root), facts) for root, facts in draft.views]
        draft.chosen[:] = [(same.get(a, a), same.get(b, b)) for a, b in draft.chosen]
    begin = len(draft.chosen)
    value = _join(draft, then.value, otherwise.value, same)
    pairs = list(enumerate(draft.chosen[begin:], begin))
    branches = (
        Branch(then.steps, tuple([(Chosen(k), one) for k, (one, _) in pairs])),
        Branch(_renamed(otherwise.steps, same), tuple([(Chosen(k), b) for k, (_, b) in pairs])),
    )
    draft.steps.append(Choice(condition, branches))
    draft.is_straight = False
    return value


def _same_tensors(
    draft: PlanDraft, then: BranchDraft, otherwise: BranchDraft
) -> dict[Tensor, Tensor]:
    """The tensors of the first branch for those of the second that can be the same."""
    ones, others = list(_tensors_in(then.value)), list(_tensors_in(otherwise.value))
    counts, same = (Counter(ones), Counter(others)), dict[Tensor, Tensor]()
    for a, b in zip(ones, others, strict=False):
        both_new = isinstance(a, Made) and isinstance(b, Made)
        if not both_new or a.index not in then.made or b.index not in otherwise.made:
            continue
        if counts[0][a] == counts[1][b] == 1 and draft.are_alike(a, b):
            same[b] = a
    return same


def _tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors in a value, one as often as it is there."""
    if isinstance(value, list):
        for field in value:
            yield from _tensors_in(field)
    elif isinstance(value, TENSORS):
        yield value


def _join(draft: PlanDraft, one: Any, other: Any, same: Mapping[Tensor, Tensor]) -> Any:
    """The value that is one or another."""
    match one, other:
        case list(), list() if len(one) == len(other):
            return [_join(draft, a, b, same) for a, b in zip(one, other, strict=True)]
        case tuple(), tuple() if are_equal(one, other):
            return one
        case Number(a), Number(b) if a is b or (a.dtype == b.dtype and are_equal([a], [b])):
            return one
    if not isinstance(one, TENSORS) or not isinstance(other, TENSORS):
        raise Unplanned
    other = same.get(other, other)
    if one == other:
        return one
    if not draft.are_alike(one, other):
        raise Unplanned
    draft.chosen.append((one, other))
    return Chosen(len(draft.chosen) - 1)


def _renamed(steps: Sequence[Step], same: Mapping[Tensor, Tensor]) -> tuple[Step, ...]:
    """The steps with other tensors in the place of some."""

    def new(thing: Any) -> Any:
        return same.get(thing, thing)

    found = list[Step]()
    for step in steps if same else ():
        if isinstance(step, PlannedCall):
            operands, filled = tuple(map(new, step.operands)), frozenset(map(new, step.filled))
            found.append(PlannedCall(step.kernel, operands, filled, step.rounds))
            continue
        ways = [
            Branch(_renamed(way.steps, same), tuple([(j, new(leaf)) for j, leaf in way.results]))
            for way in step.branches
        ]
        found.append(Choice(new(step.condition), (ways[0], ways[1])))
    return tuple(found) if same else tuple(steps)
