"""Writing what a lowered function does with its shape heap: computing, reading, checking.

`VMShapeLower` says what is to be checked and where; here stand the calls that this becomes, those
of `relaxscript/runtime/shape_heap.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from relaxscript.arith import text_of
from relaxscript.builder import BlockBuilder
from relaxscript.dtypes import DataType
from relaxscript.errors import Span
from relaxscript.interpreter.checks import Checks
from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Attrs,
    Call,
    DataTypeImm,
    Expr,
    ExternFunc,
    PrimValue,
    ShapeExpr,
    StringImm,
    Tuple,
    Var,
)
from relaxscript.ir.same import structural_equal, structural_hash
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.walk import Substitution, free_vars
from relaxscript.op.calls import call_builtin_with_ctx
from relaxscript.runtime.check import (
    AnyCheck,
    Check,
    Dim,
    DimBind,
    DimConst,
    DimExpr,
    DimLoad,
    FuncCheck,
    PrimCheck,
    ShapeCheck,
    TensorCheck,
    TupleCheck,
    describe,
)
from relaxscript.runtime.check_words import part_of
from relaxscript.runtime.shape_heap import MakeShapeCode, MatchShapeCode
from relaxscript.sinfo import free_shape_vars, shape_vars

from .bindings import BindingRewriter
from .compute_prim_value import HOST_FUNC

__all__ = ["HeapWriter", "Words", "is_constant"]

_OBJECT = ObjectStructInfo()
_UNIT = TupleStructInfo.make(())
_INT64 = DataType("int64")
_EQUAL, _STORE, _SKIP, _LOAD = MatchShapeCode


@dataclass(frozen=True)
class Words:
    """What a message says of a value: its name, the function whose argument it is, and the code.

    `origin` says where variables that are stored come from, if not from the value of that name.
    """

    place: str
    owner: str = ""
    code: str = "RX0605"
    origin: str = ""

    def field(self, index: int) -> Words:
        part = f"[{index}]"
        origin = self.origin and part_of(self.origin, part)
        return Words(part_of(self.place, part), self.owner, self.code, origin)


@dataclass(frozen=True)
class _Matched:
    """A value whose dimensions are to be matched; that of a prim value is its value."""

    value: Expr
    dims: tuple[Dim, ...]
    words: Words
    span: Span | None
    wanted: str
    is_prim: bool = False


@dataclass(frozen=True)
class _Function:
    """A function whose type is to be checked when all shape variables have their values."""

    value: Expr
    info: StructInfo
    words: Words
    span: Span | None
    wanted: str


class HeapWriter(BindingRewriter):
    """Emits the calls of one function. `names` says what the slots of its heap will hold.

    The heap is allocated before it is known what is needed, so a function is gone through twice:
    the first time, without names, `used` is found, and nothing is added to the module.
    """

    def __init__(
        self, mod: IRModule, builder: BlockBuilder, names: Sequence[str] | None, with_words: bool
    ) -> None:
        super().__init__(mod, builder)
        self.only_counts = names is None
        self.names = names or []
        self.used: list[str] = []
        self.with_words = with_words
        self.bound: set[prim.Var] = set()
        # The slots of expressions that were computed, and the shapes that were made, in this scope.
        self.computed: set[int] = set()
        self.shapes: dict[tuple[tuple[int, int], ...], Var] = {}
        self._checks = Checks(lambda e, slot_of: lambda heap: e)
        self._expressions: dict[int, list[tuple[prim.PrimExpr, int]]] = {}  # by hash
        self._heap: Var | None = None
        self._functions: list[_Function] = []

    # -- the heap ----------------------------------------------------------------------------------

    @property
    def heap(self) -> Var:
        assert self._heap is not None, "the heap is allocated before anything is emitted"
        return self._heap

    def allocate(self, span: Span | None) -> None:
        """Emit the allocation of the heap."""
        size = ShapeExpr.make((_index(len(self.names)),))
        info = TensorStructInfo.make(size, _INT64, None, 1)
        args = (_number(len(self.names)), *map(StringImm.make, self.names))
        callee = ExternFunc.make("vm.builtin.alloc_shape_heap")
        op = call_builtin_with_ctx.op
        call = Call.make(op, (callee, Tuple.make(args)), None, (info,), span=span)
        self._heap = self.emit(call, "shape_heap", span)

    def slot(self, e: prim.PrimExpr) -> int:
        """Where the value of a variable or expression stands in the heap."""
        if isinstance(e, prim.Var):
            slots = self._checks.slots
            if e not in slots:
                slots[e] = self._new_slot(e)
            return slots[e]
        alike = self._expressions.setdefault(structural_hash(e), [])
        for known, slot in alike:
            if structural_equal(known, e):
                return slot
        alike.append((e, self._new_slot(e)))
        return alike[-1][1]

    def _new_slot(self, e: prim.PrimExpr) -> int:
        self.used.append(text_of(e))
        return len(self.used) - 1

    def compute(self, values: Sequence[prim.PrimExpr], span: Span | None) -> None:
        """Emit what computes the expressions among `values` that were not computed before."""
        wanted: dict[int, prim.PrimExpr] = {}
        for e in values:
            if not isinstance(e, (prim.Var, prim.IntImm)) and self.slot(e) not in self.computed:
                wanted[self.slot(e)] = e
        self.computed |= set(wanted)
        if wanted and not self.only_counts:
            callee = self.builder.add_func(self._shape_func(wanted), "shape_func")
            self.emit(Call.make(callee, (self.heap,), span=span), "_", span)

    def _shape_func(self, wanted: dict[int, prim.PrimExpr]) -> tir.PrimFunc:
        """The PrimFunc that fills slots from those of the variables."""
        buffer = tir.Buffer("H", (_index(len(self.names)),), _INT64)
        handle = tir.handle_var("H_handle")
        loads = {
            v: _cast(prim.BufferLoad.make(buffer, (_index(slot),)), v.dtype)
            for v, slot in ((v, self.slot(v)) for e in wanted.values() for v in shape_vars_in(e))
        }
        loaded = Substitution(loads)
        stores = tuple(
            tir.BufferStore.make(buffer, _cast(loaded.apply(e), "int64"), (_index(slot),))
            for slot, e in wanted.items()
        )
        body = stores[0] if len(stores) == 1 else tir.SeqStmt.make(stores)
        attrs = Attrs({HOST_FUNC: True})
        return tir.PrimFunc.make((handle,), body, None, {handle: buffer}, attrs)

    # -- values ------------------------------------------------------------------------------------

    def prim_value(self, v: prim.Var, span: Span | None) -> Call:
        """The call that reads a variable as a prim value."""
        args = [self.heap, _number(MakeShapeCode.LOAD_SHAPE), _number(self.slot(v))]
        info = PrimStructInfo.make(v.dtype, v)
        return _builtin("make_prim_value", [*args, DataTypeImm.make(v.dtype)], info, span)

    def shape(self, values: Sequence[prim.PrimExpr], span: Span | None) -> Call:
        """The call that makes a shape."""
        self.compute(values, span)
        flat = [_number(part) for dim in values for part in self._made(dim)]
        info = ShapeStructInfo.make(tuple(values), len(values))
        return _builtin("make_shape", [self.heap, _number(len(values)), *flat], info, span)

    def shape_variable(self, values: Sequence[prim.PrimExpr], span: Span | None) -> Var:
        """A variable that holds a shape; kernels in a row mostly ask for the same."""
        key = tuple(self._made(dim) for dim in values)
        if key not in self.shapes:
            self.shapes[key] = self.emit(self.shape(values, span), "shape", span)
        return self.shapes[key]

    def _made(self, dim: prim.PrimExpr) -> tuple[int, int]:
        if isinstance(dim, prim.IntImm):
            return MakeShapeCode.USE_IMM, dim.value
        return MakeShapeCode.LOAD_SHAPE, self.slot(dim)

    # -- checks ------------------------------------------------------------------------------------

    def check(
        self, values: Sequence[Expr], infos: Sequence[StructInfo | None], words: Sequence[Words],
        spans: Sequence[Span | None],
    ) -> None:  # fmt: skip
        """Emit the checks of values that are matched together: kinds, dimensions, computed ones."""
        held: list[Var] = []

        def shape_slot(var: Var) -> int:
            held.append(var)
            return len(held) - 1

        for v in (v for info in infos for v in free_shape_vars(info or _OBJECT)):
            self.slot(v)
        checks = self._checks.of(infos, self.bound, shape_slot)
        matched: list[_Matched] = []
        for value, info, check, said, span in zip(values, infos, checks, words, spans, strict=True):
            matched += self._kinds(value, info or _OBJECT, check, said, span, held)
        stored: set[int] = set()
        later = [(found, self._first(found, stored)) for found in matched]
        for found, rest in later:
            if rest:
                self._second(found, rest)
        for function in self._functions:
            self._function(function)
        self._functions.clear()

    def _kinds(
        self, value: Expr, info: StructInfo, check: Check, words: Words, span: Span | None,
        held: Sequence[Var],
    ) -> list[_Matched]:  # fmt: skip
        """Emit what tells the kind of a value; the values in it whose dimensions are matched."""
        wanted = describe(check)

        def say(name: str, args: Sequence[Expr]) -> None:
            self._say(name, args, words, wanted, span)

        match check:
            case TensorCheck(dtype=dtype, ndim=ndim, dims=dims, device=device, shape_slot=slot):
                rank = _number(len(dims) if dims is not None else ndim)
                place = StringImm.make("" if device is None else str(device))
                described = [value, rank, DataTypeImm.make(dtype or "void"), place]
                say("check_tensor_info", described)
                if slot is not None:
                    shape = held[slot]
                    name = shape.name_hint
                    self._say("match_shape_value", [value, shape], words, wanted, span, name)
                return [_Matched(value, dims, words, span, wanted)] if dims else []
            case ShapeCheck(ndim=ndim, dims=dims):
                rank = _number(len(dims) if dims is not None else ndim)
                say("check_shape_info", [value, rank])
                return [_Matched(value, dims, words, span, wanted)] if dims else []
            case PrimCheck(dtype=dtype, value=dim):
                say("check_prim_value_info", [value, DataTypeImm.make(dtype)])
                if dim is None:
                    return []
                return [_Matched(value, (dim,), words, span, wanted, True)]
            case FuncCheck():
                self._functions.append(_Function(value, info, words, span, wanted))
            case TupleCheck(fields=fields):
                say("check_tuple_info", [value, _number(len(fields))])
                return self._tuple_kinds(value, info, fields, words, span, held)
        return []

    def _tuple_kinds(
        self, value: Expr, info: StructInfo, fields: Sequence[Check], words: Words,
        span: Span | None, held: Sequence[Var],
    ) -> list[_Matched]:  # fmt: skip
        assert isinstance(info, TupleStructInfo)
        found: list[_Matched] = []
        for i, (check, part) in enumerate(zip(fields, info.fields, strict=True)):
            if isinstance(check, AnyCheck):
                continue
            field = value.fields[i] if isinstance(value, Tuple) else self._field(value, i, span)
            found += self._kinds(field, part, check, words.field(i), span, held)
        return found

    def _field(self, value: Expr, index: int, span: Span | None) -> Var:
        """A field of a tuple that is a tuple of that size, as was checked just before."""
        args = [value, _number(index)]
        return self.emit(_builtin("tuple_getitem", args, _OBJECT, span), "field", span)

    def _first(self, found: _Matched, stored: set[int]) -> dict[int, prim.PrimExpr | int]:
        """Match what numbers and new variables decide.

        What is left: the axes, and the expressions or slots that they must equal.
        """
        pairs: list[tuple[int, Any]] = []
        later: dict[int, prim.PrimExpr | int] = {}
        for axis, dim in enumerate(found.dims):
            match dim:
                case DimBind(slot=slot) if slot not in stored:
                    stored.add(slot)
                    pairs.append((_STORE, slot))
                    continue
                case DimConst(value=value):
                    pairs.append((_EQUAL, value))
                    continue
                case DimExpr(compute=expression):
                    written: Any = expression([])
                    later[axis] = written
                case DimBind(slot=slot) | DimLoad(slot=slot):
                    later[axis] = slot
            pairs.append((_SKIP, 0))
        if len(later) < len(pairs):
            self._match(found, pairs)
        return later

    def _second(self, found: _Matched, rest: dict[int, prim.PrimExpr | int]) -> None:
        """Match what is computed, and variables that were stored before."""
        self.compute([e for e in rest.values() if not isinstance(e, int)], found.span)
        pairs = [(_SKIP, 0)] * len(found.dims)
        for axis, wanted in rest.items():
            pairs[axis] = (_LOAD, wanted if isinstance(wanted, int) else self.slot(wanted))
        self._match(found, pairs)

    def _function(self, found: _Function) -> None:
        """Check a function, whose type may refer to variables that have their values by now."""
        used = [v for v in shape_vars(found.info) if v in self.bound]
        sizes = [self.shape_variable(used, found.span)] if used else []
        texts = self._texts(found.words, found.wanted)
        args = [found.value, *map(StringImm.make, texts), *sizes]
        self.emit(_builtin("check_func_info", args, found.info, found.span), "_", found.span)

    def _match(self, found: _Matched, pairs: Sequence[tuple[int, Any]]) -> None:
        flat = [_imm(part) for pair in pairs for part in pair]
        name, given = "match_prim_value", [found.value, self.heap]
        if not found.is_prim:
            name, given = "match_shape", [*given, _number(len(pairs))]
        origin = found.words.origin or found.words.place
        args = [*given, *flat]
        self._say(name, args, found.words, found.wanted, found.span, origin)

    def _say(
        self, name: str, args: Sequence[Expr], words: Words, wanted: str, span: Span | None,
        origin: str | None = None,
    ) -> None:  # fmt: skip
        """Emit a check; one of dimensions says last where these come from or what has them."""
        texts = self._texts(words, wanted)
        if origin is not None:
            texts.append(origin if self.with_words else "a value")
        given = [*args, *map(StringImm.make, texts)]
        self.emit(_builtin(name, given, _UNIT, span), "_", span)

    def _texts(self, words: Words, wanted: str) -> list[str]:
        if self.with_words:
            return [words.place, words.owner, words.code, wanted]
        return ["the value", "", words.code, ""]


def shape_vars_in(e: prim.PrimExpr) -> list[prim.Var]:
    """The variables that an expression is computed from."""
    return [v for v in free_vars(e) if isinstance(v, prim.Var)]


def is_constant(values: Sequence[prim.PrimExpr]) -> bool:
    """Whether a shape is known, so that it needs no heap."""
    return all(isinstance(e, prim.IntImm) for e in values)


def _builtin(name: str, args: Sequence[Expr], info: StructInfo, span: Span | None) -> Call:
    callee = ExternFunc.make(f"vm.builtin.{name}")
    return Call.make(callee, tuple(args), None, (info,), span=span)


def _number(value: int) -> PrimValue:
    return PrimValue.make(_index(value))


def _index(value: int) -> prim.IntImm:
    return prim.IntImm.make(_INT64, int(value))


def _imm(value: int | float) -> PrimValue:
    if isinstance(value, float):
        return PrimValue.make(prim.FloatImm.make(DataType("float64"), value))
    return _number(value)


def _cast(e: prim.PrimExpr, dtype: str) -> prim.PrimExpr:
    return e if e.dtype == dtype else prim.Cast.make(DataType(dtype), e)
