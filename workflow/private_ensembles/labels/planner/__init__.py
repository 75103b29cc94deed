"""Which mechanism is best within a budget, on a stated profile of votes, and studies of that.

This package looks at no private votes and knows no files.
"""
