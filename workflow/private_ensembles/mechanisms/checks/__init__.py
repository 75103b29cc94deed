"""Checks before a law: whether a query is answered at all. The label is the law's."""
