"""Labels of somebody's own votes: planned, charged, drawn and written, and the record of it.

Knows nothing of Snakemake and of papers. May import the floors up to `planner`.
"""
