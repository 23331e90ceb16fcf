"""Random modules of private functions that take and return more than anybody needs.

Each function calls those above it. Sizes are `n`, which parameters define, and 4. Now and then less
is known of an argument than there is, so that whether it fits shows when the program runs.
"""

from __future__ import annotations

import random
import warnings

from relaxscript.errors import RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.transform import ConvertToDataflow

__all__ = ["private_functions"]

# Parameters by their names, and what callers give for them: each a row of `n` or of 4 numbers.
PARAMS = {
    "a": ('R.Tensor(("n",), "float32")', "{n}"),
    "b": ('R.Tensor((4,), "float32")', "{4}"),
    "t": ('R.Tuple(R.Tensor(("n",), "float32"), R.Tensor((4,), "float32"))', "({n}, {4})"),
    "d": ('R.Tuple(R.Tuple(R.Tensor(("n",), "float32")), R.Tuple)', "(({n},), R.tuple())"),
    "s": ('R.Shape(["n"])', "R.shape([{size}])"),
    "k": ('R.Prim(value="n")', "R.prim_value({size})"),
    "u": ("R.Tensor", "{n}"),
}
ROWS = {
    "a": {"n": ["a"]}, "b": {"4": ["b"]}, "t": {"n": ["t[0]"], "4": ["t[1]"]},
    "d": {"n": ["d[0][0]"]}, "s": {}, "k": {}, "u": {},
}  # fmt: skip
INFOS = {"n": 'R.Tensor(("n",), "float32")', "4": 'R.Tensor((4,), "float32")'}


class Signature:
    """The parameters of a function, and the sizes of the rows in the tuple that it returns."""

    def __init__(self, choose: random.Random, name: str) -> None:
        self.name = name
        others = [param for param in PARAMS if param not in "ab"]
        # One parameter at least says what `n` is.
        self.params = ["a", "b", *choose.sample(others, choose.randrange(4))]
        choose.shuffle(self.params)
        self.results = [choose.choice("n4") for _ in range(choose.randrange(1, 4))]


def private_functions(seed: int) -> IRModule:
    """A module of some private functions and a public one."""
    choose = random.Random(seed)
    signatures = [Signature(choose, f"f{i}") for i in range(choose.randrange(1, 5))]
    lines = ["@I.ir_module", "class M:"]
    for index, signature in enumerate(signatures):
        callees = signatures[: index + (choose.random() < 0.3)]
        lines += _function(choose, signature, callees, private=choose.random() < 0.9)
    main = Signature(choose, "main")
    main.params = ["a", "b"]
    lines += _function(choose, main, signatures, private=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)  # what is checked when the program runs
        made = from_source("\n".join(lines))
    assert isinstance(made, IRModule)
    return ConvertToDataflow()(made) if choose.random() < 0.5 else made


def _function(
    choose: random.Random, own: Signature, callees: list[Signature], private: bool
) -> list[str]:
    mark = "(private=True)" if private else ""
    params = ", ".join(f"{name}: {PARAMS[name][0]}" for name in own.params)
    results = ", ".join(INFOS[size] for size in own.results)
    rows = {"n": ["a"], "4": ["b"]}
    for name in own.params:
        for size, found in ROWS[name].items():
            rows[size] = [*rows[size], *found]
    body = _body(choose, own, callees, rows)
    returned = "".join(f"{choose.choice(rows[size])}, " for size in own.results)
    return [
        f"    @R.function{mark}", f"    def {own.name}({params}) -> R.Tuple({results}):",
        "        n = T.int64()", *(f"        {line}" for line in body),
        f"        return ({returned})",
    ]  # fmt: skip


def _body(
    choose: random.Random, own: Signature, callees: list[Signature], rows: dict[str, list[str]]
) -> list[str]:
    lines: list[str] = []
    recursive = own in callees
    for index in range(choose.randrange(1, 6)):
        name = f"{own.name}_{index}"
        size = choose.choice("n4")
        left, right = choose.choice(rows[size]), choose.choice(rows[size])
        if callees and choose.random() < 0.6 and not (recursive and index):
            callee = choose.choice(callees)
            if callee is own:
                lines += _recursion(own, name)
                found = [f"{name}[{i}]" for i in range(len(own.results))]
                rows["n"] += [e for e, r in zip(found, own.results) if r == "n"]
            else:
                lines += _call(choose, callee, size, rows, name)
                for i, result in enumerate(callee.results):
                    if choose.random() < 0.6:
                        rows["4" if result == "4" else size].append(f"{name}[{i}]")
            continue
        value = choose.choice([f"R.add({left}, {right})", f"R.abs({left})", f"R.zeros([{size}])"])
        value = value.replace(f"R.zeros([{size}])", f'R.zeros(R.shape([{size}]), "float32")')
        lines.append(f"{name} = {value}")
        rows[size].append(name)
    return lines


def _recursion(own: Signature, name: str) -> list[str]:
    """A call of a function by itself, which is never made."""
    given = ", ".join("R.prim_value(n)" if p == "k" else p for p in own.params)
    fields = ", ".join("a" if size == "n" else "b" for size in own.results)
    return [
        "if R.const(False):", f"    {name}_r = M.{own.name}({given})", f"    {name} = {name}_r",
        "else:", f"    {name}_e = ({fields},)", f"    {name} = {name}_e",
    ]  # fmt: skip


def _call(
    choose: random.Random, callee: Signature, size: str, rows: dict[str, list[str]], name: str
) -> list[str]:
    """A call with `n` of the callee as large as the rows of `size`."""
    lines: list[str] = []
    given = []
    for param in callee.params:
        row, four = choose.choice(rows[size]), choose.choice(rows["4"])
        text = PARAMS[param][1].replace("{n}", row).replace("{4}", four)
        text = text.replace("{size}", size)
        if param in "ab" and choose.random() < 0.15:
            # Of another row as well as this one no more is known than that it is one.
            wrong = choose.choice(rows[choose.choice("n4")])
            lines.append(f'{name}_{param}: R.Tensor("float32", ndim=1) = {wrong}')
            text = f"{name}_{param}"
        given.append(text)
    return [*lines, f"{name} = M.{callee.name}({', '.join(given)})"]
