"""Groups of bindings of a dataflow graph that are computed together.

A binding joins the one that post-dominates it, with all that is between them. So a group has one
value that others use, its last one; and nothing that depends on the group is needed in it. That is
so whatever the patterns say.

Source: the TVM paper, section "Operator Fusion"; TVM `GraphPartitioner` for the order of its steps.
"""

from __future__ import annotations

from relaxscript.analysis import OpPattern

from .dominators import NONE, DataflowGraph, PostDominators, post_dominators

__all__ = ["group_bindings"]

_INJECTIVE = OpPattern.INJECTIVE.value
_BROADCAST = OpPattern.BROADCAST.value
_ELEMENTWISE = OpPattern.ELEMWISE.value
_REDUCE = OpPattern.COMM_REDUCE.value
_LARGE = OpPattern.OUT_ELEMWISE_FUSABLE.value


def group_bindings(graph: DataflowGraph, max_depth: int) -> list[list[int]]:
    """The groups of two or more bindings, each in the order of evaluation; the last is its value.

    No group has more than `max_depth`. First elementwise computations join what follows them, then
    injective ones do: so that a product has its epilogue before anything else takes it.
    """
    grouping = _Grouping(graph, post_dominators(graph, max_depth), max_depth)
    for joins_injective in (False, True):
        for number in range(len(graph)):
            grouping.visit(number, joins_injective)
    return grouping.groups()


class _Grouping:
    """Groups, each named by one of its bindings."""

    def __init__(self, graph: DataflowGraph, dominators: PostDominators, most: int) -> None:
        self.graph = graph
        self.dominators = dominators
        self.most = most
        count = len(graph)
        self._leaders = list(range(count))
        self._sizes = [1] * count
        self._patterns = list(graph.patterns)
        # Whether a group has a product, or what else is large.
        self._anchored = [pattern == _LARGE for pattern in graph.patterns]

    def visit(self, number: int, joins_injective: bool) -> None:
        """Let a binding join the one that post-dominates it, where their patterns go together."""
        parent = self.dominators.parents[number]
        if parent == NONE:
            return
        leader = self._leader(number)
        pattern = self._patterns[leader]
        sink = self._leader(parent)
        if leader == sink or self._sizes[leader] + self._sizes[sink] > self.most:
            return
        way, end = self.dominators.patterns[number], self._patterns[sink]
        if pattern == _LARGE:
            fits = not joins_injective and way == _ELEMENTWISE and end <= _BROADCAST
            between = _BROADCAST
        elif pattern <= _BROADCAST:
            fits = way <= _REDUCE and end <= _LARGE
            between = _INJECTIVE
        elif pattern == _INJECTIVE:
            fits = joins_injective and end <= _INJECTIVE
            between = _INJECTIVE
        else:
            return
        if fits:
            self._join(number, parent, between)

    def _join(self, number: int, parent: int, between: int) -> None:
        """Make one group of a binding, its post-dominator and all between, if patterns admit it."""
        leaders = dict.fromkeys((self._leader(number), self._leader(parent)))
        seen = {parent}
        stack = [user for user in self.graph.users[number] if user != parent]
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            leader = self._leader(at)
            if len(seen) > self.most or self._patterns[leader] > between:
                return
            leaders[leader] = None
            stack += self.graph.users[at]
        if sum(self._sizes[leader] for leader in leaders) > self.most:
            return
        if sum(self._anchored[leader] for leader in leaders) > 1:
            return
        sink = self._leader(parent)
        for leader in leaders:
            if leader != sink:
                self._leaders[leader] = sink
                self._sizes[sink] += self._sizes[leader]
                if self._anchored[leader]:
                    self._anchored[sink] = True
                    self._patterns[sink] = max(self._patterns[sink], self._patterns[leader])

    def _leader(self, number: int) -> int:
        leaders = self._leaders
        while leaders[number] != number:
            leaders[number] = number = leaders[leaders[number]]
        return number

    def groups(self) -> list[list[int]]:
        """The groups that have two bindings or more."""
        members: dict[int, list[int]] = {}
        for number in range(len(self.graph)):
            members.setdefault(self._leader(number), []).append(number)
        return [group for group in members.values() if len(group) > 1]
