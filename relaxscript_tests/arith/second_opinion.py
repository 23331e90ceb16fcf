"""What z3 thinks of our proofs: `python -m relaxscript_tests.arith.second_opinion`.

Each answer YES or NO on a random condition is put to z3, which looks for a counterexample among all
integers, not only small ones. One that it finds is a mistake of ours, and the program fails. The
package `z3-solver` is the extra `oracles`; `.ci/long` runs this.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random
from typing import Any

import z3

from relaxscript.arith import UNKNOWN, YES, format_expr, prove
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript_tests import examples
from relaxscript_tests.arith import brute_force
from relaxscript_tests.arith.true_facts import facts_of, true_facts

__all__ = ["Reader", "main"]

QUESTIONS = 20_000
MILLISECONDS = 200


class NotAsked(Exception):
    """The bits of what is no number: z3 takes too long to tell."""


class Reader:
    """Expressions as terms of z3, and for each whether it has a value."""

    def __init__(self) -> None:
        self.variables: dict[prim.Var, Any] = {}

    def read(self, e: PrimExpr) -> tuple[Any, Any]:
        """The term of `e`, and the condition that nothing in it divides by zero."""
        match e:
            case prim.Var(name=name):
                return self.variables.setdefault(e, z3.Int(name)), z3.BoolVal(True)
            case prim.IntImm(value=value):
                term = z3.BoolVal(bool(value)) if e.dtype.is_bool else z3.IntVal(value)
                return term, z3.BoolVal(True)
            case prim.Not(a):
                x, known = self.read(a)
                return z3.Not(x), known
            case prim.Select(c, a, b) | prim.Call(op="tir.if_then_else", args=(c, a, b)):
                (chosen, known), (x, first), (y, second) = (self.read(p) for p in (c, a, b))
                lazy = z3.If(chosen, first, second)
                both = z3.And(first, second) if isinstance(e, prim.Select) else lazy
                return z3.If(chosen, x, y), z3.And(known, both)
            case prim.Call():
                return self.call(e)
            case prim.Binary(a, b) | prim.Comparison(a, b) | prim.Logic(a, b):
                return _combined(e, self.read(a), self.read(b))
        raise NotImplementedError(type(e).__name__)

    def call(self, e: prim.Call) -> tuple[Any, Any]:
        """What `read` gives for an absolute value and for operations on bits."""
        x, known = self.read(e.args[0])
        match e:
            case prim.Call(op="tir.abs"):
                return z3.If(x < 0, -x, x), known
            case prim.Call(op="tir.bitwise_not"):
                return -x - 1, known
            case prim.Call(op="tir.shift_left", args=(_, prim.IntImm(value=n))) if 0 <= n < 64:
                return x * (1 << n), known
            case prim.Call(op="tir.shift_right", args=(_, prim.IntImm(value=n))) if 0 <= n < 64:
                return x / (1 << n), known
        raise NotAsked


def _combined(e: PrimExpr, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    (x, known), (y, other) = a, b
    match e:
        case prim.And():
            return z3.And(x, y), z3.And(known, z3.Or(z3.Not(x), other))
        case prim.Or():
            return z3.Or(x, y), z3.And(known, z3.Or(x, other))
    both = z3.And(known, other)
    match e:
        case prim.FloorDiv():
            return _floored(x, y), z3.And(both, y != 0)
        case prim.FloorMod():
            return x - _floored(x, y) * y, z3.And(both, y != 0)
        case prim.Div():
            return _truncated(x, y), z3.And(both, y != 0)
        case prim.Mod():
            return x - _truncated(x, y) * y, z3.And(both, y != 0)
    return OPERATIONS[type(e)](x, y), both


def _floored(x: Any, y: Any) -> Any:
    # Division in z3 leaves a remainder that is never negative.
    return z3.If(y > 0, x / y, -x / -y)


def _truncated(x: Any, y: Any) -> Any:
    quotient = z3.If(x < 0, -x, x) / z3.If(y < 0, -y, y)
    return z3.If((x < 0) == (y < 0), quotient, -quotient)


OPERATIONS: dict[type[PrimExpr], Any] = {
    prim.Add: lambda x, y: x + y,
    prim.Sub: lambda x, y: x - y,
    prim.Mul: lambda x, y: x * y,
    prim.Min: lambda x, y: z3.If(x < y, x, y),
    prim.Max: lambda x, y: z3.If(x < y, y, x),
    prim.EQ: lambda x, y: x == y,
    prim.NE: lambda x, y: x != y,
    prim.LT: lambda x, y: x < y,
    prim.LE: lambda x, y: x <= y,
    prim.GT: lambda x, y: x > y,
    prim.GE: lambda x, y: x >= y,
}


def _counterexample(
    condition: PrimExpr, given: tuple[PrimExpr, ...], signed: bool, answer: bool
) -> Any:
    """Where the answer is false; None if nowhere, "unknown" if z3 cannot tell."""
    reader = Reader()
    solver = z3.SolverFor("QF_NIA")
    solver.set("timeout", MILLISECONDS)
    term, known = reader.read(condition)
    solver.add(known, z3.Not(term) if answer else term)
    for assumed in given:
        solver.add(*reader.read(assumed))
    if not signed:
        solver.add(*(v >= 0 for v in reader.variables.values()))
    found = solver.check()
    if found == z3.sat:
        return solver.model()
    return None if found == z3.unsat else "unknown"


def main() -> int:
    """Print how z3 judges our answers; 1 if it finds one of them false."""
    count: Counter[str] = Counter()
    questions = [(fact.claim, fact.given, fact.signed) for fact in true_facts()]
    for seed in range(examples(QUESTIONS)):
        random = Random(seed)
        given = tuple(brute_force.condition(random, 2) for _ in range(random.randrange(3)))
        questions.append((brute_force.condition(random), given, random.random() < 0.5))
    for condition, given, signed in questions:
        answer = prove(condition, facts_of(given, signed))
        if answer is UNKNOWN:
            count["not decided by us"] += 1
            continue
        try:
            found = _counterexample(condition, given, signed, answer is YES)
        except NotAsked:
            count["not asked, for their bits"] += 1
            continue
        if found is None:
            count["z3 says the same"] += 1
        elif found == "unknown":
            count["z3 cannot tell"] += 1
        else:
            assumed = " and ".join(map(format_expr, given))
            print(
                f"{answer}: {format_expr(condition)}{' given ' * bool(given)}{assumed}, but {found}"
            )
            count["z3 has a counterexample"] += 1
    print(f"{len(questions)} questions:", ", ".join(f"{n} {what}" for what, n in count.items()))
    return int(count["z3 has a counterexample"] > 0)


if __name__ == "__main__":
    sys.exit(main())
