"""Parts of programs handed to code generators of one's own.

allocate_workspace.py         code generators get memory to work in.
attach_extern_modules.py      packed functions that a module brings with it.
attention_rewrite.py          attention found in products and a softmax.
buffer_uses.py                which statements read and write which memory.
common_patterns.py            patterns of what libraries compute as one.
merge_composite_functions.py  neighbours for the same code generator become one function.
nest_matcher.py               loop nests that are those of a pattern.
pattern_registry.py           the patterns that have names for all.
run_codegen.py                code generators make packed functions of what is theirs.
split_call_tir_by_pattern.py  the first nests of PrimFuncs become calls of libraries.
numpy_blas.py                 one of them: products and convolutions by numpy.
"""
