"""Parts of programs handed to code generators of one's own.

allocate_workspace.py         code generators get memory to work in.
attach_extern_modules.py      packed functions that a module brings with it.
attention_rewrite.py          attention found in products and a softmax.
common_patterns.py            patterns of what libraries compute as one.
merge_composite_functions.py  neighbours for the same code generator become one function.
pattern_registry.py           the patterns that have names for all.
run_codegen.py                code generators make packed functions of what is theirs.
numpy_blas.py                 one of them: products and convolutions by numpy.
"""
