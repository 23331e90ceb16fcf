"""The axes of a block, as frames have them: `vi, vj = T.axis.remap("SS", [i, j])`."""

from __future__ import annotations

from relaxscript.script.names import tir_axis

from .tir_frames import frame_function

__all__ = ["R", "S", "opaque", "reduce", "remap", "scan", "spatial"]

S = spatial = frame_function(tir_axis.spatial)
R = reduce = frame_function(tir_axis.reduce)
scan = frame_function(tir_axis.scan)
opaque = frame_function(tir_axis.opaque)
remap = frame_function(tir_axis.remap)
