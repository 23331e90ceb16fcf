"""What the virtual machine offers beside what TVM 0.20 offers: names, parameters, defaults.

The tables are facts about TVM; `EXPLAINED` has every difference with its reason. A difference that
is not explained fails, and so does an explanation of what is no difference any more.
"""

from __future__ import annotations

import ast
import inspect
from operator import attrgetter

import relaxscript as rx
from relaxscript.op import REGISTRY
from relaxscript.op.sets import nonzero, unique
from relaxscript.runtime import ArgKind, BenchmarkResult, Report
from relaxscript.runtime.builtins import BUILTINS
from relaxscript.runtime.bytecode import SpecialReg

EXEC_BUILDER = """
    __init__()
    r(idx)
    imm(value)
    c(idx)
    f(name)
    void_arg()
    vm_state()
    declare_function(func_name, kind=VMFuncKind.PACKED_FUNC)
    function(func_name, num_inputs=0, param_names=None)
    convert_constant(const)
    emit_call(name, args=None, dst=None)
    emit_ret(result)
    emit_goto(pc_offset)
    emit_if(cond, false_offset)
    get()
"""

EXECUTABLE = """
    __init__(mod)
    __getitem__(name)
    __call__(*args, **kwargs)
    jit(*, fcompile=None, addons=None, force_recompile=False, **kwargs)
    export_library(file_name, *, fcompile=None, addons=None, workspace_dir=None, **kwargs)
    mod
    stats()
    as_text()
    as_python()
    has_function(name)
    vm_load_executable()
    vm_profiler_load_executable()
"""

VIRTUAL_MACHINE = """
    __init__(rt_mod, device, memory_cfg=None, profile=False)
    __getitem__(key)
    invoke_closure(closure, *args)
    save_function(func_name, saved_name, *args, include_return=True, **kwargs)
    set_input(func_name, *args, **kwargs)
    invoke_stateful(func_name)
    get_outputs(func_name)
    set_instrument(instrument)
    time_evaluator(func_name, dev, number=10, repeat=1, min_repeat_ms=0, cooldown_interval_ms=0, \
repeats_to_cooldown=1, f_preproc='')
    profile(func_name, *args)
    NAIVE_ALLOCATOR
    POOLED_ALLOCATOR
"""

BENCHMARK_RESULT = """
    __init__(results)
    mean
    median
    min
    max
    std
"""

REPORT = """
    csv()
    table()
    json()
    from_json(text)
"""

# Functions by where TVM has them: `tvm.nd`, `tvm.runtime`, `tvm`.
FUNCTIONS = """
    nd.device(dev_type, dev_id=0)
    nd.cpu(dev_id=0)
    nd.array(arr, device=cpu(0), mem_scope=None)
    nd.empty(shape, dtype='float32', device=cpu(0), mem_scope=None)
    nd.from_dlpack(dltensor)
    register_func(func_name, f=None, override=False)
    get_global_func(name, allow_missing=False)
    list_global_func_names()
    remove_global_func(name)
"""

TABLES = {
    "ExecBuilder": (rx.ExecBuilder, EXEC_BUILDER),
    "VMExecutable": (rx.VMExecutable, EXECUTABLE),
    "VirtualMachine": (rx.VirtualMachine, VIRTUAL_MACHINE),
    "BenchmarkResult": (BenchmarkResult, BENCHMARK_RESULT),
    "Report": (Report, REPORT),
}

