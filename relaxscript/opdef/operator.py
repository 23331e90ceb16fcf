"""The definition of an operator, which gives script, IR, StructInfo and numpy meaning.

    @op(symbol="@")
    def matmul(x1: Tensor, x2: Tensor, out_dtype: DType | None = None) -> Tensor:
        '''Matrix product; leading axes broadcast as in numpy.'''
        return np.matmul(x1, x2, dtype=...)          # the meaning, in numpy

    @matmul.infer_rule
    def _(context, x1, x2, out_dtype=None):          # the StructInfo of the result
        ...

The signature is the schema (`parameters.py` has the words for annotations), the body the meaning,
`traits` what passes ask for (`traits.py`). Rules of every kind are in one table, `rules`. A rule
for inference gets the attributes, and the StructInfo of each operand. That is already of the kind
that the annotation asks for. The rule never sees places in a source: it raises `OperandError` with
names of operands, and hands what it cannot decide to `context.require` as a `DeferredCheck`.

In the call, operands are in the order of the parameters (or of `order`). All attributes are
stored, defaults included, so that one call has one form. Everything that is the same for every call
is worked out when the operator is defined: `build` and `infer` are on the path of every parser and
pass. Start reading at `Operator`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from relaxscript.arguments import REQUIRED, ArgumentError, missing_arguments
from relaxscript.dtypes import DataType
from relaxscript.errors import InternalError, OperandError, UnplacedError, nearest
from relaxscript.ir.relax import Attrs, Call, Expr, Op
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    PrimStructInfo,
    StructInfo,
    TensorStructInfo,
)
from relaxscript.runtime.values import make_prim, prim_dtype

from . import eager, operands
from .call_layout import CallLayout
from .compute import Accuracy
from .context import InferContext
from .distributed import DistributedOperand, infer_distributed
from .documentation import Documentation, python_signature
from .parameters import Parameter, convert_attribute, is_kept, read_parameters, signature_of
from .traits import Trait, read_traits

if TYPE_CHECKING:
    import inspect


__all__ = [
    "REGISTRY", "Operator", "RuleKind", "lookup", "op", "operator_named", "register", "symbols",
    "traits_of",
]  # fmt: skip

# What can be declared of an operator beside its schema and traits:
#   meaning     what it computes, on values
#   prepare     what is done with the arguments, by parameter, before they are converted
#   attributes  what attributes are refused whatever the operands are
#   canonical   the one form of attributes that mean the same
#   operands    what operands are refused as they are written
#   infer       the StructInfo of the result, from that of the operands
#   infer_call  the same, from the whole call
#   prims       the scalar that scalars alone give
#   normalize   the normal form of a call
#   compute     the elements of the result, as tensor expressions
#   gradient    the gradients of the operands, from that of the result
#   mixed_precision  the call on operands of a lower dtype
#   layout      the call on operands whose axes are in another order
#   decompose   the simpler operators that it is composed of
RuleKind = Literal[
    "meaning", "prepare", "attributes", "canonical", "operands", "infer", "infer_call", "prims",
    "normalize", "compute", "gradient", "mixed_precision", "layout", "decompose",
]  # fmt: skip
_Rule = TypeVar("_Rule", bound=Callable[..., Any])


class Operator:
    """A built-in operator of Relax.

    Called with a Relax expression among the arguments, or with no array, it builds the `Call`;
    called with numpy arrays it computes. Raises `DiagnosticError` for operands that do not go
    together and for arguments that do not fit the signature (which is a TypeError, too).
    """

    def __init__(
        self,
        name: str,
        meaning: Callable[..., Any],
        *,
        symbol: str | None = None,
        traits: Iterable[str] = (),
        order: tuple[str, ...] = (),
        alike: tuple[str, ...] | None = None,
        parameters: tuple[Parameter, ...] | None = None,
    ) -> None:
        self.script_name = name
        self.name = f"relax.{name}"
        self.__name__ = self.__qualname__ = name.rpartition(".")[2]
        self.__module__ = getattr(meaning, "__module__", "numpy")  # ufuncs of numpy 2.0 have none
        self.summary = meaning.__doc__
        self.op = Op.make(self.name)
        self.symbol = symbol
        self.traits = read_traits(self.name, traits)
        self.pure = Trait.IMPURE not in self.traits
        self.parameters = read_parameters(meaning) if parameters is None else parameters
        self.rules: dict[RuleKind, Callable[..., Any]] = {"meaning": meaning}
        # Why there is no rule of a kind that others have: the elements of a result whose shape
        # depends on data cannot be computed by loops, for example.
        self.reasons: dict[RuleKind, str] = {}
        # The packed function that loops would call where they cannot be.
        self.packed: str | None = None
        # A call for the page of the operator, as `script/pages/examples.py` says it.
        self.example: str | None = None
        # How far the compute may be away from the meaning.
        self.accuracy = Accuracy()
        self._signature = signature_of(f"R.{name}", self.parameters)
        self._is_data = all(p.kind not in ("callee", "sinfo") for p in self.parameters)
        self._layout = CallLayout(self.parameters, order)
        tensors = [p.name for p in self.parameters if p.wants in ("tensor", "scalar")]
        self._alike = tuple(tensors) if alike is None else alike
        self._attributes = tuple(p for p in self.parameters if p.kind == "attribute")
        optional = [p for p in self._attributes if p.default is not REQUIRED]
        given = {p.name: convert_attribute(p, p.default) for p in optional}
        complete = len(given) == len(self._attributes)
        self._defaults: dict[str, Any] = given
        self._default_attrs = Attrs(given) if given and complete else None
        # The number of operands where all are plain tensors and nothing else must be given.
        self._plain = self._layout.fast_arity if complete else -1

    # ------------------------------------------------------------ definition

    def rule(self, kind: RuleKind) -> Callable[[_Rule], _Rule]:
        """Declare the rule of a kind, as `infer_rule` and its like do for theirs."""

        def declare(rule: _Rule) -> _Rule:
            self.rules[kind] = rule
            return rule

        return declare

    def infer_rule(self, rule: _Rule) -> _Rule:
        """Declare the rule: `rule(context, *struct_infos, **attributes) -> StructInfo`."""
        return self.rule("infer")(rule)

    def infer_call_rule(self, rule: _Rule) -> _Rule:
        """Declare a rule that looks at the whole call: `rule(context, call) -> StructInfo`."""
        return self.rule("infer_call")(rule)

    def prim_rule(self, rule: _Rule) -> _Rule:
        """Declare that scalars alone give a scalar: `rule(*struct_infos)`."""
        return self.rule("prims")(rule)

    def prepare_rule(self, rule: _Rule) -> _Rule:
        """Declare what is done with the arguments: `rule(by_parameter) -> by_parameter`."""
        self._plain = -1
        return self.rule("prepare")(rule)

    def attribute_rule(self, rule: _Rule) -> _Rule:
        """Declare what attributes are refused whatever the operands are: `rule(**attributes)`.

        It is asked when the call is made, and of calls that are made by hand when they are typed.
        """
        return self.rule("attributes")(rule)

    def canonical_rule(self, rule: _Rule) -> _Rule:
        """Declare the one form of attributes that mean the same: `rule(**given) -> changed`."""
        self._defaults.update(rule(**self._defaults))
        self._default_attrs = Attrs(self._defaults)
        return self.rule("canonical")(rule)

    def operand_rule(self, rule: _Rule) -> _Rule:
        """Declare what operands are refused as they are written: `rule(**expressions)`."""
        return self.rule("operands")(rule)

    def normalize_rule(self, rule: _Rule) -> _Rule:
        """Declare the normal form of calls of this operator: `rule(call) -> Call`."""
        return self.rule("normalize")(rule)

    def mixed_precision_rule(self, rule: _Rule) -> _Rule:
        """Declare the call on operands of a lower dtype: `rule(call, out_dtype) -> Call`."""
        return self.rule("mixed_precision")(rule)

    def layout_rule(self, rule: _Rule) -> _Rule:
        """Declare the call on operands whose axes are in another order: `layout.py` says how."""
        return self.rule("layout")(rule)

    def compute(
        self, *, ulp: float = 0, sums: float = 0, terms: Callable[..., Any] | None = None
    ) -> Callable[[_Rule], _Rule]:
        """Declare the elements of the result: `rule(context, *tensors, **attributes)`.

        Tensors are `te.Tensor`s; `compute.py` says what other operands are. A compute gives the
        bits of the meaning, unless `ulp` or `sums` say how far away it may be (`Accuracy`).
        """
        self.accuracy = Accuracy(ulp, sums, terms)
        return self.rule("compute")

    def lacks(self, kind: RuleKind, reason: str, *, packed: bool = False) -> None:
        """Say why there is no rule of a kind: "its results are integers".

        An operator that is `packed` is legalised to a call of its meaning, the packed function
        "relax.run." with its name.
        """
        self.reasons[kind] = reason
        if packed:
            self.packed = f"relax.run.{self.script_name}"

    def gradient(self, rule: _Rule) -> _Rule:
        """Declare the gradients of the operands: `rule(context, *operands, **attributes)`.

        `gradient.py` says what it is called with. A rule gives an expression for each operand.
        """
        return self.rule("gradient")(rule)

    @property
    def function(self) -> Callable[..., Any]:
        """The meaning as it is written."""
        return self.rules["meaning"]

    @property
    def fast_arity(self) -> int:
        """The number of expressions that make a whole call with `default_attrs`, or -1."""
        return self._plain

    @property
    def default_attrs(self) -> Attrs | None:
        """The attributes of a call that gives none."""
        return self._default_attrs

    @property
    def has_rule(self) -> bool:
        """True if there is a rule for the StructInfo of results."""
        return "infer" in self.rules or "infer_call" in self.rules

    # ------------------------------------------------------------ calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._is_data and eager.is_eager((args, kwargs)):
                return eager.run(self, args, kwargs)
            return self.build(args, kwargs)
        except UnplacedError as error:
            raise error.as_diagnostic_error(f"R.{self.script_name}", None) from None

    def build(self, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> Call:
        """The call of this operator with these arguments, converted as `operands.py` says.

        Raises `ArgumentError` and `OperandError`; whether the operands go together is `infer`'s
        business.
        """
        if not kwargs and len(args) == self._plain and "operands" not in self.rules:
            for arg in args:
                if not isinstance(arg, Expr):
                    break
            else:
                return Call.make(self.op, tuple(args), self._default_attrs)
        return self._build(args, kwargs or {})

    def _build(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        bound = self._signature.bind(args, kwargs)
        if "prepare" in self.rules:
            bound = self.rules["prepare"](bound)
        expressions: dict[str, Any] = {}
        sinfo_args: tuple[StructInfo, ...] = ()
        for parameter in self.parameters:
            value = bound[parameter.name]
            if parameter.kind == "sinfo":
                sinfo_args = operands.convert_sinfo(parameter, value)
            elif parameter.is_operand:
                expressions[parameter.name] = self._operand(parameter, value, bound)
        named = {p.name: convert_attribute(p, bound[p.name]) for p in self._attributes}
        self._require_attributes(named)
        if "canonical" in self.rules:
            named |= self.rules["canonical"](**named)
        if "operands" in self.rules:
            self.rules["operands"](**expressions)
        arranged = self._layout.arrange(expressions)
        return Call.make(self.op, arranged, self._attrs_of(named), sinfo_args)

    def _attrs_of(self, named: Mapping[str, Any]) -> Attrs | None:
        """Attributes that were converted: inference need not do it again."""
        if not named:
            return None
        attrs = Attrs(named)
        if all(is_kept(value, attrs[name]) for name, value in named.items()):
            attrs.converted = self, named
        return attrs

    def mistakes(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], unknown: object
    ) -> Iterator[ArgumentError | OperandError]:
        """Every mistake of a call by itself, where arguments that are `unknown` make none."""
        yield from self._signature.misfits(args, kwargs)
        if "prepare" in self.rules:
            return  # it may read attributes together with what is unknown
        given = self._signature.given(args, kwargs)
        known = dict(self._defaults)
        for parameter in self._attributes:
            value = given.get(parameter.name, known.get(parameter.name, unknown))
            known.pop(parameter.name, None)
            if value is not unknown:
                try:
                    known[parameter.name] = convert_attribute(parameter, value)
                except OperandError as error:
                    yield error
        if len(known) == len(self._attributes):
            try:
                self._require_attributes(known)
            except OperandError as error:
                yield error

    def _operand(self, parameter: Parameter, value: Any, bound: Mapping[str, Any]) -> Any:
        def alike() -> DataType | None:
            return self._dtype_beside(parameter.name, bound)

        match parameter.kind:
            case "operand":
                return operands.convert_operand(parameter, value, alike)
            case "optional":
                given = value is not None
                return operands.convert_operand(parameter, value, alike) if given else None
            case "tensors" if value is None and not parameter.is_required:
                return None
            case "tensors":
                return operands.convert_tensors(parameter, value, alike)
            case "rest" | "spread":
                return operands.convert_many(parameter, value, alike)
            case "shape":
                return operands.convert_shape(parameter, value)
            case "text":
                return operands.convert_text(parameter, value)
            case "dtype":
                return operands.convert_dtype(parameter, value)
        return operands.convert_callee(parameter, value)

    def _dtype_beside(self, name: str, bound: Mapping[str, Any]) -> DataType | None:
        if name not in self._alike:
            return None
        others: list[Any] = []
        for other in self._alike:
            value = bound[other]
            others.extend(value if isinstance(value, (list, tuple)) else (value,))
        return operands.dtype_among(others)

    def arguments(self, call: Call) -> list[tuple[Parameter, Any]]:
        """The argument of each parameter; the inverse of `build`.

        Operands are expressions, None where left out, and a tuple for a `rest` parameter.
        Attributes are the values that the call keeps. StructInfo arguments are one StructInfo or a
        tuple of several.
        """
        given = self._layout.split(self, call)
        given.update(self.attributes(call))
        for parameter in self.parameters:
            if parameter.kind == "sinfo":
                infos = call.sinfo_args
                given[parameter.name] = infos[0] if len(infos) == 1 else (infos or None)
        return [(parameter, given[parameter.name]) for parameter in self.parameters]

    def operand_places(self, count: int) -> list[tuple[str, int | slice]]:
        """The place of each operand that is given among `count` arguments, by its name."""
        places = zip(self._layout.operands, self._layout.spread(count))
        return [(operand.name, place) for operand, place in places if place is not None]

    def operand_names(self, call: Call) -> tuple[str, ...]:
        """The name by which a rule blames each of `call.args`: "x1", or "values[0]"."""
        return self._layout.names(len(call.args))

    def attributes(self, call: Call) -> dict[str, Any]:
        """The attributes of a call by name; those that a call made by hand leaves out are added."""
        attrs = call.attrs
        if attrs is self._default_attrs or not attrs:
            if len(self._defaults) != len(self._attributes):
                missing = next(p.name for p in self._attributes if p.name not in self._defaults)
                raise missing_arguments(f"R.{self.script_name}", [missing])
            return dict(self._defaults)
        by, known = attrs.converted
        if by is self:
            return dict(known)
        named = {}
        for parameter in self._attributes:
            value = attrs.get(parameter.name, parameter.default)
            if value is REQUIRED:
                raise missing_arguments(f"R.{self.script_name}", [parameter.name])
            # Calls made by hand may hold a list or a number where others hold a tuple.
            named[parameter.name] = convert_attribute(parameter, value)
        self._require_attributes(named)
        attrs.converted = self, dict(named)
        return named

    def _require_attributes(self, attributes: Mapping[str, Any]) -> None:
        """Raise `OperandError` for attributes that are refused whatever the operands are."""
        rule = self.rules.get("attributes")
        if rule is not None:
            rule(**attributes)

    def normalize(self, call: Call) -> Call:
        """The call in this operator's own normal form; most have none."""
        rule = self.rules.get("normalize")
        if rule is None:
            return call
        self._layout.check_count(self, len(call.args))  # one by hand may have too few operands
        normal: Call = rule(call)
        return normal

    # ------------------------------------------------------------ StructInfo

    def infer(self, call: Call, context: InferContext) -> StructInfo:
        """The StructInfo of a call of this operator.

        Raises `OperandError` for operands that never go together. Gives `context.require` a
        `DeferredCheck` for what depends on the values of shape variables.
        """
        try:
            return self._infer_plain(call, context)
        except DistributedOperand:
            return infer_distributed(self, call, context)

    def _infer_plain(self, call: Call, context: InferContext) -> StructInfo:
        args = call.args
        rule: Callable[..., StructInfo] | None = self.rules.get("infer")
        if rule is None or len(args) != self._plain:
            return self._infer(call, context)
        struct_info = context.struct_info
        infos = [struct_info(arg) for arg in args]
        for info in infos:
            if info.__class__ is not TensorStructInfo:
                if "prims" in self.rules and all(isinstance(i, PrimStructInfo) for i in infos):
                    return self._of_prims(infos)
                infos = self._layout.tensors(infos)
                break
        if call.attrs is self._default_attrs:
            return rule(context, *infos, **self._defaults)
        return rule(context, *infos, **self.attributes(call))

    def _of_prims(self, infos: Sequence[StructInfo]) -> StructInfo:
        found: StructInfo = self.rules["prims"](*infos)
        return found

    def _infer(self, call: Call, context: InferContext) -> StructInfo:
        of_call, rule = self.rules.get("infer_call"), self.rules.get("infer")
        found: StructInfo
        if of_call is not None:
            self._layout.check_count(self, len(call.args))
            found = of_call(context, call)
        elif rule is not None:
            infos = self.operand_infos(call, context)
            found = rule(context, *infos, **self.attributes(call))
        else:
            found = ObjectStructInfo()
        return found

    def operand_infos(self, call: Call, context: InferContext) -> list[Any]:
        """The StructInfo of each operand, checked to be of the kind that its parameter asks for.

        In the order of the parameters: a StructInfo, None for an operand that is left out, a tuple
        for several.
        """
        return self._layout.infos(self, call, context)

    # ------------------------------------------------------------ meaning

    def meaning(self, *values: Any, **attributes: Any) -> Any:
        """Compute the operator on numpy arrays and other run-time values.

        Results are new C-contiguous arrays, rank 0 included; nothing is reported for overflow or
        division by zero. What is given as it is (`Trait.AS_IS`) is returned untouched.
        """
        return self.prepare(attributes)(*values)

    def prepare(self, attributes: Mapping[str, Any]) -> Callable[..., Any]:
        """`meaning` with its attributes given: for calls that are made again and again."""
        function = functools.partial(self.function, **attributes) if attributes else self.function
        return function if Trait.AS_IS in self.traits else eager.make_quiet(function)

    def bare(self, attributes: Mapping[str, Any]) -> Callable[..., Any] | None:
        """`meaning` as it is written, for who runs it quietly and finishes what it gives.

        None where it is to be left untouched: it may call a function, and that have effects.
        """
        if Trait.AS_IS in self.traits:
            return None
        return functools.partial(self.function, **attributes) if attributes else self.function

    def evaluate(
        self, call: Call, values: Sequence[Any], sinfo: Any = None,
        function: Callable[..., Any] | None = None,
    ) -> Any:  # fmt: skip
        """The value of `call`, given those of `call.args` in their order.

        A tuple is a Python tuple, a shape a `runtime.values.Shape`. A scalar is as `make_prim`
        gives it, a callee a Python callable. `sinfo` describes the results where the operator has
        StructInfo arguments: a TensorStructInfo whose dimensions are numbers, or a tuple of these.
        `function` is computed in the place of the meaning, where it is given.
        """
        positional, keywords = self._layout.values(values)
        attributes = self.attributes(call) if self._attributes else {}
        for parameter in self.parameters:
            if parameter.kind == "sinfo":
                attributes[parameter.name] = sinfo
        if function is not None:
            return function(*positional, **keywords, **attributes)
        result = self.meaning(*positional, **keywords, **attributes)
        if "prims" not in self.rules or any(prim_dtype(value) is None for value in values):
            return result
        return make_prim(result.item(), result.dtype.name)

    # ------------------------------------------------------------ Python

    @property
    def __signature__(self) -> inspect.Signature:
        return python_signature(self.parameters)

    def __repr__(self) -> str:
        return f"R.{self.script_name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (operator_named, (self.name,))


