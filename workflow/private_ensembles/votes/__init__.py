"""Votes of teachers: the cache's format, files from elsewhere, absent ballots, synthetic votes.

The waist of the hourglass: knows neither who makes votes nor who uses them. May import the floors
up to `audit`.
"""
