"""Names that users know as `relax.transform.legalize_ops.common`."""

from __future__ import annotations

from relaxscript.transform.legalize.customize import Legalization as LegalizeFunc
from relaxscript.transform.legalize.registered import register_legalize

__all__ = ["LegalizeFunc", "register_legalize"]
