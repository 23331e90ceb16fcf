"""Pictures of the dataflow of functions: `mod.graph()`, `func.graph()`, `relaxscript graph`.

`reader.py` makes a `Picture` of a function, `places.py` says which line of the script each part is,
and `summary.py` groups what is too much. `layout.py` decides where everything stands: `level.py`
has the ranks of one frame, `placing.py` order and coordinates. `svg.py`, `dot.py`, `listing.py` and
`page.py` are the forms in which a picture is seen. Start reading at `function_graph.py`.
"""

from __future__ import annotations

from relaxscript.ir import hooks

from .function_graph import FunctionGraph, graph_of

__all__ = ["FunctionGraph", "graph_of"]

hooks.graph_of.fill(graph_of)
