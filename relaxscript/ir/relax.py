"""The expressions of Relax, one class per production of the spec's grammar.

Positional order and field names are TVM's where it has the node; the spec's other spellings are
read-only properties. `expr.struct_info` answers for every expression: variables carry it, other
expressions have it derived on first demand.

Source: spec "Grammar" and "Expression Survey".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from relaxscript.dtypes import DataType, result_dtype

from . import calling, drawing, function_methods, hooks, op_attributes, prim
from .attributes import NO_ATTRS, Attrs, as_attrs, own_attrs
from .constant_array import constant_array
from .node import Node, field, node
from .prim import FloatImm, PrimExpr, as_dimension, as_dims, as_prim
from .uses import fields_of, require_callable

if TYPE_CHECKING:
    from weakref import ReferenceType

    from relaxscript.errors import Span

    from .module import IRModule
    from .struct_info import StructInfo
    from .types import Type

__all__ = [
    "NO_ATTRS",
    "Attrs",
    "BaseFunc",
    "Binding",
    "BindingBlock",
    "Call",
    "Constant",
    "DataTypeImm",
    "DataflowBlock",
    "DataflowVar",
    "Expr",
    "ExternFunc",
    "Function",
    "GlobalVar",
    "Id",
    "If",
    "LeafExpr",
    "MatchCast",
    "Op",
    "PrimValue",
    "SeqExpr",
    "ShapeExpr",
    "StringImm",
    "Tuple",
    "TupleGetItem",
    "Var",
    "VarBinding",
    "as_attrs",
    "as_expr",
    "own_attrs",
]  # fmt: skip


def _infix(symbol: str) -> Callable[[Any, Any], Expr]:
    return lambda self, other: _operator(symbol, self, other)


def _reflected_operator(symbol: str) -> Callable[[Any, Any], Expr]:
    return lambda self, other: _operator(symbol, other, self)


@node
class Expr(Node):
    """A Relax expression; `struct_info` says what is known of its value."""

    __slots__ = ()
    __cached__ = ("known_info",)

    if TYPE_CHECKING:

        @property
        def known_info(self) -> StructInfo | None: ...

        @property
        def struct_info(self) -> StructInfo: ...

    else:

        @property
        def struct_info(self):
            found = self.known_info
            if found is None:
                found = hooks.struct_info_for_users(self)
                remember_struct_info(self, found)
            return found

    @property
    def struct_info_(self) -> StructInfo:
        """TVM's other spelling of `struct_info`."""
        return self.struct_info

    @property
    def checked_type(self) -> Type:
        """The traditional type of the value: its rank, dtype and structure."""
        found: Type = hooks.static_type_of(self.struct_info)
        return found

    __add__, __radd__ = _infix("+"), _reflected_operator("+")
    __sub__, __rsub__ = _infix("-"), _reflected_operator("-")
    __mul__, __rmul__ = _infix("*"), _reflected_operator("*")
    __truediv__, __rtruediv__ = _infix("/"), _reflected_operator("/")
    __floordiv__, __rfloordiv__ = _infix("//"), _reflected_operator("//")
    __mod__, __rmod__ = _infix("%"), _reflected_operator("%")
    __pow__, __rpow__ = _infix("**"), _reflected_operator("**")
    __matmul__, __rmatmul__ = _infix("@"), _reflected_operator("@")
    __and__, __rand__ = _infix("&"), _reflected_operator("&")
    __or__, __ror__ = _infix("|"), _reflected_operator("|")
    __xor__, __rxor__ = _infix("^"), _reflected_operator("^")
    __lt__, __le__, __gt__, __ge__ = _infix("<"), _infix("<="), _infix(">"), _infix(">=")
    __lshift__, __rlshift__ = _infix("<<"), _reflected_operator("<<")
    __rshift__, __rrshift__ = _infix(">>"), _reflected_operator(">>")

    def __invert__(self) -> Expr:
        return _operator("~", self)

    def __abs__(self) -> Expr:
        return _operator("abs", self)

    def __neg__(self) -> Expr:
        return _operator("unary -", self)

    def __bool__(self) -> bool:
        raise TypeError("a Relax expression has no truth value while the program is being built")

    def __iter__(self) -> Any:
        return fields_of(self)

    def __getitem__(self, index: int) -> Expr:
        return TupleGetItem(self, index)

    def __call__(self, *args: Any, attrs: Mapping[str, Any] | None = None) -> Call:
        return Call(self, args, as_attrs(attrs))

    def astype(self, dtype: str) -> Expr:
        """The elements converted to `dtype`, `R.astype(x, dtype)`."""
        result: Expr = hooks.apply_operator("astype", self, dtype)
        return result

    # numpy leaves `array + expr` to the expression.
    __array_ufunc__ = None


