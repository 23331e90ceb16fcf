"""Random modules for printers and parsers: everything that a script can say, under the worst names.

They are those of `programs`, and hold in addition what no executor could run or compare: texts,
data types, constants and scalars of every data type and value, callables of which nothing is known,
virtual devices, attributes of every kind, functions called as operators, namespaces and keywords.

`scripts()` is a hypothesis strategy; `random_script(seed)` needs no hypothesis. Start reading at
`ScriptWriter.kinds`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
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
    Expr,
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

from .choices import Choices, Seeded, strategy
from .known import shape_of, tensor_of
from .literals import FLOATS, KINDS, TEXTS, scalar_of
from .packed import register_packed
from .prim_scripts import KernelWriter
from .programs import Writer

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["ScriptWriter", "random_script", "scripts"]

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
    """The module that a number stands for."""
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
            builder.add_func(KernelWriter(choices).function(), "kernel")
        for number in range(choices.integer(0, 1)):
            writer = ScriptWriter(choices, builder)
            writer.function(f"function_{number}", private=choices.chance(40))
        ScriptWriter(choices, builder).function("main", private=False)
    return _dressed(choices, builder.finalize())


def _dressed(choices: Choices, mod: IRModule) -> IRModule:
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


class ScriptWriter(Writer):
    """Writes one function; what it writes need not run."""

    names = NAMES
    dim_names = DIM_NAMES
    param_dtypes = KINDS

    def kinds(self) -> list[Callable[[], bool]]:
        kinds = super().kinds()
        kinds += [self.text, self.data_type, self.any_scalar, self.any_constant] * 2
        kinds += [self.opaque_call] * (2 if self.opaque() else 0)
        if not self.pure and not self.builder.current_block_is_dataflow():
            kinds += [self.effect] * 4
        return kinds

    def text(self) -> bool:
        return self.emit(StringImm(self.choices.pick(TEXTS)))

    def data_type(self) -> bool:
        return self.emit(DataTypeImm(DataType(self.choices.pick(KINDS))))

    def any_scalar(self) -> bool:
        return self.emit(PrimValue(scalar_of(self.choices)))

    def any_constant(self) -> bool:
        """A tensor of any data type: odd numbers, or bits of no meaning, few or many."""
        dtype = DataType(self.choices.pick(KINDS)).numpy
        shape = self.choices.pick(((), (0,), (2,), (1, 3), (2, 0, 1), (64,), (65,), (5, 20)))
        count = int(np.prod(shape))
        seed = np.random.default_rng(self.choices.integer(0, 99))
        if self.choices.chance(40):
            data = np.frombuffer(seed.bytes(count * dtype.itemsize), dtype)
            data = (data.view("uint8") & 1).astype(bool) if dtype == np.bool_ else data
        else:
            with np.errstate(all="ignore"):
                whole = not DataType(str(dtype)).is_float
                options = WHOLE if whole else FLOATS
                data = np.resize(np.array(self.choices.shuffled(options)), count).astype(dtype)
        self.values.append(Constant(data.reshape(shape)))
        return self.choices.chance(30) or self.emit(self.values[-1])

    def opaque(self) -> list[Expr]:
        """The callables of which nothing is known but perhaps their result."""
        return [v for v in super().closures() if _is_opaque(v.struct_info)]

    def closures(self) -> list[Expr]:
        return [v for v in super().closures() if not _is_opaque(v.struct_info)]

    def opaque_call(self) -> bool:
        """A call of something of which only its result is known, if that."""
        callee = self.choices.pick(self.opaque())
        known = callee.struct_info
        if self.pure and not (isinstance(known, FuncStructInfo) and known.purity):
            return False
        infos = tuple([info(self.choices) for _ in range(self.choices.integer(0, 2))])
        return self.emit(Call(callee, tuple(self.choices.some(self.values)[:2]), None, infos))

    def effect(self) -> bool:
        """A call for its effect."""
        text = StringImm(self.choices.pick(TEXTS))
        if self.choices.chance(50):
            args = (text, *self.choices.some(self.values)[:2])
            return self.emit(Call(print_.op, args))
        return self.emit(Call(assert_op.op, (self.condition(), text)))

    def param_info(self, depth: int) -> StructInfo:
        if self.choices.chance(85):
            return super().param_info(depth)
        match self.choices.integer(0, 5):
            case 0:
                derive = self.choices.pick((None, default_derive, empty_derive, "any.derive"))
                ret = info(self.choices) if derive is None else None
                pure = self.choices.chance(50)
                return FuncStructInfo.opaque_func(ret=ret, derive_func=derive, purity=pure)
            case 1:
                n = prim.Var(self.choices.pick(self.dim_names), prim.INT64)
                two = prim.IntImm(prim.INT64, 2)
                params = (tensor_of((n, two), FLOAT32), info(self.choices))
                ret = tensor_of((n + 1,), FLOAT32)
                return FuncStructInfo(params, ret, self.choices.chance(50))
            case 2 if devices := self.builder.get().global_infos.get("vdevice"):
                device = self.choices.pick(devices)
                assert isinstance(device, VDevice)
                return TensorStructInfo(shape_of((self.new_dim(),)), FLOAT32, device)
            case 3:
                return ObjectStructInfo()
        return info(self.choices)


def _is_opaque(info: StructInfo) -> bool:
    return isinstance(info, FuncStructInfo) and info.params is None
