"""Pictures of the dataflow of functions: `mod.graph()`, `func.graph()`, `relaxscript graph`.

`reader.py` makes a `Picture` of a function. `places.py` says which line of the script is about each
part, and `summary.py` groups what is too much. `layout.py` decides where everything stands; the
ranks of one frame are in `layers.py`, order and coordinates in `placing.py`. The forms in which a
picture is seen are `svg.py`, `dot.py`, `listing.py` and `page.py`. Start at `function_graph.py`.
"""

from __future__ import annotations

from relaxscript.ir import hooks

from .function_graph import FunctionGraph, graph_of

__all__ = ["FunctionGraph", "graph_of"]

hooks.graph_of.fill(graph_of)
