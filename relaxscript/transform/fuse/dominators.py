"""Post-dominators of a dataflow graph: where all uses of a value come together.

A value is post-dominated by the first binding through which everything that comes of it goes. One
that is further away than `reach` is none: no group is as large as what lies between.

Source: the TVM paper, section "Operator Fusion"; TVM `IndexedForwardGraph`, `DominatorTree`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from relaxscript.analysis import OpPattern

__all__ = ["DataflowGraph", "PostDominators", "post_dominators"]

NONE = -1


@dataclass
class DataflowGraph:
    """The bindings of a block by their numbers, which are in the order of evaluation.

    For each: its pattern, the bindings that use it, and whether it is needed elsewhere too.
    """

    patterns: list[int] = field(default_factory=list)
    users: list[list[int]] = field(default_factory=list)
    escapes: list[bool] = field(default_factory=list)

    def add(self, pattern: int) -> int:
        """A new binding, which nothing uses yet; its number."""
        self.patterns.append(pattern)
        self.users.append([])
        self.escapes.append(False)
        return len(self.patterns) - 1

    def use(self, used: int, user: int) -> None:
        """Note that a binding uses another one."""
        users = self.users[used]
        if not users or users[-1] != user:
            users.append(user)

    def __len__(self) -> int:
        return len(self.patterns)


@dataclass
class PostDominators:
    """The post-dominator of each binding, -1 for none, and the patterns on the ways there.

    Of the bindings on these ways, the post-dominator included, the largest pattern is kept.
    """

    parents: list[int]
    patterns: list[int]
    depths: list[int]

    def meet(self, users: Sequence[int], graph: DataflowGraph, reach: int) -> tuple[int, int]:
        """The meeting of the ways from some bindings, and the largest pattern on them."""
        parents, patterns, depths = self.parents, self.patterns, self.depths
        meeting = users[0]
        pattern = graph.patterns[meeting]
        for other in users[1:]:
            if graph.patterns[other] > pattern:
                pattern = graph.patterns[other]
            while meeting != other:
                here, there = depths[meeting], depths[other]
                reach -= 1
                if here >= there:
                    if patterns[meeting] > pattern:
                        pattern = patterns[meeting]
                    meeting = parents[meeting]
                if there >= here:
                    if patterns[other] > pattern:
                        pattern = patterns[other]
                    other = parents[other]
                if meeting == NONE or other == NONE or reach < 0:
                    return NONE, OpPattern.OPAQUE
        return meeting, pattern


def post_dominators(graph: DataflowGraph, reach: int) -> PostDominators:
    """The post-dominators of a graph, as far as no way to them has `reach` bindings."""
    count = len(graph)
    found = PostDominators([NONE] * count, [OpPattern.OPAQUE] * count, [1] * count)
    # The longest way from each binding to the last one that post-dominates it.
    ways = [0] * count
    for number in reversed(range(count)):
        users = graph.users[number]
        if graph.escapes[number] or not users:
            continue
        parent, pattern = found.meet(users, graph, reach)
        if parent == NONE:
            continue
        way = 1 + max([ways[user] for user in users])
        if way - ways[parent] < reach:
            found.parents[number] = parent
            found.patterns[number] = pattern
            found.depths[number] = found.depths[parent] + 1
            ways[number] = way
    return found
