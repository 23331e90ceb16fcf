"""`%%relax`, a cell of IPython and notebooks in which a module is written, checked and shown.

    %load_ext relaxscript

    %%relax --passes "LegalizeOps,FuseOps" --diff
    @I.ir_module
    class Model:
        ...

All mistakes of the cell are reported at once, and nothing of it runs before there are none. Then it
runs in the namespace of the user, where `I`, `R` and `T` are there without an import.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

from relaxscript import script
from relaxscript.errors import Diagnostic, DiagnosticError, Source, Span, config
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.script.difference import diff
from relaxscript.script.parser.diagnostics import UNKNOWN

from .command import CommandParser, pass_names
from .print import transform_of
from .report import errors_of, in_order
from .safe_calls import outer_module
from .scripts_in_file import DECORATORS, definitions

__all__ = ["load_ipython_extension"]

_NAMESPACES = {"I": script.ir, "R": script.relax, "T": script.tir}


def load_ipython_extension(ipython: Any) -> None:
    """Give a shell of IPython the magic `%%relax`, as `%load_ext relaxscript` does."""

    def relax(line: str, cell: str) -> None:
        __tracebackhide__ = True  # what fails in a run of the cell shows the cell, not this
        run_cell(ipython, line, cell)

    relax.__doc__ = grammar().format_help()
    ipython.register_magic_function(relax, "cell", "relax")


def run_cell(shell: Any, line: str, cell: str) -> None:
    """Check a cell, run it in the namespace of the user, and show its modules and functions.

    Raises `DiagnosticError` for its mistakes, before anything runs, and `UsageError` of IPython for
    options that there are not.
    """
    __tracebackhide__ = True
    args = options_of(line)
    transform = transform_of(args.passes)
    source = source_of_cell(shell, cell)
    for name, namespace in _NAMESPACES.items():
        shell.user_ns.setdefault(name, namespace)
    scripts = check(source, shell.user_ns, args.strict)
    with config(strict=args.strict):
        exec(shell.compile(source.text, source.filename, "exec"), shell.user_ns)
    for name in scripts:
        before = shell.user_ns.get(name)
        if not args.no_show and isinstance(before, (IRModule, Node)):
            show(shell, before, transform(before), args)


def show(shell: Any, before: Any, after: Any, args: argparse.Namespace) -> None:
    """Show a module or function, or what passes change; its graph, where that is asked for."""
    if args.diff:
        whole = before if isinstance(before, IRModule) else IRModule.from_expr(before)
        publish(shell, diff(whole, after))
    else:
        after.show()
    if args.graph:
        publish(shell, after.graph())


def publish(shell: Any, value: Any) -> None:
    """Show what has a rich form: a kernel is given it, a terminal the text."""
    if hasattr(shell, "kernel"):
        data = {"text/plain": str(value), "text/html": value._repr_html_()}
        shell.display_pub.publish(data)
    else:
        print(value)


def check(source: Source, namespace: Mapping[str, Any], strict: bool | None) -> list[str]:
    """The names of the modules and functions in a cell; raises `DiagnosticError` for mistakes."""
    scripts, others = definitions(source, strict=strict, known=known_values(namespace))
    found = in_order([*others, *(d for one in scripts for d in one.diagnostics)])
    if errors_of(found):
        raise DiagnosticError(found).with_traceback(None) from None
    if not scripts:
        message = "the cell has no module and no function"
        help = "write a class below `@I.ir_module`, or a function below `@R.function`"
        raise DiagnosticError(Diagnostic("RX0703", message, _first_line(source), help=help))
    return [one.name for one in scripts if "." not in one.name]


def _first_line(source: Source) -> Span | None:
    """The first line on which something is."""
    start = len(source.text) - len(source.text.lstrip())
    end = source.text.find("\n", start)
    return source.between(start, end) if start < end else None


def source_of_cell(shell: Any, cell: str) -> Source:
    """The text of a cell below its magics, at the lines that it has there, known to Python."""
    history = getattr(shell.history_manager, "input_hist_raw", [""])
    body = cell.strip("\n")
    before, found, _ = history[-1].rpartition(body) if body else ("", "", "")
    # What is not in the input of the user was run by a program: its magic is one line.
    number = len(history) - 1 if found else shell.execution_count
    above = before.count("\n") if found else 1 + len(cell) - len(cell.lstrip("\n"))
    text = "\n" * above + body + "\n"
    return Source(shell.compile.cache(text, number), text)


def known_values(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The names of a user with what is known of their values before anything runs."""
    return {name: _known(value) for name, value in namespace.items() if name[:1] != "_"}


def _known(value: Any) -> Any:
    if isinstance(value, ModuleType):
        ours = value.__name__.partition(".")[0] == script.__name__.partition(".")[0]
        return value if ours else outer_module(value.__name__) or UNKNOWN
    if isinstance(value, (IRModule, Node)) or any(value is one for one in DECORATORS):
        return value
    return value if _is_plain(value) else UNKNOWN


def _is_plain(value: Any) -> bool:
    """True for what could be written as a literal."""
    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


# ---- options


class _MagicParser(CommandParser):
    """A grammar whose mistakes are those of a magic."""

    def error(self, message: str) -> NoReturn:
        from IPython.core.error import UsageError

        raise UsageError(self.with_offer(message))


def grammar() -> _MagicParser:
    """The grammar of the line of the magic."""
    parser = _MagicParser("%%relax", description=__doc__.partition("\n")[0], add_help=False)
    parser.add_argument(
        "--strict", action="store_true", default=None,
        help="make errors of what can only be checked at run time",
    )  # fmt: skip
    parser.add_argument(
        "--passes", metavar="NAMES", type=pass_names, default=[],
        help='show what passes make of it: "FoldConstant,FuseOps", or the name of a pipeline',
    )  # fmt: skip
    parser.add_argument("--diff", action="store_true", help="show what the passes change")
    parser.add_argument("--graph", action="store_true", help="draw the dataflow of its function")
    parser.add_argument("--no-show", action="store_true", help="check and run it only")
    return parser


def options_of(line: str) -> argparse.Namespace:
    """The options that the line of the magic gives."""
    parser = grammar()
    try:
        words = shlex.split(line)
    except ValueError as error:  # a quote that does not end
        parser.error(str(error))
    args = parser.parse_args(words)
    if args.diff and not args.passes:
        parser.error('--diff shows what passes change; name them: --passes "FoldConstant,FuseOps"')
    return args
