"""The account of labels: what many cost together, each asked after those before it were seen.

`families` says what a label may be, `account` what Q of them cost, `scales` which noise keeps a
budget. Knows neither votes nor mechanisms. May import `base` and what is beside this package.
"""
