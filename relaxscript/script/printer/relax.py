"""Relax functions as syntax; the methods are the inverse of the parser's of the same names.

    function  = decorator "def" name "(" parameters ")" "->" annotation ":" body
    body      = [func_attr] declarations { binding } "return" expression
    branch    = { binding }               (the last statement binds the name that `if` gives)

An operator call is written with its operands by position, and its attributes by name where they
differ from their defaults. A right side is written before the left side gets its name. What normal
form does not have (an `if` or a function inside of an expression) is bound to a name first.

In a branch, `y = x` at the end stands for the leaf `x` itself, and `y: T = x` for a binding of it.
Start reading at `RelaxPrinter.function`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from relaxscript.errors import InternalError, OperandError
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    LeafExpr,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.same import structural_equal
from relaxscript.ir.struct_info import StructInfo, TupleStructInfo
from relaxscript.ir.walk import walk
from relaxscript.script.syntax import DIM_DTYPE
from relaxscript.sinfo import definable_shape_vars

from . import tree
from .calls import CallPrinter
from .constants import constant
from .prim import FunctionScope
from .session import Session

__all__ = ["RelaxPrinter"]

_FLOAT64 = prim.const(0.0, "float64").dtype


class RelaxPrinter(CallPrinter):
    """Writes one Relax function, or a piece of one; a printer is used once."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.alias_needed = False
        self._read: set[Var] | None = None
        self.root: Node | None = None  # what is written, in which variables are read

    # function = decorator "def" name "(" parameters ")" "->" annotation ":" body
    def function(self, f: Function, title: str, symbol: str | None) -> ast.FunctionDef:
        """A function of the module, or one that stands alone.

        It is written as `title`, and `symbol` is the global symbol that goes without saying.
        """
        self.root = f
        attrs = dict(f.attrs or {})
        private = "global_symbol" not in attrs
        if not private and attrs["global_symbol"] == symbol:
            del attrs["global_symbol"]
        return self.session.at(f, self.definition(f, title, attrs, private))

    def definition(
        self, f: Function, title: str, attrs: dict[str, Any], private: bool
    ) -> ast.FunctionDef:
        """The header and the body of a function."""
        self.scopes.append(FunctionScope())
        with self.names.scope():
            for param in f.params:
                self.names.define(param, param.name_hint)
            for var in (v for p in f.params for v in definable_shape_vars(p.struct_info)):
                if not self.is_known(var):
                    self.introduce(var, declared=False)
            params = [self.parameter(param) for param in f.params]
            declared = f.ret_struct_info
            silent = declared is None or self.goes_without_saying(declared, f.body)
            returns = None if declared is None or silent else self.signature(declared)
            outer_alias, self.alias_needed = self.alias_needed, False
            body = self.body(f.body)
            head = [self.func_attr(attrs)] if attrs else []
            head += self.declarations()
            if len(self.scopes) == 2:
                head += self.module_alias()
            self.alias_needed = outer_alias or self.alias_needed
        self.scopes.pop()
        return tree.define(title, params, [*head, *body], self.decorator(f, private), returns)

    def parameter(self, param: Var) -> ast.arg:
        info = param.struct_info
        annotation = None if info is None else _without_value(info, self.signature(info))
        return self.session.at(param, ast.arg(self.names[param], annotation))

    def declaration(self, var: Var, info: StructInfo) -> ast.stmt:
        """`x: R.Tensor((2,), "float32")`, for what is free in a part of a function."""
        said = _without_value(info, self.annotation(info))
        return ast.AnnAssign(self.define(var), said, None, 1)

    def decorator(self, f: Function, private: bool) -> ast.expr:
        """`@R.function`, with the options that are not as usual."""
        pure = None if f.is_pure else tree.constant(False)
        hidden = tree.constant(True) if private else None
        return self.front("function", [], pure=pure, private=hidden)

    def func_attr(self, attrs: dict[str, Any]) -> ast.stmt:
        word = self.member_of_relax("func_attr")
        return tree.statement(tree.call(word, [self.value(attrs)]))

    def module_alias(self) -> list[ast.stmt]:
        """`cls = Module`, for a function that refers to others."""
        alias = self.session.options.module_alias
        if not self.alias_needed or not alias:
            return []
        return [tree.assign(tree.name(alias), tree.name(self.session.module_name))]

    # body = { statement } "return" expression
    def body(self, e: Expr) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        result = self.sequence(e, statements)
        value = self.operand(result, statements)
        if self.session.record and isinstance(result, (Var, Tuple)):
            value = self.session.at(e, value) if value.__class__ is not ast.Name else value
        statements.append(ast.Return(value))
        return statements

    def sequence(self, e: Expr, statements: list[ast.stmt]) -> Expr:
        """The blocks of an expression as statements; gives back what is left of it."""
        while isinstance(e, SeqExpr):
            for block in e.blocks:
                self.block(block, statements)
            e = e.body
        return e

    def operand(self, e: Expr, statements: list[ast.stmt]) -> ast.expr:
        """An expression, with what must come before it added to the statements."""
        value = self.expression(e)
        if self.pending:
            statements += self.pending
            self.pending = []
        return value

    # block = { binding } | "with" "R.dataflow()" ":" { binding } "R.output(" names ")"
    def block(self, block: BindingBlock, statements: list[ast.stmt]) -> None:
        if not isinstance(block, DataflowBlock):
            for binding in block.bindings:
                self.binding(binding, statements)
            return
        inner: list[ast.stmt] = []
        with self.names.scope():
            for binding in block.bindings:
                self.binding(binding, inner, outlives=not isinstance(binding.var, DataflowVar))
        outputs = [b.var for b in block.bindings if not isinstance(b.var, DataflowVar)]
        word = self.member_of_relax("output")
        inner.append(tree.statement(tree.call(word, [self.use(var) for var in outputs])))
        context = tree.call(self.member_of_relax("dataflow"))
        statements.append(self.session.at(block, tree.with_block(context, inner)))

    def binding(
        self, b: Binding, statements: list[ast.stmt], outlives: bool = False, forced: bool = False
    ) -> None:
        """One binding; `forced` wants its annotation even where the parser can do without."""
        var, value = b.var, b.value
        match value:
            case If():
                self.branch(b, value, statements)
                return
            case Function():
                self.local_function(b, value, statements)
                return
            case SeqExpr():
                value = self.sequence(value, statements)
        cast = b.struct_info if isinstance(b, MatchCast) else None
        made = self.operand(value, statements)
        if cast is not None:
            made = tree.call(self.member_of_relax("match_cast"), [made, self.annotation(cast)])
        elif self.is_void(var, value):
            statements.append(self.session.at(b, tree.statement(made)))
            return
        target = self.define(var, outlives)
        info = self.needed_annotation(var, value, cast)
        if info is None and not forced:
            made_statement: ast.stmt = ast.Assign([target], made)
        else:
            annotation = self.annotation(info or var.struct_info)
            made_statement = ast.AnnAssign(target, annotation, made, 1)
        if self.session.record:
            made_statement = self.session.at(b, made_statement)
        statements.append(made_statement)

    def define(self, var: Var, outlives: bool = False) -> ast.Name:
        """The left side of a binding."""
        known = self.trees.get(var)
        if known is None:
            name = self.names.get(var)
            if name is None:
                name = self.names.define(var, var.name_hint, outer=outlives)
            known = self.trees[var] = self.session.at(var, tree.name(name))
        return known

    def use(self, expr: Expr) -> ast.expr:
        """A use of a variable; one that nobody bound gets a name now."""
        if isinstance(expr, Var):
            return self.trees.get(expr) or self.define(expr)
        return self.expression(expr)

    def is_void(self, var: Var, value: Expr) -> bool:
        """Whether a binding is written as a call for its effect."""
        info = var.struct_info
        unit = isinstance(info, TupleStructInfo) and not info.fields
        wanted = unit and isinstance(value, Call) and self.session.options.syntax_sugar
        return wanted and var not in self.read

    @property
    def read(self) -> set[Var]:
        """The variables that are read anywhere; only unread ones may go without a name."""
        if self._read is None:
            self._read = set()
            for node in walk(self.root) if self.root is not None else ():
                self._read.update(_operands(node))
        return self._read

    def goes_without_saying(self, declared: StructInfo, body: Expr) -> bool:
        """Whether a result is too long to be written and just what the parser finds anyway."""
        if not self.session.is_long(declared):
            return False
        try:
            return structural_equal(self.session.context.struct_info(body), declared)
        except (InternalError, OperandError):
            return False

    def needed_annotation(
        self, var: Var, value: Expr, cast: StructInfo | None
    ) -> StructInfo | None:
        """What is said of a variable beside its value; None where the parser knows it."""
        info: StructInfo | None = var.struct_info
        if info is None or info is cast:
            return None
        if cast is not None:
            return None if structural_equal(info, cast) else info
        if isinstance(value, Call) and value.sinfo_args:
            only = value.sinfo_args[0]
            if len(value.sinfo_args) == 1 and (info is only or structural_equal(info, only)):
                return None
        if self.session.options.show_all_struct_info and not self.session.is_long(info):
            return info
        try:
            derived = self.session.context.struct_info(value)
        except (InternalError, OperandError):
            return info
        return None if derived is info or structural_equal(derived, info) else info

    # statement = "if" expression ":" branch "else" ":" branch
    def branch(self, b: Binding, e: If, statements: list[ast.stmt]) -> None:
        test = self.operand(e.cond, statements)
        name = self.define(b.var).id
        yes = self.one_branch(e.true_branch, name)
        no = self.one_branch(e.false_branch, name)
        made = self.session.at(e, ast.If(test, yes, no))
        statements.append(self.session.at(b, made))

    # branch = { statement }
    def one_branch(self, e: Expr, name: str) -> list[ast.stmt]:
        """The statements of a branch, the last of which binds `name`."""
        statements: list[ast.stmt] = []
        with self.names.scope():
            last = _last_binding(e)
            if last is not None:
                self.names.alias(last.var, name)
                self.trees.pop(last.var, None)
            inner: Expr = e
            while isinstance(inner, SeqExpr):
                for block in inner.blocks:
                    self.branch_block(block, last, statements)
                inner = inner.body
            if last is None:
                made = self.operand(inner, statements)
                statements.append(tree.assign(tree.name(name), made))
        return statements

    def branch_block(
        self, block: BindingBlock, last: Binding | None, statements: list[ast.stmt]
    ) -> None:
        if isinstance(block, DataflowBlock):
            self.block(block, statements)
            return
        for binding in block.bindings:
            leaf = isinstance(binding.value, LeafExpr) and not isinstance(binding, MatchCast)
            self.binding(binding, statements, forced=binding is last and leaf)

    # statement = local function
    def local_function(self, b: Binding, f: Function, statements: list[ast.stmt]) -> None:
        name = self.define(b.var).id
        made = self.definition(f, name, dict(f.attrs or {}), private=False)
        made = self.session.at(f, made)
        statements.append(self.session.at(b, made))

    # ---- expressions

    def expression(self, e: Expr) -> ast.expr:
        """An operand or the right side of a binding."""
        if e.__class__ is Call:
            made = self.call_expression(e)
        elif isinstance(e, Var):
            return self.trees.get(e) or self.define(e)
        else:
            made = self.leaf(e)
        return self.session.at(e, made) if self.session.record else made

    def leaf(self, e: Expr) -> ast.expr:
        """An expression that is no call and no variable."""
        match e:
            case Constant():
                return constant(self.session, e)
            case Tuple(fields):
                return self.tuple(fields)
            case TupleGetItem(tuple_value, index):
                return tree.subscript(self.expression(tuple_value), [tree.number(index)])
            case ShapeExpr(values):
                dims = tree.items([self.scalar(v, DIM_DTYPE) for v in values])
                return tree.call(self.member_of_relax("shape"), [dims])
            case PrimValue(value):
                return tree.call(self.member_of_relax("prim_value"), [self.prim_value(value)])
            case StringImm(value):
                return tree.call(self.member_of_relax("str"), [tree.constant(value)])
            case DataTypeImm(value):
                return tree.call(self.member_of_relax("dtype"), [tree.constant(str(value))])
        return self.callable_leaf(e)

    def callable_leaf(self, e: Expr) -> ast.expr:
        """What can be called, and what has no place in an expression."""
        match e:
            case GlobalVar():
                return self.global_function(e)
            case Op(name):
                return self.member_of_relax(name.removeprefix("relax."))
            case ExternFunc(global_symbol):
                return tree.call(self.member_of_relax("ExternFunc"), [tree.constant(global_symbol)])
            case If() | SeqExpr() | Function():
                return self.hoisted(e)
        raise InternalError(f"the printer does not know the expression {type(e).__name__}")

    def prim_value(self, value: prim.PrimExpr) -> ast.expr:
        """A scalar as Python's number, where that means the same."""
        if isinstance(value, prim.IntImm) and value.dtype.is_bool:
            return tree.constant(bool(value.value))
        default = _FLOAT64 if value.dtype.is_float else DIM_DTYPE
        return self.scalar(value, default)

    def tuple(self, fields: Sequence[Expr]) -> ast.expr:
        """`(a, b)`; unit is `R.tuple()`."""
        if not fields:
            return tree.call(self.member_of_relax("tuple"))
        return tree.items(self.operands(fields), ast.Tuple)

    def global_function(self, var: GlobalVar) -> ast.expr:
        """`cls.f`."""
        self.alias_needed = True
        owner = self.session.options.module_alias or self.session.module_name
        return tree.attribute(tree.name(owner), self.session.function_name(var.name_hint))

    def hoisted(self, e: Expr) -> ast.expr:
        """A name for what cannot stand inside of an expression, bound before it."""
        pending, self.pending = self.pending, []
        statements: list[ast.stmt] = []
        if isinstance(e, SeqExpr):
            made = self.operand(self.sequence(e, statements), statements)
        else:
            var = Var.make("gv", None)
            self.binding(VarBinding.make(var, e), statements)
            made = self.use(var)
        self.pending = [*pending, *statements]
        return made

    def named_first(self, e: Expr, made: ast.expr) -> ast.expr:
        match e:
            case Tuple(fields) if isinstance(made, ast.Tuple):
                parts = zip(fields, made.elts)
                return tree.items([self.named_first(f, m) for f, m in parts], ast.Tuple)
            case LeafExpr():
                return made
        target = self.define(Var.make("gv", None))
        self.pending.append(tree.assign(target, made))
        return target


