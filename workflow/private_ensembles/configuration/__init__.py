"""config.yaml as the rules see it: checks, one slice for each rule, and the names of files.

Knows neither Snakemake nor any paper's mathematics. May import `noise`.
"""
