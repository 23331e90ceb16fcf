"""The results of operators, known again by their operands: for the calls of one program."""

from __future__ import annotations

from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo

__all__ = ["ResultsByOperands"]

Key = tuple[object, ...]

# A program in which nothing repeats is not to be remembered for ever.
MOST = 4096


class ResultsByOperands:
    """The StructInfos of calls, by what is called and the identities of what is known of operands.

    What is called is the name of an operator; of functions, `called` is the set of shape variables
    in scope, and the first operand the function's own type. Each entry keeps its operands alive, so
    that no identity is used twice. `undecided` counts the checks that were deferred.
    """

    def __init__(self) -> None:
        self.undecided = 0
        self._results: dict[Key, tuple[StructInfo, list[StructInfo]]] = {}
        self._tensors: dict[Key, StructInfo] = {}

    def find(self, called: object, operands: list[StructInfo]) -> StructInfo | None:
        """The result that was noted for these very operands."""
        found = self._results.get((called, *map(id, operands)))
        return None if found is None else found[0]

    def note(self, called: object, operands: list[StructInfo], result: StructInfo) -> StructInfo:
        """Keep a result; gives the object that stands for it from now on.

        Results of the same dimensions, dtype and device are one object. So a layer whose result is
        like its input is followed by one that is known whole.
        """
        if len(self._results) >= MOST:
            self._results.clear()
            self._tensors.clear()
        result = self._shared(result)
        self._results[(called, *map(id, operands))] = (result, operands)
        return result

    def _shared(self, info: StructInfo) -> StructInfo:
        # Places are no part of what is derived: what has one stays as it is.
        if type(info) is not TensorStructInfo or info.span is not None:
            return info
        dims = info.dims
        shape = id(info.shape) if dims is None else tuple(map(_key, dims))
        key = (shape, info.ndim, info.dtype, id(info.vdevice))
        return self._tensors.setdefault(key, info)


def _key(dim: PrimExpr) -> object:
    """A number by its value, anything else by its identity."""
    if isinstance(dim, IntImm) and dim.span is None:
        return (dim.value, dim.dtype)
    return id(dim)
