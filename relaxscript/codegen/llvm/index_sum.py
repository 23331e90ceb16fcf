"""Indices as sums, by the loops that their parts change in; and the addresses of such sums.

    %v7 = getelementptr float, ptr %a0, i64 %v3        before the inner loop
    ...
    %v9 = getelementptr float, ptr %v7, i64 %v5        in the loop, for all rows of a tile
    %v10 = getelementptr float, ptr %v9, i64 128       the next row

Only LLVM's own pipeline would take apart `(i * 12 + j + 3) * 64 + k`, and code whose vectors a
schedule has written does not run it. Of that code each part is computed before the loops in which
it stays as it is. The literal comes last: a processor adds it to an address for nothing. Integers
of 64 bits wrap around, so that the order of sums and products is free.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from .ir_writer import FunctionWriter, Value

__all__ = ["IndexSum", "address_of_sum", "is_number", "sum_of"]


class IndexSum(NamedTuple):
    """An integer as i64: terms of ever more inner loops, no two of one, and a literal."""

    terms: tuple[Value, ...]
    literal: int

    def written(self, asm: FunctionWriter) -> Value:
        """The sum as one value."""
        if not self.terms:
            return _number(self.literal)
        value = self.terms[0]
        for term in (*self.terms[1:], *([_number(self.literal)] if self.literal else ())):
            value = _operation(asm, "add", value, term)
        return value

    def plus(self, asm: FunctionWriter, other: IndexSum) -> IndexSum:
        """The sum with another one."""
        literal = self.literal + other.literal
        if not (self.terms and other.terms):
            return IndexSum(self.terms or other.terms, literal)
        found = {asm.depth_of(term): term for term in self.terms}
        for term in other.terms:
            depth = asm.depth_of(term)
            here = found.get(depth)
            found[depth] = term if here is None else _operation(asm, "add", here, term)
        return IndexSum(tuple([found[depth] for depth in sorted(found)]), literal)

    def minus(self, asm: FunctionWriter, other: IndexSum) -> IndexSum:
        """The difference to another one."""
        terms = [_operation(asm, "sub", _number(0), term) for term in other.terms]
        return self.plus(asm, IndexSum(tuple(terms), -other.literal))

    def times(self, asm: FunctionWriter, factor: Value) -> IndexSum:
        """The product with a value."""
        if is_number(factor):
            return self.scaled(asm, int(factor.text))
        product = sum_of(_number(0))
        for part in (*self.terms, *([_number(self.literal)] if self.literal else ())):
            product = product.plus(asm, sum_of(_operation(asm, "mul", part, factor)))
        return product

    def scaled(self, asm: FunctionWriter, number: int) -> IndexSum:
        """The product with a literal."""
        if number == 1:
            return self
        factor = _number(number)
        terms = [_operation(asm, "mul", term, factor) for term in self.terms if number]
        return IndexSum(tuple(terms), self.literal * number)


def sum_of(value: Value) -> IndexSum:
    """An i64 as a sum."""
    return IndexSum((), int(value.text)) if is_number(value) else IndexSum((value,), 0)


def address_of_sum(asm: FunctionWriter, type_: str, pointer: Value, offset: IndexSum) -> Value:
    """The address so many elements from a pointer.

    On the way to it may be one outside of the buffer, so none is said to be inside.
    """
    for term in offset.terms:
        text = f"getelementptr {type_}, {pointer}, {term}"
        pointer = asm.before_loops("ptr", text, (pointer, term))
    if offset.literal:
        pointer = asm.value("ptr", f"getelementptr {type_}, {pointer}, i64 {offset.literal}")
    return pointer


def _operation(asm: FunctionWriter, name: str, a: Value, b: Value) -> Value:
    if is_number(a) and is_number(b):
        x, y = int(a.text), int(b.text)
        return _number(x * y if name == "mul" else x + y if name == "add" else x - y)
    if name == "mul" and "1" in (a.text, b.text):
        return b if a.text == "1" else a
    return asm.before_loops(a.type, f"{name} {a}, {b.text}", (a, b))


@lru_cache(1024)
def _number(value: int) -> Value:
    return Value("i64", str((value + (1 << 63)) % (1 << 64) - (1 << 63)))


def is_number(value: Value) -> bool:
    """True if a value is a literal."""
    return value.text[0] != "%"
