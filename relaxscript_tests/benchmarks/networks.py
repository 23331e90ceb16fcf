"""Whole networks, as multiples of numpy code of the same model: an encoder and ResNet-18.

The encoder has the sizes of MiniLM: 6 layers, 128 tokens, 384 features, 12 heads. ResNet-18 takes
one image of 224 by 224. Weights are random. The numpy code is what one would write by hand: matrix
products for everything that is one (a convolution by im2col), results written over where that is
free, normalizations in inference folded into a factor and a term; the error function is ours.
All runs in a fresh process with one thread for matrix products, both sides in turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import relaxscript as rx
from relaxscript.op.error_function import erf
from relaxscript.script import from_source

from .timing import in_turns

LAYERS, TOKENS, FEATURES, HEADS, INNER = 6, 128, 384, 12, 1536
DEPTH = FEATURES // HEADS
ENCODER_AIM, RESNET_AIM = 1.3, 2.0

Weights = dict[str, Any]

# ---------------------------------------------------------------- an encoder


def encoder_weights(rng: np.random.Generator) -> Weights:
    weights: Weights = {}
    for layer in range(LAYERS):
        for name, rows, columns in (
            ("q", FEATURES, FEATURES), ("k", FEATURES, FEATURES), ("v", FEATURES, FEATURES),
            ("o", FEATURES, FEATURES), ("f", FEATURES, INNER), ("g", INNER, FEATURES),
        ):  # fmt: skip
            weights[f"w{name}{layer}"] = rng.normal(0, 0.05, (rows, columns)).astype("float32")
            weights[f"b{name}{layer}"] = rng.normal(0, 0.05, columns).astype("float32")
        for name in ("m", "n"):
            weights[f"{name}s{layer}"] = rng.uniform(0.5, 1.5, FEATURES).astype("float32")
            weights[f"{name}t{layer}"] = rng.normal(0, 0.05, FEATURES).astype("float32")
    return weights


def parameters(weights: Weights) -> str:
    return ", ".join(f'{n}: R.Tensor({w.shape}, "float32")' for n, w in weights.items())


def encoder_script(weights: Weights) -> str:
    lines = ["@R.function", f'def main(x: R.Tensor((1, {TOKENS}, {FEATURES}), "float32"),']
    lines += [f"         {parameters(weights)}):", "    h = x"]
    apart = f"(1, {TOKENS}, {HEADS}, {DEPTH})"
    for i in range(LAYERS):
        for name in "qkv":
            axes = "[0, 2, 3, 1]" if name == "k" else "[0, 2, 1, 3]"
            product = f"R.matmul(h, w{name}{i}) + b{name}{i}"
            lines.append(f"    {name} = R.permute_dims(R.reshape({product}, {apart}), {axes})")
        lines += [
            f"    s = R.nn.softmax(R.matmul(q, k) * R.const({DEPTH**-0.5}))",
            "    a = R.permute_dims(R.matmul(s, v), [0, 2, 1, 3])",
            f"    a = R.matmul(R.reshape(a, (1, {TOKENS}, {FEATURES})), wo{i}) + bo{i}",
            f"    h = R.nn.layer_norm(h + a, ms{i}, mt{i}, -1)",
            f"    f = R.nn.gelu(R.matmul(h, wf{i}) + bf{i})",
            f"    h = R.nn.layer_norm(h + (R.matmul(f, wg{i}) + bg{i}), ns{i}, nt{i}, -1)",
        ]
    return "\n".join([*lines, "    return h", ""])


def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    x = x - x.mean(-1, keepdims=True)
    x /= np.sqrt(np.square(x).mean(-1, keepdims=True) + np.float32(1e-5))
    x *= scale
    x += shift
    return x


def gelu(x: Any) -> Any:
    half = erf(x * np.float32(0.5**0.5))
    half += 1
    half *= x
    half *= np.float32(0.5)
    return half


def encoder_by_hand(x: Any, w: Weights) -> Any:
    h = x
    for i in range(LAYERS):
        split = [
            (h @ w[f"w{name}{i}"] + w[f"b{name}{i}"]).reshape(1, TOKENS, HEADS, DEPTH)
            for name in "qkv"
        ]
        q, k, v = (part.transpose(0, 2, 1, 3) for part in split)
        s = q @ k.transpose(0, 1, 3, 2)
        s *= np.float32(DEPTH**-0.5)
        s -= s.max(-1, keepdims=True)
        np.exp(s, out=s)
        s /= s.sum(-1, keepdims=True)
        a = (s @ v).transpose(0, 2, 1, 3).reshape(1, TOKENS, FEATURES) @ w[f"wo{i}"]
        a += w[f"bo{i}"]
        h = layer_norm(h + a, w[f"ms{i}"], w[f"mt{i}"])
        f = h @ w[f"wf{i}"]
        f += w[f"bf{i}"]
        f = gelu(f) @ w[f"wg{i}"]
        f += w[f"bg{i}"]
        h = layer_norm(h + f, w[f"ns{i}"], w[f"nt{i}"])
    return h


# ---------------------------------------------------------------- ResNet-18


class Network:
    """ResNet-18 as a list of steps; each of the two sides makes of a step what it likes."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.weights: Weights = {}
        self.blocks: list[tuple[str, int]] = []
        self._convolution("stem", 3, 64, 7)
        channels = 64
        for width in (64, 128, 256, 512):
            for place in range(2):
                stride = 2 if place == 0 and width > 64 else 1
                name = f"block{width}_{place}"
                self._convolution(f"{name}_a", channels, width, 3)
                self._convolution(f"{name}_b", width, width, 3)
                if stride == 2:
                    self._convolution(f"{name}_c", channels, width, 1)
                self.blocks.append((name, stride))
                channels = width
        self.weights["fc"] = rng.normal(0, 0.05, (512, 1000)).astype("float32")
        self.weights["fc_bias"] = rng.normal(0, 0.05, 1000).astype("float32")

    def _convolution(self, name: str, channels: int, width: int, size: int) -> None:
        deviation = (2 / (channels * size * size)) ** 0.5
        shape = (width, channels, size, size)
        self.weights[name] = self.rng.normal(0, deviation, shape).astype("float32")
        for part, low, high in (("s", 0.5, 1), ("t", -0.1, 0.1), ("m", -0.1, 0.1), ("v", 0.5, 1.5)):
            values = self.rng.uniform(low, high, width).astype("float32")
            self.weights[f"{name}_{part}"] = values


