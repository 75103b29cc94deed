"""What each section of the papers does with votes, and what users ask: as tables.

Nothing here draws or reads a file of its own. May import every package but `published` and
`report`.
"""
