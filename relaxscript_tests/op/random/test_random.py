"""Random numbers: known answers, the same ones everywhere, and the statistics of many."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.op.random import distributions
from relaxscript.op.random.normal_quantile import natural_logarithm, normal_quantile
from relaxscript.op.random.threefry import threefry
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import every_executor
from relaxscript_tests.op.inference import obliged, prim_var, ranked, refused, result, shape, tensor

KEY = R.random.key(np.int64(42))
KEYS = tensor(2, dtype="uint32")


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        # The known answers of its authors' own tests.
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_threefry_gives_the_known_answers(key: Any, counter: Any, expected: Any) -> None:
    words = [np.array([word], "uint32") for word in counter]
    found = threefry(np.array(key, "uint32"), *words)
    assert tuple(int(word[0]) for word in found) == expected


def plain_threefry(key: tuple[int, int], counter: tuple[int, int]) -> tuple[int, int]:
    """The same by Python's integers, written as the paper has it."""
    mask = 0xFFFFFFFF
    ks = [*key, key[0] ^ key[1] ^ 0x1BD11BDA]
    x = [(c + k) & mask for c, k in zip(counter, ks)]
    rotations = [13, 15, 26, 6, 17, 29, 16, 24]
    for r in range(20):
        x[0] = (x[0] + x[1]) & mask
        by = rotations[r % 8]
        x[1] = ((x[1] << by | x[1] >> (32 - by)) & mask) ^ x[0]
        if r % 4 == 3:
            s = r // 4 + 1
            x = [(x[0] + ks[s % 3]) & mask, (x[1] + ks[(s + 1) % 3] + s) & mask]
    return x[0], x[1]


def word(key: Any, place: int) -> int:
    high, low = plain_threefry(tuple(int(k) for k in key), (place >> 32, place & 0xFFFFFFFF))
    return high << 32 | low


def test_a_number_is_a_function_of_the_key_and_its_place() -> None:
    words = [word(KEY, place) for place in range(6)]
    shares = [w >> 11 for w in words]
    double = R.random.uniform(KEY, (2, 3), dtype="float64")
    assert double.ravel().tolist() == [share * 2.0**-53 for share in shares]
    single = R.random.uniform(KEY, (6,))
    assert single.tolist() == [(w >> 40) * 2.0**-24 for w in words]
    assert R.random.randint(KEY, (6,), -5, 9).tolist() == [w % 14 - 5 for w in words]
    assert R.random.bernoulli(KEY, (6,), 0.3).tolist() == [s < 0.3 * 2**53 for s in shares]


def test_a_key_is_the_bits_of_its_seed() -> None:
    assert R.random.key(np.int64(42)).tolist() == [0, 42]
    assert R.random.key(np.int64(-1)).tolist() == [0xFFFFFFFF] * 2
    assert R.random.key(np.int64(3 << 32 | 7)).tolist() == [3, 7]


def test_keys_that_are_split_are_others() -> None:
    keys = R.random.split(KEY, 5)
    expected = [plain_threefry(tuple(int(k) for k in KEY), (1 << 31, i)) for i in range(5)]
    assert keys.tolist() == [list(pair) for pair in expected]
    assert R.random.split(KEY, 3).tolist() == keys[:3].tolist()
    drawn = [R.random.uniform(key, (4,)).tobytes() for key in (KEY, *keys)]
    assert len(set(drawn)) == 6


def test_more_numbers_begin_as_fewer_do_whatever_the_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = R.random.normal(KEY, (50,))
    assert R.random.normal(KEY, (7, 5)).tobytes() == many[:35].tobytes()
    monkeypatch.setattr(distributions, "_PIECE", 3)
    assert R.random.normal(KEY, (50,)).tobytes() == many.tobytes()


def test_places_beyond_32_bits_have_a_word_more() -> None:
    from relaxscript.op.random.threefry import random_bits

    far = (1 << 32) - 1
    found = random_bits(KEY, far, 3).tolist()
    assert found == [word(KEY, far + i) for i in range(3)]


