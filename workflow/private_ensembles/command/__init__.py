"""The command `private-ensembles`: one file for each of its subcommands, all of them thin.

May import every room below; each subcommand imports what it needs when it runs, so that `audit`
loads neither Snakemake nor a training library.
"""
