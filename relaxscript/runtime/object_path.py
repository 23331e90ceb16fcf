"""Paths from a program to a part of it, as data: `<root>.body.blocks[0].bindings[2].value`.

    path = ObjectPath.root().attr("body").attr("blocks").array_index(0)
    path.parent                                 # <root>.body.blocks
    path.parent.is_prefix_of(path)              # True

A path says how a part is reached, whatever the program: by names of fields, places in tuples and
keys of mappings. Paths are equal where they take the same steps. Structural comparison gives them,
and printing takes them.

Source: TVM `runtime.ObjectPath` (names of the steps and their form as text).
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "ArrayIndexPath", "AttributeAccessPath", "MapValuePath", "MissingArrayElementPath",
    "MissingMapEntryPath", "ObjectPath", "ObjectPathPair", "RootPath", "UnknownAttributeAccessPath",
]  # fmt: skip


class ObjectPath:
    """A path; `root()` begins one, and each other method adds a step. It is not to be changed."""

    __slots__ = ("_hash", "_parent", "_step", "length")

    def __init__(self, parent: ObjectPath | None, step: Any = None) -> None:
        self._parent = parent
        self._step = step
        self.length: int = 1 if parent is None else parent.length + 1
        try:
            own = hash(step)
        except TypeError:  # a key that only its owner can compare
            own = 0
        self._hash = hash((type(self), own, parent))

    @staticmethod
    def root(root_name: str | None = None) -> RootPath:
        """The path to a program itself."""
        return RootPath(None, root_name)

    @property
    def parent(self) -> ObjectPath | None:
        """The path without its last step; None for a root."""
        return self._parent

    def attr(self, attr_key: str | None) -> ObjectPath:
        """The path to a field of what is here; None for one whose name is not known."""
        if attr_key is None:
            return UnknownAttributeAccessPath(self)
        return AttributeAccessPath(self, attr_key)

    def array_index(self, index: int) -> ArrayIndexPath:
        """The path to an item of the tuple that is here, counted from 0."""
        return ArrayIndexPath(self, index)

    def missing_array_element(self, index: int) -> MissingArrayElementPath:
        """The path to an item that the tuple here has not, and another one has."""
        return MissingArrayElementPath(self, index)

    def map_value(self, key: Any) -> MapValuePath:
        """The path to what the mapping here has for a key."""
        return MapValuePath(self, key)

    def missing_map_entry(self) -> MissingMapEntryPath:
        """The path to an entry that the mapping here has not, and another one has."""
        return MissingMapEntryPath(self)

    def steps(self) -> list[ObjectPath]:
        """The paths on the way, from the root to this one."""
        found = [self]
        while (before := found[-1]._parent) is not None:
            found.append(before)
        return found[::-1]

    def is_prefix_of(self, other: ObjectPath) -> bool:
        """True if `other` begins with the steps of this path, or is equal to it."""
        while other.length > self.length:
            assert other._parent is not None
            other = other._parent
        return self == other

    def _text(self) -> str:
        """The step as it is written; each kind of path has its own."""
        return f"<{type(self).__name__}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ObjectPath):
            return NotImplemented
        if self._hash != other._hash or self.length != other.length:
            return False
        mine: ObjectPath | None = self
        theirs: ObjectPath | None = other
        while mine is not theirs and mine is not None and theirs is not None:
            if type(mine) is not type(theirs) or mine._step != theirs._step:
                return False
            mine, theirs = mine._parent, theirs._parent
        return True

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, ([(type(path), path._step) for path in self.steps()],)

    def __repr__(self) -> str:
        return "".join(path._text() for path in self.steps())


def _restored(steps: list[tuple[Any, Any]]) -> ObjectPath:
    """The path of some steps: one of ten thousand steps is pickled, too."""
    path: Any = None
    for kind, step in steps:
        path = kind(path, step)
    return path  # type: ignore[no-any-return]


class RootPath(ObjectPath):
    """The path to a program itself."""

    __slots__ = ()

    @property
    def root_name(self) -> str | None:
        """The name that stands instead of `<root>`."""
        return self._step  # type: ignore[no-any-return]

    def _text(self) -> str:
        return self.root_name or "<root>"


class AttributeAccessPath(ObjectPath):
    """A path that ends with a field."""

    __slots__ = ()

    @property
    def attr_key(self) -> str:
        """The name of the field."""
        return self._step  # type: ignore[no-any-return]

    def _text(self) -> str:
        return f".{self.attr_key}"


class UnknownAttributeAccessPath(ObjectPath):
    """A path that ends with a field whose name is not known."""

    __slots__ = ()

    def _text(self) -> str:
        return ".<unknown attribute>"


class ArrayIndexPath(ObjectPath):
    """A path that ends with an item of a tuple."""

    __slots__ = ()

    @property
    def index(self) -> int:
        """The place of the item, from 0."""
        return self._step  # type: ignore[no-any-return]

    def _text(self) -> str:
        return f"[{self.index}]"


class MissingArrayElementPath(ObjectPath):
    """A path that ends with an item that there is not."""

    __slots__ = ()

    @property
    def index(self) -> int:
        """The place where the item would be."""
        return self._step  # type: ignore[no-any-return]

    def _text(self) -> str:
        return f"[<missing element #{self.index}>]"


class MapValuePath(ObjectPath):
    """A path that ends with a value of a mapping."""

    __slots__ = ()

    @property
    def key(self) -> Any:
        """The key of the value."""
        return self._step

    def _text(self) -> str:
        if isinstance(self.key, str):
            return f'["{self.key}"]'
        name = getattr(self.key, "name_hint", None)  # of a function of a module
        return f"[{self.key!r}]" if name is None else f'[I.GlobalVar("{name}")]'


class MissingMapEntryPath(ObjectPath):
    """A path that ends with an entry that there is not."""

    __slots__ = ()

    def _text(self) -> str:
        return "[<missing entry>]"


class ObjectPathPair(NamedTuple):
    """A path into each of two programs."""

    lhs_path: ObjectPath
    rhs_path: ObjectPath
