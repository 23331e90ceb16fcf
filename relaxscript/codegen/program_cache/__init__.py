"""Programs that `build` made, kept on disk: another process has them without a pass.

    kept_build.py      a build whose program may be on disk: start reading there
    program_key.py     a hash of all that a program depends on
    stored_program.py  a program as bytes, and back
    rows.py            the form in which both are written, read by read_rows.py

A program is kept where it holds nothing that only this process has: no function of Python that a
PrimFunc calls, and no operator, rule, pass or instrument of the user. A build that gave a warning
is not kept either, or the next process would not hear of it.
"""

from .kept_build import find_kept_build

__all__ = ["find_kept_build"]
