"""LLVM itself: optimisation, machine code, linking. The only file that imports llvmlite.

The engine is made when the first module is compiled: a target machine for this computer, an LLJIT
for some dozens of codes. Linked code lives as long as its `Code`. Compiling holds a lock, running
does not.

What LLVM makes of a text is kept on disk (`runtime/object_cache.py`), by all that it depends on.

No flag of fast arithmetic is ever set, and no multiplication is fused with an addition. So results
do not depend on the level of optimisation.
"""

from __future__ import annotations

import hashlib
import itertools
import struct
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from relaxscript.errors import InternalError
from relaxscript.runtime.forks import lock_across_forks
from relaxscript.runtime.object_cache import object_cache
from relaxscript.semantics.c_functions import c_function
from relaxscript.version import __version__

__all__ = [
    "AS_IT_STANDS", "AS_WRITTEN", "Code", "LinkedObject", "ModuleParts", "assembly_text",
    "compile_text", "engine_dependencies", "optimised_text", "stored_code",
]  # fmt: skip


_lock = lock_across_forks()

# An LLJIT keeps 10 KB of each library for as long as it lives, though the library's code is freed;
# it costs as much time as two links. So some libraries have one together.
LIBRARIES = 64

# The level of code that is written with vectors: LLVM takes variables into registers, no more.
AS_WRITTEN = -1
# The level of code that is short, has no loops and runs once in a call: its compilation counts.
AS_IT_STANDS = -2

# Of two objects that are stored as one: the length of the first.
_LENGTH = struct.Struct("<8sQ")
_TWO = b"\x93RXTWO\r\n"


class ModuleParts(NamedTuple):
    """The text of a module in two parts, each complete: `glue` is compiled as it stands."""

    text: str
    glue: str


class LinkedObject(NamedTuple):
    """All that linked code is told by: the key of its object, its entries, what it calls.

    `functions` are functions of the C library by their names, others by their addresses.
    """

    key: str
    entries: tuple[str, ...]
    functions: tuple[tuple[str, str | int], ...]


class Code:
    """Machine code: the addresses of its entries by their symbols, and what keeps it alive.

    That is its library, and the LLJIT in which the library is.
    """

    __slots__ = ("__weakref__", "addresses", "jit", "linked", "tracker")

    def __init__(
        self, linked: LinkedObject, addresses: Mapping[str, int], jit: Any, tracker: Any
    ) -> None:
        self.linked = linked
        self.addresses = addresses
        self.jit = jit
        self.tracker = tracker

    @property
    def address(self) -> int:
        """The address of the first entry."""
        return next(iter(self.addresses.values()))

    def __del__(self, lock: AbstractContextManager[object] = _lock) -> None:
        # Letting go of code is work of LLVM, too, in which no process may fork.
        with lock:
            self.tracker = None
            self.jit = None


class Engine:
    """LLVM for this computer."""

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.llvm = llvm
        self.target = llvm.Target.from_default_triple()
        self.cpu = llvm.get_host_cpu_name()
        self.features = llvm.get_host_cpu_features().flatten()
        self.machines: dict[int, Any] = {}
        self.jit: Any = None
        self.numbers = itertools.count()

    def machine(self, level: int) -> Any:
        """The target machine for a level of optimisation."""
        if level not in self.machines:
            self.machines[level] = self.target.create_target_machine(**self.options(level))
        return self.machines[level]

    def options(self, level: int) -> dict[str, Any]:
        """The settings of the target machine for a level."""
        return {
            "cpu": self.cpu,
            "features": self.features,
            "opt": {AS_WRITTEN: 2, AS_IT_STANDS: 0}.get(level, level),
            "reloc": "pic",
            # Constants of small code are reached from where it is, which leaves registers free.
            "codemodel": "small" if level < 0 else "jitdefault",
            "jit": True,
        }

    def dependencies(self, level: int) -> dict[str, Any]:
        """All but the text that the object of a text depends on.

        Which passes are run is told by the version of relaxscript.
        """
        import llvmlite

        return {
            "relaxscript": __version__,
            "llvmlite": llvmlite.__version__,
            "llvm": self.llvm.llvm_version_info,
            "triple": self.target.triple,
            "level": level,
            "tuning": tuning(level),
            **self.options(level),
        }

    @contextmanager
    def optimise_source(self, text: str, level: int) -> Iterator[tuple[Any, Any]]:
        """The module of a source after optimisation, and its machine; both end here.

        A module must go before its context, which Python's collector does not know: so neither
        is ever left to it. Raises `InternalError` where LLVM refuses the source.
        """
        llvm, machine = self.llvm, self.machine(level)
        with (
            llvm.create_context() as context,
            _as_internal_error(),
            llvm.parse_assembly(text, context=context) as module,
        ):
            module.verify()
            module.triple = self.target.triple
            module.data_layout = str(machine.target_data)
            self.optimise(module, machine, level)
            yield module, machine

    def compile(self, parts: ModuleParts, wanted: LinkedObject, level: int) -> Code:
        """Link the code of a module, of which the cache has the object or gets it.

        Raises `InternalError` where LLVM refuses the text.
        """
        code = self.link_stored(wanted)
        if code is not None:
            return code
        image = self.emit(parts.text, level)
        if parts.glue:
            image = _LENGTH.pack(_TWO, len(image)) + image + self.emit(parts.glue, AS_IT_STANDS)
        code = self.link(image, wanted)
        object_cache().store(wanted.key, image)
        return code

    def emit(self, text: str, level: int) -> bytes:
        """The object of a text."""
        with self.optimise_source(text, level) as (module, machine):
            image: bytes = machine.emit_object(module)
        return image

    def link_stored(self, wanted: LinkedObject) -> Code | None:
        """Link an object that the cache has; None where it has none that can be linked."""
        cache = object_cache()
        image = cache.load(wanted.key)
        if image is None:
            return None
        with suppress(InternalError):
            return self.link(bytes(image), wanted)
        cache.discard(wanted.key)
        return None

    def link(self, image: bytes, wanted: LinkedObject) -> Code:
        """Link an object and find its entries.

        Raises `InternalError` for what is no object, and where a function is missing.
        """
        number = next(self.numbers)
        if number % LIBRARIES == 0:
            self.jit = self.llvm.create_lljit_compiler(self.machine(2))
        library = self.llvm.JITLibraryBuilder()
        for part in _parts_of(image):
            library.add_object_img(part)
        for symbol, name in wanted.functions:
            library.import_symbol(symbol, name if isinstance(name, int) else _address(name))
        library.add_current_process()
        for entry in wanted.entries:
            library.export_symbol(entry)
        try:
            tracker = library.link(self.jit, f"relaxscript{number}")
        except RuntimeError as error:
            raise InternalError(f"the code of a PrimFunc cannot be linked ({error})") from error
        addresses = {entry: tracker[entry] for entry in wanted.entries}
        return Code(wanted, addresses, self.jit, tracker)

    def optimise(self, module: Any, machine: Any, level: int) -> None:
        """Run LLVM's own pipeline, or the one pass that takes variables into registers."""
        if level == AS_IT_STANDS:
            return
        if level == AS_WRITTEN:
            self.keep_in_registers(module, machine)
            return
        options = self.llvm.create_pipeline_tuning_options(speed_level=level)
        for name, value in tuning(level).items():
            setattr(options, name, value)
        builder = self.llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)

    def keep_in_registers(self, module: Any, machine: Any) -> None:
        """Give variables and small arrays registers: 1 to 2 ms, where the pipeline takes 20."""
        builder = self.llvm.create_pass_builder(
            machine, self.llvm.create_pipeline_tuning_options(speed_level=0)
        )
        manager = self.llvm.create_new_function_pass_manager()
        manager.add_sroa_pass()
        for function in module.functions:
            if not function.is_declaration:
                manager.run(function, builder)


