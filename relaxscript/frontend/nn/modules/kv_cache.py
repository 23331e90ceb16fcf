"""The keys or values of the tokens so far, which grow from call to call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.builder import BlockBuilder
from relaxscript.frontend.nn.default_dtype import as_dtype
from relaxscript.frontend.nn.effect import Effect
from relaxscript.frontend.nn.tensor import Tensor, tensor_info
from relaxscript.frontend.nn.trace import bind_value, model_error
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import ObjectStructInfo
from relaxscript.script import relax as R

__all__ = ["KVCache"]


class KVCache(Effect):
    """A tensor that grows along its first axis; each of its rows has `unit_shape`.

        self.k_cache = nn.KVCache(32, [heads, features])
        ...
        self.k_cache.append(k)
        keys = self.k_cache.view(total)

    It begins empty, with memory for `init_seq_len` rows. Several methods of a model share it.
    """

    def __init__(
        self, init_seq_len: int, unit_shape: Sequence[int], dtype: str | None = None
    ) -> None:
        self.init_seq_len = init_seq_len
        self.unit_shape = [int(size) for size in unit_shape]
        self.dtype = as_dtype(dtype)
        self.cache: Var | None = None

    def emit_init(self, name_hint: str, builder: BlockBuilder) -> list[Var]:
        """An empty cache."""
        shape = R.shape([self.init_seq_len, *self.unit_shape])
        zeros = bind_value(R.zeros(shape, self.dtype), "zeros")
        call = R.call_pure_packed(
            "vm.builtin.attention_kv_cache_create", zeros, shape, R.prim_value(0),
            sinfo_args=R.Object,
        )  # fmt: skip
        return [bind_value(call, name_hint)]

    def create(self, name_hint: str) -> list[Var]:
        """A parameter for the cache."""
        self.cache = Var(name_hint, ObjectStructInfo())
        return [self.cache]

    def set_state(self, state_vars: list[Var]) -> None:
        """Take the cache."""
        (self.cache,) = state_vars

    def finalize(self) -> list[Var]:
        """Give the cache at the end of the function. Raises RX0711 where there is none."""
        cache, self.cache = self._current("finalize"), None
        return [cache]

    def to(self, dtype: str | None = None) -> None:
        """Change the dtype of the rows."""
        if dtype is not None:
            self.dtype = as_dtype(dtype)

    def view(self, seq_len: int | PrimExpr) -> Tensor:
        """All rows as one tensor, `(seq_len, *unit_shape)`; there must be so many."""
        shape = (seq_len, *self.unit_shape)
        call = R.call_pure_packed(
            "vm.builtin.attention_kv_cache_view", self._current("view"), R.shape(shape),
            sinfo_args=tensor_info(shape, self.dtype),
        )  # fmt: skip
        return Tensor(_expr=bind_value(call, "view"))

    def append(self, new_element: Tensor) -> None:
        """Add rows: a tensor `(rows, *unit_shape)` of this dtype.

        Raises `DiagnosticError` (RX0711) for one that the cache cannot hold.
        """
        cache = self._current("append")
        self._require_rows(new_element)
        call = R.call_inplace_packed(
            "vm.builtin.attention_kv_cache_append", cache, new_element._expr, inplace_indices=0,
            sinfo_args=R.Object,
        )  # fmt: skip
        self.cache = bind_value(call, cache.name_hint)

    def _current(self, method: str) -> Var:
        if self.cache is None:
            raise model_error(
                f"`{method}` of a `KVCache` is called where the method has no effects",
                help='call it in a method that is exported; `effect_mode` is not "none" there',
            )
        return self.cache

    def _require_rows(self, rows: Any) -> None:
        if isinstance(rows, Tensor):
            sizes = rows.shape[1:]
            known = [isinstance(size, int) for size in sizes]
            fits = rows.dtype == self.dtype and len(sizes) == len(self.unit_shape)
            if fits and all(
                size == unit for size, unit, is_known in zip(sizes, self.unit_shape, known)
                if is_known
            ):  # fmt: skip
                return
        text = ", ".join(map(str, ["_", *self.unit_shape]))
        raise model_error(
            f"a `KVCache` of shape ({text}) and dtype {self.dtype} cannot append {rows!r}",
            help=f'write `x.reshape(-1, {text[3:]}).astype("{self.dtype}")`',
        )
