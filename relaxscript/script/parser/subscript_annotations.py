"""Annotations in brackets as the calls that they mean: `R.Shape[n, 4]` is `R.Shape((n, 4))`.

Only the syntax is rewritten, and every part keeps its place. The parser is asked for the meaning of
a name before (`Meaning`): a shape in brackets may be one dimension or a whole shape.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from relaxscript.ir.module import VDevice
from relaxscript.ir.relax import Expr

__all__ = ["Meaning", "callable_call", "prim_call", "shape_call", "typed_call"]

# What a name or an attribute stands for where it is written, or None where it has no value yet.
Meaning = Callable[[ast.expr], Any]


def typed_call(node: ast.Subscript, items: list[ast.expr], meaning: Meaning) -> ast.Call:
    """`R.Tensor(dtype=R.f32, shape=(n, 4))` for `R.Tensor[R.f32, n, 4]`.

    A virtual device may come last; `None` for each dimension says how many there are.
    """
    dtype, *dims = items
    keywords = {"dtype": dtype} if dtype_is_known(dtype) else {}
    if dims and is_device(dims[-1], meaning):
        keywords["vdevice"] = dims.pop()
    if dims and not _is_ellipsis(dims):
        keywords.update(shape_keywords("shape", dims, node))
    return _call(node, keywords)


def shape_call(node: ast.Subscript, dims: list[ast.expr], meaning: Meaning) -> ast.Call:
    """`R.Shape(values=(n, 4))` for the dimensions of a shape in brackets."""
    if len(dims) == 1 and isinstance(meaning(dims[0]), (tuple, list, Expr)):
        return _call(node, {"values": dims[0]})
    return _call(node, shape_keywords("values", dims, node))


def prim_call(node: ast.Subscript, dtype: str, value: ast.expr) -> ast.Call:
    """`R.Prim("int64", n)` for a scalar in brackets that has a value."""
    return _call(node, {"dtype": ast.copy_location(ast.Constant(str(dtype)), node), "value": value})


def callable_call(node: ast.Subscript, items: list[ast.expr]) -> ast.Call | None:
    """`R.Callable(ret=R.Object)` for `R.Callable[..., R.Object]`, None for other forms."""
    if len(items) == 2 and _is_ellipsis(items[:1]):
        return _call(node, {"ret": items[1]})
    return None


def shape_keywords(name: str, dims: list[ast.expr], node: ast.Subscript) -> dict[str, ast.expr]:
    """The argument that dimensions in brackets are; one tuple is the shape."""
    if dims and all(isinstance(d, ast.Constant) and d.value is None for d in dims):
        return {"ndim": ast.copy_location(ast.Constant(len(dims)), dims[0])}
    if len(dims) == 1 and isinstance(dims[0], (ast.Tuple, ast.List)):
        return {name: dims[0]}
    return {name: ast.copy_location(ast.Tuple(dims, ast.Load()), node.slice)}


def is_device(node: ast.expr, meaning: Meaning) -> bool:
    """True if an item is a virtual device: `I.vdevice("llvm")`, a name of one, "llvm:0"."""
    match node:
        case ast.Constant(value=str(text)):
            return ":" in text
        case ast.Call(func=ast.Attribute(attr="vdevice" | "lookup_vdevice")):
            return True
    return isinstance(meaning(node), VDevice)


def dtype_is_known(node: ast.expr) -> bool:
    """True if an item is a dtype, not `R.Any`."""
    return isinstance(node, ast.Attribute) and node.attr not in ("Any", "Object")


def _is_ellipsis(nodes: list[ast.expr]) -> bool:
    return len(nodes) == 1 and isinstance(nodes[0], ast.Constant) and nodes[0].value is ...


def _call(node: ast.Subscript, arguments: dict[str, ast.expr]) -> ast.Call:
    keywords = [
        ast.copy_location(ast.keyword(name, value), value) for name, value in arguments.items()
    ]
    call = ast.Call(func=node.value, args=[], keywords=keywords)
    return ast.copy_location(call, node)
