"""Labels of somebody's own votes: planned, charged, drawn and written, and the ledger of it.

`files` reads what people bring. Knows neither Snakemake nor a paper's tables. May import `labels`
and, for certificates of gamma, `papers.darrm`.
"""
