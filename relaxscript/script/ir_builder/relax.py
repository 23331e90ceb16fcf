"""The namespace `R` of the builder: functions, bindings and branches, and every operator.

from relaxscript.script.ir_builder import relax as R
"""

from collections.abc import Mapping as _Mapping, Sequence as _Sequence
from typing import Any as _Any

from relaxscript.ir.relax import Call as _Call, Op as _Op, Var as _Var, as_expr as _as_expr
from relaxscript.op.namespace import *  # noqa: F403
from relaxscript.op.namespace import __all__ as _operators
from relaxscript.script.names.annotations import Callable, Object, Prim, Shape, Tensor, Tuple
from relaxscript.script.names.relax_devices import *  # noqa: F403
from relaxscript.script.names.relax_devices import __all__ as _devices
from relaxscript.script.names.relax_forms import (
    ExternFunc,
    ShapeExpr,
    TupleGetItem,
    const,
    dtype,
    prim_value,
    shape,
    str,
    tuple,
)

from .base import IRBuilder as _IRBuilder, builder_error as _builder_error
from .relax_frames import (
    BlockFrame as _BlockFrame,
    BranchFrame as _BranchFrame,
    FunctionFrame as _FunctionFrame,
    IfFrame as _IfFrame,
    function_frame as _function_frame,
    struct_info_of as _struct_info_of,
)

__all__ = [
    "Callable", "Else", "ExternFunc", "If", "Object", "Prim", "Shape", "ShapeExpr", "Tensor",
    "Then", "Tuple", "TupleGetItem", "arg", "const", "dataflow", "dtype", "emit",
    "emit_match_cast", "emit_te", "emit_var_binding", "emit_with_sinfo", "func_attr", "func_name",
    "func_ret_struct_info", "func_ret_value", "function", "output", "prim_value", "shape", "str",
    "tuple", *_devices, *_operators,
]  # fmt: skip


def function(is_pure: bool = True, is_private: bool = False) -> _FunctionFrame:
    """A function: `with R.function():`; impure ones may have side effects."""
    return _FunctionFrame(is_pure, is_private)


def arg(name: str, struct_info: _Any) -> _Var:  # type: ignore[valid-type]
    """A parameter of the function, after those before it."""
    return _function_frame("R.arg").add_parameter(name, struct_info)


def func_name(name: str) -> None:  # type: ignore[valid-type]
    """The name of the function."""
    _function_frame("R.func_name").set_name(name)


def func_attr(attrs: _Mapping[_Any, _Any]) -> None:
    """Attributes of the function."""
    _function_frame("R.func_attr").add_attrs(attrs)


def func_ret_struct_info(ret_sinfo: _Any) -> None:
    """Declare the StructInfo of the function's result; the value must fit it."""
    _function_frame("R.func_ret_struct_info").ret_struct_info = _struct_info_of(ret_sinfo)


def func_ret_value(value: _Any) -> None:
    """The result of the function; nothing follows it."""
    _function_frame("R.func_ret_value").set_value(value)


def dataflow() -> _BlockFrame:
    """A block of bindings without side effects or control flow: `with R.dataflow() as df:`."""
    return _BlockFrame()


def output(*vars: _Var) -> None:
    """The variables of a dataflow block that can be used after it; they are `df.output_vars`."""
    frames = _IRBuilder.current().frames
    if not frames or not isinstance(frames[-1], _BlockFrame):
        raise _builder_error("RX0107", "`R.output` belongs in a dataflow block",
                             "open one: `with R.dataflow():`")  # fmt: skip
    frames[-1].output(*vars)


def emit(value: _Any, annotate_struct_info: _Any = None) -> _Var:
    """A value bound to a new variable; `annotate_struct_info` declares what it is."""
    return _function_frame("R.emit").emit(value, annotate_struct_info)


def emit_match_cast(value: _Any, struct_info: _Any) -> _Var:
    """A value that is checked at run time, and binds new shape variables."""
    return _function_frame("R.emit_match_cast").cast(value, struct_info)


def emit_te(func: _Any, *args: _Any, **kwargs: _Any) -> _Call:
    """The call of a PrimFunc, which the module gets, of what `func` gives for the arguments.

    `func` takes a `te.Tensor` for each tensor. It is bound by `R.emit`.
    """
    return _function_frame("R.emit_te").call_te(func, *args, **kwargs)


def emit_var_binding(value: _Any) -> _Var:
    """A binding as it is; it must be in normal form and typed."""
    return _function_frame("R.emit_var_binding").emit_binding(value)


def emit_with_sinfo(op: _Any, args: _Any, sinfo_args: _Any = None) -> _Call:
    """The call of an operator by its name, with StructInfos; it is bound by `R.emit`."""
    infos = sinfo_args if isinstance(sinfo_args, _Sequence) else [sinfo_args]
    given = args if isinstance(args, _Sequence) else [args]
    sinfos = (*(_struct_info_of(info) for info in infos if info is not None),)
    return _Call(_Op(op), (*(_as_expr(a) for a in given),), None, sinfos)


def If(condition: _Any) -> _IfFrame:
    """A choice: `with R.If(condition) as choice:`; its value is `choice.var` afterwards."""
    return _IfFrame(condition)


def Then() -> _BranchFrame:
    """The branch of `R.If` for a condition that holds; its last binding is its value."""
    return _BranchFrame("R.Then")


def Else() -> _BranchFrame:
    """The branch of `R.If` for a condition that does not hold; its last binding is its value."""
    return _BranchFrame("R.Else")
