"""PrimFuncs as syntax; the functions are the inverse of the parser's.

A parameter that stands for a plain buffer is written `A: T.Buffer((64, 64), "float32")`, any other
as a handle with `T.match_buffer`. A root block that says nothing is left out; perfect nests of
serial loops from zero are one `T.grid`. Start reading at `print_prim_func`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from typing import Any

from relaxscript.errors import InternalError
from relaxscript.ir import prim, tir
from relaxscript.ir.node import fields_of
from relaxscript.ir.tir_compute import BufferRealize
from relaxscript.ir.walk import free_vars, variables, walk
from relaxscript.script.names.statement import CALL_OF_NODE
from relaxscript.script.names.syntax import BUFFER_DIM_DTYPE, LOOPS, TIR_INT_DTYPE
from relaxscript.script.names.tir_dtypes import __all__ as DTYPES

from . import tree
from .blocks import print_bare_block, print_block
from .compute import (
    declare_realized_buffers,
    declare_threads,
    is_launch,
    is_realized,
    print_launch,
    print_realize,
    print_scalar,
    print_value,
)
from .prim import FunctionScope
from .session import Session
from .tir_context import TIRPrinter, TIRSyntax, is_plain

__all__ = ["print_prim_func", "print_stmt", "tir_printer"]


# function = decorator "def" name "(" parameters ")" ["->" type] ":" body
def print_prim_func(
    cx: TIRPrinter, f: tir.PrimFunc, title: str, symbol: str | None
) -> ast.FunctionDef:
    """A PrimFunc of the module, or one that is alone.

    It is written as `title`, and `symbol` is the global symbol that goes without saying.
    """
    attrs = dict(f.attrs or {})
    private = "global_symbol" not in attrs
    if not private and attrs["global_symbol"] == symbol:
        del attrs["global_symbol"]
    cx.scopes.append(FunctionScope())
    cx.addresses = {
        node for node in walk(f.body) if isinstance(node, prim.Var) and node.dtype.kind == "handle"
    }
    scalars = [p for p in f.params if p not in f.buffer_map]
    matched: list[ast.stmt] = []
    for param in f.params:
        define_parameter(cx, f, param, scalars)
    params = [print_parameter(cx, f, param, matched) for param in f.params]
    returns = None if f.ret_type is None else cx.type(f.ret_type)
    statements: list[ast.stmt] = []
    if attrs:
        word = cx.member("func_attr")
        statements.append(tree.statement(tree.call(word, [cx.value(attrs)])))
    threads = [*declare_threads(cx, f.body), *declare_realized_buffers(cx, f.body)]
    body = print_body(cx, f.body)
    statements += [*cx.declarations(), *matched, *threads, *body]
    cx.scopes.pop()
    options: dict[str, ast.expr] = {}
    if private:
        options["private"] = tree.constant(True)
    if is_rootless(cx, f.body):
        options["s_tir"] = tree.constant(False)
    word = cx.member("prim_func")
    decorator: ast.expr = tree.call(word, **options) if options else word
    return cx.session.at(f, tree.define(title, params, statements, decorator, returns))


def define_parameter(
    cx: TIRPrinter, f: tir.PrimFunc, param: prim.Var, scalars: Sequence[prim.Var]
) -> None:
    """Parameters keep their names; one that is a plain buffer goes by the buffer's."""
    buffer = f.buffer_map.get(param)
    free = buffer is not None and param not in cx.addresses
    if buffer is not None and free and fits_in_signature(cx, buffer, scalars):
        cx.define_buffer(buffer)
        return
    cx.names.define(param, param.name)


def fits_in_signature(cx: TIRPrinter, buffer: tir.Buffer, scalars: Sequence[prim.Var]) -> bool:
    """True if a buffer can be written as the annotation of its parameter."""
    shared = buffer.data in cx.owner
    used = [v for dim in buffer.shape for v in variables(dim)]
    return is_plain(buffer) and not shared and not any(v in scalars for v in used)


