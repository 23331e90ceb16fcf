"""Help for annotations that are wrong: the common slips, and what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.dtypes import is_dtype
from relaxscript.errors import Diagnostic, Edit, Label, Source, Span
from relaxscript.ir.prim import Var
from relaxscript.ir.prim_checks import shorten
from relaxscript.script.names import relax_typed
from relaxscript.script.names.annotations import AnnotationForm

from .fixits import gather

__all__ = [
    "Correction",
    "a_shape",
    "name_of_dtype",
    "no_extent",
    "other_than_int64",
    "reorder_arguments",
    "unknown_extent",
    "unquote_dimension",
]  # fmt: skip

unknown_extent = 'name an extent that is not known: `"n"`, or say the rank only: `ndim=2`'


class Correction(NamedTuple):
    """The mistake in one sentence, where it is, and what to write."""

    at: ast.expr
    message: str
    help: str
    edits: tuple[Edit, ...]


def other_than_int64(var: Var, span: Span | None) -> Diagnostic:
    """A dimension that is a variable of another dtype than dimensions have."""
    dtype, declared = str(var.dtype), var.span
    labels: tuple[Label, ...] = ()
    fix: tuple[Edit, ...] = ()
    if declared is not None and declared.text.endswith(dtype):
        labels = (Label(declared, f"`{var.name}` is {dtype}"),)
        fix = (Edit(declared, f"{declared.text.removesuffix(dtype)}int64"),)
    message = f"a dimension is an int64, and `{var.name}` is {dtype}"
    return Diagnostic("RX0108", message, span, labels, (), f"write `{var.name} = T.int64()`", fix)


def reorder_arguments(source: Source, form: AnnotationForm, call: ast.expr) -> Correction | None:
    """`R.Tensor(2, 3, "float32")` and `R.Tensor("float32", (2, 3))`: arguments in another order."""
    if form.name not in ("Tensor", "Shape") or not isinstance(call, ast.Call):
        return None
    dims = _leading_dimensions(call.args)
    if len(dims) > 1 and any(isinstance(dim, ast.Constant) for dim in dims):
        edit, written = gather(source, dims)
        return Correction(dims[0], "a shape is one tuple", f"write `{written}`", (edit,))
    match call.args:
        case [ast.Constant(value=str(name)) as first, ast.Tuple() | ast.List() as second, *_]:
            if form.name == "Tensor" and is_dtype(name):
                edits = (_replacement(source, first, second), _replacement(source, second, first))
                message = "the shape comes before the dtype"
                return Correction(
                    first, message, f'write `({ast.unparse(second)}, "{name}")`', edits
                )
    return None


def name_of_dtype(items: Sequence[ast.expr], form: ast.expr) -> str | None:
    """`R.f32` for the text with which `R.Tensor["float32", n]` begins, or `R.Tensor["f32", n]`."""
    match items:
        case [ast.Constant(value=str(text)), _, *_] if isinstance(form, ast.Attribute):
            named = {str(getattr(relax_typed, name)): name for name in relax_typed.DTYPES}
            name = named.get(text, text)
            return f"{ast.unparse(form.value)}.{name}" if name in relax_typed.DTYPES else None
    return None


def _leading_dimensions(args: Sequence[ast.expr]) -> list[ast.expr]:
    found: list[ast.expr] = []
    for argument in args:
        match argument:
            case ast.Constant(value=str(text)) if text.isidentifier() and not is_dtype(text):
                found.append(argument)
            case ast.Constant(value=int()) | ast.Name() | ast.BinOp():
                found.append(argument)
            case _:
                break
    return found


def _replacement(source: Source, place: ast.expr, other: ast.expr) -> Edit:
    return Edit(source.span(place), source.span(other).text)


def no_extent(value: int) -> str:
    """The reason why a number of Python is no dimension."""
    wrong = "cannot be negative, this is" if value < 0 else "fits in int64, unlike"
    return f"a dimension {wrong} {shorten(value)}"


def unquote_dimension(node: ast.expr) -> str | None:
    """`"n" + 1` as `n + 1`: arithmetic of a dimension in quotes alone."""
    if not isinstance(node, ast.BinOp):
        return None
    operands: list[ast.expr] = [node]
    for operand in operands:  # grows while it is walked; a string in a call is an argument of it
        match operand:
            case ast.BinOp(left, _, right):
                operands += (left, right)
            case ast.UnaryOp(operand=inner):
                operands.append(inner)
    texts = [o.value for o in operands if isinstance(o, ast.Constant)]
    names = [text for text in texts if isinstance(text, str)]
    if not names or not all(name.isidentifier() for name in names):
        return None
    return ast.unparse(node).replace("'", "")


def a_shape(node: ast.expr) -> str | None:
    """`R.Tensor((4, 3))` for `(4, 3)`, a shape in the place of an annotation."""
    match node:
        case ast.Tuple(elts=dims) | ast.List(elts=dims) if dims and all(map(_is_dimension, dims)):
            return f"R.Tensor({ast.unparse(node)})"
    return None


def _is_dimension(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() | str()) | ast.Name() | ast.BinOp():
            return True
    return False
