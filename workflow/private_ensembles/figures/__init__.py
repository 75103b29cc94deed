"""Figures, drawn by matplotlib from tables that others computed, and the names shown in them.

Knows nothing of how a number was computed. May import `published` and, for labels and looks,
`mechanisms.registry`.
"""
