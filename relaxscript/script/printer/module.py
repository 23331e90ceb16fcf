"""Printing anything: modules, functions, and pieces of them.

    printer = Printer("<after fuse_ops>")
    printer.print(module)
    printer.where[binding.value]          # the span of that call in the printed script

The script is a `Source` like any other, so a diagnostic can point into it. Places are found only
when somebody asks for them: the script is then made once more, with places recorded.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from relaxscript.errors import Diagnostic, DiagnosticError, InternalError, Source, Span
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import prim, tir
from relaxscript.ir.distributed import DeviceMesh, Placement, PlacementSpec
from relaxscript.ir.module import GlobalInfo, IRModule, Target, VDevice
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    BindingBlock,
    Constant,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    Var,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.types import Type
from relaxscript.ir.walk import children, free_vars
from relaxscript.runtime.collector import collector_paused
from relaxscript.runtime.object_path import ObjectPath
from relaxscript.script.names.syntax import HEADERS
from relaxscript.sinfo import struct_info_of_type

from . import tree
from .annotations import mesh_call, vdevice_call
from .blocks import print_axis
from .constants import encode, metadata_tree
from .marks import add_marks
from .names import identifier
from .options import Options
from .path_places import place_of_path
from .relax import (
    print_binding,
    print_block,
    print_declaration,
    print_expr,
    print_function,
    print_operand,
    print_sequence,
    relax_printer,
)  # fmt: skip
from .relax_context import RelaxPrinter
from .session import METADATA_KEY, Session
from .tir import print_prim_func, print_stmt, tir_printer
from .tir_context import TIRPrinter

if TYPE_CHECKING:
    from .unparser import HouseUnparser

__all__ = ["Printer", "constants_of", "metadata", "script"]


def script(root: Any, declares: bool = False, **options: Any) -> str:
    """The script of a node, function or module; options as `Options`, `declares` as `Printer`."""
    return Printer(declares=declares, **options).print(root)


def metadata(root: Any) -> dict[str, Any]:
    """The constants that the script of `root` refers to, as plain data by their kind."""
    return {METADATA_KEY: [encode(e) for e in constants_of(root)]}


V = TypeVar("V")


def constants_of(root: Any) -> list[Constant]:
    """The constants that the script of `root` refers to by their numbers."""
    session = Session(Options.read({}))
    _Script(session).of(root)
    return list(session.constants)


class ByNode(Mapping[Any, V]):
    """A mapping from nodes, each of which is itself only, though others may be equal to it."""

    def __init__(self, values: Iterable[tuple[Any, V]]) -> None:
        self._values = {id(node): (node, value) for node, value in values}

    def __getitem__(self, node: Any) -> V:
        return self._values[id(node)][1]

    def __iter__(self) -> Iterator[Any]:
        return (node for node, _ in self._values.values())

    def __len__(self) -> int:
        return len(self._values)


class _Places(Mapping[Any, list[Span]]):
    """The spans of printed nodes, each made when it is asked for: most nodes never are."""

    def __init__(
        self, source: Source, pieces: dict[int, tuple[Any, list[tuple[int, int]]]]
    ) -> None:
        self._source, self._pieces = source, pieces
        self._spans: dict[int, list[Span]] = {}

    def __getitem__(self, node: Any) -> list[Span]:
        found = self._spans.get(id(node))
        if found is None:
            _, pieces = self._pieces[id(node)]
            found = self._spans[id(node)] = [self._span(*piece) for piece in pieces]
        return found

    def _span(self, start: int, end: int) -> Span:
        text = self._source.text
        while start < end and text[start] in " \n":
            start += 1
        return self._source.between(start, end)

    def __iter__(self) -> Iterator[Any]:
        return (node for node, _ in self._pieces.values())

    def __len__(self) -> int:
        return len(self._pieces)


class Printer:
    """Prints one thing at a time and knows where in the script each node landed.

    `filename` is the name by which diagnostics call the script. With `declares`, what is free in a
    part of a program is declared before it.
    """

    def __init__(self, filename: str = "<script>", declares: bool = False, **options: Any) -> None:
        self.filename = filename
        self.declares = declares
        self.options = Options.read(options)
        self.source = Source(filename, "")
        self._root: Any = None
        self._places: Mapping[Any, list[Span]] | None = None

    @property
    def root(self) -> Any:
        """The node, function or module that was printed last."""
        return self._root

    def print(self, root: Any) -> str:
        """The script of a node, function or module."""
        self._root, self._places = root, None
        with collector_paused():
            text = self._text(root)
        self.source = Source(self.filename, text)
        return add_marks(self, text) if _wants_marks(self.options) else text

    def _text(self, root: Any) -> str:
        made = _Script(Session(self.options), self.declares).of(root)
        return self._unparser(made, False).text

    def signature(self, info: StructInfo) -> str:
        """A StructInfo as the signature of a function writes it: its dimensions are strings."""
        printer = relax_printer(Session(self.options))
        printer.quoting = True
        return self._unparser(printer.annotation(info), False).text.strip()

    def _unparser(self, made: ast.AST, record: bool) -> HouseUnparser:
        from .unparser import HouseUnparser

        options = self.options
        try:
            return HouseUnparser(made, options.line_width, record, options.indent_spaces)
        except RecursionError:
            raise _nested_too_deeply("the program", None) from None

    @property
    def where(self) -> Mapping[Any, Span]:
        """The place of each printed node; of one in several places, the first."""
        return ByNode((node, spans[0]) for node, spans in self.places.items())

    @property
    def places(self) -> Mapping[Any, list[Span]]:
        """All places of each printed node, in the order of the script."""
        if self._places is None:
            self._places = self._record_places()
        return self._places

    def place(self, node: Any) -> Span | None:
        """The place of a node; for one that is not written itself, the place of its parts."""
        found = self.places.get(node)
        if found:
            return found[0]
        parts = [] if not isinstance(node, Node) else children(node)
        spans = [span for part in parts if (span := self.place(part)) is not None]
        return spans[0].cover(*spans[1:]) if spans else None

    def place_of(self, path: ObjectPath) -> Span | None:
        """The place of what a path from the root leads to."""
        return place_of_path(self, self._root, path)

    def _record_places(self) -> Mapping[Any, list[Span]]:
        made = _Script(Session(self.options, record=True), self.declares).of(self._root)
        unparser = self._unparser(made, True)
        if unparser.text != self.source.text:
            raise InternalError("printing twice gave two texts")
        starts = [-1 if unparser.pieces[:1] and unparser.pieces[0].startswith("\n") else 0]
        for piece in unparser.pieces:
            starts.append(starts[-1] + len(piece))
        pieces: dict[int, tuple[Any, list[tuple[int, int]]]] = {}
        for node, first, last in sorted(unparser.marks, key=itemgetter(1, 2)):
            at = pieces.get(id(node))
            if at is None:
                at = pieces[id(node)] = (node, [])
            at[1].append((max(starts[first], 0), starts[last]))
        return _Places(self.source, pieces)


def _nested_too_deeply(what: str, span: Span | None) -> DiagnosticError:
    message = f"{what} is nested too deeply to be printed"
    help = "split it into functions"
    return DiagnosticError(Diagnostic("RX0104", message, span or caller_span(), help=help))


def _wants_marks(options: Options) -> bool:
    nodes = options.obj_to_underline or options.obj_to_annotate
    paths = options.path_to_underline or options.path_to_annotate
    return bool(nodes or paths or options.print_line_numbers)


def _class_around(span: Span | None) -> str | None:
    """The class of a definition: the module that it was written in."""
    if span is None:
        return None
    for line in reversed(span.source.lines[: span.line - 1]):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent < span.column - 1:
            found = _CLASS.match(line)
            return found[1] if found else None
    return None


# `class Model:` at the beginning of a line.
_CLASS = re.compile(r"\s*class\s+(\w+)\b")


def _in_order(variables: Iterable[Any]) -> list[Any]:
    """Variables, each after those that its annotation mentions: `s: R.Shape`, `x: R.Tensor(s)`."""
    found: dict[Any, None] = {}

    def add(var: Any) -> None:
        info = var.struct_info if isinstance(var, Var) else None
        for inner in free_vars(info) if info is not None and var not in found else ():
            if isinstance(inner, Var):
                add(inner)
        found.setdefault(var)

    for var in variables:
        add(var)
    return list(found)


class _Script:
    """The syntax of one thing."""

    def __init__(self, session: Session, declares: bool = False) -> None:
        self.session = session
        self.options = session.options
        self.declares = declares

    def of(self, root: Any) -> ast.AST:
        """The whole script as syntax."""
        match root:
            case IRModule():
                self.session.name_module(self.options.name or root.__name__, root)
                return self.with_headers([self.module(root)])
            case object(described=IRModule() as mod):  # a rewriter, by the module that says it
                self.session.name_module(self.options.name or mod.__name__, mod)
                decorator = self.session.member("relax", "rewriter")
                return self.with_headers([self.module(mod, decorator)])
            case Function() | tir.PrimFunc():
                self.session.alone = True
                self.session.module_name = _class_around(root.span) or self.session.module_name
                symbol = (root.attrs or Attrs()).get("global_symbol")
                title = identifier(self.options.name or symbol or "main")
                said = symbol if self.options.name else title
                return self.with_headers([self.function(root, title, said)])
            case ExternFunc() if self.options.name:
                return self.with_headers([self.extern(self.options.name, root)])
        piece = self.piece(root)
        if self.declares and self.options.show_meta and self.session.constants:
            piece = [metadata_tree(self.session.constants), *piece]
        return ast.Module(piece, [])

    def with_headers(self, body: list[ast.stmt]) -> ast.Module:
        """With the comments that say what the prefixes are, and the metadata."""
        headers: list[ast.stmt] = []
        for namespace, module in HEADERS.items():
            if namespace in self.session.used:
                headers.append(tree.Comment(_header(self.session.prefix(namespace), module)))
        if not self.session.constants:
            return ast.Module([*headers, *body], [])
        if not self.options.show_meta:
            said = "Metadata is left out; `show_meta=True` of `script()` shows it."
            return ast.Module([*headers, *body, tree.Comment(said)], [])
        # Where Python runs the script, a decorator finds what is above it.
        return ast.Module([*headers, metadata_tree(self.session.constants), *body], [])

    # module = "@I.ir_module" "class" name ":" [attrs] [global infos] { function }
    def module(self, mod: IRModule, decorator: ast.expr | None = None) -> ast.stmt:
        body: list[ast.stmt] = []
        if mod.attrs:
            body.append(self.call("module_attrs", self.value(mod.attrs)))
        if mod.global_infos:
            body.append(self.call("module_global_infos", self.global_infos(mod)))
        if others := self.session.other_names():
            body.append(self.call("module_names", self.value(Attrs(others))))
        for var, function in sorted(mod.items(), key=_order):
            name = self.session.function_name(var.name_hint)
            if isinstance(function, ExternFunc):
                body.append(self.extern(name, function))
            else:
                body.append(self.function(function, name, var.name_hint))
        if decorator is None:
            decorator = self.session.member("ir", "ir_module")
            if _is_unfinished(mod):
                decorator = tree.call(decorator, check_well_formed=tree.constant(False))
        made = ast.ClassDef(self.session.module_name, [], [], body or [ast.Pass()], [decorator])
        vars(made).setdefault("type_params", [])
        return self.session.at(mod, made)

    def call(self, word: str, argument: ast.expr) -> ast.stmt:
        return tree.statement(tree.call(self.session.member("ir", word), [argument]))

    def value(self, attrs: Attrs) -> ast.expr:
        return relax_printer(self.session).value(attrs)

    def global_infos(self, mod: IRModule) -> ast.expr:
        """`{"vdevice": [I.vdevice("llvm")]}`."""
        return tree.dictionary(
            (tree.constant(key), tree.items([self.global_info(info) for info in infos]))
            for key, infos in mod.global_infos.items()
        )

    def global_info(self, info: GlobalInfo | Placement | PlacementSpec) -> ast.expr:
        """A global info, or what is said of one."""
        match info:
            case VDevice():
                return vdevice_call(self.session, info)
            case DeviceMesh():
                return mesh_call(self.session, info)
            case Placement() | PlacementSpec():
                return tree.constant(str(info))
        return tree.call(self.session.member("ir", "dummy_global_info"))

    def function(self, function: Any, title: str, symbol: str | None) -> ast.stmt:
        """A Relax function or a PrimFunc."""
        if isinstance(function, tir.PrimFunc):
            return print_prim_func(tir_printer(self.session), function, title, symbol)
        try:
            return print_function(relax_printer(self.session), function, title, symbol)
        except RecursionError:
            raise _nested_too_deeply(f"`{title}`", function.span) from None

    def extern(self, title: str, function: ExternFunc) -> ast.stmt:
        """`name = R.ExternFunc("symbol")`."""
        made = print_expr(relax_printer(self.session), function)
        return tree.assign(tree.name(title), made)

    # ---- pieces

    def piece(self, root: Any) -> list[ast.stmt]:
        """A part of a function, by itself."""
        if isinstance(root, (StructInfo, Expr, Binding, BindingBlock)):
            relax = relax_printer(self.session)
            relax.root = root
            before = self.declarations(root, relax)
            body = self.relax_piece(root, relax)
            return [*self.scalars(relax), *before, *body]
        printer = tir_printer(self.session)
        before = self.declarations(root, printer)
        body = []
        if isinstance(root, tir.Stmt):
            print_stmt(printer, root, body)
        else:
            body = [tree.statement(self.small_piece(root, printer))]
        return [*self.scalars(printer), *before, *body]

    def relax_piece(self, root: Any, relax: RelaxPrinter) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        match root:
            case StructInfo():
                return [tree.statement(relax.annotation(root))]
            case Binding():
                print_binding(relax, root, statements)
            case BindingBlock():
                print_block(relax, root, statements)
            case _:
                left = print_sequence(relax, root, statements)
                value = print_operand(relax, left, statements)
                return [*statements, tree.statement(value)]
        return statements

    def declarations(self, root: Any, printer: RelaxPrinter | TIRPrinter) -> list[ast.stmt]:
        """`x: R.Tensor((2,), "float32")` and `A = T.Buffer((4,), "float32")` for what is free."""
        statements: list[ast.stmt] = []
        if not self.declares or not isinstance(root, Node):
            return statements
        own = isinstance(root, tir.Buffer)
        free = _in_order(free_vars(root) if not own else ())
        # A function type that mentions one of these speaks of this one, and binds none of its own.
        for var in free:
            if isinstance(var, prim.Var) and isinstance(printer, RelaxPrinter):
                printer.introduce(var, declared=True)
        for var in free:
            if isinstance(var, Var) and isinstance(printer, RelaxPrinter):
                if var.struct_info is not None:
                    statements.append(print_declaration(printer, var, var.struct_info))
            elif isinstance(var, tir.Buffer) and isinstance(printer, TIRPrinter):
                call = printer.buffer_call("Buffer", var, [])
                statements.append(tree.assign(printer.bind_buffer(var), call))
        return statements

    def scalars(self, printer: RelaxPrinter | TIRPrinter) -> list[ast.stmt]:
        """`n = T.int64()` for each scalar variable that is free in what was written."""
        return printer.declarations() if self.declares else []

    def small_piece(self, root: Any, printer: TIRPrinter) -> ast.expr:
        """Scalars, buffers, types, devices, and whatever else has no statements."""
        match root:
            case prim.PrimExpr():
                return printer.scalar(root)
            case Type():
                return self.static_type(root)
            case tir.Buffer():
                return printer.buffer_call("Buffer", root, [])
            case tir.BufferRegion():
                return printer.region(root)
            case tir.Range():
                return printer.range(root)
            case GlobalInfo() | Placement() | PlacementSpec():
                return self.global_info(root)
            case tir.IterVar():
                return print_axis(printer, root, root.var)
            case tir.MatchBufferRegion():
                source = printer.region(root.source)
                return printer.buffer_call("match_buffer", root.buffer, [source])
            case Target():
                return printer.value(root)
        raise TypeError(f"a {type(root).__name__} has no script")

    def static_type(self, static: Type) -> ast.expr:
        """`T.int64` for a scalar; for other values the annotation that says the same."""
        if isinstance(static, (prim.PrimType, prim.PointerType)):
            return tir_printer(self.session).type(static)
        return relax_printer(self.session).annotation(struct_info_of_type(static))


def _header(prefix: str, module: str) -> str:
    """The comment or import that gives a namespace its name."""
    if "." in prefix:
        return f"{prefix} is relaxscript.script.{module}"
    alias = "" if prefix == module else f" as {prefix}"
    return f"from relaxscript.script import {module}{alias}"


def _order(item: tuple[GlobalVar, Any]) -> tuple[int, str]:
    """PrimFuncs, then ExternFuncs, then Relax functions; `main` last."""
    var, function = item
    kinds = (tir.PrimFunc, ExternFunc)
    kind = next((i for i, cls in enumerate(kinds) if isinstance(function, cls)), len(kinds))
    return kind + (var.name_hint == "main" and kind == len(kinds)), var.name_hint


def _is_unfinished(mod: IRModule) -> bool:
    """True if nothing outside can call the module's functions, which a parser refuses unasked."""
    functions = [f for f in mod.functions.values() if isinstance(f, Function)]
    return bool(functions) and all(f.is_private for f in functions)
