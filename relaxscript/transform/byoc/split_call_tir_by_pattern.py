"""SplitCallTIRByPattern: the first loop nests of PrimFuncs become calls of libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm, PrimExpr, Var as PrimVar
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    ExternFunc,
    GlobalVar,
    ShapeExpr,
    Tuple,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.stmt_functor import renew_defs
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.ir.tir import Buffer, PrimFunc, SeqStmt, Stmt, handle_var
from relaxscript.ir.walk import free_vars, rewrite_compounds, substitute, walk
from relaxscript.op.calls import call_dps_packed, call_tir
from relaxscript.runtime import get_global_func, list_global_func_names
from relaxscript.transform.fuse.function_names import FunctionNames, without_unused
from relaxscript.transform.fuse.tir_calls import TIRCall, TIRCalls, TIRSignature, tensors_of
from relaxscript.transform.pass_infra.checked_arguments import checks_arguments
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .buffer_uses import BufferUses
from .nest_matcher import MatchResult, NestPattern, NestRow, nest_row

__all__ = ["SplitCallTIRByPattern"]


class SplitCallTIRByPattern(ModulePass):
    """Have a library compute the first loop nests of PrimFuncs, those that patterns describe.

    Before:

        @T.prim_func(private=True)
        def fused(x: T.Buffer((4, 8), "float32"), w: ..., b: ..., relu: ...):
            ...  # the loops of a product, then those that add `b`, then those of a relu

        y = R.call_tir(cls.fused, (x, w, b), out_sinfo=R.Tensor((4, 2), "float32"))

    After, where `fcodegen` takes the product:

        @T.prim_func(private=True)
        def unfused_epilogue(matmul: ..., b: ..., relu: ...):
            ...  # the loops that add `b`, then those of the relu

        matmul = R.call_dps_packed(
            "fused_library", (x, w), out_sinfo=R.Tensor((4, 2), "float32")
        )
        y = R.call_tir(cls.unfused_epilogue, (matmul, b), out_sinfo=R.Tensor((4, 2), "float32"))

    `patterns` are PrimFuncs, of one nest each or of several in a row. A PrimFunc that `R.call_tir`
    calls is compared with them from its first nest on. Of each nest the first pattern that fits is
    taken. Names do not matter, and shape variables of a pattern stand for sizes. Everything else is
    the same: the order of loops, of operands and of nests.

    `fcodegen` gets the results of the first nests that fit, a list of `MatchResult`, and gives
    `[code, count, buffers]`. So `code` computes the first `count` of them, and none if it is 0.
    It is a callable, or the name of a packed function. It takes the tensors of `buffers`, then the
    array to write into. A callable is kept in the `external_mods` of the module.

    The nests leave one tensor to the rest, which writes nothing there. They use no integers but
    sizes of what is passed. Where that is not so, the PrimFunc stays. A private PrimFunc that
    nobody calls afterwards is gone.

    TVM takes C source as code, and asks once for each call. Here a PrimFunc is asked of once for
    all calls, and its rest in turn, until nothing is taken.

    Raises `DiagnosticError`: RX0709 for a pattern that is no PrimFunc or has no loops, and for
    another answer of `fcodegen`. RX0703 is for a packed function that is not registered.

    Source: TVM `relax.transform.SplitCallTIRByPattern`.
    """

    adds_functions = True
    removes_functions = True

    @checks_arguments("patterns", "fcodegen")
    def __init__(
        self, patterns: Sequence[PrimFunc], fcodegen: Callable[[list[MatchResult]], Any]
    ) -> None:
        super().__init__()
        self.patterns = tuple([_pattern(each, n) for n, each in enumerate(patterns)])
        if not callable(fcodegen):
            message = f"`fcodegen` is a function of a list of `MatchResult`, not {brief(fcodegen)}"
            help = "write for example `lambda results: [code, 1, results[0].matched_buffers[:2]]`"
            raise DiagnosticError(Diagnostic("RX0709", message, caller_span(), help=help))
        self.fcodegen = fcodegen

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        splitting = _Splitting(mod, self.patterns, self.fcodegen)
        made = mod.clone()
        for gvar, func in mod.relax_functions().items():
            new = rewrite_compounds(func, splitting.block)
            if new is not func:
                made[gvar] = new
        done = {name: split for (name, _), split in splitting.splits.items() if split is not None}
        if not done:
            return mod
        for split in splitting.splits.values():
            if split is not None and split.rest is not None:
                made[split.rest.gvar] = split.rest.function
        if splitting.compiled:
            made.external_mods = (*mod.external_mods, splitting.compiled)
        return without_unused(made, {name for name in done if mod[name].is_private})


def _pattern(given: object, place: int) -> NestPattern:
    """A pattern that was given; raises where it can match nothing."""
    row = nest_row(given) if isinstance(given, PrimFunc) else None
    if isinstance(given, PrimFunc) and row is not None:
        return NestPattern(given, row)
    if isinstance(given, PrimFunc):
        message = f"`patterns[{place}]` matches nothing: its body is no row of loop nests"
    else:
        message = f"`patterns[{place}]` is a PrimFunc, not {brief(given)}"
    help = "a pattern is the loops to look for: a function under `@T.prim_func`, or `mod[name]`"
    raise DiagnosticError(Diagnostic("RX0709", message, caller_span(), help=help))


# ---------------------------------------------------------------- how a PrimFunc is split


class _Library(NamedTuple):
    """A call of a library: its symbol, the buffers that it is given, and the one that it fills.

    Where it fills the results of the PrimFunc, there is none.
    """

    symbol: str
    given: tuple[Buffer, ...]
    filled: Buffer | None


class _Rest(NamedTuple):
    """The PrimFunc that does the rest, and the buffers and integers that it is given."""

    gvar: GlobalVar
    function: PrimFunc
    given: tuple[Buffer, ...]
    integers: tuple[PrimVar, ...]


class _Split(NamedTuple):
    """The parts in the place of a PrimFunc: libraries, and the rest that these leave, if any."""

    libraries: tuple[_Library, ...]
    rest: _Rest | None


class _Row:
    """The statements of a PrimFunc, of which the first were given to libraries."""

    def __init__(self, signature: TIRSignature, row: NestRow, results: int) -> None:
        self.func, self.row, self.statements = signature.func, row, row.statements
        self.args, self.results = signature.buffers[:-results], signature.buffers[-results:]
        self.uses = BufferUses([*signature.buffers, *row.allocated], row.statements)
        self.at = 0
        self.libraries: list[_Library] = []

    def readable(self, end: int) -> list[Buffer]:
        """The tensors that a library may be given for the nests before `end`."""
        there = [*self.args, *[lib.filled for lib in self.libraries if lib.filled is not None]]
        read = self.uses.read(self.at, end)
        return [buffer for buffer in there if buffer.data in read]

    def filled(self, end: int) -> Buffer | None:
        """The one buffer that the nests before `end` leave to the rest; None if it is not one."""
        uses, written = self.uses, self.uses.written(self.at, end)
        own = [buffer for buffer in self.row.allocated if buffer.data in written]
        left = [buffer for buffer in own if uses.is_mentioned_from(end, buffer)]
        earlier = {lib.filled for lib in self.libraries}
        if len(own) < len(written) or len(left) != 1 or earlier & {*own}:
            return None
        return None if uses.is_written_from(end, left[0]) else left[0]

    def outputs(self, end: int) -> tuple[Buffer, ...] | None:
        """The buffers that the nests before `end` fill; None where no library can do that."""
        if end < len(self.statements):
            found = self.filled(end)
            read = self.uses.read(self.at, end)
            is_read = any(buffer.data in read for buffer in self.results)
            return None if found is None or is_read else (found,)
        written = self.uses.written(self.at, end)
        results = {buffer.data for buffer in self.results}
        earlier = {lib.filled for lib in self.libraries}
        own = {buffer.data for buffer in self.row.allocated if buffer not in earlier}
        return self.results if results <= written <= results | own else None

    def has_sizes(self, end: int, passed: Sequence[Buffer]) -> bool:
        """True if the nests before `end` use no integers but sizes of what is passed."""
        sizes = {d for b in passed for d in b.shape if isinstance(d, PrimVar)}
        return _integers(self.statements[self.at : end]) <= sizes


def _integers(statements: Sequence[Stmt]) -> set[PrimVar]:
    """The integers and other scalars that statements use and do not define."""
    return {
        var
        for statement in statements
        for var in free_vars(statement)
        if isinstance(var, PrimVar) and var.dtype.kind != "handle"
    }


class _Splitting:
    """Splits the PrimFuncs of one module.

    `splits` says how, by their names and how many results a call has; None where they stay.
    """

    def __init__(
        self, mod: IRModule, patterns: Sequence[NestPattern], fcodegen: Callable[..., Any]
    ) -> None:
        self.splits: dict[tuple[str, int], _Split | None] = {}
        self.compiled: dict[str, Callable[..., Any]] = {}
        self._mod = mod
        self._patterns = patterns
        self._fcodegen = fcodegen
        self._calls = TIRCalls(mod)
        self._names = FunctionNames(mod)

    def block(self, node: Node) -> Node | None:
        """A block of bindings with calls of libraries."""
        if not isinstance(node, BindingBlock):
            return None
        bindings: list[Any] = []
        kind = DataflowVar if isinstance(node, DataflowBlock) else Var
        for binding in node.bindings:
            replaced: list[VarBinding] = []
            if isinstance(binding, VarBinding):
                call = self._calls.match(binding.value)
                split = None if call is None else self._split(call)
                if call is not None and split is not None:
                    replaced = _bindings(binding, call, split, kind)
            bindings += replaced or [binding]
        return node.replace(bindings=tuple(bindings)) if bindings != [*node.bindings] else None

    def _split(self, call: TIRCall) -> _Split | None:
        """The parts of the PrimFunc of a call, of which the code generator is asked once."""
        name, count = call.gvar.name_hint, len(tensors_of(call.result) or ())
        if (name, count) not in self.splits:
            row = nest_row(call.signature.func) if count else None
            found = None if row is None else self._row(name, _Row(call.signature, row, count))
            self.splits[name, count] = found
        return self.splits[name, count]

    def _row(self, name: str, row: _Row) -> _Split | None:
        """Give the first nests of a row to libraries, as long as that can be."""
        matches = self._matches(row.statements)
        while row.at < len(row.statements) and row.at in matches:
            results, ends = [], []
            at = row.at
            while at in matches:
                result, at = matches[at]
                results.append(result)
                ends.append(at)
            code, count, buffers = _answer(self._fcodegen(results), name, len(results), row)
            end = ends[count - 1] if count else row.at
            outputs = row.outputs(end) if count else None
            if outputs is None:
                break
            _require_readable(buffers, row.readable(end), name, row)
            if not row.has_sizes(end, (*buffers, *outputs)):
                break
            symbol = self._symbol(code, name, row)
            filled = None if end == len(row.statements) else outputs[0]
            row.libraries.append(_Library(symbol, buffers, filled))
            row.at = end
        if not row.libraries:
            return None
        rest = None if row.at == len(row.statements) else self._rest(row)
        return _Split(tuple(row.libraries), rest)

    def _matches(self, statements: Sequence[Stmt]) -> Mapping[int, tuple[MatchResult, int]]:
        """The first pattern that fits at each place from the first on, and where it ends."""
        found: dict[int, tuple[MatchResult, int]] = {}
        at = 0
        while at < len(statements):
            for pattern in self._patterns:
                end = at + len(pattern.nests)
                result = pattern.match(statements[at:end])
                if result is not None:
                    found[at] = result, end
                    at = end
                    break
            else:
                break
        return found

    def _symbol(self, code: Any, name: str, row: _Row) -> str:
        """The symbol by which a library is called."""
        kept = {symbol for made in self._mod.external_mods for symbol in made}
        if not isinstance(code, str):
            symbol = self._names.unique(f"{name}_library")
            while symbol in kept:
                symbol = self._names.unique(f"{name}_library")
            self.compiled[symbol] = code
            return symbol
        if code in kept or get_global_func(code, allow_missing=True) is not None:
            return code
        near = nearest(code, [*kept, *list_global_func_names()])
        register = "register it by `@register_func`, or give the callable itself; it is no C source"
        message = f"`fcodegen` gives {brief(code)} for `{name}`, which is not registered"
        help = did_you_mean(near, register, quote='"')
        raise DiagnosticError(Diagnostic("RX0703", message, row.func.span, help=help))

    def _rest(self, row: _Row) -> _Rest:
        """The PrimFunc of the statements that are left."""
        func, uses, at = row.func, row.uses, row.at
        there = [*[lib.filled for lib in row.libraries if lib.filled is not None], *row.args]
        given = [buffer for buffer in there if uses.is_mentioned_from(at, buffer)]
        left = row.statements[at:]
        body: Stmt = SeqStmt.make(left) if len(left) > 1 else left[0]
        if row.row.root is not None:
            block = row.row.root.block
            own = [b for b in block.alloc_buffers if b not in given]
            block = block.replace(
                body=body,
                alloc_buffers=tuple([b for b in own if uses.is_mentioned_from(at, b)]),
                reads=tuple([r for r in block.reads if r.buffer in given]),
                writes=tuple([r for r in block.writes if r.buffer in row.results]),
            )
            body = row.row.root.replace(block=block)
        buffers = [*given, *row.results]
        used = {
            d: None for b in buffers for e in b.shape for d in walk(e) if isinstance(d, PrimVar)
        }
        sizes = {d for b in buffers for d in b.shape if isinstance(d, PrimVar)}
        integers = [v for v in {**dict.fromkeys(_integers((body,))), **used} if v not in sizes]
        known = {v: n for n, v in enumerate(func.params)}
        integers.sort(key=lambda var: (known.get(var, len(known)), var.name))
        params = [handle_var(f"{buffer.name}_handle") for buffer in buffers]
        attrs = func.attrs
        for name in ("global_symbol", "op_pattern"):
            attrs = None if attrs is None else attrs.without(name)
        made = func.replace(
            params=(*params, *integers), body=body, buffer_map=dict(zip(params, buffers)),
            attrs=attrs or None, param_spans=(),
        )  # fmt: skip
        gvar = GlobalVar.make(self._names.unique("unfused_epilogue"))
        return _Rest(gvar, renew_defs(made), tuple(given), tuple(integers))


def _answer(answer: Any, name: str, most: int, row: _Row) -> tuple[Any, int, tuple[Buffer, ...]]:
    """The code, the count and the buffers that a code generator gives; raises for all else."""
    wrong = "which is no list of code, count and buffers"
    if isinstance(answer, (list, tuple)) and len(answer) == 3:
        code, count, buffers = answer
        count = count.value if isinstance(count, IntImm) else count
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= most:
            wrong = f"whose count is {brief(count)}, not a number from 0 to {most}"
        elif count == 0:
            return None, 0, ()
        elif not isinstance(code, str) and not callable(code):
            wrong = f"whose code is {brief(code)}, not a callable or the name of one"
        elif not isinstance(buffers, (list, tuple)) or not all(
            isinstance(buffer, Buffer) for buffer in buffers
        ):
            wrong = f"whose buffers are {brief(buffers)}, not a list of buffers"
        else:
            return code, count, tuple(buffers)
    message = f"`fcodegen` gives {brief(answer)} for `{name}`, {wrong}"
    help = "return `[code, count, buffers]`, with the count 0 for what it does not take"
    raise DiagnosticError(Diagnostic("RX0709", message, row.func.span, help=help))


def _require_readable(
    buffers: Sequence[Buffer], readable: Sequence[Buffer], name: str, row: _Row
) -> None:
    """Refuse a buffer that the nests of a library do not read."""
    for buffer in buffers:
        if buffer not in readable:
            message = (
                f"`fcodegen` gives the buffer `{buffer.name}` for `{name}`, "
                "which is no tensor that its nests are given and read"
            )
            there = ", ".join([f"`{b.name}`" for b in readable])
            help = f"of `matched_buffers` it may give {there}; what is written is passed last"
            raise DiagnosticError(Diagnostic("RX0709", message, row.func.span, help=help))


# ---------------------------------------------------------------- how a call is written


def _bindings(
    binding: VarBinding, call: TIRCall, split: _Split, kind: type[Var]
) -> list[VarBinding]:
    """The bindings in the place of one: a call of each library, and one of the rest."""
    values: dict[Buffer, Expr] = dict(zip(call.signature.buffers, call.args))
    made: list[VarBinding] = []
    old = binding.value
    assert isinstance(old, Call)
    for library in split.libraries:
        given = Tuple.make(tuple([values[buffer] for buffer in library.given]))
        info = call.result
        if library.filled is not None:
            info = _tensor(library.filled, call)
        new = Call.make(
            call_dps_packed.op, (ExternFunc(library.symbol), given), None,
            (info,) if library.filled is not None else old.sinfo_args, span=old.span,
        )  # fmt: skip
        remember_struct_info(new, info)
        if library.filled is None:
            made.append(binding.replace(value=new))
        else:
            var = kind.make(library.filled.name, info, span=binding.var.span)
            values[library.filled] = var
            made.append(VarBinding.make(var, new, span=binding.span))
    if split.rest is not None:
        rest = split.rest
        given = Tuple.make(tuple([values[buffer] for buffer in rest.given]))
        sizes: list[PrimExpr] = [call.sizes[var] for var in rest.integers]
        integers = (ShapeExpr.make(tuple(sizes)),) if sizes else ()
        args = (rest.gvar, given, *integers)
        new = Call.make(call_tir.op, args, None, old.sinfo_args, span=old.span)
        remember_struct_info(new, call.result)
        made.append(binding.replace(value=new))
    return made


def _tensor(buffer: Buffer, call: TIRCall) -> StructInfo:
    """The StructInfo in a caller of what fills a buffer of a PrimFunc."""
    dims = tuple([substitute(dim, call.sizes) for dim in buffer.shape])
    results = tensors_of(call.result)
    vdevice = results[0].vdevice if results else None
    return TensorStructInfo(ShapeExpr.make(dims), buffer.dtype, vdevice=vdevice)
