"""Programs whose PrimFuncs name their operators, and other PrimFuncs for these."""

from __future__ import annotations

from random import Random

from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.transform import AlterOpImpl

__all__ = ["alter", "packed_rows"]

_FUNCTION = """
    @T.prim_func(private=True)
    def {name}({params}):
        T.func_attr({{"operator_name": "test.{kind}"}})
        n, m = T.int64(), T.int64()
{buffers}
        for {loops} in T.grid({sizes}):
            with T.block("{kind}"):
                {axes} = T.axis.remap("{sorts}", [{loops}])
                C[{axes}] = {value}
"""
_VALUES = {"twice": "A[{0}] + A[{0}]", "mix": "A[{0}] * T.float32(0.5) - B[{0}]"}


def _function(name: str, kind: str, sizes: str) -> str:
    """A function on elements; `sizes` are those of its buffers."""
    buffers = "AC" if kind == "twice" else "ABC"
    rank = sizes.count(",") + 1
    axes = ", ".join(f"v{axis}" for axis in range(rank))
    return _FUNCTION.format(
        name=name, kind=kind, sizes=sizes, axes=axes, sorts="S" * rank,
        params=", ".join(f"{buffer.lower()}: T.handle" for buffer in buffers),
        buffers="\n".join(
            f'        {b} = T.match_buffer({b.lower()}, ({sizes}), "float32")' for b in buffers
        ),
        loops=", ".join(f"i{axis}" for axis in range(rank)), value=_VALUES[kind].format(axes),
    )  # fmt: skip


def packed_rows(seed: int) -> IRModule:
    """Calls of functions on the elements of matrices, in blocks and between them."""
    rng = Random(seed)
    wide = rng.choice(("5", "6", "8"))
    lines: list[str] = []
    known = ["x", "y"]
    for block in range(rng.randint(1, 3)):
        own: list[str] = []
        is_dataflow = rng.random() < 0.6
        for number in range(rng.randint(1, 4)):
            args = rng.sample(known + own, 2)
            kind = rng.choice(("twice", "mix", "exp"))
            given = f"({args[0]},)" if kind == "twice" else f"({', '.join(args)})"
            call = f'R.call_tir(cls.{kind}, {given}, out_sinfo=R.Tensor((n, {wide}), "float32"))'
            name = f"v{block}_{number}"
            lines.append(f"    {name} = {f'R.abs({args[0]})' if kind == 'exp' else call}")
            own.append(name)
        lines.insert(len(lines) - len(own), "with R.dataflow():" if is_dataflow else "if True:")
        if is_dataflow:
            lines.append(f"    R.output({', '.join(own)})")
        else:
            lines = [*lines[: -len(own) - 1], *(line[4:] for line in lines[-len(own) :])]
        known += own
    text = "\n".join(f"        {line}" for line in lines)
    made = from_source(f"""
@I.ir_module
class M:{_function("twice", "twice", "n, m")}{_function("mix", "mix", "n, m")}
    @R.function
    def main(x: R.Tensor(("n", {wide}), "float32"), y: R.Tensor(("n", {wide}), "float32")):
        n = T.int64()
        cls = M
{text}
        return ({known[-1]}, {rng.choice(known)})
""")
    assert isinstance(made, IRModule)
    return made


def alter() -> AlterOpImpl:
    """Functions on packed rows, which may be padded, and on columns."""
    text = _function("twice", "twice", "n, m, 4") + _function("mix", "mix", "m, n")
    mod = from_source(f"@I.ir_module\nclass M:{text}")
    pack, turn = (lambda i, j: (i, j // 4, j % 4)), (lambda i, j: (j, i))
    return AlterOpImpl(
        {"test.twice": mod["twice"], "test.mix": mod["mix"]},
        {"test.twice": [pack] * 2, "test.mix": [turn] * 3},
        {"test.mix": None},
        {},
    )
