"""What several private releases cost together: composition and conversions of privacy budgets.

Knows neither votes nor mechanisms. May import `base`.
"""
