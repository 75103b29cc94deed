"""The command `private-ensembles`: one file for each of its subcommands, all of them thin.

This package may import every room below it. Each subcommand imports what it needs when it runs, so
that `audit` loads neither Snakemake nor a training library.
"""
