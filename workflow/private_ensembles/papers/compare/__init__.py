"""The papers' printed numbers (workflow/published) beside ours, and what may be said of each pair.

Knows nothing of how a number of ours was computed.
"""
