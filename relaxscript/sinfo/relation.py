"""Where two StructInfos disagree: the one comparison behind subtyping, compatibility and `why`.

`disagreements(derived, base)` walks both at once and yields each place where a value described by
`derived` is not sure to be one described by `base`, with how sure that is. Subtyping and
compatibility differ only in how they judge missing knowledge.

Sources: spec "Subtyping for StructInfo" (parameters contravariant), "Auxiliary Procedures"
(check_compatibility; an unknown rank or device where one is needed is possible).
"""

from __future__ import annotations

import enum
from collections.abc import Container, Iterator
from typing import Any, NamedTuple

from relaxscript.arith import NO, UNKNOWN, YES, Answer, Facts, all_of, prove_equal, text_of
from relaxscript.ir import prim
from relaxscript.ir.module import VDevice
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, ShapeExpr, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    empty_derive,
)

from .matching import known_dimensions, shape_var_mapping, substitute_shape_vars

__all__ = [
    "Certainty", "Disagreement", "disagreements", "prove_same_shape", "same_vdevice", "shown",
]  # fmt: skip


class Certainty(enum.Enum):
    """How sure a disagreement is."""

    DIFFERENT = "different"  # for all values of the variables
    WIDER = "wider"  # no sort of value is named, or a purer one is needed: refused as if different
    UNPROVED = "unproved"  # depends on the variables, or the prover cannot tell
    MISSING = "missing"  # the rank, data type, device or rule that is needed is not said
    UNSTATED = "unstated"  # the dimensions or the value that are needed are not said

    @property
    def refuses(self) -> bool:
        """Whether a value must not go where the other is expected, even with a check."""
        return self is Certainty.DIFFERENT or self is Certainty.WIDER


class Disagreement(NamedTuple):
    """One place where two StructInfos disagree.

    `path` names the fields, parameters and results that lead there from the outside; `words` are
    a sentence with gaps for `gaps`, put together only when somebody reads it.
    """

    certainty: Certainty
    path: tuple[str, ...]
    words: str
    gaps: tuple[Any, ...]

    @property
    def excludes(self) -> bool:
        """Whether no value at all is described by both.

        What two functions take never excludes a third that takes more.
        """
        taken = any(step.startswith("parameter ") for step in self.path)
        return self.certainty is Certainty.DIFFERENT and not taken

    def __str__(self) -> str:
        where = "".join(f"in {step}, " for step in self.path)
        return where + self.words.format(*(shown(gap) for gap in self.gaps))


DIFFERENT = Certainty.DIFFERENT
WIDER = Certainty.WIDER
UNPROVED = Certainty.UNPROVED
MISSING = Certainty.MISSING
UNSTATED = Certainty.UNSTATED

_Finding = tuple[Certainty, str, tuple[Any, ...]]
_Pair = tuple[StructInfo, StructInfo, tuple[str, ...]]

KINDS: dict[type[StructInfo], str] = {
    TensorStructInfo: "a tensor",
    ShapeStructInfo: "a shape",
    PrimStructInfo: "a scalar",
    TupleStructInfo: "a tuple",
    FuncStructInfo: "a function",
}


def disagreements(
    derived: StructInfo,
    base: StructInfo,
    facts: Facts | None = None,
    in_scope: Container[prim.Var] = (),
) -> Iterator[Disagreement]:
    """Every place where a value described by `derived` may fail to be one described by `base`.

    Shape variables that stand alone in the parameters of a function type are its own, unless they
    are `in_scope`. The order is that of the fields; nothing is yielded when all agree.
    """
    stack: list[_Pair] = [(derived, base, ())]
    # Shared parts are compared once. The pairs are kept alive, so that no id is used twice.
    seen: dict[tuple[int, int], _Pair] = {}
    while stack:
        pair = stack.pop()
        a, b, path = pair
        if a is b or type(b) is ObjectStructInfo or (id(a), id(b)) in seen:
            continue
        seen[id(a), id(b)] = pair
        inner: list[_Pair] = []
        for certainty, words, gaps in _compare(a, b, facts, in_scope, path, inner):
            yield Disagreement(certainty, path, words, gaps)
        stack.extend(reversed(inner))


