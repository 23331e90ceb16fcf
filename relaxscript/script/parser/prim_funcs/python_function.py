"""Python's own functions in PrimFuncs: on scalars they mean what a reader expects of them.

`min`, `max`, `sum`, `all`, `any`, `abs`, `int`, `float`, `bool`, `pow`, `round` and `range`.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
from functools import partial, reduce
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BOOL, PrimExpr, const
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.ir.tir import Buffer, BufferRegion
from relaxscript.op import CompositeOp, Operator
from relaxscript.script.names import tir_nodes
from relaxscript.script.names.tir_types import PythonForm, StmtForm
from relaxscript.script.parser.compile_time import ScriptLambda, call_lambda
from relaxscript.script.parser.python_call import call_python, parse_arguments

from .call import (
    METHODS,
    OURS,
    call_function,
    call_guarded,
    call_ours,
    check_indices,
    refuse_call,
    refuse_relax,
    to_operand,
    vload,
)
from .context import TirContext

__all__ = ["PYTHON_RANGE", "call_known"]

# What numpy calls functions of ours.
OF_NUMPY = {"absolute": "abs", "arccos": "acos", "arcsin": "asin", "arctan": "atan",
            "arctan2": "atan2", "floor_divide": "floordiv", "invert": "bitwise_not",
            "left_shift": "shift_left", "maximum": "max", "minimum": "min", "mod": "floormod",
            "power": "pow", "right_shift": "shift_right", "rint": "nearbyint"}  # fmt: skip
OF_BUFFERS = {"len": "{}.shape[0]", "list": "[{}[i] for i in range(n)]"}


def call_builtin(cx: TirContext, callee: Any, rule: Any, node: ast.Call) -> Any:
    """Python's own functions on scalars; on Python values they are Python's."""
    args, kwargs = parse_arguments(cx, node)
    if callee in OF_ITEMS and len(args) == 1 and isinstance(args[0], (list, tuple)):
        args = list(args[0])
        if not any(isinstance(v, Node) for v in args):
            args = [args]
    if not any(isinstance(v, Node) for v in args):
        with cx.at(node):
            return callee(*args, **kwargs)
    if any(isinstance(v, (Buffer, BufferRegion)) for v in args):
        args = [to_operand(cx, v, at) for v, at in zip(args, node.args)]
    return call_guarded(cx, rule, args, kwargs, node)


def check_python_arguments(cx: TirContext, callee: Any, name: str, node: ast.Call) -> None:
    """Python's own functions know neither buffers nor what is known only later."""
    if callee is builtins.isinstance or callee is builtins.type:
        return
    args, _ = parse_arguments(cx, node)
    for value, at in zip(args, node.args):
        if isinstance(value, (Buffer, BufferRegion)):
            what = "a buffer" if isinstance(value, Buffer) else "a region of a buffer"
            instead = OF_BUFFERS.get(name) if isinstance(value, Buffer) else None
            meant = instead.format(cx.written(at)) if instead else None
            raise cx.error(
                node, "RX0501", f"`{name}` computes with Python values now, and "
                f"`{cx.written(at)}` is {what}", help=f"write `{meant}`" if meant else None,
                fix=meant if len(node.args) == 1 else None,
            )  # fmt: skip
        if callee is builtins.print and isinstance(value, Node):
            raise cx.error(
                node, "RX0501", "`print` would print now, while the program is read",
                help="store the value into a buffer, and print that after the call",
            )  # fmt: skip


def call_of_python(cx: TirContext, callee: Any, node: ast.Call) -> Any:
    name = getattr(callee, "__name__", "")
    home = getattr(callee, "__module__", None) or getattr(type(callee), "__module__", "")
    if str(home).partition(".")[0] in ("math", "numpy"):
        args, _ = parse_arguments(cx, node)
        if any(isinstance(v, Node) for v in args):
            written = cx.written(node.func)
            ours = OF_NUMPY.get(name, name)
            instead = f"T.{ours}" if ours in FUNCTIONS else None
            raise cx.error(
                node.func, "RX0501", f"`{written}` computes with Python numbers only",
                help=f"write `{instead}`" if instead else None, fix=instead,
            )  # fmt: skip
    if home == "builtins":
        check_python_arguments(cx, callee, name, node)
    return call_python(cx, callee, node)


def _as_int(x: PrimExpr) -> PrimExpr:
    """`int(x)`: towards zero, as Python's."""
    return x if x.dtype.is_integer else tir_nodes.cast(x, "int32")


def _as_float(x: PrimExpr) -> PrimExpr:
    """`float(x)`."""
    return x if x.dtype.is_float else tir_nodes.cast(x, "float32")


def _as_bool(x: PrimExpr) -> PrimExpr:
    """`bool(x)`."""
    return x if x.dtype is BOOL else prim.NE.make(x, const(0, x.dtype))


def _round(number: PrimExpr) -> PrimExpr:
    """`round(x)`: halves go to the even number, as Python's."""
    return FUNCTIONS["nearbyint"](number)


def _range(start: Any, stop: Any = None, step: Any = 1) -> StmtForm:
    """`range(...)` with bounds that are scalars."""
    return PythonForm(_range, start=start, stop=stop, step=step)


def _sum(*values: PrimExpr) -> PrimExpr:
    """`sum([x, y])`."""
    return reduce(operator.add, values)


def _all(*values: PrimExpr) -> PrimExpr:
    """`all([a < b, b < c])`."""
    return reduce(prim.And, values)


def _any(*values: PrimExpr) -> PrimExpr:
    """`any([a < b, b < c])`."""
    return reduce(prim.Or, values)


PYTHON_RANGE = _range
vars(_range)["__signature__"] = inspect.signature(_range)  # asked for by every loop
# Functions of the items of one sequence.
OF_ITEMS = (builtins.min, builtins.max, builtins.sum, builtins.all, builtins.any)

PYTHON_NAMES: dict[int, Any] = {
    id(builtins.min): tir_nodes.min,
    id(builtins.max): tir_nodes.max,
    id(builtins.abs): FUNCTIONS["abs"],
    id(builtins.pow): FUNCTIONS["pow"],
    id(builtins.int): _as_int,
    id(builtins.float): _as_float,
    id(builtins.bool): _as_bool,
    id(builtins.round): _round,
    id(builtins.range): _range,
    id(builtins.sum): _sum,
    id(builtins.all): _all,
    id(builtins.any): _any,
}


def call_known(cx: TirContext, callee: Any, node: ast.Call) -> Any:
    """A call of a function of ours, of the module, or of Python."""
    kind = id(callee)
    if kind in OURS:
        return call_ours(cx, callee, node)
    if isinstance(callee, GlobalVar):
        return call_function(cx, callee, node)
    if isinstance(callee, partial) and callee.func in METHODS:
        args, kwargs = parse_arguments(cx, node)
        if callee.func is vload:
            check_indices(cx, callee.args[0], args, node.args)
        return call_guarded(cx, callee, args, kwargs, node)
    rule = PYTHON_NAMES.get(kind)
    if rule is not None:
        return call_builtin(cx, callee, rule, node)
    if isinstance(callee, ScriptLambda):
        args, kwargs = parse_arguments(cx, node)
        return call_lambda(cx, callee, args, kwargs, node)
    if isinstance(callee, (Operator, CompositeOp)):
        raise refuse_relax(cx, callee, node)
    if not callable(callee):
        raise refuse_call(cx, callee, node)
    return call_of_python(cx, callee, node)
