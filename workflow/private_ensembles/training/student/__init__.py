"""Students: models trained on public inputs and released labels alone.

Knows neither data sets nor mechanisms. May import the floors up to `votes`.
"""
