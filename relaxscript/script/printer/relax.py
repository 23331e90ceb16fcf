"""Relax functions as syntax; the functions are the inverse of the parser's of the same names.

    function  = decorator "def" name "(" parameters ")" "->" annotation ":" body
    body      = [func_attr] declarations { binding } "return" expression
    branch    = { binding }               (the last statement binds the name that `if` gives)

An operator call is written with its operands by position, and its attributes by name. Attributes
that have their defaults are left out. A right side is written before the left side gets its name.
What normal form does not have (an `if` or a function inside of an expression) is bound to a name
first.

In a branch, `y = x` at the end stands for the leaf `x` itself, and `y: T = x` for a binding of it.
Start reading at `print_function`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from relaxscript.errors import InternalError, OperandError
from relaxscript.ir import prim
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
from relaxscript.ir.struct_info import StructInfo, TupleStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.script.names.syntax import DIM_DTYPE
from relaxscript.sinfo import definable_shape_vars

from . import tree
from .calls import print_call, print_operands
from .constants import constant
from .prim import FunctionScope
from .relax_context import RelaxPrinter
from .session import Session

__all__ = [
    "print_binding", "print_block", "print_declaration", "print_expr", "print_function",
    "print_operand", "print_sequence", "relax_printer",
]  # fmt: skip

_FLOAT64 = prim.const(0.0, "float64").dtype


def relax_printer(session: Session) -> RelaxPrinter:
    """A context before a function, or a piece of one, is written."""
    return RelaxPrinter(session, print_expr)


# function = decorator "def" name "(" parameters ")" "->" annotation ":" body
def print_function(
    cx: RelaxPrinter, f: Function, title: str, symbol: str | None
) -> ast.FunctionDef:
    """A function of the module, or one that is alone.

    It is written as `title`, and `symbol` is the global symbol that goes without saying.
    """
    cx.root = f
    attrs = dict(f.attrs or {})
    private = "global_symbol" not in attrs
    if not private and attrs["global_symbol"] == symbol:
        del attrs["global_symbol"]
    return cx.session.at(f, print_definition(cx, f, title, attrs, private))


def print_definition(
    cx: RelaxPrinter, f: Function, title: str, attrs: dict[str, Any], private: bool
) -> ast.FunctionDef:
    """The header and the body of a function."""
    cx.scopes.append(FunctionScope())
    with cx.names.scope():
        for param in f.params:
            cx.names.define(param, param.name_hint)
        for var in (v for p in f.params for v in definable_shape_vars(p.struct_info)):
            if not cx.is_known(var):
                cx.introduce(var, declared=False)
        params = [print_parameter(cx, param) for param in f.params]
        declared = f.ret_struct_info
        silent = declared is None or is_derived_anyway(cx, declared, f.body)
        returns = None if declared is None or silent else cx.signature(declared)
        outer_alias, cx.alias_needed = cx.alias_needed, False
        body = print_body(cx, f.body)
        head = [print_func_attr(cx, attrs)] if attrs else []
        head += cx.declarations()
        if len(cx.scopes) == 2:
            head += print_module_alias(cx)
        cx.alias_needed = outer_alias or cx.alias_needed
    cx.scopes.pop()
    return tree.define(title, params, [*head, *body], print_decorator(cx, f, private), returns)


def print_parameter(cx: RelaxPrinter, param: Var) -> ast.arg:
    info = param.struct_info
    annotation = None if info is None else _without_value(info, cx.signature(info))
    return cx.session.at(param, ast.arg(cx.names[param], annotation))


def print_declaration(cx: RelaxPrinter, var: Var, info: StructInfo) -> ast.stmt:
    """`x: R.Tensor((2,), "float32")`, for what is free in a part of a function."""
    said = _without_value(info, cx.annotation(info))
    return ast.AnnAssign(cx.define(var), said, None, 1)


def print_decorator(cx: RelaxPrinter, f: Function, private: bool) -> ast.expr:
    """`@R.function`, with the options that are not as usual."""
    pure = None if f.is_pure else tree.constant(False)
    hidden = tree.constant(True) if private else None
    return cx.relax_call("function", [], pure=pure, private=hidden)


def print_func_attr(cx: RelaxPrinter, attrs: dict[str, Any]) -> ast.stmt:
    word = cx.member_of_relax("func_attr")
    return tree.statement(tree.call(word, [cx.value(attrs)]))


def print_module_alias(cx: RelaxPrinter) -> list[ast.stmt]:
    """`cls = Module`, for a function that refers to others."""
    alias = cx.session.options.module_alias
    if not cx.alias_needed or not alias:
        return []
    return [tree.assign(tree.name(alias), tree.name(cx.session.module_name))]


# body = { statement } "return" expression
def print_body(cx: RelaxPrinter, e: Expr) -> list[ast.stmt]:
    statements: list[ast.stmt] = []
    result = print_sequence(cx, e, statements)
    value = print_operand(cx, result, statements)
    if cx.session.record and isinstance(result, (Var, Tuple)):
        value = cx.session.at(e, value) if value.__class__ is not ast.Name else value
    statements.append(ast.Return(value))
    return statements


def print_sequence(cx: RelaxPrinter, e: Expr, statements: list[ast.stmt]) -> Expr:
    """The blocks of an expression as statements; gives back what is left of it."""
    while isinstance(e, SeqExpr):
        for block in e.blocks:
            print_block(cx, block, statements)
        e = e.body
    return e


def print_operand(cx: RelaxPrinter, e: Expr, statements: list[ast.stmt]) -> ast.expr:
    """An expression, with what must come before it added to the statements."""
    value = print_expr(cx, e)
    if cx.pending:
        statements += cx.pending
        cx.pending = []
    return value


# block = { binding } | "with" "R.dataflow()" ":" { binding } "R.output(" names ")"
def print_block(cx: RelaxPrinter, block: BindingBlock, statements: list[ast.stmt]) -> None:
    if not isinstance(block, DataflowBlock):
        for binding in block.bindings:
            print_binding(cx, binding, statements)
        return
    inner: list[ast.stmt] = []
    with cx.names.scope():
        for binding in block.bindings:
            print_binding(cx, binding, inner, outlives=not isinstance(binding.var, DataflowVar))
    outputs = [b.var for b in block.bindings if not isinstance(b.var, DataflowVar)]
    word = cx.member_of_relax("output")
    inner.append(tree.statement(tree.call(word, [cx.use(var) for var in outputs])))
    context = tree.call(cx.member_of_relax("dataflow"))
    statements.append(cx.session.at(block, tree.with_block(context, inner)))


def print_binding(
    cx: RelaxPrinter,
    b: Binding,
    statements: list[ast.stmt],
    outlives: bool = False,
    forced: bool = False,
) -> None:
    """One binding; `forced` wants its annotation even where the parser can do without."""
    var, value = b.var, b.value
    match value:
        case If():
            print_if(cx, b, value, statements)
            return
        case Function():
            print_local_function(cx, b, value, statements)
            return
        case SeqExpr():
            value = print_sequence(cx, value, statements)
    cast = b.struct_info if isinstance(b, MatchCast) else None
    made = print_operand(cx, value, statements)
    if cast is not None:
        made = tree.call(cx.member_of_relax("match_cast"), [made, cx.annotation(cast)])
    elif is_void(cx, var, value):
        statements.append(cx.session.at(b, tree.statement(made)))
        return
    target = cx.define(var, outlives)
    info = needed_annotation(cx, var, value, cast)
    if info is None and not forced:
        made_statement: ast.stmt = ast.Assign([target], made)
    else:
        annotation = cx.annotation(info or var.struct_info)
        made_statement = ast.AnnAssign(target, annotation, made, 1)
    if cx.session.record:
        made_statement = cx.session.at(b, made_statement)
    statements.append(made_statement)


def is_void(cx: RelaxPrinter, var: Var, value: Expr) -> bool:
    """True if a binding is written as a call for its effect."""
    info = var.struct_info
    unit = isinstance(info, TupleStructInfo) and not info.fields
    wanted = unit and isinstance(value, Call) and cx.session.options.syntax_sugar
    return wanted and var not in cx.read


def is_derived_anyway(cx: RelaxPrinter, declared: StructInfo, body: Expr) -> bool:
    """True if a result is too long to be written and just what the parser finds anyway."""
    if not cx.session.is_long(declared):
        return False
    try:
        return structural_equal(cx.session.context.struct_info(body), declared)
    except (InternalError, OperandError):
        return False


def needed_annotation(
    cx: RelaxPrinter, var: Var, value: Expr, cast: StructInfo | None
) -> StructInfo | None:
    """The annotation that a variable needs beside its value; None where the parser knows it."""
    info: StructInfo | None = var.struct_info
    if info is None or info is cast:
        return None
    if cast is not None:
        return None if structural_equal(info, cast) else info
    if isinstance(value, Call) and value.sinfo_args:
        only = value.sinfo_args[0]
        if len(value.sinfo_args) == 1 and (info is only or structural_equal(info, only)):
            return None
    if cx.session.options.show_all_struct_info and not cx.session.is_long(info):
        return info
    try:
        derived = cx.session.context.struct_info(value)
    except (InternalError, OperandError):
        return info
    return None if derived is info or structural_equal(derived, info) else info


# statement = "if" expression ":" branch "else" ":" branch
def print_if(cx: RelaxPrinter, b: Binding, e: If, statements: list[ast.stmt]) -> None:
    test = print_operand(cx, e.cond, statements)
    name = cx.define(b.var).id
    yes = print_branch(cx, e.true_branch, name)
    no = print_branch(cx, e.false_branch, name)
    made = cx.session.at(e, ast.If(test, yes, no))
    statements.append(cx.session.at(b, made))


# branch = { statement }
def print_branch(cx: RelaxPrinter, e: Expr, name: str) -> list[ast.stmt]:
    """The statements of a branch, the last of which binds `name`."""
    statements: list[ast.stmt] = []
    with cx.names.scope():
        last = _last_binding(e)
        if last is not None:
            cx.names.alias(last.var, name)
            cx.trees.pop(last.var, None)
        inner: Expr = e
        while isinstance(inner, SeqExpr):
            for block in inner.blocks:
                print_branch_block(cx, block, last, statements)
            inner = inner.body
        if last is None:
            made = print_operand(cx, inner, statements)
            statements.append(tree.assign(tree.name(name), made))
    return statements


def print_branch_block(
    cx: RelaxPrinter, block: BindingBlock, last: Binding | None, statements: list[ast.stmt]
) -> None:
    if isinstance(block, DataflowBlock):
        print_block(cx, block, statements)
        return
    for binding in block.bindings:
        leaf = isinstance(binding.value, LeafExpr) and not isinstance(binding, MatchCast)
        print_binding(cx, binding, statements, forced=binding is last and leaf)


# statement = local function
def print_local_function(
    cx: RelaxPrinter, b: Binding, f: Function, statements: list[ast.stmt]
) -> None:
    name = cx.define(b.var).id
    made = print_definition(cx, f, name, dict(f.attrs or {}), private=False)
    made = cx.session.at(f, made)
    statements.append(cx.session.at(b, made))


# ---- expressions


def print_expr(cx: RelaxPrinter, e: Expr) -> ast.expr:
    """An operand or the right side of a binding."""
    if e.__class__ is Call:
        made = print_call(cx, e)
    elif isinstance(e, Var):
        return cx.trees.get(e) or cx.define(e)
    else:
        made = print_leaf(cx, e)
    return cx.session.at(e, made) if cx.session.record else made


def print_leaf(cx: RelaxPrinter, e: Expr) -> ast.expr:
    """An expression that is no call and no variable."""
    match e:
        case Constant():
            return constant(cx.session, e)
        case Tuple(fields):
            return print_tuple(cx, fields)
        case TupleGetItem(tuple_value, index):
            return tree.subscript(print_expr(cx, tuple_value), [tree.number(index)])
        case ShapeExpr(values):
            dims = tree.items([cx.scalar(v, DIM_DTYPE) for v in values])
            return tree.call(cx.member_of_relax("shape"), [dims])
        case PrimValue(value):
            return tree.call(cx.member_of_relax("prim_value"), [print_prim_value(cx, value)])
        case StringImm(value):
            return tree.call(cx.member_of_relax("str"), [tree.constant(value)])
        case DataTypeImm(value):
            return tree.call(cx.member_of_relax("dtype"), [tree.constant(str(value))])
    return print_callable(cx, e)


def print_callable(cx: RelaxPrinter, e: Expr) -> ast.expr:
    """The syntax of what can be called, or has no place in an expression."""
    match e:
        case GlobalVar():
            return cx.global_function(e)
        case Op(name):
            return cx.member_of_relax(name.removeprefix("relax."))
        case ExternFunc(global_symbol):
            return tree.call(cx.member_of_relax("ExternFunc"), [tree.constant(global_symbol)])
        case If() | SeqExpr() | Function():
            return print_hoisted(cx, e)
    raise InternalError(f"the printer does not know the expression {type(e).__name__}")


def print_prim_value(cx: RelaxPrinter, value: prim.PrimExpr) -> ast.expr:
    """A scalar as Python's number, where that means the same."""
    if isinstance(value, prim.IntImm) and value.dtype.is_bool:
        return tree.constant(bool(value.value))
    default = _FLOAT64 if value.dtype.is_float else DIM_DTYPE
    return cx.scalar(value, default)


def print_tuple(cx: RelaxPrinter, fields: Sequence[Expr]) -> ast.expr:
    """`(a, b)`; unit is `R.tuple()`."""
    if not fields:
        return tree.call(cx.member_of_relax("tuple"))
    return tree.items(print_operands(cx, fields), ast.Tuple)


def print_hoisted(cx: RelaxPrinter, e: Expr) -> ast.expr:
    """A name for what cannot be inside of an expression, bound before it."""
    pending, cx.pending = cx.pending, []
    statements: list[ast.stmt] = []
    if isinstance(e, SeqExpr):
        made = print_operand(cx, print_sequence(cx, e, statements), statements)
    else:
        var = Var.make("gv", None)
        print_binding(cx, VarBinding.make(var, e), statements)
        made = cx.use(var)
    cx.pending = [*pending, *statements]
    return made


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


def _without_value(info: StructInfo, annotation: ast.expr) -> ast.expr:
    """An annotation where no value is: `R.Tuple` alone would leave the fields to a value."""
    empty = isinstance(info, TupleStructInfo) and not info.fields
    return tree.call(annotation) if empty else annotation
