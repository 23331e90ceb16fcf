"""Arguments and the parameters that take them, for every callee that there is.

    signature = Signature("R.sum", [Formal("x"), Formal("axis", None)])
    signature.bind((x,), {"axis": 0})             # {"x": x, "axis": 0}
    next(signature.misfits((x,), {"axes": 0}))    # `R.sum` has no parameter `axes`

Operators, annotations, functions of `T`, macros and calls of the virtual machine are matched here.
The rules are those of Python's own calls. An `ArgumentError` says what does not fit as data and in
words; callers that know places make a diagnostic of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from relaxscript.errors import (
    Diagnostic,
    Label,
    Span,
    UnplacedError,
    did_you_mean,
    nearest,
    quantity,
)

__all__ = [
    "REQUIRED", "ArgumentError", "Formal", "Signature", "meant_keyword", "missing_arguments",
    "python_signature", "too_many_arguments",
]  # fmt: skip

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "required"})()

# What other libraries call parameters that mean the same here.
_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "dim": ("axis", "axes"), "dims": ("axes", "axis"), "axes": ("axis",), "axis": ("axes",),
    "keepdim": ("keepdims",), "sinfo": ("out_sinfo", "sinfo_args"), "type": ("dtype",),
    "out_sinfo": ("sinfo_args",), "sinfo_args": ("out_sinfo",), "size": ("shape",),
}  # fmt: skip

# With more parameters than these, only those are shown that must be given.
_MOST_SHOWN = 6


def meant_keyword(word: str, parameters: Collection[str]) -> str | None:
    """The parameter, one of `parameters`, that was most likely meant by `word`."""
    known = next((name for name in _KEYWORDS.get(word, ()) if name in parameters), None)
    return known or nearest(word, parameters)


class ArgumentError(UnplacedError, TypeError):
    """A call gives too many or too few arguments, or one by a keyword that there is not.

    `parameter` is the parameter that misses its argument or has two; `position` the index of an
    argument too many; `keyword` the word that is not known, and `meant` the one that was probably
    meant. Callers that know places turn it into a diagnostic.
    """

    code = "RX0103"

    def __init__(
        self,
        message: str,
        parameter: str | None = None,
        position: int | None = None,
        keyword: str | None = None,
        help: str | None = None,
        meant: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.parameter = parameter
        self.position = position
        self.keyword = keyword
        self.help = did_you_mean(meant, help)
        self.meant = meant

    def diagnostic(
        self, callee: str, span: Span | None, operands: Mapping[str, Span | None]
    ) -> Diagnostic:
        """The diagnostic, with `span` the place to blame; the message names the callee itself."""
        labels = () if span is None else (Label(span, ""),)
        return Diagnostic(self.code, self.message, span, labels, help=self.help)

    def __str__(self) -> str:
        return f"{self.message}; {self.help}" if self.help else self.message


class Formal(NamedTuple):
    """A parameter as calls see it; `rest` is "*" or "**" where it takes any number of arguments."""

    name: str
    default: Any = REQUIRED
    by_position: bool = True
    by_name: bool = True
    rest: Literal["", "*", "**"] = ""

    @property
    def is_required(self) -> bool:
        """True if a call must give it."""
        return self.default is REQUIRED and not self.rest


class Signature:
    """The parameters of one callee, ready to be matched with arguments again and again.

    `synonyms` are other names of parameters. A `brief` one shows itself without what may be left
    out and is given by name only.
    """

    def __init__(
        self,
        callee: str,
        formals: Iterable[Formal],
        *,
        synonyms: Mapping[str, str] | None = None,
        brief: bool = False,
    ) -> None:
        self.callee = callee
        self.formals = tuple(formals)
        self.brief = brief
        self._synonyms = synonyms or {}
        single = [formal for formal in self.formals if not formal.rest]
        self._names = [formal.name for formal in single if formal.by_name]
        self._named = frozenset(self._names)
        self._positional = [formal.name for formal in single if formal.by_position]
        self._rest = next((formal.name for formal in self.formals if formal.rest == "*"), None)
        self._others = next((formal.name for formal in self.formals if formal.rest == "**"), None)

    # ------------------------------------------------------------ matching

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The argument of each parameter, defaults included; raises `ArgumentError`."""
        bound = self.bind_given(args, kwargs)
        if len(bound) < len(self.formals):
            for formal in self.formals:
                if formal.name not in bound:
                    if formal.is_required:
                        raise next(self.misfits(args, kwargs))
                    bound[formal.name] = formal.default
        return bound

    def bind_given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of those parameters that have one; raises `ArgumentError`."""
        names = self._positional
        bound: dict[str, Any] = dict(zip(names, args))
        if len(args) > len(names) and self._rest is None:
            raise next(self.misfits(args, kwargs))
        others = {}
        for word, value in kwargs.items():
            name = self._name_of(word)
            if name not in self._named and self._others is not None:
                others[word] = value
            elif name not in self._named or name in bound:
                raise next(self.misfits(args, kwargs))
            else:
                bound[name] = value
        if self._rest is not None:
            bound[self._rest] = tuple(args[len(names) :])
        if self._others is not None:
            bound[self._others] = others
        return bound

    def given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of those parameters that have one, whatever else is wrong."""
        words = {self._name_of(word): value for word, value in kwargs.items()}
        return words | dict(zip(self._positional, args))

    def _name_of(self, word: str) -> str:
        return word if word in self._named else self._synonyms.get(word, word)

    # ------------------------------------------------------------ mistakes

    def misfits(self, args: Sequence[Any], kwargs: Iterable[str]) -> Iterator[ArgumentError]:
        """Each argument that has no parameter of its own; where there is none, what is missing."""
        names = self._positional
        given = set(names[: len(args)])
        stray = len(args) > len(names) and self._rest is None
        if stray:
            keyword_only = any(not f.by_position and not f.rest for f in self.formals)
            how = " by position" if keyword_only and not self.brief else ""
            yield too_many_arguments(self.callee, len(names), len(args), self._help(), how=how)
        for word in kwargs:
            name = self._name_of(word)
            if name in given and name in self._named:
                yield self._given_twice(name)
            elif name in self._named:
                given.add(name)
            elif self._others is None:
                stray = True
                yield self._unknown(name)
        if stray:
            return  # what is missing may have been meant by what is too much
        missing = [f.name for f in self.formals if f.is_required and f.name not in given]
        if missing:
            yield missing_arguments(self.callee, missing, self._help())

    def _unknown(self, word: str) -> ArgumentError:
        near = meant_keyword(word, self._names)
        message = f"`{self.callee}` has no parameter `{word}`"
        return ArgumentError(message, keyword=word, help=self._help(), meant=near)

    def _given_twice(self, name: str) -> ArgumentError:
        return ArgumentError(
            f"`{self.callee}` is given `{name}` twice",
            name,
            keyword=name,
            help=f"leave out one of them, in its place or as `{name}=`",
        )

    def _help(self) -> str:
        return f"it is called as `{self.callee}{self}`"

    def __str__(self) -> str:
        """As the head of a function has it: `(x, /, axis=None, *, keepdims=False)`."""
        shown = self.formals
        if self.brief:
            shown = tuple(f for f in shown if f.by_position or f.rest or f.is_required)
            if len(self.formals) > _MOST_SHOWN:
                return f"({', '.join([*(f.name for f in shown if f.is_required), '...'])})"
        words: list[str] = []
        for index, formal in enumerate(shown):
            before = shown[index - 1] if index else None
            if before is not None and not before.by_name and formal.by_name:
                words.append("/")
            keyword_only = not formal.by_position and not formal.rest
            if keyword_only and not any(word.startswith("*") for word in words):
                words.append("*")
            default = "" if formal.rest or formal.is_required else f"={formal.default!r}"
            words.append(f"{formal.rest}{formal.name}{default}")
        if shown and not shown[-1].by_name:
            words.append("/")
        return f"({', '.join(words)})"


