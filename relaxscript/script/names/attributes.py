"""Values of attributes as scripts write them: `{"name": R.Object, "dtype": T.float32}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .annotations import AnnotationForm, as_struct_info
from .tir_types import ScalarType

__all__ = ["attribute"]


def attribute(value: Any) -> Any:
    """A value as an attribute keeps it: `R.Object` is a StructInfo, `T.float32` a dtype."""
    match value:
        case AnnotationForm():
            return as_struct_info(value)
        case ScalarType():
            return value.dtype
        case list() | tuple():
            return tuple(attribute(item) for item in value)
        case Mapping():
            return {name: attribute(item) for name, item in value.items()}
    return value
