"""The PrimFunc that computes what several do one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.ir.buffer_access import StorageScope
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import HANDLE, PointerType, PrimType, Var as PrimVar, const
from relaxscript.ir.relax import (
    Binding,
    Constant,
    Expr,
    Function,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import ShapeStructInfo, StructInfo, TensorStructInfo
from relaxscript.ir.tir import (
    Allocate,
    AllocateConst,
    AssertStmt,
    Buffer,
    DeclBuffer,
    For,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
)
from relaxscript.op.results import NEW
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.semantics.vector_math import ATTRIBUTE as VECTOR_MATH
from relaxscript.semantics.write_sets import written_params
from relaxscript.tir_builder import Opener, TIRBuilder

from .body_template import BodyTemplate, body_template
from .definite_writes import writes_all
from .tir_calls import TIRCall, TIRCalls, tensors_of

__all__ = ["Joined", "JoinedFunctions"]

_GLOBAL = StorageScope("global")


class Joined(NamedTuple):
    """A PrimFunc, and how the function was called in the place of which it is.

    `indices` has for each result the argument that it is written into, or -1 for a new tensor.
    """

    function: PrimFunc
    params: tuple[StructInfo, ...]
    result: StructInfo
    indices: tuple[int, ...]


class JoinedFunctions:
    """Joins the PrimFuncs that functions of a module call.

    `templates` are the bodies of those by their names, None where one cannot be joined.
    """

    def __init__(self, mod: IRModule) -> None:
        self.templates: dict[str, BodyTemplate | None] = {}
        self._calls = TIRCalls(mod)
        self._fills: dict[tuple[str, int], bool] = {}
        # The types of addresses by their dtypes.
        self._addresses: dict[DataType, PointerType] = {}

    def join(self, func: Function) -> Joined | None:
        """One PrimFunc for a function; None where that cannot be."""
        flow = _flow_of(func, self._calls)
        if flow is None:
            return None
        templates: list[BodyTemplate] = []
        for call, _ in flow.calls:
            template = self._template(call)
            if template is None:
                return None
            templates.append(template)
        # One function has one exp, so functions with different ones stay apart.
        if len({template.vector_math for template in templates} - {None}) > 1:
            return None
        # The memory between two calls is not zero before it is written.
        for cell in flow.made:
            if not self._fills_cell(cell) and cell not in flow.results:
                return None
        return self._write(func, flow, templates)

    def _template(self, call: TIRCall) -> BodyTemplate | None:
        name = call.gvar.name_hint
        if name not in self.templates:
            self.templates[name] = body_template(call.signature)
        return self.templates[name]

    def _fills_cell(self, cell: _Cell) -> bool:
        """True if the call that makes a tensor writes all of it before it reads any of it."""
        assert cell.made_by is not None
        call, place = cell.made_by
        key = call.gvar.name_hint, place
        found = self._fills.get(key)
        if found is None:
            template = self._template(call)
            buffer = call.signature.buffers[place]
            found = template is not None and writes_all(template.body, buffer)
            self._fills[key] = found
        return found

    def _write(self, func: Function, flow: _Flow, templates: Sequence[BodyTemplate]) -> Joined:
        builder, unique = TIRBuilder(private=True), _UniqueNames()
        buffers: dict[_Cell, Buffer] = {}
        new = [cell for cell in flow.results if cell.param is None]
        for cell in (*flow.params, *new):
            buffers[cell] = self._buffer(cell, unique)
            builder.add_param(buffers[cell])
        for var in flow.integers:
            builder.add_param(var)
        for cell in flow.made:
            if cell not in buffers:
                buffers[cell] = builder.alloc_buffer(self._buffer(cell, unique))
        for cell in flow.scalars:
            buffers[cell] = builder.alloc_buffer(self._buffer(cell, unique))
            assert cell.value is not None, "it is a constant"
            builder.store(buffers[cell], (), const(cell.value, cell.info.dtype))
        for (call, cells), template in zip(flow.calls, templates):
            body, own = template.write([buffers[cell] for cell in cells], call.sizes, unique)
            for buffer in own:
                builder.alloc_buffer(buffer)
            _add(builder, body)
        builder.has_blocks |= any(template.has_blocks for template in templates)
        if all(template.is_noalias for template in templates) or _are_apart(flow):
            builder.func_attr({"tir.noalias": True})
        if any(template.vector_math for template in templates):
            builder.func_attr({VECTOR_MATH: True})
        builder.span = func.span
        return Joined(
            builder.finish(),
            tuple([param.struct_info for param in func.params]),
            flow.result,
            tuple([NEW if cell.param is None else cell.param for cell in flow.results]),
        )

    def _buffer(self, cell: _Cell, unique: _UniqueNames) -> Buffer:
        """Memory for a tensor, whose dimensions are known to be ones."""
        name, dtype = unique(cell.name), cell.info.dtype
        address = self._addresses.get(dtype)
        if address is None:
            address = self._addresses[dtype] = PointerType.make(PrimType.make(dtype), _GLOBAL)
        data = PrimVar.make(name, HANDLE, address)
        dims = cell.info.dims or ()
        return Buffer.make(name, dims, dtype, data, (), None, _GLOBAL, 64, 1, "default")


def _add(builder: TIRBuilder, body: Stmt) -> None:
    """Add statements one after the other; what one of them opens lasts to the end of the function.

    So it reads when it is printed. Nothing that follows can see what is defined there.
    """
    if body.__class__ is For:  # as most are
        builder.add(body)
        return
    stack = [body]
    while stack:
        at = stack.pop()
        match at:
            case SeqStmt(seq):
                stack += reversed(seq)
            case LetStmt() | AssertStmt() | Allocate() | AllocateConst() | DeclBuffer():
                builder.add(_opener(at))
                stack.append(at.body)
            case _:
                builder.add(at)


def _opener(outer: Stmt) -> Opener:
    return lambda inner: outer.replace(body=inner)


def _are_apart(flow: _Flow) -> bool:
    """True if all that is written is new: tensors that are given may be the same then."""
    for call, _ in flow.calls:
        if any(index != NEW for index in call.indices):
            return False
        func, results = call.signature.func, tensors_of(call.result) or ()
        buffers = [i for i, param in enumerate(func.params) if param in func.buffer_map]
        if not written_params(func) <= {*buffers[len(buffers) - len(results) :]}:
            return False
    return True


class _UniqueNames:
    """Gives each name once: `T_add`, then `T_add_1`."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def __call__(self, wanted: str) -> str:
        count = self._counts.get(wanted)
        if count is None:
            self._counts[wanted] = 0
            return wanted
        while True:
            count += 1
            name = f"{wanted}_{count}"
            if name not in self._counts:
                self._counts[wanted], self._counts[name] = count, 0
                return name


