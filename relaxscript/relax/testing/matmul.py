"""Names that users know as `relax.testing.matmul`: programs of one product."""

from __future__ import annotations

from relaxscript.testing.matmul import (
    get_relax_matmul_module,
)

__all__ = ["get_relax_matmul_module"]
