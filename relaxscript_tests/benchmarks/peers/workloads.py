"""The programs that every side runs, each written once over the operations that a side offers.

A side is an object with `matmul`, `relu` and so on, and `length`, the number of tokens as it names
it: a number, a variable, or -1. Numbers are the same on each run. The truth is the same program by
numpy in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Arrays = dict[str, Any]

FEATURES, HEADS, INNER, TOKENS = 384, 12, 1536, 128  # those of MiniLM
DEPTH = FEATURES // HEADS
LENGTHS = tuple(range(16, 16 + 32 * 7, 7))  # 32 of them, most of them no multiple of a vector
ELEMENTS = 1 << 24


class Workload(NamedTuple):
    """What is computed: `program(side, inputs, weights)` gives its result."""

    program: Callable[[Any, Arrays, Arrays], Any]
    inputs: Callable[[], Arrays]
    weights: Callable[[], Arrays] = dict
    tolerance: float = 2e-5  # the largest difference, as a share of the largest number
    work: str = ""  # "GB" or "GFLOP", where `amount` says how many in a call
    amount: float = 0.0
    dynamic: bool = False  # the second axis of the input stays open, and is run for all LENGTHS


def normal(seed: int, *shape: int, scale: float = 1.0) -> Any:
    made = np.random.default_rng(seed).standard_normal(shape, "float32")
    return made * np.float32(scale)


# ---------------------------------------------------------------- small calls


def mlp(side: Any, given: Arrays, w: Arrays) -> Any:
    hidden = side.relu(side.add(side.matmul(given["x"], w["w1"]), w["b1"]))
    return side.add(side.matmul(hidden, w["w2"]), w["b2"])


def mlp_weights() -> Arrays:
    return {
        "w1": normal(1, 64, 64, scale=0.1), "b1": normal(2, 64),
        "w2": normal(3, 64, 10, scale=0.1), "b2": normal(4, 10),
    }  # fmt: skip


def chain(side: Any, given: Arrays, w: Arrays) -> Any:
    x = given["x"]
    for _ in range(50):
        x = side.softmax(side.matmul(x, given["w"]))
    return x


# ---------------------------------------------------------------- elementwise


def light(side: Any, given: Arrays, w: Arrays) -> Any:
    return side.relu(side.add(side.multiply(given["x"], 1.5), 0.5))


def heavy(side: Any, given: Arrays, w: Arrays) -> Any:
    x = given["x"]
    wave = side.tanh(side.add(side.multiply(x, 1.5), 0.5))
    bell = side.exp(side.negative(side.multiply(x, x)))
    return side.add(side.multiply(wave, 0.7), bell)


def thousand(side: Any, given: Arrays, w: Arrays) -> Any:
    x = given["x"]
    for _ in range(200):
        x = side.relu(side.add(side.multiply(x, 1.01), 0.01))
        x = side.tanh(side.subtract(x, 0.02))
    return x


# ---------------------------------------------------------------- rows and products


def softmax(side: Any, given: Arrays, w: Arrays) -> Any:
    return side.softmax(given["x"])


def layer_norm(side: Any, given: Arrays, w: Arrays) -> Any:
    return side.layer_norm(given["x"], given["scale"], given["shift"])


def rms_norm(side: Any, given: Arrays, w: Arrays) -> Any:
    return side.rms_norm(given["x"], given["scale"])


def product(side: Any, given: Arrays, w: Arrays) -> Any:
    return side.matmul(given["x"], given["y"])


# ---------------------------------------------------------------- an encoder


def encoder(layers: int) -> Callable[[Any, Arrays, Arrays], Any]:
    def program(side: Any, given: Arrays, w: Arrays) -> Any:
        h = given["x"]
        apart = (1, side.length, HEADS, DEPTH)
        for i in range(layers):

            def dense(x: Any, name: str, i: int = i) -> Any:
                return side.add(side.matmul(x, w[f"w{name}{i}"]), w[f"b{name}{i}"])

            q, k, v = (side.reshape(dense(h, name), apart) for name in "qkv")
            q, v = (side.transpose(part, (0, 2, 1, 3)) for part in (q, v))
            scores = side.matmul(q, side.transpose(k, (0, 2, 3, 1)))
            shares = side.softmax(side.multiply(scores, DEPTH**-0.5))
            mixed = side.transpose(side.matmul(shares, v), (0, 2, 1, 3))
            mixed = side.reshape(mixed, (1, side.length, FEATURES))
            h = side.add(h, dense(mixed, "o"))
            h = side.layer_norm(h, w[f"ms{i}"], w[f"mt{i}"])
            f = dense(side.gelu(dense(h, "f")), "g")
            h = side.layer_norm(side.add(h, f), w[f"ns{i}"], w[f"nt{i}"])
        return h

    return program


def encoder_weights(layers: int) -> Callable[[], Arrays]:
    """The weights by name: `w` and `b` of the products q, k, v, o, f, g; norms m and n."""
    shapes = {
        **dict.fromkeys("qkvo", (FEATURES, FEATURES)),
        "f": (FEATURES, INNER),
        "g": (INNER, FEATURES),
    }

    def made() -> Arrays:
        weights: Arrays = {}
        for i in range(layers):
            for place, (name, shape) in enumerate(shapes.items()):
                weights[f"w{name}{i}"] = normal(100 * i + place, *shape, scale=0.05)
                weights[f"b{name}{i}"] = normal(100 * i + place + 20, shape[1], scale=0.05)
            for place, name in enumerate("mn"):
                weights[f"{name}s{i}"] = 1 + normal(100 * i + place + 40, FEATURES, scale=0.1)
                weights[f"{name}t{i}"] = normal(100 * i + place + 60, FEATURES, scale=0.1)
        return weights

    return made


def tokens(length: int = TOKENS) -> Arrays:
    return {"x": normal(7, 1, length, FEATURES)}


def encoder_flops(layers: int, length: int) -> float:
    dense = 2 * length * (4 * FEATURES * FEATURES + 2 * FEATURES * INNER)
    return layers * (dense + 4 * length * length * FEATURES) / 1e9


# ---------------------------------------------------------------- all of them


def rows_of_inputs(*names: str) -> Callable[[], Arrays]:
    def made() -> Arrays:
        others = {name: normal(9 + place, 1024) for place, name in enumerate(names)}
        return {"x": normal(8, 4096, 1024), **others}

    return made


def products() -> dict[str, Workload]:
    def inputs(size: int) -> Callable[[], Arrays]:
        return lambda: {"x": normal(size, size, size), "y": normal(size + 1, size, size)}

    return {
        f"gemm_{size}": Workload(product, inputs(size), work="GFLOP", amount=2 * size**3 / 1e9)
        for size in (256, 512, 1024, 2048)
    }


def encoders() -> dict[str, Workload]:
    return {
        "encoder": Workload(
            encoder(6), tokens, encoder_weights(6), work="GFLOP", amount=encoder_flops(6, TOKENS)
        ),
        "encoder_2": Workload(encoder(2), tokens, encoder_weights(2)),
        "lengths": Workload(encoder(1), tokens, encoder_weights(1), dynamic=True),
    }


LARGE = {"work": "GB", "amount": 2 * 4 * ELEMENTS / 1e9}
ROWS = {"work": "GB", "amount": 2 * 4 * 4096 * 1024 / 1e9}

WORKLOADS: dict[str, Workload] = {
    "mlp": Workload(mlp, lambda: {"x": normal(5, 1, 64)}, mlp_weights),
    "chain": Workload(chain, lambda: {"x": normal(5, 8, 8), "w": normal(6, 8, 8)}),
    "light": Workload(light, lambda: {"x": normal(5, ELEMENTS)}, **LARGE),
    "heavy": Workload(heavy, lambda: {"x": normal(5, ELEMENTS)}, **LARGE),
    "softmax": Workload(softmax, rows_of_inputs(), **ROWS),
    "layer_norm": Workload(layer_norm, rows_of_inputs("scale", "shift"), **ROWS),
    "rms_norm": Workload(rms_norm, rows_of_inputs("scale"), **ROWS),
    "thousand": Workload(thousand, lambda: {"x": normal(5, 64, 64)}),
    **products(),
    **encoders(),
}
