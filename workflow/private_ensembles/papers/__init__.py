"""What the sections of the papers do with votes, one package for each paper: as tables.

Nothing here draws, and only `inputs` and `students` read files. May import every floor up to
`release`; of the papers, NZC asks its queries as PATE does.
"""
