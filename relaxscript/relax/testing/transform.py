"""Names that users know as `relax.testing.transform`: questions about dataflow blocks."""

from __future__ import annotations

from relaxscript.testing.transform import (
    ApplyEmptyCppMutator,
    InplaceOpportunity,
    dataflow_alias_analysis,
    dataflow_inplace_analysis,
    dataflow_liveness_analysis,
    dataflow_single_inplace_call,
)

__all__ = [
    "ApplyEmptyCppMutator", "InplaceOpportunity", "dataflow_alias_analysis",
    "dataflow_inplace_analysis", "dataflow_liveness_analysis", "dataflow_single_inplace_call",
]  # fmt: skip