def _last_binding(e: Expr) -> Binding | None:
    """The binding at the end of a branch that binds its result, if it ends so."""
    while isinstance(e, SeqExpr) and isinstance(e.body, SeqExpr):
        e = e.body
    if not isinstance(e, SeqExpr) or not e.blocks or isinstance(e.blocks[-1], DataflowBlock):
        return None
    bindings = e.blocks[-1].bindings
    if not bindings or bindings[-1].var is not e.body:
        return None
    last = bindings[-1]
    return None if isinstance(last.value, (Function, SeqExpr)) else last


def _operands(node: Node) -> Iterable[Var]:
    """The variables that a node reads itself."""
    values: tuple[Any, ...] = ()
    match node:
        case Call(op=op, args=args):
            values = (op, *args)
        case VarBinding(value=value) | MatchCast(value=value) | TupleGetItem(tuple_value=value):
            values = (value,)
        case SeqExpr(body=value) | If(cond=value) | Function(body=value):
            values = (value,)
        case Tuple(fields):
            values = fields
    return (value for value in values if isinstance(value, Var))


def _without_value(info: StructInfo, annotation: ast.expr) -> ast.expr:
    """An annotation where no value stands: `R.Tuple` alone would leave the fields to a value."""
    empty = isinstance(info, TupleStructInfo) and not info.fields
    return tree.call(annotation) if empty else annotation