def _operator(symbol: str, *operands: Any) -> Expr:
    result: Expr = hooks.apply_operator(symbol, *operands)
    return result


def remember_struct_info(expr: Expr, struct_info: StructInfo) -> None:
    """Keep a derived StructInfo on its expression, so that it is derived once."""
    _set_struct_info(expr, struct_info)


_set_struct_info = Expr.__dict__["known_info"].__set__


def as_expr(value: Any) -> Expr:
    """A Relax expression from what a person wrote as an argument.

    Numbers and PrimExprs become PrimValues (int64, float64, bool), text a StringImm, tuples and
    lists a Tuple, arrays a Constant. Raises `TypeError` for anything else.
    """
    match value:
        case Expr():
            return value
        case bool():
            return PrimValue(as_prim(value))
        case float():
            return PrimValue(_float64(value))
        case PrimExpr() | int():
            return PrimValue(as_prim(value))
        case DataType():
            return DataTypeImm(value)
        case str():
            return StringImm(value)
        case tuple() | list():
            return Tuple(tuple(as_expr(v) for v in value))
        case np.ndarray() | np.generic():
            return Constant(np.asarray(value))
    raise TypeError(f"{value!r} is not a Relax expression")


def _float64(value: float) -> PrimExpr:
    return FloatImm(DataType("float64"), value)


def _exprs(values: Any) -> tuple[Expr, ...]:
    return tuple(as_expr(v) for v in values)


def _maybe_tuple(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, (list, tuple)) else () if given is None else (given,)


@node
class LeafExpr(Expr):
    """An expression that may be an operand in normal form."""

    __slots__ = ()


@node
class Constant(LeafExpr):
    """A tensor known at compile time; each evaluation gives a new tensor."""

    keeps_identity = True
    data: np.ndarray[Any, Any] = field(convert=constant_array)

    @property
    def dtype(self) -> DataType:
        return result_dtype(self.data)


@node
class Id(Node):
    """The identity of a variable, as TVM's `vid`."""


@node
class Var(LeafExpr):
    """A variable of a function or SeqExpr; one object is one variable, names are only hints."""

    keeps_identity = True
    name_hint: str
    struct_info: StructInfo = field(default=None)

    @property
    def name(self) -> str:
        return self.name_hint

    @property
    def vid(self) -> Var:
        """The identity of the variable, which is the variable itself; TVM has an `Id` for it."""
        return self

    @property
    def struct_info_annotation(self) -> StructInfo:
        return self.struct_info


@node
class DataflowVar(Var):
    """A variable that is visible in its dataflow block only."""

    __slots__ = ()


@node
class GlobalVar(LeafExpr):
    """The name of a function of the module; what is known of it is in the module.

    Asked for its StructInfo outside of any program, it is that in the module which gave it last.
    """

    keeps_identity = True
    name_hint: str
    __cached__ = ("known_module",)

    if TYPE_CHECKING:

        @property
        def known_module(self) -> ReferenceType[IRModule] | None: ...

    else:

        @property
        def struct_info(self):
            module = None if self.known_module is None else self.known_module()
            if module is None or self not in module:
                return hooks.struct_info_for_users(self)
            return module.struct_info(self)

    @property
    def name(self) -> str:
        return self.name_hint

    def __call__(self, *args: Any, attrs: Mapping[str, Any] | None = None) -> Any:
        """A call of the function; of scalars alone one that is in a PrimFunc.

        Its dtype is that of the declared result, where the function is declared, else "void".
        """
        if not args or attrs is not None or not all(map(_is_scalar, args)):
            return Call(self, args, as_attrs(attrs))
        result = getattr(self.known_info, "ret", None)
        return prim.Call(getattr(result, "dtype", DataType("void")), self, args)


