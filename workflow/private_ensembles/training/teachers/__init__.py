"""Teachers: models, DP-SGD and plain training, accounting, voting.

Knows neither data sets nor mechanisms. May import the floors up to `votes`.
"""
