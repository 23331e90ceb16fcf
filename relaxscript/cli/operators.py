"""`relaxscript ops`: all operators, or the page of one, which `help` shows as well."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.op import REGISTRY, CompositeOp, namespace
from relaxscript.opdef.aliases import meant_operator

__all__ = ["is_operator", "list_operators", "tell_operator"]


def list_operators() -> int:
    """Print every operator with the first line of its page."""
    found = operators()
    width = max(map(len, found)) + 2
    for name in sorted(found, key=lambda name: (name.count("."), name)):
        first = (inspect.getdoc(found[name]) or "").partition("\n")[0]
        print(f"R.{name:{width}}{first}")
    return 0


def tell_operator(name: str) -> int:
    """Print the page of an operator, by any of its names: R.matmul, relax.matmul, matmul.

    Raises RX0703 for an operator that there is not.
    """
    short = short_name(name)
    known = operators()
    if short not in known:
        last = {full.rpartition(".")[2]: full for full in sorted(known, reverse=True)}
        near = last.get(short) or meant_operator(short) or nearest(short, known)
        near = near or last.get(str(nearest(short, last)))
        help = did_you_mean(near and f"R.{near}", "`relaxscript ops` lists all operators")
        message = f"there is no operator `R.{short}`"
        raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))
    print(inspect.getdoc(known[short]))
    return 0


def is_operator(name: str) -> bool:
    """True for what is meant as the name of an operator, whether it is there or not."""
    return name.startswith(("R.", "relax.")) or short_name(name) in operators()


def short_name(name: str) -> str:
    """`nn.relu` for `R.nn.relu` and `relax.nn.relu`."""
    return name.strip().removeprefix("R.").removeprefix("relax.").removeprefix("op.")


def operators() -> Mapping[str, Any]:
    """Operators and compositions of several, by their names behind `R.`."""
    found: dict[str, Any] = {name.removeprefix("relax."): o for name, o in REGISTRY.items()}
    spaces = [("", namespace)]
    while spaces:
        prefix, space = spaces.pop()
        for name in space.__all__:
            value = getattr(space, name)
            if isinstance(value, CompositeOp):
                found[prefix + name] = value
            elif hasattr(value, "__all__"):
                spaces.append((f"{prefix}{name}.", value))
    return found
