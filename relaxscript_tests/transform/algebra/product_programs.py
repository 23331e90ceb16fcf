"""Random programs of products, sums, permutations and joins, in which laws of algebra find work."""

from __future__ import annotations

from random import Random

from relaxscript.ir.module import IRModule
from relaxscript.script import from_source

__all__ = ["products_module"]

Shape = tuple[object, ...]
# Few different sizes, so that many operands fit.
_SIZES: tuple[object, ...] = (1, 2, 3, '"n"')


def products_module(seed: int) -> IRModule:
    """A random module of such calls on tensors of one dtype, with and without dataflow block."""
    rng = Random(seed)
    made = from_source(_Program(rng).text())
    assert isinstance(made, IRModule)
    return made


class _Program:
    """A program as it grows: what is known of each variable, and lines so far."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.dtype = rng.choice(["float32", "float32", "float64", "int32"])
        self.shapes: dict[str, Shape] = {}
        self.lines: list[str] = []
        for number in range(rng.randint(3, 6)):
            rank = rng.choice([1, 2, 2, 2, 2, 3])
            shape: Shape = tuple(rng.choice(_SIZES) for _ in range(rank))
            self.shapes[f"p{number}"] = shape
        self.shapes["p_n"] = ('"n"', 3)
        self.params = dict(self.shapes)
        for _ in range(rng.randint(6, 14)):
            rng.choice([self.product, self.product, self.product, self.sum, self.sum,
                        self.permuted, self.permuted, self.joined, self.taken,
                        self.activated])()  # fmt: skip

    def text(self) -> str:
        """The script of a module whose `main` returns what is used nowhere, and some more."""
        params = [f"{k}: R.Tensor({_tuple(v)}, '{self.dtype}')" for k, v in self.params.items()]
        params.append("indices: R.Tensor((2,), 'int64')")
        lines = self.lines or ["v0 = R.add(p0, p0)"]
        names = [line.partition(" = ")[0] for line in lines]
        text = "\n".join(lines)
        results = [name for name in names if text.count(name) == 1 or self.rng.random() < 0.2]
        results = results or names[-1:]
        if self.rng.random() < 0.8:
            body = ["with R.dataflow():", *("    " + line for line in lines)]
            body.append(f"    R.output({', '.join(results)})")
        else:
            body = lines
        body.append(f"return {', '.join(results)}")
        head = f"@I.ir_module\nclass M:\n    @R.function\n    def main({', '.join(params)}):\n"
        return head + "\n".join(f"        {line}" for line in body)

    def bind(self, value: str, shape: Shape) -> None:
        """Add a binding; the name of its variable begins no other."""
        name = f"v{len(self.lines)}_"
        self.lines.append(f"{name} = {value}")
        self.shapes[name] = shape

    def choose(self) -> str:
        """A variable, rather a late one."""
        names = [name for name, shape in self.shapes.items() if shape]
        return names[max(self.rng.randrange(len(names)), self.rng.randrange(len(names)))]

    def product(self) -> None:
        a = self.choose()
        left = self.shapes[a]
        fitting = [name for name, shape in self.shapes.items() if _product(left, shape) is not None]
        if fitting:
            b = self.rng.choice(fitting[-4:])
            shape = _product(left, self.shapes[b])
            assert shape is not None
            self.bind(f"R.matmul({a}, {b})", shape)

    def sum(self) -> None:
        a = self.choose()
        fitting = [name for name, shape in self.shapes.items() if shape == self.shapes[a]]
        self.bind(f"R.add({a}, {self.rng.choice(fitting)})", self.shapes[a])

    def permuted(self) -> None:
        a = self.choose()
        *batch, rows, columns = ("", *self.shapes[a]) if len(self.shapes[a]) < 2 else self.shapes[a]
        if rows:
            rank = len(batch) + 2
            axes = [*range(rank - 2), rank - 1, rank - 2]
            self.bind(f"R.permute_dims({a}, {axes})", (*batch, columns, rows))

    def joined(self) -> None:
        a = self.choose()
        shape = self.shapes[a]
        axis = self.rng.randrange(len(shape))
        if any(isinstance(dim, str) for dim in shape[axis : axis + 1]):
            return
        fitting = [
            name
            for name, other in self.shapes.items()
            if len(other) == len(shape)
            and not isinstance(other[axis], str)
            and all(x == y for k, (x, y) in enumerate(zip(other, shape)) if k != axis)
        ]
        b = self.rng.choice(fitting[-3:])
        total = int(str(shape[axis])) + int(str(self.shapes[b][axis]))
        self.bind(f"R.concat(({a}, {b}), axis={axis})", (*shape[:axis], total, *shape[axis + 1 :]))

    def taken(self) -> None:
        a = self.choose()
        shape = self.shapes[a]
        axis = self.rng.choice([0, len(shape) - 1])
        mode = self.rng.choice(["wrap", "wrap", "clip", "fast"])
        self.bind(
            f'R.take({a}, indices, axis={axis}, mode="{mode}")',
            (*shape[:axis], 2, *shape[axis + 1 :]),
        )

    def activated(self) -> None:
        a = self.choose()
        self.bind(f"R.nn.relu({a})", self.shapes[a])


def _tuple(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))},)"


def _product(a: Shape, b: Shape) -> Shape | None:
    """The shape of a product; None where the operands do not go together for sure."""
    if not b or a[-1] != (b[0] if len(b) == 1 else b[-2]):
        return None
    batch: list[object] = []
    x, y = a[:-2], b[:-2]
    for k in range(1, max(len(x), len(y)) + 1):
        one, other = (x[-k] if k <= len(x) else 1), (y[-k] if k <= len(y) else 1)
        if one != other and 1 not in (one, other):
            return None
        batch.insert(0, other if one == 1 else one)
    return (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))
