"""The syntax of Python sources, kept while the checks of one file ask for it.

A check of all files asks for each of them once: let all checks of a file run before the next file,
and it is parsed once.
"""

from __future__ import annotations

import ast
import functools

from relaxscript.runtime.collector import collector_paused

__all__ = ["nodes_of", "tree_of"]


@functools.lru_cache(maxsize=4)
def tree_of(text: str) -> ast.Module:
    """The tree of a source."""
    with collector_paused():
        return ast.parse(text)


@functools.lru_cache(maxsize=4)
def nodes_of(text: str) -> list[ast.AST]:
    """All nodes of a source, outer ones first, but for what a name is there for (`ast.Load`).

    `ast.walk` takes twice as long, mostly for its generators.
    """
    found: list[ast.AST] = [tree_of(text)]
    with collector_paused():
        for node in found:
            for part in vars(node).values():
                if isinstance(part, list):
                    found += [item for item in part if isinstance(item, ast.AST)]
                elif isinstance(part, ast.AST) and not isinstance(part, ast.expr_context):
                    found.append(part)
    return found
