"""The search for several patterns at once among the bindings of a block.

A plan says in which order the parts of a context are looked for. It begins at a part whose operator
is in the index, and goes on along uses: to what the last found uses, or to who uses it. So where
all parts are connected, the cost is that of the bindings with the first operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowVar,
    Expr,
    Op,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.walk import mentioned

from .constraints import Constraints, Link
from .format import inner_patterns
from .matcher import FAIL, Goals, KnownValues, Matcher, Step, same_shape
from .pattern import (
    AndPattern,
    AttrPattern,
    CallPattern,
    DataTypePattern,
    DFPattern,
    NotPattern,
    OrPattern,
    ShapePattern,
    StructInfoPattern,
    TypePattern,
)

__all__ = [
    "BlockGraph",
    "Candidates",
    "Different",
    "GraphSearch",
    "LinkStep",
    "SameShapes",
    "operands_of",
    "root_operators",
]  # fmt: skip


def operands_of(value: Expr) -> tuple[Expr, ...]:
    """The operands of a value; of other values than calls and tuples the variables in it."""
    match value:
        case Call(args=args):
            return args
        case Tuple(fields=fields):
            return fields
        case TupleGetItem(tuple_value=inner):
            return (inner,)
        case Var():
            return (value,)
    return tuple(mentioned(value))


def _variables_of(operand: Expr) -> Iterator[Var]:
    if isinstance(operand, Var):
        yield operand
    elif isinstance(operand, Tuple):
        yield from mentioned(operand)


def _use(users: dict[Var, dict[Var, None]], var: Var, value: Expr) -> None:
    for used in mentioned(value):
        users.setdefault(used, {})[var] = None


class BlockGraph:
    """The bindings of a block by variable, by operator, and by what they use."""

    def __init__(self, bindings: Iterable[Binding], outer: KnownValues | None = None) -> None:
        self.outer: KnownValues = {} if outer is None else outer
        # Each value, that of a match_cast too; whoever matches sees through the others only.
        self.operands: dict[Var, tuple[Expr, ...]] = {}
        self.values: dict[Var, Expr] = {}
        # Who uses a variable, once somebody asked.
        self._users: dict[Var, dict[Var, None]] | None = None
        self._bound: dict[Var, Expr] = {}
        self.by_operator: dict[str, list[Var]] = {}
        for binding in bindings:
            self.add(binding.var, binding.value, isinstance(binding, VarBinding))

    def add(self, var: Var, value: Expr, known: bool = True) -> None:
        """Bind a variable that has no value yet, or another value from now on."""
        self._bound[var] = value
        if self._users is not None:
            _use(self._users, var, value)
        self.operands[var] = operands_of(value)
        if known:
            self.values[var] = value
            if isinstance(value, Call) and isinstance(value.op, Op):
                self.by_operator.setdefault(value.op.name, []).append(var)

    def remove(self, var: Var, value: Expr) -> None:
        """Take back what `add` said of the uses of a value."""
        for used in mentioned(value):
            self.users.get(used, {}).pop(var, None)

    @property
    def users(self) -> dict[Var, dict[Var, None]]:
        """The variables whose values use a variable, in the order of the block."""
        if self._users is None:
            self._users = {}
            for var, value in self._bound.items():
                _use(self._users, var, value)
        return self._users

    def forget(self, var: Var, value: Expr) -> None:
        """Have a variable bound no more."""
        self.remove(var, value)
        del self.operands[var], self._bound[var]
        self.values.pop(var, None)

    def get(self, var: Any, /) -> Expr | None:
        """The value of a variable of the block, or of what is around it."""
        found = self.values.get(var)
        return self.outer.get(var) if found is None else found

    def candidates(self, pattern: DFPattern) -> Sequence[Var]:
        """The variables that a pattern may match, in the order of the block."""
        operators = root_operators(pattern)
        if operators is None:
            return list(self.operands)
        if len(operators) == 1:
            return self.by_operator.get(next(iter(operators)), [])
        found = {var for name in operators for var in self.by_operator.get(name, ())}
        return [var for var in self.operands if var in found]

    def uses(self, consumer: Expr, producer: Expr, index: int, matcher: Matcher) -> bool:
        """True if the value of a variable has another as operand `index`, or as any if -1."""
        if not isinstance(consumer, Var):
            return False
        operands = self.operands.get(consumer, ())
        places = operands if index < 0 else operands[index : index + 1]
        return any(
            matcher.origin(var) is producer for place in places for var in _variables_of(place)
        )

    def is_only_user(self, consumer: Expr, producer: Expr) -> bool:
        """True if nothing else uses a variable, which does not leave the block."""
        if not isinstance(producer, Var):
            return False
        if producer in self.operands and not isinstance(producer, DataflowVar):
            return False  # what leaves the block is used behind it
        return list(self.users.get(producer, ())) == [consumer]


def root_operators(pattern: DFPattern) -> frozenset[str] | None:
    """The operators that calls that a pattern matches may have; None where it is not only calls."""
    while True:
        match pattern:
            case CallPattern(operator=str() as name):
                return frozenset({name})
            case OrPattern(left=left, right=right):
                first, second = root_operators(left), root_operators(right)
                return None if first is None or second is None else first | second
            case AndPattern(left=left, right=right):
                found = root_operators(left)
                return root_operators(right) if found is None else found
            case (
                AttrPattern(pattern=inner)
                | DataTypePattern(pattern=inner)
                | ShapePattern(pattern=inner)
                | StructInfoPattern(pattern=inner)
                | TypePattern(pattern=inner)
            ):
                pattern = inner
            case _:
                return None


def _inside(root: DFPattern, surely: bool = True) -> dict[DFPattern, None]:
    """The patterns that are matched whenever a pattern is, itself included.

    Unless `surely`, all that are in it: one side of `|`, and what is rejected, are not matched.
    """
    found: dict[DFPattern, None] = {}
    todo = [root]
    while todo:
        pattern = todo.pop()
        if pattern in found:
            continue
        found[pattern] = None
        if not surely or not isinstance(pattern, (NotPattern, OrPattern)):
            todo += inner_patterns(pattern)
    return found


class Candidates(Step):
    """A part to be matched by one of several expressions, from a position on."""

    __slots__ = ("exprs", "part", "position", "search")

    def __init__(
        self, search: GraphSearch, part: DFPattern, exprs: Sequence[Expr], position: int = 0
    ) -> None:
        self.search = search
        self.part = part
        self.exprs = exprs
        self.position = position

    def take(self, matcher: Matcher, goals: Goals) -> Goals:
        """Try the expression at the position, and leave those behind it for later."""
        position, exprs = self.position, self.exprs
        while position < len(exprs) and self.search.is_taken(matcher, self.part, exprs[position]):
            position += 1
        if position >= len(exprs):
            return FAIL
        if position + 1 < len(exprs):
            matcher.choose((Candidates(self.search, self.part, exprs, position + 1), None, goals))
        return (self.part, exprs[position], goals)


class _Root(Step):
    """A part that is not connected to any that was found: any binding may be it."""

    __slots__ = ("part", "search")

    def __init__(self, search: GraphSearch, part: DFPattern) -> None:
        self.search = search
        self.part = part

    def take(self, matcher: Matcher, goals: Goals) -> Goals:
        """Try all candidates in their order, unless the part is found by now."""
        if self.part in matcher.memo:
            return goals
        exprs = self.search.graph.candidates(self.part)
        return Candidates(self.search, self.part, exprs).take(matcher, goals)


class LinkStep(Step):
    """A link of which one side is found, or both are."""

    __slots__ = ("link", "search")

    def __init__(self, search: GraphSearch, link: Link) -> None:
        self.search = search
        self.link = link

    def take(self, matcher: Matcher, goals: Goals) -> Goals:
        """Check the link where both sides are found, else try what may be the other side."""
        link, graph = self.link, self.search.graph
        producer, consumer = matcher.memo.get(link.producer), matcher.memo.get(link.consumer)
        if producer is not None and consumer is not None:
            return goals if link.by_call or self._holds(matcher, producer, consumer) else FAIL
        again = goals if link.by_call else (self, None, goals)
        if consumer is not None:
            operands = graph.operands.get(matcher.origin(consumer), ())  # type: ignore[call-overload]
            places = operands if link.index < 0 else operands[link.index : link.index + 1]
            found = [var for place in places for var in _variables_of(place)]
            exprs: list[Expr] = list(dict.fromkeys(found))
            return Candidates(self.search, link.producer, exprs).take(matcher, again)
        if producer is not None:
            users = list(graph.users.get(matcher.origin(producer), ()))  # type: ignore[call-overload]
            return Candidates(self.search, link.consumer, users).take(matcher, again)
        return FAIL

    def _holds(self, matcher: Matcher, producer: Expr, consumer: Expr) -> bool:
        link, graph = self.link, self.search.graph
        made, user = matcher.origin(producer), matcher.origin(consumer)
        if not graph.uses(user, made, link.index, matcher):
            return False
        return not link.only or graph.is_only_user(user, made)


class SameShapes(Step):
    """Parts that are all found, and must be of one shape."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[DFPattern, ...]) -> None:
        self.parts = parts

    def take(self, matcher: Matcher, goals: Goals) -> Goals:
        """Compare the shapes."""
        exprs = [matcher.memo[part] for part in self.parts if part in matcher.memo]
        return goals if same_shape(exprs) else FAIL


