"""The code that native entries share, compiled once in a process, where the first of them needs it.

    ptr relaxscript_slowly(ptr self, ptr args, i64 count, ptr names)    self(*args, **named)
    ptr relaxscript_failed(ptr self, i32 status, i32 place, ptr details)    raises what call number
                                                              `place` of a kernel says
    ptr relaxscript_result(ptr dtype, i32 ndim, ptr dims, i64 size, i1 zeros)    a new array
    ptr relaxscript_view(ptr dtype, i32 ndim, ptr dims, ptr data, ptr base)      a view of `base`
    void relaxscript_drop(ptr held, i64 count)    lets go of so many objects, null for none
    i1 relaxscript_no_memory()    forgets a failure to allocate, false for any other
    ptr relaxscript_new_shape(i64 rank, ptr sizes)    a new shape
    ptr relaxscript_unlock(i1 wanted) · i1 relaxscript_lock(ptr thread)    Python's lock; true where
                                                              the handler of a signal raised

The first three give a new reference, or null where an exception is raised. Large results are in
blocks that are used again: `runtime/result_blocks.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from relaxscript.runtime.result_blocks import ALIGNMENT, CLASSES, SMALLEST, WAYS

from .argument_tests import ARRAY_TESTS, OTHER_TESTS
from .builtin import ALIGNED_COMPACT, DATA, WRITEABLE

__all__ = ["PYTHON_FUNCTIONS", "SHARED_TEXTS", "SharedText"]


class SharedText(NamedTuple):
    """A module of shared functions, and their names."""

    functions: tuple[str, ...]
    text: str


# The functions of Python's C API that entries call.
PYTHON_FUNCTIONS = (
    "PyBool_FromLong", "PyDict_New", "PyDict_SetItem", "PyErr_CheckSignals", "PyErr_Clear",
    "PyErr_ExceptionMatches", "PyEval_RestoreThread", "PyEval_SaveThread", "PyFloat_AsDouble",
    "PyFloat_FromDouble", "PyLong_AsLongLongAndOverflow", "PyLong_FromLongLong", "PyObject_Call",
    "PyObject_CallFunction", "PyTuple_GetItem", "PyTuple_New", "PyTuple_SetItem", "PyTuple_Size",
    "Py_DecRef", "Py_IncRef",
)  # fmt: skip

_CALLS = """\
@relaxscript.raise_failure = external global i8
@form = private constant [5 x i8] c"OiiL\\00"
declare ptr @PyDict_New()
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare ptr @PyObject_Call(ptr, ptr, ptr)
declare ptr @PyObject_CallFunction(ptr, ptr, ...)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare i64 @PyTuple_Size(ptr)
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)

define ptr @relaxscript_slowly(ptr %self, ptr %args, i64 %count, ptr %names) nounwind {
entry:
  %tuple = call ptr @PyTuple_New(i64 %count)
  %no.tuple = icmp eq ptr %tuple, null
  br i1 %no.tuple, label %failed, label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %put ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %put, label %named
put:
  %place = getelementptr ptr, ptr %args, i64 %i
  %arg = load ptr, ptr %place
  call void @Py_IncRef(ptr %arg)
  call i32 @PyTuple_SetItem(ptr %tuple, i64 %i, ptr %arg)
  %i.next = add i64 %i, 1
  br label %next
named:
  %plain = icmp eq ptr %names, null
  br i1 %plain, label %call, label %dict
dict:
  %dictionary = call ptr @PyDict_New()
  %no.dict = icmp eq ptr %dictionary, null
  br i1 %no.dict, label %drop.tuple, label %sized
sized:
  %size = call i64 @PyTuple_Size(ptr %names)
  br label %next.named
next.named:
  %k = phi i64 [ 0, %sized ], [ %k.next, %set ]
  %more.named = icmp slt i64 %k, %size
  br i1 %more.named, label %set, label %call
set:
  %name = call ptr @PyTuple_GetItem(ptr %names, i64 %k)
  %at = add i64 %count, %k
  %place.named = getelementptr ptr, ptr %args, i64 %at
  %value = load ptr, ptr %place.named
  %wrong = call i32 @PyDict_SetItem(ptr %dictionary, ptr %name, ptr %value)
  %k.next = add i64 %k, 1
  %is.wrong = icmp ne i32 %wrong, 0
  br i1 %is.wrong, label %drop.dict, label %next.named
drop.dict:
  call void @Py_DecRef(ptr %dictionary)
  br label %drop.tuple
drop.tuple:
  call void @Py_DecRef(ptr %tuple)
  ret ptr null
call:
  %kwargs = phi ptr [ null, %named ], [ %dictionary, %next.named ]
  %result = call ptr @PyObject_Call(ptr %self, ptr %tuple, ptr %kwargs)
  call void @Py_DecRef(ptr %tuple)
  %none = icmp eq ptr %kwargs, null
  br i1 %none, label %done, label %drop.kwargs
drop.kwargs:
  call void @Py_DecRef(ptr %kwargs)
  br label %done
done:
  ret ptr %result
failed:
  ret ptr null
}

