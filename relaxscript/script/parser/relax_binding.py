"""Bindings of Relax: assignments of every form, and calls for their effect.

binding = names "=" expression | name ":" annotation "=" expression | name op "=" expression | call
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from relaxscript.analysis.derive import kind_name
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr, const as scalar
from relaxscript.ir.relax import Constant, Expr, PrimValue, ShapeExpr, Tuple, TupleGetItem
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.script.relax_forms import MatchCastValue, const
from relaxscript.script.tir_types import ScalarType
from relaxscript.sinfo import definable_shape_vars

from .abbreviated import written_out
from .base import UNKNOWN, Failed
from .context import ModuleName
from .corrections import between
from .dimensions import Dim, Dims, dimension_names
from .relax_signature import RelaxSignatures

__all__ = ["RelaxBindings"]


class RelaxBindings(RelaxSignatures):
    """Binds names: to variables of the program, or to Python values in the parser only."""

    # statement = name "=" expression
    def assign(self, target: ast.Name, value: ast.expr) -> None:
        declared = self.shape_declaration(target.id, value)
        if declared is not None:
            self.bind_name(target.id, declared)
            return
        found = self.value(value)
        if isinstance(found, ScalarType) and target.id in self.dims:
            written = self.written(value)
            raise self.error(
                value, "RX0109", f"`{written}` is a type, and `{target.id}` a variable of it",
                help=f"write `{written}()`", fix=f"{written}()",
            )  # fmt: skip
        self.bind(target, found, value)

    # statement = targets "=" expression
    def assign_all(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        """Unpacking, and several targets: each is assigned the same value, as in Python."""
        if self._declares_several(targets, value):
            return
        found = self.value(value)
        if len(targets) > 1 and isinstance(found, Expr):
            found = self.leaf(found, value)
        for target in targets:
            self.assign_to(target, found, value)

    def _declares_several(self, targets: Sequence[ast.expr], value: ast.expr) -> bool:
        match targets, value:
            case [ast.Tuple(elts=names)], ast.Tuple(elts=values) if len(names) == len(values):
                pairs = [
                    (n, self.shape_declaration(n.id, v))
                    for n, v in zip(names, values)
                    if isinstance(n, ast.Name)
                ]
                if pairs and all(var is not None for _, var in pairs) and len(pairs) == len(names):
                    for name, var in pairs:
                        self.bind_name(name.id, var)
                    return True
        return False

    def assign_to(self, target: ast.expr, value: Any, node: ast.expr) -> None:
        match target:
            case ast.Name():
                self.bind(target, value, node)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self.unpack(target, targets, value, node)
            case _:
                raise self.no_name(target)

    def no_name(self, target: ast.expr) -> Failed:
        """Record an assignment to a part of a value."""
        help = "bind the new value to a name"
        match target:
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                parts = index.elts if isinstance(index, ast.Tuple) else [index]
                places = all(isinstance(p, (ast.Slice, ast.Constant, ast.UnaryOp)) for p in parts)
                known = "R.slice_scatter" if places else "R.where`, `R.index_put"
                help = f"bind a new value: `{name} = ...`, made by `{known}`"
        return self.error(
            target, "RX0104", "only names can be assigned in Relax, values never change", help=help
        )

    def unpack(
        self, target: ast.expr, targets: Sequence[ast.expr], value: Any, node: ast.expr
    ) -> None:
        """`a, b = t`: one binding for each field."""
        starred = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
        if isinstance(value, Expr):
            count = -1 if starred else len(targets)
            parts: list[Any] = self.tuple_parts(value, node, count, target)
        elif isinstance(value, (tuple, list)):
            parts = list(value)
        else:
            raise self.error(node, "RX0208", f"`{ast.unparse(node)}` cannot be unpacked")
        if starred:
            parts, targets = self.gathered(parts, targets, starred[0], target, node)
        if len(parts) != len(targets):
            raise self.wrong_count(target, node, len(targets), len(parts))
        self.check_distinct(targets)
        for part, name in zip(parts, targets):
            self.assign_to(name, part, node)

    def gathered(
        self, parts: list[Any], targets: Sequence[ast.expr], star: int, target: ast.expr,
        node: ast.expr,
    ) -> tuple[list[Any], list[ast.expr]]:  # fmt: skip
        """`a, *rest = t`: the fields that the other names leave become one tuple."""
        after = len(targets) - star - 1
        if len(parts) < star + after:
            raise self.wrong_count(target, node, star + after, len(parts))
        rest = tuple(parts[star : len(parts) - after])
        plain = [t.value if isinstance(t, ast.Starred) else t for t in targets]
        return [*parts[:star], rest, *parts[len(parts) - after :]], plain

    def check_distinct(self, targets: Sequence[ast.expr]) -> None:
        """One unpacking binds each name once."""
        seen: set[str] = set()
        for target in targets:
            if isinstance(target, ast.Name) and target.id in seen and target.id != "_":
                raise self.error(
                    target, "RX0302", f"`{target.id}` is bound twice by one unpacking",
                    help="give each field a name of its own, or `_`",
                )  # fmt: skip
            seen.add(getattr(target, "id", ""))

    def wrong_count(self, target: ast.AST, node: ast.AST, names: int, fields: int) -> Failed:
        has = f"{fields} field{'s' if fields != 1 else ''}"
        take = f"{names} name{'s' if names != 1 else ''} cannot take {has}"
        return self.error(target, "RX0208", take, labels=[(node, f"has {has}")])

    def tuple_parts(self, value: Expr, node: ast.expr, count: int, target: ast.expr) -> list[Any]:
        if isinstance(value, Tuple):
            return list(value.fields)
        dims = None if isinstance(value, Tuple) else self.known_dimensions(value)
        if dims is not None:
            return list(dims)
        leaf = self.leaf(value, node)
        if isinstance(leaf, Tuple):
            return list(leaf.fields)
        match self.builder.struct_info(leaf):
            case TupleStructInfo(fields):
                if count not in (-1, len(fields)):
                    raise self.wrong_count(target, node, count, len(fields))
                span = self.source.span(node)
                return [TupleGetItem.make(leaf, i, span, span=span) for i in range(len(fields))]
            case info:
                raise self.error(
                    node, "RX0208", f"`{ast.unparse(node)}` is not a tuple",
                    labels=[(node, f"is `{info!r}`")],
                    help="a tensor is taken apart by `R.split`, or by indices",
                )  # fmt: skip

    # statement = name ":" annotation "=" expression
    def assign_annotated(
        self, node: ast.AnnAssign, target: ast.Name, annotation: ast.expr, value: ast.expr | None
    ) -> None:
        if value is None:
            raise self.error(
                node, "RX0104", f"`{target.id}` is annotated but not given a value",
                help=f"write `{target.id}: {self.source.span(annotation).text} = ...`",
            )  # fmt: skip
        likely = self.repeated.find(annotation)
        if likely is not None:
            self.bind_repeated(target, annotation, value, likely)
            return
        annotation = written_out(annotation, self.source.lines)
        # The value comes first: a match_cast in it may bind dimensions of the annotation.
        failed: Failed | None = None
        found: Any = None
        try:
            found = self.value(value)
        except Failed as failure:
            failed = failure
            self.forget_dimensions(value)
        if failed is None and self.is_bare_tuple(annotation):
            found = self.normal(self.expr_of(found, value), value)
            if isinstance(self.builder.struct_info(found), TupleStructInfo):
                self.bind(target, found, value)
                return
        info = self._declared_beside(found, annotation)
        if failed is not None:
            raise failed
        self.bind(target, found, value, info, annotation)

    def normal(self, expr: Expr, node: ast.expr) -> Expr:
        """An expression over leaves, of which it is known what it is."""
        try:
            made = self.builder.normal(expr)
            self.builder.struct_info(made)
        except OperandError as error:
            raise self.operand_error(error, node, expr) from None
        return made

    def forget_dimensions(self, value: ast.AST) -> None:
        """After a mistake in a cast, the dimensions that it was to bind are unknown."""
        for node in ast.walk(value):
            match node:
                case ast.Call(func=ast.Attribute(attr="match_cast" | "match_shape")):
                    parts = (*node.args[1:], *(k.value for k in node.keywords))
                    for name in {n for part in parts for n in dimension_names(part)}:
                        known = self.dims.get(name)
                        if known is not None and not self.is_bound(known):
                            self.unknown_dims.add(known)
                        elif known is None and self.is_undefined(name):
                            self.bind_name(name, UNKNOWN)

    def _declared_beside(self, value: Any, annotation: ast.expr) -> StructInfo:
        """The annotation of a value; it may name the dimensions that a match_cast binds."""
        if not isinstance(value, MatchCastValue):
            info = self.annotation(annotation)
            self.repeated.remember(annotation, info)
            return info
        with self.unbound_dimensions():
            info = self.annotation(annotation)
        self.check_dimensions_bound(info, annotation, set(definable_shape_vars(value.struct_info)))
        return info

    def bind_repeated(
        self, target: ast.Name, annotation: ast.expr, node: ast.expr, likely: StructInfo
    ) -> None:
        """A binding whose annotation stood before: it means `likely`, but for its places.

        As a rule that is what is known of the value, and the annotation need not be read again.
        """
        value = self.value(node)
        if not isinstance(value, Expr):
            self.bind(target, value, node, self._declared_beside(value, annotation), annotation)
            return

        def read() -> StructInfo:
            return self.annotation(annotation)

        self.bind_value(target, value, node, read, annotation, likely)
        self.annotated[self.names[target.id]] = annotation

    def bind(
        self, target: ast.Name, value: Any, node: ast.expr, annotation: StructInfo | None = None,
        annotation_node: ast.expr | None = None,
    ) -> None:  # fmt: skip
        """Bind a name: values of the program to a variable, Python values in the parser only."""
        name = target.id
        if annotation is not None and not isinstance(value, Expr):
            value = self.as_declared(value, annotation, node)
        match value:
            case MatchCastValue():
                self.bind_match_cast(target, value, node, annotation, annotation_node)
                return
            case PrimExpr() | Dim() | Dims() | ModuleName() if annotation is None:
                self.bind_name(name, value)
                return
            case bool() | int() | float() | np.generic():
                value = self.constant_of(value, node)
            case Expr():
                pass
            case list() if annotation is None:
                # A list belongs to the parser; what is in it is computed here, once.
                self.bind_name(name, [self.settled(v, node) for v in value])
                return
            case tuple():
                value = self.expr_of(value, node)
            case _ if annotation is None:
                self.bind_name(name, value)
                return
            case _:
                value = self.expr_of(value, node)
        self.bind_value(target, value, node, annotation, annotation_node)

    def bind_value(
        self, target: ast.Name, value: Expr, node: ast.expr,
        annotation: StructInfo | Callable[[], StructInfo] | None,
        annotation_node: ast.expr | None, likely: StructInfo | None = None,
    ) -> None:  # fmt: skip
        """Bind a name to a variable of the program."""
        span = self.source.span(target)
        outlives = target in self.outputs
        try:
            var = self.builder.bind(value, target.id, span, annotation, outlives, likely)
        except OperandError as error:
            raise self.binding_error(error, node, value, annotation_node) from None
        finally:
            self.note_obligations(node, annotation_node, value=value)
        self.bind_name(target.id, var)
        self.last_bound = target.id

    def items_of(self, value: Any, node: ast.expr, use: str) -> list[Any]:
        if not isinstance(value, Expr):
            return super().items_of(value, node, use)
        dims = self.known_dimensions(value)
        if dims is not None:
            return list(dims)
        leaf = self.leaf(value, node)
        info = self.builder.struct_info(leaf)
        if isinstance(info, TupleStructInfo):
            return [self.leaf(part, node) for part in self.tuple_parts(leaf, node, -1, node)]
        raise self.error(
            node, "RX0104", f"`{ast.unparse(node)}` is {kind_name(info)}, which cannot be {use}",
            help="only a tuple and values known while the script is parsed can be",
        )  # fmt: skip

    def kept(self, value: Any, node: ast.expr) -> Any:
        return self.settled(value, node)

    def settled(self, value: Any, node: ast.expr) -> Any:
        """A value of the program as a leaf; lists item by item, other Python values as they are."""
        if isinstance(value, list):
            return [self.settled(v, node) for v in value]
        if isinstance(value, (Expr, MatchCastValue)):
            return self.leaf(self.expr_of(value, node), node)
        return value

    def as_declared(self, value: Any, annotation: StructInfo, node: ast.expr) -> Any:
        """`k: R.Prim("int64") = 3`, `s: R.Shape = (n, 4)`: Python values as what they are to be."""
        number = isinstance(value, (int, float)) and (
            isinstance(value, bool) == (getattr(annotation, "dtype", "") == "bool")
        )
        span = self.source.span(node)
        match annotation:
            case PrimStructInfo(dtype=dtype) if number and _holds(dtype, value):
                return PrimValue.make(scalar(value, dtype), span=span)
            case TensorStructInfo(dtype=dtype) if number and _holds(dtype, value):
                return const(value, dtype).replace(span=span)
            case ShapeStructInfo() if isinstance(value, (tuple, list)):
                if any(isinstance(v, (Expr, float, str)) for v in value):
                    return value
                dims = [self.as_dimension(v, node) for v in value]
                return ShapeExpr.make(tuple(dims), span=span)
        return value

    def constant_of(self, value: Any, node: ast.expr) -> Constant:
        """A Python number as a tensor: int32, float32 or bool, as R.const."""
        try:
            constant = const(value)
        except ValueError as error:
            help = f'write `R.const({value}, "int64")`' if abs(value) < 2**63 else None
            raise self.error(node, "RX0201", str(error), help=help) from None
        return constant.replace(span=self.source.span(node))

    def binding_error(
        self, error: OperandError, node: ast.expr, value: Expr, annotation: ast.expr | None
    ) -> Failed:
        if error.operand != "the value":
            return self.operand_error(error, node, value)
        places = {"the value": self.source.span(node)}
        diagnostic = error.diagnostic("", self.source.span(node), places)
        diagnostic = self.with_declared(diagnostic, annotation)
        return self.report(self.settled_by_cast(diagnostic, error.cast, node, annotation))

    def bind_match_cast(
        self, target: ast.Name, cast: MatchCastValue, node: ast.expr,
        annotation: StructInfo | None = None, annotation_node: ast.expr | None = None,
    ) -> None:  # fmt: skip
        """Bind a name to what was cast; an annotation that it surely fits wins (rule 11.3.4)."""
        value = self.leaf(self.expr_of(cast.value, node), node)
        outlives = target in self.outputs
        span = self.source.span(target)
        try:
            var = self.builder.bind_match_cast(
                value, cast.struct_info, target.id, span, outlives, self.source.span(node),
                annotation,
            )  # fmt: skip
        except OperandError as error:
            raise self.binding_error(error, node, value, annotation_node) from None
        finally:
            self.note_obligations(node)
        self.bind_name(target.id, var)
        self.last_bound = target.id

    def bind_name(self, name: str, value: Any) -> None:
        """A name from here on; scopes restore what it meant before."""
        if self.scopes:
            self.scopes[-1].append((name, self.names.get(name, self)))
        self.names[name] = value
        self.lost.pop(name, None)

    @contextmanager
    def scope(self) -> Any:
        """Names bound inside mean what they meant before again afterwards."""
        self.scopes.append([])
        try:
            yield
        finally:
            for name, before in reversed(self.scopes.pop()):
                if before is self:
                    self.names.pop(name, None)
                else:
                    self.names[name] = before

    # statement = call
    def void(self, node: ast.expr) -> None:
        """A call for its effect: its value must be unit."""
        match node:
            case ast.Compare(left=ast.Name() as name, ops=[ast.Eq()], comparators=[right]):
                if name.id not in self.names:
                    raise self.compared(name, right)
        value = self.value(node)
        if value is None or not isinstance(value, (Expr, MatchCastValue)):
            return
        if isinstance(value, MatchCastValue):
            target = ast.copy_location(ast.Name("_", ast.Store()), node)
            self.bind_match_cast(target, value, node)
            return
        try:
            var = self.builder.bind(value, "_", self.source.span(node))
        except OperandError as error:
            raise self.operand_error(error, node, value) from None
        finally:
            self.note_obligations(node, value=value)
        match var.struct_info:
            case TupleStructInfo(fields=()):
                return
        if isinstance(var.struct_info, ObjectStructInfo):
            return
        raise self.error(
            node, "RX0104", "the value of this expression is not used", help="bind it: `y = ...`"
        )

    def compared(self, name: ast.Name, right: ast.expr) -> Failed:
        """`y == x` in a line of its own, where `y` is to be bound."""
        failed = self.error(
            name, "RX0101", f"`{name.id}` is not defined", help="to bind it, write `=`",
            edits=[between(self.source, name, right, " = ")],
        )  # fmt: skip
        self.bind_name(name.id, UNKNOWN)
        return failed


def _holds(dtype: DataType, value: float) -> bool:
    """Whether a data type holds a Python number exactly as it is written."""
    if dtype.is_void or (isinstance(value, float) and not dtype.is_float):
        return False
    if not dtype.is_integer:
        return True
    limits = np.iinfo(dtype.numpy)
    return bool(limits.min <= value <= limits.max)