EXPLAINED = {
    # -- what the bytecode knows beyond TVM's
    "ExecBuilder.function: ours takes param_checks=()": "arguments are checked on entry",
    "ExecBuilder.function: ours takes return_check=None": "and the result at the end",
    "ExecBuilder.function: ours takes heap_size=0": "shape variables need no builtin to allocate",
    "ExecBuilder.function: ours takes public=True": "private functions are not called from outside",
    "ExecBuilder.function: ours takes pure=True": "listings say what is impure",
    "ExecBuilder.function: ours takes info=None": "closures carry their type",
    "ExecBuilder.function: ours takes span=None": "failures name the line",
    "ExecBuilder.function: ours takes param_spans=()": "failures name the parameter",
    "ExecBuilder.function: ours takes shape_vars=()": "a stepper shows shape variables",
    "ExecBuilder.function: ours takes weights=()": "a machine binds weights by name",
    "ExecBuilder.function: ours takes inputs=None": "a machine binds weights by name",
    "ExecBuilder.variable: ours alone": "a stepper shows variables by the names of the source",
    "ExecBuilder.emit_call: ours takes operands=()": "failures name what has no line, too",
    "ExecBuilder.emit_call: ours takes proved=()": "what is known to fit is not checked again",
    "ExecBuilder.emit_call: ours takes result=None": "what packed functions return is checked",
    "ExecBuilder.emit_call: ours takes span=None": "failures name the line",
    "ExecBuilder.emit_ret: ours takes span=None": "failures name the line",
    "ExecBuilder.emit_goto: ours takes span=None": "failures name the line",
    "ExecBuilder.emit_if: ours takes span=None": "failures name the line",
    "ExecBuilder.get: ours takes externals=None": "operators and kernels are Python callables",
    "ExecBuilder.constants: ours alone": "what is emitted so far",
    "ExecBuilder.functions: ours alone": "what is emitted so far",
    "ExecBuilder.instructions: ours alone": "what is emitted so far",
    "ExecBuilder.position: ours alone": "jumps are patched instead of being computed beforehand",
    "ExecBuilder.patch: ours alone": "jumps are patched instead of being computed beforehand",
    # -- executables are no modules of a C++ runtime
    "VMExecutable.__init__: TVM has mod": "the executable is the program, it wraps no module",
    "VMExecutable.__init__: ours takes functions": "the executable is the program",
    "VMExecutable.__init__: ours takes instructions": "the executable is the program",
    "VMExecutable.__init__: ours takes constants=()": "the executable is the program",
    "VMExecutable.__init__: ours takes externals=None": "operators and kernels are callables",
    "VMExecutable.export_library: TVM alone": "`rx.save` and `rx.load`: files without machine code",
    "VMExecutable.vm_load_executable: TVM alone": "`VirtualMachine(executable)`",
    "VMExecutable.vm_profiler_load_executable: TVM alone": "`VirtualMachine(..., profile=True)`",
    "VMExecutable.entries: ours alone": "its functions that are one native call",
    "VMExecutable.function_index: ours alone": "the table by name",
    "VMExecutable.link: ours alone": "the same program with other callables",
    "VMExecutable.explain: ours alone": "what a program is made of",
    "VMExecutable.explainer: ours alone": "the compiler knows, the machine does not",
    "VMExecutable.built: ours alone": "a program from the cache knows no module",
    "VMExecutable.trusted: ours alone": "a program from the cache was verified before",
    "VMExecutable.made_of: ours alone": "a program can be written down and made again",
    "VMExecutable.origin: ours alone": "`rx.save` writes what a program was made of",
    "VMExecutable.unoptimised: ours alone": "the program as it was before passes, for stepping",
    "VMExecutable.public_functions: ours alone": "what can be called",
    "VMExecutable.kernels: ours alone": "what it imports, as callables",
    "VMExecutable.listing: ours alone": "the lines of `as_text` with their places, for notebooks",
    "VMExecutable.imported_modules: ours alone": "it is the module that TVM has as `mod`",
    "VMExecutable.get_source: ours alone": "it is the module that TVM has as `mod`",
    # -- one host
    "VirtualMachine.__init__: device has the default None": "the host, if nothing is said",
    "VirtualMachine.time_evaluator: dev has the default None": "the machine has its devices",
    "VirtualMachine.bind_params: ours alone": "weights are bound by name, without a copy",
    "VirtualMachine.call_depth_limit: ours alone": "recursion ends in an error of ours",
    "VirtualMachine.__call__: ours alone": "a machine with one function is that function",
    "VirtualMachine.explain: ours alone": "what a program is made of",
    "VirtualMachine.step: ours alone": "runs step by step",
    "Report.__init__: ours alone": "a report is data that can be made by hand",
    "Report.chrome_trace: ours alone": "a picture of where the time goes",
    "Report.html: ours alone": "notebooks show it",
    "Report.svg: ours alone": "a picture of the source lines with their times",
    "VMExecutable.counters: ours alone": "code that takes its times itself, for a profile",
}

# Packed functions under `vm.builtin` and `relax.run`, those left out that work on caches and states
# of language models, on saved parameters, or on other processors.
BUILTIN_NAMES = """
    vm.builtin.alloc_shape_heap vm.builtin.alloc_storage vm.builtin.alloc_tensor
    vm.builtin.apply_presence_and_frequency_penalty vm.builtin.apply_repetition_penalty
    vm.builtin.apply_softmax_with_temperature vm.builtin.call_tir_dyn vm.builtin.check_func_info
    vm.builtin.check_prim_value_info vm.builtin.check_shape_info vm.builtin.check_tensor_info
    vm.builtin.check_tuple_info vm.builtin.copy vm.builtin.debug_print vm.builtin.ensure_zero_offset
    vm.builtin.invoke_closure vm.builtin.invoke_debug_func vm.builtin.make_closure
    vm.builtin.make_prim_value vm.builtin.make_shape vm.builtin.make_tuple
    vm.builtin.match_prim_value vm.builtin.match_shape vm.builtin.memory_manager.clear
    vm.builtin.multinomial_from_uniform vm.builtin.null_value vm.builtin.read_if_cond
    vm.builtin.reshape vm.builtin.sample_top_p_from_logits vm.builtin.sample_top_p_from_prob
    vm.builtin.shape_of vm.builtin.tensor_to_shape vm.builtin.to_device vm.builtin.tuple_getitem
    vm.builtin.tuple_reset_item
    relax.run.assert_op relax.run.nonzero relax.run.print relax.run.shape_to_tensor relax.run.unique
"""

