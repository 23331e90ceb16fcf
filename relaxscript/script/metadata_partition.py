"""The parts of a script that was printed with `show_meta=True`: a program and its constants."""

from __future__ import annotations

import ast

__all__ = ["metadata_partitioner"]


def metadata_partitioner(rx_txt: str) -> list[str]:
    """The program of a printed script, and its metadata as the text of a dictionary.

        program, metadata = metadata_partitioner(mod.script(show_meta=True))
        mod = from_source(program, metadata=ast.literal_eval(metadata))

    Raises `ValueError` for a text without metadata. Source: TVM `relax.utils`.
    """
    for statement in ast.parse(rx_txt).body:
        match statement:
            case ast.Assign([ast.Name("metadata")], ast.Dict() as value):
                lines = rx_txt.splitlines(keepends=True)
                first, last = statement.lineno - 1, statement.end_lineno
                program = "".join([*lines[:first], *lines[last:]])
                return [program, ast.get_source_segment(rx_txt, value) or ""]
    raise ValueError(
        "the script has no metadata: large constants are in one that `show_meta=True` of "
        "`script()` prints"
    )