define ptr @relaxscript_failed(ptr %self, i32 %status, i32 %place, ptr %details) nounwind {
  %address = ptrtoint ptr %details to i64
  %result = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr @relaxscript.raise_failure,
    ptr @form, ptr %self, i32 %status, i32 %place, i64 %address)
  ret ptr %result
}
"""

_ARRAYS = f"""\
@relaxscript.ndarray = external global i8
@relaxscript.memory_error = external global i8
@relaxscript.value_error = external global i8
@relaxscript.blocks = external global i8
@relaxscript.new_block = external global i8
@relaxscript.none = external global i8
@size.form = private constant [2 x i8] c"L\\00"
declare ptr @relaxscript.new_array(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare i32 @relaxscript.set_base(ptr, ptr)
declare i32 @PyErr_ExceptionMatches(ptr)
declare void @PyErr_Clear()
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i64 @llvm.ctlz.i64(i64, i1)

define i1 @relaxscript_no_memory() nounwind {{
  %memory = call i32 @PyErr_ExceptionMatches(ptr @relaxscript.memory_error)
  %value = call i32 @PyErr_ExceptionMatches(ptr @relaxscript.value_error)
  %either = or i32 %memory, %value
  %found = icmp ne i32 %either, 0
  br i1 %found, label %clear, label %end
clear:
  call void @PyErr_Clear()
  br label %end
end:
  ret i1 %found
}}

define internal ptr @block(i64 %size) nounwind {{
entry: ; a free block of the class of this size, or a new one
  %last = sub i64 %size, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %last, i1 true)
  %exponent = sub i64 63, %zeros
  %shift = sub i64 %exponent, 2
  %quarters = lshr i64 %last, %shift
  %power = mul i64 %exponent, 4
  %sum = add i64 %power, %quarters
  %class = sub i64 %sum, 64
  %known = icmp ult i64 %class, {CLASSES}
  br i1 %known, label %some, label %none
some:
  %first = mul i64 %class, {WAYS}
  br label %look
look:
  %way = phi i64 [ 0, %some ], [ %way.next, %next ]
  %number = add i64 %first, %way
  %place = getelementptr ptr, ptr @relaxscript.blocks, i64 %number
  %found = load ptr, ptr %place
  %empty = icmp eq ptr %found, null
  br i1 %empty, label %next, label %held
held:
  %count = load i32, ptr %found
  %free = icmp eq i32 %count, 1
  br i1 %free, label %take, label %next
take:
  call void @Py_IncRef(ptr %found)
  ret ptr %found
next:
  %way.next = add i64 %way, 1
  %more = icmp ult i64 %way.next, {WAYS}
  br i1 %more, label %look, label %new
new:
  %made = call ptr (ptr, ptr, ...) @PyObject_CallFunction(
    ptr @relaxscript.new_block, ptr @size.form, i64 %size)
  ret ptr %made
none:
  call void @Py_IncRef(ptr @relaxscript.none)
  ret ptr @relaxscript.none
}}

define ptr @relaxscript_result(ptr %dtype, i32 %ndim, ptr %dims, i64 %size, i1 %zeros) nounwind {{
entry: ; most results, which are small, need no variable that is kept from block to block
  %large = icmp uge i64 %size, {SMALLEST}
  %more = or i1 %large, %zeros
  br i1 %more, label %ask, label %plain
plain:
  call void @Py_IncRef(ptr %dtype)
  %small = call ptr @relaxscript.new_array(ptr @relaxscript.ndarray, ptr %dtype, i32 %ndim,
    ptr %dims, ptr null, ptr null, i32 0, ptr null)
  ret ptr %small
ask:
  br i1 %large, label %pooled, label %alone
pooled:
  %block = call ptr @block(i64 %size)
  %failed = icmp eq ptr %block, null
  br i1 %failed, label %fail, label %got
got:
  %nothing = icmp eq ptr %block, @relaxscript.none
  br i1 %nothing, label %without, label %within
without:
  call void @Py_DecRef(ptr %block)
  br label %alone
within:
  %data.place = getelementptr i8, ptr %block, i64 {DATA}
  %begin = load i64, ptr %data.place
  %end = add i64 %begin, {ALIGNMENT - 1}
  %aligned = and i64 %end, -{ALIGNMENT}
  %memory = inttoptr i64 %aligned to ptr
  call void @Py_IncRef(ptr %dtype)
  %inside = call ptr @relaxscript.new_array(ptr @relaxscript.ndarray, ptr %dtype, i32 %ndim,
    ptr %dims, ptr null, ptr %memory, i32 {ALIGNED_COMPACT | WRITEABLE}, ptr null)
  %no.inside = icmp eq ptr %inside, null
  br i1 %no.inside, label %drop.block, label %base
drop.block:
  call void @Py_DecRef(ptr %block)
  ret ptr null
base:
  %wrong = call i32 @relaxscript.set_base(ptr %inside, ptr %block)
  %is.wrong = icmp ne i32 %wrong, 0
  br i1 %is.wrong, label %drop.inside, label %made
drop.inside:
  call void @Py_DecRef(ptr %inside)
  ret ptr null
alone:
  call void @Py_IncRef(ptr %dtype)
  %own = call ptr @relaxscript.new_array(ptr @relaxscript.ndarray, ptr %dtype, i32 %ndim,
    ptr %dims, ptr null, ptr null, i32 0, ptr null)
  %no.own = icmp eq ptr %own, null
  br i1 %no.own, label %fail, label %made
made:
  %array = phi ptr [ %inside, %base ], [ %own, %alone ]
  br i1 %zeros, label %clear, label %done
clear:
  %array.place = getelementptr i8, ptr %array, i64 {DATA}
  %array.data = load ptr, ptr %array.place
  call void @llvm.memset.p0.i64(ptr %array.data, i8 0, i64 %size, i1 false)
  br label %done
done:
  ret ptr %array
fail:
  ret ptr null
}}
"""

_LOCK = """\
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()

