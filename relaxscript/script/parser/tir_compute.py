"""What PrimFuncs have of tensor expressions and of GPUs: reducers, index maps, axes, launches.

    "T.comm_reducer(" lambda "," identities ")" | "T.index_map(" lambda ... ")"
    | "T.Reduce(" reducer "," values "," axes "," condition "," index ")"
    | name "=" "T.launch_thread(" thread "," extent ")" | name "=" "T.env_thread(" tag ")"
    | "T.realize(" region "," scope ")" | "T.prefetch(" buffer "," ranges ")"

The function of a reducer or of an index map is a `lambda`, or a function of Python that is called
with the variables.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.errors import Diagnostic
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.tir import AttrStmt, Buffer, IterVar, Range
from relaxscript.ir.tir_compute import BufferRealize, IndexMap, Prefetch
from relaxscript.ir.walk import free_vars
from relaxscript.script import tir_compute
from relaxscript.script.syntax import TIR_INT_DTYPE
from relaxscript.script.tir_types import Form

from .python_values import LocalFunction
from .tir_call import Places
from .tir_loop import LoopParser
from .tir_scalar import counted, describe

__all__ = ["ComputeParser"]

_NAME = re.compile(r"\W")


class ComputeParser(LoopParser):
    """Adds reducers, index maps and launches of threads to loops."""

    # The variables that `T.env_thread` gave, the names of their threads, and where they stand.
    threads: dict[prim.Var, tuple[str, ast.AST]]
    # What `T.realize` opened, and where.
    realized: dict[Any, ast.Call]

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        if callee is tir_compute.comm_reducer:
            return self.comm_reducer(node)
        if callee is tir_compute.index_map:
            return self.index_map(node)
        if callee is tir_compute.Reduce:
            return self.reduction(node)
        return super().call_value(callee, node)

    # ---- functions over variables

    def function_over(self, node: ast.expr, what: str, example: str) -> Callable[..., Any]:
        """The function of a reducer or of an index map, called with variables while parsing."""
        function = self.value(node)
        if isinstance(function, LocalFunction):
            return self.scalars_of(function, what)
        if not callable(function) or isinstance(function, prim.PrimExpr):
            raise self.error(
                node,
                "RX0103",
                f"{what} is a function, this is {describe(function)}",
                help=f"write for example `{example}`",
            )
        if self.environment.mode == "data":
            written = self.written(node)
            raise self.error(
                node, "RX0104", f"`{written}` is not called in data mode", help="write a `lambda`"
            )
        return function  # type: ignore[no-any-return]

    def scalars_of(self, function: LocalFunction, what: str) -> Callable[..., Any]:
        """A `lambda` of the script as a function that gives scalars."""
        body = function.node.body

        def call(*variables: prim.Var) -> Any:
            self.fixed.update(dict.fromkeys(variables, f"a parameter of {what}"))
            value = function.call(*variables)
            values = value if isinstance(value, (tuple, list)) else (value,)
            nodes = getattr(body, "elts", [body] * len(values))
            return tuple(
                v if type(v) is int else self.scalar(v, at) for v, at in zip(values, nodes)
            )

        vars(call)["parameters"] = list(function.names)
        return call

    def parameter_names(self, function: Any, node: ast.expr) -> list[str]:
        found = getattr(function, "parameters", None)
        if isinstance(found, list):
            return found
        try:
            return tir_compute.parameters_of(function)
        except (TypeError, ValueError):
            raise self.error(
                node, "RX0103", f"the parameters of `{self.written(node)}` are not known",
                help="write a `lambda`",
            ) from None  # fmt: skip

    def needed(self, callee: Any, node: ast.Call) -> Places:
        """The places of the arguments; a call with the wrong ones is refused."""
        signature = inspect.signature(callee)
        kwargs = {k.arg: k.value for k in node.keywords if k.arg is not None}
        try:
            signature.bind(*node.args, **kwargs)
        except TypeError:
            raise self.wrong_arguments(self.written(node.func), signature, node, kwargs) from None
        return self.argument_nodes(callee, node)

    def comm_reducer(self, node: ast.Call) -> Any:
        """`T.comm_reducer(lambda x, y: x + y, [T.float32(0)])`."""
        places = self.needed(tir_compute.comm_reducer, node)
        at = places["identity"]
        given = self.value(at)
        values = given if isinstance(given, (tuple, list)) else (given,)
        identity = [self.scalar(v, at) for v in values]
        what = "the combiner of a reduction"
        function = self.function_over(places["combiner"], what, "lambda x, y: x + y")
        names = self.parameter_names(function, places["combiner"])
        count = len(identity)
        if len(names) != 2 * count:
            raise self.error(
                places["combiner"],
                "RX0103",
                f"{counted(count, 'identity', 'identities')} needs a function of {2 * count} "
                f"parameters, not {len(names)}",
                labels=[(at, counted(count, "identity", "identities"))],
            )
        dtypes = [e.dtype for e in identity] * 2
        span = self.span(node)
        made = [prim.Var.make(n, d, span=span) for n, d in zip(names, dtypes)]
        result = self.results(function, made, places["combiner"])
        for e, dtype in zip(result, dtypes):
            if e.dtype is not dtype:
                raise self.error(
                    places["combiner"],
                    "RX0502",
                    f"the combiner gives {e.dtype}, not {dtype}",
                    labels=[(at, f"is {dtype}")],
                )
        if len(result) != count:
            raise self.error(
                places["combiner"],
                "RX0103",
                f"the combiner gives {counted(len(result), 'value')}, not {count}",
            )
        return tir_compute.CommReducer(made[:count], made[count:], result, identity).replace(
            span=span
        )

    def results(
        self, function: Callable[..., Any], variables: Sequence[prim.Var], node: ast.expr
    ) -> list[PrimExpr]:
        """What a function gives for variables, as scalars."""
        with self.at(node):
            made = function(*variables)
        values = made if isinstance(made, (tuple, list)) else (made,)
        dtype = variables[0].dtype if variables else TIR_INT_DTYPE
        return [
            self.immediate(v, dtype, node)
            if type(v) is int and dtype.is_integer
            else self.scalar(v, node)
            for v in values
        ]

    def index_map(self, node: ast.Call) -> IndexMap:
        """`T.index_map(lambda i, j: (i // 16, j, i % 16))`."""
        places = self.needed(tir_compute.index_map, node)
        dtype = self.dtype(places["index_dtype"]) if "index_dtype" in places else prim.INT64
        inverse = None
        at = places.get("inverse_index_map")
        if at is not None and not (isinstance(at, ast.Constant) and at.value is None):
            known = None if isinstance(at, ast.Lambda) else self.value(at)
            inverse = known if isinstance(known, IndexMap) else self.mapping(at, dtype)
        made = self.mapping(places["mapping"], dtype).replace(span=self.span(node))
        return made if inverse is None else made.replace(inverse_index_map=inverse)

    def mapping(self, node: ast.expr, dtype: Any) -> IndexMap:
        function = self.function_over(node, "an index map", "lambda i, j: (j, i)")
        names = self.parameter_names(function, node)
        made = tuple(prim.Var.make(n, dtype, span=self.span(node)) for n in names)
        finals = self.results(function, made, node)
        for e in finals:
            if not e.dtype.is_integer:
                raise self.error(node, "RX0502", f"an index is an integer, this gives {e.dtype}")
        return IndexMap.make(made, tuple(finals), None, span=self.span(node))

    # ---- reductions

    def reduction(self, node: ast.Call) -> Any:
        """`T.Reduce(combiner, [value], [axis], condition, index)`."""
        places = self.needed(tir_compute.Reduce, node)
        args, kwargs = self.arguments(node)
        given = dict(zip(("combiner", "src", "rdom", "condition", "value_index", "init"), args))
        given.update(kwargs)
        for name in ("src", "rdom", "init"):
            values = given.get(name)
            if values is not None and not isinstance(values, (list, tuple)):
                raise self.error(
                    places[name],
                    "RX0103",
                    f"`{name}` is a list",
                    help=f"write `[{self.written(places[name])}]`",
                    fix=f"[{self.written(places[name])}]",
                )
            rule = self.iter_var if name == "rdom" else self.scalar
            given[name] = [rule(v, places[name]) for v in values or ()]
        given["condition"] = self.condition(given["condition"], places["condition"])
        return self.guarded(tir_compute.Reduce, [], given, node).replace(span=self.span(node))

    def iter_var(self, value: Any, node: ast.AST) -> IterVar:
        """`T.iter_var(k, T.Range(0, 8), "CommReduce", "")`."""
        if isinstance(value, IterVar):
            return value
        if not isinstance(value, Form) or value.maker is not tir_compute.iter_var:
            raise self.error(
                node,
                "RX0501",
                f"an axis is needed here, this is {describe(value)}",
                help='write `T.iter_var(k, T.Range(0, 8), "CommReduce", "")`',
            )
        v, dom = value.arguments["v"], value.arguments["dom"]
        domain = None
        if dom is not None:
            domain = self.loop_range_of(*self.domain_bounds(dom, node), node)
        if isinstance(v, str):
            v = prim.Var.make(v, TIR_INT_DTYPE if domain is None else domain.extent.dtype)
        if not isinstance(v, prim.Var):
            raise self.error(
                node, "RX0501", f"the variable of an axis is needed, this is {describe(v)}"
            )
        if domain is not None and domain.extent.dtype is not v.dtype:
            domain = self.domain(self.domain_bounds(dom, node), v.dtype, node)
        kind, tag = value.arguments["iter_type"], value.arguments["thread_tag"]
        if not isinstance(kind, str) or not isinstance(tag, str):
            raise self.error(node, "RX0103", "the kind and the thread of an axis are texts")
        return IterVar.make(domain, v, kind, tag)

    # ---- threads

    def env_thread(self, target: ast.Name, form: Form, node: ast.expr) -> prim.Var:
        """`tx = T.env_thread("threadIdx.x")`: a thread that is launched later."""
        places = self.places_of(form, node)
        tag = self.known_thread(form.arguments["thread_tag"], places["thread_tag"])
        dtype = self.dtype_of(form.arguments["dtype"], places["dtype"])
        var = prim.Var.make(target.id, dtype, span=self.span(target))
        self.threads[var] = (tag, target)
        self.fixed[var] = "a thread"
        return var

    def check_launched(self, function: tir.PrimFunc) -> None:
        """Every thread is launched around its uses."""
        if not self.threads:
            return
        free = set(free_vars(function))
        for var in self.threads:
            if var in free:
                message = f"`{var.name}` has no value where nothing launches the thread"
                help = f"launch it around its uses: `with T.launch_thread({var.name}, extent):`"
                self.report(Diagnostic("RX0109", message, var.span, help=help))

    def places_of(self, form: Form, node: ast.expr) -> Places:
        return self.argument_nodes(form.maker, node) if isinstance(node, ast.Call) else Places(node)

    def launch(self, form: Form, node: ast.expr, target: ast.Name | None = None) -> prim.Var:
        """The statements after it run on several threads; the number of the thread."""
        places = self.places_of(form, node)
        thread, at = form.arguments["thread"], places["thread"]
        extent = self.thread_count(form.arguments["extent"], places["extent"])
        if isinstance(thread, prim.Var) and thread in self.threads:
            var, (tag, _) = thread, self.threads[thread]
            if extent.dtype is not var.dtype:
                extent = prim.cast(extent, var.dtype)
        elif isinstance(thread, prim.Var):
            raise self.error(
                at,
                "RX0501",
                f"`{self.written(at)}` is no thread",
                help='declare it: `tx = T.env_thread("threadIdx.x")`',
            )
        else:
            tag = self.known_thread(thread, at)
            name = _NAME.sub("_", tag) if target is None else target.id
            place = self.span(node if target is None else target)
            var = prim.Var.make(name, extent.dtype, span=place)
            self.fixed[var] = "a thread"
        span = self.span(node)
        axis = IterVar.make(
            Range.make(const(0, var.dtype), extent), var, "ThreadIndex", tag, span=span
        )
        self.items.append(
            lambda body: AttrStmt.make(axis, "thread_extent", extent, body, span=span)
        )
        return var

    def thread_count(self, value: Any, node: ast.AST) -> PrimExpr:
        """How many threads a launch starts."""
        e = self.scalar(value, node)
        if e.dtype.is_integer and e.dtype.lanes == 1:
            return e
        raise self.error(
            node, "RX0501", "the number of threads is an integer", labels=[(node, f"is {e.dtype}")]
        )

    # ---- regions

    def realize(self, form: Form, call: ast.Call) -> None:
        """The region of a buffer that exists while the statements after it run."""
        places = self.argument_nodes(form.maker, call)
        region = self.region_of(form.arguments["buffer_slice"], places["buffer_slice"])
        self.homeless.pop(region.buffer, None)
        scope = form.arguments["storage_scope"]
        if not (scope is None or isinstance(scope, str)):
            raise self.error(places["storage_scope"], "RX0103", "the scope of memory is a text")
        condition = self.condition(form.arguments["condition"], places["condition"])
        span = self.span(call)

        def opened(body: tir.Stmt) -> tir.Stmt:
            made: tir.Stmt = BufferRealize.make(
                region.buffer, region.region, condition, body, span=span
            )
            if scope is None:
                return made
            text = prim.StringImm.make(scope)
            return AttrStmt.make(region.buffer, "realize_scope", text, made, span=span)

        self.items.append(opened)
        self.realized[opened] = call

    def check_realized(self) -> None:
        """Refuse a region that exists for no statement at all."""
        call = self.realized.get(self.items[-1]) if self.items else None
        if call is not None:
            self.error(
                call, "RX0501", "`T.realize` holds the statements after it, and here are none",
                help="write what uses the buffer after it",
            )  # fmt: skip

    def prefetch(self, form: Form, call: ast.Call) -> None:
        places = self.argument_nodes(form.maker, call)
        buffer, bounds = form.arguments["buffer"], form.arguments["bounds"]
        at = places["bounds"]
        if not isinstance(buffer, Buffer):
            raise self.error(
                places["buffer"], "RX0501", f"this is {describe(buffer)}, not a buffer"
            )
        if not isinstance(bounds, (list, tuple)):
            raise self.error(
                at,
                "RX0103",
                "the region is a list with a range for each axis",
                help="write `[T.Range(0, 4)]`",
            )
        if bounds and len(bounds) != buffer.ndim:
            raise self.error(
                at,
                "RX0503",
                f"`{buffer.name}` has {counted(buffer.ndim, 'axis', 'axes')}, not {len(bounds)}",
            )
        nodes = at.elts if isinstance(at, (ast.List, ast.Tuple)) else [at] * len(bounds)
        ranges = tuple(
            self.loop_range_of(*self.domain_bounds(b, n), n) for b, n in zip(bounds, nodes)
        )
        self.items.append(Prefetch.make(buffer, ranges, span=self.span(call)))
