"""The command line `relaxscript`, its commands and its exit status.

Data goes to the standard output, complaints go to the standard error. The exit status is 0 when
all is well. It is 1 when a program has mistakes or something does not work. It is 2 when the
command itself cannot be carried out: an argument that makes no sense, a file that cannot be read.
The commands are imported when they are used.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from relaxscript.errors import CODES, DiagnosticError, explain, meant_hint, nearest
from relaxscript.version import __version__

from .report import complain

__all__ = ["main"]

DESCRIPTION = "Check, print, run and explain models that are written as decorated Python classes."
EPILOG = (
    "The exit status is 0 when all is well, 1 when a program has mistakes or something does not "
    "work, and 2 when the command cannot be carried out."
)


class CommandParser(argparse.ArgumentParser):
    """A grammar that offers the nearest command or option for one that there is not."""

    def words(self) -> list[str]:
        """The options and the commands, those of commands included."""
        found: list[str] = []
        for action in self._actions:
            found.extend(action.option_strings)
            if isinstance(action.choices, dict):
                found.extend(action.choices)
                for inner in action.choices.values():
                    found.extend(inner.words() if isinstance(inner, CommandParser) else ())
        return found

    def error(self, message: str) -> NoReturn:
        super().error(self.with_offer(message))

    def with_offer(self, message: str) -> str:
        """A mistake with the nearest word, where one is near."""
        wrong = re.search(r"invalid choice: '([^']*)'|unrecognized arguments: (\S+)", message)
        near = None if wrong is None else nearest(wrong[1] or wrong[2], self.words())
        return message + meant_hint(near, quote="")


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out a command line (without the program's name) and give back the exit status."""
    grammar = command_line()
    args = grammar.parse_args(sys.argv[1:] if argv is None else argv)
    if args.command == "check" and args.fix and (args.json or args.sarif) and "-" in args.files:
        grammar.error("--fix writes the mended standard input where --json and --sarif write")
    if args.command == "print" and args.diff and not pass_names(args.passes):
        grammar.error('--diff shows what passes change; name them: --passes "FoldConstant,FuseOps"')
    if args.command == "graph" and args.open and not args.view:
        grammar.error("--open shows the page of --view; add --view")
    if args.command == "bench":
        args.dims = sizes_of(grammar, args.dims)
        if args.repeat < 1:
            grammar.error(f"--repeat is a number from 1 on, not {args.repeat}")
    try:
        status = carry_out(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has seen enough. Python would flush once more at its end and complain.
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        return 1
    except DiagnosticError as error:
        complain(error.diagnostics)
        return 2
    return status


def command_line() -> CommandParser:
    """The grammar of the command line."""
    parser = CommandParser("relaxscript", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"relaxscript {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a Python file; mistakes in its scripts are drawn")
    run.add_argument("file", metavar="FILE", help="the Python file")
    run.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="its arguments")

    check = commands.add_parser("check", help="report the mistakes in files without running them")
    check.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a Python file, a notebook, a folder, - for the input",
    )
    check.add_argument(
        "--strict", action="store_true", default=None,
        help="make errors of what can only be checked at run time",
    )  # fmt: skip
    forms = check.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print one JSON document")
    forms.add_argument("--sarif", action="store_true", help="print one SARIF 2.1.0 document")
    forms.add_argument("--diff", action="store_true", help="show what --fix would change")
    check.add_argument("--fix", action="store_true", help="mend the files where that is mechanical")

    show = commands.add_parser("print", help="print what was understood of a file, not running it")
    show.add_argument("file", metavar="FILE", help="a Python file, - for the input")
    show.add_argument("name", nargs="?", metavar="NAME", help="only this module or function")
    show.add_argument(
        "--no-annotations", action="store_true", help="leave out the types of the bindings"
    )
    show.add_argument(
        "--passes", metavar="NAMES", default="",
        help='what passes make of it: "FoldConstant,FuseOps", or the name of a pipeline',
    )  # fmt: skip
    show.add_argument("--diff", action="store_true", help="show what the passes change")

    add_graph(commands)
    add_bench(commands)

    saved = commands.add_parser("inspect", help="show what a saved program holds, not running it")
    saved.add_argument("file", metavar="FILE", help="what `relaxscript.save` wrote")

    add_explain(commands)

    operators = commands.add_parser("ops", help="tell about an operator, R.matmul or so")
    operators.add_argument("name", nargs="?", metavar="NAME", help="without it, all are listed")

    cache = commands.add_parser("cache", help="tell about the machine code kept on disk")
    actions = cache.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("info", help="say where it is, and how much")
    actions.add_parser("clear", help="remove it")

    server = commands.add_parser("lsp", help="be the language server of an editor")
    server.add_argument("--stdio", action="store_true", help="over standard input and output")

    commands.add_parser("doctor", help="look at this installation and try it")
    return parser


