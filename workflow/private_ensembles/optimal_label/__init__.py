"""The best private label of a vote count: a linear program over sorted histograms, certified.

Histograms up to the names of the classes and what a moved vote does to them, the program and its
solvers, the repair that makes a solution private for certain, and the bound on every mechanism
(docs/best-label.md). Knows no teachers, no data sets and none of the papers. May import
`accounting` and `audit`.
"""
