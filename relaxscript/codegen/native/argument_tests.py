"""The code that tests the arguments of native entries: parts of the texts in `support.py`.

    i1 relaxscript_take(ptr args, i64 count, ptr names, ptr table, ptr data, ptr sizes)
    i1 relaxscript_int(ptr arg, ptr place)    also ..._float, ..._bool: the value of a scalar
    ptr relaxscript_prim(ptr arg, ptr dtype)    the scalar in a `Prim` of a dtype, null for others
    i1 relaxscript_shape(ptr arg, i64 rank, ptr sizes)    the sizes of a shape, or of a tuple of int
    ptr relaxscript_fields(ptr arg, i64 count)    the fields of a tuple, null for anything else

Arguments are tested by a table of 64-bit words: how many there are, and for each the dtype, flags,
the rank, and two words for each axis. A size is a constant, or goes to a place in `sizes`, or is
what is in a place already. The addresses of elements go to `data`. For an argument that is no
array there is one word, a zero, and its own address goes to `data`.
"""

from __future__ import annotations

from .builtin import DATA, DESCR, DIMS, FIELDS, FLAGS, NDIM, PRIM_DTYPE, PRIM_VALUE, TYPE

__all__ = ["ARRAY_TESTS", "IS_CONSTANT", "IS_KNOWN", "IS_NEW", "NO_ARRAY", "OTHER_TESTS"]

# The words of a table for an axis: how the size is given.
IS_CONSTANT, IS_NEW, IS_KNOWN = range(3)
NO_ARRAY = "i64 0"

# `@relaxscript.ndarray` is declared by the text that has this in it.
ARRAY_TESTS = f"""
define i1 @relaxscript_take(
  ptr %args, i64 %count, ptr %names, ptr %table, ptr %data, ptr %sizes
) nounwind {{
entry:
  %wanted = load i64, ptr %table
  %fits = icmp eq i64 %count, %wanted
  %plain = icmp eq ptr %names, null
  %start = and i1 %fits, %plain
  %words = getelementptr i64, ptr %table, i64 1
  br i1 %start, label %next, label %no
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %taken ]
  %at = phi ptr [ %words, %entry ], [ %axes.end, %taken ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %yes
one:
  %place = getelementptr ptr, ptr %args, i64 %i
  %arg = load ptr, ptr %place
  %dtype = load i64, ptr %at
  %data.at = getelementptr ptr, ptr %data, i64 %i
  %no.array = icmp eq i64 %dtype, 0
  br i1 %no.array, label %other, label %array
other:
  store ptr %arg, ptr %data.at
  %other.end = getelementptr i64, ptr %at, i64 1
  br label %taken
array: ; nothing but an array has the fields that are read then
  %type.place = getelementptr i8, ptr %arg, i64 {TYPE}
  %type = load ptr, ptr %type.place
  %is.array = icmp eq ptr %type, @relaxscript.ndarray
  br i1 %is.array, label %kind, label %no
kind:
  %descr.place = getelementptr i8, ptr %arg, i64 {DESCR}
  %descr = load i64, ptr %descr.place
  %same.dtype = icmp eq i64 %descr, %dtype
  %flags.place = getelementptr i8, ptr %arg, i64 {FLAGS}
  %flags = load i32, ptr %flags.place
  %flags.at = getelementptr i64, ptr %at, i64 1
  %needed = load i32, ptr %flags.at
  %has = and i32 %flags, %needed
  %same.flags = icmp eq i32 %has, %needed
  %ndim.place = getelementptr i8, ptr %arg, i64 {NDIM}
  %ndim = load i32, ptr %ndim.place
  %ndim.at = getelementptr i64, ptr %at, i64 2
  %rank = load i32, ptr %ndim.at
  %same.ndim = icmp eq i32 %ndim, %rank
  %both = and i1 %same.dtype, %same.flags
  %all = and i1 %both, %same.ndim
  br i1 %all, label %elements, label %no
elements:
  %data.place = getelementptr i8, ptr %arg, i64 {DATA}
  %begin = load ptr, ptr %data.place
  store ptr %begin, ptr %data.at
  %dims.place = getelementptr i8, ptr %arg, i64 {DIMS}
  %dims = load ptr, ptr %dims.place
  %axes = getelementptr i64, ptr %at, i64 3
  %axis.count = sext i32 %rank to i64
  br label %axis
axis:
  %axis.i = phi i64 [ 0, %elements ], [ %axis.next, %on ]
  %axis.at = phi ptr [ %axes, %elements ], [ %after, %on ]
  %more.axes = icmp slt i64 %axis.i, %axis.count
  br i1 %more.axes, label %size, label %taken
size:
  %size.place = getelementptr i64, ptr %dims, i64 %axis.i
  %extent = load i64, ptr %size.place
  %what = load i64, ptr %axis.at
  %value.at = getelementptr i64, ptr %axis.at, i64 1
  %value = load i64, ptr %value.at
  %after = getelementptr i64, ptr %axis.at, i64 2
  %axis.next = add i64 %axis.i, 1
  %constant = icmp eq i64 %what, {IS_CONSTANT}
  br i1 %constant, label %compare, label %variable
compare:
  %same.constant = icmp eq i64 %extent, %value
  br i1 %same.constant, label %on, label %no
variable:
  %slot = getelementptr i64, ptr %sizes, i64 %value
  %new = icmp eq i64 %what, {IS_NEW}
  br i1 %new, label %keep, label %known
keep:
  store i64 %extent, ptr %slot
  br label %on
known:
  %before = load i64, ptr %slot
  %same.size = icmp eq i64 %extent, %before
  br i1 %same.size, label %on, label %no
on:
  br label %axis
taken:
  %axes.end = phi ptr [ %axis.at, %axis ], [ %other.end, %other ]
  %i.next = add i64 %i, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}}
"""

