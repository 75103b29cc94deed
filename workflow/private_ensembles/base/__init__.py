"""What every room needs: checks, limits, roots, seeded streams and exact samplers, files.

Knows nothing of privacy: what noise proves is said by `accounting` and `labels`. May import no
other room.
"""
