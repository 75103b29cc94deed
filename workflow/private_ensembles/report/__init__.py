"""The page and docs/ as text: chapters, tables, charts and findings of a run's results.

Lays out tables that others computed. May import `run` and `papers`.
"""