OTHER_TESTS = f"""
@relaxscript.int = external global i8
@relaxscript.float = external global i8
@relaxscript.true = external global i8
@relaxscript.false = external global i8
@relaxscript.tuple = external global i8
@relaxscript.shape = external global i8
@relaxscript.prim = external global i8
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare double @PyFloat_AsDouble(ptr)
declare i64 @PyTuple_Size(ptr)

define i1 @relaxscript_int(ptr %arg, ptr %place) nounwind {{
  %overflow = alloca i32
  %type.place = getelementptr i8, ptr %arg, i64 {TYPE}
  %type = load ptr, ptr %type.place
  %is.int = icmp eq ptr %type, @relaxscript.int
  br i1 %is.int, label %read, label %no
read: ; a subclass could do anything, this raises nothing
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %arg, ptr %overflow)
  store i64 %value, ptr %place
  %beyond = load i32, ptr %overflow
  %fits = icmp eq i32 %beyond, 0
  ret i1 %fits
no:
  ret i1 false
}}

define i1 @relaxscript_float(ptr %arg, ptr %place) nounwind {{
  %type.place = getelementptr i8, ptr %arg, i64 {TYPE}
  %type = load ptr, ptr %type.place
  %is.float = icmp eq ptr %type, @relaxscript.float
  br i1 %is.float, label %read, label %no
read:
  %value = call double @PyFloat_AsDouble(ptr %arg)
  store double %value, ptr %place
  ret i1 true
no:
  ret i1 false
}}

define i1 @relaxscript_bool(ptr %arg, ptr %place) nounwind {{
  %is.true = icmp eq ptr %arg, @relaxscript.true
  %is.false = icmp eq ptr %arg, @relaxscript.false
  %fits = or i1 %is.true, %is.false
  %value = zext i1 %is.true to i64
  store i64 %value, ptr %place
  ret i1 %fits
}}

define ptr @relaxscript_prim(ptr %arg, ptr %dtype) nounwind {{
  %type.place = getelementptr i8, ptr %arg, i64 {TYPE}
  %type = load ptr, ptr %type.place
  %is.prim = icmp eq ptr %type, @relaxscript.prim
  br i1 %is.prim, label %read, label %no
read:
  %dtype.place = getelementptr i8, ptr %arg, i64 {PRIM_DTYPE}
  %own = load ptr, ptr %dtype.place
  %same = icmp eq ptr %own, %dtype
  %value.place = getelementptr i8, ptr %arg, i64 {PRIM_VALUE}
  %value = load ptr, ptr %value.place
  %found = select i1 %same, ptr %value, ptr null
  ret ptr %found
no:
  ret ptr null
}}

define internal ptr @sized(ptr %arg, i64 %count) nounwind {{
  %size = call i64 @PyTuple_Size(ptr %arg)
  %same = icmp eq i64 %size, %count
  %fields = getelementptr i8, ptr %arg, i64 {FIELDS}
  %found = select i1 %same, ptr %fields, ptr null
  ret ptr %found
}}

define ptr @relaxscript_fields(ptr %arg, i64 %count) nounwind {{
  %type.place = getelementptr i8, ptr %arg, i64 {TYPE}
  %type = load ptr, ptr %type.place
  %is.tuple = icmp eq ptr %type, @relaxscript.tuple
  br i1 %is.tuple, label %read, label %no
read:
  %found = call ptr @sized(ptr %arg, i64 %count)
  ret ptr %found
no:
  ret ptr null
}}

define i1 @relaxscript_shape(ptr %arg, i64 %rank, ptr %sizes) nounwind {{
entry:
  %type.place = getelementptr i8, ptr %arg, i64 {TYPE}
  %type = load ptr, ptr %type.place
  %is.shape = icmp eq ptr %type, @relaxscript.shape
  %is.tuple = icmp eq ptr %type, @relaxscript.tuple
  %either = or i1 %is.shape, %is.tuple
  br i1 %either, label %read, label %no
read:
  %fields = call ptr @sized(ptr %arg, i64 %rank)
  %other = icmp eq ptr %fields, null
  br i1 %other, label %no, label %next
next:
  %i = phi i64 [ 0, %read ], [ %i.next, %keep ]
  %more = icmp slt i64 %i, %rank
  br i1 %more, label %field, label %yes
field:
  %field.place = getelementptr ptr, ptr %fields, i64 %i
  %size = load ptr, ptr %field.place
  %slot = getelementptr i64, ptr %sizes, i64 %i
  %fits = call i1 @relaxscript_int(ptr %size, ptr %slot)
  br i1 %fits, label %keep, label %no
keep:
  %extent = load i64, ptr %slot
  %negative = icmp slt i64 %extent, 0
  %i.next = add i64 %i, 1
  br i1 %negative, label %no, label %next
yes:
  ret i1 true
no:
  ret i1 false
}}
"""
