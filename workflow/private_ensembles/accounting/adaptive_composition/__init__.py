"""Adaptive composition of labels: what many cost together, each asked after the others were seen.

`dominating_pairs` says what a label may be, `account` what Q of them cost, and `scales` which noise
keeps a budget. The package knows neither votes nor mechanisms. It may import `base` and what is
beside it.
"""
