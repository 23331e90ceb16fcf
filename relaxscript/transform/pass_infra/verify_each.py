"""VerifyEach: the first pass that breaks a law of passes is named, and where it did."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.arith import YES
from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    InternalError,
    Label,
    Source,
    Span,
    UnplacedError,
)
from relaxscript.ir import hooks
from relaxscript.ir.instrument import PassInstrument
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Attrs, ExternFunc, GlobalVar
from relaxscript.ir.structural_equality import (
    Difference,
    get_first_structural_mismatch,
    structural_equal,
)
from relaxscript.sinfo import is_subtype

from .context import PassInfo
from .script_places import line_of, place_at, span_of_line

__all__ = ["VerifyEach"]


class _Input(NamedTuple):
    """The module that a pass is given, a copy of it, and its script if it can be printed."""

    name: str
    mod: IRModule
    copy: IRModule
    script: str | None


class VerifyEach(PassInstrument):
    """Asks of each pass what is asked of all passes, and names the first that breaks it.

        with PassContext(instruments=[VerifyEach()]):
            mod = Sequential([mine, LegalizeOps()])(mod)

    What a pass gives must be well-formed. StructInfos that are derived again must agree with it.
    Its script must read back as the same module. What a pass is given must be as it was. A pass is
    not blamed for a module that had a mistake before; that one is not in normal form is no mistake.
    Whoever calls a public function may go on: it takes what it took, and gives what is sure to be
    the same. A pass that is to change that declares `changes_signatures` or `removes_functions`.

    Raises `DiagnosticError` (RX0706) with the pass, the function and the binding. It shows the
    scripts before and after there. A pass costs what printing its modules costs, and reading one.
    """

    def __init__(self) -> None:
        self._running: list[_Input] = []

    def enter_pass_ctx(self) -> None:
        self._running = []

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        self._running.append(_Input(info.name, mod, mod.clone(), _script(mod)))

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        while self._running:
            given = self._running.pop()
            if given.name == info.name:  # those above it have failed
                _require_untouched(given)
                if mod is not given.mod:
                    _require_sound(given, mod)
                    _require_callable_as_before(given, mod, info.declares)
                break


def _script(mod: IRModule) -> str | None:
    """The whole script; None for a module that is too ill-formed to have one."""
    try:
        text: str = hooks.script_of(mod, show_meta=True)
    except (DiagnosticError, InternalError, UnplacedError, RecursionError):
        return None
    return text


def _require_untouched(given: _Input) -> None:
    now = _script(given.mod)
    if now == given.script:
        return
    line = _first_difference(given.script or "", now or "")
    source = Source(f"<{given.name} was given>", given.script or "")
    span = span_of_line(Source(f"<{given.name} left of it>", now or ""), line)
    labels = (Label(span, "now"), Label(span_of_line(source, line), "before the pass"))
    where = place_at(now or "", line) or place_at(given.script or "", line) or "the module"
    message = f"the pass `{given.name}` changes the module that it is given, in {where}"
    help = "make a copy with `mod.clone()`, and change that"
    raise DiagnosticError(Diagnostic("RX0706", message, span, labels, (), help))


def _first_difference(one: str, other: str) -> int:
    """The first line, from 1, in which two texts differ."""
    lines, others = one.split("\n"), other.split("\n")
    pairs = enumerate(zip(lines, others), 1)
    return next((n for n, (a, b) in pairs if a != b), min(len(lines), len(others)))


def _require_sound(given: _Input, mod: IRModule) -> None:
    if found := ill_formed(mod):
        wrong = found[0]
        before = [old for old in ill_formed(given.copy) if old.code != "RX0325"]
        if before:
            said = before[0].message
            message = f"the pass `{given.name}` is given a module with a mistake: {said}"
            raise DiagnosticError(
                Diagnostic("RX0706", message, before[0].span, before[0].labels, (), before[0].help)
            )
        if wrong.code == "RX0325" and ill_formed(given.copy):
            return
        raise _broken(given, mod, "it is not well-formed", wrong.message, wrong.span)
    text: str = hooks.script_of(mod, show_meta=True)
    try:
        again = hooks.parsed(text)
    except DiagnosticError as error:
        first = error.diagnostics[0]
        raise _broken(given, mod, "its script is refused", first.message, first.span) from error
    if mismatch := get_first_structural_mismatch(mod, again):
        span = _span_of(mod, mismatch)
        raise _broken(given, mod, "its script reads as another", mismatch.reason, span)


def _require_callable_as_before(given: _Input, mod: IRModule, declares: Collection[str]) -> None:
    """Refuse a pass that changes, without a word, what callers of public functions rely on."""
    before, after = _public(given.copy), _public(mod)
    for symbol, var in before.items():
        theirs = "Codegen" in (given.copy[var].attrs or Attrs())
        if symbol not in after:
            if "removes_functions" not in declares and not theirs:
                help = _to_declare("removes_functions")
                raise _broken(given, mod, "a public function is gone", f"`{symbol}`", None, help)
            continue
        known, made = given.copy.struct_info(var), mod.struct_info(after[symbol])
        if structural_equal(known, made) or is_subtype(made, known) is YES:
            continue
        if "changes_signatures" not in declares:
            spans: list[Span | None] = hooks.places(mod, [(mod[after[symbol]], None)])
            reason = f"it is `{made!r}`, and was `{known!r}`"
            help = _to_declare("changes_signatures")
            raise _broken(given, mod, "its signature is another", reason, spans[0], help)


def _to_declare(declaration: str) -> str:
    return f"where that is meant, declare it in the class of the pass: `{declaration} = True`"


def _public(mod: IRModule) -> dict[str, GlobalVar]:
    """The functions that are called from outside, by the names that they have there."""
    return {
        str((function.attrs or Attrs())["global_symbol"]): var
        for var, function in mod.functions.items()
        if not isinstance(function, ExternFunc) and "global_symbol" in (function.attrs or Attrs())
    }


def _span_of(mod: IRModule, mismatch: Difference) -> Span | None:
    """The place of a difference in the printed module."""
    around = None if mismatch.within is None else mismatch.within[0]
    node = mismatch.lhs if isinstance(mismatch.lhs, Node) else around
    if not isinstance(node, Node):
        return None
    spans: list[Span | None] = hooks.places(mod, [(node, None), (around or node, None)])
    return spans[0] or spans[1]


def _broken(
    given: _Input, mod: IRModule, law: str, reason: str, span: Span | None, help: str | None = None
) -> DiagnosticError:
    """The error of a pass after which `law` is what is to be said of the module."""
    if span is None:  # about no part of the script, so its beginning has to do
        span = span_of_line(Source("", _script(mod) or ""), 1)
    place = place_at(span.source.text, span.line)
    text = span.source.text
    start = span.source.offset(span.line, span.column)
    end = span.source.offset(span.end_line, span.end_column)
    span = Source(f"<after {given.name}>", text).between(start, end)
    labels = [Label(span, "after the pass")]
    line = None if place is None or given.script is None else line_of(given.script, place)
    if line is not None:
        source = Source(f"<before {given.name}>", given.script or "")
        labels.append(Label(span_of_line(source, line), "before the pass"))
    where = "the module" if place is None else place
    message = f"the pass `{given.name}` breaks {where}: {law}: {reason}"
    return DiagnosticError(Diagnostic("RX0706", message, span, tuple(labels), help=help))
