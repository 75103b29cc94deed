"""Data sets: download, verify, parse, split, partition into shards.

Knows nothing of models or mechanisms. May import the floors up to `votes`.
"""
