"""Code generation: `llvm/` makes native code of PrimFuncs, `vm/` bytecode of Relax functions.

A kind of target is an object in `backend.py`.
"""