def print_parameter(
    cx: TIRPrinter, f: tir.PrimFunc, param: prim.Var, matched: list[ast.stmt]
) -> ast.arg:
    buffer = f.buffer_map.get(param)
    if buffer is None:
        return cx.session.at(param, ast.arg(cx.names[param], cx.variable_type(param)))
    if cx.names.get(buffer) is not None:
        dims = tree.items([print_quoted_dim(cx, d) for d in buffer.shape], ast.Tuple)
        dtype = tree.constant(str(buffer.dtype))
        annotation = tree.call(cx.member("Buffer"), [dims, dtype])
        return cx.session.at(buffer, ast.arg(cx.names[buffer], annotation))
    made = cx.buffer_call("match_buffer", buffer, [tree.name(cx.names[param])])
    matched.append(tree.assign(cx.bind_buffer(buffer), made))
    return cx.session.at(param, ast.arg(cx.names[param], cx.variable_type(param)))


def print_quoted_dim(cx: TIRPrinter, dim: prim.PrimExpr) -> ast.expr:
    """A dimension in the signature: a string, where it names shape variables."""
    if isinstance(dim, prim.IntImm):
        return cx.scalar(dim, BUFFER_DIM_DTYPE)
    for var in variables(dim):
        if isinstance(var, prim.Var) and cx.names.get(var) is None:
            cx.introduce(var, declared=False)
    if isinstance(dim, prim.Var):
        return tree.constant(cx.names[dim])
    return tree.constant(cx.text(dim, BUFFER_DIM_DTYPE))


def print_body(cx: TIRPrinter, s: tir.Stmt) -> list[ast.stmt]:
    """The statements of a function, without the root block that the parser puts around them."""
    statements: list[ast.stmt] = []
    sugar = cx.session.options.syntax_sugar
    if sugar and isinstance(s, tir.BlockRealize) and is_root(cx, s):
        statements += [cx.allocation(buffer) for buffer in s.block.alloc_buffers]
        s = s.block.body
    print_stmt(cx, s, statements)
    return statements


def is_root(cx: TIRPrinter, s: tir.BlockRealize) -> bool:
    """True if the parser gives back a block around the body when it is not written."""
    block = s.block
    silent = not (block.iter_vars or block.reads or block.writes or block.match_buffers)
    if not silent or block.annotations or block.init or not cx.is_true(s.predicate):
        return False
    if block.alloc_buffers:
        return True
    if isinstance(block.body, tir.BlockRealize):
        return bool(block.body.block.iter_vars)
    return any(isinstance(node, tir.BlockRealize) for node in walk(block.body))


def is_rootless(cx: TIRPrinter, s: tir.Stmt) -> bool:
    """True if the parser must be kept from putting a root block around the body."""
    if isinstance(s, tir.BlockRealize):
        return bool(s.block.iter_vars)
    return any(isinstance(node, tir.BlockRealize) for node in walk(s))


# statement = loop | block | store | let | if | while | assert | evaluate | ...
def print_stmt(cx: TIRPrinter, s: tir.Stmt, statements: list[ast.stmt], last: bool = True) -> None:
    """One statement; what it holds as its body follows it, where it is the `last` one."""
    before = len(statements)
    match s:
        case tir.SeqStmt(seq):
            for number, inner in enumerate(seq, 1):
                print_stmt(cx, inner, statements, last and number == len(seq))
        case tir.For():
            print_loop(cx, s, statements)
        case tir.LetStmt() | tir.AssertStmt() if last:
            print_holder(cx, s, statements)
        case _:
            statements.append(print_single(cx, s))
    if cx.session.record and len(statements) > before:
        statements[before] = cx.session.at(s, statements[before])


def print_single(cx: TIRPrinter, s: tir.Stmt) -> ast.stmt:
    """A statement that is one of Python."""
    match s:
        case tir.BlockRealize():
            return print_block(cx, s)
        case tir.Block():
            return print_bare_block(cx, s)
        case tir.BufferStore():
            return cx.store(s)
        case tir.IfThenElse(condition, then_case, else_case):
            orelse = [] if else_case is None else print_else(cx, else_case)
            return ast.If(cx.scalar(condition), cx.inner(then_case), orelse)
        case tir.While(condition, body):
            return ast.While(cx.scalar(condition), cx.inner(body), [])
        case _ if type(s) in CALL_OF_NODE and not hasattr(s, "body"):
            return tree.statement(print_call(cx, s))
    return print_scoped(cx, s)