define ptr @relaxscript_unlock(i1 %wanted) nounwind {
  br i1 %wanted, label %save, label %keep
save:
  %thread = call ptr @PyEval_SaveThread()
  ret ptr %thread
keep:
  ret ptr null
}

define i1 @relaxscript_lock(ptr %thread) nounwind {
  %kept = icmp eq ptr %thread, null
  br i1 %kept, label %end, label %restore
restore: ; a signal that came meanwhile is handled here: many calls may follow without any Python
  call void @PyEval_RestoreThread(ptr %thread)
  %raised = call i32 @PyErr_CheckSignals()
  %stop = icmp ne i32 %raised, 0
  ret i1 %stop
end:
  ret i1 false
}
"""

_VIEWS = f"""\
@relaxscript.ndarray = external global i8
declare ptr @relaxscript.new_array(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare i32 @relaxscript.set_base(ptr, ptr)
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)

define ptr @relaxscript_view(ptr %dtype, i32 %ndim, ptr %dims, ptr %data, ptr %base) nounwind {{
  call void @Py_IncRef(ptr %dtype)
  %made = call ptr @relaxscript.new_array(ptr @relaxscript.ndarray, ptr %dtype, i32 %ndim,
    ptr %dims, ptr null, ptr %data, i32 {ALIGNED_COMPACT | WRITEABLE}, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %none, label %base.it
base.it:
  call void @Py_IncRef(ptr %base)
  %wrong = call i32 @relaxscript.set_base(ptr %made, ptr %base)
  %is.wrong = icmp ne i32 %wrong, 0
  br i1 %is.wrong, label %drop, label %done
drop:
  call void @Py_DecRef(ptr %made)
  br label %none
done:
  ret ptr %made
none:
  ret ptr null
}}
"""

_SHAPES = """\
@relaxscript.new_tuple = external global i8
@shape.form = private constant [3 x i8] c"OO\\00"
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyObject_CallFunction(ptr, ptr, ...)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)

define ptr @relaxscript_new_shape(i64 %rank, ptr %sizes) nounwind {
entry:
  %tuple = call ptr @PyTuple_New(i64 %rank)
  %no.tuple = icmp eq ptr %tuple, null
  br i1 %no.tuple, label %failed, label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %put ]
  %more = icmp slt i64 %i, %rank
  br i1 %more, label %size, label %shape
size:
  %place = getelementptr i64, ptr %sizes, i64 %i
  %extent = load i64, ptr %place
  %number = call ptr @PyLong_FromLongLong(i64 %extent)
  %no.number = icmp eq ptr %number, null
  br i1 %no.number, label %drop, label %put
put:
  call i32 @PyTuple_SetItem(ptr %tuple, i64 %i, ptr %number)
  %i.next = add i64 %i, 1
  br label %next
shape:
  %made = call ptr (ptr, ptr, ...) @PyObject_CallFunction(
    ptr @relaxscript.new_tuple, ptr @shape.form, ptr @relaxscript.shape, ptr %tuple)
  call void @Py_DecRef(ptr %tuple)
  ret ptr %made
drop:
  call void @Py_DecRef(ptr %tuple)
  br label %failed
failed:
  ret ptr null
}
"""

_DROP = """\
define void @relaxscript_drop(ptr %held, i64 %count) nounwind {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %one ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %end
one:
  %place = getelementptr ptr, ptr %held, i64 %i
  %thing = load ptr, ptr %place
  call void @Py_DecRef(ptr %thing)
  %i.next = add i64 %i, 1
  br label %next
end:
  ret void
}
"""

# What most entries need, and what few do: a program without any scalar compiles no test of one.
SHARED_TEXTS = (
    SharedText(
        (
            "relaxscript_slowly", "relaxscript_failed", "relaxscript_result",
            "relaxscript_no_memory", "relaxscript_unlock", "relaxscript_lock", "relaxscript_drop",
            "relaxscript_take",
        ),
        _CALLS + _ARRAYS + _LOCK + _DROP + ARRAY_TESTS,
    ),
    SharedText(
        (
            "relaxscript_view", "relaxscript_new_shape", "relaxscript_int", "relaxscript_float",
            "relaxscript_bool", "relaxscript_fields", "relaxscript_shape", "relaxscript_prim",
        ),
        _VIEWS + _SHAPES + OTHER_TESTS,
    ),
)  # fmt: skip
