"""What checking costs: parsing with and without it, and well-formedness of built programs.

The program is the one of `front_end`. `ast.parse` of the same script is the yardstick.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable

from relaxscript.analysis import ill_formed
from relaxscript.script import from_source

from .front_end import program
from .timing import in_turns

_fresh = itertools.count()


def parsed(text: str, check_well_formed: bool) -> Callable[[], object]:
    """Parsing the text, with or without checks; a comment makes it new each time."""
    return lambda: from_source(
        f"{text}# checked {next(_fresh)}\n", check_well_formed=check_well_formed
    )


def main() -> None:
    texts = {count: program(count) for count in (1_000, 5_000, 10_000)}
    actions: dict[str, Callable[[], object]] = {}
    for count, text in texts.items():
        function = from_source(text)
        actions[f"ast {count}"] = lambda text=text: ast.parse(text)
        actions[f"checked {count}"] = parsed(text, True)
        actions[f"unchecked {count}"] = parsed(text, False)
        actions[f"formed {count}"] = lambda function=function: ill_formed(function)
    times = in_turns(actions)
    for count in texts:
        tree, checked = times[f"ast {count}"], times[f"checked {count}"]
        unchecked, formed = times[f"unchecked {count}"], times[f"formed {count}"]
        print(f"{count:6} bindings: ast.parse {tree * 1e3:8.2f} ms")
        print(f"  with checks / without          {checked / unchecked:8.2f}    (aim: at most 1.4)")
        print(f"  well_formed / ast.parse        {formed / tree:8.2f}    (aim: at most 3)")
    for what in ("checked", "formed"):
        ratio = times[f"{what} 10000"] / times[f"{what} 1000"]
        print(f"{what}: 10,000 as a multiple of 1,000 {ratio:8.2f}    (aim: at most 11)")


if __name__ == "__main__":
    main()