def print_call(cx: TIRPrinter, s: tir.Stmt) -> ast.Call:
    """A statement whose fields are the arguments of a call: `T.prefetch(A, [T.Range(0, 4)])`."""
    describe = CALL_OF_NODE[type(s)]
    fields = {info.name: info for info in fields_of(type(s))}
    names = [name for name in inspect.signature(describe).parameters if name in fields]
    args = [print_field(cx, getattr(s, name), fields[name].annotation) for name in names]
    return tree.call(cx.member(describe.__name__), args)


def print_field(cx: TIRPrinter, value: Any, annotation: str) -> ast.expr:
    """A field of a statement as an argument; in one that may hold anything, as an attribute."""
    match value:
        case prim.PrimExpr() if annotation != "Any":
            return cx.scalar(value, TIR_INT_DTYPE)
        case tir.Range():
            return cx.range(value)
        case tir.BufferRegion():
            return cx.region(value)
        case tuple():
            return tree.items([print_field(cx, item, "") for item in value])
    return cx.value(value)


def print_holder(
    cx: TIRPrinter, s: tir.LetStmt | tir.AssertStmt, statements: list[ast.stmt]
) -> None:
    """A statement that holds what follows it as its body."""
    if isinstance(s, tir.AssertStmt):
        statements.append(ast.Assert(cx.scalar(s.condition), cx.scalar(s.message)))
    else:
        made = cx.scalar(s.value)
        name = cx.names.define(s.var, s.var.name)
        target = cx.session.at(s.var, tree.name(name))
        dtype = s.var.dtype
        if dtype.lanes != 1 and str(dtype) not in DTYPES:  # it has no name in `T`
            statements.append(tree.assign(target, made))
        else:
            statements.append(tree.annotated(target, cx.variable_type(s.var), made))
    print_stmt(cx, s.body, statements)


def print_scoped(cx: TIRPrinter, s: tir.Stmt) -> ast.stmt:
    """A statement whose body is a block of Python: `with T.LetStmt(v) as x:`."""
    context: ast.expr
    match s:
        case tir.AttrStmt() if is_launch(s):
            return print_launch(cx, s)
        case tir.AttrStmt(body=BufferRealize(body=body) as realized) if is_realized(s):
            context = print_realize(cx, realized, s.value)
        case BufferRealize(body=body):
            context = print_realize(cx, s, None)
        case tir.LetStmt(body=body):
            context = tree.call(cx.member("LetStmt"), [cx.scalar(s.value)])
        case tir.Allocate(body=body):
            context = print_allocate(cx, s)
        case tir.AllocateConst(body=body):
            context = print_allocate_const(cx, s)
        case tir.DeclBuffer(buffer, body):
            context = cx.buffer_call("decl_buffer", buffer, [])
        case tir.Stmt(body=body) if type(s) in CALL_OF_NODE:  # type: ignore[misc]
            context = print_call(cx, s)
        case _:
            raise InternalError(f"the printer does not know the statement {type(s).__name__}")
    with cx.names.scope():
        target = target_of_scope(cx, s)
        return tree.with_block(context, cx.inner(body), target)


def target_of_scope(cx: TIRPrinter, s: tir.Stmt) -> ast.expr | None:
    """The name that a scope gives to its statements."""
    match s:
        case tir.DeclBuffer(buffer):
            return cx.bind_buffer(buffer)
        case tir.LetStmt(var) | tir.Allocate(var) | tir.AllocateConst(var):
            name = cx.names.define(var, var.name)
            return cx.session.at(var, tree.name(name))
    return None


def print_else(cx: TIRPrinter, s: tir.Stmt) -> list[ast.stmt]:
    """The statements after `else`; another `if` becomes `elif`, which opens no block."""
    chained = isinstance(s, tir.IfThenElse)
    cx.level -= chained
    statements = cx.inner(s)
    cx.level += chained
    return statements