def too_many_arguments(
    callee: str,
    most: int,
    given: int,
    help: str | None = None,
    *,
    noun: str = "argument",
    how: str = "",
) -> ArgumentError:
    """The error of a call that gives more arguments than its callee takes."""
    takes = quantity(most, noun) + how
    return ArgumentError(f"`{callee}` takes {takes}, not {given}", position=most, help=help)


def missing_arguments(callee: str, names: Sequence[str], help: str | None = None) -> ArgumentError:
    """The error of a call that gives nothing for parameters that it must give."""
    listed = " and ".join(f"`{name}`" for name in names)
    return ArgumentError(f"`{callee}` needs {listed}", names[0], help=help)


# ---------------------------------------------------------------- functions of Python


def python_signature(
    callee: str, signature: inspect.Signature, *, brief: bool = False
) -> Signature:
    """The signature of a function of Python, under the name by which a user calls it."""
    return Signature(callee, map(_formal, signature.parameters.values()), brief=brief)


def _formal(parameter: inspect.Parameter) -> Formal:
    kind = parameter.kind
    return Formal(
        parameter.name,
        REQUIRED if parameter.default is parameter.empty else parameter.default,
        by_position=kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD),
        by_name=kind is not parameter.POSITIONAL_ONLY,
        rest="*" if kind is kind.VAR_POSITIONAL else "**" if kind is kind.VAR_KEYWORD else "",
    )
