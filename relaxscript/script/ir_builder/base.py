"""The builder and its frames: what is open, what was finished, what things are called."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

from relaxscript.errors import Diagnostic, DiagnosticError, Label, Span
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import prim, relax
from relaxscript.ir.node import Node
from relaxscript.ir.tir import Buffer
from relaxscript.ir.walk import Substitution

__all__ = ["Frame", "IRBuilder", "builder_error", "innermost", "with_names"]

F = TypeVar("F", bound="Frame")
N = TypeVar("N", bound=Node)
V = TypeVar("V", bound=Any)


def builder_error(code: str, message: str, help: str | None = None) -> DiagnosticError:
    """The error of a misuse, placed at the line of Python that called."""
    return DiagnosticError(Diagnostic(code, message, caller_span(), help=help))


class IRBuilder:
    """Collects what is written inside `with IRBuilder() as ib:`; `ib.get()` gives it.

    One builder makes one module, one function, or one piece of a PrimFunc.
    """

    _active = threading.local()

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.finished: list[Any] = []

    def __enter__(self) -> IRBuilder:
        IRBuilder._active.__dict__.setdefault("stack", []).append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        IRBuilder._active.stack.remove(self)

    @staticmethod
    def is_in_scope() -> bool:
        """True if the caller is inside a builder, in its thread."""
        return bool(getattr(IRBuilder._active, "stack", []))

    @staticmethod
    def current() -> IRBuilder:
        """The innermost builder around the caller; raises `DiagnosticError` where there is none."""
        if not IRBuilder.is_in_scope():
            raise builder_error(
                "RX0105", "no builder is open", "write it inside `with IRBuilder() as ib:`"
            )
        builder: IRBuilder = IRBuilder._active.stack[-1]
        return builder

    def get(self) -> Any:
        """The result of the builder: an IRModule, a Function, a PrimFunc, or a statement."""
        if self.frames:
            raise builder_error(
                "RX0105", f"`{self.frames[-1].written}` is still open",
                "ask for what was built after the end of its `with`",
            )  # fmt: skip
        if not self.finished:
            raise builder_error(
                "RX0105", "nothing was built",
                "open a frame: `with R.function():`, or `with I.ir_module():` around several",
            )  # fmt: skip
        result = self.finished[-1]
        return result.whole() if isinstance(result, Frame) else result

    def finish(self, result: Any) -> None:
        """Take what an outermost frame made."""
        if self.finished:
            raise builder_error(
                "RX0302", "a builder makes one thing, and this is the second",
                "put several functions in `with I.ir_module():`",
            )  # fmt: skip
        self.finished.append(result)

    def naming_frames(self) -> list[Frame]:
        """The frames in which things have names: those that are open, or a piece of a PrimFunc."""
        return self.frames or [frame for frame in self.finished if isinstance(frame, Frame)]

    @staticmethod
    def name(s: str, v: V) -> V:
        """Call a variable or buffer by a name in what the open frames make; gives it back.

        The variable itself is what it was: its function is made with one of that name in its
        place. Outside of any frame the result is a variable of that name. Names say nothing about
        meaning: printing makes them unique, comparisons pass them by.
        """
        if not isinstance(s, str) or not s.isidentifier():
            raise builder_error("RX0104", f"{s!r} is no name", "write a name such as `x`")
        if not isinstance(v, (relax.Var, prim.Var, Buffer)):
            raise builder_error(
                "RX0201", f"a {type(v).__name__} has no name of its own",
                "variables and buffers have names",
            )  # fmt: skip
        frames = IRBuilder.current().naming_frames() if IRBuilder.is_in_scope() else []
        for frame in frames:
            frame.rename(v, s)
        return v if frames else with_names(v, {v: s})

    @staticmethod
    def name_many(s: Sequence[str], vs: Sequence[Any]) -> list[Any]:
        """Names for several variables."""
        if len(s) != len(vs):
            raise builder_error("RX0103", f"{len(s)} names are given to {len(vs)} values")
        return [IRBuilder.name(name, value) for name, value in zip(s, vs)]


class Frame(ABC):
    """A scope that `with` opens; its end adds what was made inside to the frame around it."""

    # How it is called in scripts.
    written = ""

    # Where the frame was made: what is wrong with it as a whole is wrong there.
    place: Span | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        self = super().__new__(cls)
        self.place = caller_span()
        return self

    def __enter__(self) -> Any:
        with self._blame_caller():
            builder = IRBuilder.current()
            value = self.open(builder)
        builder.frames.append(self)
        return value

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        builder = IRBuilder.current()
        if kind is not None:
            while self in builder.frames:
                builder.frames.pop().abandon()
            return
        with self._blame_caller():
            if self not in builder.frames:
                raise builder_error("RX0105", f"`{self.written}` is not open")
            if builder.frames[-1] is not self:
                last = builder.frames[-1].written
                raise builder_error(
                    "RX0105", f"`{last}` is still open", "frames end innermost first"
                )
            try:
                self.close(builder)
            except DiagnosticError:
                self.abandon()
                raise
            finally:
                builder.frames.pop()

    @contextmanager
    def _blame_caller(self) -> Iterator[None]:
        """Blame mistakes of the frame as a whole on the call that made it, not on all of `with`."""
        try:
            yield
        except DiagnosticError as error:
            raise DiagnosticError(
                [_move_blame(d, caller_span(), self.place) for d in error.diagnostics]
            ) from None

    @abstractmethod
    def open(self, builder: IRBuilder) -> Any:
        """Begin; the result is what `as` names. Raises `DiagnosticError` if not allowed."""

    @abstractmethod
    def close(self, builder: IRBuilder) -> None:
        """Finish; the frame is still the innermost one."""

    def abandon(self) -> None:  # noqa: B027
        """Forget what was begun, after a mistake."""

    def rename(self, value: Any, name: str) -> None:  # noqa: B027
        """Something made inside is called `name` in the result."""

    def whole(self) -> Any:
        """The result of `IRBuilder.get` for a frame that ends with its builder."""
        return None


def with_names(root: N, names: Mapping[Any, str]) -> N:
    """`root` with variables and buffers of other names."""
    others = Substitution()
    # What a buffer's shape or a StructInfo mentions has its new name there, too.
    for kind in (prim.Var, Buffer, relax.Var):
        found = {v: others.apply(v) for v in names if isinstance(v, kind)}
        for value, made in found.items():
            slot = "name_hint" if kind is relax.Var else "name"
            others[value] = made.replace(**{slot: names[value]})
    return others.apply(root)


def _move_blame(diagnostic: Diagnostic, old: Span | None, new: Span | None) -> Diagnostic:
    """A diagnostic that blames another place."""
    if new is None or diagnostic.span != old:
        return diagnostic
    labels = tuple(Label(new if at == old else at, text) for at, text in diagnostic.labels)
    return replace(diagnostic, span=new, labels=labels)


def innermost(kinds: type[F] | tuple[type[F], ...]) -> F | None:
    """The innermost open frame of some kinds."""
    for frame in reversed(IRBuilder.current().frames):
        if isinstance(frame, kinds):
            return frame
    return None
