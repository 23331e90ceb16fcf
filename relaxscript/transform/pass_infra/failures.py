"""Passes that fail: the module is as it was before, and the error says which pass it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from relaxscript.analysis.well_formedness import diagnose_ill_formed
from relaxscript.errors import Diagnostic, DiagnosticError, VMError
from relaxscript.errors.exceptions import add_note, is_user_error
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import GlobalVar

__all__ = ["naming", "restoring"]

__tracebackhide__ = is_user_error


@contextmanager
def restoring(mod: IRModule) -> Iterator[None]:
    """Have a module as it was when what is done inside fails, with its functions in their order."""
    functions, attrs, infos = dict(mod.functions), mod.attrs, dict(mod.global_infos)
    try:
        yield
    except BaseException:
        if list(mod.functions.items()) != list(functions.items()):
            for var in list(mod.functions):
                del mod[var]
            for var, function in functions.items():
                mod[var] = function
        mod.attrs, mod.global_infos = attrs, infos
        raise


@contextmanager
def naming(
    step: object, name: str, mod: IRModule, function: GlobalVar | None = None
) -> Iterator[None]:
    """Have an error from inside say that the pass `name` failed, and on which function of `mod`.

    That is a note on it, which Python shows behind the message. The innermost pass is named. An
    error that says what is wrong with the program needs no pass, unless the pass is a user's: it
    may be what made the mistake.
    """
    try:
        with diagnose_ill_formed(mod):
            yield
    except Exception as error:
        told = getattr(error, "__notes__", [])
        if isinstance(error, RecursionError) and not told and _is_ours(step):
            raise _nested_too_deeply(name, mod, function) from error
        explained = isinstance(error, (DiagnosticError, VMError)) and _is_ours(step)
        if not explained and not any(note.startswith("the pass `") for note in told):
            where = "" if function is None else f" on the function `{function.name_hint}`"
            add_note(error, f"the pass `{name}` failed{where}")
        raise


def _nested_too_deeply(name: str, mod: IRModule, function: GlobalVar | None) -> DiagnosticError:
    what = "the module" if function is None else f"`{function.name_hint}`"
    at = None if function is None else mod[function].span
    message = f"{what} is nested too deeply for the pass `{name}`"
    help = "split it into functions"
    return DiagnosticError(Diagnostic("RX0104", message, at, help=help))


def _is_ours(step: object) -> bool:
    return type(step).__module__.startswith("relaxscript.")
