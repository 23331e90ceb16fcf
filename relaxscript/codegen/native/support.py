"""The code that all native entries share, compiled once in a process.

    ptr relaxscript_slowly(ptr self, ptr args, i64 count, ptr names)    self(*args, **named)
    ptr relaxscript_failed(ptr self, i32 status, ptr details)           raises what a kernel says

Both give a new reference, or null where an exception is raised, as C functions of Python do.
"""

from __future__ import annotations

__all__ = ["FUNCTIONS", "PYTHON_FUNCTIONS", "SUPPORT_TEXT"]

# The functions of Python's C API that entries call.
PYTHON_FUNCTIONS = (
    "PyDict_New", "PyDict_SetItem", "PyErr_Clear", "PyEval_RestoreThread", "PyEval_SaveThread",
    "PyObject_Call", "PyObject_CallFunction", "PyTuple_GetItem", "PyTuple_New", "PyTuple_SetItem",
    "PyTuple_Size", "Py_DecRef", "Py_IncRef",
)  # fmt: skip
# The functions of the text below.
FUNCTIONS = ("relaxscript_slowly", "relaxscript_failed")

SUPPORT_TEXT = """\
@relaxscript.raise_failure = external global i8
@form = private constant [4 x i8] c"OiL\\00"
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

define ptr @relaxscript_failed(ptr %self, i32 %status, ptr %details) nounwind {
  %address = ptrtoint ptr %details to i64
  %result = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr @relaxscript.raise_failure,
    ptr @form, ptr %self, i32 %status, i64 %address)
  ret ptr %result
}
"""
