"""Bounds of quotients, remainders and combinations of bits.

Each function takes inclusive ends (None: unbounded) and gives them; a divisor is never zero.
"""

from __future__ import annotations

from .evaluate import truncated_division

__all__ = ["Ends", "bits_ends", "quotient_ends", "remainder_ends", "shifted_right_ends"]

# The least and the greatest value; None is unbounded.
Ends = tuple[int | None, int | None]


def quotient_ends(dividend: Ends, divisor: Ends, truncating: bool) -> Ends:
    """Of a quotient, rounded towards zero if `truncating`, otherwise towards minus infinity."""
    low, high = divisor
    parts: list[Ends] = []
    if high is None or high > 0:
        parts.append(_by_positive(dividend, max(low or 1, 1), high, truncating))
    if low is None or low < 0:
        # p / q is -p / -q.
        parts.append(_by_positive(_negative(dividend), *_size_of_negative(divisor), truncating))
    return _hull(parts)


def remainder_ends(dividend: Ends, divisor: Ends, truncating: bool) -> Ends:
    """Of what a quotient leaves: `p - p / q * q`."""
    low, high = divisor
    parts: list[Ends] = []
    if high is None or high > 0:
        parts.append(_left_by_positive(dividend, high, truncating))
    if low is None or low < 0:
        # What is left of p by q is what is left of -p by -q, with the other sign.
        left = _left_by_positive(_negative(dividend), None if low is None else -low, truncating)
        parts.append(_negative(left))
    return _hull(parts)


def shifted_right_ends(value: Ends, places: Ends) -> Ends:
    """Of `value >> places`, which is `value // 2**places`, for places from 0 on."""
    least, most = places
    low, high = value
    if most is not None and most < 0:
        return None, None
    least = max(least or 0, 0)
    if low is not None:
        low = low >> least if low < 0 else 0 if most is None else low >> most
    if high is not None:
        high = high >> least if high >= 0 else -1 if most is None else high >> most
    return low, high


def bits_ends(op: str, a: Ends, b: Ends) -> Ends:
    """Of the "and", "or" or "xor" of the bits of two integers in two's complement."""
    signed = any(low is None or low < 0 for low, _ in (a, b))
    if op == "and":
        # It has no bit, and so no sign, that one of both has not.
        tops = [high for low, high in (a, b) if low is not None and low >= 0]
        if tops:
            return 0, min((top for top in tops if top is not None), default=None)
    if signed:
        return None, None
    highs = [high for _, high in (a, b)]
    low = 0 if op == "xor" else max(low or 0 for low, _ in (a, b))
    if None in highs:
        return low, None
    return low, (1 << max(high or 0 for high in highs).bit_length()) - 1


def _by_positive(dividend: Ends, least: int, most: int | None, truncating: bool) -> Ends:
    low, high = dividend

    def divided(p: int, q: int) -> int:
        return truncated_division(p, q) if truncating else p // q

    if low is not None:
        low = divided(low, least) if low < 0 else 0 if most is None else divided(low, most)
    if high is not None and high >= 0:
        high = divided(high, least)
    elif high is not None:
        beyond = 0 if truncating else -1
        high = beyond if most is None else divided(high, most)
    return low, high


def _left_by_positive(dividend: Ends, most: int | None, truncating: bool) -> Ends:
    low, high = dividend
    largest = None if most is None else most - 1
    if not truncating:
        # From zero on nothing is left that was not there.
        return 0, _least(largest, high if low is not None and low >= 0 else None)
    if low is not None and low >= 0:
        return 0, _least(largest, high)
    most_negative = _least(largest, None if low is None else -low)
    least = None if most_negative is None else -most_negative
    return least, 0 if high is not None and high <= 0 else _least(largest, high)


def _least(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)


def _negative(ends: Ends) -> Ends:
    low, high = ends
    return None if high is None else -high, None if low is None else -low


def _size_of_negative(divisor: Ends) -> tuple[int, int | None]:
    """The distances from zero of the negative values of a divisor."""
    low, high = divisor
    return 1 if high is None else max(-high, 1), None if low is None else -low


def _hull(parts: list[Ends]) -> Ends:
    lows = [low for low, _ in parts if low is not None]
    highs = [high for _, high in parts if high is not None]
    low = min(lows) if lows and len(lows) == len(parts) else None
    high = max(highs) if highs and len(highs) == len(parts) else None
    return low, high
