"""Patterns of Relax expressions, by TVM's names: frozen data, compared by identity.

One object is one thing: where a pattern occurs twice inside of another, both places must match the
same value. `repr` reads like the constructors in `constructors.py`. What matches is decided in
`matcher.py`; a pattern that can match nothing is refused when it is made (`possible.py`).

Source: TVM `relax.dpl`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from typing_extensions import Self, dataclass_transform

from relaxscript.dtypes import DataType
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import PrimExpr, as_dimension, as_dims
from relaxscript.ir.relax import Attrs, BaseFunc, Expr, Function, Op, Var, as_attrs
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.types import Type

from . import possible
from .arithmetic import infix, prefix, reflected
from .constraints import Link, current_constraints, pattern_error

if TYPE_CHECKING:
    from .possible import Possible
    from .sequence import PatternSeq, SameShapeConstraint

__all__ = [
    "AndPattern",
    "AttrPattern",
    "CallPattern",
    "ConstantPattern",
    "DFPattern",
    "DataTypePattern",
    "DataflowVarPattern",
    "ExprPattern",
    "ExternFuncPattern",
    "FunctionPattern",
    "GlobalVarPattern",
    "NotPattern",
    "OrPattern",
    "PrimArrPattern",
    "ShapePattern",
    "StructInfoPattern",
    "TupleGetItemPattern",
    "TuplePattern",
    "TypePattern",
    "UnorderedTuplePattern",
    "VarPattern",
    "WildcardPattern",
    "require_pattern",
    "require_patterns",
]

_set = object.__setattr__
P = TypeVar("P", bound=type)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def _pattern(cls: P) -> P:
    """Make a frozen class of patterns; mistakes in its constructor are not its own."""
    made: Any = dataclass(frozen=True, eq=False, slots=True, repr=False)(cls)
    constructor = made.__init__
    constructor.__code__ = constructor.__code__.replace(co_filename=f"{__file__}, constructor")
    return made  # type: ignore[no-any-return]


def require_pattern(value: Any, where: str) -> DFPattern:
    """The value, which is a pattern; anything else is refused by the name of its place."""
    if isinstance(value, DFPattern):
        return value
    if isinstance(value, (BaseFunc, IRModule)):
        # As a rule arguments in another order, and their scripts would hide it.
        help = "give the pattern here, such as `is_op(...)(...)`"
        noun = "a module" if isinstance(value, IRModule) else "a function"
        raise pattern_error(f"{where} is no pattern: it is {noun}", help)
    meant = f"write `is_expr({value!r})`" if isinstance(value, Expr) else None
    raise pattern_error(
        f"{where} is no pattern: `{value!r}`",
        meant or "write `wildcard()` for anything, `is_const()` for a constant",
    )


def require_patterns(values: Any, where: str) -> tuple[DFPattern, ...]:
    """The values, which are patterns; each is named by its place and index."""
    if isinstance(values, DFPattern) or not isinstance(values, Sequence):
        raise pattern_error(
            f"the {where}s are a list of patterns, not `{values!r}`",
            "write them in brackets: `[wildcard(), is_const()]`",
        )
    return tuple(require_pattern(v, f"the {where} {i}") for i, v in enumerate(values))


def _sizes(shape: Any, where: str) -> tuple[PrimExpr, ...]:
    if isinstance(shape, (str, PrimExpr)) or not isinstance(shape, Sequence):
        raise pattern_error(
            f"`{where}` takes a list or tuple of dimensions, not `{shape!r}`",
            f"write for example `{where}((2, 3))`",
        )
    for dim in shape:
        if isinstance(dim, str):
            raise pattern_error(
                f'`{where}` would make a new variable of "{dim}", which equals no dimension',
                f"give the variable itself: `{where}(({dim}, 4))`",
            )
    try:
        return tuple(map(as_dimension, as_dims(shape)))
    except TypeError as error:
        raise pattern_error(f"`{where}` takes a list or tuple of dimensions: {error}") from None


class DFPattern:
    """A pattern of Relax expressions, the base of all."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def possible(self) -> Possible: ...

    def __call__(
        self, *args: DFPattern, varg_default_wildcard: bool = False, add_constraint: bool = True
    ) -> CallPattern:
        """The pattern of a call of what this pattern matches."""
        return CallPattern(self, args, varg_default_wildcard, add_constraint)

    def __or__(self, other: DFPattern) -> OrPattern:
        return OrPattern(self, other)

    def __and__(self, other: DFPattern) -> AndPattern:
        return AndPattern(self, other)

    def __invert__(self) -> NotPattern:
        return NotPattern(self)

    def __xor__(self, other: DFPattern | PatternSeq) -> PatternSeq:
        return self.used_by(other)

    def __rshift__(self, other: DFPattern | PatternSeq) -> PatternSeq:
        return self.only_used_by(other)

    __add__, __radd__ = infix("+"), reflected("+")
    __sub__, __rsub__ = infix("-"), reflected("-")
    __mul__, __rmul__ = infix("*"), reflected("*")
    __truediv__, __rtruediv__ = infix("/"), reflected("/")
    __floordiv__, __rfloordiv__ = infix("//"), reflected("//")
    __mod__, __rmod__ = infix("%"), reflected("%")
    __pow__, __rpow__ = infix("**"), reflected("**")
    __matmul__, __rmatmul__ = infix("@"), reflected("@")
    __lt__, __le__, __gt__, __ge__ = infix("<"), infix("<="), infix(">"), infix(">=")
    __neg__, __abs__ = prefix("unary -"), prefix("abs")

    def __bool__(self) -> bool:
        return True

    def has_attr(self, attrs: Mapping[str, Any]) -> AttrPattern:
        """This pattern, of calls or functions that have these attributes, and maybe more."""
        return AttrPattern(self, attrs)

    def has_struct_info(self, struct_info: StructInfo) -> StructInfoPattern:
        """This pattern, of values that are sure to be described by `struct_info`."""
        return StructInfoPattern(self, struct_info)

    def has_type(self, ttype: Type) -> TypePattern:
        """This pattern, of values whose static type is `ttype`."""
        return TypePattern(self, ttype)

    def has_dtype(self, dtype: str | DataType) -> DataTypePattern:
        """This pattern, of tensors and scalars of a dtype."""
        return DataTypePattern(self, dtype)  # type: ignore[arg-type]

    def has_shape(self, shape: Sequence[PrimExpr | int]) -> ShapePattern:
        """This pattern, of tensors that are sure to have a shape."""
        return ShapePattern(self, shape)  # type: ignore[arg-type]

    def match(self, expr: Expr, var2val: Mapping[Var, Expr] | None = None) -> bool:
        """True if an expression matches.

        A variable is looked at as the value that `var2val` has for it: `get_var2val(func)` of
        `relax.analysis` has those of a function. Cost: the size of the pattern, and all choices
        among `|`, swapped arguments and unordered tuples where they fail.
        """
        from .matcher import match_expr

        return match_expr(self, expr, var2val) is not None

    def extract_matched_expr(
        self, expr: Expr, var2val: Mapping[Var, Expr] | None = None
    ) -> dict[DFPattern, Expr] | None:
        """The expression that each part of the pattern matches, or None where nothing does.

        Of a variable that `var2val` knows it is the value.
        """
        from .matcher import match_expr

        found = match_expr(self, expr, var2val)
        return None if found is None else found.values()

    def used_by(self, other: DFPattern | PatternSeq, index: int = -1) -> PatternSeq:
        """Say that another uses what this matches, as its argument `index`; -1 is any.

        Raises `DiagnosticError` outside of a `PatternContext`.
        """
        from .sequence import PatternSeq

        return PatternSeq([self]).used_by(other, index)

    def only_used_by(self, other: DFPattern | PatternSeq, index: int = -1) -> PatternSeq:
        """Say that another uses what this matches, and nobody else does."""
        from .sequence import PatternSeq

        return PatternSeq([self]).only_used_by(other, index)

    def dup(self) -> Self:
        """Another pattern of the same parts, which may match something else."""
        made = object.__new__(type(self))
        for info in fields(self):  # type: ignore[arg-type]
            _set(made, info.name, getattr(self, info.name))
        return made

    def fork_to(self, *args: DFPattern) -> None:
        """Say that each of several patterns uses what this matches."""
        for other in args:
            self.used_by(other)

    def same_shape_as(self, *args: DFPattern) -> SameShapeConstraint:
        """Say that others match what has the same shape as this."""
        from .sequence import SameShapeConstraint

        return SameShapeConstraint(self, *args)

    def __repr__(self) -> str:
        from .format import format_pattern

        return format_pattern(self)


