"""Looking at programs that run: the stepper, the profiler, timings, instruments, Python text."""
