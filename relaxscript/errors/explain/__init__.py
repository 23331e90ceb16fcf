"""The page of every code: what it means, a small wrong program, the mended one.

A page is one entry of one of the tables `language.py`, `struct_info.py`, `well_formed.py`,
`tir.py` and `runtime.py`: a title line, the meaning, then `Wrong:` and `Right:` programs,
indented.
"""

from __future__ import annotations

from relaxscript.errors import diagnostic, exceptions

from . import language, runtime, struct_info, tir, well_formed

__all__ = ["CODES", "explain"]

CODES: dict[str, str] = {
    code: page.strip("\n")
    for table in (language, struct_info, well_formed, tir, runtime)
    for code, page in table.PAGES.items()
}


def explain(code: str) -> str:
    """The page of `code` ("RX0203", in any case; "203" is short for it).

    Raises DiagnosticError for a code that does not exist.
    """
    wanted = code.strip().upper().removeprefix("RX")
    page = CODES.get(f"RX{wanted:0>4}")
    if page is not None:
        return page
    close = diagnostic.nearest(f"RX{wanted:0>4}", CODES)
    help = f"did you mean {close}?" if close else "codes look like RX0203"
    raise exceptions.DiagnosticError(
        diagnostic.Diagnostic("RX0703", f"there is no diagnostic code `{code}`", None, help=help)
    )
