"""Facts about operators that other rooms ask for, declared where the operator is.

    @op(traits={Trait.VIEW})
    def squeeze(x: Tensor, axis: Axes | None = None) -> Tensor: ...

    case Call(op=op) if Trait.VIEW in traits_of(op): ...

No other room keeps a list of operators: it asks for a trait, or means one operator by its object.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from relaxscript.arguments import ArgumentError
from relaxscript.errors import meant_hint, nearest

__all__ = ["Trait", "read_traits"]


class Trait(str, Enum):
    """A fact about every call of an operator, whatever its operands are."""

    ALLOCATES = "allocates"
    """The result is memory for the program to use: a storage, or a tensor."""

    IN_STORAGE = "in_storage"
    """The result is a tensor in the storage that is the first operand."""

    FREES = "frees"
    """The operand's memory is given back; that is no use of its value."""

    VIEW = "view"
    """The result may be the first operand, or share its memory."""

    WRITES_ARGS = "writes_args"
    """Results are written into the arguments that the attribute `inplace_indices` names."""

    DESTINATION_PASSING = "destination_passing"
    """The callee writes into tensors that are allocated for it and come last in its arguments."""

    CALLS_PRIM_FUNC = "calls_prim_func"
    """The first operand is a PrimFunc of the module, which is called."""

    CALLS_OUT = "calls_out"
    """The first operand is a function that may do anything with its arguments, and is called."""

    CAPTURES = "captures"
    """The result is a closure, which keeps the operands."""

    IMPURE = "impure"
    """The call has side effects, or may have some."""

    MIXED_ALWAYS = "mixed_always"
    """In mixed precision it computes with the lower dtype, and gains by it."""

    MIXED_FOLLOW = "mixed_follow"
    """In mixed precision it computes with the lower dtype if its operands come in it."""

    OWN_TENSORS = "own_tensors"
    """The operands are a worker's own tensors, and no distributed ones."""

    RANDOM = "random"
    """The result is random numbers, or a key of some: the same for the same key."""

    AS_IS = "as_is"
    """What the meaning gives is the value, untouched: it is not made a new array."""

    NUMPY_IS_FASTER = "numpy_is_faster"
    """On large tensors its meaning in numpy takes less time than its loops do as native code."""

    NUMPY_IS_FASTER_IN_FLOAT64 = "numpy_is_faster_in_float64"
    """So it is for results of float64: there are vectors of float32 only for what it computes."""


def read_traits(operator: str, traits: Iterable[str]) -> frozenset[Trait]:
    """The traits of an operator, each a `Trait` or its name; an unknown one is refused."""
    return frozenset(_trait(operator, trait) for trait in traits)


def _trait(operator: str, trait: str) -> Trait:
    try:
        return Trait(trait)
    except ValueError:
        near = nearest(str(trait), [known.value for known in Trait])
        hint = meant_hint(near)
        raise ArgumentError(f"`{operator}` has the unknown trait `{trait}`{hint}") from None
