"""Names that users know as `relax.backend.cpu_generic`: the default pipeline in its parts."""

from __future__ import annotations

from relaxscript.transform.pipeline import (
    dataflow_lower_passes,
    finalize_passes,
    get_default_pipeline,
    legalize_passes,
    library_dispatch_passes,
)

__all__ = [
    "dataflow_lower_passes", "finalize_passes", "get_default_pipeline", "legalize_passes",
    "library_dispatch_passes",
]  # fmt: skip