# A module that has a GlobalVar, kept by a weak reference: names keep no module alive.
remember_module = GlobalVar.__dict__["known_module"].__set__


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (PrimExpr, int, float))


@node
class Tuple(LeafExpr):
    fields: tuple[Expr, ...] = field(convert=_exprs)
    field_spans: tuple[Span | None, ...] = field(default=(), place=True)

    def __len__(self) -> int:
        return len(self.fields)

    def __getitem__(self, index: int) -> Expr:
        found: Expr = _item(self.fields, index, "Tuple")
        return found

    def __iter__(self) -> Iterator[Expr]:
        return iter(self.fields)


_Item = TypeVar("_Item")


def _item(items: tuple[_Item, ...], index: int, holder: str) -> _Item:
    """An item of a node that is written by an index; TVM says it in these words."""
    try:
        return items[index]
    except IndexError:
        text = f"{holder} index out of range: it has {len(items)} items, and none of index {index}"
        raise IndexError(text) from None


@node
class PrimValue(LeafExpr):
    """A scalar; unlike a rank-0 tensor it is immutable."""

    value: PrimExpr = field(
        convert=lambda v: as_prim(v) if not isinstance(v, float) else _float64(v)
    )


@node
class StringImm(LeafExpr):
    value: str


@node
class DataTypeImm(LeafExpr):
    value: DataType = field(convert=DataType)


@node
class ShapeExpr(LeafExpr):
    """A shape; its dimensions may use the shape variables in scope."""

    values: tuple[PrimExpr, ...] = field(convert=lambda v: tuple(map(as_dimension, as_dims(v))))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> PrimExpr:  # type: ignore[override]
        found: PrimExpr = _item(self.values, index, "ShapeExpr")
        return found

    def __iter__(self) -> Iterator[PrimExpr]:
        return iter(self.values)


@node
class Op(Expr):
    """A built-in operator, for example `relax.add` or `tir.exp`; it is equal to its full name."""

    keeps_identity = True
    name: str

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Op):
            return self.name == other.name
        return self.name == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    get = staticmethod(op_attributes.op_named_by_users)
    get_attr, set_attr = op_attributes.get_attr, op_attributes.set_attr
    has_attr, reset_attr = op_attributes.has_attr, op_attributes.reset_attr

    @property
    def op_name(self) -> str:
        return self.name


@node
class ExternFunc(LeafExpr):
    """A PackedFunc by its registered name, looked up when evaluated."""

    global_symbol: str


@node
class TupleGetItem(Expr):
    """The field of a tuple at an index: `t[0]`."""

    tuple_value: Expr
    index: int
    value_span: Span | None = field(default=None, place=True)

    def _check(self) -> None:
        if self.index < 0:
            raise ValueError(f"`TupleGetItem.index` counts from 0; {self.index} is no field")


@node
class Call(Expr):
    """A call of an operator, a function of the module, a closure or a PackedFunc."""

    op: Expr
    args: tuple[Expr, ...] = field(convert=_exprs)
    attrs: Attrs | None = field(convert=as_attrs, default=None)
    sinfo_args: tuple[StructInfo, ...] = field(convert=_maybe_tuple, default=())
    arg_spans: tuple[Span | None, ...] = field(default=(), place=True)
    _check = require_callable


@node
class Binding(Node):
    """A variable and what it stands for."""

    __slots__ = ()

    if TYPE_CHECKING:
        var: Var
        value: Expr


