"""The builder of PrimFuncs: parameters, statements, scopes, and the function they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import proxy

from relaxscript.dtypes import DataType
from relaxscript.errors import Span, quantity
from relaxscript.ir import prim, tir
from relaxscript.ir.buffer_access import pointer_variable
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PointerType, PrimType, Var, const
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferRegion,
    ForKind,
    IterVar,
    MatchBufferRegion,
    PrimFunc,
    Range,
    Stmt,
    handle_var,
)
from relaxscript.ir.tir_compute import BufferRealize, Prefetch

from .block import OpenBlock, attributes, closed, in_root
from .buffer import constant_data, extents_of, make_buffer
from .element import indices_of
from .mistake import TIRError, describe
from .operands import (
    INT_DTYPE,
    condition as as_condition,
    converted,
    domain_bounds,
    range_between,
    region,
    scalar,
)
from .scope import Opener, Scope, sequence_of
from .thread import thread_doubt

__all__ = ["TIRBuilder"]

LOOP_NAMES = "ijklmn"
_NOT_IN_NAMES = re.compile(r"\W")


class TIRBuilder:
    """Makes one PrimFunc, statement by statement; `name` is its global symbol unless it is private.

    Statements are added to the innermost open scope. What `let`, `attr`, `allocate` and their like
    begin lasts to the end of that scope. `span` is the place of what is made next.

    Mistakes are raised as `TIRError`, which names the part of the statement to blame; what deserves
    a word is added to `doubts`.
    """

    def __init__(self, name: str = "", *, private: bool = False, rooted: bool = True) -> None:
        self.name = name
        self.private = private
        # Whether a body with blocks is in a block named "root", as in TVM.
        self.rooted = rooted
        self.span: Span | None = None
        # Where the parts of what is made next are, for who knows; elsewhere they are at `span`.
        self.places: Callable[[str], Span | None] | None = None
        self.params: list[Var] = []
        self.param_spans: list[Span | None] = []
        self.buffer_map: dict[Var, Buffer] = {}
        self.ret_type: PrimType | PointerType | None = None
        self.attrs: dict[str, Any] = {}
        self.items: list[Stmt | Opener] = []
        self.open: list[Scope] = []
        self.depth = 0
        # It knows the builder weakly: a cycle keeps what was built until the collector runs, which
        # is off while a pass runs, and memory that is given back at once costs half as much.
        self.root = self.innermost = OpenBlock(proxy(self), "root")
        # The ranges of the loops around, by their variables.
        self.loops: dict[Var, Range] = {}
        # Blocks whose regions were left out, in what respect: (reads, writes).
        self.derived: dict[Block, tuple[bool, bool]] = {}
        self.has_blocks = False
        # The variables that `env_thread` gave, and the names of their threads.
        self.threads: dict[Var, str] = {}
        # What variables and buffers are to be called, where this is not how they were made.
        self.names: dict[Var | Buffer, str] = {}
        self.doubts: list[TIRError] = []
        self.finished = False

    # ---- the function

    def param(self, name: str, dtype: Any = "int32") -> Var:
        """A parameter that is a scalar, or the address of memory."""
        self.check_unfinished("a parameter")
        var = Var.make(name, DataType(dtype), span=self.span)
        self._add_param(var)
        return var

    def param_buffer(self, name: str, shape: Any, dtype: Any = "float32", **parts: Any) -> Buffer:
        """A parameter that is a buffer; `parts` are others of its parts."""
        buffer = make_buffer(name, shape, dtype, **parts, span=self.span)
        return self.add_param(buffer)  # type: ignore[return-value]

    def add_param(self, param: Var | Buffer) -> Var | Buffer:
        """A variable or a buffer that exists as the next parameter."""
        self.check_unfinished("a parameter")
        if isinstance(param, Buffer):
            var = handle_var(f"{param.name}_handle")
            self.buffer_map[var] = param
            self._add_param(var)
        else:
            self._add_param(param)
        return param

    def _add_param(self, var: Var) -> None:
        self.params.append(var)
        self.param_spans.append(self.span)

    def func_attr(self, attrs: Mapping[str, Any]) -> None:
        """Attributes of the function, beside those it has."""
        for key, value in attributes(attrs, "attrs").items():
            if key in self.attrs:
                raise TIRError(
                    "attrs", f"the function has the attribute `{key}` already", code="RX0302",
                    help="leave one of them out",
                )  # fmt: skip
            self.attrs[key] = value

    def finish(self) -> PrimFunc:
        """The function; nothing can be added to it afterwards."""
        self.check_unfinished("`finish`")
        body = self.body()
        self.finished = True
        attrs = dict(self.attrs)
        if self.name and not self.private and "global_symbol" not in attrs:
            attrs = {"global_symbol": self.name, **attrs}
        params = tuple(self.params)
        return PrimFunc.make(
            params, in_root(self, body, self.span) if self.rooted else body, self.ret_type,
            {p: self.buffer_map[p] for p in params if p in self.buffer_map},
            Attrs(attrs), tuple(self.param_spans), span=self.span,
        )  # fmt: skip

    def body(self) -> Stmt:
        """The statements so far, as one; raises `TIRError` inside of a scope."""
        if self.open:
            raise TIRError(
                "", f"`{self.open[-1].written}` is still open", code="RX0105",
                help="ask for what was built after the end of its `with`",
            )  # fmt: skip
        return sequence_of(self.items)

    def at(self, part: str) -> Span | None:
        """The place of a part of what is made next."""
        return self.span if self.places is None else self.places(part)

    def check_unfinished(self, what: str) -> None:
        """Refuse to go on with a function that is finished."""
        if self.finished:
            name = f"`{self.name}`" if self.name else "the function"
            raise TIRError(
                "", f"{name} is finished: {what} comes too late", code="RX0105",
                help="call `finish` once, at the end",
            )  # fmt: skip

    # ---- statements

    def add(self, statement: Stmt | Opener) -> None:
        """A statement as it is, or what holds all that follow in its scope."""
        self.check_unfinished("a statement")
        self.items.append(statement)

    def evaluate(self, value: Any) -> None:
        """Compute a value for its effect."""
        self.add(tir.Evaluate.make(scalar(value, "value", self.at("value")), span=self.span))

    def ret(self, value: Any) -> None:
        """Give the result of the function, a scalar."""
        if isinstance(self.ret_type, PrimType):
            dtype = self.ret_type.dtype
            e = converted(value, dtype, "value", "value", "the function returns", self.at("value"))
        else:
            e = scalar(value, "value", self.at("value"))
        self.evaluate(prim.Call.make(e.dtype, op_named("tir.ret"), (e,), span=self.span))

    def store(self, buffer: Buffer, indices: Any, value: Any, predicate: Any = None) -> None:
        """`buffer[indices] = value`; with `predicate`, in the lanes where it holds."""
        if not isinstance(buffer, Buffer):
            raise TIRError("buffer", f"this is {describe(buffer)}, not a buffer")
        given = list(indices) if isinstance(indices, (list, tuple)) else [indices]
        if len(given) != buffer.ndim:
            takes = quantity(buffer.ndim, "index", "indices")
            raise TIRError(
                "indices", f"`{buffer.name}` takes {takes}, not {len(given)}", code="RX0503"
            )
        found = indices_of(self, buffer, given)
        lanes = found[-1].dtype.lanes if found else 1
        dtype = buffer.dtype.with_lanes(lanes * buffer.dtype.lanes)
        e = converted(value, dtype, "value", "buffer", "holds", self.at("value"))
        where = None if predicate is None else scalar(predicate, "predicate", self.at("predicate"))
        self.add(tir.BufferStore.make(buffer, e, found, where, span=self.span))

    def prefetch(self, buffer: Buffer, bounds: Sequence[Any] = ()) -> None:
        """A hint that a region of a buffer, a range for each axis or none, will be read soon."""
        if not isinstance(buffer, Buffer):
            raise TIRError("buffer", f"this is {describe(buffer)}, not a buffer")
        if not isinstance(bounds, (list, tuple)):
            raise TIRError(
                "bounds", "the region is a list with a range for each axis", code="RX0103",
                help="write `[T.Range(0, 4)]`",
            )  # fmt: skip
        if bounds and len(bounds) != buffer.ndim:
            axes = quantity(buffer.ndim, "axis")
            message = f"`{buffer.name}` has {axes}, not {len(bounds)}"
            raise TIRError("bounds", message, code="RX0503")
        ranges = tuple(self._range_of(b, f"bounds[{i}]") for i, b in enumerate(bounds))
        self.add(Prefetch.make(buffer, ranges, span=self.span))

    def _range_of(self, domain: Any, part: str) -> Range:
        low, high = domain_bounds(domain, part, self.at(part))
        return range_between(low, high, (part, part), self.at(part))

    # ---- what lasts to the end of the scope around it

    def let(self, name: str | Var, value: Any, dtype: Any = None) -> Var:
        """A scalar variable; its value never changes. One that exists may be given instead."""
        at = self.at("value")
        e = (
            scalar(value, "value", at)
            if dtype is None
            else converted(value, DataType(dtype), "value", "dtype", "is declared", at)
        )
        var = Var.make(name, e.dtype, span=self.at("name")) if isinstance(name, str) else name
        span = self.span
        self.innermost.bound.add(var)
        self.add(lambda body: tir.LetStmt.make(var, e, body, span=span))
        return var

    def attr(self, node: Any, attr_key: str, value: Any) -> None:
        """A hint for the compiler about the statements that follow."""
        if not isinstance(attr_key, str):
            raise TIRError("attr_key", "the name of a hint is a string", code="RX0103")
        e, span = scalar(value, "value", self.at("value")), self.span
        if isinstance(node, (bool, int, float)):
            node = scalar(node, "node", span)
        if not (node is None or isinstance(node, (Node, str))):
            raise TIRError("node", f"a hint cannot be about {describe(node)}")
        self.add(lambda body: tir.AttrStmt.make(node, attr_key, e, body, span=span))

    def assert_holds(self, condition: Any, message: Any = "") -> None:
        """Stop with `message` unless `condition` holds."""
        e, span = as_condition(condition, "condition", self.at("condition")), self.span
        if not isinstance(message, (str, prim.StringImm)):
            raise TIRError(
                "message", f"the message of an assertion is a string, this is {describe(message)}"
            )
        text = prim.StringImm.make(message) if isinstance(message, str) else message
        self.add(lambda body: tir.AssertStmt.make(e, text, body, span=span))

    def allocate(
        self, name: str, extents: Any, dtype: Any, scope: str = "global", condition: Any = None,
        annotations: Mapping[str, Any] | None = None,
    ) -> Var:  # fmt: skip
        """Memory, by its address; `condition` says when it is needed."""
        found = extents_of(extents, "extents", self.at("extents"))
        var, element = self._address(name, dtype, scope), DataType(dtype)
        notes, span = attributes(annotations, "annotations"), self.span
        where = const(1, prim.BOOL)
        if condition is not None:
            where = as_condition(condition, "condition", self.at("condition"))
        self.add(lambda body: tir.Allocate.make(var, element, found, where, body, notes, span=span))
        return var

    def allocate_const(
        self, name: str, data: Any, dtype: Any, extents: Any,
        annotations: Mapping[str, Any] | None = None,
    ) -> Var:  # fmt: skip
        """Memory that holds constants, by its address."""
        found, element = extents_of(extents, "extents", self.at("extents")), DataType(dtype)
        notes, span = attributes(annotations, "annotations"), self.span
        numbers = constant_data(data, element, found)
        var = self._address(name, dtype, "global")
        self.add(
            lambda body: tir.AllocateConst.make(
                var, element, found, numbers, body, notes, span=span
            )
        )
        return var

    def _address(self, name: str, dtype: Any, scope: Any) -> Var:
        if not isinstance(scope, str):
            raise TIRError("scope", "the scope of memory is a string", code="RX0103")
        return pointer_variable(name, DataType(dtype), scope, self.at("name"))

    def decl_buffer(self, buffer: Buffer, needs_memory: bool = False) -> Buffer:
        """A buffer over the memory at its `data`, which is allocated here where it has none."""
        span = self.span
        if needs_memory:
            true, data = const(1, prim.BOOL), buffer.data
            self.add(
                lambda body: tir.Allocate.make(
                    data, buffer.dtype, buffer.shape, true, body, span=span
                )
            )
        self.add(lambda body: tir.DeclBuffer.make(buffer, body, span=span))
        return buffer

    def alloc_buffer(self, buffer: Buffer) -> Buffer:
        """A buffer that lives as long as the block (outside of blocks: the function) runs."""
        self.check_unfinished("a buffer")
        self.innermost.alloc_buffers.append(buffer)
        return buffer

    def match_buffer(self, source: Any, buffer: Buffer) -> Buffer:
        """The buffer of a parameter that is an address, or in a block another name of a region."""
        self.check_unfinished("a buffer")
        self.check_matched(source)
        if isinstance(source, Var):
            self._match_param(source, buffer)
        else:
            part = region(source, "param", self.at("param"))
            self.innermost.match_buffers.append(
                MatchBufferRegion.make(buffer, part, span=self.span)
            )
        return buffer

    def check_matched(self, source: Any) -> None:
        """Refuse what no buffer can be matched with: regions belong to blocks."""
        inside = self.innermost is not self.root
        if isinstance(source, Var) or (
            inside and isinstance(source, (Buffer, BufferRegion, prim.BufferLoad))
        ):
            return
        raise _no_parameter(f"is {describe(source)}")

    def _match_param(self, param: Var, buffer: Buffer) -> None:
        known = self.buffer_map.get(param)
        if known is not None:
            raise TIRError(
                "param", f"`{param.name}` is the buffer `{known.name}` already",
                places=[(known.span, "matched here")],
            )  # fmt: skip
        if param not in self.params or param.dtype.kind != "handle":
            what = f"is {param.dtype}" if param in self.params else "is no parameter"
            raise _no_parameter(what)
        self.buffer_map[param] = buffer

    def realize(
        self, buffer_slice: Any, storage_scope: str | None = None, condition: Any = True
    ) -> None:
        """The region of a buffer that exists while the statements that follow run."""
        exists = region(buffer_slice, "buffer_slice", self.at("buffer_slice"))
        if not (storage_scope is None or isinstance(storage_scope, str)):
            raise TIRError("storage_scope", "the scope of memory is a string", code="RX0103")
        where = as_condition(condition, "condition", self.at("condition"))
        span = self.span

        def opened(body: Stmt) -> Stmt:
            made: Stmt = BufferRealize.make(exists.buffer, exists.region, where, body, span=span)
            if storage_scope is None:
                return made
            text = prim.StringImm.make(storage_scope)
            return tir.AttrStmt.make(exists.buffer, "realize_scope", text, made, span=span)

        self.add(opened)

    # ---- threads

    def env_thread(self, thread_tag: str, name: str = "thread", dtype: Any = "int32") -> Var:
        """A thread that is launched later."""
        known = self.known_thread(thread_tag, "thread_tag")
        var = Var.make(name, DataType(dtype), span=self.at("name"))
        self.threads[var] = known
        return var

    def launch_thread(self, thread: Any, extent: Any, name: str | None = None) -> Var:
        """The statements that follow run on several threads; the number of the thread."""
        count = scalar(extent, "extent", self.at("extent"))
        if not (count.dtype.is_integer and count.dtype.lanes == 1):
            raise TIRError(
                "extent", "the number of threads is an integer",
                facts={"extent": f"is {count.dtype}"},
            )  # fmt: skip
        if isinstance(thread, Var):
            if thread not in self.threads:
                raise TIRError(
                    "thread", f"`{thread.name}` is no thread",
                    help='declare it: `tx = T.env_thread("threadIdx.x")`',
                )  # fmt: skip
            var, tag = thread, self.threads[thread]
            count = count if count.dtype is var.dtype else prim.cast(count, var.dtype)
        else:
            tag = self.known_thread(thread, "thread")
            wish = _NOT_IN_NAMES.sub("_", tag) if name is None else name
            var = Var.make(wish, count.dtype, span=self.at("name"))
        span, domain = self.span, Range.make(const(0, var.dtype), count)
        axis = IterVar.make(domain, var, "ThreadIndex", tag, span=span)
        self.add(lambda body: tir.AttrStmt.make(axis, "thread_extent", count, body, span=span))
        return var

    def known_thread(self, tag: Any, part: str) -> str:
        """The name of a thread; an unusual one deserves a word."""
        doubt = thread_doubt(tag, part)
        if doubt is not None:
            self.doubts.append(doubt)
        return str(tag)

    # ---- scopes

    def scope(self) -> Scope:
        """Statements whose variables, memory and hints end with it: `with tb.scope():`."""
        return Scope(self, "scope", lambda body: body)

    def collecting(self, written: str, take: Any) -> Scope:
        """Statements that are added nowhere: `take` is called with them, as one."""

        def close(body: Stmt) -> None:
            take(body)

        return Scope(self, written, close)

    def serial(self, start: Any, stop: Any = None, *, name: str | None = None, **how: Any) -> Scope:
        """A loop, one iteration after the other: `with tb.serial(8) as i:`."""
        return self.loop(ForKind.SERIAL, start, stop, name, **how)

    def parallel(
        self, start: Any, stop: Any = None, *, name: str | None = None, **how: Any
    ) -> Scope:
        """A loop whose iterations may run at the same time."""
        return self.loop(ForKind.PARALLEL, start, stop, name, **how)

    def vectorized(
        self, start: Any, stop: Any = None, *, name: str | None = None, **how: Any
    ) -> Scope:
        """A loop whose iterations may run as lanes of vector instructions."""
        return self.loop(ForKind.VECTORIZED, start, stop, name, **how)

    def unroll(self, start: Any, stop: Any = None, *, name: str | None = None, **how: Any) -> Scope:
        """A loop whose iterations are written out."""
        return self.loop(ForKind.UNROLLED, start, stop, name, **how)

    def thread_binding(
        self, start: Any, stop: Any = None, thread: str = "threadIdx.x", *,
        name: str | None = None, **how: Any,
    ) -> Scope:  # fmt: skip
        """A loop whose iterations are the threads of a device."""
        return self.loop(ForKind.THREAD_BINDING, start, stop, name, thread=thread, **how)

    def loop(
        self, kind: str, start: Any, stop: Any = None, name: str | None = None, *,
        thread: str | None = None, annotations: Mapping[str, Any] | None = None,
    ) -> Scope:  # fmt: skip
        """A loop of a kind over `start <= i < stop` (or `0 <= i < start`)."""
        domain = self.domain(start, stop)
        notes = attributes(annotations, "annotations")
        bound = None
        if kind == ForKind.THREAD_BINDING:
            if not isinstance(thread, str):
                raise TIRError("", "`T.thread_binding` needs the name of a thread", code="RX0103",
                               help='write `thread="threadIdx.x"`')  # fmt: skip
            tag = self.known_thread(thread, "thread")
            bound = IterVar.make(None, Var.make("", INT_DTYPE), "ThreadIndex", tag)
        (var,) = self._loop_variables([domain], None if name is None else [name])
        return self.nest([var], [domain], kind, bound, notes, var)

    def grid(self, *extents: Any, names: Sequence[str] | None = None) -> Scope:
        """Nested serial loops, one for each extent: `with tb.grid(n, 64) as (i, j):`."""
        domains = self.domains_of_grid(extents)
        made = self._loop_variables(domains, names)
        return self.nest(made, domains, value=tuple(made), written="T.grid")

    def domain(self, start: Any, stop: Any = None) -> Range:
        """The integers `start <= i < stop`, or `0 <= i < start`."""
        if stop is None:
            return range_between(0, start, ("start", "start"), self.at("start"))
        return range_between(start, stop, ("start", "stop"), self.at("stop"))

    def domains_of_grid(self, extents: Sequence[Any]) -> list[Range]:
        """The domains of nested loops from zero, one for each extent."""
        if len(extents) == 1 and isinstance(extents[0], (tuple, list)):
            raise TIRError(
                "extents[0]", "`T.grid` takes its extents one by one",
                help="write `T.grid({instead})`", instead="*{}",
            )  # fmt: skip
        parts = [f"extents[{i}]" for i in range(len(extents))]
        return [
            range_between(0, extent, (part, part), self.at(part))
            for extent, part in zip(extents, parts)
        ]

    def _loop_variables(self, domains: Sequence[Range], names: Sequence[str] | None) -> list[Var]:
        """A variable for each loop; one without a name is called by how deep it is."""
        wished = names or [LOOP_NAMES[(self.depth + k) % 6] for k in range(len(domains))]
        return [
            Var.make(name, domain.extent.dtype, span=self.span)
            for name, domain in zip(wished, domains)
        ]

    def nest(
        self, variables: Sequence[Var], domains: Sequence[Range], kind: str = ForKind.SERIAL,
        thread: IterVar | None = None, annotations: Attrs | None = None, value: Any = None,
        written: str = "",
    ) -> Scope:  # fmt: skip
        """Loops over some domains, outermost first, by variables that exist."""
        span, notes = self.span, annotations or Attrs()
        self.loops.update(zip(variables, domains))

        def close(body: Stmt) -> Stmt:
            for var, domain in zip(reversed(variables), reversed(domains)):
                body = tir.For.make(
                    var, domain.min, domain.extent, kind, body, thread, notes, span=span
                )
            return body

        called = written or f"T.{'unroll' if kind == ForKind.UNROLLED else kind}"
        return Scope(self, called, close, value, loops=len(domains))

    def while_(self, condition: Any) -> Scope:
        """A loop: statements that are run again as long as a condition holds."""
        e, span = as_condition(condition, "condition", self.at("condition")), self.span
        return Scope(self, "T.While", lambda body: tir.While.make(e, body, span=span))

    def if_(self, condition: Any) -> Scope:
        """A choice, in which `then` and perhaps `else_` are, and nothing else.

        `with tb.if_(n > 0), tb.then():` is the short form of one without `else_`.
        """
        e, span = as_condition(condition, "condition", self.at("condition")), self.span
        ways: dict[str, Stmt] = {}

        def close(body: Stmt) -> Stmt:
            if scope.is_filled:
                raise TIRError("", "`T.If` holds `T.Then` and `T.Else` only",
                               help="write `with T.Then():`")  # fmt: skip
            if "T.Then" not in ways:
                raise TIRError("", "`T.If` needs `T.Then`", help="write `with T.Then():` inside it")
            return tir.IfThenElse.make(e, ways["T.Then"], ways.get("T.Else"), span=span)

        scope = Scope(self, "T.If", close, ways)
        return scope

    def then(self) -> Scope:
        """The statements for when the condition of the `if_` around it holds."""
        return self._way("T.Then")

    def else_(self) -> Scope:
        """The statements for when the condition of the `if_` around it does not hold."""
        return self._way("T.Else")

    def _way(self, written: str) -> Scope:
        around = self.open[-1] if self.open else None
        if around is None or around.written != "T.If":
            raise TIRError("", f"`{written}` belongs directly in `T.If`",
                           help="write `with T.If(condition):` around it")  # fmt: skip
        ways: dict[str, Stmt] = around.value
        if written in ways:
            raise TIRError("", f"`T.If` has two `{written}`")
        return self.collecting(written, lambda body: ways.update({written: body}))

    # ---- blocks

    def block(self, name: str = "", *, no_realize: bool = False) -> Scope:
        """A unit of computation over its own axes: `with tb.block("relu") as b:`."""
        if not isinstance(name, str):
            raise TIRError("name", "the name of a block is a string", code="RX0504")
        span, opened = self.span, OpenBlock(self, name)

        def close(body: Stmt) -> Stmt:
            made = closed(opened, body, span)
            if no_realize:
                return made
            self.has_blocks = True
            predicate = const(1, prim.BOOL) if opened.predicate is None else opened.predicate
            return BlockRealize.make(tuple(opened.iter_values), predicate, made, span=span)

        return Scope(self, "T.block", close, opened, opened)


def _no_parameter(fact: str) -> TIRError:
    message = "`T.match_buffer` takes a parameter `a: T.handle`"
    return TIRError("param", message, facts={"param": fact})
