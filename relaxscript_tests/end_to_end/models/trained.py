"""Two networks that are trained on handwritten digits, and their gradients derived by hand.

The digits network has two layers. The transformer reads an image as eight rows of eight pixels: one
block of attention and a feed-forward network, then the mean over the rows. Their numpy code gives
the mean cross entropy of a batch, and its derivative by each parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from relaxscript.ir import IRModule
from relaxscript.script import from_source

__all__ = ["DIGITS", "TRANSFORMER", "TrainedNetwork", "images_of_digits", "start_of"]

Arrays = dict[str, Any]
ROWS, WIDTH, HEADS, INNER = 8, 16, 2, 32
DEPTH = WIDTH // HEADS
CLASSES = 10


class TrainedNetwork(NamedTuple):
    """The shape of an image, those of the parameters, the body of `backbone`, and the loss."""

    image: tuple[int, ...]
    shapes: dict[str, tuple[int, ...]]
    body: str
    loss: Callable[[Any, Any, Arrays], tuple[float, Arrays]]

    def module(self, batch: int) -> IRModule:
        """The module that `SetupTrainer` takes, for batches of a size."""
        params = ", ".join(f'{n}: R.Tensor({s}, "float32")' for n, s in self.shapes.items())
        body = self.body.replace("BATCH", str(batch)).strip().replace("\n", "\n            ")
        return from_source(f"""
@I.ir_module
class Network:
    I.module_attrs({{"param_num": {len(self.shapes)}, "state_num": 0}})

    @R.function
    def backbone(x: R.Tensor({(batch, *self.image)}, "float32"), {params}):
        with R.dataflow():
            {body}
            R.output(scores)
        return scores
""")


def images_of_digits(shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The digits of scikit-learn, pixels from 0 to 1, in an order without a pattern."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(pixels))
    images = (pixels[order] / 16).astype("float32").reshape(-1, *shape)
    return images, labels[order].astype("int64")


def start_of(network: TrainedNetwork, seed: int = 0) -> Arrays:
    """Parameters to begin with: offsets are zeros, factors ones, weights are drawn."""
    rng = np.random.default_rng(seed)
    made: Arrays = {}
    for name, shape in network.shapes.items():
        if name.startswith("w"):
            made[name] = rng.normal(0, np.sqrt(1 / shape[0]), shape).astype("float32")
        else:
            made[name] = np.full(shape, float(name.startswith("gamma")), "float32")
    return made


def _cross_entropy(scores: Any, labels: Any) -> tuple[float, Any]:
    """The mean cross entropy of scores, and its derivative by them."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    places = np.arange(len(labels)), labels
    loss = -np.log(shares[places]).mean()
    shares[places] -= 1
    return float(loss), shares / len(labels)


# ---------------------------------------------------------------- two layers


def _digits_loss(x: Any, labels: Any, p: Arrays) -> tuple[float, Arrays]:
    hidden = np.maximum(x @ p["w1"] + p["b1"], 0)
    loss, scores = _cross_entropy(hidden @ p["w2"] + p["b2"], labels)
    inner = (scores @ p["w2"].T) * (hidden > 0)
    slopes = (x.T @ inner, inner.sum(0), hidden.T @ scores, scores.sum(0))
    return loss, dict(zip(p, slopes, strict=True))


DIGITS = TrainedNetwork(
    (64,),
    {"w1": (64, 64), "b1": (64,), "w2": (64, CLASSES), "b2": (CLASSES,)},
    """
hidden = R.nn.relu(x @ w1 + b1)
scores = hidden @ w2 + b2
""",
    _digits_loss,
)

# ---------------------------------------------------------------- a transformer

_APART = f"(BATCH, {ROWS}, {HEADS}, {DEPTH})"


def _heads(name: str, axes: str) -> str:
    return f"{name} = R.permute_dims(R.reshape(normal1 @ w{name}, {_APART}), {axes})"


_BODY = f"""
inside = x @ w_in + place
normal1 = R.nn.layer_norm(inside, gamma1, beta1, axes=[-1])
{_heads("q", "[0, 2, 1, 3]")}
{_heads("k", "[0, 2, 3, 1]")}
{_heads("v", "[0, 2, 1, 3]")}
shares = R.nn.softmax((q @ k) * R.const({DEPTH**-0.5}, "float32"))
mixed = R.reshape(R.permute_dims(shares @ v, [0, 2, 1, 3]), (BATCH, {ROWS}, {WIDTH}))
attended = inside + mixed @ wo
normal2 = R.nn.layer_norm(attended, gamma2, beta2, axes=[-1])
active = R.nn.relu(normal2 @ w_up + b_up)
fed = attended + active @ w_down + b_down
scores = R.mean(fed, axis=1) @ w_out + b_out
"""


