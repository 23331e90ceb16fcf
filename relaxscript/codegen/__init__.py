"""Code generation: `llvm/` makes native code of PrimFuncs, `vm/` bytecode of Relax functions."""
