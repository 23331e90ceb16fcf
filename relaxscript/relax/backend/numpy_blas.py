"""The backend of numpy: `partition_for_numpy`."""

from __future__ import annotations

from relaxscript.transform.byoc.numpy_blas import partition_for_numpy

__all__ = ["partition_for_numpy"]
