"""Assignments of PrimFuncs: stores into buffers, scalar variables, buffers and their memory.

element "=" scalar | element op "=" scalar | name "=" scalar | name ":" type "=" scalar
| name "=" "T.alloc_buffer(...)" | name "=" "T.match_buffer(...)" | name "=" "T.allocate(...)"
| names "=" "T.axis.remap(...)" | name "=" Python value
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Span
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import HANDLE, INT32, PointerType, PrimExpr, PrimType, const
from relaxscript.ir.tir import Buffer, BufferRegion, BufferStore
from relaxscript.script import tir_axis, tir_forms
from relaxscript.script.tir_types import BufferFront, Form, ScalarType

from .base import BINARY, UNKNOWN, Failed
from .tir_block import BlockParser
from .tir_call import Places
from .tir_scalar import describe
from .tir_signature import BufferSyntax

__all__ = ["AssignParser"]

SCALARS_DO_NOT_CHANGE = (
    "a scalar variable never changes; keep a value that does in a buffer: "
    '`acc = T.alloc_buffer((1,), "{dtype}")`, then `acc[0] = ...`'
)


class AssignParser(BlockParser):
    """Adds assignments to blocks."""

    # How deep in loops, branches and blocks a statement stands, and where variables were bound.
    depth: int
    bound_at: dict[prim.Var, int]

    # statement = targets "=" expression
    def assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            raise self.error(
                node.targets[1], "RX0104", "one assignment has one target here",
                help="write one line for each: `a = ...` and `b = ...`",
            )  # fmt: skip
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
                raise self.error(
                    target, "RX0104", "elements of buffers are stored one in a statement",
                    help=f"write `{self.written(target)} = ...` in a line of its own",
                )  # fmt: skip
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
        for name, item, at in zip(targets, value, nodes):
            self.bind(name, item, at, statement)

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
        wanted = self.scalar_type(node.annotation)
        value = self.value(node.value)
        if isinstance(value, (BufferSyntax, Form)):
            self.bind(node.target, value, node.value, node)
            return
        e = self.fitted(value, node.value, wanted.dtype, node.annotation, "is declared")
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
        owner, index, value = self.values([target.value, target.slice, node])
        buffer, indices = self.stored_place(owner, index, target)
        made = self.made_store(buffer, indices, value, node, target)
        self.items.append(made.replace(span=self.span(statement)))

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
        raise self.mismatch(node, f"is {e.dtype}", wanted, place, verb,
                            f'`T.cast({self.written(node)}, "{wanted}")`')  # fmt: skip

    def mismatch(
        self, node: ast.AST, fact: str, wanted: DataType, place: ast.AST, verb: str, instead: str
    ) -> Failed:
        return self.error(
            node, "RX0502", f"the value {fact}, not {wanted}",
            labels=[(node, fact), (place, f"{verb} {wanted}")], help=f"convert it: {instead}",
            fix=instead.strip("`"),
        )  # fmt: skip

    def literal_of(
        self, value: bool | int | float, wanted: DataType, node: ast.expr, place: ast.AST, verb: str
    ) -> PrimExpr:
        """A plain number as one of a data type."""
        whole = not isinstance(value, float)
        if wanted.is_bool and not (isinstance(value, bool) or value in (0, 1)):
            raise self.mismatch(node, f"is {value}", wanted, place, verb, f"`{value} != 0`")
        if not (wanted.is_float or wanted.is_integer or wanted.is_bool):
            raise self.mismatch(node, "is a number", wanted, place, verb, "an address")
        if not (whole or wanted.is_float):
            near = f"`{int(value)}`" if value == value and abs(value) < 2**63 else "a whole number"
            raise self.mismatch(node, "is a floating-point number", wanted, place, verb, near)
        try:
            made = const(value, wanted)
        except ValueError as error:
            raise self.error(
                node, "RX0502", str(error), labels=[(place, f"{verb} {wanted}")]
            ) from None
        return made.replace(span=self.span(node))

    # statement = target op "=" scalar
    def augmented(self, node: ast.AugAssign) -> None:
        symbol = BINARY[type(node.op)]
        match node.target:
            case ast.Subscript() as target:
                owner, index, value = self.values([target.value, target.slice, node.value])
                buffer, indices = self.stored_place(owner, index, target)
                load = prim.BufferLoad.make(buffer, indices, span=self.span(target))
                result = self.combine(symbol, (load, value), (target, node.value), node)
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

    # ---- forms on the right of "="

    def bind_form(self, target: ast.Name, form: Form, node: ast.expr, statement: ast.stmt) -> None:
        self.check_rebinding(target)
        maker = form.maker
        if maker is tir_forms.meta_var:
            self.names[target.id] = form.arguments["value"]
        elif maker in AXES and isinstance(node, ast.Call):
            self.bind_one_axis(target, form, node)
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
            )  # fmt: skip

    def bind_one_axis(self, target: ast.Name, form: Form, call: ast.Call) -> None:
        bindings = form.arguments.get("bindings")
        if isinstance(bindings, (list, tuple)) and len(bindings) != 1:
            # One name for several axes is a Python tuple of them.
            names = [f"{target.id}_{i}" for i in range(len(bindings))]
            self.names[target.id] = tuple(self.axes(form, names, call))
            return
        self.names[target.id] = self.axes(form, [target.id], call)[0]

    def bind_buffer(self, target: ast.Name, syntax: BufferSyntax, statement: ast.stmt) -> Buffer:
        """A buffer of the body: of a parameter, allocated, or over memory that exists."""
        span = self.span(target)
        if syntax.maker is tir_forms.match_buffer:
            return self.match_buffer(target, syntax, span)
        buffer = self.buffer(target.id, syntax, span)
        if syntax.maker is tir_forms.alloc_buffer:
            self.block.alloc_buffers.append(buffer)
            return buffer
        if syntax.maker is not tir_forms.decl_buffer and buffer.data is None:
            raise self.error(
                syntax.node, "RX0501", "this buffer has no memory",
                help="allocate it: `T.alloc_buffer(shape, dtype)`, or give `data=`",
            )  # fmt: skip
        return self.declare(buffer, "data" not in syntax.nodes, self.span(statement))

    def declare(self, buffer: Buffer, needs_memory: bool, span: Span | None) -> Buffer:
        """`T.decl_buffer`; without `data` the memory is allocated as well."""
        if needs_memory:
            pointer = PointerType.make(PrimType.make(buffer.dtype), buffer.scope)
            data = buffer.data or prim.Var.make(buffer.name, HANDLE, pointer)
            syntax = self.made[buffer]
            buffer = buffer.replace(data=data)
            self.made[buffer] = syntax
            true = const(1, prim.BOOL)
            self.items.append(
                lambda body: tir.Allocate.make(
                    data, buffer.dtype, buffer.shape, true, body, span=span
                )
            )
        self.items.append(lambda body: tir.DeclBuffer.make(buffer, body, span=span))
        return buffer

    def match_buffer(self, target: ast.Name, syntax: BufferSyntax, span: Span | None) -> Buffer:
        """The buffer of a parameter, or of a region."""
        at = syntax.nodes["param"]
        source = self.value(at)
        if isinstance(source, prim.Var):
            buffer = self.buffer(target.id, syntax, span)
            self.match_parameter(source, buffer, at)
            return buffer
        if self.block is self.root or not isinstance(
            source, (Buffer, BufferRegion, prim.BufferLoad)
        ):
            raise self.error(
                at, "RX0501", "`T.match_buffer` takes a parameter `a: T.handle`",
                labels=[(at, f"is {describe(source)}")],
            )  # fmt: skip
        region = self.region_of(source, at)
        if "dtype" not in syntax.nodes:
            text = ast.copy_location(ast.Constant(str(region.buffer.dtype)), syntax.node)
            syntax = BufferSyntax(syntax.maker, {**syntax.nodes, "dtype": text}, syntax.node)
        buffer = self.buffer(target.id, syntax, span)
        self.matched_region(buffer, region, syntax.node)
        return buffer

    def match_parameter(self, param: prim.Var, buffer: Buffer, node: ast.AST) -> None:
        known = self.signature.buffers.get(param)
        if known is not None:
            raise self.error(
                node, "RX0501", f"`{param.name}` is the buffer `{known.name}` already",
                labels=[(known.span, "matched here")],
            )  # fmt: skip
        if param not in self.signature.params or param.dtype.kind != "handle":
            what = f"is {param.dtype}" if param in self.signature.params else "is no parameter"
            raise self.error(
                node, "RX0501", "`T.match_buffer` takes a parameter `a: T.handle`",
                labels=[(node, what)],
            )  # fmt: skip
        self.signature.buffers[param] = buffer

    def bind_memory(
        self, target: ast.Name, form: Form, node: ast.expr, statement: ast.stmt
    ) -> prim.Var:
        """`p = T.allocate(...)`: memory, by its address."""
        places = Places(node)
        if isinstance(node, ast.Call):
            places = self.argument_nodes(form.maker, node)
        dtype = self.dtype_of(form.arguments["dtype"], places["dtype"])
        extents = self.extents(form.arguments["extents"], places["extents"])
        scope = form.arguments.get("scope", "global")
        if not isinstance(scope, str):
            raise self.error(places["scope"], "RX0103", "the scope of memory is a text")
        pointer = PointerType.make(PrimType.make(dtype), scope)
        var = prim.Var.make(target.id, HANDLE, pointer, span=self.span(target))
        notes = self.attributes(form.arguments["annotations"], places["annotations"])
        span = self.span(statement)
        self.fixed[var] = "the address of memory"
        if form.maker is tir_forms.allocate_const:
            with self.at(places["data"]):
                data = np.asarray(form.arguments["data"], dtype.numpy)
            self.items.append(lambda body: tir.AllocateConst.make(
                var, dtype, extents, data, body, notes, span=span))  # fmt: skip
            return var
        given = form.arguments["condition"]
        condition = const(1, prim.BOOL)
        if given is not None:
            condition = self.condition(given, places["condition"])
        self.items.append(lambda body: tir.Allocate.make(
            var, dtype, extents, condition, body, notes, span=span))  # fmt: skip
        return var

    def extents(self, values: Any, node: ast.expr) -> tuple[PrimExpr, ...]:
        """The extents of memory, one for each axis."""
        given = values if isinstance(values, (tuple, list)) else (values,)
        nodes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
        places = nodes if len(nodes) == len(given) else [node] * len(given)
        return tuple(self.extent(v, at) for v, at in zip(given, places))

    def extent(self, value: Any, node: ast.AST) -> PrimExpr:
        """The extent of memory along one axis."""
        e = self.immediate(value, INT32, node) if type(value) is int else self.scalar(value, node)
        if e.dtype.is_integer:
            return e
        raise self.error(node, "RX0108", f"an extent is a whole number, this is {describe(e)}")

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
VALUES = {tir_forms.Range, tir_forms.iter_var, tir_forms.serial, tir_forms.parallel,
          tir_forms.vectorized, tir_forms.unroll, tir_forms.grid}  # fmt: skip