def _compare(
    a: StructInfo,
    b: StructInfo,
    facts: Facts | None,
    in_scope: Container[prim.Var],
    path: tuple[str, ...],
    inner: list[_Pair],
) -> Iterator[_Finding]:
    match a, b:
        case TensorStructInfo(), TensorStructInfo():
            return _tensors(a, b, facts)
        case ShapeStructInfo(), ShapeStructInfo():
            return _shapes(a, b, facts)
        case PrimStructInfo(), PrimStructInfo():
            return _prims(a, b, facts)
        case TupleStructInfo(), TupleStructInfo():
            return _tuples(a, b, path, inner)
        case FuncStructInfo(), FuncStructInfo():
            return _functions(a, b, in_scope, path, inner)
        case ObjectStructInfo(), _:
            return iter([(WIDER, "nothing is known of it, and {} is needed", (_kind(b),))])
    return iter([(DIFFERENT, "it is {}, not {}", (_kind(a), _kind(b)))])


def _kind(info: StructInfo) -> str:
    return KINDS.get(type(info), "an object")


def _tensors(a: TensorStructInfo, b: TensorStructInfo, facts: Facts | None) -> Iterator[_Finding]:
    if a.dtype is not b.dtype and not b.dtype.is_void:
        if a.dtype.is_void:
            yield MISSING, "the dtype is unknown, and {} is needed", (b.dtype,)
        else:
            yield DIFFERENT, "the dtype is {}, not {}", (a.dtype, b.dtype)
    if a.ndim != b.ndim and b.ndim != -1:
        yield _ranks(a.ndim, b.ndim)
    elif b.shape is not None and a.shape is not b.shape:
        yield from _tensor_shapes(a, b, facts)
    if b.vdevice is not None and not same_vdevice(a.vdevice, b.vdevice):
        if a.vdevice is None:
            yield MISSING, "the device is unknown, and {} is needed", (b.vdevice,)
        else:
            yield DIFFERENT, "the device is {}, not {}", (a.vdevice, b.vdevice)


def _ranks(a: int, b: int) -> _Finding:
    if a == -1:
        return MISSING, "the rank is unknown, and {} is needed", (b,)
    return DIFFERENT, "the rank is {}, not {}", (a, b)


def _tensor_shapes(
    a: TensorStructInfo, b: TensorStructInfo, facts: Facts | None
) -> Iterator[_Finding]:
    assert b.shape is not None
    theirs = known_dimensions(b.shape)
    mine = known_dimensions(a.shape) if a.shape is not None else None
    if a.ndim == b.ndim == 0:
        return
    if a.shape is None:
        yield UNSTATED, "the shape is unknown, and {} is needed", (b.shape,)
    elif mine is None or theirs is None:
        yield UNPROVED, "the shape is {}, which is not known to be {}", (a.shape, b.shape)
    else:
        yield from _dimensions(mine, theirs, facts)


def _dimensions(
    mine: tuple[PrimExpr, ...], theirs: tuple[PrimExpr, ...], facts: Facts | None
) -> Iterator[_Finding]:
    if len(mine) != len(theirs):
        yield _ranks(len(mine), len(theirs))
        return
    for i, (x, y) in enumerate(zip(mine, theirs)):
        if x is y:
            continue
        answer = prove_equal(x, y, facts)
        if answer is NO:
            yield DIFFERENT, "dimension {} is {}, not {}", (i, x, y)
        elif answer is UNKNOWN:
            yield UNPROVED, "dimension {} is {}, which is not known to be {}", (i, x, y)


def _shapes(a: ShapeStructInfo, b: ShapeStructInfo, facts: Facts | None) -> Iterator[_Finding]:
    if a.ndim != b.ndim:
        if b.ndim != -1:
            yield _ranks(a.ndim, b.ndim)
    elif b.values is not None and a.ndim != 0:
        if a.values is None:
            yield UNSTATED, "its dimensions are unknown, and {} is needed", (b.values,)
        else:
            yield from _dimensions(a.values, b.values, facts)


def _prims(a: PrimStructInfo, b: PrimStructInfo, facts: Facts | None) -> Iterator[_Finding]:
    if a.dtype is not b.dtype:
        yield DIFFERENT, "the dtype is {}, not {}", (a.dtype, b.dtype)
    elif b.value is not None and a.value is not b.value:
        answer = UNKNOWN if a.value is None else prove_equal(a.value, b.value, facts)
        if a.value is None:
            yield UNSTATED, "the value is unknown, and {} is needed", (b.value,)
        elif answer is NO:
            yield DIFFERENT, "the value is {}, not {}", (a.value, b.value)
        elif answer is UNKNOWN:
            yield UNPROVED, "the value is {}, which is not known to be {}", (a.value, b.value)


