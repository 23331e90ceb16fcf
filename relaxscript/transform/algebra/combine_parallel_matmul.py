"""CombineParallelMatmul: products of one tensor with several are one product."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from relaxscript.analysis.derive import Context
from relaxscript.dpl.binding_order import in_order
from relaxscript.errors.exceptions import add_note
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    Op,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import compounds, rewrite_compounds
from relaxscript.op import Trait, traits_of
from relaxscript.op.binary import add
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.manipulate.concat_split import concat, split
from relaxscript.opdef.context import DeferredCheck
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .algebraic_rewriter import Unsure, dims_of
from .parallel_products import Parallel, parallel_products

__all__ = ["CombineParallelMatmul"]

# Whether products of a tensor may be one: the tensor, what it is multiplied with, what is added to
# each product, if something is, and all values of the block.
Check = Callable[[Var, Sequence[Expr], Sequence[Expr], Mapping[Var, Expr]], bool]


class CombineParallelMatmul(FunctionPass):
    """Multiply one tensor with several at once, and take the result apart.

    Before, where `a` and `b` have 4 and 8 columns:

        p = R.matmul(x, a)
        q = R.matmul(x, b)

    After:

        lv = R.concat((a, b), axis=1)
        lv_1 = R.matmul(x, lv)
        lv_2 = R.split(lv_1, indices_or_sections=[4], axis=1)
        p = lv_2[0]
        q = lv_2[1]

    What is added to each product along its columns is joined and added once. `R.nn.relu`, `gelu`,
    `gelu_tanh` or `silu` of each is computed once for all. The numbers of columns are known, but
    for one of them. It is done in dataflow blocks, whose bindings may change their order. `check`
    may forbid it: it is called as `check(x, [a, b], biases, values)` with the values of all
    variables of the block. Sums of floats may be rounded in another order.

    Raises `TypeError` where `check` is no function.
    Source: TVM `relax.transform.CombineParallelMatmul`.
    """

    tolerance = 1e-5
    changes_failures = True

    def __init__(self, check: Check | None = None) -> None:
        self.check = check

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        def step(node: Node) -> Node | None:
            if not isinstance(node, DataflowBlock):
                return None
            bindings = _Block(node.bindings, mod, self.check).combined()
            return None if bindings is None else node.replace(bindings=tuple(bindings))

        if not any(isinstance(node, Call) and node.op is matmul.op for node in compounds(func)):
            return func
        return rewrite_compounds(func, step)


class _Block:
    """The bindings of a block, in which `new` and `gone` are those that come and go."""

    def __init__(self, bindings: Sequence[Binding], mod: IRModule, check: Check | None) -> None:
        self.bindings = bindings
        self.check = check
        self.values = {b.var: b.value for b in bindings}
        self.spans = {b.var: b.span for b in bindings}
        self.places = {b.var: place for place, b in enumerate(bindings)}
        self.undecided: list[DeferredCheck] = []
        self.context = Context(mod, require=self.undecided.append)
        self.context.results = None
        self.new: dict[Var, list[VarBinding]] = {}
        self.gone: set[Var] = set()
        self.joined: dict[tuple[Expr, ...], Var] = {}

    def combined(self) -> list[Binding] | None:
        """The bindings afterwards; None where nothing changes."""
        if any(_writes(b.value) for b in self.bindings):
            return None  # which must not change places with those that read
        for found in parallel_products(self.bindings):
            if self._is_allowed(found):
                self._combine(found)
        if not self.new:
            return None
        known: dict[Var, Binding] = {}
        for binding in self.bindings:
            for made in self.new.get(binding.var, ()):
                known[made.var] = made
            if binding.var not in self.gone:
                known[binding.var] = binding
        ordered = in_order(known)
        assert isinstance(ordered, list), "what is combined does not depend on each other"
        return ordered

    def _is_allowed(self, found: Parallel) -> bool:
        if self.check is None:
            return True
        try:
            return bool(self.check(found.left, found.rights, found.biases, self.values))
        except Exception as error:
            add_note(error, f"`check` failed on the products of `{found.left.name_hint}`")
            raise

    def _combine(self, found: Parallel) -> None:
        """Note the bindings of one product of all, unless a run would have to check them."""
        made: list[VarBinding] = []
        joined = dict(self.joined)
        try:
            results = self._write(found, made)
        except Unsure:
            self.joined = joined
            return
        span = self.spans[found.gone[0]]
        first = min((b.var for b in results), key=lambda var: self.places[var])
        self.new[first] = [b if b.span else b.replace(span=span) for b in made]
        self.gone.update(found.gone)
        for result in results:  # each where it was computed
            self.new.setdefault(result.var, []).append(result)

    def _write(self, found: Parallel, made: list[VarBinding]) -> list[VarBinding]:
        """Append the bindings of the one product, and give those of its parts."""
        rank = len(dims_of(found.rights[0]) or ())
        right = self._joined(found.rights, rank - 1, made)
        whole = self._bind(matmul(found.left, right, found.out_dtype), made)
        if found.biases:
            last = len(dims_of(found.biases[0]) or ()) - 1
            whole = self._bind(add(whole, self._joined(found.biases, last, made)), made)
        if found.activation is not None:
            whole = self._bind(found.activation.replace(args=(whole,)), made)
        sizes = [dims[-1] for dims in map(dims_of, found.rights) if dims]
        places = list(accumulate(size.value for size in sizes[:-1] if isinstance(size, IntImm)))
        axis = len(dims_of(whole) or ()) - 1
        parts = self._bind(split(whole, places, axis), made)
        results: list[VarBinding] = []
        for var, place in found.results.items():
            part = TupleGetItem.make(parts, place)
            if not structural_equal(self._known(part), self.context.struct_info(var)):
                raise Unsure
            results.append(VarBinding.make(var, part, span=self.spans[var]))
        return results

    def _joined(self, tensors: Sequence[Expr], axis: int, made: list[VarBinding]) -> Var:
        """Several tensors in a row, joined once for all who multiply with them."""
        key = tuple(tensors)
        if key not in self.joined:
            self.joined[key] = self._bind(concat(Tuple.make(key), axis), made)
        return self.joined[key]

    def _bind(self, value: Expr, made: list[VarBinding]) -> Var:
        var = DataflowVar.make("lv", self._known(value))
        made.append(VarBinding.make(var, value))
        return var

    def _known(self, value: Expr) -> StructInfo:
        """The StructInfo of a value; raises `Unsure` where a run would have to check it."""
        self.undecided.clear()
        info = self.context.struct_info(value)
        if self.undecided:
            raise Unsure
        return info


def _writes(value: Expr) -> bool:
    """True if a value is that of a call which may write into tensors."""
    if not isinstance(value, Call) or not isinstance(value.op, Op):
        return False
    return not traits_of(value.op).isdisjoint(_WRITES)


_WRITES = frozenset({Trait.WRITES_ARGS, Trait.IMPURE, Trait.FREES, Trait.IN_STORAGE})
