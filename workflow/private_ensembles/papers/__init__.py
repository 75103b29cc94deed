"""What the four papers say, one package for each paper: its mathematics, its section, its tables.

`common` is what several share, `compare` sets printed numbers beside ours, `ledger` says what every
mechanism claims and what is true. May import `labels`, `training` and what these may.
"""
