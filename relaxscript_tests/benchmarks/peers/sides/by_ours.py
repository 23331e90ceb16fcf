"""Ours, as a user would write it: decorated classes and modules of `nn`, `rx.jit`, defaults.

The variant "cache" is the same in a process that finds the cache as another one has left it.
What a build imports when it first needs it is imported before, as the peers import theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np

import relaxscript as rx
import relaxscript.codegen.llvm
import relaxscript.codegen.native.entries
import relaxscript.compiler
import relaxscript.script.parser.definitions
import relaxscript.script.printer.expressions
import relaxscript.script.printer.module
import relaxscript.script.printer.unparser
import relaxscript.te.topi
from relaxscript.frontend import nn
from relaxscript.script import ir as I, relax as R
from relaxscript_tests.benchmarks.peers import workloads
from relaxscript_tests.benchmarks.peers.workloads import (
    DEPTH,
    ELEMENTS,
    FEATURES,
    HEADS,
    INNER,
    Arrays,
    Workload,
)

from .steps import Program

Loaded = Callable[[Arrays], tuple[Any, Arrays]]

# ---------------------------------------------------------------- decorated classes


def mlp(weights: Arrays) -> tuple[Any, Arrays]:
    @I.ir_module
    class Mlp:
        @R.function
        def main(
            x: R.Tensor((1, 64), "float32"),
            w1: R.Tensor((64, 64), "float32"),
            b1: R.Tensor((64,), "float32"),
            w2: R.Tensor((64, 10), "float32"),
            b2: R.Tensor((10,), "float32"),
        ):
            with R.dataflow():
                h = R.nn.relu(R.matmul(x, w1) + b1)
                y = R.matmul(h, w2) + b2
                R.output(y)
            return y

    return Mlp, weights


def light(weights: Arrays) -> tuple[Any, Arrays]:
    @I.ir_module
    class Light:
        @R.function
        def main(x: R.Tensor((ELEMENTS,), "float32")):
            with R.dataflow():
                y = R.nn.relu(x * R.const(1.5, "float32") + R.const(0.5, "float32"))
                R.output(y)
            return y

    return Light, weights


def heavy(weights: Arrays) -> tuple[Any, Arrays]:
    @I.ir_module
    class Heavy:
        @R.function
        def main(x: R.Tensor((ELEMENTS,), "float32")):
            with R.dataflow():
                wave = R.tanh(x * R.const(1.5, "float32") + R.const(0.5, "float32"))
                y = wave * R.const(0.7, "float32") + R.exp(R.negative(x * x))
                R.output(y)
            return y

    return Heavy, weights


def softmax(weights: Arrays) -> tuple[Any, Arrays]:
    @I.ir_module
    class Softmax:
        @R.function
        def main(x: R.Tensor((4096, 1024), "float32")):
            with R.dataflow():
                y = R.nn.softmax(x, axis=-1)
                R.output(y)
            return y

    return Softmax, weights


def layer_norm(weights: Arrays) -> tuple[Any, Arrays]:
    @I.ir_module
    class LayerNorm:
        @R.function
        def main(
            x: R.Tensor((4096, 1024), "float32"),
            scale: R.Tensor((1024,), "float32"),
            shift: R.Tensor((1024,), "float32"),
        ):
            with R.dataflow():
                y = R.nn.layer_norm(x, scale, shift, axes=-1)
                R.output(y)
            return y

    return LayerNorm, weights


def rms_norm(weights: Arrays) -> tuple[Any, Arrays]:
    @I.ir_module
    class RmsNorm:
        @R.function
        def main(x: R.Tensor((4096, 1024), "float32"), scale: R.Tensor((1024,), "float32")):
            with R.dataflow():
                y = R.nn.rms_norm(x, scale, axes=-1)
                R.output(y)
            return y

    return RmsNorm, weights


# ---------------------------------------------------------------- modules of nn


class Chain(nn.Module):
    """A hundred small kernels."""

    def forward(self, x: nn.Tensor, w: nn.Tensor) -> nn.Tensor:
        for _ in range(50):
            x = nn.op.softmax(nn.op.matmul(x, w))
        return x


class Product(nn.Module):
    """A product of two matrices."""

    def forward(self, x: nn.Tensor, y: nn.Tensor) -> nn.Tensor:
        return nn.op.matmul(x, y)


class Thousand(nn.Module):
    """A thousand elementwise operators."""

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        for _ in range(200):
            x = nn.op.relu(x * 1.01 + 0.01)
            x = nn.op.tanh(x - 0.02)
        return x


class Layer(nn.Module):
    """A layer of an encoder: attention, two products, two norms."""

    def __init__(self) -> None:
        self.q, self.k = nn.Linear(FEATURES, FEATURES), nn.Linear(FEATURES, FEATURES)
        self.v, self.o = nn.Linear(FEATURES, FEATURES), nn.Linear(FEATURES, FEATURES)
        self.f, self.g = nn.Linear(FEATURES, INNER), nn.Linear(INNER, FEATURES)
        self.m, self.n = nn.LayerNorm(FEATURES), nn.LayerNorm(FEATURES)

    def forward(self, h: nn.Tensor) -> nn.Tensor:
        apart = (1, h.shape[1], HEADS, DEPTH)
        q = self.q(h).reshape(apart).permute_dims(0, 2, 1, 3)
        k = self.k(h).reshape(apart).permute_dims(0, 2, 3, 1)
        v = self.v(h).reshape(apart).permute_dims(0, 2, 1, 3)
        shares = nn.op.softmax(nn.op.matmul(q, k) * DEPTH**-0.5)
        mixed = nn.op.matmul(shares, v).permute_dims(0, 2, 1, 3)
        h = self.m(h + self.o(mixed.reshape((1, h.shape[1], FEATURES))))
        return self.n(h + self.g(nn.op.gelu(self.f(h))))


class Encoder(nn.Module):
    """Layers in a row."""

    def __init__(self, layers: int) -> None:
        self.layers = nn.ModuleList([Layer() for _ in range(layers)])

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        return self.layers(x)


def by_their_names(weights: Arrays) -> Arrays:
    """The weights as the module names them; of a product the transpose, as in PyTorch."""
    named = {}
    for name, array in weights.items():
        kind, part, layer = name[0], name[1], name[2:]
        if kind in "wb":
            path = f"{part}.{'weight' if kind == 'w' else 'bias'}"
        else:
            path = f"{kind}.{'weight' if part == 's' else 'bias'}"
        named[f"layers.{layer}.{path}"] = array.T if kind == "w" else array
    return named


def exported(model: Callable[[], nn.Module], **shapes: Any) -> Loaded:
    def load(weights: Arrays) -> tuple[Any, Arrays]:
        spec = {name: nn.spec.Tensor(shape, "float32") for name, shape in shapes.items()}
        mod, _ = model().export_tvm({"forward": spec})
        return mod, by_their_names(weights)

    return load


LOADED: dict[str, Loaded] = {
    "mlp": mlp,
    "light": light,
    "heavy": heavy,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    **{f"gemm_{n}": exported(Product, x=(n, n), y=(n, n)) for n in (256, 512, 1024, 2048)},
    "chain": exported(Chain, x=(8, 8), w=(8, 8)),
    "thousand": exported(Thousand, x=(64, 64)),
    "encoder": exported(lambda: Encoder(6), x=(1, workloads.TOKENS, FEATURES)),
    "encoder_2": exported(lambda: Encoder(2), x=(1, workloads.TOKENS, FEATURES)),
    "lengths": exported(lambda: Encoder(1), x=(1, "n", FEATURES)),
}


# ---------------------------------------------------------------- a side


class Compilations:
    """A count of the objects that LLVM writes; llvmlite is asked, whoever of ours calls it."""

    def __init__(self) -> None:
        self.count = 0
        emit = llvm.TargetMachine.emit_object

        def counted(machine: Any, module: Any) -> Any:
            self.count += 1
            return emit(machine, module)

        llvm.TargetMachine.emit_object = counted


class ByOurs(Program):
    """A module, compiled by `rx.jit`; a call is one of its function."""

    def __init__(self, workload: Workload, variant: str = "") -> None:
        super().__init__(workload, variant)
        name = next(name for name, known in workloads.WORKLOADS.items() if known is workload)
        self.loaded = LOADED[name]
        self.objects = Compilations()
        self.at_first = 0

    def load(self) -> None:
        self.module, self.params = self.loaded(self.given_weights)

    def compile(self) -> Callable[..., Any]:
        model = rx.jit(self.module, params=self.params or None)
        (entry,) = (function.name_hint for function in self.module.functions)
        run: Callable[..., Any] = getattr(model, entry)
        return run

    def array(self, output: Any) -> Any:
        return np.asarray(output)

    def after_first_call(self) -> None:
        self.at_first = self.objects.count

    def compilations(self) -> int:
        """One for a build that writes objects, and those that later calls make LLVM write."""
        return min(self.at_first, 1) + self.objects.count - self.at_first


def program(workload: Workload, variant: str) -> Program:
    return ByOurs(workload, variant)
