"""IR nodes: frozen records of fields, declared once, compared by identity.

`@node` reads the annotations of a class and generates two ways to make one:

* the constructor, which converts what people write (lists to tuples, numbers to immediates, the
  text of a dtype to a `DataType`) and refuses what no field can hold, naming the field, and
* `make`, which converts and checks nothing, for the builder, the parser and passes.

Everything else about nodes is a function over `fields_of`: traversal and rewriting in `walk.py`,
equality and hashing in `structural_equality.py`. A field may be declared with `field(...)`:

* `definition=True`: variables met here for the first time are defined here (parameters, the left
  side of a binding, loop variables), which is all that equality and substitution need to know;
* `first=True`: visited before the fields that use what it holds, as definitions always are;
* `outer=True`: evaluated before the definitions of this node, so it cannot see them;
* `place=True`: where something was in the source. Places take no part in equality, hashing or
  traversal.

Nodes are frozen, so a pass can never reach back and damage its input.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from inspect import Parameter, Signature
from operator import attrgetter
from types import CodeType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from .display import Displayable, plain, show
from .field_types import Expected, expected, natural_converter, refuse, refuse_conversion
from .pickling import flatten, restore

if sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:
    from typing_extensions import dataclass_transform

if TYPE_CHECKING:
    from typing_extensions import Self

    from relaxscript.errors import Span

__all__ = [
    "NODE_CLASSES", "Converter", "FieldInfo", "Node", "expected_by", "field", "fields_of",
    "full_name", "maker_of", "node", "traversal_of",
]  # fmt: skip

Converter = Callable[[Any], Any]
N = TypeVar("N", bound="type[Node]")

_MISSING: Any = object()

# Our classes of nodes by their full names, each entered where it is declared.
NODE_CLASSES: dict[str, type[Node]] = {}


class FieldInfo:
    """The behaviour of one field of a node."""

    __slots__ = (
        "annotation", "convert", "default", "definition", "first", "leaf", "name", "outer", "place",
    )  # fmt: skip

    def __init__(
        self,
        default: Any = _MISSING,
        convert: Converter | None = None,
        definition: bool = False,
        first: bool = False,
        place: bool = False,
        outer: bool = False,
    ) -> None:
        self.name = ""
        self.annotation = ""
        self.leaf = False
        self.outer = outer
        self.first = first or definition
        self.default = default
        self.convert = convert
        self.definition = definition
        self.place = place


def field(
    *,
    default: Any = _MISSING,
    convert: Converter | None = None,
    definition: bool = False,
    first: bool = False,
    place: bool = False,
    outer: bool = False,
) -> Any:
    """Declare a field that converts, defines variables or is a place in the source."""
    return FieldInfo(default, convert, definition, first, place, outer)


class _ConstructorSignature:
    """The parameters of a node's constructor, which is generated when it is first called."""

    def __get__(self, node: Node | None, cls: type[Node]) -> Signature:
        if node is not None:
            # What can be called, such as a function, has a signature of its own.
            raise AttributeError("__signature__")
        kind = Parameter.POSITIONAL_OR_KEYWORD
        parameters = [
            Parameter(f.name, kind, default=Parameter.empty if f.default is _MISSING else f.default)
            for f in cls._fields
        ]
        return Signature([*parameters, Parameter("span", Parameter.KEYWORD_ONLY, default=None)])


