"""The distance of one StructInfo from describing what another does, in TVM's four steps.

Source: TVM `relax.analysis.struct_info_base_check`; what is compared, and how, is `mismatch.py`.
"""

from __future__ import annotations

import enum

from relaxscript.ir.struct_info import StructInfo

from .mismatch import MismatchKind, find_mismatches

__all__ = ["BaseCheckResult", "struct_info_base_check"]


class BaseCheckResult(enum.IntEnum):
    """The distance of a StructInfo from being the base of another; the less, the further."""

    FAIL_L0 = 0  # no value has both
    FAIL_L1 = 1  # some may: kind, rank, dtype, device or purity is not known to be the one
    FAIL_L2 = 2  # these are right, but dimensions or values are not known to be
    PASS = 3  # every value that has the other has the base


_LEVEL = {
    MismatchKind.DIFFERENT: BaseCheckResult.FAIL_L0,
    MismatchKind.WIDER: BaseCheckResult.FAIL_L1,
    MismatchKind.MISSING: BaseCheckResult.FAIL_L1,
    MismatchKind.UNPROVED: BaseCheckResult.FAIL_L2,
    MismatchKind.UNSTATED: BaseCheckResult.FAIL_L2,
}


def struct_info_base_check(base: StructInfo, derived: StructInfo) -> BaseCheckResult:
    """The distance of `base` from describing every value that `derived` describes.

    The worst of all parts counts. Parameters of functions are contravariant. Dimensions that differ
    for all values of the variables, as `n` and `n + 1` do, are FAIL_L0.
    """
    levels = (_LEVEL[found.kind] for found in find_mismatches(derived, base))
    return min(levels, default=BaseCheckResult.PASS)