def _normalize(x: Any, gamma: Any, beta: Any) -> tuple[Any, Any, Any]:
    """The rows normalized, without factor and offset, and one over their spread."""
    around = x - x.mean(axis=-1, keepdims=True)
    spread = 1 / np.sqrt((around**2).mean(axis=-1, keepdims=True) + 1e-5)
    plain = around * spread
    return plain * gamma + beta, plain, spread


def _normalize_back(slope: Any, gamma: Any, plain: Any, spread: Any) -> Any:
    """The derivative by what was normalized."""
    by_plain = slope * gamma
    common = by_plain.mean(axis=-1, keepdims=True)
    along = plain * (by_plain * plain).mean(axis=-1, keepdims=True)
    return (by_plain - common - along) * spread


def _apart(x: Any) -> Any:
    """Heads of the columns: (batch, rows, width) to (batch, heads, rows, depth)."""
    return x.reshape(len(x), ROWS, HEADS, DEPTH).transpose(0, 2, 1, 3)


def _together(x: Any) -> Any:
    return x.transpose(0, 2, 1, 3).reshape(len(x), ROWS, WIDTH)


def _weight(x: Any, slope: Any) -> Any:
    """The derivative by the weights of a layer over all rows."""
    return np.tensordot(x, slope, ((0, 1), (0, 1)))


def _transformer_loss(x: Any, labels: Any, p: Arrays) -> tuple[float, Arrays]:
    inside = x @ p["w_in"] + p["place"]
    normal1, plain1, spread1 = _normalize(inside, p["gamma1"], p["beta1"])
    q, k, v = (_apart(normal1 @ p[name]) for name in ("wq", "wk", "wv"))
    powers = q @ k.swapaxes(2, 3) * DEPTH**-0.5
    powers = np.exp(powers - powers.max(axis=-1, keepdims=True))
    shares = powers / powers.sum(axis=-1, keepdims=True)
    mixed = _together(shares @ v)
    attended = inside + mixed @ p["wo"]
    normal2, plain2, spread2 = _normalize(attended, p["gamma2"], p["beta2"])
    active = np.maximum(normal2 @ p["w_up"] + p["b_up"], 0)
    pooled = (attended + active @ p["w_down"] + p["b_down"]).mean(axis=1)
    loss, scores = _cross_entropy(pooled @ p["w_out"] + p["b_out"], labels)

    d: Arrays = {"w_out": pooled.T @ scores, "b_out": scores.sum(0)}
    fed = np.repeat((scores @ p["w_out"].T)[:, None] / ROWS, ROWS, axis=1)
    d["w_down"], d["b_down"] = _weight(active, fed), fed.sum((0, 1))
    up = (fed @ p["w_down"].T) * (active > 0)
    d["w_up"], d["b_up"] = _weight(normal2, up), up.sum((0, 1))
    by_normal2 = up @ p["w_up"].T
    d["gamma2"], d["beta2"] = (by_normal2 * plain2).sum((0, 1)), by_normal2.sum((0, 1))
    by_attended = fed + _normalize_back(by_normal2, p["gamma2"], plain2, spread2)
    d["wo"] = _weight(mixed, by_attended)
    by_mixed = _apart(by_attended @ p["wo"].T)
    by_v = shares.swapaxes(2, 3) @ by_mixed
    by_shares = by_mixed @ v.swapaxes(2, 3)
    by_scaled = shares * (by_shares - (by_shares * shares).sum(axis=-1, keepdims=True))
    by_scaled *= DEPTH**-0.5
    by_normal1 = np.zeros_like(normal1)
    slopes = {"wq": by_scaled @ k, "wk": by_scaled.swapaxes(2, 3) @ q, "wv": by_v}
    for name, slope in slopes.items():
        d[name] = _weight(normal1, _together(slope))
        by_normal1 += _together(slope) @ p[name].T
    d["gamma1"], d["beta1"] = (by_normal1 * plain1).sum((0, 1)), by_normal1.sum((0, 1))
    by_inside = by_attended + _normalize_back(by_normal1, p["gamma1"], plain1, spread1)
    d["w_in"], d["place"] = _weight(x, by_inside), by_inside.sum(0)
    return loss, {name: d[name] for name in p}


TRANSFORMER = TrainedNetwork(
    (ROWS, 8),
    {
        "w_in": (8, WIDTH), "place": (ROWS, WIDTH), "gamma1": (WIDTH,), "beta1": (WIDTH,),
        "wq": (WIDTH, WIDTH), "wk": (WIDTH, WIDTH), "wv": (WIDTH, WIDTH), "wo": (WIDTH, WIDTH),
        "gamma2": (WIDTH,), "beta2": (WIDTH,), "w_up": (WIDTH, INNER), "b_up": (INNER,),
        "w_down": (INNER, WIDTH), "b_down": (WIDTH,), "w_out": (WIDTH, CLASSES),
        "b_out": (CLASSES,),
    },
    _BODY,
    _transformer_loss,
)  # fmt: skip
