"""What papers say of several of their numbers at once: orders, growth, and means over a table.

One file for each paper yields its relations, `judging` says how each fares, and `comparison` makes
rows of ``fidelity.csv`` of them. May import what `published` may.
"""