@node
class VarBinding(Binding):
    """`var` is `value` from here on; a function may use the variable that it is bound to."""

    var: Var = field(definition=True)
    value: Expr = field(outer=True)


@node
class MatchCast(Binding):
    """Check a value at run time, binding new shape variables; None stands for a variable `_`."""

    var: Var = field(definition=True)
    value: Expr = field(outer=True)
    struct_info: StructInfo = field(definition=True)

    @staticmethod
    def _arrange(var: Any, value: Any, struct_info: Any) -> tuple[Any, ...]:
        return Var("_", struct_info) if var is None else var, value, struct_info


@node
class BindingBlock(Node):
    bindings: tuple[Binding, ...] = field(convert=tuple)


@node
class DataflowBlock(BindingBlock):
    """Bindings without side effects or control flow."""

    __slots__ = ()


@node
class SeqExpr(Expr):
    """Binding blocks in order, then a result."""

    blocks: tuple[BindingBlock, ...] = field(convert=tuple)
    body: Expr
    is_scope = True
    body_span: Span | None = field(default=None, place=True)


@node
class If(Expr):
    cond: Expr
    true_branch: Expr
    false_branch: Expr
    cond_span: Span | None = field(default=None, place=True)


@node
class BaseFunc(Expr):
    """A function of a module: a Relax Function, a PrimFunc or an ExternFunc."""

    __slots__, __cached__ = (), ("home",)
    graph = drawing.graph_of_function

    if TYPE_CHECKING:

        @property
        def attrs(self) -> Attrs: ...

        def __call__(
            self, *args: Any, attrs: Mapping[str, Any] | None = None, **named: Any
        ) -> Any: ...

    else:
        __call__ = calling.call

    def __bool__(self) -> bool:
        return True  # a function is no tensor whose truth one could mean

    @property
    def metadata(self) -> dict[str, Any]:
        """The constants that the script without `show_meta` refers to, as plain data."""
        found: dict[str, Any] = hooks.metadata_of(self)
        return found

    def with_attr(self, attr_key_or_dict: str | Mapping[str, Any], attr_value: Any = None) -> Any:
        """A copy with one attribute more, or several from a mapping."""
        key = attr_key_or_dict
        extra = {key: attr_value} if isinstance(key, str) else dict(key)
        return self.replace(attrs=Attrs(self.attrs, **extra))

    def with_attrs(self, attr_map: Mapping[str, Any]) -> Any:
        """A copy with these attributes more."""
        return self.replace(attrs=Attrs(self.attrs, **dict(attr_map)))

    def without_attr(self, attr_key: str) -> Any:
        return self.replace(attrs=self.attrs.without(attr_key))


@node
class Function(BaseFunc):
    """A function of Relax values; evaluates to a closure.

    `ret_struct_info` is None while nothing was declared and nothing derived.
    """

    params: tuple[Var, ...] = field(convert=tuple, definition=True)
    body: Expr
    ret_struct_info: StructInfo | None = None
    is_pure: bool = True
    attrs: Attrs = field(convert=own_attrs, default=None)
    ret_span: Span | None = field(default=None, place=True)
    is_scope = True
    # What `walk.compounds` finds inside: most passes ask, and most have nothing to do then.
    __cached__ = ("known_compounds",)

    if TYPE_CHECKING:

        @property
        def known_compounds(self) -> tuple[Node, ...] | None: ...

    def _check(self) -> None:
        for var in self.params:
            if var.struct_info is None:
                raise TypeError(
                    f"`Function.params`: nothing is known of the parameter `{var.name_hint}`; "
                    "give it a struct_info"
                )

    @property
    def is_private(self) -> bool:
        """True if it has no `global_symbol`, so only its module can call it."""
        return "global_symbol" not in self.attrs

    bind_params = function_methods.bind_params
    bind_symbolic_vars = function_methods.bind_symbolic_vars
    inline_functions = function_methods.inline_functions
    create_empty = staticmethod(function_methods.create_empty)


remember_compounds = Function.__dict__["known_compounds"].__set__