Operator.__doc__ = Documentation(Operator.__doc__)  # type: ignore[assignment]


REGISTRY: dict[str, Operator] = {}


def op(
    name: str | None = None,
    *,
    symbol: str | None = None,
    traits: Iterable[str] = (),
    order: tuple[str, ...] = (),
    alike: tuple[str, ...] | None = None,
) -> Callable[[Callable[..., Any]], Operator]:
    """Define an operator by its meaning.

    `name` is the name in script, where it differs from the function's; `symbol` the Python operator
    that means it; `traits` are what passes ask for; `order` the order of its operands in the call,
    where it is not that of the parameters; `alike` the operands that share a dtype, which a
    number among them takes.
    """

    def define(meaning: Callable[..., Any]) -> Operator:
        return register(
            Operator(
                name or meaning.__name__,
                meaning,
                symbol=symbol,
                traits=traits,
                order=order,
                alike=alike,
            )
        )

    return define


def register(operator: Operator) -> Operator:
    """Add an operator to the registry; its name must be new."""
    if operator.name in REGISTRY:
        raise InternalError(f"the operator `{operator.name}` is defined twice")
    REGISTRY[operator.name] = operator
    return operator


def operator_named(name: str) -> Operator:
    """The operator of a full name such as "relax.add"; raises `ArgumentError` with a near one."""
    if not isinstance(name, str):
        raise ArgumentError(f'an operator is named by a string such as "relax.add", not {name!r}')
    found = REGISTRY.get(name)
    if found is None:
        near = nearest(name, list(REGISTRY))
        raise ArgumentError(f"there is no operator `{name}`", meant=near)
    return found


def lookup(op_node: Op) -> Operator:
    """The operator that an Op node names; raises `ArgumentError` where there is none."""
    return REGISTRY.get(op_node.name) or operator_named(op_node.name)


def traits_of(callee: Expr) -> frozenset[Trait]:
    """The traits of what a call calls; none where that is no operator, or an unknown one."""
    operator = REGISTRY.get(callee.name) if isinstance(callee, Op) else None
    return _NO_TRAITS if operator is None else operator.traits


_NO_TRAITS: frozenset[Trait] = frozenset()


def symbols() -> Iterable[Operator]:
    """The operators that a symbol of Python means."""
    return [operator for operator in REGISTRY.values() if operator.symbol is not None]
