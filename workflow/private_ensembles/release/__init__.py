"""Labels of somebody's own votes: planned, charged, drawn and written, and the ledger of it.

`files` reads what people bring. Nothing here knows Snakemake or a paper's tables. Modules may
import `labels` and, for certificates of gamma, `papers.darrm`.
"""
