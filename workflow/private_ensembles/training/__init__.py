"""How teachers and students learn: data sets, models, DP-SGD, and what training costs.

Knows no mechanism. May import `base` and `accounting`.
"""
