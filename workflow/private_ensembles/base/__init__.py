"""What every room needs: checks, limits, roots, seeded streams and exact samplers, files.

This room knows nothing of privacy: `accounting` and `labels` say what noise proves. It may import
no other room.
"""