def _tuples(
    a: TupleStructInfo, b: TupleStructInfo, path: tuple[str, ...], inner: list[_Pair]
) -> Iterator[_Finding]:
    if len(a.fields) != len(b.fields):
        yield DIFFERENT, "it has {}, not {}", (_count(a.fields, "field"), len(b.fields))
        return
    pairs = zip(a.fields, b.fields)
    inner.extend((x, y, (*path, f"field {i}")) for i, (x, y) in enumerate(pairs) if x is not y)


def _count(items: tuple[Any, ...], noun: str) -> str:
    return f"{len(items)} {noun}" if len(items) == 1 else f"{len(items)} {noun}s"


def _functions(
    a: FuncStructInfo,
    b: FuncStructInfo,
    in_scope: Container[prim.Var],
    path: tuple[str, ...],
    inner: list[_Pair],
) -> Iterator[_Finding]:
    if b.purity and not a.purity:
        yield WIDER, "it is impure, not pure", ()
    if a.params is None and b.params is None:
        yield from _packed(a, b, path, inner)
        return
    if a.params is None or b.params is None:
        kinds = ("a PackedFunc", "a function with known parameters")
        yield DIFFERENT, "it is {}, not {}", kinds if a.params is None else kinds[::-1]
        return
    if len(a.params) != len(b.params):
        taken = _count(a.params, "parameter")
        yield DIFFERENT, "it takes {}, not {}", (taken, len(b.params))
        return
    mapping = shape_var_mapping(a.params, b.params, in_scope)
    for i, (x, y) in enumerate(zip(a.params, b.params)):
        # Whoever uses it passes what `b` takes, so here the roles are exchanged.
        inner.append((y, substitute_shape_vars(x, mapping), (*path, f"parameter {i}")))
    inner.append((substitute_shape_vars(a.ret, mapping), b.ret, (*path, "the result")))


def _packed(
    a: FuncStructInfo, b: FuncStructInfo, path: tuple[str, ...], inner: list[_Pair]
) -> Iterator[_Finding]:
    """PackedFuncs: a `derive_func` is known only by its identity; without one `ret` is constant."""
    if _derives_nothing(b) or (a.derive_func is not None and a.derive_func == b.derive_func):
        return
    if a.derive_func is None and b.derive_func is None:
        inner.append((a.ret, b.ret, (*path, "the result")))
        return
    yield MISSING, "its result is derived in another way", ()


def _derives_nothing(info: FuncStructInfo) -> bool:
    if info.derive_func is None:
        return type(info.ret) is ObjectStructInfo
    return info.derive_func is empty_derive


def same_vdevice(a: VDevice | None, b: VDevice | None) -> bool:
    """Whether both name the same device; "cpu" is the target kind "llvm"."""
    if a is b:
        return True
    if a is None or b is None:
        return False
    return _device(a) == _device(b)


def _device(device: VDevice) -> tuple[Any, ...]:
    kind = "llvm" if device.target.kind == "cpu" else device.target.kind
    return kind, dict(device.target.attrs), device.vdevice_id, device.memory_scope


def prove_same_shape(a: Expr, b: Expr, facts: Facts | None = None) -> Answer:
    """Whether two shapes (literals, or variables that hold shapes) are equal."""
    if a is b:
        return YES
    mine, theirs = known_dimensions(a), known_dimensions(b)
    if mine is None or theirs is None:
        return UNKNOWN
    if len(mine) != len(theirs):
        return NO
    return all_of(prove_equal(x, y, facts) for x, y in zip(mine, theirs))


def shown(value: Any) -> str:
    """A dimension, shape, device or word as it stands in a sentence."""
    match value:
        case PrimExpr():
            return f"`{text_of(value)}`"
        case ShapeExpr(values) | tuple(values):
            inner = ", ".join(text_of(e) for e in values)
            return f"`({inner},)`" if len(values) == 1 else f"`({inner})`"
        case Var(name_hint=name):
            return f"`{name}`"
        case VDevice(memory_scope="global"):
            return f"{value.target}:{value.vdevice_id}"
    return str(value)
