"""Running the pipeline that a user names or gives to `build`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir.instrument import PassInstrument
from relaxscript.ir.module import IRModule

from .context import PassContext, PassInfo
from .passes import Pass, Sequential, find_pass

__all__ = ["PipelineLike", "run_pipeline"]

__tracebackhide__ = is_user_error

PipelineLike = str | None | Sequence[str | Pass] | Callable[[IRModule], IRModule]


def run_pipeline(
    module: IRModule, pipeline: PipelineLike, name: str,
    named: Mapping[str, Callable[..., Any]], ours: Sequence[str],
) -> IRModule:  # fmt: skip
    """The module after a pipeline, which is given as `name`.

    Raises `DiagnosticError`. RX0703 is for an unknown pipeline or pass, or a result that is no
    module. RX0706 is for a module that is not well-formed, unless the pipeline is one of `ours`.
    """
    run = _callable(pipeline, name, named)
    result = module if run is None else run(module)
    if not isinstance(result, IRModule):
        message = f"the pipeline given as {name} gave {type(result).__name__}, not an IRModule"
        raise DiagnosticError(Diagnostic("RX0703", message, None))
    trusted = result is module or (isinstance(pipeline, str) and pipeline in ours)
    if run is not None and not trusted and (wrong := ill_formed(result)) and not ill_formed(module):
        culprit = _culprit(run, module)
        message = f"after {culprit} the module is not well-formed: {wrong[0].message}"
        raise DiagnosticError(Diagnostic("RX0706", message, wrong[0].span))
    return result


def _callable(
    pipeline: PipelineLike, name: str, named: Mapping[str, Callable[..., Any]]
) -> Callable[[IRModule], Any] | None:
    if pipeline is None:
        return None
    if isinstance(pipeline, str) and pipeline in named:
        made: Callable[[IRModule], Any] = named[pipeline]()
        return made
    if isinstance(pipeline, (list, tuple)):
        return Sequential([find_pass(p) if isinstance(p, str) else p for p in pipeline])
    if callable(pipeline):
        return pipeline
    near = nearest(str(pipeline), list(named))
    help = did_you_mean(near, f"there are {', '.join(named)}", '"')
    message = f'there is no pipeline for {name} "{pipeline}"'
    raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))


def _culprit(run: Callable[[IRModule], Any], module: IRModule) -> str:
    """The part of a pipeline that makes a module ill-formed: the first pass after which it is."""
    context, watching = PassContext.current(), _Watching()
    with PassContext(
        context.opt_level,
        context.required_pass,
        context.disabled_pass,
        [watching],
        context.config,
        evaluate=context.evaluate,
    ):
        run(module)
    name = watching.culprit
    return f"the pass `{name}`" if name else f"`{getattr(run, '__name__', type(run).__name__)}`"


class _Watching(PassInstrument):
    """Remembers the first pass after which a module is ill-formed."""

    def __init__(self) -> None:
        self.culprit = ""

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        if not self.culprit and ill_formed(mod):
            self.culprit = info.name
