"""PrimFuncs as syntax; the methods are the inverse of the parser's of the same names.

A parameter that stands for a plain buffer is written `A: T.Buffer((64, 64), "float32")`, any other
as a handle with `T.match_buffer`. A root block that says nothing is left out; perfect nests of
serial loops from zero are one `T.grid`. Start reading at `TIRPrinter.function`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set as AbstractSet
from typing import Any

from relaxscript.errors import InternalError
from relaxscript.ir import prim, tir
from relaxscript.ir.relax import Expr
from relaxscript.ir.tir_compute import BufferRealize, Prefetch
from relaxscript.ir.walk import free_vars, variables, walk
from relaxscript.script.syntax import BUFFER_DIM_DTYPE, LOOPS, TIR_INT_DTYPE
from relaxscript.script.tir_dtypes import __all__ as DTYPES

from . import tree
from .buffers import is_plain
from .compute import ComputePrinter, is_launch, is_realized
from .prim import FunctionScope
from .relax import print_expr, relax_printer

__all__ = ["TIRPrinter"]

# Python takes 100 levels of indentation; the function and its module need some.
DEEPEST_BLOCK = 96


class TIRPrinter(ComputePrinter):
    """Writes one PrimFunc, or a piece of one; a printer is used once."""

    # The handles that the function uses as they are, not as buffers.
    addresses: AbstractSet[prim.Var] = frozenset()
    # How many blocks of Python are open.
    level = 0

    # function = decorator "def" name "(" parameters ")" ["->" type] ":" body
    def function(self, f: tir.PrimFunc, title: str, symbol: str | None) -> ast.FunctionDef:
        """A PrimFunc of the module, or one that stands alone.

        It is written as `title`, and `symbol` is the global symbol that goes without saying.
        """
        attrs = dict(f.attrs or {})
        private = "global_symbol" not in attrs
        if not private and attrs["global_symbol"] == symbol:
            del attrs["global_symbol"]
        self.scopes.append(FunctionScope())
        self.addresses = {
            node
            for node in walk(f.body)
            if isinstance(node, prim.Var) and node.dtype.kind == "handle"
        }
        scalars = [p for p in f.params if p not in f.buffer_map]
        matched: list[ast.stmt] = []
        for param in f.params:
            self.parameter_name(f, param, scalars)
        params = [self.parameter(f, param, matched) for param in f.params]
        returns = None if f.ret_type is None else self.type(f.ret_type)
        statements: list[ast.stmt] = []
        if attrs:
            word = self.member("func_attr")
            statements.append(tree.statement(tree.call(word, [self.value(attrs)])))
        threads = [*self.env_threads(f.body), *self.realized_buffers(f.body)]
        body = self.body(f.body)
        statements += [*self.declarations(), *matched, *threads, *body]
        self.scopes.pop()
        options: dict[str, ast.expr] = {}
        if private:
            options["private"] = tree.constant(True)
        if self.is_rootless(f.body):
            options["s_tir"] = tree.constant(False)
        word = self.member("prim_func")
        decorator: ast.expr = tree.call(word, **options) if options else word
        return self.session.at(f, tree.define(title, params, statements, decorator, returns))

    def parameter_name(self, f: tir.PrimFunc, param: prim.Var, scalars: Sequence[prim.Var]) -> None:
        """Parameters keep their names; one that is a plain buffer goes by the buffer's."""
        buffer = f.buffer_map.get(param)
        free = buffer is not None and param not in self.addresses
        if buffer is not None and free and self.in_signature(buffer, scalars):
            self.define_buffer(buffer)
            return
        self.names.define(param, param.name)

    def in_signature(self, buffer: tir.Buffer, scalars: Sequence[prim.Var]) -> bool:
        """Whether a buffer can be written as the annotation of its parameter."""
        shared = buffer.data is not None and buffer.data in self.owner
        used = [v for dim in buffer.shape for v in variables(dim)]
        return is_plain(buffer) and not shared and not any(v in scalars for v in used)

    def parameter(self, f: tir.PrimFunc, param: prim.Var, matched: list[ast.stmt]) -> ast.arg:
        buffer = f.buffer_map.get(param)
        if buffer is None:
            return self.session.at(param, ast.arg(self.names[param], self.variable_type(param)))
        if self.names.get(buffer) is not None:
            dims = tree.items([self.quoted_dim(d) for d in buffer.shape], ast.Tuple)
            dtype = tree.constant(str(buffer.dtype))
            annotation = tree.call(self.member("Buffer"), [dims, dtype])
            return self.session.at(buffer, ast.arg(self.names[buffer], annotation))
        made = self.buffer_call("match_buffer", buffer, [tree.name(self.names[param])])
        matched.append(tree.assign(self.bind_buffer(buffer), made))
        return self.session.at(param, ast.arg(self.names[param], self.variable_type(param)))

    def quoted_dim(self, dim: prim.PrimExpr) -> ast.expr:
        """A dimension in the signature: a string, where it names shape variables."""
        if isinstance(dim, prim.IntImm):
            return self.scalar(dim, BUFFER_DIM_DTYPE)
        for var in variables(dim):
            if isinstance(var, prim.Var) and self.names.get(var) is None:
                self.introduce(var, declared=False)
        if isinstance(dim, prim.Var):
            return tree.constant(self.names[dim])
        return tree.constant(self.text(dim, BUFFER_DIM_DTYPE))

    def body(self, s: tir.Stmt) -> list[ast.stmt]:
        """The statements of a function, without the root block that the parser puts around them."""
        statements: list[ast.stmt] = []
        sugar = self.session.options.syntax_sugar
        if sugar and isinstance(s, tir.BlockRealize) and self.is_root(s):
            statements += [self.allocation(buffer) for buffer in s.block.alloc_buffers]
            s = s.block.body
        self.statement(s, statements)
        return statements

    def is_root(self, s: tir.BlockRealize) -> bool:
        """Whether the parser gives back a block around the body when it is not written."""
        block = s.block
        silent = not (block.iter_vars or block.reads or block.writes or block.match_buffers)
        if not silent or block.annotations or block.init or not self.is_true(s.predicate):
            return False
        if block.alloc_buffers:
            return True
        if isinstance(block.body, tir.BlockRealize):
            return bool(block.body.block.iter_vars)
        return any(isinstance(node, tir.BlockRealize) for node in walk(block.body))

    def is_rootless(self, s: tir.Stmt) -> bool:
        """Whether the parser must be kept from putting a root block around the body."""
        if isinstance(s, tir.BlockRealize):
            return bool(s.block.iter_vars)
        return any(isinstance(node, tir.BlockRealize) for node in walk(s))

    # statement = loop | block | store | let | if | while | assert | evaluate | ...
    def statement(self, s: tir.Stmt, statements: list[ast.stmt], last: bool = True) -> None:
        """One statement; what it holds as its body follows it, where it is the `last` one."""
        before = len(statements)
        match s:
            case tir.SeqStmt(seq):
                for number, inner in enumerate(seq, 1):
                    self.statement(inner, statements, last and number == len(seq))
            case tir.For():
                self.loop(s, statements)
            case tir.LetStmt() | tir.AssertStmt() if last:
                self.holder(s, statements)
            case _:
                statements.append(self.single(s))
        if self.session.record and len(statements) > before:
            statements[before] = self.session.at(s, statements[before])

    def single(self, s: tir.Stmt) -> ast.stmt:
        """A statement that is one of Python."""
        match s:
            case tir.BlockRealize():
                return self.block(s)
            case tir.Block():
                return self.bare_block(s)
            case tir.BufferStore():
                return self.store(s)
            case tir.IfThenElse(condition, then_case, else_case):
                orelse = [] if else_case is None else self.otherwise(else_case)
                return ast.If(self.scalar(condition), self.inner(then_case), orelse)
            case tir.While(condition, body):
                return ast.While(self.scalar(condition), self.inner(body), [])
            case tir.Evaluate(value):
                written = self.scalar(value, TIR_INT_DTYPE)
                return tree.statement(tree.call(self.member("evaluate"), [written]))
            case Prefetch():
                return self.prefetch(s)
        return self.scoped(s)

    def holder(self, s: tir.LetStmt | tir.AssertStmt, statements: list[ast.stmt]) -> None:
        """A statement that holds what follows it as its body."""
        if isinstance(s, tir.AssertStmt):
            statements.append(ast.Assert(self.scalar(s.condition), self.scalar(s.message)))
        else:
            made = self.scalar(s.value)
            name = self.names.define(s.var, s.var.name)
            target = self.session.at(s.var, tree.name(name))
            dtype = s.var.dtype
            if dtype.lanes != 1 and str(dtype) not in DTYPES:  # it has no name in `T`
                statements.append(tree.assign(target, made))
            else:
                statements.append(tree.annotated(target, self.variable_type(s.var), made))
        self.statement(s.body, statements)

    def scoped(self, s: tir.Stmt) -> ast.stmt:
        """A statement whose body is a block of Python: `with T.LetStmt(v) as x:`."""
        context: ast.expr
        match s:
            case tir.AttrStmt() if is_launch(s):
                return self.launch(s)
            case tir.AttrStmt(body=BufferRealize(body=body) as realized) if is_realized(s):
                context = self.realize(realized, s.value)
            case BufferRealize(body=body):
                context = self.realize(s, None)
            case tir.LetStmt(body=body):
                context = tree.call(self.member("LetStmt"), [self.scalar(s.value)])
            case tir.AssertStmt(condition, message, body):
                args = [self.scalar(condition), self.scalar(message)]
                context = tree.call(self.member("Assert"), args)
            case tir.AttrStmt(node, attr_key, value, body):
                args = [self.value(node), tree.constant(attr_key)]
                args.append(self.scalar(value, TIR_INT_DTYPE))
                context = tree.call(self.member("attr"), args)
            case tir.Allocate(body=body):
                context = self.allocate(s)
            case tir.AllocateConst(body=body):
                context = self.allocate_const(s)
            case tir.DeclBuffer(buffer, body):
                context = self.buffer_call("decl_buffer", buffer, [])
            case _:
                raise InternalError(f"the printer does not know the statement {type(s).__name__}")
        with self.names.scope():
            target = self.scope_target(s)
            return tree.with_block(context, self.inner(body), target)

    def value(self, value: Any) -> ast.expr:
        """An attribute; in TIR it may be a buffer or an axis."""
        match value:
            case tir.Buffer():
                return self.buffer(value)
            case tir.IterVar(dom, var, iter_type, thread_tag):
                args = [self.variable(var), self.range(dom)]
                args += [tree.constant(iter_type), tree.constant(thread_tag)]
                return tree.call(self.member("iter_var"), args)
        return super().value(value)

    def use(self, expr: Expr) -> ast.expr:
        """A Relax expression in an attribute: a text, a constant, a shape."""
        printer = relax_printer(self.session)
        printer.names, printer.scopes, printer.trees = self.names, self.scopes, self.trees
        return print_expr(printer, expr)

    def scope_target(self, s: tir.Stmt) -> ast.expr | None:
        """The name that a scope gives to its statements."""
        match s:
            case tir.DeclBuffer(buffer):
                return self.bind_buffer(buffer)
            case tir.LetStmt(var) | tir.Allocate(var) | tir.AllocateConst(var):
                name = self.names.define(var, var.name)
                return self.session.at(var, tree.name(name))
        return None

    def inner(self, s: tir.Stmt) -> list[ast.stmt]:
        """The statements of a nested block of Python; those that it could not read are `...`."""
        if self.level >= DEEPEST_BLOCK:
            return [tree.statement(tree.constant(...))]
        statements: list[ast.stmt] = []
        self.level += 1
        with self.names.scope():
            self.statement(s, statements)
        self.level -= 1
        return statements or [ast.Pass()]

    def otherwise(self, s: tir.Stmt) -> list[ast.stmt]:
        """The statements after `else`; another `if` becomes `elif`, which opens no block."""
        chained = isinstance(s, tir.IfThenElse)
        self.level -= chained
        statements = self.inner(s)
        self.level += chained
        return statements

    def allocate(self, s: tir.Allocate) -> ast.Call:
        """`T.allocate([16], "float32", "global")`."""
        pointer = s.buffer_var.type_annotation
        scope = pointer.storage_scope if pointer is not None else "global"
        extents = tree.items([self.scalar(x, TIR_INT_DTYPE) for x in s.extents])
        condition = None if self.is_true(s.condition) else self.scalar(s.condition)
        notes = self.value(s.annotations) if s.annotations else None
        args = [extents, tree.constant(str(s.dtype)), tree.constant(scope)]
        return tree.call(self.member("allocate"), args, condition=condition, annotations=notes)

    def allocate_const(self, s: tir.AllocateConst) -> ast.Call:
        """`T.allocate_const([1, 2], "int32", [2])`."""
        extents = tree.items([self.scalar(x, TIR_INT_DTYPE) for x in s.extents])
        data = getattr(s.data, "data", s.data)
        values = self.value(data.tolist() if hasattr(data, "tolist") else data)
        args = [values, tree.constant(str(s.dtype)), extents]
        return tree.call(self.member("allocate_const"), args)

    # loop = "for" names "in" ("range" | "T.grid" | "T.parallel" ...) "(" extents ")" ":" body
    def loop(self, s: tir.For, statements: list[ast.stmt]) -> None:
        nest = [s]
        while isinstance(following := nest[-1].body, tir.For) and self.continues(nest, following):
            nest.append(following)
        extents = [self.scalar(loop.extent, TIR_INT_DTYPE) for loop in nest]
        if len(nest) > 1:
            iterable: ast.expr = tree.call(self.member("grid"), extents)
        else:
            iterable = self.iterable(s, extents[0])
        with self.names.scope():
            names = [self.loop_variable(loop) for loop in nest]
            target = names[0] if len(names) == 1 else tree.items(names, ast.Tuple)
            body = self.inner(nest[-1].body)
        made = ast.For(target, iterable, body, [], None)
        for loop in nest[1:]:
            self.session.at(loop, made)
        statements.append(made)

    def continues(self, nest: Sequence[tir.For], s: tir.For) -> bool:
        """Whether a loop goes on a nest that is written as one `T.grid`."""
        if not (self.session.options.syntax_sugar and _is_grid(nest[0]) and _is_grid(s)):
            return False
        outer = {loop.loop_var for loop in nest}
        return not any(v in outer for v in free_vars(s.extent))

    def loop_variable(self, s: tir.For) -> ast.expr:
        self.loops[s.loop_var] = s
        return self.session.at(
            s.loop_var, tree.name(self.names.define(s.loop_var, s.loop_var.name))
        )

    def iterable(self, s: tir.For, extent: ast.expr) -> ast.expr:
        """What a single loop runs over."""
        bounds = [extent]
        if not _is_zero(s.min) or s.min.dtype != s.extent.dtype:
            low = self.scalar(s.min, TIR_INT_DTYPE)
            bounds = [low, self.scalar(self.stop(s.min, s.extent), TIR_INT_DTYPE)]
        thread = None if s.thread_binding is None else tree.constant(s.thread_binding.thread_tag)
        notes = self.value(s.annotations) if s.annotations else None
        if s.kind == "serial" and notes is None:
            return tree.call(tree.name("range"), bounds)
        return tree.call(self.member(LOOPS[s.kind]), bounds, thread=thread, annotations=notes)


def _is_zero(e: prim.PrimExpr) -> bool:
    return isinstance(e, prim.IntImm) and e.value == 0


def _is_grid(s: tir.For) -> bool:
    plain = s.kind == "serial" and not s.annotations and s.thread_binding is None
    return plain and _is_zero(s.min) and s.min.dtype == s.extent.dtype
