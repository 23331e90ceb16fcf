"""The buffers that statements of a row read, write and mention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from relaxscript.ir.prim import BufferLoad, Var
from relaxscript.ir.tir import Block, Buffer, BufferStore, MatchBufferRegion, Stmt
from relaxscript.ir.walk import children, walk

__all__ = ["BufferUses"]


class BufferUses:
    """The uses of buffers by statements one after the other.

    Buffers over one memory are one: they are known by their pointers. What uses a pointer itself
    may read and write there.
    """

    def __init__(self, buffers: Iterable[Buffer], statements: Sequence[Stmt]) -> None:
        self._pointers = {buffer.data for buffer in buffers}
        self._reads: list[set[Var]] = []
        self._writes: list[set[Var]] = []
        self._last_mention: dict[Var, int] = {}
        self._last_write: dict[Var, int] = {}
        for place, statement in enumerate(statements):
            mentions = self._note(statement)
            self._last_mention.update(dict.fromkeys(mentions, place))
            self._last_write.update(dict.fromkeys(self._writes[-1], place))

    def read(self, start: int, end: int) -> set[Var]:
        """The pointers of what statements read."""
        return set().union(*self._reads[start:end])

    def written(self, start: int, end: int) -> set[Var]:
        """The pointers of what statements write."""
        return set().union(*self._writes[start:end])

    def is_mentioned_from(self, start: int, buffer: Buffer) -> bool:
        """True if a buffer is mentioned from some statement on."""
        return self._last_mention.get(buffer.data, -1) >= start

    def is_written_from(self, start: int, buffer: Buffer) -> bool:
        """True if a buffer is written from some statement on."""
        return self._last_write.get(buffer.data, -1) >= start

    def _note(self, statement: Stmt) -> set[Var]:
        """Note what a statement reads and writes; all that it mentions."""
        reads: set[Var] = set()
        writes: set[Var] = set()
        mentions: set[Var] = set()
        for node in walk(statement):
            match node:
                case Buffer(data=data):
                    mentions.add(data)
                    continue
                case BufferLoad(buffer=buffer):
                    reads.add(buffer.data)
                case BufferStore(buffer=buffer):
                    writes.add(buffer.data)
                case MatchBufferRegion(source=source):
                    reads.add(source.buffer.data)
                    writes.add(source.buffer.data)
                case Block(writes=regions):
                    writes.update([region.buffer.data for region in regions])
            pointers = {c for c in children(node) if isinstance(c, Var) and c in self._pointers}
            for found in (reads, writes, mentions):
                found |= pointers
        self._reads.append(reads)
        self._writes.append(writes & self._pointers)
        return mentions
