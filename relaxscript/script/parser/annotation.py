"""Parsing annotations: StructInfo as the user wrote it, with a place on every dimension.

    annotation = front | front "(" arguments ")" | front "[" arguments "]" | "None" | string
    dimension  = integer | name | string | arithmetic of dimensions

Annotations are read from the syntax tree, never from `__annotations__`. A string dimension names a
shape variable; in the annotation of a parameter it may introduce one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager
from keyword import iskeyword
from typing import Any, TypeGuard, TypeVar

from relaxscript.dtypes import DataType, is_dtype
from relaxscript.errors import Source, Span, did_you_mean
from relaxscript.ir.module import VDevice
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, IntImm, PrimExpr, Var as PrimVar, as_dimension
from relaxscript.ir.relax import BaseFunc, Constant, Expr, ShapeExpr, Var
from relaxscript.ir.struct_info import PrimStructInfo, ShapeStructInfo, StructInfo, TensorStructInfo
from relaxscript.ir.walk import free_vars, substitute
from relaxscript.op.parameters import DTYPES
from relaxscript.script.annotations import (
    ANNOTATED_HELP,
    AnnotationError,
    Front,
    Prim,
    Shape,
    Tensor,
    as_struct_info,
    is_element,
    listed,
)

from .abbreviated import written_out
from .annotation_help import a_shape, arranged, joined, no_extent, other_than_int64, unknown_extent
from .base import UNKNOWN, Failed, Reporter
from .bracketed import callable_call, prim_call, shape_call, typed_call
from .context import ModuleContext
from .corrections import in_parentheses
from .dimensions import dimension_names
from .environment import Environment
from .repeated import RepeatedAnnotations
from .several_annotations import SeveralAnnotations

__all__ = ["AnnotationParser"]


N = TypeVar("N", bound=Node)

# The criterion that an unbound dimension breaks, by where it stands.
UNBOUND = {"Tensor": "RX0314", "Shape": "RX0315", "Prim": "RX0316"}


class AnnotationParser(SeveralAnnotations):
    """Adds annotations to expressions; `dims` holds the shape variables in scope by name."""

    def __init__(
        self, source: Source, environment: Environment, reporter: Reporter, module: ModuleContext
    ) -> None:
        super().__init__(source, environment, reporter)
        self.module = module
        # Whether mistakes are looked for that a program made by hand could have as well.
        self.check_well_formed = module.check_well_formed
        self.dims: dict[str, PrimVar] = {}
        self._own: dict[PrimVar, PrimVar] = {}
        self._other_dtypes: set[PrimVar] = set()
        self.introduces = False
        self.binding = 0
        self.in_function_type = False
        self.names_dims = False
        self._inside_string: ast.expr | None = None
        self.unbound_code = "RX0305"
        self.repeated = RepeatedAnnotations(self)
        # Where variables were annotated that have their StructInfo from elsewhere.
        self.annotated: dict[Var, ast.expr] = {}

    def span(self, node: ast.AST) -> Span | None:
        # A dimension inside a string has no place of its own: the whole string is blamed.
        return self.source.span(self._inside_string or node)

    @contextmanager
    def introducing(self) -> Iterator[None]:
        """New names are new dimensions inside, as in the annotations of parameters."""
        outer, self.introduces = self.introduces, True
        try:
            with self.unbound_dimensions():
                yield
        finally:
            self.introduces = outer

    @contextmanager
    def naming(self) -> Iterator[None]:
        """A name that means nothing yet is a dimension inside, without quotes."""
        outer, self.names_dims = self.names_dims, True
        try:
            yield
        finally:
            self.names_dims = outer

    @contextmanager
    def unbound_dimensions(self) -> Iterator[None]:
        """Dimensions that have no value yet may be named inside: this is where they get one."""
        self.binding += 1
        try:
            yield
        finally:
            self.binding -= 1

    def undefined(self, node: ast.Name) -> Failed:
        if self._inside_string is None or node.id not in DTYPES:
            return super().undefined(node)
        return self.error(
            node, "RX0108", f'"{node.id}" is a data type, and no annotation',
            help=f'write for example `R.Tensor((2, 3), "{node.id}")`',
        )  # fmt: skip

    def known_names(self) -> list[str]:
        return [*super().known_names(), *self.dims]

    def attribute_of(self, owner: Any, node: ast.Attribute) -> Any:
        if isinstance(owner, PrimExpr) and not hasattr(owner, node.attr):
            written = ast.unparse(node.value)
            message = f"`{written}` is a dimension and has no attribute `{node.attr}`"
            raise self.error(node, "RX0102", message)
        return super().attribute_of(owner, node)

    def is_bound(self, var: PrimVar) -> bool:
        """Whether a shape variable has a value here."""
        return True

    def check_bound_here(self, var: PrimVar, node: ast.expr) -> None:
        """Criterion 5: a dimension is used only after it was bound."""
        if self.binding or self.is_bound(var) or not self.check_well_formed:
            return
        raise self.error(
            node, self.unbound_code, f"the dimension `{var.name}` is used before it is bound",
            help="bind it first: let it stand alone in a parameter or in an `R.match_cast`",
        )  # fmt: skip

    def name(self, node: ast.Name) -> Any:
        # The commonest expression: what the base class does stands here once more.
        found = self.names.get(node.id, self)
        if self._inside_string is not None:
            found = self.dims.get(node.id, found)
        if found is self:
            found = self.find_name(node)
        if found is UNKNOWN:
            raise Failed
        if isinstance(found, PrimVar):
            self.check_bound_here(found, node)
        return found

    def annotation(self, node: ast.expr) -> StructInfo:
        """The StructInfo that an annotation means; raises `Failed` after recording a mistake."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.quoted(node)
        node = written_out(node, self.source.lines)
        shape = a_shape(node)
        if shape is not None:
            written = self.written(node)
            raise self.error(
                node, "RX0108", f"`{written}` is a shape, and no annotation",
                help=f"write `{shape}`", fix=shape,
            )  # fmt: skip
        value = self.value(node)
        return self.struct_info_of(value, node)

    def struct_info_of(self, value: Any, node: ast.expr) -> StructInfo:
        """A value that stands as an annotation, with the place of the annotation."""
        try:
            info = as_struct_info(value)
        except AnnotationError as error:
            raise self.no_annotation(error, value, node) from None
        return info if info.span is not None else info.replace(span=self.span(node))

    def no_annotation(self, error: AnnotationError, value: Any, node: ast.expr) -> Failed:
        """Record a value that is no annotation; what has parts is called as it is written."""
        if not isinstance(node, ast.Call):
            return self.error(node, "RX0108", error.message, help=error.help, fix=error.fix)
        written, fix = self.written(node), error.fix
        help = error.help
        if re.match(r"T\.Buffer\b", written):
            fix = f"R.Tensor{written.removeprefix('T.Buffer')}"
            help = f"write `{fix}`"
        return self.error(node, "RX0108", f"`{written}` is not an annotation", help=help, fix=fix)

    def quoted(self, node: ast.Constant) -> StructInfo:
        """An annotation in quotes, `x: "R.Tensor((n, 4))"`."""
        inner = self._parsed_string(node)
        outer, self._inside_string = self._inside_string, node
        try:
            return self.annotation(inner)
        finally:
            self._inside_string = outer

    def _parsed_string(self, node: ast.Constant) -> ast.expr:
        try:
            inner = ast.parse(str(node.value).strip(), mode="eval").body
        except (SyntaxError, ValueError):
            text = str(node.value).strip()
            if iskeyword(text):
                message, written = f'"{text}" is a word of Python, and no name', f'"{text}_"'
                raise self.error(
                    node, "RX0108", message, help=f"write `{written}`", fix=written
                ) from None
            help = unknown_extent if "?" in text else None
            message = f'"{node.value!s}" is not an expression'
            raise self.error(node, "RX0108", message, help=help) from None
        except (RecursionError, MemoryError):
            raise self.error(node, "RX0108", "this is nested too deeply") from None
        # What stands in a string has no place of its own: the whole string is blamed.
        for part in ast.walk(inner):
            ast.copy_location(part, node)
        return inner

    def front_call(self, front: Front, node: ast.Call) -> StructInfo:
        """`R.Tensor((n, 4), "float32")`, each mistake blamed on its own argument."""
        if front.name == "Callable":
            # The dimensions of a function type are its own, and those around it.
            known, inside = dict(self.dims), self.in_function_type
            self.in_function_type = True
            try:
                with self.introducing():
                    return self._front_call(front, node)
            finally:
                self.dims, self.in_function_type = known, inside
        outer, self.unbound_code = self.unbound_code, UNBOUND.get(front.name, "RX0305")
        try:
            return self._front_call(front, node)
        finally:
            self.unbound_code = outer

    def _front_call(self, front: Front, node: ast.Call) -> StructInfo:
        return self._plain_tensor(front, node) or self._any_front_call(front, node)

    def _plain_tensor(self, front: Front, node: ast.Call) -> StructInfo | None:
        """`R.Tensor((n, 4), "float32")`, which most annotations are, without detours."""
        if front is not Tensor or node.keywords or len(node.args) != 2:
            return None
        shape, dtype = node.args
        if type(shape) is not ast.Tuple or type(dtype) is not ast.Constant:
            return None
        if type(dtype.value) is not str or not is_dtype(dtype.value):
            return None
        element = DataType(dtype.value)
        if not element.in_relax or any(type(dim) is ast.Starred for dim in shape.elts):
            return None
        dims = tuple(self.dimensions(shape.elts))
        return TensorStructInfo.make(
            ShapeExpr.make(dims), element, None, len(dims), span=self.span(node)
        )

    def _any_front_call(self, front: Front, node: ast.Call) -> StructInfo:
        places: dict[str, ast.expr] = dict(zip(front.parameters, node.args))
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        failed: Failed | None = None
        for argument in node.args:
            name = front.parameters[len(args)] if len(args) < len(front.parameters) else ""
            try:
                if not isinstance(argument, ast.Starred):
                    args.append(self.front_argument(front, name, argument))
                elif front.variadic:
                    args += self.unpacked_annotations(argument.value)
                else:
                    args += self.host_iterable(argument.value)
            except Failed as failure:
                failed = failure
        for keyword in node.keywords:
            name = keyword.arg or ""
            places[name] = keyword.value
            if name and name not in front.parameters:
                takes = f"it takes {listed(front.parameters)}" if front.parameters else None
                failed = self.unknown_keyword(node, name, front.parameters, takes, code="RX0108")
                continue
            try:
                kwargs[name] = self.front_argument(front, name, keyword.value)
            except Failed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return self._built(front, args, kwargs, places, node)

    def front_subscript(self, front: Front, node: ast.Subscript) -> StructInfo:
        """`R.Tensor[R.f32, n, 4]`, or `R.Tensor[(n, 4), "float32"]`, the older spelling."""
        items = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        with self.naming():
            if front.name == "Annotated":
                return self.with_added(node, items)
            return self.front_call(front, self.bracketed(front, items, node))

    def bracketed(self, front: Front, items: list[ast.expr], node: ast.Subscript) -> ast.Call:
        """An annotation in brackets as the call that means the same."""
        known: ast.Call | None = None
        if front.name == "Tensor" and items and self._is_element(items[0]):
            known = typed_call(node, items, self.meaning)
        elif front.name == "Shape":
            known = shape_call(node, items, self.meaning)
        elif front.name == "Callable":
            known = callable_call(node, items)
        elif front.name == "Tensor" and (not items or self._is_dimension(items[0])):
            items = [node.slice]
        as_call = known or ast.Call(func=node.value, args=items, keywords=[])
        return ast.copy_location(as_call, node)

    def with_added(self, node: ast.Subscript, items: list[ast.expr]) -> StructInfo:
        """`R.Annotated[R.Shape, n, 4]`, `R.Annotated[R.Prim[R.i64], n]`."""
        if len(items) < 2:
            raise self.error(
                node, "RX0108", f"`{ast.unparse(node)}` adds nothing", help=ANNOTATED_HELP
            )
        base, *more = items
        match self.annotation(base):
            case ShapeStructInfo(values=None, ndim=-1):
                return self.front_call(Shape, shape_call(node, more, self.meaning))
            case PrimStructInfo(value=None, dtype=dtype) if len(more) == 1:
                return self.front_call(Prim, prim_call(node, dtype, more[0]))
        message = f"this cannot be added to `{ast.unparse(base)}`"
        raise self.error(more[0], "RX0108", message, help=ANNOTATED_HELP)

    def meaning(self, node: ast.expr) -> Any:
        """What a name stands for, None where it has no value or it is no name."""
        if not isinstance(node, ast.Name):
            return None
        found = self.names.get(node.id)
        return self.environment.value_of(node.id) if found is None else found

    def _is_element(self, node: ast.expr) -> bool:
        """`R.f32` or `R.Any`, with which the form begins that type checkers read."""
        if not isinstance(node, ast.Attribute):
            return False
        return is_element(self.value(node))

    def _is_dimension(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) and isinstance(node.value, int)

    def _built(
        self, front: Front, args: list[Any], kwargs: dict[str, Any], places: dict[str, ast.expr],
        node: ast.expr,
    ) -> StructInfo:  # fmt: skip
        try:
            info = front.bind(args, kwargs)
        except AnnotationError as error:
            better = arranged(self.source, front, node)
            if better is not None and self._inside_string is None:
                at, message, help, edits = better
                raise self.error(at, error.code, message, help=help, edits=edits) from None
            at = places.get(error.parameter or "", node)
            fix = error.fix
            if fix is not None and fix.startswith("(") and in_parentheses(self.source, at):
                fix = fix[1:-1]
            raise self.error(at, error.code, error.message, help=error.help, fix=fix) from None
        if isinstance(info, TensorStructInfo) and info.vdevice is not None:
            given = kwargs.get("vdevice") or args[front.parameters.index("vdevice")]
            place = places.get("vdevice", node)
            info = info.replace(vdevice=self.known_vdevice(given, info.vdevice, place))
        return info.replace(span=self.span(node))

    def known_vdevice(self, given: Any, asked: VDevice, node: ast.expr) -> VDevice:
        """The module's virtual device that is asked for; `given` is how.

        A function on its own has no module whose devices texts could name. Devices that are written
        out in it are those of the module that it will belong to.
        """
        if self.module.is_absent and isinstance(given, VDevice):
            return given
        known = self.module.vdevice(asked)
        if known is None and self.check_well_formed:
            raise self.unknown_vdevice(asked, node)
        return known or asked

    def unknown_vdevice(self, asked: VDevice, node: ast.expr) -> Failed:
        """Record criterion 24: a virtual device is one of the module's own."""
        if self.module.infos_are_broken:
            return Failed()
        shown = str(node.value) if isinstance(node, ast.Constant) else asked.short
        message, help = f"the module has no virtual device `{shown}`", self.module.devices(asked)
        similar = self.module.similar_vdevice(asked)
        fix = f'"{similar.short}"' if similar and isinstance(node, ast.Constant) else None
        help = did_you_mean(fix, help)
        if self.module.is_absent:
            message = f"`{shown}` names a virtual device of a module, and there is none"
            help = f'write it out: `I.vdevice("{asked.target.kind}", {asked.vdevice_id})`'
        return self.error(node, "RX0324", message, help=help, fix=fix)

    def front_argument(self, front: Front, name: str, node: ast.expr) -> Any:
        """An argument of a front: shapes and scalar values hold dimensions, others are values."""
        unknown = isinstance(node, ast.Name) and node.id == "_"
        if name == "shape" and unknown and (self.names_dims or "_" not in self.names):
            return None  # the older spelling of an unknown shape, `R.Tensor[_, "float32"]`
        if name in ("shape", "values") and isinstance(node, (ast.Tuple, ast.List)):
            return self.dimensions(node.elts)
        if name == "value" and isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self._string_dimension(node, whole=False)
        if name in ("params", "ret") or front.variadic:
            return self.annotation_argument(node)
        value = self.value(node)
        if name in ("shape", "values"):
            return self._shape_value(value, node)
        return value

    def _shape_value(self, value: Any, node: ast.expr) -> Any:
        if isinstance(value, (tuple, list)):
            return [self.as_dimension(v, node) for v in value]
        if isinstance(value, Var) and not isinstance(value.struct_info, ShapeStructInfo):
            raise self.error(
                node, "RX0314", "only a shape can stand here",
                labels=[(node, f"is `{value.struct_info!r}`")],
            )  # fmt: skip
        return value

    def dimensions(self, nodes: list[ast.expr]) -> list[PrimExpr]:
        """Several dimensions; mistakes in all of them are reported."""
        found: list[PrimExpr] = []
        failed: Failed | None = None
        for node in nodes:
            try:
                if isinstance(node, ast.Starred):
                    found.extend(self.as_dimension(v, node) for v in self.host_iterable(node.value))
                else:
                    found.append(self.dimension(node))
            except Failed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return found

    def dimension(self, node: ast.expr) -> PrimExpr:
        """One dimension, with its place."""
        if type(node) is ast.Constant and type(node.value) is int and 0 <= node.value < 1 << 63:
            return IntImm.make(INT64, node.value, span=self.span(node))
        if type(node) is ast.Name:
            known = self.dims.get(node.id)
            if known is not None:
                self.check_bound_here(known, node)
                return known if known.dtype is INT64 else self.as_dimension(known, node)
            if self.is_undefined(node.id):
                if self.in_function_type or (self.names_dims and self.introduces):
                    return self.named_dimension(node.id, node)
                raise self.undefined_dimension(node.id, node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self._string_dimension(node)
        whole = joined(node)
        if whole is not None:
            raise self.error(
                node, "RX0108", "a dimension that is computed stands in quotes as a whole",
                help=f'write `"{whole}"`', fix=f'"{whole}"',
            )  # fmt: skip
        return self.as_dimension(self.value(node), node)

    def _string_dimension(self, node: ast.Constant, whole: bool = True) -> PrimExpr:
        """A dimension in quotes; the value of a scalar may be something else than `whole`."""
        inner = self._parsed_string(node)
        outer, self._inside_string = self._inside_string, node
        try:
            if isinstance(inner, ast.Name):
                named = self.named_dimension(inner.id, node)
                return self.as_dimension(named, node) if whole else named
            for name in dimension_names(inner):
                if name not in self.dims:
                    self.named_dimension(name, node)
            value = self.value(inner)
            if isinstance(value, PrimExpr) and not whole:
                return value
            return self.as_dimension(value, node)
        finally:
            self._inside_string = outer

    def named_dimension(self, name: str, node: ast.expr) -> PrimExpr:
        """The shape variable of a name; parameters and match_cast may introduce it."""
        known = self.dims.get(name)
        if known is not None:
            self.check_bound_here(known, node)
            return known
        bound = self.names.get(name)
        if isinstance(bound, PrimExpr):
            return bound
        if not self.introduces:
            raise self.undefined_dimension(name, node)
        var = PrimVar.make(name, INT64, span=self.span(node))
        self.dims[name] = var
        return var

    def is_undefined(self, name: str) -> bool:
        """Whether a name means nothing at all, neither in the script nor in Python around it."""
        if name in self.names or name == self.module.name:
            return False
        try:
            self.environment.lookup(name)
        except KeyError:
            return True
        return False

    def undefined_dimension(self, name: str, node: ast.expr) -> Failed:
        near = self.near(name, self.dims)
        self.names.setdefault(name, UNKNOWN)  # said once
        if self.introduces and near is not None and len(name) < 3:
            near = None
        message = f"the dimension `{name}` is not defined here"
        if near is not None:
            return self.error(node, "RX0109", message, help=did_you_mean(near), fix=near)
        if self.introduces:
            help = f'write `"{name}"`, or declare it in the body: `{name} = T.int64()`'
            if name == "_":
                return self.error(node, "RX0109", message, help=unknown_extent)
            return self.error(node, "RX0109", message, help=help, fix=f'"{name}"')
        help = f'name it in a parameter, `R.Tensor(("{name}",), ...)`, or in an `R.match_cast`'
        return self.error(node, "RX0109", message, help=help)

    def as_dimension(self, value: Any, node: ast.expr) -> PrimExpr:
        """A value that stands as a dimension."""
        if isinstance(value, bool) or not isinstance(value, (PrimExpr, int)):
            if isinstance(value, str) and not isinstance(value, DataType):
                return self.named_dimension(value, node)
            if not hasattr(value, "__index__") or isinstance(value, bool):
                raise self.not_a_dimension(value, node)
            value = value.__index__()
        if isinstance(value, int):
            if 0 <= value < 1 << 63:
                return IntImm.make(INT64, int(value), span=self.span(node))
            help = unknown_extent if value < 0 else None
            raise self.error(node, "RX0108", no_extent(value), help=help)
        if isinstance(value, IntImm) and value.value < 0:
            raise self.error(
                node, "RX0108", f"a dimension cannot be negative, this is {value.value}"
            )
        if isinstance(value, PrimVar) and value.dtype is not INT64:
            if value in self._other_dtypes:
                raise Failed  # said where it stood first
            self._other_dtypes.add(value)
            raise self.report(other_than_int64(value, self.span(node)))
        if not value.dtype.is_integer:
            raise self.error(
                node, "RX0108", f"a dimension is a whole number, this is {value.dtype}"
            )
        return as_dimension(value)

    def _is_tensor(self, node: ast.AST) -> TypeGuard[ast.Name]:
        found = self.names.get(node.id) if isinstance(node, ast.Name) else None
        info = getattr(found, "struct_info", None)
        return isinstance(info, TensorStructInfo) and info.ndim != 0

    def not_a_dimension(self, value: Any, node: ast.expr) -> Failed:
        if isinstance(value, Expr):
            name = next((n.id for n in ast.walk(node) if self._is_tensor(n)), "x")
            dim = "m" if name == "n" else "n"
            cast = f"R.match_cast({name}, R.Tensor(({dim},)))"
            help = f"bind its extent first: `{dim} = T.int64()` and `{cast}`"
            message = "a value known only at run time is not a dimension"
            return self.error(node, "RX0108", message, help=help)
        whole = 'a dimension is a whole number, a name such as "n", or arithmetic of these'
        return self.error(
            node, "RX0108", f"`{ast.unparse(node)}` is not a dimension",
            help=unknown_extent if value is None else whole,
        )  # fmt: skip

    def captured_dimension(self, var: PrimVar) -> PrimVar:
        """A shape variable that Python captured: each function has its own of that name.

        One that was made without a name, by `n = T.int64()`, has that of Python's variable.
        """
        own = self._own.get(var)
        if own is None:
            name = var.name or self.environment.name_of(var) or "n"
            own = self.dims.get(name)
            if own is None:
                own = self.dims[name] = PrimVar.make(name, DataType(var.dtype))
            self._own[var] = own
        return own

    def captured_node(self, node: N) -> N:
        """An annotation or value that Python captured, with the function's own shape variables."""
        if isinstance(node, (BaseFunc, Constant, Var)):
            return node
        found = [v for v in free_vars(node) if isinstance(v, PrimVar) and not self._is_own(v)]
        if not found:
            return node
        return substitute(node, {var: self.captured_dimension(var) for var in found})

    def _is_own(self, var: PrimVar) -> bool:
        return any(var is own for own in self.dims.values())

    def find_name(self, node: ast.Name) -> Any:
        known = self.dims.get(node.id)
        if known is not None:
            return known
        if self.module.name and node.id == self.module.name:
            return self.module.itself
        value = super().find_name(node)
        if isinstance(value, PrimVar):
            return self.captured_dimension(value)
        if isinstance(value, (StructInfo, Expr)):
            return self.captured_node(value)
        return self.named_dimension(value.__name__, node) if isinstance(value, TypeVar) else value
