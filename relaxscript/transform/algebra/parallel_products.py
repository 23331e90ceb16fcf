"""Products of one tensor with several of which none depends on another, in a dataflow block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from relaxscript.arith import YES, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowVar,
    Expr,
    Op,
    ShapeExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.structural_hashing import structural_hash
from relaxscript.ir.walk import mentioned
from relaxscript.op.binary import add
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.nn.activation import gelu, gelu_tanh, relu, silu

from .algebraic_rewriter import dims_of

__all__ = ["Parallel", "parallel_products"]

_ACTIVATIONS = frozenset(operator.op for operator in (relu, gelu, gelu_tanh, silu))


class Parallel(NamedTuple):
    """Products of `left` with each of `rights`, in the order in which these are to be joined.

    `results` has the part of each variable that is bound in the end.
    `gone` are the variables that are no longer bound as they were.
    """

    left: Var
    rights: Sequence[Expr]
    biases: Sequence[Expr]
    activation: Call | None
    out_dtype: DataType | None
    results: Mapping[Var, int]
    gone: Sequence[Var]


def parallel_products(bindings: Sequence[Binding]) -> Iterator[Parallel]:
    """The products that can be one, two or more each, in the order of the block."""
    block = _Products(bindings)
    for group in block.groups.values():
        found = block.parallel(group)
        if found is not None:
            yield found


class _Product(NamedTuple):
    """A product of a variable with matrices of known shape."""

    binding: Binding
    call: Call
    left: Var
    right: Expr
    shape_of_columns: Hashable
    columns: PrimExpr
    dtype: DataType | None


class _Products:
    """The products of a block by what they have in common.

    That is also their level, the number of products on the longest way to them. So none of a group
    depends on another, nor on what depends on another, however many groups there are.
    """

    def __init__(self, bindings: Sequence[Binding]) -> None:
        self.uses: Counter[Var] = Counter()
        self.users: dict[Var, Binding] = {}
        self.levels: dict[Var, int] = {}
        self.groups: dict[Hashable, list[_Product]] = {}
        for binding in bindings:
            used = mentioned(binding.value)
            level = max((self.levels.get(v, 0) for v in used), default=0)
            for var in used:
                self.users[var] = binding
            self.uses.update(used)
            if isinstance(binding.value, Call) and binding.value.op is matmul.op:
                level += 1
                self._add(binding, binding.value, level)
            self.levels[binding.var] = level

    def _add(self, binding: Binding, call: Call, level: int) -> None:
        """Note a product of a variable with matrices of known shape."""
        left, right = call.args
        info, dims = right.struct_info, dims_of(right)
        if not isinstance(left, Var) or not isinstance(info, TensorStructInfo) or dims is None:
            return
        if dims_of(left) is None or len(dims) < 2 or not isinstance(binding, VarBinding):
            return
        made = binding.var.struct_info
        dtype = made.dtype if isinstance(made, TensorStructInfo) else None
        shape = structural_hash(ShapeExpr.make(tuple(dims[:-1])))
        product = _Product(binding, call, left, right, shape, dims[-1], dtype)
        key = (left, level, len(dims), info.dtype, info.vdevice, dtype)
        self.groups.setdefault(key, []).append(product)

    def parallel(self, group: Sequence[_Product]) -> Parallel | None:
        """The products of a group that can be one; None if there are not two."""
        if len({p.shape_of_columns for p in group}) > 1:
            return None
        known = [p for p in group if isinstance(p.columns, IntImm)]
        others = [p for p in group if not isinstance(p.columns, IntImm)]
        others = [p for p in others if p.right is others[0].right]
        parts: dict[Expr, int] = {}
        for product in (*known, *others):
            parts.setdefault(product.right, len(parts))
        chosen = [p for p in group if p.right in parts]
        if len(parts) < 2:
            return None
        last: Sequence[Binding] = [p.binding for p in chosen]
        gone = [b.var for b in last]
        biases, sums = self._biases(chosen, parts)
        if sums:
            last = sums
            gone += [b.var for b in last]
        activation, values = self._activation(last)
        if values:
            last = values
            gone += [b.var for b in last]
        results = {b.var: parts[p.right] for b, p in zip(last, chosen)}
        return Parallel(
            chosen[0].left, list(parts), biases, activation, chosen[0].dtype, results, gone
        )

    def _biases(
        self, chosen: Sequence[_Product], parts: Mapping[Expr, int]
    ) -> tuple[Sequence[Expr], Sequence[Binding]]:
        """The tensors added to each product along its columns, and the sums; none or all."""
        sums: list[Binding] = []
        biases: list[Expr] = []
        if len(chosen) > len(parts):
            return [], []  # a product that is there twice may have two sums
        for product in chosen:
            found = self._only_use(product.binding)
            if found is None or found[1].op is not add.op:
                return [], []
            other = [arg for arg in found[1].args if arg is not product.binding.var]
            if len(other) != 1 or not self._is_bias(other[0], found[0], product):
                return [], []
            sums.append(found[0])
            biases.append(other[0])
        first = dims_of(biases[0]) or ()
        if not all(_same((dims_of(bias) or ())[:-1], first[:-1]) for bias in biases):
            return [], []
        order = sorted(range(len(chosen)), key=lambda k: parts[chosen[k].right])
        return [biases[k] for k in order], sums

    def _is_bias(self, bias: Expr, total: Binding, product: _Product) -> bool:
        """True if something has a value for each column, and spreads no product."""
        dims, info = dims_of(bias), product.binding.var.struct_info
        level = self.levels.get(bias, 0) if isinstance(bias, Var) else 0
        if not dims or level >= self.levels[product.binding.var]:
            return False
        return _same(dims[-1:], [product.columns]) and structural_equal(total.var.struct_info, info)

    def _activation(self, last: Sequence[Binding]) -> tuple[Call | None, Sequence[Binding]]:
        """The function that is applied to each product or sum, if it is the same to all."""
        found = [use for use in map(self._only_use, last) if use is not None]
        if len(found) < len(last) or found[0][1].op not in _ACTIVATIONS:
            return None, []
        first = found[0][1]
        same = all(
            call.op is first.op and structural_equal(call.attrs, first.attrs) for _, call in found
        )
        return (first, [binding for binding, _ in found]) if same else (None, [])

    def _only_use(self, binding: Binding) -> tuple[Binding, Call] | None:
        """The one call, if there is no other, that uses what a binding binds, and its binding."""
        var = binding.var
        if not isinstance(var, DataflowVar) or self.uses[var] != 1:
            return None
        user = self.users[var]
        if not isinstance(user, VarBinding) or not isinstance(user.value, Call):
            return None
        return (user, user.value) if isinstance(user.value.op, Op) else None


def _same(a: Sequence[PrimExpr], b: Sequence[PrimExpr]) -> bool:
    return len(a) == len(b) and all(prove_equal(x, y) is YES for x, y in zip(a, b))