def resnet_script(network: Network) -> str:
    lines = ["@R.function", 'def main(x: R.Tensor((1, 3, 224, 224), "float32"),']
    lines += [f"         {parameters(network.weights)}):"]

    def convolved(name: str, operand: str, stride: int, pad: int) -> str:
        statistics = ", ".join(f"{name}_{part}" for part in "stmv")
        data = f"R.nn.conv2d({operand}, {name}, {stride}, {pad})"
        return f"R.nn.batch_norm({data}, {statistics}, 1, training=False)[0]"

    lines.append(f"    h = R.nn.relu({convolved('stem', 'x', 2, 3)})")
    lines.append("    h = R.nn.max_pool2d(h, 3, 2, 1)")
    for name, stride in network.blocks:
        lines.append(f"    a = R.nn.relu({convolved(name + '_a', 'h', stride, 1)})")
        lines.append(f"    b = {convolved(name + '_b', 'a', 1, 1)}")
        rest = convolved(name + "_c", "h", stride, 0) if stride == 2 else "h"
        lines.append(f"    h = R.nn.relu(b + {rest})")
    lines.append("    h = R.reshape(R.nn.adaptive_avg_pool2d(h, 1), (1, 512))")
    return "\n".join([*lines, "    return R.matmul(h, fc) + fc_bias", ""])


def padded(x: Any, pad: int, value: float = 0) -> Any:
    n, c, h, w = x.shape
    wide = np.full((n, c, h + 2 * pad, w + 2 * pad), value, x.dtype)
    wide[:, :, pad : pad + h, pad : pad + w] = x
    return wide