def add_bench(commands: Any) -> None:
    """Add the command `bench` and its arguments."""
    timed = commands.add_parser("bench", help="measure the functions of a file, not running it")
    timed.add_argument("file", metavar="FILE", help="a Python file, - for the input")
    timed.add_argument(
        "--function", metavar="NAME", help="only this function: main, or Digits.main"
    )
    timed.add_argument(
        "--dims", metavar="SIZES", action="append", default=[],
        help="sizes of shape variables: n=128,m=3",
    )  # fmt: skip
    timed.add_argument("--repeat", type=int, default=10, help="how many times are taken (10)")
    timed.add_argument("--target", metavar="TARGET", help='"llvm" unless given, or "reference"')
    timed.add_argument(
        "--compare", metavar="TARGET", nargs="?", const="llvm -opt-level=0",
        help='measure another target as well, "llvm -opt-level=0" unless given',
    )  # fmt: skip
    timed.add_argument("--json", action="store_true", help="print one JSON document")


def add_graph(commands: Any) -> None:
    """Add the command `graph` and its arguments."""
    drawn = commands.add_parser(
        "graph", help="draw the dataflow of a function of a file, not running it"
    )
    drawn.add_argument("file", metavar="FILE", help="a Python file, - for the input")
    drawn.add_argument("name", nargs="?", metavar="NAME", help="the function: main, or Digits.main")
    forms = drawn.add_mutually_exclusive_group()
    forms.add_argument("--svg", action="store_true", help="a picture, not a listing")
    forms.add_argument("--dot", action="store_true", help="a text for Graphviz")
    forms.add_argument(
        "--view", action="store_true", help="a page with script, graph and diagnostics"
    )
    drawn.add_argument("-o", "--out", metavar="FILE", help="write it there, not to the output")
    drawn.add_argument("--all", action="store_true", help="draw all, however large it is")
    drawn.add_argument("--open", action="store_true", help="show the page of --view in a browser")


def add_explain(commands: Any) -> None:
    """Add the command `explain` and its arguments."""
    page = commands.add_parser(
        "explain", help="tell about a kind of mistake, RX0203 or so, or an operator"
    )
    what = page.add_mutually_exclusive_group()
    what.add_argument("code", nargs="?", metavar="CODE", help="without it, all codes are listed")
    what.add_argument("--all", action="store_true", help="print every page, as Markdown")


def carry_out(args: argparse.Namespace) -> int:
    """Hand the arguments to the command they name."""
    match args.command:
        case "run":
            from .run import run

            return run(args.file, args.arguments)
        case "check":
            from .check import Form, check

            form: Form = "json" if args.json else "sarif" if args.sarif else "text"
            return check(args.files, form=form, fix=args.fix, diff=args.diff, strict=args.strict)
        case "print":
            from .print import print_scripts

            return print_scripts(
                args.file, args.name, annotations=not args.no_annotations,
                passes=pass_names(args.passes), changes=args.diff,
            )  # fmt: skip
        case "graph":
            from .graph import Picturing, graph

            chosen: Picturing
            chosen = "svg" if args.svg else "dot" if args.dot else "view" if args.view else "text"
            return graph(
                args.file, args.name, form=chosen, out=args.out, whole=args.all,
                open_browser=args.open,
            )  # fmt: skip
        case "bench":
            from .bench import bench

            return bench(
                args.file, args.function, dims=args.dims, repeat=args.repeat, target=args.target,
                compare=args.compare, as_json=args.json,
            )  # fmt: skip
        case "inspect":
            from .inspect import inspect_file

            return inspect_file(args.file)
        case _:
            return carry_out_without_file(args)


def carry_out_without_file(args: argparse.Namespace) -> int:
    """Hand the arguments to a command that is not about a file."""
    match args.command:
        case "explain":
            return tell(args.code, all_pages=args.all)
        case "ops":
            from .operators import list_operators, tell_operator

            return list_operators() if args.name is None else tell_operator(args.name)
        case "cache":
            from .cache import cache_info, clear_cache

            return cache_info() if args.action == "info" else clear_cache()
        case "lsp":
            from .lsp.start import serve

            return serve()
        case _:
            from .doctor import doctor

            return doctor()


def pass_names(text: str) -> list[str]:
    """The names that commas separate."""
    return [name.strip() for name in text.split(",") if name.strip()]


def sizes_of(grammar: CommandParser, texts: Sequence[str]) -> dict[str, int]:
    """The sizes that `--dims n=128,m=3` gives; the grammar refuses any other form."""
    sizes = {}
    for text in (part.strip() for given in texts for part in given.split(",")):
        name, equals, size = (part.strip() for part in text.partition("="))
        if not equals or not name.isidentifier() or not size.isdecimal():
            grammar.error(f"--dims is written as n=128,m=3, not {text!r}")
        sizes[name] = int(size)
    return sizes


def tell(code: str | None, *, all_pages: bool = False) -> int:
    """Print the page of a code or an operator, all titles, or all pages of codes as Markdown.

    Raises RX0703 for an unknown code.
    """
    if all_pages:
        from .pages import all_as_markdown

        print(all_as_markdown())
        return 0
    if code is not None and not re.match(r"(?i)\s*(RX)?\d+\s*$", code):
        from .operators import is_operator, tell_operator

        if is_operator(code):
            return tell_operator(code)
    titles = (page.partition("\n")[0] for page in CODES.values())
    print("\n".join(titles) if code is None else explain(code))
    return 0
