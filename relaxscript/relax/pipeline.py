"""Names that users know as `relax.pipeline`: rows of passes that have names."""

from __future__ import annotations

from relaxscript.transform.pipeline import (
    PIPELINE_MAP,
    default_build_pipeline,
    default_pipeline,
    get_default_pipeline,
    get_pipeline,
    register_pipeline,
    zero_pipeline,
)

__all__ = [
    "PIPELINE_MAP", "default_build_pipeline", "default_pipeline", "get_default_pipeline",
    "get_pipeline", "register_pipeline", "zero_pipeline",
]  # fmt: skip
