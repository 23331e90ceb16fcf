"""Rows of the tables of statements: a signature, and what the builder of PrimFuncs makes of it.

    @statement(Role.ADDS, TIRBuilder.prefetch, node=Prefetch)
    def prefetch(buffer: Any, bounds: Sequence[Any]) -> Arguments:
        \"\"\"A hint that a region of a buffer will be read soon.\"\"\"
        return locals()

The parser, the frames of `script.ir_builder`, the printer and the stub read these rows. A statement
needs a rule of its own only where its row does not say all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec

from relaxscript.ir.tir import Stmt

from .tir_types import StmtForm

__all__ = ["CALL_OF_NODE", "ROWS", "Arguments", "Role", "Statement", "role_of", "statement"]

P = ParamSpec("P")

# The arguments of a statement by its parameters, as the builder takes them by keyword.
Arguments = Mapping[str, Any]


class Role(Enum):
    """The relation of a statement to those around it."""

    ADDS = auto()  # one statement of its own
    HOLDS = auto()  # what follows it, to the end of the scope; `with` ends it sooner
    OPENS = auto()  # a scope of its own: `with T.block("b"):`
    LOOPS = auto()  # a scope that `for` and `with` go through
    GIVES = auto()  # a variable or buffer, and no statement
    VALUE = auto()  # a part of other statements


class Statement(NamedTuple):
    """A row: what the builder does with the arguments, and what it gives.

    `build` takes the builder and the arguments by keyword. `gives` is the class of the result that
    scripts name. `node` is what is made, where its fields are the arguments.
    """

    role: Role
    build: Callable[..., Any]
    gives: type | None = None
    node: type[Stmt] | None = None


ROWS: dict[Callable[..., StmtForm], Statement] = {}

# The calls as which nodes are written.
CALL_OF_NODE: dict[type[Stmt], Callable[..., StmtForm]] = {}


def statement(
    role: Role, build: Callable[..., Any], gives: type | None = None,
    node: type[Stmt] | None = None,
) -> Callable[[Callable[P, Arguments]], Callable[P, StmtForm]]:  # fmt: skip
    """Enter a statement into the table, described by the function below."""

    def register(arguments: Callable[P, Arguments]) -> Callable[P, StmtForm]:
        @wraps(arguments)
        def describe(*args: P.args, **kwargs: P.kwargs) -> StmtForm:
            return StmtForm(describe, **arguments(*args, **kwargs))

        # Asked for whenever such a statement is parsed.
        vars(describe)["__signature__"] = signature(arguments)
        ROWS[describe] = Statement(role, build, gives, node)
        if node is not None:
            CALL_OF_NODE[node] = describe
        return describe

    return register


def role_of(form: StmtForm) -> Role | None:
    """The role of a statement; those that Python writes without `T.` have none."""
    row = ROWS.get(form.maker)
    return None if row is None else row.role
