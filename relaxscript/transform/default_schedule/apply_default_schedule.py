"""A schedule for each PrimFunc that has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.ir.module import IRModule
from relaxscript.ir.tir import PrimFunc
from relaxscript.semantics.fill_sets import FILLS, filled_params
from relaxscript.semantics.vector_math import ATTRIBUTE as VECTOR_MATH
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass

from .apart import arranged_where_apart, promising
from .elementwise import elementwise
from .guarded import guarded
from .known_form import in_known_form
from .nests import nests
from .processor import Processor, this_processor
from .product import product
from .rows import rows
from .transposed_product import transposed_product

__all__ = ["SCHEDULE", "ApplyDefaultSchedule"]

# A rule gives the function with its loops arranged, or None where it is for others.
Rule = Callable[[PrimFunc, Processor], PrimFunc | None]

# The attribute by which a function says that its loops and vectors are what is to be run.
SCHEDULE = "relaxscript.schedule"


class ApplyDefaultSchedule(PrimFuncPass):
    """Arrange the loops of each PrimFunc for the processor, by the first rule that fits.

        for i in range(1024):               for i in range(128):
            B[i] = T.exp(A[i])        →         B[T.Ramp(i * 8, 1, 8)] = T.exp(
                                                    A[T.Ramp(i * 8, 1, 8)])

    A rule is a function of a PrimFunc and the processor. It gives the function as it is to be run,
    or None. Where none is given there are five. `elementwise` is for elements that depend on no
    others, `product` for products of matrices and what follows them. `transposed_product` is for
    many rows and a matrix whose columns are stored as rows. `rows` is for reductions of
    rows with what is before and behind them, as in softmax. `nests` is for other reductions, and
    for elements that depend on where they are.

    Before rules see a function, blocks around several statements become these (`open_blocks.py`).
    Loops become such of int64 (`wide_indices.py`). Axes that are indexed as several, `C[i * 64 +
    j]`, become these (`split_axes.py`). So do loops that are divided (`loops_of_quotients.py`),
    while tiles of a block become loops over all of its axes (`loops_of_axes.py`). Each statement
    has a nest of its own (`distributed_loops.py`), in the order of the result (`ordered_loops.py`).
    A scalar becomes a buffer for that (`expanded_scalars.py`). Reductions that begin under a
    condition begin before it (`conditional_inits.py`). What is done in the last iteration is done
    behind the loop (`conditional_ends.py`). An element that a condition gives one value or another
    is stored once (`stored_choices.py`). Each begins with a neutral value (`neutral_starts.py`),
    and what conditions choose for it is stored before (`chosen_values.py`). Results that are stored
    again get others before (`renamed_results.py`).

    Functions that do not promise `tir.noalias` are arranged for arrays that share no memory. For
    others they do what they did, by a comparison of addresses (`apart.py`).

    What is arranged says so by the attributes `tir.is_scheduled` and `relaxscript.schedule`, the
    name of the rule. Parameters that are written wholly are in `relaxscript.fills`. Such functions
    are left as they are, and compiled as they are written. Their
    `T.exp` and the like are those of `tir.vector_math`, within 4 units in the last place.

    Source: TVM `dlight.ApplyDefaultSchedule`.
    """

    name = "ApplyDefaultSchedule"
    # The bound of functions of `tir.vector_math`, in float32. Sums in another order differ by what
    # `tiled_product.py` and `rows.py` say, which grows with their length.
    tolerance = 1e-6

    def __init__(self, *rules: Rule) -> None:
        self.rules: tuple[Rule, ...] = rules or (
            elementwise, product, transposed_product, rows, nests,
        )  # fmt: skip

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        if func.attrs is not None and func.attrs.get("tir.is_scheduled"):
            return func
        made = self._arranged(func, mod)
        if _rule_of(made) == elementwise.__name__:
            return made or func
        promised = promising(func)
        better = None if promised is None else self._arranged(promised, mod)
        if better is None or _rule_of(better) == _rule_of(made):
            return made or func
        return arranged_where_apart(func, better, made or func)

    def _arranged(self, func: PrimFunc, mod: IRModule) -> PrimFunc | None:
        """The function as the first rule that fits arranges it, None where none does."""
        given, conditions = in_known_form(func)
        for rule in self.rules:
            made = rule(given, this_processor())
            if made is not None:
                marks: dict[str, Any] = {
                    "tir.is_scheduled": True,
                    VECTOR_MATH: True,
                    SCHEDULE: _name_of(rule),
                    # That is seen in plain loops, and not in arranged ones.
                    FILLS: sorted(filled_params(func if conditions else given, mod)),
                }
                scheduled: PrimFunc = guarded(func, made, conditions).with_attrs(marks)
                return scheduled
        return None


def _rule_of(made: PrimFunc | None) -> Any:
    return None if made is None else made.attrs.get(SCHEDULE)


def _name_of(rule: Rule) -> str:
    return getattr(rule, "__name__", type(rule).__name__)
