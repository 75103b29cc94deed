"""config.yaml as models, one for each section with its checks, the slices that rules ask for, and
the names of files.

`check` reads it, `root` is the whole, `types` is what sections share, `schema` the JSON schema.

Knows neither Snakemake nor any paper's mathematics. May import `noise` and `accounting`.
"""
