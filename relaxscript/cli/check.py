"""`relaxscript check`: the mistakes in files, without running anything of them.

With `fix`, what has a fix is mended in the files; with `diff`, the changes are shown instead. The
report goes to the standard error where data goes to the standard output: JSON, SARIF, changes, or
mended source that came from the standard input.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TextIO

from relaxscript.errors import Diagnostic, DiagnosticError, Source

from .autofix import difference, look, mend
from .files import FileText, encode, files_in, read_text, sources_in, write_back
from .notebooks import is_notebook, with_cells
from .report import complain, errors_of

__all__ = ["Checked", "Form", "check"]

Form = Literal["text", "json", "sarif"]


@dataclass(frozen=True)
class Checked:
    """One file: its scripts, what was (or would be) fixed, what is left, and why it failed.

    What depends on `unknown`, which only a run can tell, was not checked.
    """

    name: str
    scripts: int = 0
    left: tuple[Diagnostic, ...] = ()
    fixed: tuple[Diagnostic, ...] = ()
    failed: bool = False
    unknown: tuple[str, ...] = ()


def check(
    files: Sequence[str], *, form: Form = "text", fix: bool = False, diff: bool = False,
    strict: bool | None = None,
) -> int:  # fmt: skip
    """Report the mistakes of every script in the files; 1 when there are errors.

    For a folder, those of all Python files and notebooks below it. `strict=True` makes errors of
    what can only be checked at run time. With `diff` the status is that of the files as they are. A
    file that cannot be read or written does not keep the others from being checked; it makes 2 of
    it.
    """
    checked = [check_file(file, fix=fix, diff=diff, strict=strict) for file in files_in(files)]
    if form == "text":
        aside = diff or (fix and "-" in files)
        report(checked, sys.stderr if aside else sys.stdout, "would fix" if diff else "fixed")
    else:
        from .json_report import document

        print(document(form, checked))
    if any(file.failed for file in checked):
        return 2
    wrong = [d for file in checked for d in (*file.left, *(file.fixed if diff else ()))]
    return 1 if errors_of(wrong) else 0


def check_file(file: str, *, fix: bool, diff: bool, strict: bool | None) -> Checked:
    """Look at one file, and mend it or show how; whatever fails is among what is left."""
    try:
        before = read_text(file)
        first = look(sources_in(before.source), strict)
    except DiagnosticError as error:
        name = "<stdin>" if file == "-" else file
        return Checked(name, left=error.diagnostics, failed=True)
    name = before.source.filename
    looked = mend(first, strict) if fix or diff else first
    after = Source(name, whole_text(before.source, looked.sources))
    if diff:
        marked = before.encoding == "utf-8-sig"
        changes = difference(before.source, after, "\ufeff" * marked)
        emit(changes.encode("utf-8" if marked else before.encoding, "replace"))
    elif fix:
        try:
            write_mended(file, before, after)
        except DiagnosticError as error:
            left = (*first.found, *error.diagnostics)
            return Checked(name, first.scripts, left, failed=True)
    return Checked(name, looked.scripts, looked.found, looked.fixed, unknown=looked.unknown)


def whole_text(before: Source, sources: Sequence[Source]) -> str:
    """The content of a file that is now `sources`: of a notebook its cells, else all of it."""
    return with_cells(before, sources) if is_notebook(before.filename) else sources[0].text


def write_mended(file: str, before: FileText, after: Source) -> None:
    """Write mended source back into its file, or to the standard output."""
    if file == "-":
        emit(encode(file, before, after.text))
    elif after != before.source:
        write_back(file, before, after.text)


def emit(data: bytes) -> None:
    """Write to the standard output what has an encoding and line ends of its own."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def report(checked: Sequence[Checked], stream: TextIO, verb: str) -> None:
    """Print the fixed mistakes and a summary on `stream`, and draw those left on standard error."""
    fixed = [diagnostic for file in checked for diagnostic in file.fixed]
    for diagnostic in fixed:
        place = diagnostic.span or diagnostic.fix[0].span
        print(f"{verb} {place}: {diagnostic.message} [{diagnostic.code}]", file=stream)
    left = [diagnostic for file in checked for diagnostic in file.left]
    complain(left)
    scripts = sum(file.scripts for file in checked)
    said = summary(left, scripts, len(checked))
    if fixed:
        said = f"{verb} {number(len(fixed), 'mistake')}; {said}"
    print(said, file=stream)
    for file in checked:
        if file.unknown:
            names = ", ".join(f"`{name}`" for name in file.unknown)
            what = f"what depends on {names} is checked in a run only"
            print(f"{file.name}: {what}: `relaxscript run {file.name}`", file=stream)


def summary(diagnostics: Sequence[Diagnostic], scripts: int, files: int) -> str:
    """ "1 error, 2 warnings in 3 definitions of 1 file" """
    errors = len(errors_of(diagnostics))
    warnings = len(diagnostics) - errors
    found = number(errors, "error") + (f", {number(warnings, 'warning')}" if warnings else "")
    return f"{found} in {number(scripts, 'definition')} of {number(files, 'file')}"


def number(count: int, noun: str) -> str:
    """ "0 errors", "1 error", "2 errors" """
    return f"{count} {noun}{'s' * (count != 1)}"
