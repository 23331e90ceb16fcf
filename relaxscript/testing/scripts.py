"""Random modules for printers and parsers: everything that a script can say, under the worst names.

They are those of `programs`, and hold in addition what no executor could run or compare. These are
strings, dtypes, constants and scalars of every dtype and value, and callables of which nothing is
known. There are virtual devices, attributes of every kind, and functions called as operators,
namespaces and keywords.

`scripts()` is a hypothesis strategy; `random_script(seed)` needs no hypothesis. Start reading at
`_steps`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from relaxscript.builder import BlockBuilder
from relaxscript.dtypes import DataType
from relaxscript.errors import RelaxWarning
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule, Target, VDevice, as_target
from relaxscript.ir.relax import (
    Attrs,
    Call,
    Constant,
    DataTypeImm,
    ExternFunc,
    GlobalVar,
    PrimValue,
    StringImm,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
    empty_derive,
)
from relaxscript.op.base import assert_op, print as print_

from .generate.calls import opaque_functions
from .generate.choices import Choices, Seeded, strategy
from .generate.context import GeneratorContext, Grammar, Step, add_function, random_param_info
from .generate.control_flow import condition
from .generate.literals import FLOATS, KINDS, TEXTS, scalar_of
from .generate.packed_funcs import register_packed
from .generate.struct_info import shape_of, tensor_of
from .prim_scripts import PrimFuncWriter
from .programs import steps

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["random_script", "scripts"]

# Names that mean something to Python, to scripts, to the printer or to the class around them, that
# are no names at all, and that come twice.
NAMES = (
    "x", "y", "x", "n", "lv", "gv", "R", "T", "I", "cls", "Module", "main", "x_1", "x_1_1", "n_1",
    "_", "__", "__x", "if", "if_", "None", "self", "lambda", "match", "print", "float", "range",
    "max", "min", "abs", "len", "metadata", "add", "matmul", "call_tir", "nn", "local", "f", "",
    "1", "a.b", "a b", "x'\"\\", "two\nlines", "é", "ﬁn", "𝒙", "中", "T_1", "R_1", "k",
)  # fmt: skip
DIM_NAMES = ("n", "m", "x", "n", "R", "T", "cls", "max", "if", "float", "add", "1", "é", "len", "y")
FUNCTION_NAMES = (
    "f", "main", "g", "x", "add", "matmul", "R", "T", "I", "cls", "Module", "if", "a.b", "a_b", "n",
    "__init__", "metadata", "é 1", "call_tir", "float",
)  # fmt: skip
FLOAT32 = DataType("float32")
WHOLE = (0, 1, 100, 2, 3)
DEVICES = tuple(map(as_target, ("llvm", "cuda", {"kind": "llvm", "mcpu": "x y", "opt-level": 3})))


def scripts() -> SearchStrategy[IRModule]:
    """A hypothesis strategy of modules that say everything."""
    return strategy(_module)


def random_script(seed: int) -> IRModule:
    """The module of a seed."""
    return _module(Seeded(seed))


def _module(choices: Choices) -> IRModule:
    register_packed()
    devices = tuple(
        VDevice(target, number, choices.pick(("global", "local")))
        for number, target in enumerate(choices.some(DEVICES))
    )
    infos = {"vdevice": devices} if devices else {}
    builder = BlockBuilder(IRModule(global_infos=infos))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        if choices.chance(30):
            builder.add_func(ExternFunc(choices.pick(TEXTS[1:])), "extern")
        if choices.chance(30):
            builder.add_func(PrimFuncWriter(choices).function(), "kernel")
        for number in range(choices.integer(0, 1)):
            cx = GeneratorContext(GRAMMAR, choices, builder)
            add_function(cx, f"function_{number}", private=choices.chance(40))
        add_function(GeneratorContext(GRAMMAR, choices, builder), "main", private=False)
    return _dress(choices, builder.finalize())


def _dress(choices: Choices, mod: IRModule) -> IRModule:
    """The module with other names and with attributes."""
    values = _Values(choices)
    for var, function in list(mod.items()):
        if not isinstance(function, ExternFunc) and choices.chance(30):
            mod[var] = function.with_attrs(values.attributes())
    names: dict[GlobalVar, str] = {}
    for var in mod.functions:
        wanted = choices.pick(FUNCTION_NAMES)
        if choices.chance(60) and wanted not in [*names.values(), *(v.name_hint for v in mod)]:
            names[var] = wanted
    mod = mod.replace_global_vars(names)
    mod.__name__ = choices.pick(("Module", "Module", "R", "cls", "if", "main", "add", "a.b", "n"))
    return mod.with_attrs(values.attributes()) if choices.chance(30) else mod


class _Values:
    """Values of attributes."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices

    def attributes(self) -> Attrs:
        names = ("a", "if", "a.b", "", "tir.noalias", "x y", '"')
        chosen = self.choices.some(names)[:3]
        return Attrs({name: self.value(2) for name in chosen})

    def value(self, depth: int) -> Any:
        if depth and self.choices.chance(25):
            return tuple([self.value(depth - 1) for _ in range(self.choices.integer(0, 3))])
        if depth and self.choices.chance(10):
            return Attrs({self.choices.pick(("k", "if", "1")): self.value(depth - 1)})
        return self.plain()

    def plain(self) -> Any:
        """A value that holds no others."""
        choices = self.choices
        match choices.integer(0, 8):
            case 0 | 1:
                return choices.pick(TEXTS)
            case 2:
                return choices.pick((0, 1, -1, 2**40, -(2**63), 10**30, True, False, None))
            case 3:
                return choices.pick(FLOATS)
            case 4:
                return choices.pick((StringImm(choices.pick(TEXTS)), Constant(np.arange(70))))
            case 5:
                return scalar_of(choices)
            case 6:
                return info(choices)
            case 7:
                return choices.pick((VDevice(choices.pick(DEVICES)), Target("llvm")))
        return DataType(choices.pick(KINDS))


