"""Data sets: download, verify, parse, split, partition into shards. Knows no models."""
