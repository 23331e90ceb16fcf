"""Calls of PrimFuncs that become calls of others, whose buffers have other layouts."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from relaxscript import te
from relaxscript.arith import Analyzer, Facts, inverse_map, map_shape
from relaxscript.builder import BlockBuilder, ExprMutator
from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, OperandError, quantity
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import INT64, IntImm, PrimExpr, Var as PrimVar
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    Expr,
    GlobalVar,
    Tuple,
    TupleGetItem,
)
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.ir.walk import substitute
from relaxscript.op.calls import call_tir
from relaxscript.op.manipulate.relayout import layout_transform
from relaxscript.op.results import flat
from relaxscript.opdef.shapes import dims_of, tensor_of

__all__ = ["Implementation", "ImplementationSwapper"]

_OPERATOR_NAME = "operator_name"
_Separators = Sequence[int] | None


class Implementation(NamedTuple):
    """A PrimFunc for an operator, and what each of its parameters asks of a tensor.

    There is an index map for each, or None, and the separators of axes after it and before it.
    """

    func: PrimFunc
    maps: tuple[IndexMap | None, ...]
    separators: tuple[_Separators, ...]
    input_separators: tuple[_Separators, ...]


class ImplementationSwapper(ExprMutator):
    """Writes functions with calls of the PrimFuncs that their operators are to have.

    What calls such a PrimFunc already stays as it is.
    """

    def __init__(
        self, mod: IRModule, builder: BlockBuilder, implementations: Mapping[str, Implementation]
    ) -> None:
        super().__init__(mod, builder)
        self._implementations = implementations
        # By the name of a function of the module, the operator that it is to be replaced for.
        self._kinds: dict[str, str | None] = {}
        self._names: dict[str, GlobalVar] = {}
        self._inverses: dict[Hashable, tuple[IndexMap, PrimExpr]] = {}
        # The functions that remove padding, by rank and dtype.
        self._removers: dict[tuple[int, DataType], GlobalVar] = {}

    def binding(self, binding: Binding) -> None:
        call = binding.value
        if isinstance(call, Call) and call.op == call_tir.op:
            callee = call.args[0]
            kind = self._kind(callee) if isinstance(callee, GlobalVar) else None
            if kind is not None:
                self.retype(binding, self._swapped(kind, call))
                return
        super().binding(binding)

    def _kind(self, callee: GlobalVar) -> str | None:
        """The operator whose PrimFunc is called, where it is to have another one."""
        name = callee.name_hint
        if name not in self._kinds:
            func = self.mod.functions.get(callee)
            attrs = func.attrs if isinstance(func, PrimFunc) else None
            kind: Any = None if attrs is None else attrs.get(_OPERATOR_NAME)
            is_asked = kind in self._implementations
            is_other = is_asked and not structural_equal(func, self._named(kind))
            self._kinds[name] = kind if is_other else None
        return self._kinds[name]

    def _named(self, kind: str) -> PrimFunc:
        """The new PrimFunc of an operator, which says whose it is."""
        func: Any = self._implementations[kind].func.without_attr("global_symbol")
        named: PrimFunc = func.with_attr(_OPERATOR_NAME, kind)
        return named

    def _swapped(self, kind: str, call: Call) -> Expr:
        """The value of a call by the new PrimFunc, the steps to which are emitted."""
        made, result = self._implementations[kind], _result_of(call)
        self._require_alike(kind, call, made)
        held = call.args[1]
        assert isinstance(held, Tuple), "so it is in normal form"
        args = tuple([self._moved(made, place, x, call) for place, x in enumerate(held.fields)])
        first = len(made.maps) - len(flat(result))
        info = self._moved_info(made, count(first), result, call)
        swapped = call.replace(
            args=(self._added(kind), Tuple.make(args), *call.args[2:]), sinfo_args=(info,)
        )
        if all(index_map is None for index_map in made.maps[first:]):
            return swapped
        return self._back(made, count(first), self.emit(swapped, "lv", call.span), result, call)

    def _require_alike(self, kind: str, call: Call, made: Implementation) -> None:
        """Refuse a PrimFunc of another number of parameters than the one that it replaces."""
        callee = call.args[0]
        assert isinstance(callee, GlobalVar), "such calls have a kind"
        old = self.mod.functions[callee]
        assert isinstance(old, PrimFunc), "such calls have a kind"
        counts = [len(func.params) for func in (made.func, old)]
        if counts[0] != counts[1]:
            message = (
                f"the PrimFunc for `{kind}` has {quantity(counts[0], 'parameter')}, "
                f"and `{callee.name_hint}`, which it is to replace, has {counts[1]}"
            )
            raise DiagnosticError(Diagnostic("RX0703", message, call.span))

    def _added(self, kind: str) -> GlobalVar:
        """The name of the new PrimFunc of an operator, which is added when it is first called."""
        if kind not in self._names:
            wanted = re.sub(r"\W", "_", f"{kind}_replacement")
            self._names[kind] = self.builder.add_func(self._named(kind), wanted)
        return self._names[kind]

    # -- layouts -----------------------------------------------------------------------------------

    def _moved(self, made: Implementation, place: int, x: Expr, call: Call) -> Expr:
        """An operand in the layout of its buffer."""
        index_map = made.maps[place]
        if index_map is None or (isinstance(x, Constant) and x.data.ndim == 0):
            return x
        return self.emit(_transformed(x, index_map, made, place), "lv", call.span)

    def _moved_info(
        self, made: Implementation, places: Iterator[int], info: StructInfo, call: Call
    ) -> StructInfo:
        """The results as the new PrimFunc gives them, whose parameters are at `places`."""
        if isinstance(info, TupleStructInfo):
            fields = [self._moved_info(made, places, field, call) for field in info.fields]
            return TupleStructInfo.make(tuple(fields))
        index_map = made.maps[next(places)]
        if index_map is None:
            return info
        dims = self._dims(info, call)
        try:
            sizes = map_shape(index_map, dims, self._analyzer())
        except OperandError as error:
            raise error.as_diagnostic_error("AlterOpImpl", call.span) from None
        tensor: Any = info
        return tensor_of(sizes, tensor.dtype, tensor.vdevice)

    def _analyzer(self) -> Analyzer:
        return Analyzer(self.builder.context.facts or Facts())

    def _dims(self, info: StructInfo, call: Call) -> Sequence[PrimExpr]:
        dims = dims_of(info) if isinstance(info, TensorStructInfo) else None
        if dims is None:
            message = "the shape of a result is not known, which an index map is to change"
            raise DiagnosticError(Diagnostic("RX0204", message, call.span))
        return dims

    def _back(
        self, made: Implementation, places: Iterator[int], x: Expr, info: StructInfo, call: Call
    ) -> Expr:
        """The results in the layouts that they had, without what was padded."""
        if isinstance(info, TupleStructInfo):
            fields: list[Expr] = []
            for place, inner in enumerate(info.fields):
                field = self.emit(TupleGetItem.make(x, place), "lv", call.span)
                value = self._back(made, places, field, inner, call)
                fields.append(value if value is field else self.emit(value, "lv", call.span))
            return Tuple.make(tuple(fields))
        place = next(places)
        index_map = made.maps[place]
        if index_map is None:
            return x
        dims = self._dims(info, call)
        inverse, padding = self._inverse(index_map, dims, call)
        value = _transformed(x, inverse, made, place)
        if isinstance(padding, IntImm) and padding.value == 0:
            return value
        padded = self.emit(value, "lv", call.span)
        tensor: Any = info
        operands = self._remove_pad(len(dims), tensor.dtype), Tuple.make((padded,))
        return Call.make(call_tir.op, operands, None, (info,), span=call.span)

    def _inverse(
        self, index_map: IndexMap, dims: Sequence[PrimExpr], call: Call
    ) -> tuple[IndexMap, PrimExpr]:
        """The map that leads back, and where there is padding: found once for calls that are alike.

        Facts decide, too: in a branch more sizes may be known.
        """
        sizes = tuple([dim.value if isinstance(dim, IntImm) else dim for dim in dims])
        key = index_map, sizes, self.builder.context.facts
        if key not in self._inverses:
            is_given = index_map.inverse_index_map is not None
            try:
                found = inverse_map(index_map, dims, self._analyzer(), not is_given)
            except OperandError as error:
                raise error.as_diagnostic_error("AlterOpImpl", call.span) from None
            self._inverses[key] = found
        return self._inverses[key]

    def _remove_pad(self, rank: int, dtype: DataType) -> GlobalVar:
        """The name of a PrimFunc that copies the first elements along each axis."""
        key = rank, dtype
        if key not in self._removers:
            sizes = [[PrimVar.make(f"{of}{axis}", INT64) for axis in range(rank)] for of in "pi"]
            padded = te.placeholder(sizes[0], str(dtype), "input")
            result = te.compute(sizes[1], lambda *i: padded(*i), "output", "elemwise")
            func = te.create_prim_func([padded, result]).without_attr("global_symbol")
            named = func.with_attr(_OPERATOR_NAME, "remove_pad")
            self._removers[key] = self.builder.add_func(named, "remove_pad")
        return self._removers[key]


def _result_of(call: Call) -> StructInfo:
    infos = call.sinfo_args
    return infos[0] if len(infos) == 1 else TupleStructInfo.make(infos)


def _transformed(x: Expr, index_map: IndexMap, made: Implementation, place: int) -> Expr:
    """A tensor in another layout; no two calls have the variables of an index map in common."""
    own = {var: PrimVar.make(var.name, var.dtype) for var in index_map.initial_indices}
    finals = tuple([substitute(e, own) for e in index_map.final_indices])
    value: Expr = layout_transform(
        x, IndexMap(tuple(own.values()), finals), None,
        made.separators[place] or None, made.input_separators[place] or None,
    )  # fmt: skip
    return value
