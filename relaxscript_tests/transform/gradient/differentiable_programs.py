"""Random programs of one dataflow block that return scalars, smooth wherever they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.transform import (
    ApplyPassToFunction,
    ConvertToDataflow,
    Gradient,
    Pass,
    Sequential,
)

__all__ = ["adjoint", "module", "script"]

# Shapes by their numbers; what is written has one of them.
_SHAPES = ("(n, 6)", "(6, n)", "(n, 1)", "(6,)", "(n, 3)", "(n * 6,)", "()")
_SAME = (
    "R.tanh({})", "R.sin({})", "R.sigmoid({})", "R.exp(R.negative(R.square({})))",
    "R.multiply({}, R.const(0.5, 'DTYPE'))", "R.nn.silu({})", "R.sqrt(R.add(R.square({}), "
    "R.const(1.0, 'DTYPE')))",
)  # fmt: skip
_TWO = (
    "R.add({}, {})", "R.multiply({}, {})", "R.subtract({}, {})",
    "R.divide({}, R.add(R.square({}), R.const(1.0, 'DTYPE')))",
)  # fmt: skip
# From a shape to another one, by their numbers in `_SHAPES`.
_OTHERS = (
    (0, 1, "R.permute_dims({})"),
    (1, 0, "R.permute_dims({})"),
    (0, 2, "R.sum({}, axis=1, keepdims=True)"),
    (0, 3, "R.mean({}, axis=0)"),
    (0, 0, "R.nn.softmax({})"),
    (0, 0, "R.nn.layer_norm({0}, b, b, axes=[-1])"),
    (0, 0, "R.matmul({}, m)"),
    (0, 0, "R.matmul(R.matmul({0}, m), R.permute_dims(m))"),
    (0, 0, "R.cumsum({}, axis=1)"),
    (0, 5, "R.reshape({}, (n * 6,))"),
    (5, 0, "R.reshape({}, (n, 6))"),
    (4, 0, "R.concat(({0}, {0}), axis=1)"),
    (0, 4, "R.take({}, k, axis=1)"),
    (0, 4, "R.strided_slice({}, [1], [0], [6], [2])"),
    (2, 0, "R.broadcast_to({}, (n, 6))"),
    (0, 0, "R.where(R.greater(R.const([1.0, -1, 2, -2, 3, 0], 'DTYPE'), {0}), {0}, b)"),
    (0, 6, "R.sum({})"),
    (3, 6, "R.mean({})"),
    (6, 3, "R.multiply({}, b)"),
    (6, 0, "R.multiply({}, x)"),
)


def adjoint(require_grads: Sequence[str] | None = None, target_index: int = 0) -> Pass:
    """The adjoint of `main`, which is made one block for that."""
    in_one_block = ApplyPassToFunction(ConvertToDataflow(1), "main")
    return Sequential([in_one_block, Gradient("main", require_grads, target_index)])


def module(seed: int, dtype: str = "float32", stops: bool = True) -> IRModule:
    """The program of a seed; unless `stops`, without what no gradient flows through."""
    text = script(Random(seed), dtype)
    mod = from_source(text if stops else text.replace("R.grad.no_grad", "R.negative"))
    assert isinstance(mod, IRModule)
    return mod


def script(rng: Random, dtype: str) -> str:
    """A module with a function of tensors, a tuple, indices and what changes nothing."""
    known = [("x", 0), ("y", 0), ("b", 3), ("t[0]", 0), ("t[1]", 3), ("z", 6)]
    lines: list[str] = []
    for number in range(rng.randint(3, 14)):
        made, shape = _value(rng, f"v{number}", known, lines)
        lines.append(f"v{number} = {made}")
        known.append((f"v{number}", shape))
    # All that is new may reach the target, what is old may not.
    terms = [f"R.mean({name})" for name, _ in rng.sample(known[-4:], rng.randint(1, 3))]
    lines += [f"s{k} = {term}" for k, term in enumerate(terms)]
    lines += [f"r{k} = R.add(s{k}, {f'r{k - 1}' if k else 'z'})" for k in range(len(terms))]
    result = f"r{len(terms) - 1}"
    lines.append(f"R.output({result}, s0)")
    text = "\n".join(f"            {line}" for line in lines)
    made = f"""
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 6), "DTYPE"), y: R.Tensor(("n", 6), "DTYPE"),
        b: R.Tensor((6,), "DTYPE"), m: R.Tensor((6, 6), "DTYPE"),
        t: R.Tuple(R.Tensor(("n", 6), "DTYPE"), R.Tensor((6,), "DTYPE")),
        z: R.Tensor((), "DTYPE"),
    ):
        n = T.int64()
        with R.dataflow():
            k = R.const([5, 0, 3])
{text}
        return {result}, s0
"""
    return made.replace("DTYPE", dtype)


def _value(
    rng: Random, name: str, known: list[tuple[str, int]], lines: list[str]
) -> tuple[str, int]:
    """A value and the number of its shape; what it needs is written before."""
    # What is new is used more often, so that chains and diamonds come about.
    operand, shape = rng.choice([*known, *known[-3:], *known[-3:], *known[-2:]])
    choice = rng.random()
    if choice < 0.08:
        operand = rng.choice([n for n, s in known if s == 0])
        lines.append(f"{name}t = R.split({operand}, 2, axis=1)")
        return f"R.add({name}t[0], {name}t[{rng.randint(0, 1)}])", 4
    if choice < 0.16:
        others = [n for n, _ in known]
        lines.append(f"{name}t = ({operand}, ({rng.choice(others)}, {operand}))")
        lines.append(f"{name}u = {name}t[1]")
        return f"R.add({name}u[1], {name}t[0])", shape
    if choice < 0.2:
        return f"R.match_cast({operand}, R.Tensor({_SHAPES[shape]}, 'DTYPE'))", shape
    if choice < 0.3:
        lines.append(f"{name}s = {_marked(operand, name, lines)}")
        lines.append(f"{name}c = {rng.choice(_SAME).format(f'{name}s', dtype='DTYPE')}")
        lines.append(f"{name}d = R.multiply({name}c, {name}s)")
        return f"R.grad.end_checkpoint({name}d)", shape
    if choice < 0.34:
        return f"R.grad.no_grad({operand})", shape
    if choice < 0.55:
        other = rng.choice([n for n, s in known if s == shape])
        return rng.choice(_TWO).format(operand, other), shape
    others_of = [o for o in _OTHERS if o[0] == shape]
    if choice < 0.85 and others_of:
        _, shape, form = rng.choice(others_of)
        return form.format(operand), shape
    return rng.choice(_SAME).format(operand), shape


def _marked(operand: str, name: str, lines: list[str]) -> str:
    lines.append(f"{name}o = {operand}")
    return f"R.grad.start_checkpoint({name}o)"