_possible = field(init=False, compare=False)


@_pattern
class ExprPattern(DFPattern):
    """One expression: itself as a variable, anything else by structure."""

    expr: Expr
    possible: Possible = _possible

    def __post_init__(self) -> None:
        if not isinstance(self.expr, Expr):
            raise pattern_error(
                f"`is_expr` takes an expression, not `{self.expr!r}`",
                "write for example `is_expr(relax.const(1))`",
            )
        _set(self, "possible", possible.of_expr(self.expr))


@_pattern
class VarPattern(DFPattern):
    """A variable that stands for itself: no value of it is known. "" is any name."""

    name_hint: str = ""
    possible: Possible = _possible

    def __post_init__(self) -> None:
        _set(self, "possible", possible.VARIABLE)


@_pattern
class DataflowVarPattern(VarPattern):
    """A variable of a dataflow block; "" is any name."""


@_pattern
class GlobalVarPattern(DFPattern):
    """A function of the module; "" is any name."""

    name_hint: str = ""
    possible: Possible = _possible

    def __post_init__(self) -> None:
        _set(self, "possible", possible.GLOBAL_VAR)


@_pattern
class ExternFuncPattern(DFPattern):
    """A packed function by its registered name; "" is any."""

    global_symbol: str = ""
    possible: Possible = _possible

    def __post_init__(self) -> None:
        _set(self, "possible", possible.EXTERN_FUNC)


