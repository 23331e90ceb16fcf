"""Random programs of which much can be computed together, as PrimFuncs with patterns."""

from __future__ import annotations

from random import Random

from relaxscript.ir.module import IRModule
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.transform import LegalizeOps

__all__ = ["fusable_module", "fusable_script"]

_SHAPES = ('("n", 6)', '(6, "n")', '("n", 1)', "(6,)", '("n", 3)', '("n * 6",)', "(6, 3)")
_SAME = ("R.negative({})", "R.nn.relu({})", "R.abs({})", "R.multiply({}, R.const(0.5, 'float32'))")
_TWO = ("R.add({}, {})", "R.multiply({}, {})", "R.maximum({}, {})", "R.subtract({}, {})")
# From a shape to another one, by their numbers in `_SHAPES`.
_OTHERS = (
    (0, 1, "R.permute_dims({})"),
    (1, 0, "R.permute_dims({})"),
    (0, 2, "R.sum({}, axis=1, keepdims=True)"),
    (0, 2, "R.max({}, axis=[1], keepdims=True)"),
    (0, 3, "R.sum({}, axis=0)"),
    (0, 0, "R.nn.softmax({})"),
    (0, 0, "R.cumsum({}, axis=1)"),
    (0, 5, "R.reshape({}, (n * 6,))"),
    (5, 0, "R.reshape({}, (n, 6))"),
    (4, 0, "R.concat(({0}, {0}), axis=1)"),
    (0, 4, "R.take({}, R.const([5, 0, 3]), axis=1)"),
    (0, 4, "R.strided_slice({}, [1], [0], [6], [2])"),
    (2, 0, "R.broadcast_to({}, (n, 6))"),
)


def fusable_module(seed: int) -> IRModule:
    """The program of a seed, legalised; the patterns of its PrimFuncs are any at all."""
    rng = Random(seed)
    mod = LegalizeOps()(from_source(fusable_script(rng))).clone()
    for gvar, func in list(mod.functions.items()):
        if isinstance(func, PrimFunc):
            mod[gvar] = func.with_attr("op_pattern", rng.choice((0, 0, 0, 0, 1, 2, 2, 3, 4, 8)))
    return mod


def fusable_script(rng: Random) -> str:
    """A module of one function with one to three dataflow blocks, one of them maybe in a branch."""
    known: list[tuple[str, int]] = [("x", 0), ("y", 0), ("b", 3)]
    lines: list[str] = []
    for block in range(rng.randint(1, 3)):
        in_branch = rng.random() < 0.3
        body, given = _block(rng, f"v{block}_", known)
        if in_branch:
            name, shape = given[0]
            lines += ["if c:", *(f"    {line}" for line in body), f"    r{block} = R.abs({name})"]
            lines += ["else:", f"    r{block} = R.zeros({_value(shape)}, 'float32')"]
            known.append((f"r{block}", shape))
        else:
            lines += body
            known += given
    results = ", ".join([name for name, _ in rng.sample(known, min(3, len(known)))])
    text = "\n".join(f"        {line}" for line in [*lines, f"return ({results},)"])
    return f"""
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(a: T.Buffer(("n", 6), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 6):
            with T.block("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                a[vi, vj] = a[vi, vj] * T.float32(2)

    @R.function
    def main(
        x: R.Tensor(("n", 6), "float32"), y: R.Tensor(("n", 6), "float32"),
        b: R.Tensor((6,), "float32"), c: R.Tensor((), "bool"),
    ):
        n = T.int64()
        cls = Module
{text}
"""


def _value(shape: int) -> str:
    return _SHAPES[shape].replace('"', "")


def _block(
    rng: Random, prefix: str, outside: list[tuple[str, int]]
) -> tuple[list[str], list[tuple[str, int]]]:
    """The lines of a dataflow block, and what it gives."""
    lines: list[str] = []
    known = list(outside)
    own: list[tuple[str, int]] = []
    for number in range(rng.randint(3, 14)):
        name = f"{prefix}{number}"
        # What is new is used more often, so that chains and diamonds come about.
        operand, shape = rng.choice([*known, *own[-3:], *own[-3:], *own[-2:]])
        choice = rng.random()
        if choice < 0.06:
            fields = [f"{name}t[0]", f"{name}t[1]"]
            operand = rng.choice([n for n, s in known if s == 0])
            lines.append(f"{name}t = R.split({operand}, 2, axis=1)")
            made, shape = f"R.add({fields[0]}, {rng.choice(fields)})", 4
        elif choice < 0.11:
            info = f"R.Tensor({_value(shape)}, 'float32')"
            made = f"R.match_cast({operand}, {info})"
        elif choice < 0.15:
            operand = rng.choice([n for n, s in known if s == 0])
            lines.append(f"{name}c = R.nn.relu({operand})")
            info = "R.Tensor((n, 6), 'float32')"
            made, shape = f"R.call_tir_inplace(cls.double, ({name}c,), [0], out_sinfo={info})", 0
        elif choice < 0.45:
            same = [n for n, s in known if s == shape]
            made = rng.choice(_TWO).format(operand, rng.choice(same))
        elif choice < 0.7 and (others := [o for o in _OTHERS if o[0] == shape]):
            _, shape, form = rng.choice(others)
            made = form.format(operand)
        else:
            made = rng.choice(_SAME).format(operand)
        lines.append(f"{name} = {made}")
        known.append((name, shape))
        own.append((name, shape))
    given = rng.sample(own, rng.randint(1, min(3, len(own))))
    lines.append(f"R.output({', '.join(name for name, _ in given)})")
    return ["with R.dataflow():", *(f"    {line}" for line in lines)], given
