"""What torch thinks of the operators of networks.

Run by `python -m relaxscript_tests.op.second_opinion_of_networks`. Convolutions, pools, norms,
losses, attention and images with random attributes and shapes, in float64. Results that are further
apart than rounding explains are mistakes of ours until shown otherwise, and the program fails. So
is a counterpart in torch that a page names and that there is not. The package is of the extra
`oracles`; `.ci/long` runs this.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import relaxscript.op as R
from relaxscript.script.pages.counterparts import COUNTERPARTS
from relaxscript_tests import examples

__all__ = ["main"]

ROUNDS = 40
# How far results of some hundred products of numbers around 1 may be apart in float64.
BOUND = 1e-9

Random = np.random.Generator
# Our result and that of torch, of operands and attributes that are drawn.
Opinion = Callable[[Random], tuple[Any, Any]]


def _draw(rng: Random, *shape: int) -> Any:
    return rng.normal(size=shape)


def _torch(array: Any) -> Any:
    return torch.from_numpy(np.ascontiguousarray(array))


def _attributes(rng: Random, ndim: int) -> dict[str, Any]:
    """Strides, padding and dilation of windows along so many axes."""
    some = lambda low, high: tuple(int(n) for n in rng.integers(low, high, ndim))  # noqa: E731
    return {"strides": some(1, 4), "padding": some(0, 3), "dilation": some(1, 3)}


def _sizes(rng: Random, ndim: int, low: int = 6) -> tuple[int, ...]:
    return tuple(int(n) for n in rng.integers(low, low + 4, ndim))


# ---------------------------------------------------------------- windows


def _convolution(ndim: int, rng: Random) -> tuple[Any, Any]:
    attrs, groups = _attributes(rng, ndim), int(rng.integers(1, 3))
    data = _draw(rng, 2, 2 * groups, *_sizes(rng, ndim))
    weight = _draw(rng, 3 * groups, 2, *(int(k) for k in rng.integers(1, 4, ndim)))
    ours = getattr(R.nn, f"conv{ndim}d")(data, weight, **attrs, groups=groups)
    theirs = getattr(functional, f"conv{ndim}d")(
        _torch(data), _torch(weight), None, attrs["strides"], attrs["padding"], attrs["dilation"],
        groups,
    )  # fmt: skip
    return ours, theirs


def _transposed(ndim: int, rng: Random) -> tuple[Any, Any]:
    attrs, groups = _attributes(rng, ndim), int(rng.integers(1, 3))
    kernel = tuple(int(k) for k in rng.integers(1, 4, ndim))
    further = tuple(int(rng.integers(0, stride)) for stride in attrs["strides"])
    data = _draw(rng, 2, 2 * groups, *_sizes(rng, ndim))
    weight = _draw(rng, 2 * groups, 3, *kernel)
    ours = getattr(R.nn, f"conv{ndim}d_transpose")(
        data, weight, **attrs, output_padding=further, groups=groups
    )
    theirs = getattr(functional, f"conv_transpose{ndim}d")(
        _torch(data), _torch(weight), None, attrs["strides"], attrs["padding"], further, groups,
        attrs["dilation"],
    )  # fmt: skip
    return ours, theirs


def _pool(kind: str, ndim: int, rng: Random) -> tuple[Any, Any]:
    kernel = tuple(int(k) for k in rng.integers(2, 4, ndim))
    strides = tuple(int(k) for k in rng.integers(1, 4, ndim))
    padding = tuple(int(rng.integers(0, k // 2 + 1)) for k in kernel)
    # A last window that begins behind the elements is one for TVM and us, and none for torch.
    ends_inside = not any(padding) and all(s <= k for s, k in zip(strides, kernel))
    ceil = ends_inside and bool(rng.integers(2))
    data = _draw(rng, 2, 3, *_sizes(rng, ndim))
    function = getattr(R.nn, f"{kind}_pool{ndim}d")
    counterpart = getattr(functional, f"{kind}_pool{ndim}d")
    if kind == "max":
        dilation = tuple(int(k) for k in rng.integers(1, 3, ndim))
        ours = function(data, kernel, strides, padding, dilation, ceil)
        return ours, counterpart(_torch(data), kernel, strides, padding, dilation, ceil)
    counts = bool(rng.integers(2))
    ours = function(data, kernel, strides, padding, ceil_mode=ceil, count_include_pad=counts)
    return ours, counterpart(_torch(data), kernel, strides, padding, ceil, counts)


def _adaptive(ndim: int, rng: Random) -> tuple[Any, Any]:
    data, size = _draw(rng, 2, 3, *_sizes(rng, ndim)), _sizes(rng, ndim, 2)
    theirs = getattr(functional, f"adaptive_avg_pool{ndim}d")(_torch(data), size)
    return getattr(R.nn, f"adaptive_avg_pool{ndim}d")(data, size), theirs


# ---------------------------------------------------------------- norms, losses, attention


def _layer_norm(rng: Random) -> tuple[Any, Any]:
    data, gamma, beta = _draw(rng, 2, 3, 5), _draw(rng, 5), _draw(rng, 5)
    theirs = functional.layer_norm(_torch(data), (5,), _torch(gamma), _torch(beta), 1e-3)
    return R.nn.layer_norm(data, gamma, beta, axes=[-1], epsilon=1e-3), theirs


def _group_norm(rng: Random) -> tuple[Any, Any]:
    data, gamma, beta = _draw(rng, 2, 6, 4, 5), _draw(rng, 6), _draw(rng, 6)
    groups = int(rng.choice([1, 2, 3, 6]))
    theirs = functional.group_norm(_torch(data), groups, _torch(gamma), _torch(beta), 1e-3)
    ours = R.nn.group_norm(data, gamma, beta, groups, 1, [2, 3], epsilon=1e-3)
    return ours, theirs


def _instance_norm(rng: Random) -> tuple[Any, Any]:
    data, gamma, beta = _draw(rng, 2, 6, 4, 5), _draw(rng, 6), _draw(rng, 6)
    theirs = functional.instance_norm(
        _torch(data), weight=_torch(gamma), bias=_torch(beta), eps=1e-3
    )
    return R.nn.instance_norm(data, gamma, beta, 1, [2, 3], epsilon=1e-3), theirs


def _batch_norm(training: bool, rng: Random) -> tuple[Any, Any]:
    data, gamma, beta, mean = _draw(rng, 4, 3, 5), _draw(rng, 3), _draw(rng, 3), _draw(rng, 3)
    variance = rng.uniform(0.5, 2.0, 3)
    ours = R.nn.batch_norm(
        data, gamma, beta, mean, variance, 1, epsilon=1e-3, momentum=0.3, training=training
    )
    theirs = functional.batch_norm(
        _torch(data), _torch(mean), _torch(variance), _torch(gamma), _torch(beta), training, 0.3,
        1e-3,
    )  # fmt: skip
    return ours[0], theirs


def _rms_norm(rng: Random) -> tuple[Any, Any]:
    data, weight = _draw(rng, 2, 3, 5), _draw(rng, 5)
    theirs = functional.rms_norm(_torch(data), (5,), _torch(weight), 1e-3)
    return R.nn.rms_norm(data, weight, axes=[-1], epsilon=1e-3), theirs


def _cross_entropy(rng: Random) -> tuple[Any, Any]:
    scores, wanted = _draw(rng, 4, 6), rng.dirichlet(np.ones(6), 4)
    theirs = functional.cross_entropy(_torch(scores), _torch(wanted))
    # The operator takes logarithms of probabilities, and does not make them.
    return R.nn.cross_entropy_with_logits(R.nn.log_softmax(scores), wanted), theirs


def _nll_loss(rng: Random) -> tuple[Any, Any]:
    chances, targets = np.log(rng.dirichlet(np.ones(5), (3, 4))), rng.integers(0, 5, (3, 4))
    weights, ignored = rng.uniform(0.1, 2.0, 5), int(rng.integers(-1, 5))
    reduction = str(rng.choice(["none", "mean", "sum"]))
    if (targets == ignored).all():
        targets[0, 0] = (ignored + 1) % 5
    predictions = np.moveaxis(chances, -1, 1)
    theirs = functional.nll_loss(
        _torch(predictions), _torch(targets), _torch(weights), ignore_index=ignored,
        reduction=reduction,
    )  # fmt: skip
    ours = R.nn.nll_loss(predictions, targets, weights, reduction, ignored)
    return ours, theirs


def _attention(rng: Random) -> tuple[Any, Any]:
    query, key, value = _draw(rng, 2, 4, 3, 6), _draw(rng, 2, 5, 3, 6), _draw(rng, 2, 5, 3, 7)
    bias, scale = _draw(rng, 2, 3, 4, 5), float(rng.uniform(0.1, 2.0))
    rows = [_torch(np.swapaxes(x, 1, 2)) for x in (query, key, value)]
    theirs = functional.scaled_dot_product_attention(*rows, _torch(bias), scale=scale)
    return R.nn.attention(query, key, value, bias, scale), theirs.transpose(1, 2)


def _activation(name: str, rng: Random) -> tuple[Any, Any]:
    x = 4 * _draw(rng, 50)
    counterparts: dict[str, Callable[[Any], Any]] = {
        "gelu": functional.gelu,
        "gelu_tanh": functools.partial(functional.gelu, approximate="tanh"),
        "silu": functional.silu,
        "selu": functional.selu,
        "softplus": functional.softplus,
        "leakyrelu": functional.leaky_relu,
    }
    return getattr(R.nn, name)(x), counterparts[name](_torch(x))


def _prelu(rng: Random) -> tuple[Any, Any]:
    x, alpha = _draw(rng, 2, 3, 4), _draw(rng, 3)
    return R.nn.prelu(x, alpha), functional.prelu(_torch(x), _torch(alpha))


def _pixel_shuffle(rng: Random) -> tuple[Any, Any]:
    x, factor = _draw(rng, 2, 18, 3, 4), int(rng.choice([1, 3]))
    return R.nn.pixel_shuffle(x, factor), functional.pixel_shuffle(_torch(x), factor)


# ---------------------------------------------------------------- images


def _resize(ndim: int, rng: Random) -> tuple[Any, Any]:
    method = str(rng.choice(["nearest", "linear", "cubic"] if ndim == 2 else ["nearest", "linear"]))
    data, size = _draw(rng, 2, 3, *_sizes(rng, ndim, 3)), _sizes(rng, ndim, 2)
    align = method != "nearest" and bool(rng.integers(2))
    mode = {
        "nearest": "nearest",
        "linear": "bilinear" if ndim == 2 else "trilinear",
        "cubic": "bicubic",
    }[method]
    theirs = functional.interpolate(
        _torch(data), size, mode=mode, align_corners=None if method == "nearest" else align
    )
    places = "align_corners" if align else "half_pixel"
    if method == "nearest":
        places = "asymmetric"
    ours = getattr(R.image, f"resize{ndim}d")(
        data, size, method=method.replace("nearest", "nearest_neighbor"),
        coordinate_transformation_mode=places, cubic_alpha=-0.75,
        rounding_method="floor" if method == "nearest" else "round",
    )  # fmt: skip
    return ours, theirs


def _grid_sample(rng: Random) -> tuple[Any, Any]:
    data, grid = _draw(rng, 2, 3, 5, 6), rng.uniform(-1.5, 1.5, (2, 4, 7, 2))
    method = str(rng.choice(["bilinear", "nearest", "bicubic"]))
    padding, align = str(rng.choice(["zeros", "border", "reflection"])), bool(rng.integers(2))
    theirs = functional.grid_sample(_torch(data), _torch(grid), method, padding, align)
    # Our grid has its coordinates first.
    own = np.moveaxis(grid, -1, 1)
    return R.image.grid_sample(data, own, method, "NCHW", padding, align), theirs


def _affine_grid(rng: Random) -> tuple[Any, Any]:
    theta, size, align = _draw(rng, 2, 2, 3), _sizes(rng, 2, 2), bool(rng.integers(2))
    theirs = functional.affine_grid(_torch(theta), [2, 3, *size], align_corners=align)
    return R.image.affine_grid(theta, size, align_corners=align), theirs.permute(0, 3, 1, 2)


# ---------------------------------------------------------------- who is asked


def _opinions() -> Iterator[tuple[str, Opinion]]:
    for ndim in (1, 2, 3):
        yield f"nn.conv{ndim}d", functools.partial(_convolution, ndim)
        yield f"nn.conv{ndim}d_transpose", functools.partial(_transposed, ndim)
        for kind in ("max", "avg"):
            yield f"nn.{kind}_pool{ndim}d", functools.partial(_pool, kind, ndim)
        yield f"nn.adaptive_avg_pool{ndim}d", functools.partial(_adaptive, ndim)
    yield "nn.layer_norm", _layer_norm
    yield "nn.group_norm", _group_norm
    yield "nn.instance_norm", _instance_norm
    yield "nn.batch_norm, training", functools.partial(_batch_norm, True)
    yield "nn.batch_norm, inference", functools.partial(_batch_norm, False)
    yield "nn.rms_norm", _rms_norm
    yield "nn.cross_entropy_with_logits", _cross_entropy
    yield "nn.nll_loss", _nll_loss
    yield "nn.attention", _attention
    for name in ("gelu", "gelu_tanh", "silu", "selu", "softplus", "leakyrelu"):
        yield f"nn.{name}", functools.partial(_activation, name)
    yield "nn.prelu", _prelu
    yield "nn.pixel_shuffle", _pixel_shuffle
    for ndim in (2, 3):
        yield f"image.resize{ndim}d", functools.partial(_resize, ndim)
    yield "image.grid_sample", _grid_sample
    yield "image.affine_grid", _affine_grid


def disagreement(ours: Any, theirs: Any) -> str | None:
    """Why two results are not the same, or None."""
    a, b = np.asarray(ours), theirs.detach().numpy()
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}"
    # Not "near or unequal": a NaN on one side alone is a difference.
    near = np.isclose(a, b, rtol=BOUND, atol=BOUND, equal_nan=True)
    if near.all():
        return None
    where = tuple(map(int, np.argwhere(~near)[0]))
    return f"{a[where]!r} and {b[where]!r} at {where}"


def unknown_counterparts() -> list[str]:
    """The names of torch on the pages of operators that torch does not have."""
    unknown = []
    for name in sorted({name for row in COUNTERPARTS.values() for name in row.split()}):
        root, *parts = name.split(".")
        try:
            functools.reduce(getattr, parts if root == "torch" else [], torch)
        except AttributeError:
            unknown.append(name)
    return unknown


def main() -> int:
    """Ask torch of everything; 1 where it disagrees."""
    rng = np.random.default_rng(0)
    asked: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for name, opinion in _opinions():
        for _ in range(examples(ROUNDS)):
            told = disagreement(*opinion(rng))
            asked[name] += 1
            if told:
                wrong[name] += 1
                shown.setdefault(name, told)
    for name, number in sorted(wrong.items()):
        print(name, f"{number} times:", shown[name])
    unknown = unknown_counterparts()
    for name in unknown:
        print(f"there is no {name}")
    print(f"{sum(asked.values())} calls of {len(asked)} operators, {sum(wrong.values())} differ")
    return bool(wrong or unknown)


if __name__ == "__main__":
    sys.exit(main())