def info(choices: Choices) -> StructInfo:
    """A StructInfo without shape variables."""
    match choices.integer(0, 4):
        case 0:
            dims = [prim.IntImm(prim.INT64, extent) for extent in (2, choices.integer(0, 3))]
            return tensor_of(dims, DataType(choices.pick(KINDS)))
        case 1:
            dtype = DataType(choices.pick(KINDS))
            return TensorStructInfo(None, dtype, None, choices.integer(-1, 2))
        case 2:
            return TupleStructInfo(tuple([info(choices) for _ in range(choices.integer(0, 2))]))
        case 3:
            return ShapeStructInfo(None, choices.integer(-1, 2))
    return ObjectStructInfo()


def _steps(cx: GeneratorContext) -> list[Step]:
    """The steps that can be added here; the result need not run."""
    found = steps(cx)
    found += [_emit_string, _emit_dtype, _emit_any_scalar, _emit_any_constant] * 2
    found += [_emit_opaque_call] * (2 if opaque_functions(cx) else 0)
    if not cx.pure and not cx.builder.current_block_is_dataflow():
        found += [_emit_effect] * 4
    return found


def _emit_string(cx: GeneratorContext) -> bool:
    return cx.emit(StringImm(cx.choices.pick(TEXTS)))


def _emit_dtype(cx: GeneratorContext) -> bool:
    return cx.emit(DataTypeImm(DataType(cx.choices.pick(KINDS))))


def _emit_any_scalar(cx: GeneratorContext) -> bool:
    return cx.emit(PrimValue(scalar_of(cx.choices)))


def _emit_any_constant(cx: GeneratorContext) -> bool:
    """A tensor of any dtype: odd numbers, or bits of no meaning, few or many."""
    dtype = DataType(cx.choices.pick(KINDS)).numpy
    shape = cx.choices.pick(((), (0,), (2,), (1, 3), (2, 0, 1), (64,), (65,), (5, 20)))
    count = int(np.prod(shape))
    seed = np.random.default_rng(cx.choices.integer(0, 99))
    if cx.choices.chance(40):
        data = np.frombuffer(seed.bytes(count * dtype.itemsize), dtype)
        data = (data.view("uint8") & 1).astype(bool) if dtype == np.bool_ else data
    else:
        with np.errstate(all="ignore"):
            whole = not DataType(str(dtype)).is_float
            options = WHOLE if whole else FLOATS
            data = np.resize(np.array(cx.choices.shuffled(options)), count).astype(dtype)
    cx.values.append(Constant(data.reshape(shape)))
    return cx.choices.chance(30) or cx.emit(cx.values[-1])


def _emit_opaque_call(cx: GeneratorContext) -> bool:
    """A call of something of which only its result is known, if that."""
    callee = cx.choices.pick(opaque_functions(cx))
    known = callee.struct_info
    if cx.pure and not (isinstance(known, FuncStructInfo) and known.purity):
        return False
    infos = tuple([info(cx.choices) for _ in range(cx.choices.integer(0, 2))])
    return cx.emit(Call(callee, tuple(cx.choices.some(cx.values)[:2]), None, infos))


def _emit_effect(cx: GeneratorContext) -> bool:
    """A call for its effect."""
    text = StringImm(cx.choices.pick(TEXTS))
    if cx.choices.chance(50):
        args = (text, *cx.choices.some(cx.values)[:2])
        return cx.emit(Call(print_.op, args))
    return cx.emit(Call(assert_op.op, (condition(cx), text)))


def _param_info(cx: GeneratorContext, depth: int) -> StructInfo:
    if cx.choices.chance(85):
        return random_param_info(cx, depth)
    match cx.choices.integer(0, 5):
        case 0:
            derive = cx.choices.pick((None, default_derive, empty_derive, "any.derive"))
            ret = info(cx.choices) if derive is None else None
            pure = cx.choices.chance(50)
            return FuncStructInfo.opaque_func(ret=ret, derive_func=derive, purity=pure)
        case 1:
            n = prim.Var(cx.choices.pick(cx.grammar.dim_names), prim.INT64)
            two = prim.IntImm(prim.INT64, 2)
            params = (tensor_of((n, two), FLOAT32), info(cx.choices))
            ret = tensor_of((n + 1,), FLOAT32)
            return FuncStructInfo(params, ret, cx.choices.chance(50))
        case 2 if devices := cx.builder.get().global_infos.get("vdevice"):
            device = cx.choices.pick(devices)
            assert isinstance(device, VDevice)
            return TensorStructInfo(shape_of((cx.new_dim(),)), FLOAT32, device)
        case 3:
            return ObjectStructInfo()
    return info(cx.choices)


GRAMMAR = Grammar(_steps, _param_info, NAMES, DIM_NAMES, KINDS)
