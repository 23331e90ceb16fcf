"""Assignments of PrimFuncs: stores into buffers, scalar variables, buffers and their memory.

element "=" scalar | element op "=" scalar | name "=" scalar | name ":" type "=" scalar
| name "=" "T.alloc_buffer(...)" | name "=" "T.match_buffer(...)" | name "=" "T.allocate(...)"
| names "=" "T.axis.remap(...)" | name "=" Python value
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Edit, Span
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.prim_checks import reason
from relaxscript.ir.tir import Buffer, BufferRegion, BufferStore
from relaxscript.script import tir_axis, tir_compute, tir_forms
from relaxscript.script.tir_types import BufferFront, Form, ScalarType

from .base import UNKNOWN, Failed
from .python_operators import BINARY
from .tir_buffer import BufferSyntax
from .tir_memory import MemoryParser
from .tir_scalar import counted, describe

__all__ = ["AssignParser"]

SCALARS_DO_NOT_CHANGE = (
    "a scalar variable never changes; keep a value that does in a buffer: "
    '`acc = T.alloc_buffer((1,), "{dtype}")`, then `acc[0] = ...`'
)


class AssignParser(MemoryParser):
    """Adds assignments to blocks and memory."""

    # How deep in loops, branches and blocks a statement stands, and where variables were bound.
    depth: int
    bound_at: dict[prim.Var, int]

    @abstractmethod
    def launch(self, form: Form, node: ast.expr, target: ast.Name | None = None) -> prim.Var: ...

    @abstractmethod
    def env_thread(self, target: ast.Name, form: Form, node: ast.expr) -> prim.Var: ...

    # statement = targets "=" expression
    def assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            self.assign_several(node)
            return
        target = node.targets[0]
        match target:
            case ast.Subscript():
                self.store(target, node.value, node)
            case ast.Name() | ast.Tuple() | ast.List():
                if not self.is_declaration(target, node.value):
                    self.bind(target, self.value(node.value), node.value, node)
            case _:
                raise self.error(
                    target, "RX0104", f"`{self.written(target)}` cannot be assigned",
                    help="assign to a name, or to an element of a buffer: `A[i] = ...`",
                )  # fmt: skip

    def assign_several(self, node: ast.Assign) -> None:
        """`a = b[i] = e`: `e` is evaluated once, and given to each target from left to right."""
        value = self.value(node.value)
        if isinstance(value, (Form, BufferSyntax)):
            raise self.error(
                node.targets[1], "RX0104", "what is made here has one name",
                help="write one line for each: `a = ...` and `b = ...`",
            )  # fmt: skip
        if isinstance(value, PrimExpr) and not isinstance(value, (prim.Var, prim.Immediate)):
            first = node.targets[0]
            name = first.id if isinstance(first, ast.Name) else "value"
            var = prim.Var.make(name, value.dtype, span=self.span(first))
            self.open_let(var, value, self.span(node))
            value = var
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                self.store_value(target, value, node.value, node)
            elif isinstance(target, ast.Name) and isinstance(value, prim.Var) and value.name:
                self.check_rebinding(target)
                self.names[target.id] = value
            else:
                self.bind(target, value, node.value, node)

    def is_declaration(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether this is one of the declarations that were collected before."""
        match target, value:
            case ast.Name(id=name), ast.Call():
                known = self.declared.get(name)
                return known is not None and known[1] is target
            case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                return all(self.is_declaration(n, v) for n, v in zip(names, values))
        return False

    def bind(self, target: ast.expr, value: Any, node: ast.expr, statement: ast.stmt) -> None:
        """Give what was evaluated to the names on the left."""
        match target:
            case ast.Name():
                self.bind_name(target, value, node, statement)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self.unpack(target, targets, value, node, statement)
            case ast.Subscript():
                self.store_value(target, value, node, statement)
            case _:
                raise self.error(target, "RX0104", f"`{self.written(target)}` cannot be assigned")

    def unpack(
        self, target: ast.expr, targets: Sequence[ast.expr], value: Any, node: ast.expr,
        statement: ast.stmt,
    ) -> None:  # fmt: skip
        """`a, b = ...`: axes, or the items of a Python tuple."""
        if isinstance(value, Form) and value.maker is tir_axis.remap and isinstance(node, ast.Call):
            self.bind_axes(value, targets, node)
            return
        if not isinstance(value, (tuple, list)):
            raise self.error(node, "RX0104", f"{describe(value)} cannot be unpacked")
        if any(isinstance(t, ast.Starred) for t in targets) or len(targets) != len(value):
            raise self.error(
                target, "RX0104", f"{len(value)} values cannot be given to {len(targets)} names"
            )
        nodes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node] * len(value)
        if any(isinstance(t, ast.Subscript) for t in targets):
            # All values are there before the first is stored, as in a swap.
            value = [self.kept(v, at, statement) for v, at in zip(value, nodes)]
        for name, item, at in zip(targets, value, nodes):
            self.bind(name, item, at, statement)

    def kept(self, value: Any, node: ast.expr, statement: ast.stmt) -> Any:
        """A value in a variable, where a store could change it."""
        if isinstance(value, BufferRegion):
            value = self.scalar(value, node)
        if not isinstance(value, PrimExpr) or isinstance(value, (prim.Var, prim.Immediate)):
            return value
        var = prim.Var.make("value", value.dtype, span=self.span(node))
        self.open_let(var, value, self.span(statement))
        return var

    def store_value(
        self, target: ast.Subscript, value: Any, node: ast.expr, statement: ast.stmt
    ) -> None:
        """An element takes a value that was evaluated before."""
        buffer, indices, _ = self.stored_element(target)
        made = self.made_store(buffer, indices, value, node, target)
        self.items.append(made.replace(span=self.span(statement)))

    def bind_axes(self, form: Form, targets: Sequence[ast.expr], call: ast.Call) -> None:
        names = []
        for target in targets:
            if not isinstance(target, ast.Name):
                raise self.error(target, "RX0504", "an axis is bound to a name")
            names.append(target.id)
        for name, var in zip(names, self.axes(form, names, call)):
            self.names[name] = var

    def bind_name(self, target: ast.Name, value: Any, node: ast.expr, statement: ast.stmt) -> None:
        """One name: a variable, a buffer, an axis, or a Python value."""
        match value:
            case BufferSyntax():
                self.check_rebinding(target)
                self.names[target.id] = self.bind_buffer(target, value, statement)
            case Form():
                self.bind_form(target, value, node, statement)
            case prim.Var(name=""):
                self.check_rebinding(target)
                var = value.replace(name=target.id, span=self.span(target))
                self.declared[target.id] = (var, target)
                self.fixed[var] = "a shape variable"
                self.names[target.id] = var
            case BufferRegion():
                raise self.error(
                    node, "RX0501", "a region of a buffer is no value",
                    help="give it a name in a block: "
                    f"`{target.id} = T.match_buffer({self.written(node)}, shape)`",
                )  # fmt: skip
            case bool() | int() | float() | np.generic() | PrimExpr():
                self.check_rebinding(target)
                self.bind_scalar(target, self.scalar(value, node), statement)
            case _:
                self.check_rebinding(target)
                self.names[target.id] = value

    def bind_scalar(self, target: ast.Name, value: PrimExpr, statement: ast.stmt) -> None:
        """A scalar variable for the statements after this one."""
        var = prim.Var.make(target.id, value.dtype, span=self.span(target))
        self.open_let(var, value, self.span(statement))
        self.names[target.id] = var

    def open_let(self, var: prim.Var, value: PrimExpr, span: Span | None) -> None:
        self.bound_at[var] = self.depth
        self.block.bound.add(var)
        self.items.append(lambda body: tir.LetStmt.make(var, value, body, span=span))

    def check_rebinding(self, target: ast.Name) -> None:
        """Refuse to bind a name anew where Python would mean a change of its value."""
        known = self.names.get(target.id)
        if isinstance(known, Buffer) and known in self.made:
            indices = ", ".join("ijklmn"[axis % 6] for axis in range(known.ndim)) or "()"
            raise self.error(
                target, "RX0501", f"`{target.id}` is a buffer; it cannot be bound again",
                help=f"store into its elements: `{target.id}[{indices}] = ...`",
                labels=[(known.span, "the buffer")],
            )  # fmt: skip
        if not isinstance(known, prim.Var):
            return
        what = self.fixed.get(known)
        if what is None and self.bound_at.get(known, self.depth) == self.depth:
            return
        what = what or "a scalar variable from outside"
        raise self.error(
            target, "RX0501", f"`{target.id}` is {what}; it cannot be assigned again",
            help=SCALARS_DO_NOT_CHANGE.format(dtype=known.dtype) if what.startswith("a scalar")
            else "take another name",
            labels=[(known.span, "bound here")],
        )  # fmt: skip

    # statement = name ":" type "=" scalar
    def annotated(self, node: ast.AnnAssign) -> None:
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "RX0104", "only a name can have a type")
        if node.value is None:
            raise self.error(
                node, "RX0104", f"`{node.target.id}` has a type and no value",
                help=f"give it one: `{self.written(node)} = ...`",
            )  # fmt: skip
        annotation = node.annotation
        wanted = self.scalar_type(annotation)
        value = self.value(node.value)
        if isinstance(value, (BufferSyntax, Form)):
            self.bind(node.target, value, node.value, node)
            return
        e = self.fitted(value, node.value, wanted.dtype, annotation, "is declared")
        self.check_rebinding(node.target)
        var = wanted.replace(name=node.target.id, span=self.span(node.target))
        self.open_let(var, e, self.span(node))
        self.names[node.target.id] = var

    def scalar_type(self, node: ast.expr) -> prim.Var:
        """The type of a scalar variable, as a variable without a name."""
        value = self.value(node)
        match value:
            case ScalarType() if not value.dtype.is_void:
                return prim.Var.make("", value.dtype)
            case prim.Var(name=""):
                return value
        raise self.error(
            node, "RX0108", f"`{self.written(node)}` is not the type of a scalar",
            help="write for example `T.int32`",
        )  # fmt: skip

    # statement = element "=" scalar
    def store(self, target: ast.Subscript, node: ast.expr, statement: ast.stmt) -> None:
        buffer, indices, (value,) = self.stored_element(target, node)
        made = self.made_store(buffer, indices, value, node, target)
        self.items.append(made.replace(span=self.span(statement)))

    def stored_element(
        self, target: ast.Subscript, *others: ast.expr
    ) -> tuple[Buffer, tuple[PrimExpr, ...], list[Any]]:
        """The element that a target names, and the values of what stands beside it."""
        if isinstance(target.value, ast.Subscript):
            self.check_brackets(target)
        try:
            owner, index, *values = self.values([target.value, target.slice, *others])
        except Failed:
            # Only what a name stands for is asked for again without being evaluated again.
            if isinstance(target.value, ast.Name):
                self.check_number_of_indices(self.names.get(target.value.id), target)
            raise
        return *self.stored_place(owner, index, target), values

    def stored_place(
        self, owner: Any, index: Any, target: ast.Subscript
    ) -> tuple[Buffer, tuple[PrimExpr, ...]]:
        if not isinstance(owner, Buffer):
            if isinstance(owner, PrimExpr):
                raise self.not_indexable(owner, target)
            raise self.error(
                target.value,
                "RX0501",
                f"only elements of buffers are stored, this is {describe(owner)}",
            )
        given = index if isinstance(index, tuple) else (index,)
        self.check_rank(owner, len(given), target)
        return owner, self.indices(owner, given, self.index_nodes(target))

    def made_store(
        self, buffer: Buffer, indices: tuple[PrimExpr, ...], value: Any, node: ast.expr,
        target: ast.expr,
    ) -> BufferStore:  # fmt: skip
        lanes = indices[-1].dtype.lanes * buffer.dtype.lanes if indices else buffer.dtype.lanes
        wanted = buffer.dtype.with_lanes(lanes)
        e = self.fitted(value, node, wanted, target, "holds")
        return BufferStore.make(buffer, e, indices)

    def fitted(
        self, value: Any, node: ast.expr, wanted: DataType, place: ast.AST, verb: str
    ) -> PrimExpr:
        """A value of a data type: plain numbers are converted, other values must have it."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, (bool, int, float)):
            return self.literal_of(value, wanted, node, place, verb)
        e = self.scalar(value, node)
        if e.dtype is wanted:
            return e
        if e.dtype.lanes == 1 and e.dtype is wanted.element:
            return prim.Broadcast.make(e, wanted.lanes)
        if e.dtype.lanes not in (1, wanted.lanes):
            counts = counted(e.dtype.lanes, "lane"), counted(wanted.lanes, "lane")
            raise self.error(
                node, "RX0502", f"the value is a vector of {counts[0]}, not of {counts[1]}",
                labels=[(node, f"is {e.dtype}"), (place, f"{verb} {wanted}")],
            )  # fmt: skip
        if "handle" in (e.dtype.kind, wanted.kind):
            raise self.mismatch(node, f"is {describe(e)}", wanted, place, verb, None)
        instead = f'T.cast({self.written(node)}, "{wanted}")'
        raise self.mismatch(node, f"is {e.dtype}", wanted, place, verb, instead)

    def mismatch(
        self, node: ast.AST, fact: str, wanted: DataType, place: ast.AST, verb: str,
        instead: str | None,
    ) -> Failed:  # fmt: skip
        return self.error(
            node, "RX0502", f"the value {fact}, not {wanted}",
            labels=[(node, fact), (place, f"{verb} {wanted}")],
            help=None if instead is None else f"write `{instead}`", fix=instead,
        )  # fmt: skip

    def literal_of(
        self, value: bool | int | float, wanted: DataType, node: ast.expr, place: ast.AST, verb: str
    ) -> PrimExpr:
        """A plain number as one of a data type."""
        whole = not isinstance(value, float)
        if wanted.is_bool and not (isinstance(value, bool) or value in (0, 1)):
            raise self.mismatch(node, f"is {value}", wanted, place, verb, f"{value} != 0")
        if not (wanted.is_float or wanted.is_integer or wanted.is_bool):
            raise self.mismatch(node, "is a number", wanted, place, verb, None)
        if not (whole or wanted.is_float):
            near = str(int(value)) if value == value and abs(value) < 2**63 else None
            raise self.mismatch(node, "is a floating-point number", wanted, place, verb, near)
        try:
            made = const(value, wanted)
        except ValueError as error:
            raise self.error(
                node, "RX0502", reason(error), labels=[(place, f"{verb} {wanted}")]
            ) from None
        return made.replace(span=self.span(node))

    # statement = target op "=" scalar
    def augmented(self, node: ast.AugAssign) -> None:
        symbol = BINARY[type(node.op)]
        match node.target:
            case ast.Subscript() as target:
                buffer, indices, (value,) = self.stored_element(target, node.value)
                load = prim.BufferLoad.make(buffer, indices, span=self.span(target))
                result = self.combine(symbol, (load, value), (target, node.value), node)
                self.check_kept(buffer, result, symbol, node)
                made = self.made_store(buffer, indices, result, node.value, target)
                self.items.append(made.replace(span=self.span(node)))
            case ast.Name(id=name) as target:
                before = self.value(ast.copy_location(ast.Name(name, ast.Load()), target))
                value = self.value(node.value)
                if isinstance(before, Buffer):
                    self.check_rebinding(target)
                if isinstance(before, PrimExpr) or isinstance(value, PrimExpr):
                    result = self.combine(symbol, (before, value), (target, node.value), node)
                else:
                    with self.at(node):
                        result = self.operate(symbol, (before, value), node)  # type: ignore[arg-type]
                self.bind_name(target, result, node.value, node)
            case _:
                raise self.error(node.target, "RX0104",
                                 f"`{self.written(node.target)}` cannot be assigned")  # fmt: skip

    def check_kept(
        self, buffer: Buffer, result: PrimExpr, symbol: str, node: ast.AugAssign
    ) -> None:
        """`A[i] += x` keeps the data type of `A`."""
        if result.dtype.element is buffer.dtype.element:
            return
        left, right = self.written(node.target), self.written(node.value)
        instead = f'{left} = T.cast({left} {symbol} {right}, "{buffer.dtype}")'
        raise self.error(
            node.value, "RX0502",
            f"`{symbol}=` gives {result.dtype} here, and `{buffer.name}` holds {buffer.dtype}",
            help=f"write `{instead}`", edits=[Edit(self.source.span(node), instead)],
        )  # fmt: skip

    # ---- forms on the right of "="

    def bind_form(self, target: ast.Name, form: Form, node: ast.expr, statement: ast.stmt) -> None:
        maker = form.maker
        if maker not in AXES:
            # An axis may take the name of its loop.
            self.check_rebinding(target)
        if maker is tir_forms.meta_var:
            self.names[target.id] = form.arguments["value"]
        elif maker in AXES and isinstance(node, ast.Call):
            self.bind_one_axis(target, form, node)
        elif maker is tir_forms.launch_thread:
            self.names[target.id] = self.launch(form, node, target)
        elif maker is tir_forms.env_thread:
            self.names[target.id] = self.env_thread(target, form, node)
        elif maker is tir_forms.allocate or maker is tir_forms.allocate_const:
            self.names[target.id] = self.bind_memory(target, form, node, statement)
        elif maker is tir_forms.LetStmt:
            self.bind_scalar(target, self.scalar(form.arguments["value"], node), statement)
        elif maker in VALUES or isinstance(maker, BufferFront):
            self.names[target.id] = form
        else:
            raise self.error(
                node, "RX0501", f"`{form.name}` is a statement and gives no value",
                help=f"write it without `{target.id} =`",
                edits=[Edit(self.source.span(statement), self.written(node))],
            )  # fmt: skip

    def bind_one_axis(self, target: ast.Name, form: Form, call: ast.Call) -> None:
        bindings = form.arguments.get("bindings")
        if isinstance(bindings, (list, tuple)) and len(bindings) != 1:
            # One name for several axes is a Python tuple of them.
            names = [f"{target.id}_{i}" for i in range(len(bindings))]
            self.names[target.id] = tuple(self.axes(form, names, call))
            return
        self.names[target.id] = self.axes(form, [target.id], call)[0]

    def forget(self, target: ast.AST) -> None:
        """The names of an assignment that failed are unknown."""
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                known = self.names.get(node.id)
                if not isinstance(known, Buffer) and not (
                    isinstance(known, prim.Var) and known in self.fixed
                ):
                    self.names[node.id] = UNKNOWN


AXES = {tir_axis.spatial, tir_axis.reduce, tir_axis.scan, tir_axis.opaque, tir_axis.remap}
VALUES = {tir_forms.Range, tir_compute.iter_var, tir_forms.serial, tir_forms.parallel,
          tir_forms.vectorized, tir_forms.unroll, tir_forms.grid}  # fmt: skip
