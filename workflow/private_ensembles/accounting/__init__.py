"""What several private releases cost together: composition and conversions of privacy budgets.

This room knows neither votes nor mechanisms. It may import `base`.
"""