@_pattern
class ConstantPattern(DFPattern):
    """Any constant tensor."""

    possible: Possible = _possible

    def __post_init__(self) -> None:
        _set(self, "possible", possible.CONSTANT)


@_pattern
class WildcardPattern(DFPattern):
    """Anything."""

    possible: Possible = _possible

    def __post_init__(self) -> None:
        _set(self, "possible", possible.ANYTHING)


@_pattern
class CallPattern(DFPattern):
    """A call, argument by argument; those of `R.add` and `R.multiply` in either order.

    With `varg_default_wildcard` a call may have more arguments. In a context the call is said to
    use what the arguments match, unless `add_constraint` is False.
    """

    op: DFPattern
    args: Sequence[DFPattern]
    varg_default_wildcard: bool = False
    add_constraint: InitVar[bool] = True
    possible: Possible = _possible
    # The name of the operator, where one is called.
    operator: str | None = field(init=False, compare=False)

    def __post_init__(self, add_constraint: bool) -> None:
        require_pattern(self.op, "what is called")
        _set(self, "args", require_patterns(self.args, "argument"))
        callee = self.op.expr if isinstance(self.op, ExprPattern) else None
        _set(self, "operator", callee.name if isinstance(callee, Op) else None)
        _set(self, "possible", possible.of_call(self))
        context = current_constraints()
        if add_constraint and context is not None:
            context.add_part(self)
            for index, arg in enumerate(self.args):
                context.add_link(Link(arg, self, index, by_call=True))


@_pattern
class FunctionPattern(DFPattern):
    """A function: its parameters, any where they are None, and its result."""

    params: Sequence[DFPattern] | None
    body: DFPattern
    possible: Possible = _possible

    def __post_init__(self) -> None:
        if self.params is not None:
            _set(self, "params", require_patterns(self.params, "parameter"))
        require_pattern(self.body, "the body")
        _set(self, "possible", possible.of_kind(Function))


@_pattern
class TuplePattern(DFPattern):
    """A tuple, field by field."""

    fields: Sequence[DFPattern]
    possible: Possible = _possible

    def __post_init__(self) -> None:
        _set(self, "fields", require_patterns(self.fields, "field"))
        _set(self, "possible", possible.of_tuple(len(self.fields)))

    def __getitem__(self, index: int | None) -> TupleGetItemPattern:
        """The pattern of a field of the tuple; None is any."""
        if index is not None and not -len(self) <= index < len(self):
            raise IndexError(f"the tuple pattern has {len(self)} fields, so none at {index}")
        return TupleGetItemPattern(self, None if index is None else index % len(self))

    def __len__(self) -> int:
        return len(self.fields)


@_pattern
class UnorderedTuplePattern(DFPattern):
    """A tuple whose fields match in some order; all orders are tried where none does."""

    fields: Sequence[DFPattern]
    possible: Possible = _possible

    def __post_init__(self) -> None:
        _set(self, "fields", require_patterns(self.fields, "field"))
        _set(self, "possible", possible.of_tuple(len(self.fields)))

    def __len__(self) -> int:
        return len(self.fields)


@_pattern
class TupleGetItemPattern(DFPattern):
    """The field of a tuple at an index; None is any."""

    tuple_value: DFPattern
    index: int | None = None
    possible: Possible = _possible

    def __post_init__(self) -> None:
        require_pattern(self.tuple_value, "the tuple")
        if self.index == -1:  # as TVM says "any"
            _set(self, "index", None)
        _set(self, "possible", possible.of_item(self))


