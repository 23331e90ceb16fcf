"""Storages that are used again, and those that must not be."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

from relaxscript.runtime.pooled_allocator import Pool, size_class


def address(array):
    return array.__array_interface__["data"][0]


class TestReuse:
    def test_a_storage_that_nothing_refers_to_is_used_again(self):
        pool = Pool()
        storage = pool.storage(100)
        first = address(storage)
        assert (pool.used, pool.idle) == (112, 0)
        del storage
        assert (pool.used, pool.idle) == (0, 112)
        assert address(pool.storage(110)) == first

    def test_a_storage_that_is_held_is_not_used_again(self):
        pool = Pool()
        first, second = pool.storage(100), pool.storage(100)
        assert not np.shares_memory(first, second)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "cut",
        [
            lambda s: s[8:24],
            lambda s: s.view("float32").reshape(5, 5),
            lambda s: s.view("float32").reshape(5, 5).T[1:, ::2],
            lambda s: np.broadcast_to(s[:1], (4, 4)),
            lambda s: memoryview(s[:10].view("int16")),
            lambda s: np.lib.stride_tricks.as_strided(s, (2, 2), (1, 1)),
            lambda s: np.from_dlpack(s[4:8]),
            lambda s: s.view(np.recarray)[3:7].view("int16"),
            lambda s: [{"deep": (s[5:6],)}],
            lambda s: s[2:].flat,
            lambda s: s[2:].ctypes.data_as(__import__("ctypes").c_void_p),
        ],
        ids=range(11),
    )
    def test_whatever_was_cut_out_of_a_storage_keeps_it(self, cut):
        pool = Pool()
        storage = pool.storage(100)
        part = cut(storage)
        first = address(storage)
        del storage
        gc.collect()
        assert (pool.used, pool.idle) == (112, 0)
        assert address(pool.storage(100)) != first
        del part
        gc.collect()
        assert pool.used == 0

    def test_a_storage_is_zero_whatever_it_held(self):
        pool = Pool()
        storage = pool.storage(64)
        storage[...] = 7
        del storage
        assert not pool.storage(60).any()
        assert pool.storage(60).flags.writeable

    @pytest.mark.slow
    def test_a_storage_in_a_cycle_comes_back_when_that_is_collected(self):
        pool = Pool()
        cycle = [pool.storage(100)]
        cycle.append(cycle)
        del cycle
        gc.collect()
        assert pool.idle == 112

    @pytest.mark.slow
    def test_storages_outlive_the_pool(self):
        pool = Pool()
        storage = pool.storage(16)
        storage[...] = 3
        del pool
        gc.collect()
        assert storage.tolist() == [3] * 16

    def test_memory_that_is_not_used_can_be_let_go(self):
        pool = Pool()
        kept, _ = pool.storage(100), pool.storage(200)
        del _
        assert pool.clear() == ()
        assert (pool.used, pool.idle) == (112, 0)
        kept[...] = 1

    def test_many_threads_never_get_the_same_storage(self):
        pool, wrong = Pool(), []

        def work(mark):
            for i in range(300):
                storage = pool.storage(100 + i % 3 * 100)
                if storage.any():
                    wrong.append("not zero")
                storage[...] = mark
                if (storage != mark).any():
                    wrong.append("shared")

        threads = [threading.Thread(target=work, args=(mark,)) for mark in range(1, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert pool.used == 0


class TestSizes:
    def test_an_empty_storage_is_a_storage(self):
        assert Pool().storage(0).shape == (0,)

    def test_a_class_wastes_at_most_a_quarter(self):
        for size in range(1, 5000):
            rounded = size_class(size)
            assert size <= rounded <= max(64, size * 1.25)
            assert size_class(rounded) == rounded

    def test_there_are_four_classes_to_a_power_of_two(self):
        assert len({size_class(size) for size in range(1025, 2049)}) == 4

    def test_storages_of_other_classes_do_not_serve(self):
        pool = Pool()
        pool.storage(100)
        assert pool.storage(1000).nbytes == 1000
        assert pool.idle == 112 + 1024 - pool.used
