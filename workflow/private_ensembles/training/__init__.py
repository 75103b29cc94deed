"""How teachers and students learn: data sets, models, DP-SGD, and what training costs.

This room knows no mechanism. It may import `base` and `accounting`.
"""
