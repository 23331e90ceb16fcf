"""Arguments and results of functions: as Relax has them, and as Python code sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from relaxscript.builder import BlockBuilder
from relaxscript.builder.normal_form import info_behind_block
from relaxscript.dtypes import DataType
from relaxscript.ir.field_types import brief
from relaxscript.ir.prim import Var as ShapeVar
from relaxscript.ir.relax import DataflowVar, Expr, Tuple as TupleExpr, TupleGetItem, Var
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    ShapeStructInfo,
    StructInfo,
    TupleStructInfo,
)
from relaxscript.ir.walk import Substitution

from . import spec as specs
from .shapes import Dim
from .tensor import Object, Tensor, tensor_info
from .trace import bind_value, model_error

__all__ = ["ShapeVars", "info_of", "leave_block", "returned", "value_of"]

INT64 = DataType("int64")


class ShapeVars:
    """The shape variables of one function, by their names; `spec` is what the user calls so."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._vars: dict[str, ShapeVar] = {}
        self._taken = {*spec, *_named_dims(spec.values())}
        self._elements: dict[tuple[str, int], str] = {}

    def element(self, name: str, place: int) -> str:
        """The name of an element of a tuple of this name, which nothing of the user's has."""
        found = self._elements.get((name, place))
        if found is None:
            found = f"{name}_{place}"
            while found in self._taken:
                found += "_"
            self._taken.add(found)
            self._elements[name, place] = found
        return found

    def dims(self, shape: Sequence[Dim]) -> tuple[Any, ...]:
        """A shape, with variables for its names."""
        return tuple([self[dim] if isinstance(dim, str) else dim for dim in shape])

    def __getitem__(self, name: str) -> ShapeVar:
        if name not in self._vars:
            self._vars[name] = ShapeVar.make(name, INT64)
        return self._vars[name]


def _named_dims(described: Iterable[Any]) -> Iterator[str]:
    """The names of shape variables in specs."""
    for spec in described:
        match spec:
            case specs.Tensor(shape=shape):
                yield from (dim for dim in shape if isinstance(dim, str))
            case specs.Tuple(elements=elements):
                yield from _named_dims(elements)


def info_of(spec: Any, name: str, shapes: ShapeVars) -> StructInfo:
    """The StructInfo of an argument in the function."""
    match spec:
        case specs.Int():
            return ShapeStructInfo((shapes[name],))
        case specs.Tensor(shape=shape, dtype=dtype):
            return tensor_info(shapes.dims(shape), dtype)
        case specs.Tuple(elements=elements):
            parts = enumerate(elements)
            infos = [info_of(e, shapes.element(name, k), shapes) for k, e in parts]
            return TupleStructInfo(tuple(infos))
    return ObjectStructInfo()


def value_of(spec: Any, expr: Expr, shapes: ShapeVars, name: str) -> Any:
    """An argument as the method gets it; the fields of a tuple are bound."""
    match spec:
        case specs.Int():
            return shapes[name]
        case specs.Object(object_type=kind):
            return kind(_expr=expr, _name=name)
        case specs.Tuple(elements=elements):
            fields = []
            for k, element in enumerate(elements):
                part = shapes.element(name, k)
                item: Expr = TupleGetItem.make(expr, k)
                if not isinstance(element, specs.Int):
                    item = bind_value(item, part)
                fields.append(value_of(element, item, shapes, part))
            return type(elements)(fields)
    return Tensor(_expr=expr)


def returned(value: Any, method: Callable[..., Any], part: str = "") -> Expr:
    """The expression of a method's result.

    Raises `DiagnosticError` (RX0711) for what is neither a tensor, an object, nor a tuple of these.
    """
    match value:
        case Tensor() | Object():
            return value._expr
        case tuple() | list():
            fields = enumerate(value)
            parts = [returned(item, method, f"{part}[{k}]") for k, item in fields]
            return TupleExpr(tuple(parts))
    name = getattr(method, "__name__", "the method")
    where = f"the field {part} of what `{name}` returns" if part else f"what `{name}` returns"
    code = getattr(method, "__code__", None)
    notes = (f"it is defined in {code.co_filename}:{code.co_firstlineno}",) if code else ()
    raise model_error(
        f"{where} is {brief(value)}, which is no tensor",
        help="return a tensor, an `nn.Object`, or a tuple or list of them", notes=notes,
    )  # fmt: skip


def leave_block(builder: BlockBuilder, value: Expr) -> Expr:
    """A value as it is after the dataflow block that is open: its variables outlive the block."""
    inside = dict.fromkeys(_block_variables(value))
    if not inside:
        return value
    left: dict[Var, Var] = {
        var: Var.make(var.name_hint, info_behind_block(var.struct_info), span=var.span)
        for var in inside
    }
    outer, scope = Substitution(left), builder.current_scope
    # None is used before it is bound, and most often it is the last one.
    first = next(k for k, binding in enumerate(scope.bindings) if binding.var in left)
    scope.bindings[first:] = map(outer.apply, scope.bindings[first:])
    scope.vars = [left.get(var, var) for var in scope.vars]
    return outer.apply(value)


def _block_variables(value: Expr) -> list[Var]:
    match value:
        case DataflowVar():
            return [value]
        case TupleExpr(fields):
            return [var for field in fields for var in _block_variables(field)]
    return []