class Node(Displayable):
    """Anything in the IR. Every node has a `span`, which is None when nothing is known."""

    __slots__ = ("span",)

    span: Span | None
    _fields: tuple[FieldInfo, ...] = ()
    _traversal: tuple[FieldInfo, ...] = ()
    # The names of the fields and of the span, and what reads these of a node.
    _names: tuple[str, ...] = ("span",)
    _values: Callable[[Any], tuple[Any, ...]] = staticmethod(lambda node: (node.span,))
    # What the fields may hold, known once somebody asks.
    _expected: Mapping[str, Expected | None] | None = None
    # Whether definitions inside end with this node.
    is_scope = False
    # Whether StructInfos are parts of it.
    is_compound = False
    # Whether one object is one thing: a variable, for example.
    keeps_identity = False
    __match_args__: tuple[str, ...] = ()
    __signature__ = _ConstructorSignature()

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            raise AttributeError(f"{type(self).__name__} is frozen: use `replace({name}=...)`")

        def __delattr__(self, name: str) -> None:
            raise AttributeError(f"{type(self).__name__} is frozen")

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, or this node itself when nothing differs.

        Raises `TypeError` for a name that is not a field.
        """
        cls = self.__class__
        wanted = cls._expected or expected_by(cls)
        # Most of what rewriting costs: all fields are read at once, by a function made once.
        values = dict(zip(cls._names, cls._values(self)))
        differs = False
        for name, new in changes.items():
            if name not in values:
                raise TypeError(f"{type(self).__name__} has no field `{name}`")
            differs = differs or values[name] is not new
        if not differs:
            return self
        values.update(changes)
        for name, new in changes.items():
            if (kind := wanted.get(name)) is not None and not kind.admits(new):
                # Something that has to be converted, or to be refused.
                return cls(**values)
        return cls.make(**values)

    def same_as(self, other: object) -> bool:
        """True if `other` is this very object; StructInfos and types compare what they say."""
        return self is other

    if TYPE_CHECKING:

        @classmethod
        def make(cls, *args: Any, **kwargs: Any) -> Self:
            """The same as the constructor, but converts nothing."""
            ...

    def __reduce__(self) -> tuple[Any, ...]:
        return (restore, flatten(self))

    def __copy__(self) -> Self:
        return self

    def __repr__(self) -> str:
        return show(self) or plain(self)


def full_name(cls: type) -> str:
    """The name of a class with its place in the package: "ir.relax.Call"."""
    return f"{cls.__module__.removeprefix(_PACKAGE)}.{cls.__qualname__}"


_PACKAGE = f"{__name__.partition('.')[0]}."


def fields_of(cls: type[Node]) -> tuple[FieldInfo, ...]:
    """The fields of a node class in their order, `span` excluded."""
    return cls._fields


def traversal_of(cls: type[Node]) -> tuple[FieldInfo, ...]:
    """The fields that are part of the structure, definitions before their uses."""
    return cls._traversal


def maker_of(cls: type[Node]) -> Callable[..., Node]:
    """A function of all fields and the span that makes nodes as `make` does, and generates nothing.

    It is for whoever makes a few nodes of many classes.
    """
    names = [*(f.name for f in cls._fields), "span"]
    setters = [getattr(cls, name).__set__ for name in names]
    slots = dict.fromkeys(n for base in cls.__mro__ for n in getattr(base, "_cached_slots", ()))
    derived: dict[str, Callable[..., Any]] = getattr(cls, "_derived", {})
    rules = [(getattr(cls, name).__set__, derived.get(name)) for name in slots]

    def make(*values: Any) -> Node:
        made = object.__new__(cls)
        for write, value in zip(setters, values, strict=True):
            write(made, value)
        for write, rule in rules:
            write(
                made, None if rule is None else rule(*[getattr(made, n) for n in _operands(rule)])
            )
        return made

    return make


def _operands(rule: Callable[..., Any]) -> tuple[str, ...]:
    """The fields that a derived slot is a function of."""
    return rule.__code__.co_varnames[: rule.__code__.co_argcount]


# Fields of these types hold no nodes, so traversal passes them by.
_LEAF_TYPES = frozenset({"str", "int", "bool", "float", "DataType", "np.ndarray[Any, Any]"})


def _own_fields(cls: type) -> Iterator[FieldInfo]:
    for name, annotation in cls.__annotations__.items():
        declared = cls.__dict__.get(name, _MISSING)
        info = declared if isinstance(declared, FieldInfo) else FieldInfo(declared)
        info.name = name
        info.annotation = annotation
        info.leaf = annotation in _LEAF_TYPES
        info.convert = info.convert or natural_converter(annotation)
        yield info


def _signature(fields: Sequence[FieldInfo]) -> str:
    parts = [f.name if f.default is _MISSING else f"{f.name}=_d_{f.name}" for f in fields]
    return ", ".join([*parts, "span=None"])


def _constructor(fields: Sequence[FieldInfo], spelled: bool) -> list[str]:
    """The first lines of the constructor, up to where all fields are local variables."""
    if not spelled:
        return [f"def __init__(self, {_keyword_signature(fields)}):"]
    names = "".join(f"{f.name}, " for f in fields)
    defaults = "".join(f"{f.name}=None, " for f in fields)
    return [
        f"def __init__(self, *_operands, {defaults}span=None, **_named):",
        f"    if _operands or _named or any(v is None for v in ({names})):",
        f"        {names} = _spelled(*_operands, **_named)",
    ]


def _keyword_signature(fields: Sequence[FieldInfo]) -> str:
    # Only by keyword: where TVM has one more positional field, it must not be taken for a span.
    return _signature(fields).replace("span=None", "*, span=None")


def _source(
    fields: Sequence[FieldInfo],
    slots: Sequence[str],
    derived: dict[str, Callable[..., Any]],
    arranged: bool,
    spelled: bool,
    checked: Sequence[str] | None,
) -> str:
    # A slot is written through its descriptor: the class itself refuses assignment.
    writes = [f"    _set_{f.name}(self, {f.name})" for f in fields] + ["    _set_span(self, span)"]
    writes += [f"    _set_{name}(self, None)" for name in slots if name not in derived]
    for name, rule in derived.items():
        writes.append(f"    _set_{name}(self, _derive_{name}({', '.join(_operands(rule))}))")
    if checked is not None:
        head = _constructor(fields, spelled) + _admission(fields, arranged, checked)
        tail = "_check(self)"
    else:
        head, tail = [f"def make({_signature(fields)}):", "    self = _new(_cls)"], "return self"
    return "\n".join([*head, *writes, f"    {tail}"])


def _admission(fields: Sequence[FieldInfo], arranged: bool, checked: Sequence[str]) -> list[str]:
    """The lines of the constructor that convert the fields and see that they can hold the values.

    They are few and short, since most of what a constructor costs in a program is its compilation.
    """
    names = "".join(f"{f.name}, " for f in fields)
    converts = [f"        {f.name} = _c_{f.name}({f.name})" for f in fields if f.convert]
    if arranged:
        converts.append(f"        {names} = _arrange({names})")
    if converts:
        refusal = f"        raise _refuse_conversion(_cls, _converters, ({names}), error) from None"
        failed = "    except (TypeError, ValueError, KeyError, IndexError) as error:"
        converts = ["    try:", *converts, failed, refusal]
    checks = [f"    _a_{name}({name}) or _refused('{name}', {name})" for name in checked]
    return [*converts, *checks]


def _refused(made: type[Node], kinds: Mapping[str, Expected], name: str, value: Any) -> NoReturn:
    """Refuse a value that a field cannot hold."""
    raise refuse(made, name, kinds[name], value)


def _no_check(_: Node) -> None:
    return None


@dataclass_transform(field_specifiers=(field,), frozen_default=True, eq_default=False)
def node(cls: N) -> N:
    """Make a node class of a class whose annotations are its fields.

    `__cached__` names extra slots that start as None and hold facts found later; `__derived__`
    maps a slot to a function of some of the fields, evaluated whenever a node is made. A static
    method `_arrange` converts several fields together (it takes and returns all of them). Another,
    `_spelled`, makes fields of operands where the constructor takes something else. A method
    `_check` is called by the constructor after conversion and may refuse what cannot be.
    """
    own = list(_own_fields(cls))
    inherited_fields: tuple[FieldInfo, ...] = getattr(cls.__mro__[1], "_fields", ())
    fields = (*inherited_fields, *own)
    derived: dict[str, Callable[..., Any]] = dict(cls.__dict__.get("__derived__", {}))
    cached = (*cls.__dict__.get("__cached__", ()), *derived)
    namespace = {
        key: value
        for key, value in cls.__dict__.items()
        if key
        not in {"__dict__", "__weakref__", "__cached__", "__derived__", *(f.name for f in own)}
    }
    namespace["__slots__"] = (*(f.name for f in own), *cached)
    namespace["_fields"] = fields
    namespace["_own"] = tuple(own)
    namespace["_expected"] = None
    if fields:
        namespace["_names"] = names = (*(f.name for f in fields), "span")
        namespace["_values"] = attrgetter(*names)
    structure = [f for f in fields if not f.place]
    namespace["_traversal"] = tuple(sorted(structure, key=lambda f: not f.first))
    namespace["__match_args__"] = tuple(f.name for f in fields if not f.place)
    meta: Any = type(cls)
    made: Any = meta(cls.__name__, cls.__bases__, namespace)
    inherited = [name for base in made.__mro__[1:] for name in getattr(base, "_cached_slots", ())]
    made._cached_slots = cached
    for base in made.__mro__[1:]:
        derived = {**getattr(base, "_derived", {}), **derived}
    made._derived = derived
    made.__init__, made.make = _on_first_use(made, list(dict.fromkeys([*cached, *inherited])))
    if made.__module__.startswith(_PACKAGE):
        NODE_CLASSES[full_name(made)] = made
    return made  # type: ignore[no-any-return]


def _on_first_use(
    made: Any, slots: list[str]
) -> tuple[Callable[..., None], staticmethod[..., Any]]:
    """Stand-ins for the constructor and `make`, which generate the real ones when called.

    Most programs use a third of the node classes, and half of these by `make` only. Generating all
    of them at import took 12 ms.
    """

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        made.__init__ = _generate(made, slots, "__init__")
        made.__init__(self, *args, **kwargs)

    def make(*args: Any, **kwargs: Any) -> Any:
        function = _generate(made, slots, "make")
        made.make = staticmethod(function)
        return function(*args, **kwargs)

    return __init__, staticmethod(make)


def expected_by(made: Any) -> Mapping[str, Expected | None]:
    """The values that each field of a class may hold; found out when first asked for."""
    made._expected = {info.name: _expected_of(made, info) for info in made._fields}
    found: Mapping[str, Expected | None] = made._expected
    return found


def _expected_of(made: type, info: FieldInfo) -> Expected | None:
    if info.place or not info.annotation:
        return None
    owner = next(cls for cls in made.__mro__ if info in cls.__dict__.get("_own", ()))
    default = info.default
    if default is None and info.convert is not None:
        with contextlib.suppress(TypeError, ValueError):  # it says what None stands for
            default = info.convert(None)
    return expected(owner, info.annotation, default)


def _generate(made: Any, slots: list[str], name: str) -> Any:
    """The constructor of a class, or its `make`."""
    fields: tuple[FieldInfo, ...] = made._fields
    derived: dict[str, Callable[..., Any]] = made._derived
    arrange = getattr(made, "_arrange", None)
    scope: dict[str, Any] = {"_new": object.__new__, "_cls": made, "_arrange": arrange}
    for slot in (*(f.name for f in fields), "span", *slots):
        scope[f"_set_{slot}"] = getattr(made, slot).__set__
    scope |= {f"_derive_{slot}": rule for slot, rule in derived.items()}
    scope |= {f"_d_{info.name}": info.default for info in fields}
    spelled = getattr(made, "_spelled", None)
    checked: list[str] | None = None
    if name == "__init__":
        expectations = made._expected or expected_by(made)
        scope |= {f"_c_{info.name}": info.convert for info in fields}
        kinds = {field: kind for field, kind in expectations.items() if kind is not None}
        checked = list(kinds)
        scope |= {f"_a_{field}": kind.admits for field, kind in kinds.items()}
        scope["_converters"] = [(f.name, f.convert, expectations[f.name]) for f in fields]
        scope["_refused"] = partial(_refused, made, kinds)
        scope["_refuse_conversion"] = refuse_conversion
        scope["_check"] = getattr(made, "_check", _no_check)
        scope["_spelled"] = spelled
        if spelled is not None:
            spelled.__qualname__ = (
                made.__qualname__
            )  # as Python names it where operands are missing
    source = _source(fields, slots, derived, arrange is not None, spelled is not None, checked)
    exec(_compiled(source), scope)
    function = scope[name]
    function.__qualname__ = f"{made.__qualname__}.{name}"
    function.__module__ = made.__module__
    return function


@cache
def _compiled(text: str) -> CodeType:
    """The code of a function, which is the same for all classes with these fields."""
    return compile(text, f"{__file__}, constructor", "exec")  # ours in tracebacks, too