def conv2d(x: Any, kernel: Any, stride: int, pad: int) -> Any:
    out, _, height, width = kernel.shape
    x = padded(x, pad) if pad else x
    views = np.lib.stride_tricks.sliding_window_view(x, (height, width), (2, 3))
    views = views[:, :, ::stride, ::stride]
    n, c, rows, columns = views.shape[:4]
    matrix = views.transpose(0, 1, 4, 5, 2, 3).reshape(n, c * height * width, rows * columns)
    return (kernel.reshape(out, -1) @ matrix).reshape(n, out, rows, columns)


def max_pool(x: Any) -> Any:
    x = padded(x, 1, -np.inf)
    size = (x.shape[2] - 3) // 2 + 1
    rows = [x[:, :, i : i + 2 * size - 1 : 2] for i in range(3)]
    x = np.maximum(np.maximum(rows[0], rows[1]), rows[2])
    columns = [x[:, :, :, i : i + 2 * size - 1 : 2] for i in range(3)]
    return np.maximum(np.maximum(columns[0], columns[1]), columns[2])


def folded(network: Network) -> Weights:
    """The weights with each normalization as a factor and a term."""
    weights = dict(network.weights)
    for name in network.weights:
        if f"{name}_v" in weights:
            scale, shift, mean, variance = (weights[f"{name}_{part}"] for part in "stmv")
            factor = scale / np.sqrt(variance + np.float32(1e-5))
            weights[f"{name}_s"] = factor[:, None, None]
            weights[f"{name}_t"] = (shift - mean * factor)[:, None, None]
    return weights


def resnet_by_hand(x: Any, w: Weights, blocks: list[tuple[str, int]]) -> Any:
    def convolved(name: str, x: Any, stride: int, pad: int) -> Any:
        x = conv2d(x, w[name], stride, pad)
        x *= w[f"{name}_s"]
        x += w[f"{name}_t"]
        return x

    def relu(x: Any) -> Any:
        return np.maximum(x, 0, out=x)

    h = max_pool(relu(convolved("stem", x, 2, 3)))
    for name, stride in blocks:
        a = relu(convolved(f"{name}_a", h, stride, 1))
        b = convolved(f"{name}_b", a, 1, 1)
        b += convolved(f"{name}_c", h, stride, 0) if stride == 2 else h
        h = relu(b)
    return h.mean((2, 3)) @ w["fc"] + w["fc_bias"]


# ---------------------------------------------------------------- figures


def report(name: str, ours: Callable[[], Any], theirs: Callable[[], Any], aim: float) -> None:
    found, wanted = ours(), theirs()
    apart = float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted)))
    times = in_turns({"ours": ours, "theirs": theirs}, runs=15)
    ratio = times["ours"] / times["theirs"]
    print(
        f"{name:<14}{times['ours'] * 1e3:8.2f} ms = {ratio:5.2f} x numpy's "
        f"{times['theirs'] * 1e3:.2f} ms (aim: at most {aim}); results are {apart:.1e} apart"
    )


def figures() -> None:
    rng = np.random.default_rng(0)
    weights = encoder_weights(rng)
    x = rng.normal(size=(1, TOKENS, FEATURES)).astype("float32")
    main = rx.jit(from_source(encoder_script(weights)))["main"]
    values = list(weights.values())
    report("encoder", lambda: main(x, *values), lambda: encoder_by_hand(x, weights), ENCODER_AIM)

    network = Network(rng)
    image = rng.normal(size=(1, 3, 224, 224)).astype("float32")
    run = rx.jit(from_source(resnet_script(network)))["main"]
    given, by_hand = list(network.weights.values()), folded(network)
    report(
        "ResNet-18",
        lambda: run(image, *given),
        lambda: resnet_by_hand(image, by_hand, network.blocks),
        RESNET_AIM,
    )


def main() -> None:
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "relaxscript_tests.benchmarks.networks"]
    subprocess.run(command, env={**os.environ, **one}, check=True)


if __name__ == "__main__":
    figures()
