"""Random StructInfos over a few shape variables, and others that are near them.

`N` and `M` are known outside; function types bind `P`, `Q` and `K`, the same ones again and again,
so that what confuses two functions' variables is found. The first cases are small, and so is the
first failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

import numpy as np

from relaxscript.ir import prim
from relaxscript.ir.distributed import DeviceMesh, Placement, placement_mistake
from relaxscript.ir.module import VDevice
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import ShapeExpr, Var
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
    empty_derive,
)
from relaxscript.sinfo import definable_shape_vars, free_shape_vars, substitute_shape_vars
from relaxscript_tests import examples

N, M, P, Q, K = (prim.Var(name, "int64") for name in "nmpqk")
OUTSIDE = frozenset({N, M})
OWN = (P, Q, K)
CPU0, CPU1 = VDevice("llvm", 0), VDevice("llvm", 1)
OBJECT = ObjectStructInfo()
HELD = Var("s", ShapeStructInfo(ndim=2))
KNOWN = Var("t", ShapeStructInfo((N, 4)))
ANY_RANK = Var("u", ShapeStructInfo())

LINE, SQUARE = DeviceMesh((2,), (0, 1)), DeviceMesh((2, 2), range(4))
PLACEMENTS = {
    LINE: ("R", "R", "S[0]", "S[1]"), SQUARE: ("R, R", "S[0], R", "R, S[0]", "S[1], S[0]"),
}  # fmt: skip

DTYPES = ("float32", "float32", "bfloat16", "int8", "void")
PRIM_DTYPES = ("int64", "int64", "int32", "float32", "bool")
DERIVATIONS = (None, default_derive, empty_derive, "tests.derive")
Scope = tuple[prim.Var, ...]


def integer(value: int) -> prim.IntImm:
    return prim.IntImm("int64", value)


def cases(rng: np.random.Generator, whole: int = 20_000) -> Iterator[Infos]:
    """As many sources of random StructInfos as the effort says; the first draw small ones."""
    count = examples(whole)
    random = Random(int(rng.integers(1 << 62)))
    for number in range(count):
        yield Infos(random, depth=min(3, 1 + 6 * number // count))


class Infos:
    """Draws StructInfos of at most some depth."""

    def __init__(self, random: Random, depth: int) -> None:
        self.random = random
        self.pick = random.choice
        self.depth = depth

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # ---- the kinds

    def info(self, scope: Scope = (N, M), depth: int | None = None) -> StructInfo:
        """Any StructInfo whose variables are of `scope`, or bound by a function type in it."""
        depth = self.depth if depth is None else depth
        kinds = [self.tensor, self.tensor, self.shape, self.prim, lambda _: OBJECT]
        kinds += [self.distributed]
        if depth > 0:
            kinds += [lambda s: self.tuple(s, depth)] * 2 + [lambda s: self.function(s, depth)] * 4
        return self.pick(kinds)(scope)

    def dim(self, scope: Scope) -> PrimExpr:
        if self.chance(0.3):
            return integer(self.pick(range(5)))
        v, w = self.pick(scope), self.pick(scope)
        return self.pick([v, v, v, v + 1, v * 2, v + v, v + w, w + v, (v + 3) // 4 * 4])

    def dims(self, scope: Scope, rank: int) -> tuple[PrimExpr, ...]:
        return tuple(self.dim(scope) for _ in range(rank))

    def tensor(self, scope: Scope) -> StructInfo:
        dtype, device = self.pick(DTYPES), self.pick([None, None, None, CPU0, CPU1])
        match self.pick(["rank", "literal", "literal", "literal", "held"]):
            case "literal":
                return TensorStructInfo(self.dims(scope, self.pick(range(3))), dtype, device)
            case "held":
                return TensorStructInfo(self.pick([HELD, KNOWN, ANY_RANK]), dtype, device)
        return TensorStructInfo(None, dtype, device, self.pick(range(-1, 3)))

    def distributed(self, scope: Scope) -> StructInfo:
        return self.placed(self.tensor(scope))

    def placed(self, tensor: StructInfo) -> StructInfo:
        """A tensor on a mesh, cut as it can be."""
        assert isinstance(tensor, TensorStructInfo)
        tensor = tensor.replace(vdevice=None)
        mesh = self.pick([LINE, LINE, SQUARE])
        placement = Placement.from_text(self.pick(PLACEMENTS[mesh]))
        if placement_mistake(tensor, mesh, placement) is not None:
            placement = Placement.from_text(PLACEMENTS[mesh][0])
        return DTensorStructInfo(tensor, mesh, placement)

    def shape(self, scope: Scope) -> StructInfo:
        rank = self.pick(range(-1, 3))
        if rank < 0 or self.chance(0.4):
            return ShapeStructInfo(None, rank)
        return ShapeStructInfo(self.dims(scope, rank))

    def prim(self, scope: Scope) -> StructInfo:
        dtype = self.pick(PRIM_DTYPES)
        if self.chance(0.4):
            return PrimStructInfo(dtype)
        if dtype == "int64":
            return PrimStructInfo(dtype, self.dim(scope))
        return PrimStructInfo(dtype, prim.const(self.pick([0, 1]), dtype))

    def tuple(self, scope: Scope, depth: int) -> StructInfo:
        count = self.pick(range(3))
        return TupleStructInfo([self.info(scope, depth - 1) for _ in range(count)])

    def function(self, scope: Scope, depth: int) -> StructInfo:
        if self.chance(0.25):
            derive = self.pick(DERIVATIONS)
            ret = self.info(scope, 0) if derive is None else OBJECT
            return FuncStructInfo(None, ret, self.chance(0.3), derive)
        own = tuple(v for v in OWN if v not in scope and self.chance(0.5))
        inner = scope + own
        params = [self.info(inner, depth - 1) for _ in range(self.pick(range(3)))]
        return self.closed(params, self.info(inner, depth - 1), scope)

    def closed(self, params: list[StructInfo], ret: StructInfo, scope: Scope) -> StructInfo:
        """A function type that binds every variable it uses beyond those of `scope`."""
        whole = FuncStructInfo(params, ret, self.chance(0.6))
        unbound = [v for v in free_shape_vars(whole) if v not in scope]
        if not unbound:
            return whole
        shape = ShapeStructInfo(tuple(unbound))
        return whole.replace(params=(*params, shape))

    # ---- near ones

    def weaker(self, info: StructInfo, scope: Scope = (N, M)) -> StructInfo:
        """The same or less knowledge: a StructInfo above `info`."""
        return self.moved(info, scope, self.less)

    def stronger(self, info: StructInfo, scope: Scope = (N, M)) -> StructInfo:
        """The same or more knowledge: a StructInfo below `info`."""
        return self.moved(info, scope, self.more)

    def less(self, info: StructInfo, scope: Scope) -> StructInfo:
        if self.chance(0.1):
            return OBJECT
        match info:
            case TensorStructInfo(shape, dtype, vdevice, ndim):
                keep = self.pick(["all", "rank", "nothing"])
                return TensorStructInfo(
                    shape if keep == "all" else None, self.pick([dtype, "void"]),
                    self.pick([vdevice, None]), -1 if keep == "nothing" else ndim,
                )  # fmt: skip
            case ShapeStructInfo(values, ndim):
                keep = self.pick(["all", "rank", "nothing"])
                kept = values if keep == "all" else None
                return ShapeStructInfo(kept, -1 if keep == "nothing" else ndim)
            case PrimStructInfo(dtype, value):
                return PrimStructInfo.make(dtype, self.pick([value, None]))
            case FuncStructInfo(params=None, derive_func=derive) if derive is not None:
                return info.replace(derive_func=self.pick([derive, empty_derive]), purity=False)
            case FuncStructInfo(purity=purity):
                return info.replace(purity=self.pick([purity, False]))
        return info

    def more(self, info: StructInfo, scope: Scope) -> StructInfo:
        match info:
            case ObjectStructInfo():
                return self.info(scope, 0) if self.chance(0.3) else info
            case TensorStructInfo(shape, dtype, vdevice, ndim):
                rank = self.pick(range(3)) if ndim == -1 else ndim
                known = self.dims(scope, rank) if shape is None and self.chance(0.5) else shape
                if known is ANY_RANK:
                    rank = -1
                return TensorStructInfo(
                    known, self.pick(DTYPES) if dtype.is_void else dtype,
                    vdevice or self.pick([None, CPU0]), rank,
                )  # fmt: skip
            case ShapeStructInfo(None, ndim):
                rank = self.pick(range(3)) if ndim == -1 else ndim
                return ShapeStructInfo(self.dims(scope, rank))
            case PrimStructInfo(dtype, None) if dtype == "int64":
                return PrimStructInfo.make(dtype, self.dim(scope))
            case FuncStructInfo(purity=purity):
                return info.replace(purity=self.pick([purity, True]))
        return info

    def near(self, info: StructInfo, scope: Scope = (N, M), params: bool = True) -> StructInfo:
        """`info` with a few changes, up, down and sideways; parameters only where `params`."""

        def change(part: StructInfo, scope: Scope) -> StructInfo:
            if self.chance(0.6):
                return part
            if type(part) is TensorStructInfo and self.chance(0.2):
                return self.tensor(scope)
            return self.pick([self.less, self.more, self.sideways])(part, scope)

        if self.chance(0.1):
            return self.info(scope, 0)
        return self.moved(info, scope, change, change if params else kept)

    def beside(self, info: StructInfo, scope: Scope = (N, M)) -> StructInfo:
        """`info` with other sizes and values, or with the same in other words."""
        return self.moved(info, scope, self.sideways, self.sideways)

    def sideways(self, info: StructInfo, scope: Scope) -> StructInfo:
        match info:
            case DTensorStructInfo(tensor_sinfo=tensor) if self.chance(0.3):
                return self.placed(tensor)
            case TensorStructInfo(shape=ShapeExpr(values)):
                return info.replace(shape=ShapeExpr(self.changed(values, scope)))
            case ShapeStructInfo(values=tuple(values)):
                return info.replace(values=self.changed(values, scope))
            case PrimStructInfo(dtype, value) if dtype == "int64" and value is not None:
                return info.replace(value=self.changed((value,), scope)[0])
        return info

    def changed(self, dims: tuple[PrimExpr, ...], scope: Scope) -> tuple[PrimExpr, ...]:
        """Dimensions of which some are said in other words, or are others."""

        def other(e: PrimExpr) -> PrimExpr:
            v = self.pick(scope)
            return self.pick([e, e, e, e, e + 0, e * 2 - e, v, v, self.dim(scope)])

        return tuple(map(other, dims))

    def moved(
        self,
        info: StructInfo,
        scope: Scope,
        step: Callable[[StructInfo, Scope], StructInfo],
        back: Callable[[StructInfo, Scope], StructInfo] | None = None,
    ) -> StructInfo:
        """`info` with each part changed by `step`; what functions take, by its opposite `back`."""
        if back is None:
            back = {self.less: self.more, self.more: self.less}[step]
        match step(info, scope):
            case DTensorStructInfo(tensor_sinfo=tensor) as whole:
                part = step(tensor, scope)
                if not isinstance(part, TensorStructInfo):
                    return whole
                part = part.replace(vdevice=None)
                mistaken = placement_mistake(part, whole.device_mesh, whole.placement)
                return whole if mistaken else whole.replace(tensor_sinfo=part)
            case TupleStructInfo(fields):
                return TupleStructInfo([self.moved(f, scope, step, back) for f in fields])
            case FuncStructInfo(params=tuple(params)) as function:
                own = tuple(v for v in free_shape_vars(TupleStructInfo(params)) if v not in scope)
                inner = scope + own
                taken = [p if back is kept else self.moved(p, inner, back, step) for p in params]
                ret = self.moved(function.ret, inner, step, back)
                whole = FuncStructInfo(taken, ret)
                if not _bind_alike(params, taken, own) or set(free_shape_vars(whole)) - {*scope}:
                    taken = list(params)  # what bound a variable has gone
                changed = function.replace(params=tuple(taken), ret=ret)
                return self.renamed(changed, own, scope)
            case FuncStructInfo() as packed if packed.derive_func is None:
                return packed.replace(ret=self.moved(packed.ret, scope, step, back))
            case changed:
                return changed

    def renamed(self, info: StructInfo, own: Scope, scope: Scope) -> StructInfo:
        """A function type that may bind another variable in the place of one of its own."""
        unused = [v for v in OWN if v not in own and v not in scope]
        if not own or not unused or self.chance(0.5):
            return info
        return substitute_shape_vars(info, {self.pick(own): self.pick(unused)}, scope)

    def pair(self) -> tuple[StructInfo, StructInfo]:
        """Two StructInfos, mostly related."""
        a = self.info()
        match self.pick(["above", "above", "below", "beside", "beside", "near", "any"]):
            case "above":
                return a, self.weaker(a)
            case "below":
                return a, self.stronger(a)
            case "beside":
                return a, self.beside(a)
            case "near":
                return a, self.near(a)
        return a, self.info()

    def triple(self) -> tuple[StructInfo, StructInfo, StructInfo]:
        """Three StructInfos, mostly each related to the one before."""
        a, b = self.pair()
        c = self.pick([self.weaker, self.weaker, self.stronger, self.beside])(b)
        return a, b, c


def _bind_alike(params: Sequence[StructInfo], others: Sequence[StructInfo], own: Scope) -> bool:
    """Whether every variable that parameters bind is bound in the same place of others."""
    before, after = (
        [set(definable_shape_vars(p)).intersection(own) for p in infos]
        for infos in (params, others)
    )
    kept = {v for a, b in zip(before, after) for v in a & b}
    return kept == {v for a in before for v in a}


def unchanged(info: StructInfo, scope: Scope) -> StructInfo:
    """The step that changes nothing."""
    return info


def kept(info: StructInfo, scope: Scope) -> StructInfo:
    """The step that changes nothing, and is not taken inside either."""
    return info


def copied(info: StructInfo) -> StructInfo:
    """A copy that shares variables only."""
    match info:
        case TensorStructInfo(ShapeExpr(values), dtype, vdevice, ndim):
            return TensorStructInfo(ShapeExpr(values), dtype, vdevice, ndim)
        case TupleStructInfo(fields):
            return TupleStructInfo([copied(f) for f in fields])
        case DTensorStructInfo(tensor, mesh, placement):
            alike = DeviceMesh(mesh.shape, mesh.device_ids)
            return DTensorStructInfo(copied(tensor), alike, str(placement))
        case FuncStructInfo(params, ret, purity, derive):
            new = None if params is None else [copied(p) for p in params]
            return FuncStructInfo(new, copied(ret), purity, derive)
    return type(info).make(*(getattr(info, name) for name in info.__match_args__))
