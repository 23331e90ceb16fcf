"""Names in script for compositions of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relaxscript.arguments import ArgumentError, meant_keyword
from relaxscript.errors import UnplacedError
from relaxscript.ir.relax import Expr

from .documentation import Documentation, python_signature
from .parameters import SYNONYMS, read_parameters, signature_of

if TYPE_CHECKING:
    import inspect

__all__ = ["CompositeOp", "composite_op"]


class CompositeOp:
    """A name in script for a composition of other operators; it is never in the IR.

    Shares with `Operator` what a parser needs: `script_name`, `parameters` and `build`.
    """

    symbol: str | None = None

    def __init__(self, name: str, function: Callable[..., Expr]) -> None:
        self.script_name = name
        self.__name__ = self.__qualname__ = name.rpartition(".")[2]
        self.__module__ = function.__module__
        self.summary = function.__doc__
        self.parameters = read_parameters(function)
        self._signature = signature_of(f"R.{name}", self.parameters)
        self.function = function

    @property
    def __signature__(self) -> inspect.Signature:
        return python_signature(self.parameters)

    def build(self, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> Expr:
        """The expression that is meant; raises `ArgumentError` and `OperandError`."""
        words = self._words(kwargs or {})
        self._signature.bind(args, self._of_parameters(words))
        return self.function(*args, **words)

    def mistakes(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], unknown: object
    ) -> Iterator[ArgumentError]:
        """Every argument that no parameter takes, as `Operator.mistakes` gives them."""
        return self._signature.misfits(args, self._of_parameters(self._words(kwargs)))

    def _words(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by the names of parameters, where other names mean the same."""
        names = {parameter.name for parameter in self.parameters}
        meant = {name: SYNONYMS.get(name, name) for name in kwargs}
        return {
            meant[name] if meant[name] in names else name: value for name, value in kwargs.items()
        }

    def _of_parameters(self, words: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments that must be parameters': all of them, unless the rest are attributes.

        Even then one that is nearly the name of a parameter given by keyword is a slip.
        """
        if not self.function.__code__.co_flags & 0x08:  # inspect.CO_VARKEYWORDS
            return words
        names = {parameter.name for parameter in self.parameters}
        by_keyword = [parameter.name for parameter in self.parameters if parameter.keyword_only]
        return {
            name: value
            for name, value in words.items()
            if name in names or meant_keyword(name, by_keyword)
        }

    def __call__(self, *args: Any, **kwargs: Any) -> Expr:
        try:
            return self.build(args, kwargs)
        except UnplacedError as error:
            raise error.as_diagnostic_error(f"R.{self.script_name}", None) from None

    def __repr__(self) -> str:
        return f"R.{self.script_name}"


CompositeOp.__doc__ = Documentation(CompositeOp.__doc__)  # type: ignore[assignment]


def composite_op(name: str | None = None) -> Callable[[Callable[..., Expr]], CompositeOp]:
    """Define a name for a composition of operators."""

    def define(function: Callable[..., Expr]) -> CompositeOp:
        return CompositeOp(name or function.__name__, function)

    return define
