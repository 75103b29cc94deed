"""Benchmarks, run by `python benchmarks/run.py NAME`; their results are in docs/benchmarks."""