EXPLAINED_BUILTINS = {
    "vm.builtin.alloc_shape_heap": "each call has a heap",
    "vm.builtin.check_func_info": "a check is one call",
    "vm.builtin.check_prim_value_info": "a check is one call",
    "vm.builtin.check_shape_info": "a check is one call",
    "vm.builtin.check_tensor_info": "a check is one call",
    "vm.builtin.check_tuple_info": "a check is one call",
    "vm.builtin.match_prim_value": "a check is one call",
    "vm.builtin.match_shape": "a check is one call",
    "vm.builtin.apply_presence_and_frequency_penalty": "sampling of language models",
    "vm.builtin.apply_repetition_penalty": "sampling of language models",
    "vm.builtin.apply_softmax_with_temperature": "sampling of language models",
    "vm.builtin.closure_info": "ours alone: gives a closure its type",
    "vm.builtin.constant": "ours alone: a constant that may be written to",
    "vm.builtin.ensure_zero_offset": "numpy's arrays begin where they begin",
    "vm.builtin.match_cast": "ours alone: checks and binds in one",
    "vm.builtin.match_arguments": "ours alone: the checks of a signature",
    "vm.builtin.match_result": "ours alone: the check of a result",
    "vm.builtin.multinomial_from_uniform": "sampling of language models",
    "vm.builtin.sample_top_p_from_logits": "sampling of language models",
    "vm.builtin.sample_top_p_from_prob": "sampling of language models",
    "vm.builtin.tuple_reset_item": "tuples do not change; registers are emptied",
    **dict.fromkeys(
        {str(o.packed) for o in REGISTRY.values() if o.packed and o not in (nonzero, unique)},
        "ours alone: operators that the elements decide",
    ),
}

EXPLAINED_FUNCTIONS = {
    "nd.device: dev_id has the default None": "a text may hold the index: `device('cpu:1')`",
    "nd.array: device has the default None": "the host",
    "nd.empty: device has the default None": "the host",
}

# Names of TVM that have no counterpart at all, or another one.
ABSENT = {
    "VMFuncScope": "`ExecBuilder.function` is a context manager of `contextlib`",
    "ExecutableLoadFromFile": "`rx.load`",
    "numpyasarray": "tensors of the host are numpy's",
    "register_object": "objects are Python's",
    "register_extension": "objects are Python's",
    "extract_ext_funcs": "`PackedFunc.from_ctypes` takes a C function",
}


def signature_of(member):
    """Parameters as text by name, in order, `self` left out; None for what is no function."""
    if isinstance(member, (staticmethod, classmethod)):
        member = member.__func__
    if not inspect.isfunction(member):
        return None
    parameters = list(inspect.signature(member).parameters.values())[1:]
    return [parameter_text(p.name, p.kind, p.default) for p in parameters]


def parameter_text(name, kind, default):
    if kind is inspect.Parameter.VAR_POSITIONAL:
        return f"*{name}"
    if kind is inspect.Parameter.VAR_KEYWORD:
        return f"**{name}"
    if default is inspect.Parameter.empty:
        return name
    shown = f"{type(default).__name__}.{default.name}" if hasattr(default, "name") else default
    return f"{name}={shown!r}" if isinstance(shown, str) and shown is default else f"{name}={shown}"


def stated(line):
    """The name and the parameters of a line of a table."""
    name, _, rest = line.partition("(")
    if not rest:
        return name, None
    arguments = ast.parse(f"def f({rest}: pass").body[0].args
    first = len(arguments.args) - len(arguments.defaults)
    texts = [
        arg.arg + (f"={ast.unparse(arguments.defaults[i - first])}" if i >= first else "")
        for i, arg in enumerate(arguments.args)
    ]
    texts += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    texts += [
        arg.arg + (f"={ast.unparse(default)}" if default is not None else "")
        for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults)
    ]
    texts += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    return name, texts