def print_allocate(cx: TIRPrinter, s: tir.Allocate) -> ast.Call:
    """`T.allocate([16], "float32", "global")`."""
    pointer = s.buffer_var.type_annotation
    scope = pointer.storage_scope if pointer is not None else "global"
    extents = tree.items([cx.scalar(x, TIR_INT_DTYPE) for x in s.extents])
    condition = None if cx.is_true(s.condition) else cx.scalar(s.condition)
    notes = cx.value(s.annotations) if s.annotations else None
    args = [extents, tree.constant(str(s.dtype)), tree.constant(scope)]
    return tree.call(cx.member("allocate"), args, condition=condition, annotations=notes)


def print_allocate_const(cx: TIRPrinter, s: tir.AllocateConst) -> ast.Call:
    """`T.allocate_const([1, 2], "int32", [2])`."""
    extents = tree.items([cx.scalar(x, TIR_INT_DTYPE) for x in s.extents])
    data = getattr(s.data, "data", s.data)
    values = cx.value(data.tolist() if hasattr(data, "tolist") else data)
    args = [values, tree.constant(str(s.dtype)), extents]
    return tree.call(cx.member("allocate_const"), args)


# loop = "for" names "in" ("range" | "T.grid" | "T.parallel" ...) "(" extents ")" ":" body
def print_loop(cx: TIRPrinter, s: tir.For, statements: list[ast.stmt]) -> None:
    nest = [s]
    while isinstance(following := nest[-1].body, tir.For) and continues_grid(cx, nest, following):
        nest.append(following)
    extents = [cx.scalar(loop.extent, TIR_INT_DTYPE) for loop in nest]
    if len(nest) > 1:
        iterable: ast.expr = tree.call(cx.member("grid"), extents)
    else:
        iterable = print_iterable(cx, s, extents[0])
    with cx.names.scope():
        names = [define_loop_variable(cx, loop) for loop in nest]
        target = names[0] if len(names) == 1 else tree.items(names, ast.Tuple)
        body = cx.inner(nest[-1].body)
    made = ast.For(target, iterable, body, [], None)
    for loop in nest[1:]:
        cx.session.at(loop, made)
    statements.append(made)


def continues_grid(cx: TIRPrinter, nest: Sequence[tir.For], s: tir.For) -> bool:
    """True if a loop goes on a nest that is written as one `T.grid`."""
    if not (cx.session.options.syntax_sugar and _is_grid(nest[0]) and _is_grid(s)):
        return False
    outer = {loop.loop_var for loop in nest}
    return not any(v in outer for v in free_vars(s.extent))


def define_loop_variable(cx: TIRPrinter, s: tir.For) -> ast.expr:
    cx.loops[s.loop_var] = s
    return cx.session.at(s.loop_var, tree.name(cx.names.define(s.loop_var, s.loop_var.name)))


def print_iterable(cx: TIRPrinter, s: tir.For, extent: ast.expr) -> ast.expr:
    """The iterable of a single loop."""
    bounds = [extent]
    if not _is_zero(s.min) or s.min.dtype != s.extent.dtype:
        low = cx.scalar(s.min, TIR_INT_DTYPE)
        bounds = [low, cx.scalar(cx.stop(s.min, s.extent), TIR_INT_DTYPE)]
    thread = None if s.thread_binding is None else tree.constant(s.thread_binding.thread_tag)
    notes = cx.value(s.annotations) if s.annotations else None
    if s.kind == "serial" and notes is None:
        return tree.call(tree.name("range"), bounds)
    return tree.call(cx.member(LOOPS[s.kind]), bounds, thread=thread, annotations=notes)


def _is_zero(e: prim.PrimExpr) -> bool:
    return isinstance(e, prim.IntImm) and e.value == 0


def _is_grid(s: tir.For) -> bool:
    plain = s.kind == "serial" and not s.annotations and s.thread_binding is None
    return plain and _is_zero(s.min) and s.min.dtype == s.extent.dtype


def tir_printer(session: Session) -> TIRPrinter:
    """The context in which a PrimFunc, or a piece of one, is written."""
    return TIRPrinter(session, TIRSyntax(print_stmt, print_value, print_scalar))
