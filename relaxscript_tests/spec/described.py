"""StructInfos as users write them, and what is said of a value of one where another is declared."""

from __future__ import annotations

import warnings

from relaxscript import from_source
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir.relax import Function
from relaxscript.ir.struct_info import StructInfo

__all__ = ["COMPATIBLE", "INCOMPATIBLE", "POSSIBLE", "called", "described", "judged"]

COMPATIBLE, POSSIBLE, INCOMPATIBLE = "compatible", "possibly compatible", "incompatible"

# The shape variables `n` and `m` are in scope in every annotation, and so is `sizes`, which holds
# their shape; `"llvm:0"` and `"llvm:1"` are the devices of the module.
_MODULE = """
@I.ir_module
class Module:
    I.module_global_infos({{"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]}})

    @R.function(pure=False)
    def main(sizes: R.Shape(["n", "m"]), {parameters}):
        n, m = T.int64(), T.int64()
        {body}
"""


def _main(body: str, *annotations: str) -> Function:
    parameters = ", ".join(f"p{i}: {text}" for i, text in enumerate(annotations))
    function = from_source(_MODULE.format(parameters=parameters, body=body))["main"]
    assert isinstance(function, Function)
    return function


def described(*annotations: str) -> list[StructInfo]:
    """The StructInfos that annotations of one signature mean."""
    infos = [p.struct_info for p in _main("return sizes", *annotations).params[1:]]
    return [info for info in infos if info is not None]


def judged(given: str, wanted: str) -> str:
    """How a value described by `given` fits a variable that is annotated `wanted`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RelaxWarning)
        try:
            _main(f"taken: {wanted} = p0; return taken", given)
        except DiagnosticError as error:
            if [found.code for found in error.diagnostics] != ["RX0205"]:
                raise
            return INCOMPATIBLE
    return POSSIBLE if caught else COMPATIBLE


def called(
    expected: str, result: str, *places: tuple[str, str]
) -> tuple[StructInfo | None, StructInfo | None]:
    """What is known of a call, and what is expected, in the words of the caller.

    `result` is what the function is declared to give; each of `places` has what it takes and what
    it is given.
    """
    names = ", ".join(f"p{i}" for i in range(1, len(places) + 1))
    taken = "".join(f"{parameter}, " for parameter, _ in places)
    function = f"R.Callable(({taken}), {result})"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        given = [given for _, given in places]
        main = _main(f"return p0({names})", function, *given, expected)
    return main.ret_struct_info, main.params[-1].struct_info
