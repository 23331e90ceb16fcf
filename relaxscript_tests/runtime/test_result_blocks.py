"""Blocks for results are used again when nobody refers to them, and are bounded."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from relaxscript.runtime.result_blocks import (
    ALIGNMENT,
    CLASSES,
    SMALLEST,
    WAYS,
    ResultBlocks,
    size_class,
)

MIB = 1 << 20


@pytest.mark.parametrize("size", [SMALLEST, SMALLEST + 1, 81_920, 81_921, MIB, MIB + 1, 1 << 40])
def test_a_class_has_at_most_a_quarter_more_than_is_asked_for(size: int) -> None:
    number, rounded = size_class(size)
    assert 0 <= number < CLASSES
    assert size <= rounded <= size * 1.25


def test_larger_sizes_have_higher_classes_and_all_of_a_class_the_same_size() -> None:
    found = [size_class(size) for size in range(SMALLEST, 4 * SMALLEST, 4096)]
    assert found == sorted(found)
    assert len({number for number, _ in found}) == len(set(found)) == 9


def test_a_block_has_room_for_what_is_asked_for_wherever_it_is_aligned() -> None:
    block = ResultBlocks().new(MIB + 1)
    assert block is not None
    assert block.nbytes >= MIB + 1 + ALIGNMENT


def test_the_table_has_the_address_of_each_block_which_the_pool_alone_holds() -> None:
    blocks = ResultBlocks()
    block = blocks.new(MIB)
    places = [place for place, address in enumerate(blocks.table) if address == id(block)]
    assert [place // WAYS for place in places] == [size_class(MIB)[0]]
    assert sys.getrefcount(block) == 3  # the pool, this variable, the call


def test_blocks_of_one_size_are_bounded_in_number() -> None:
    blocks = ResultBlocks()
    held = [blocks.new(SMALLEST) for _ in range(WAYS + 3)]
    assert sum(1 for address in blocks.table if address) == WAYS
    assert id(held[0]) not in blocks.table
    assert id(held[-1]) in blocks.table


def test_blocks_together_are_bounded_in_bytes() -> None:
    blocks = ResultBlocks(most_bytes=4 * MIB)
    for size in (MIB, MIB, 2 * MIB, MIB, 2 * MIB):
        blocks.new(size)
    assert blocks.held <= 4 * MIB + 5 * ALIGNMENT


def test_what_is_large_beside_the_bound_gets_no_block() -> None:
    assert ResultBlocks(most_bytes=4 * MIB).new(3 * MIB) is None


def test_what_no_memory_holds_gets_no_block() -> None:
    assert ResultBlocks(most_bytes=1 << 62).new(1 << 60) is None
    assert ResultBlocks(most_bytes=1 << 62).new(1 << 40) is None


def test_blocks_are_given_up_when_that_is_asked_for() -> None:
    blocks = ResultBlocks()
    block = blocks.new(MIB)
    assert block is not None
    block[:] = 7
    blocks.clear()
    assert blocks.held == 0
    assert not any(blocks.table)
    assert block[-1] == 7  # who has it keeps it


def test_whoever_comes_while_another_thread_is_in_gets_no_block() -> None:
    blocks = ResultBlocks()
    inside, leave = threading.Event(), threading.Event()
    made: list[object] = []

    def slowly() -> None:
        with blocks._lock:
            inside.set()
            leave.wait()

    thread = threading.Thread(target=slowly)
    thread.start()
    inside.wait()
    made.append(blocks.new(MIB))
    leave.set()
    thread.join()
    assert made == [None]


def test_what_interrupts_the_making_of_a_block_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks, inner = ResultBlocks(), list[object]()
    make = np.empty

    def empty(*args: object) -> object:
        inner.append(blocks.new(MIB))
        blocks.clear()
        return make(*args)  # type: ignore[call-overload]

    monkeypatch.setattr(np, "empty", empty)
    assert blocks.new(MIB) is not None
    assert inner == [None]
