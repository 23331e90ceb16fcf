"""Checks as rows: those that compute something are made again of what they were made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from relaxscript.codegen.vm.scalars import compile_arithmetic
from relaxscript.ir import prim
from relaxscript.ir.struct_info import FuncStructInfo
from relaxscript.runtime.checks import DimBind, DimExpr, DimLoad, FuncCheck
from relaxscript.semantics.checks import function_check, with_variables

from .rows import NotStorable, Rows

__all__ = ["READERS", "WRITERS"]

DIM_EXPR, FUNC_CHECK = "runtime.checks.DimExpr", "runtime.checks.FuncCheck"


def _write_dim(rows: Rows, dim: DimExpr) -> int:
    if dim.made_of is None:
        raise NotStorable("a dimension that a function computes")
    return rows.add(dim, (DIM_EXPR, dim.text, *map(rows.value, dim.made_of)))


def _read_dim(text: str, e: prim.PrimExpr, slots: Mapping[prim.Var, int]) -> DimExpr:
    return DimExpr(compile_arithmetic(e, slots.__getitem__), text, (e, slots))


def _write_function(rows: Rows, check: FuncCheck) -> int:
    computes = check.refusal is not None, check.sizes is not None
    if any(computes) and check.made_of is None:
        raise NotStorable("a type that a function compares")
    fields = check.packed, check.text, check.loads, check.binds, check.made_of, *computes
    return rows.add(check, (FUNC_CHECK, *map(rows.value, fields)))


def _read_function(
    packed: bool | None, text: str, loads: tuple[DimLoad, ...], binds: tuple[DimBind, ...],
    made_of: tuple[FuncStructInfo, Mapping[prim.Var, int], tuple[prim.Var, ...]] | None,
    refuses: bool, sizes: bool,
) -> FuncCheck:  # fmt: skip
    plain = FuncCheck(packed, None, text, loads, binds)
    if made_of is None:
        return plain
    wanted, slots, variables = made_of
    check = function_check(wanted, slots)
    if sizes:
        check = with_variables(check, wanted, slots, variables, binds)
    return replace(
        check, packed=packed, text=text, loads=loads, binds=binds,
        refusal=check.refusal if refuses else None,
    )  # fmt: skip


WRITERS: dict[type, Callable[[Rows, Any], int]] = {
    DimExpr: _write_dim,
    FuncCheck: _write_function,
}
READERS: dict[str, Callable[..., Any]] = {DIM_EXPR: _read_dim, FUNC_CHECK: _read_function}