class Different(Step):
    """Parts that are calls, all found, which must be different bindings."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[DFPattern]) -> None:
        self.parts = parts

    def take(self, matcher: Matcher, goals: Goals) -> Goals:
        """Compare the variables."""
        found = [matcher.origin(matcher.memo[p]) for p in self.parts if p in matcher.memo]
        return goals if len(set(map(id, found))) == len(found) else FAIL


def _bindings_apart(parts: Iterable[DFPattern]) -> list[DFPattern]:
    """The parts that are calls, each for a binding of its own: one narrowed is still the same."""
    calls = [part for part in parts if root_operators(part) is not None]
    narrowed = {inner for part in calls for inner in _at_root(part) if inner is not part}
    return [part for part in calls if part not in narrowed]


def _at_root(root: DFPattern) -> set[DFPattern]:
    """The patterns that look at the same expression as a pattern does, itself included."""
    found: set[DFPattern] = set()
    todo = [root]
    while todo:
        pattern = todo.pop()
        if pattern not in found:
            found.add(pattern)
            if isinstance(pattern, _NARROWING):
                todo += inner_patterns(pattern)
    return found


# Their parts look at the expression that they look at themselves.
_NARROWING = (
    AndPattern, AttrPattern, DataTypePattern, OrPattern, ShapePattern, StructInfoPattern,
    TypePattern,
)  # fmt: skip


class GraphSearch:
    """The search for the parts of a context in a block; it may be asked again as the block changes.

    `first_part` is the part that each match is found by.
    """

    def __init__(self, constraints: Constraints, graph: BlockGraph) -> None:
        self.constraints = constraints
        self.graph = graph
        self.matcher = Matcher(graph)
        self.calls = _bindings_apart(constraints.parts)
        self._apart = frozenset(self.calls)
        self.first_part, self._steps = self._plan()

    def _plan(self) -> tuple[DFPattern, list[Step]]:
        """The part to begin with, and what is to be done when it is found."""
        links = list(self.constraints.links)
        contained: set[DFPattern] = set()
        for part in self.constraints.parts:
            contained.update(inner for inner in _inside(part, surely=False) if inner is not part)
        # What a call uses that is a part of another pattern is matched with that.
        links = [k for k in links if not (k.by_call and k.consumer in contained)]
        tops = [part for part in self.constraints.parts if part not in contained]
        used = {link.producer for link in links}
        tops.sort(key=lambda part: (root_operators(part) is None, part in used))
        bound: set[DFPattern] = set()
        steps: list[Step] = []
        for top in tops:
            if top in bound:
                continue
            steps.append(_Root(self, top))
            bound.update(_inside(top))
            links = self._along(links, bound, steps)
        steps += [SameShapes(parts) for parts in self.constraints.same_shapes]
        if len(self.calls) > 1:
            steps.append(Different(self.calls))
        return tops[0], steps[1:]

    def _along(self, links: list[Link], bound: set[DFPattern], steps: list[Step]) -> list[Link]:
        """Follow links from what is found; those that are left touch nothing of it."""
        # Each round either finds another part or is the last, and contexts are small.
        while True:
            checks = [k for k in links if k.producer in bound and k.consumer in bound]
            steps += [LinkStep(self, link) for link in checks if not link.by_call]
            links = [link for link in links if link not in checks]
            link = next((k for k in links if k.producer in bound or k.consumer in bound), None)
            if link is None:
                return links
            steps.append(LinkStep(self, link))
            links.remove(link)
            bound.update(_inside(link.consumer if link.producer in bound else link.producer))

    def is_taken(self, matcher: Matcher, part: DFPattern, expr: Expr) -> bool:
        """True if a part that is a call may not match a variable, as another one does."""
        if part not in self._apart:
            return False
        memo = matcher.memo
        return any(memo.get(other) is expr for other in self.calls if other is not part)

    def at(self, var: Expr) -> dict[DFPattern, Expr] | None:
        """The match of all parts where the first one matches a variable, or None."""
        goals: Goals = None
        for step in reversed(self._steps):
            goals = (step, None, goals)
        found = self.matcher.match_all((self.first_part, var, goals))
        return None if found is None else found.memo

    def first(self) -> dict[DFPattern, Expr] | None:
        """The first match of all parts, in the order of the block."""
        for var in self.graph.candidates(self.first_part):
            found = self.at(var)
            if found is not None:
                return found
        return None
