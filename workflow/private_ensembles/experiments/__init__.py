"""What each section of the papers does with votes, and what users ask: as tables.

Nothing here draws, and only `inputs`, `releases` and `releasing` know files. May import every
package but `published` and `report`.
"""