# ---------------------------------------------------------------- exact functions


def test_the_logarithm_is_that_of_the_library_but_for_the_last_bits(
    rng: np.random.Generator,
) -> None:
    x = np.concatenate([rng.uniform(1e-16, 1, 3000), 2.0 ** -rng.uniform(0, 60, 3000), [0.5, 1.0]])
    found, wanted = natural_logarithm(x), [math.log(v) for v in x]
    np.testing.assert_allclose(found, wanted, rtol=4e-16, atol=0)


def test_quantiles_are_those_of_the_normal_distribution(rng: np.random.Generator) -> None:
    normal = NormalDist()
    p = np.concatenate([rng.uniform(0, 1, 2000), 2.0 ** -rng.uniform(1, 53, 500), [0.5, 0.075]])
    for share in (p, 1 - p[p > 1e-3]):
        wanted = [normal.inv_cdf(float(v)) for v in share]
        np.testing.assert_allclose(normal_quantile(share), wanted, rtol=1e-13, atol=1e-15)
    assert normal_quantile(np.array([0.5]))[0] == 0
    assert normal_quantile(np.array([2.0**-53]))[0] > -8.3


# ---------------------------------------------------------------- many numbers


MANY = 200_000


def share_of_below(found: Any, cumulative: Any) -> float:
    """The largest distance from a distribution, in units of what chance gives (Kolmogorov)."""
    ordered = np.sort(found.astype("float64").ravel())
    wanted = np.array([cumulative(float(v)) for v in ordered[:: len(ordered) // 2000]])
    steps = np.arange(0, len(ordered), len(ordered) // 2000) / len(ordered)
    return float(np.abs(wanted - steps).max() * math.sqrt(len(ordered)))


@pytest.mark.parametrize("seed", [0, 1, -7])
def test_uniform_and_normal_numbers_are_distributed_as_they_say(seed: int) -> None:
    key = R.random.key(np.int64(seed))
    uniform = R.random.uniform(key, (MANY,), -2.0, 3.0)
    assert uniform.min() >= -2
    assert uniform.max() < 3
    assert share_of_below(uniform, lambda v: (v + 2) / 5) < 2
    normal = R.random.normal(key, (MANY,), 1.0, 2.0)
    assert share_of_below(normal, NormalDist(1, 2).cdf) < 2
    pairs = normal.astype("float64").reshape(-1, 2) - 1
    for other in (pairs[:, 1], np.roll(pairs[:, 0], 1)):
        correlation = (pairs[:, 0] * other).mean() / 4
        assert abs(correlation) < 5 / math.sqrt(len(pairs))


def test_integers_and_truths_are_as_likely_as_they_say() -> None:
    counts = np.bincount(R.random.randint(KEY, (MANY,), 0, 13))
    assert len(counts) == 13
    expected = MANY / 13
    assert ((counts - expected) ** 2 / expected).sum() < 40  # chi-squared, of 12 degrees
    for p in (0.0, 0.1, 0.9, 1.0):
        ones = R.random.bernoulli(KEY, (MANY,), p, "float32").sum(dtype="float64")
        assert abs(ones - MANY * p) <= 5 * math.sqrt(MANY * p * (1 - p))


def test_every_bit_of_a_word_is_as_often_set_as_not() -> None:
    words = R.random.randint(KEY, (1 << 15,), 0, (1 << 63) - 1, "uint64")
    for bit in range(1, 62):
        ones = int((words >> np.uint64(bit) & np.uint64(1)).sum())
        assert abs(ones - (1 << 14)) < 5 * math.sqrt(1 << 13)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_every_float_below_one_can_come(dtype: str) -> None:
    found = R.random.uniform(KEY, (1 << 14,), dtype=dtype).astype("float64")
    assert found.max() < 1
    assert found.min() >= 0
    if DataType(dtype).bits == 16:
        digits = {"float16": 11, "bfloat16": 8}[dtype]
        assert set((found * 2**digits).tolist()) <= set(range(2**digits))
        assert len(set(found.tolist())) > 0.99 * min(2**digits, 2048)


# ---------------------------------------------------------------- programs

PROGRAM = """
@I.ir_module
class M:
    @R.function
    def main(seed: R.Prim("int64"), like: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        keys = R.random.split(R.random.key(seed))
        first = R.squeeze(R.strided_slice(keys, [0], [0], [1]), 0)
        x = R.random.normal(first, (n, 3))
        whole = R.random.randint(first, (n,), 0, 100)
        mask = R.random.bernoulli(first, R.shape_of(like), 0.5, "float32")
        return x, whole, mask
"""


@every_executor
def test_every_executor_draws_the_same_numbers(load: Any) -> None:
    run = load(from_source(PROGRAM)).main
    x, whole, mask = run(5, np.zeros((4, 3), "float32"))
    first = R.random.split(R.random.key(np.int64(5)))[0]
    assert x.tobytes() == R.random.normal(first, (4, 3)).tobytes()
    assert whole.tolist() == R.random.randint(first, (4,), 0, 100).tolist()
    assert mask.tobytes() == R.random.bernoulli(first, (4, 3), 0.5, "float32").tobytes()


def test_the_shapes_of_random_tensors() -> None:
    assert result(R.random.key, 3) == "(2,) uint32"
    assert result(R.random.split, KEYS, 4) == "(4, 2) uint32"
    assert result(R.random.uniform, KEYS, shape("n", 4)) == "(n, 4) float32"
    assert result(R.random.normal, ranked(-1, "uint32"), (2, 3), dtype="float16") == (
        "(2, 3) float16"
    )
    assert result(R.random.randint, KEYS, shape(ndim=2), 0, 5) == "rank 2 int64 held"
    assert result(R.random.bernoulli, KEYS, ()) == "() bool"
    assert obliged(R.random.split, tensor("n", dtype="uint32")) == ["key: 2 equal n"]


def test_what_is_no_key_and_no_distribution() -> None:
    uniform, normal, randint = R.random.uniform, R.random.normal, R.random.randint
    assert refused(uniform, tensor(2), (3,)).help is not None
    assert refused(uniform, tensor(2), (3,)).code == "RX0202"
    assert refused(uniform, tensor(3, dtype="uint32"), (3,)).fact == "has 3 words"
    assert refused(uniform, tensor(4, 2, dtype="uint32"), (3,)).fact == "has shape (4, 2)"
    assert refused(uniform, KEYS, (-1,)).fact == "has the dimension -1"
    assert refused(uniform, KEYS, (3,), 2.0, 1.0).fact == "is 1.0"
    assert refused(uniform, KEYS, (3,), float("nan")).operand == "low"
    assert refused(uniform, KEYS, (3,), dtype="int8").fact == "is int8"
    assert refused(normal, KEYS, (3,), 0.0, -1.0).operand == "std"
    assert refused(normal, KEYS, (3,), dtype="float8_e5m2").code == "RX0202"
    assert refused(randint, KEYS, (3,), 5, 5).operand == "high"
    assert refused(randint, KEYS, (3,), 0, 129, "int8").fact == "is 129"
    assert refused(randint, KEYS, (3,), -1, 4, "uint8").operand == "low"
    assert refused(randint, KEYS, (3,), 0, 4, "float32").code == "RX0202"
    assert refused(R.random.bernoulli, KEYS, (3,), 1.5).fact == "is 1.5"
    assert refused(R.random.split, KEYS, -1).fact == "is -1"
    assert refused(R.random.key, prim_var("float32")).code == "RX0202"
    assert refused(R.random.key, tensor(1, dtype="int64")).message == "a seed is one integer"