@_pattern
class OrPattern(DFPattern):
    """Everything that one of two patterns matches; the left one is tried first."""

    left: DFPattern
    right: DFPattern
    possible: Possible = _possible

    def __post_init__(self) -> None:
        require_pattern(self.left, "the left side of `|`")
        require_pattern(self.right, "the right side of `|`")
        _set(self, "possible", possible.of_either(self))


@_pattern
class AndPattern(DFPattern):
    """Everything that both of two patterns match."""

    left: DFPattern
    right: DFPattern
    possible: Possible = _possible

    def __post_init__(self) -> None:
        require_pattern(self.left, "the left side of `&`")
        require_pattern(self.right, "the right side of `&`")
        _set(self, "possible", possible.of_both(self))


@_pattern
class NotPattern(DFPattern):
    """Everything that a pattern does not match."""

    to_reject: DFPattern
    possible: Possible = _possible

    def __post_init__(self) -> None:
        require_pattern(self.to_reject, "what is rejected")
        _set(self, "possible", possible.of_rejection(self))


@_pattern
class StructInfoPattern(DFPattern):
    """Matches of a pattern that a StructInfo is sure to describe."""

    pattern: DFPattern
    struct_info: StructInfo
    possible: Possible = _possible

    def __post_init__(self) -> None:
        require_pattern(self.pattern, "what `has_struct_info` narrows")
        if not isinstance(self.struct_info, StructInfo):
            raise pattern_error(
                f"`has_struct_info` takes a StructInfo, not `{self.struct_info!r}`",
                'write for example `has_struct_info(TensorStructInfo((2, 3), "float32"))`',
            )
        _set(self, "possible", possible.with_info(self.pattern, self.struct_info))


@_pattern
class TypePattern(DFPattern):
    """Matches of a pattern that have a static type."""

    pattern: DFPattern
    ttype: Type
    possible: Possible = _possible

    def __post_init__(self) -> None:
        require_pattern(self.pattern, "what `has_type` narrows")
        if not isinstance(self.ttype, Type):
            raise pattern_error(
                f"`has_type` takes a type, not `{self.ttype!r}`",
                'write for example `has_type(TensorType(2, "float32"))`',
            )
        _set(self, "possible", self.pattern.possible)


@_pattern
class DataTypePattern(DFPattern):
    """Matches of a pattern that have a dtype."""

    pattern: DFPattern
    dtype: DataType
    possible: Possible = _possible

    def __post_init__(self) -> None:
        require_pattern(self.pattern, "what `has_dtype` narrows")
        try:
            _set(self, "dtype", DataType(self.dtype))
        except (TypeError, ValueError) as error:
            raise pattern_error(str(error), 'write for example `has_dtype("float32")`') from None
        _set(self, "possible", possible.with_dtype(self.pattern, self.dtype))


@_pattern
class ShapePattern(DFPattern):
    """Matches of a pattern that are sure to be tensors of a shape."""

    pattern: DFPattern
    shape: tuple[PrimExpr, ...]
    possible: Possible = _possible

    def __post_init__(self) -> None:
        require_pattern(self.pattern, "what `has_shape` narrows")
        _set(self, "shape", _sizes(self.shape, "has_shape"))
        _set(self, "possible", possible.with_shape(self.pattern, self.shape))


@_pattern
class PrimArrPattern(DFPattern):
    """A shape as a value, of these dimensions."""

    shape: tuple[PrimExpr, ...]
    possible: Possible = _possible

    def __post_init__(self) -> None:
        _set(self, "shape", _sizes(self.shape, "is_shape"))
        _set(self, "possible", possible.SHAPE)

    def __getitem__(self, index: int) -> PrimExpr:
        return self.shape[index]

    def __len__(self) -> int:
        return len(self.shape)


@_pattern
class AttrPattern(DFPattern):
    """Matches of a pattern that are calls or functions with some attributes."""

    pattern: DFPattern
    attrs: Mapping[str, Any]
    possible: Possible = _possible

    def __post_init__(self) -> None:
        require_pattern(self.pattern, "what `has_attr` narrows")
        try:
            attrs = as_attrs(self.attrs) or Attrs()
        except (TypeError, ValueError) as error:
            raise pattern_error(str(error), 'write for example `has_attr({"axis": 1})`') from None
        _set(self, "attrs", attrs)
        _set(self, "possible", possible.with_attrs(self.pattern, attrs))
