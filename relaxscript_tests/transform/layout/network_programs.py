"""Random networks of images: convolutions, normalizations, pools, and what stands between them."""

from __future__ import annotations

from random import Random

from relaxscript.ir.module import IRModule
from relaxscript.script import from_source

__all__ = ["network", "network_script"]

# Of a tensor of C channels to one of the same shape.
_SAME = (
    "R.nn.relu({0})", "R.multiply({0}, R.const(0.5, 'float32'))", "R.add({0}, b{1})",
    "R.clip({0}, -2, 2)", "R.nn.max_pool2d({0}, (3, 3), padding=1)", "R.abs({0})",
    "R.nn.avg_pool2d({0}, (3, 1), padding=(1, 0))", "R.nn.softmax({0}, axis=1)",
    "R.nn.leakyrelu({0})", "R.subtract({0}, R.max({0}, axis=[2, 3], keepdims=True))",
    "R.maximum({0}, R.sum({0}, axis=[1], keepdims=True))", "R.flip({0}, axis=3)",
    "R.where(R.greater({0}, R.const(0, 'float32')), {0}, R.negative({0}))",
    "R.nn.conv2d({0}, k{1}, padding=1)", "R.nn.conv2d({0}, k{1}, padding=1, groups=1)",
    "R.permute_dims(R.nn.relu(R.permute_dims({0}, (0, 2, 3, 1))), (0, 3, 1, 2))",
    "R.permute_dims(R.nn.conv2d(R.permute_dims({0}, (0, 2, 3, 1)), h{1}, data_layout='NHWC', "
    "kernel_layout='HWIO'), (0, 3, 1, 2))",
    "R.reshape(R.reshape({0}, (n, {1} * SIZE)), (n, {1}, HIGH, WIDE))",
    "R.reshape({0}, (n, {1}, HIGH, WIDE))",
    "R.cumsum({0}, axis=2)", "R.astype(R.astype({0}, 'float64'), 'float32')",
    "R.strided_slice(R.nn.pad({0}, (0, 0, 0, 0, 1, 0, 0, 1)), (2, 3), (1, 0), (HIGH + 1, WIDE))",
    "R.layout_transform(R.layout_transform({0}, lambda a, i, j, k: (a, j, k, i)), "
    "lambda a, j, k, i: (a, i, j, k))",
    "R.layout_transform(R.layout_transform({0}, lambda a, i, j, k: (a, i // 2, j, k, i % 2)), "
    "lambda a, i, j, k, c: (a, i * 2 + c, j, k))",
    "R.nn.batch_norm({0}, p{1}, g{1}, m{1}, s{1}, axis=1, training=False)[0]",
    "R.nn.batch_norm(R.nn.conv2d({0}, k{1}, padding=1), g{1}, p{1}, m{1}, s{1}, axis=1, "
    "training=False)[0]",
    "R.nn.batch_norm(R.nn.conv2d({0}, k{1}, padding=1, out_layout='NHWC'), g{1}, p{1}, m{1}, "
    "s{1}, axis=-1, epsilon=0.25, scale=False, training=False)[0].permute_dims(0, 3, 1, 2)",
)  # fmt: skip
_TWO = ("R.add({0}, {1})", "R.multiply({0}, {1})", "R.maximum({0}, {1})")
_CHANNELS = (2, 4)


def network(seed: int) -> IRModule:
    """The network of a seed."""
    made = from_source(network_script(Random(seed)))
    assert isinstance(made, IRModule)
    return made


def network_script(rng: Random) -> str:
    """A module of one function: a dataflow block, one behind it, and what is between them."""
    known = [("x2", 2), ("x4", 4)]
    lines: list[str] = []
    for block in range(2):
        inside, own = _block(rng, f"v{block}_", known)
        given = rng.sample(own, min(2, len(own)))
        names = ", ".join(name for name, _ in given)
        lines += ["with R.dataflow():", *(f"    {line}" for line in inside)]
        lines += [f"    R.output({names})"]
        known += given
    results = [_result(rng, *pair) for pair in rng.sample(known[2:], min(2, len(known) - 2))]
    text = "\n".join(f"        {line}" for line in [*lines, f"return ({', '.join(results)},)"])
    high, wide = rng.choice((("5", "4"), ("3", "6"), ("h", "w")))
    text = text.replace("SIZE", f"{high} * {wide}").replace("HIGH", high).replace("WIDE", wide)
    sizes = "\n        h, w = T.int64(), T.int64()" if high == "h" else ""
    high, wide = (f'"{size}"' if size.isalpha() else size for size in (high, wide))
    weights = ", ".join(
        f'k{c}: R.Tensor(({c}, {c}, 3, 3), "float32"), h{c}: R.Tensor((1, 1, {c}, {c}), "float32"),'
        f' b{c}: R.Tensor(({c}, 1, 1), "float32"), p{c}: R.Tensor(({c},), "float32")'
        for c in _CHANNELS
    )
    made = "".join(
        f"\n        s{c} = R.add(R.abs(p{c}), R.const(0.5, 'float32'))"
        f"\n        g{c} = R.const({[k + 1.5 for k in range(c)]}, 'float32')"
        f"\n        m{c} = R.negative(p{c})"
        for c in _CHANNELS
    )
    return f"""
@I.ir_module
class Network:
    @R.function
    def main(
        x2: R.Tensor(("n", 2, {high}, {wide}), "float32"),
        x4: R.Tensor(("n", 4, {high}, {wide}), "float32"),
        {weights},
    ):
        n = T.int64(){sizes}{made}
{text}
"""


def _block(
    rng: Random, prefix: str, known: list[tuple[str, int]]
) -> tuple[list[str], list[tuple[str, int]]]:
    """The bindings of a block, and what they bind."""
    lines: list[str] = []
    own: list[tuple[str, int]] = []
    for number in range(rng.randint(2, 7)):
        # Mostly what is made last, so that chains are long.
        name, channels = (own or known)[-1] if rng.random() < 0.7 else rng.choice(known + own)
        others = [n for n, c in known + own if c == channels]
        kind = rng.random()
        if kind < 0.65:
            value = rng.choice(_SAME).format(name, channels)
        elif kind < 0.85:
            value = rng.choice(_TWO).format(name, rng.choice(others))
        elif channels == _CHANNELS[0]:
            value, channels = f"R.concat(({name}, {rng.choice(others)}), axis=1)", 4
        else:
            value, channels = f"R.split({name}, 2, axis=1)[{rng.randint(0, 1)}]", 2
        lines.append(f"{prefix}{number} = {value}")
        own.append((f"{prefix}{number}", channels))
    return lines, own


def _result(rng: Random, name: str, channels: int) -> str:
    forms = ("{0}", "R.mean({0}, axis=[2, 3])", "R.flatten({0})")
    return rng.choice(forms).format(name)
