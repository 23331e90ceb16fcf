"""Simplifying and proving the facts that every prover of shapes has to decide.

The yardstick of each is `ast.parse` of its text; figures are medians over the facts.
"""

from __future__ import annotations

import ast
import statistics
from collections.abc import Callable

from relaxscript.arith import prove, simplify
from relaxscript_tests.arith.true_facts import Fact, true_facts

from .timing import in_turns

DECIDED = "what every prover of shapes has to decide"
# One run is too short for the clock; a long one would be interrupted on a busy machine.
REPEATED = 10


def repeated(action: Callable[[], object]) -> Callable[[], object]:
    def run() -> None:
        for _ in range(REPEATED):
            action()

    return run


def times_of(fact: Fact) -> tuple[float, float, float]:
    """Seconds for parsing the text of a fact, simplifying it as an expression, and proving it."""
    text = fact.text.partition(" given ")[0]
    facts = fact.facts if fact.given else None
    times = in_turns(
        {
            "ast": repeated(lambda: ast.parse(text)),
            "simplify": repeated(lambda: simplify(fact.claim, facts)),
            "prove": repeated(lambda: prove(fact.claim, facts)),
        },
        runs=15,
    )
    return times["ast"] / REPEATED, times["simplify"] / REPEATED, times["prove"] / REPEATED


def print_figures(heading: str, facts: list[Fact]) -> None:
    rows = [times_of(fact) for fact in facts]
    median = statistics.median
    parse = median(row[0] for row in rows)
    simplified = median(row[1] / row[0] for row in rows)
    proved = median(row[2] / row[0] for row in rows)
    slowest, fact = max((row[2] / row[0], fact.text) for row, fact in zip(rows, facts))
    print(f"{heading}: {len(facts)}")
    print(f"ast.parse of the text            {parse * 1e6:8.2f} us")
    print(f"simplify                         {simplified:8.2f} x  (aim: at most 3)")
    print(f"prove                            {proved:8.2f} x  (aim: at most 10)")
    print(f"the slowest proof                {slowest:8.2f} x  {fact}")


def main() -> None:
    print_figures("facts that have to be decided", true_facts(DECIDED))
    print_figures("every tenth of all facts", true_facts()[::10])


if __name__ == "__main__":
    main()