def members(cls):
    """What a class and its bases of ours have for users, and what its instances do."""
    found = {
        name: member
        for base in reversed(cls.__mro__[:-1])
        for name, member in vars(base).items()
        if not name.startswith("_") or name in {"__init__", "__getitem__", "__call__"}
    }
    return found


def differences(title, cls, table):
    ours = members(cls)
    theirs = dict(stated(line.strip()) for line in table.strip().splitlines())
    for name in sorted(set(ours) - set(theirs)):
        yield f"{title}.{name}: ours alone"
    for name, wanted in theirs.items():
        if name not in ours:
            if not (wanted is None and name in annotated(cls)):
                yield f"{title}.{name}: TVM alone"
            continue
        yield from of_parameters(f"{title}.{name}", wanted, signature_of(ours[name]))


def annotated(cls):
    """Attributes that `__init__` sets."""
    return set(cls.__init__.__code__.co_names)


def of_parameters(title, wanted, given):
    if wanted is None or given is None:
        if wanted != given:
            yield f"{title}: one is a function, the other is not"
        return
    defaults = dict(text.partition("=")[::2] for text in given)
    names = [text.partition("=")[0] for text in wanted]
    for text in wanted:
        name, _, default = text.partition("=")
        if name not in defaults:
            yield f"{title}: TVM has {text}"
        elif defaults[name] != default:
            yield f"{title}: {name} has the default {defaults[name]}"
    for text in given:
        if text.partition("=")[0] not in names:
            yield f"{title}: ours takes {text}"
    shared = [text.partition("=")[0] for text in given if text.partition("=")[0] in names]
    if shared != [name for name in names if name in shared]:
        yield f"{title}: the order differs"


def test_what_differs_from_tvm_is_explained():
    found = {
        difference
        for title, (cls, table) in TABLES.items()
        for difference in differences(title, cls, table)
    }
    assert sorted(found - set(EXPLAINED)) == [], "differences without explanation"
    assert sorted(set(EXPLAINED) - found) == [], "explanations of what is no difference"


def test_the_comparison_sees_a_name_a_parameter_a_default_and_an_order_that_drift():
    class Drifted:
        def kept(self, a, b=1): ...
        def shifted(self, b, a): ...
        def other(self, a, b=2, *, c=None): ...
        def extra(self): ...

    table = "kept(a, b=1)\nshifted(a, b)\nother(a, b=1, d=0)\ngone(x)"
    assert sorted(differences("D", Drifted, table)) == [
        "D.extra: ours alone",
        "D.gone: TVM alone",
        "D.other: TVM has d=0",
        "D.other: b has the default 2",
        "D.other: ours takes c=None",
        "D.shifted: the order differs",
    ]


def test_names_without_counterpart_are_listed():
    rooms = (rx, rx.vm, rx.nd, rx.runtime)
    assert [name for name in ABSENT if any(hasattr(room, name) for room in rooms)] == []


def test_what_differs_in_functions_is_explained():
    found = set()
    for line in FUNCTIONS.strip().splitlines():
        path, wanted = stated(line.strip())
        given = list(inspect.signature(attrgetter(path)(rx)).parameters.values())
        texts = [parameter_text(p.name, p.kind, p.default) for p in given]
        found.update(of_parameters(path, wanted, texts))
    assert found == set(EXPLAINED_FUNCTIONS)


def test_what_differs_in_builtins_is_explained():
    assert set(BUILTINS) ^ set(BUILTIN_NAMES.split()) == set(EXPLAINED_BUILTINS)


def test_numbers_and_names_of_the_enumerations_are_those_of_tvm():
    vm = rx.vm
    assert {kind.name: kind.value for kind in vm.VMFuncKind} == {"PACKED_FUNC": 0, "VM_FUNC": 1}
    assert {one.name: one.value for one in SpecialReg} == {
        "VOID_ARG": 1 << 54, "VM_STATE": (1 << 54) + 1,
    }  # fmt: skip
    assert (vm.VMInstrumentReturnKind.NO_OP, vm.VMInstrumentReturnKind.SKIP_RUN) == (0, 1)
    assert {kind.name: kind.value for kind in ArgKind} == {
        "REGISTER": 0, "IMMEDIATE": 1, "CONSTANT": 2, "FUNCTION": 3,
    }  # fmt: skip
    assert (vm.VirtualMachine.NAIVE_ALLOCATOR, vm.VirtualMachine.POOLED_ALLOCATOR) == (1, 2)


def test_the_names_of_tvm_are_found_where_tvm_has_them():
    assert rx.VMExecutable is rx.Executable is rx.vm.VMExecutable is rx.vm.Executable
    assert rx.VMInstrumentReturnKind is rx.vm.VMInstrumentReturnKind
    assert rx.VirtualMachine is rx.vm.VirtualMachine
