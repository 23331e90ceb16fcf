"""Random StructInfos over a few shape variables, and weaker ones of a given one."""

from __future__ import annotations

from hypothesis import strategies as st

from relaxscript.ir import prim
from relaxscript.ir.module import VDevice
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import ShapeExpr, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)

N, M, K = (prim.Var(name, "int64") for name in "nmk")
CPU0, CPU1 = VDevice("llvm", 0), VDevice("llvm", 1)
OBJECT = ObjectStructInfo()
HELD = Var("s", ShapeStructInfo(ndim=2))
KNOWN = Var("t", ShapeStructInfo((N, 4)))


def integer(value: int) -> prim.IntImm:
    return prim.IntImm("int64", value)


def dims() -> st.SearchStrategy[PrimExpr]:
    fixed: list[PrimExpr] = [N, M, N + 1, N * 2, N + M, M + N, N + N, (N + 3) // 4 * 4]
    return st.one_of(st.sampled_from(fixed), st.integers(0, 4).map(integer))


@st.composite
def tensors(draw: st.DrawFn) -> StructInfo:
    dtype = draw(st.sampled_from(["float32", "int8", "void"]))
    device = draw(st.sampled_from([None, None, CPU0, CPU1]))
    ndim = draw(st.integers(-1, 2))
    match draw(st.sampled_from(["none", "literal", "held", "known"])):
        case "literal" if ndim >= 0:
            shape = tuple(draw(st.lists(dims(), min_size=ndim, max_size=ndim)))
            return TensorStructInfo(shape, dtype, device)
        case "held":
            return TensorStructInfo(HELD, dtype, device)
        case "known":
            return TensorStructInfo(KNOWN, dtype, device)
    return TensorStructInfo(None, dtype, device, ndim)


@st.composite
def shapes(draw: st.DrawFn) -> StructInfo:
    ndim = draw(st.integers(-1, 2))
    if ndim < 0 or draw(st.booleans()):
        return ShapeStructInfo(None, ndim)
    return ShapeStructInfo(tuple(draw(st.lists(dims(), min_size=ndim, max_size=ndim))))


@st.composite
def prims(draw: st.DrawFn) -> StructInfo:
    if draw(st.booleans()):
        return PrimStructInfo(draw(st.sampled_from(["int64", "float32"])))
    return PrimStructInfo("int64", draw(dims()))


@st.composite
def infos(draw: st.DrawFn, depth: int = 2, functions: bool = True) -> StructInfo:
    """Any StructInfo."""
    kinds = ["object", "tensor", "tensor", "shape", "prim"]
    if depth > 0:
        kinds += ["tuple", "tuple"] + ["function", "packed"] * functions
    inner = infos(depth - 1, functions)
    match draw(st.sampled_from(kinds)):
        case "tensor":
            return draw(tensors())
        case "shape":
            return draw(shapes())
        case "prim":
            return draw(prims())
        case "tuple":
            return TupleStructInfo(draw(st.lists(inner, max_size=2)))
        case "function":
            params = draw(st.lists(inner, max_size=2))
            return FuncStructInfo(params, draw(inner), draw(st.booleans()))
        case "packed":
            return FuncStructInfo.opaque_func(ret=draw(inner), purity=draw(st.booleans()))
    return OBJECT


@st.composite
def weaker(draw: st.DrawFn, info: StructInfo) -> StructInfo:
    """The same or less knowledge: a StructInfo above `info`."""
    if draw(st.integers(0, 5)) == 0:
        return OBJECT
    match info:
        case TensorStructInfo(shape, dtype, vdevice, ndim):
            keep = draw(st.sampled_from(["all", "rank", "nothing"]))
            return TensorStructInfo(
                shape if keep == "all" else None,
                draw(st.sampled_from([dtype, "void"])),
                draw(st.sampled_from([vdevice, None])),
                -1 if keep == "nothing" else ndim,
            )
        case ShapeStructInfo(values, ndim):
            keep = draw(st.sampled_from(["all", "rank", "nothing"]))
            return ShapeStructInfo(
                values if keep == "all" else None, -1 if keep == "nothing" else ndim
            )
        case PrimStructInfo(dtype, value):
            return PrimStructInfo.make(dtype, draw(st.sampled_from([value, None])))
        case TupleStructInfo(fields):
            return TupleStructInfo([draw(weaker(f)) for f in fields])
        case FuncStructInfo(params, ret, purity, derive):
            return FuncStructInfo(
                params, draw(weaker(ret)), draw(st.sampled_from([purity, False])), derive
            )
    return info


def copied(info: StructInfo) -> StructInfo:
    """A copy that shares variables only."""
    match info:
        case TensorStructInfo(ShapeExpr(values), dtype, vdevice, ndim):
            return TensorStructInfo(ShapeExpr(values), dtype, vdevice, ndim)
        case TupleStructInfo(fields):
            return TupleStructInfo([copied(f) for f in fields])
        case FuncStructInfo(params, ret, purity, derive):
            new = None if params is None else [copied(p) for p in params]
            return FuncStructInfo(new, copied(ret), purity, derive)
    return type(info).make(*(getattr(info, name) for name in info.__match_args__))
