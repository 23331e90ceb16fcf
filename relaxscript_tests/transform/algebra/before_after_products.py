"""Programs of one dataflow block, before and after a pass on products."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.transform import Pass
from relaxscript_tests.transform.before_after import check

__all__ = ["check_block", "script"]


def script(params: str, body: str, results: str = "y", dataflow: bool = True) -> str:
    """A module of one function: its parameters, `name: shape` or with a dtype, and its bindings."""
    given = ", ".join(map(_param, params.split(";")))
    lines = [line.strip() for line in body.strip().splitlines()]
    if dataflow:
        inside = ["with R.dataflow():", *("    " + line for line in lines)]
        inside.append(f"    R.output({results})")
    else:
        inside = lines
    text = "\n".join(f"        {line}" for line in [*inside, f"return {results}"])
    return f"@I.ir_module\nclass M:\n    @R.function\n    def main({given}):\n{text}\n"


def _param(text: str) -> str:
    name, _, shape = (part.strip() for part in text.partition(":"))
    shape, _, dtype = (part.strip() for part in shape.partition(" of "))
    dims = "".join(
        f"{dim.strip()}, " if dim.strip().isdigit() else f'"{dim.strip()}", '
        for dim in shape.split("x")
    )
    return f'{name}: R.Tensor(({dims}), "{dtype or "float32"}")'


def check_block(
    step: Pass, params: str, before: str, after: str | None, results: str = "y"
) -> IRModule:
    """Compare what a pass makes of a block with a block; None for one that stays as it is."""
    text = None if after is None else script(params, after, results)
    return check(step, script(params, before, results), text)
