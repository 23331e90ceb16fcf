"""Shapes that variables hold, in the types of functions that are lifted out of their scope.

In `R.Tensor(s, "float32")` the variable `s` holds the shape. In a script parameters do not see
those behind them, and results see none. So signatures and function types leave such shapes out.
The body checks what its signature no longer says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    Expr,
    Function,
    MatchCast,
    SeqExpr,
    Var,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    StructInfo,
    TensorStructInfo,
)
from relaxscript.ir.walk import compounds, rewrite
from relaxscript.sinfo import struct_info_parts

__all__ = ["check_held_shapes", "erase_in_types", "prepend_binding"]


def check_held_shapes(function: Function) -> Function:
    """A function in whose parameters and result no variable holds a shape; the body checks it.

    In a script parameters do not see those behind them, and results see none.
    """
    params: list[Var] = []
    body = function.body
    for param in reversed(function.params):
        info = _erase_held_shapes(param.struct_info)
        if info is not param.struct_info:
            given = type(param).make(param.name_hint, info, span=param.span)
            cast = MatchCast.make(param, given, param.struct_info, span=param.span)
            body, param = prepend_binding(body, cast), given
        params.append(param)
    ret = function.ret_struct_info
    assert isinstance(body, SeqExpr)
    if ret is not None and _erase_held_shapes(ret) is not ret:
        result = Var("result", ret)
        cast = MatchCast.make(result, body.body, ret, span=body.body_span)
        blocks = (*body.blocks, BindingBlock.make((cast,)))
        body = SeqExpr.make(merge_blocks(blocks), result, body.body_span, span=body.span)
        ret = _erase_held_shapes(ret)
    return function.replace(params=tuple(reversed(params)), body=body, ret_struct_info=ret)


def _erase_held_shapes(info: StructInfo) -> StructInfo:
    """`info` without shapes that are held by variables; ranks stay."""
    if not any(map(_has_held_shape, struct_info_parts(info))):
        return info
    return rewrite(info, lambda n: n.replace(shape=None) if _has_held_shape(n) else None)


def _has_held_shape(node: Node) -> bool:
    return isinstance(node, TensorStructInfo) and isinstance(node.shape, Var)


def erase_in_types(function: Function) -> Function:
    """A function whose function types have no shapes in them that are held by variables."""
    if not any(_has_type_with_held_shape(info) for info in _annotations(function)):
        return function
    return rewrite(
        function, lambda n: _erase_held_shapes(n) if isinstance(n, FuncStructInfo) else None
    )


def _annotations(function: Function) -> Iterator[StructInfo | None]:
    """The annotations of the values in a function."""
    for node in compounds(function):
        match node:
            case Function(params=params, ret_struct_info=ret):
                yield from (param.struct_info for param in params)
                yield ret
            case Binding(var=var):
                yield var.struct_info
                if isinstance(node, MatchCast):
                    yield node.struct_info
            case Call(sinfo_args=infos):
                yield from infos


def _has_type_with_held_shape(info: StructInfo | None) -> bool:
    if info is None or not info.is_compound:
        return False
    types = (part for part in struct_info_parts(info) if isinstance(part, FuncStructInfo))
    return any(_erase_held_shapes(part) is not part for part in types)


def merge_blocks(blocks: Sequence[BindingBlock]) -> tuple[BindingBlock, ...]:
    """Blocks without empty ones, neighbours of a kind made one."""
    found: list[BindingBlock] = []
    for block in blocks:
        if found and type(found[-1]) is type(block):
            before = found.pop()
            found.append(before.replace(bindings=(*before.bindings, *block.bindings)))
        elif block.bindings:
            found.append(block)
    return tuple(found)


def prepend_binding(body: Expr, binding: Binding) -> Expr:
    """A body that begins with a binding."""
    assert isinstance(body, SeqExpr)
    blocks = (BindingBlock.make((binding,)), *body.blocks)
    return SeqExpr.make(merge_blocks(blocks), body.body, body.body_span, span=body.span)
