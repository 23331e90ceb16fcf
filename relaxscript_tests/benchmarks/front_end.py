"""Parsing, lowering, printing and comparing, as multiples of `ast.parse` of the same text.

The program is a function of N bindings over a symbolic batch: matmul, bias add, relu, multiply,
tanh, residual add, again and again. Every run parses a text that was never parsed before.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from functools import partial

from relaxscript.compiler import build
from relaxscript.ir import IRModule, structural_equal
from relaxscript.script import from_source
from relaxscript.script.source.source_tree import parse_once
from relaxscript.transform.pipeline import default_build_pipeline

from .timing import in_turns, seconds

STEPS = (
    "R.matmul({0}, w)", "R.add({0}, b)", "R.nn.relu({0})", "R.multiply({0}, x)", "R.tanh({0})",
    "R.add({0}, x)",
)  # fmt: skip
_fresh = itertools.count()


def program(count: int) -> str:
    """A function with `count` bindings."""
    lines = [
        "@R.function",
        'def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 64), "float32"), '
        'b: R.Tensor((64,), "float32")):',
        "    n = T.int64()",
        "    with R.dataflow():",
    ]
    last = "x"
    for index in range(count):
        lines.append(f"        lv{index} = {STEPS[index % len(STEPS)].format(last)}")
        last = f"lv{index}"
    return "\n".join([*lines, f"        R.output({last})", f"    return {last}", ""])


def parsed(text: str) -> Callable[[], object]:
    """Parsing the text; a comment makes it new each time."""
    return lambda: from_source(f"{text}# {next(_fresh)}\n")


def parse_figures() -> None:
    texts = {count: program(count) for count in (1_000, 10_000)}
    actions: dict[str, Callable[[], object]] = {}
    for count, text in texts.items():
        actions[f"ast {count}"] = lambda text=text: ast.parse(text)
        actions[f"tree {count}"] = lambda text=text: parse_once("<benchmark>", text)
        actions[f"parse {count}"] = parsed(text)
    # The parser keeps the last 16 texts: after 8 rounds each one also pays for letting a tree go.
    times = in_turns(actions, runs=21)
    tree, ours, long = times["ast 1000"], times["parse 1000"], times["parse 10000"]
    per_binding = (ours - 4 * tree) / 1_000 * 1e6
    print(f"ast.parse of 1,000 bindings      {tree * 1e3:8.2f} ms")
    print(f"parse and derive 1,000           {ours * 1e3:8.2f} ms = {ours / tree:.2f} x ast.parse")
    print(f"beyond 4 x ast.parse             {per_binding:8.2f} us a binding (aim: at most 25)")
    print(f"parse and derive 10,000          {long * 1e3:8.2f} ms")
    print(f"10,000 as a multiple of 1,000    {long / ours:8.2f}    (aim: at most 11)")
    # The tree alone, without the collector: what Python's parser and fresh memory grow by.
    growth = times["tree 10000"] / times["tree 1000"]
    print(f"  of Python's tree of it         {growth:8.2f}")


def print_and_compare_figures() -> None:
    text = program(1_000)
    functions = itertools.cycle([from_source(text + f"# {i}\n") for i in range(20)])
    long_functions = itertools.cycle([from_source(program(10_000) + f"# {i}\n") for i in range(3)])
    first, second = from_source(text), from_source(text + "#\n")
    printed = first.script()
    times = in_turns(
        {
            "ast": lambda: ast.parse(printed),
            "print": lambda: next(functions).script(),
            "print long": lambda: next(long_functions).script(),
            "show": lambda: next(functions)._repr_html_(),
            "show long": lambda: next(long_functions)._repr_html_(),
            "draw": lambda: next(functions).graph(max_nodes=None).to_svg(),
            "equal": lambda: structural_equal(first, second),
            "source": lambda: ast.parse(text),
            "again": parsed(printed),
            "user": parsed(text),
        }
    )
    tree = times["ast"]
    print(f"ast.parse of the printed text    {tree * 1e3:8.2f} ms")
    print(f"print 1,000                      {times['print'] / tree:8.2f} x  (aim: at most 6)")
    growth = times["print long"] / times["print"]
    print(f"print 10,000, as multiple        {growth:8.2f}    (aim: at most 11)")
    print(f"show 1,000 in a notebook         {times['show'] / tree:8.2f} x  (aim: at most 10)")
    growth = times["show long"] / times["show"]
    print(f"show 10,000, as multiple         {growth:8.2f}    (aim: at most 11)")
    print(f"draw 1,000 as a graph            {times['draw'] / tree:8.2f} x  (aim: at most 20)")
    equal = times["equal"] / times["source"]
    print(f"structural equality 1,000        {equal:8.2f} x  (of the user's text; aim: at most 1)")
    print(
        f"parse of our own print           {times['again'] / times['user']:8.2f} x the user's text"
    )


def lowering_figures() -> None:
    modules = {n: IRModule({"main": from_source(program(n))}) for n in (1_000, 10_000)}
    times = in_turns(
        {
            "tree": lambda: ast.parse(program(1_000)),
            "short": lambda: default_build_pipeline()(modules[1_000]),
            "long": lambda: default_build_pipeline()(modules[10_000]),
            "build": lambda: build(modules[1_000], "reference"),
            "long build": lambda: build(modules[10_000], "reference"),
        },
        runs=3,
    )
    print(f"build 1,000                      {times['build'] / times['tree']:8.2f} x ast.parse")
    growth = times["long build"] / times["build"]
    print(f"build 10,000, as multiple        {growth:8.2f}    (aim: at most 12)")
    print(f"lower 1,000 (default_build)      {times['short'] / times['tree']:8.2f} x ast.parse")
    growth = times["long"] / times["short"]
    print(f"lower 10,000, as multiple        {growth:8.2f}    (aim: at most 12)")
    for step in default_build_pipeline().passes:
        taken = {n: seconds(partial(step, module)) for n, module in modules.items()}
        modules = {n: step(module) for n, module in modules.items()}
        name = f"  {type(step).__name__}, 10,000 as multiple"
        print(f"{name:<42} {taken[10_000] / taken[1_000]:6.2f}")


def main() -> None:
    parse_figures()
    lowering_figures()
    print_and_compare_figures()


if __name__ == "__main__":
    main()