def tuning(level: int) -> dict[str, bool]:
    """The settings of LLVM's own pipeline for a level."""
    return {
        "loop_vectorization": level > 1,
        # It gains nothing where code is loops, and constants near the ends of int64 in an index end
        # the process by one of its assertions.
        "slp_vectorization": False,
        "loop_interleaving": level > 1,
        "loop_unrolling": level > 1,
    }


def object_key(text: str, dependencies: Mapping[str, Any]) -> str:
    """The key of the object of a text: a hash of the text and all else that it depends on."""
    found = hashlib.sha256(repr(sorted(dependencies.items())).encode())
    found.update(text.encode())
    return found.hexdigest()


def _parts_of(image: bytes) -> list[bytes]:
    """The objects that are in one image."""
    if not image.startswith(_TWO):
        return [image]
    _, length = _LENGTH.unpack_from(image)
    return [image[_LENGTH.size : _LENGTH.size + length], image[_LENGTH.size + length :]]


@contextmanager
def _as_internal_error() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise InternalError(f"LLVM refuses the code of a PrimFunc ({error})") from error


def _address(name: str) -> int:
    found = c_function(name)
    if found is None:
        raise InternalError(f"the C library of this computer has no function `{name}`")
    return found


_engine: list[Engine] = []
# What is compiled and in use, by all that it is made from; the last few are in use here.
_codes: WeakValueDictionary[LinkedObject, Code] = WeakValueDictionary()
KEPT = 128
_recent: deque[Code] = deque(maxlen=KEPT)


def _the_engine() -> Engine:
    if not _engine:
        _engine.append(Engine())
    return _engine[0]


def compile_text(
    text: str,
    entries: str | Sequence[str],
    functions: Mapping[str, str | int],
    level: int,
    parts: ModuleParts | None = None,
) -> Code:
    """Compile a module of LLVM at a level from 0 to 3, or one named above; `entries` are exported.

    `functions` are those that it calls, by their symbols: functions of the C library by their
    names, others by their addresses. `parts` are the text, where not all of it has that level.
    Equal modules are one code while anybody holds it, and the last `KEPT` are held: each
    compilation costs time, and LLVM keeps some memory of it for good.
    """
    entries = (entries,) if isinstance(entries, str) else tuple(entries)
    with _lock:
        engine = _the_engine()
        key = object_key(text, engine.dependencies(level))
        wanted = LinkedObject(key, entries, tuple(sorted(functions.items())))
        code = _codes.get(wanted)
        return (
            _remember(engine.compile(parts or ModuleParts(text, ""), wanted, level))
            if code is None
            else code
        )


def stored_code(wanted: LinkedObject) -> Code | None:
    """The code that is told so, where it is in use or the cache has its object."""
    with _lock:
        code = _codes.get(wanted)
        if code is None and (code := _the_engine().link_stored(wanted)) is not None:
            _remember(code)
        return code


def engine_dependencies() -> dict[str, Any]:
    """All but texts that code depends on: versions, and what this computer is."""
    with _lock:
        return _the_engine().dependencies(AS_WRITTEN)


def _remember(code: Code) -> Code:
    _codes[code.linked] = code
    _recent.append(code)
    return code


def optimised_text(text: str, level: int) -> str:
    """The text of a module after optimisation, for people to read."""
    with _lock, _the_engine().optimise_source(text, level) as (module, _):
        return str(module)


def assembly_text(text: str, level: int) -> str:
    """The machine code of a module as text, for people to read."""
    with _lock, _the_engine().optimise_source(text, level) as (module, machine):
        return str(machine.emit_assembly(module))
