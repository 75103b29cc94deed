"""The page and docs/ as text: chapters, tables, charts and findings of a run's results.

This room lays out tables that others computed. It may import `run` and `papers`.
"""