# ---------------------------------------------------------------- what a function does


class _Cell:
    """A tensor of a function: a parameter, by its number; what a call makes; or a value."""

    __slots__ = ("info", "is_written", "made_by", "name", "param", "value")

    def __init__(
        self, name: str, info: TensorStructInfo, param: int | None = None,
        made_by: tuple[TIRCall, int] | None = None, value: float | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.info = info
        self.param = param
        self.made_by = made_by
        self.value = value
        self.is_written = made_by is not None


class _Flow(NamedTuple):
    """The calls of a function in their order, with the tensors that each is given.

    `made` are the tensors that calls make, `scalars` are constants, and `integers` are the shape
    variables that are passed.
    """

    params: list[_Cell]
    integers: tuple[PrimVar, ...]
    calls: list[tuple[TIRCall, list[_Cell]]]
    made: list[_Cell]
    scalars: list[_Cell]
    results: list[_Cell]
    result: StructInfo


def _flow_of(func: Function, known_calls: TIRCalls) -> _Flow | None:
    """The calls of a function; None where it does something else."""
    body = func.body
    params, integers = _params_of(func)
    if not isinstance(body, SeqExpr) or params is None:
        return None
    values = _Values(params)
    for binding in [b for block in body.blocks for b in block.bindings]:
        call = None
        if isinstance(binding, VarBinding):
            call = known_calls.match(binding.value, in_place=True)
        if not (values.bind(binding) if call is None else values.call(binding.var, call)):
            return None
    found = values.of(body.body)
    results = [found] if isinstance(found, _Cell) else list(found or ())
    result = struct_info_of_leaf(body.body)
    if not _are_results([*params.values()], results) or tensors_of(result) is None:
        return None
    return _Flow(
        [*params.values()], integers, values.calls, values.made, values.scalars, results, result
    )


def _params_of(func: Function) -> tuple[dict[Var, _Cell] | None, tuple[PrimVar, ...]]:
    """The tensors among the parameters, and the shape variables; None where there are others."""
    cells: dict[Var, _Cell] = {}
    integers: tuple[PrimVar, ...] = ()
    for param in func.params:
        match param.struct_info:
            case TensorStructInfo(dims=dims) as info if dims is not None:
                cells[param] = _Cell(param.name_hint, info, param=len(cells))
            case ShapeStructInfo(values=values) if values is not None and not integers:
                integers = tuple([v for v in values if isinstance(v, PrimVar)])
                if len(set(integers)) < len(values):
                    return None, ()
            case _:
                return None, ()
    return cells, integers


def _are_results(params: list[_Cell], results: list[_Cell]) -> bool:
    """True if calls write each result, each once, and no other parameter."""
    if not results or len(set(results)) < len(results):
        return False
    if not all(cell.is_written and cell.value is None for cell in results):
        return False
    return not any(cell.is_written and cell not in results for cell in params)


def _results_of(call: TIRCall, args: list[_Cell]) -> list[_Cell]:
    """The results of a call: arguments that it writes into, and new tensors."""
    infos = tensors_of(call.result)
    assert infos is not None, "the call fits"
    results: list[_Cell] = []
    place = len(args)
    for index, info in zip(call.indices, infos):
        if index != NEW:
            args[index].is_written = True
            results.append(args[index])
            continue
        name = f"{call.signature.buffers[place].name}_intermediate"
        results.append(_Cell(name, info, made_by=(call, place)))
        place += 1
    return results


class _Values:
    """The variables of a function, each a tensor or several as a tuple, and what it calls."""

    def __init__(self, params: Mapping[Var, _Cell]) -> None:
        self.calls: list[tuple[TIRCall, list[_Cell]]] = []
        self.made: list[_Cell] = []
        self.scalars: list[_Cell] = []
        self._cells: dict[Expr, _Cell | tuple[_Cell, ...]] = dict(params.items())

    def of(self, expr: Expr) -> _Cell | tuple[_Cell, ...] | None:
        """A variable, a field of one, or a tuple of tensors; None for anything else."""
        match expr:
            case Var():
                return self._cells.get(expr)
            case Constant(data) if not data.ndim:
                info = struct_info_of_leaf(expr)
                assert isinstance(info, TensorStructInfo), "it is a tensor"
                self.scalars.append(_Cell("scalar", info, value=data.item()))
                return self.scalars[-1]
            case TupleGetItem(tuple_value, index):
                held = self.of(tuple_value)
                return held[index] if isinstance(held, tuple) and index < len(held) else None
            case Tuple(fields):
                found = [self.of(field) for field in fields]
                cells = tuple([cell for cell in found if isinstance(cell, _Cell)])
                return cells if len(cells) == len(fields) else None
        return None

    def call(self, var: Var, call: TIRCall) -> bool:
        """Note a call, whose results a variable is; False where an argument is not known."""
        cells: list[_Cell] = []
        for arg in call.args:
            found = self.of(arg)
            if not isinstance(found, _Cell):
                return False
            cells.append(found)
        results = _results_of(call, cells)
        new = [cell for cell, index in zip(results, call.indices) if index == NEW]
        self.made += new
        self.calls.append((call, [*cells, *new]))
        single = isinstance(call.result, TensorStructInfo)
        self._cells[var] = results[0] if single else tuple(results)
        return True

    def bind(self, binding: Binding) -> bool:
        """Note another name, a field or a tuple; False for any other value."""
        found = self.of(binding.value) if isinstance(binding, VarBinding) else None
        if found is None:
            return False
        self._cells[binding.var] = found
        return True
