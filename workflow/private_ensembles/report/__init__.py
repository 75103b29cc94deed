"""The page and docs/ as text: chapters, tables, charts and findings of a run's results.

Lays out tables that others computed. May import `configuration`, `published`, `figures`
and, for labels and order, `mechanisms.registry`.
"""
