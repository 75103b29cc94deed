"""Data sets: download, verify, parse, split, partition into shards; knows nothing of models."""
