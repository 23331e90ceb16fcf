"""Names that users know as `relax.pipeline`: rows of passes that have names."""

from __future__ import annotations

from relaxscript.transform.pipeline import (
    PIPELINE_MAP,
    dataflow_lower_passes,
    default_build_pipeline,
    default_pipeline,
    finalize_passes,
    get_default_pipeline,
    get_pipeline,
    legalize_passes,
    library_dispatch_passes,
    register_pipeline,
    zero_pipeline,
)

__all__ = [
    "PIPELINE_MAP", "dataflow_lower_passes", "default_build_pipeline", "default_pipeline",
    "finalize_passes", "get_default_pipeline", "get_pipeline", "legalize_passes",
    "library_dispatch_passes", "register_pipeline", "zero_pipeline",
]  # fmt: skip
