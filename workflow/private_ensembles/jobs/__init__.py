"""What every job does around its work: log, atomic files, one-line errors, provenance, progress.

Knows nothing of what a job computes. May import `noise` and `configuration`.
"""
